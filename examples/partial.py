"""Partial objects: what is known of an object while the model still writes it.

    python examples/partial.py

Under a schema each prefix of an output can be finished, so the longest part of it that can be
closed as it stands is an object already. Only its last value may still grow: `12` may become `120`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.pretty import Pretty

import guided

SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 30},
        "minutes": {"type": "integer", "minimum": 1, "maximum": 240},
        "ingredients": {
            "type": "array",
            "items": {"type": "string", "maxLength": 20},
            "minItems": 2,
            "maxItems": 3,
        },
    },
    "required": ["title", "minutes", "ingredients"],
    "additionalProperties": False,
}
QUESTION = [{"role": "user", "content": "A recipe for pancakes as JSON, please."}]


def closing(prefix: str) -> str:
    """Return the brackets and the quote that are open at the end of JSON text."""
    stack: list[str] = []
    in_string = escaped = False
    for character in prefix:
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        elif character in "{[":
            stack.append("}" if character == "{" else "]")
        elif character in "}]":
            stack.pop()
    return '"' * in_string + "".join(reversed(stack))


def read_prefix(text: str) -> Any:
    """Return the value of the longest part of `text` that can be closed; None if there is none.

    A key without its value is left out, and so is half an escape or half a pair of surrogates.
    """
    for end in range(len(text), 0, -1):
        part = text[:end]
        try:
            value = json.loads(part + closing(part))
            json.dumps(value, ensure_ascii=False).encode()
        except ValueError:
            continue
        return value
    return None


def partial_objects(pieces: Iterator[str]) -> Iterator[Any]:
    """Yield what is known after each piece in which something new came."""
    text, known = "", None
    for piece in pieces:
        text += piece
        value = read_prefix(text)
        if value != known:
            known = value
            yield value


def main() -> int:
    """Show a recipe while it is written: one line a state, or in place on a terminal."""
    running = guided.stream(guided.load(), QUESTION, schema=SCHEMA, whitespace=" ?", max_tokens=80)
    console = Console()
    if console.is_terminal:
        with Live(console=console) as live:
            for value in partial_objects(running):
                live.update(Pretty(value))
    else:
        for value in partial_objects(running):
            print(json.dumps(value, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
