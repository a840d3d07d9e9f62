"""Places in JSON text: the value at which a text ends, and where the members of one stand."""

from __future__ import annotations

import json
import re

# A string, closed or not, a bracket, a mark between, or a scalar.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?P<end>"?)|[\[\]{},:]|[^\s"\[\]{},:]+', re.DOTALL)


def pointer_at(text: str) -> str:
    """Return the JSON pointer to the value that is being written where the text ends.

    Within a key, or where the next one has not begun, that is the object.
    """
    steps: list[str | int | None] = []  # None: an object that waits for a key
    key = ""
    for token in _TOKEN.finditer(text):
        written = token[0]
        if written == "{":
            steps.append(None)
        elif written == "[":
            steps.append(0)
        elif written in ("}", "]"):
            del steps[-1:]
        elif written == ",":
            if steps:
                steps[-1] = steps[-1] + 1 if isinstance(steps[-1], int) else None
        elif written == ":":
            if steps and steps[-1] is None:
                steps[-1] = key
        elif written[0] == '"' and token["end"]:
            key = _decoded(written)
    named = [step for step in steps if step is not None]
    return "".join(f"/{_escaped(str(step))}" for step in named)


def member_places(text: str) -> dict[str, tuple[int, int]]:
    """Return where each member of a JSON value stands in its text: index and length.

    The keys are JSON pointers. For a member of an object that is its key, for an element of an
    array the first token of its value. Of a key that stands twice it is the last one, which counts.
    """
    places: dict[str, tuple[int, int]] = {}
    pointers = [""]  # of the open containers, the innermost last
    counts: list[int | None] = []  # of elements, None for objects
    key: re.Match[str] | None = None
    for token in _TOKEN.finditer(text):
        written = token[0]
        if written in (":", "}", "]"):
            if written != ":":
                del counts[-1:], pointers[-1:]
                pointers = pointers or [""]
            key = key if written == ":" else None
            continue
        if written == ",":
            key = None
            if counts and counts[-1] is not None:
                counts[-1] += 1
            continue
        at = pointers[-1]
        if counts and counts[-1] is None and key is None:
            key = token
            at = f"{at}/{_escaped(_decoded(written))}"
            places[at] = (token.start(), len(written))
            continue
        if counts:
            name = str(counts[-1]) if key is None else _escaped(_decoded(key[0]))
            at = f"{at}/{name}"
            if key is None:
                places[at] = (token.start(), len(written))
        if written in ("{", "["):
            pointers.append(at)
            counts.append(None if written == "{" else 0)
            key = None
    return places


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _decoded(written: str) -> str:
    try:
        value: str = json.loads(written)
    except ValueError:
        return written[1:-1]
    return value
