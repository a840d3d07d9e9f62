"""What a check finds: data first, for tools, and a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from guided.errors import GrammarError, GuidedError, SchemaError, UnsupportedError

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or that one may want to know.

    Attributes:
        level: "error" if the file cannot be used as it is.
        code: the kind of finding, for tools.
        fact: what is so, one sentence.
        line, column, length: where in a grammar, from 1, and how far.
        excerpt: that line with a caret under the place.
        pointer: where in a schema.
        file: that line is in, if it is in another one than was checked.
        mend: what to do about it.
    """

    level: Level
    code: str
    fact: str
    line: int | None = None
    column: int | None = None
    length: int | None = None
    excerpt: str | None = None
    pointer: str | None = None
    mend: str | None = None
    file: str | None = None


def found_in(
    text: str,
    index: int,
    length: int,
    *,
    level: Level,
    code: str,
    fact: str,
    mend: str | None = None,
) -> Finding:
    """Make a finding at a place of a grammar."""
    error = GrammarError(fact, text=text, index=index, length=length, mend=mend)
    return from_error(error, level=level, code=code)


def placed(finding: Finding, text: str, places: Mapping[str, tuple[int, int]]) -> Finding:
    """Add line and column to a finding that has a pointer, if `places` knows it."""
    if finding.pointer is None or finding.line is not None or finding.pointer not in places:
        return finding
    index, length = places[finding.pointer]
    error = GrammarError(finding.fact, text=text, index=index, length=length)
    excerpt = (error.place or "").partition("\n")[2]
    return replace(
        finding, line=error.line, column=error.column, length=error.length, excerpt=excerpt
    )


def from_error(
    error: GuidedError, *, level: Level = "error", code: str | None = None, place: str | None = None
) -> Finding:
    """Make a finding of an error.

    Args:
        error: what was raised.
        level, code: of the finding; the code is the name of the exception if none is given.
        place: said before the fact, where the error stands in a part of the file.
    """
    line = column = length = excerpt = pointer = None
    if isinstance(error, GrammarError):
        line, column, length = error.line, error.column, error.length
    if isinstance(error, SchemaError):
        pointer = error.pointer
    elif error.place is not None and error.place.startswith("at "):
        pointer = error.place.removeprefix("at ")
        pointer = "" if pointer == "the top of the schema" else pointer
    elif error.place is not None:
        excerpt = error.place.partition("\n")[2] or None
    if isinstance(error, UnsupportedError) and line is None and excerpt is not None:
        line, column = _line_and_column(error.place or "")
    return Finding(
        level=level,
        code=code or _code(type(error).__name__),
        fact=error.fact if place is None else f"{place}: {error.fact}",
        line=line,
        column=column,
        length=length if line is not None else None,
        excerpt=excerpt,
        pointer=pointer,
        mend=error.mend,
    )


def _line_and_column(place: str) -> tuple[int, int] | tuple[None, None]:
    """Read "line 2, column 21" back."""
    words = place.partition("\n")[0].replace(",", "").split()
    if len(words) == 4 and words[0] == "line" and words[1].isdigit() and words[3].isdigit():
        return int(words[1]), int(words[3])
    return None, None


def _code(name: str) -> str:
    """Turn the name of an exception into that of a finding: GrammarError is "grammar-error"."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]
