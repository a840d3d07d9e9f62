"""Grammar files: found by path, or by name among those that are shipped."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Literal

from guided.errors import GrammarError
from guided.text.files import read_text, shipped_grammars

__all__ = ["FileKind", "GrammarFile", "read_grammar_file", "shipped_grammars"]

FileKind = Literal["gbnf", "lark", "json"]

_KINDS: dict[str, FileKind] = {".gbnf": "gbnf", ".lark": "lark", ".json": "json"}


@dataclass(frozen=True, slots=True)
class GrammarFile:
    """The text of a file and the language it is in.

    Attributes:
        path: where it is; it may import others from there.
    """

    kind: FileKind
    text: str
    path: Path


def read_grammar_file(source: str | PathLike[str]) -> GrammarFile:
    """Read a file given by its path, or a shipped one by its name.

    Raises:
        FileNotFoundError: there is no such file.
        GrammarError: there is no shipped grammar of this name, the suffix says no language, or the
            file is not UTF-8.
    """
    path = Path(source)
    if isinstance(source, str) and not path.suffix and path.name == source and not path.exists():
        path = _shipped(source)
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise GrammarError(
            f"the name of {fspath(path)} does not say what language it is in",
            mend="name it .gbnf, .lark or, for a JSON Schema, .json;"
            " or read it and use Grammar.from_gbnf, from_lark or from_regex",
        )
    return GrammarFile(kind, read_text(path), path)


def _shipped(name: str) -> Path:
    known = shipped_grammars()
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, 1)
    raise GrammarError(
        f'there is no shipped grammar "{name}", nor a file of that name',
        mend=f'did you mean "{close[0]}"?' if close else f"those shipped are {', '.join(known)}",
    )
