"""Grammar files: which are shipped, and the text of one."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from guided.errors import GrammarError

SUFFIXES = (".gbnf", ".lark", ".json")
_PACKAGE = Path(__file__).parents[1]
# Installed, they are in the package; in a source tree, beside it.
_FOLDERS = (_PACKAGE / "grammars", _PACKAGE.parent / "grammars")


def shipped_grammars() -> dict[str, Path]:
    """Return the grammars that are shipped, by name."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0])
    files = sorted(folder.glob("*")) if folder.is_dir() else []
    return {path.stem: path.resolve() for path in files if path.suffix in SUFFIXES}


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a file; a byte order mark is left out.

    Raises:
        FileNotFoundError: there is no such file.
        GrammarError: it is not UTF-8.
    """
    data = Path(path).read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise GrammarError(
            f"{fspath(path)} is not UTF-8: line {line} holds the byte {data[error.start]:#04x}",
            mend="save it as UTF-8",
        ) from None
