"""Grammar files: found by path, or by name among those that are shipped."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Literal

from guided.errors import GrammarError

FileKind = Literal["gbnf", "lark", "json"]

_KINDS: dict[str, FileKind] = {".gbnf": "gbnf", ".lark": "lark", ".json": "json"}
_PACKAGE = Path(__file__).parents[1]
# Installed, they are in the package; in a source tree, beside it.
_FOLDERS = (_PACKAGE / "grammars", _PACKAGE.parent / "grammars")


@dataclass(frozen=True, slots=True)
class GrammarFile:
    """The text of a file and the language it is in.

    Attributes:
        path: where it is; it may import others from there.
    """

    kind: FileKind
    text: str
    path: Path


def shipped_grammars() -> dict[str, Path]:
    """Return the grammars that are shipped, by name."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0])
    files = sorted(folder.glob("*")) if folder.is_dir() else []
    return {path.stem: path for path in files if path.suffix in _KINDS}


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
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise GrammarError(
            f"{fspath(path)} is not UTF-8: line {line} holds the byte {data[error.start]:#04x}",
            mend="save it as UTF-8",
        ) from None
    return GrammarFile(kind, text, path)


def _shipped(name: str) -> Path:
    known = shipped_grammars()
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, 1)
    raise GrammarError(
        f'there is no shipped grammar "{name}", nor a file of that name',
        mend=f'did you mean "{close[0]}"?' if close else f"those shipped are {', '.join(known)}",
    )
