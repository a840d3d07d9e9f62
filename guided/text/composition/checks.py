"""The checks of what callers give to put a grammar together."""

from __future__ import annotations

from collections.abc import Iterable

from guided.errors import GrammarError, LimitError
from guided.text.json_schema.keywords.assertions import MAX_COUNT
from guided.text.lark.unordered import MAX_PARTS
from guided.text.surrogates import check_text

MAX_DEPTH = 100


def check_name(name: object) -> str:
    """Return the name of a capture.

    Raises:
        TypeError: it is no text.
        GrammarError: it is empty.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a capture is a str, found {name!r}")
    if not name:
        raise GrammarError(
            "the name of a capture is empty", mend='give one, as in .capture("answer")'
        )
    return name


def check_stops(stops: str | Iterable[str]) -> tuple[str, ...]:
    """Return the texts at which a text ends, each once.

    Raises:
        TypeError: one is no text.
        GrammarError: there is none, one is empty, or one can never be the first to occur.
    """
    texts = (stops,) if isinstance(stops, str) else tuple(dict.fromkeys(stops))
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"a stop text is a str, found {text!r}")
        check_text(text, f"the stop text {text!r}")
    if not texts or "" in texts:
        fact = "a stop text is empty" if texts else "there is no stop text"
        raise GrammarError(f"{fact}, so nothing could end", mend='give one, as in until("\\n")')
    for text in texts:
        for other in texts:
            inside = text.find(other)
            if other != text and inside >= 0 and inside + len(other) < len(text):
                raise GrammarError(
                    f"the stop text {other!r} lies within {text!r}, which so never comes",
                    mend="leave the longer one out",
                )
    return texts


def check_count(name: str, value: object) -> int:
    """Return a count of repetitions.

    Raises:
        TypeError: it is no int.
        ValueError: it is below 0 or above a billion.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, found {value!r}")
    if not 0 <= value <= MAX_COUNT:
        raise ValueError(f"{name} must be from 0 to {MAX_COUNT:,}, found {value}")
    return value


def check_unordered(count: int) -> None:
    """Raise unless so many parts may come in any order.

    Raises:
        GrammarError: there is none.
        LimitError: there are more than 12, which would take more than 4,096 rules.
    """
    if not count:
        raise GrammarError("there is nothing to put in any order", mend="give at least one part")
    if count > MAX_PARTS:
        raise LimitError(
            f"unordered has {count} parts", limit="parts in any order", value=MAX_PARTS
        )


def check_depth(depth: int) -> int:
    """Return how deeply parts stand within each other.

    Raises:
        LimitError: that is too deep to be followed.
    """
    if depth > MAX_DEPTH:
        raise LimitError("the parts stand within each other", limit="levels", value=MAX_DEPTH)
    return depth
