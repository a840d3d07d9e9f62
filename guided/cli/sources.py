"""What a command is given: a file, a shipped grammar by its name, or standard input."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from guided.cli.options import Kind, Reading

if TYPE_CHECKING:
    from guided.grammar import Grammar

_KINDS: dict[str, Kind] = {
    ".json": "schema",
    ".regex": "regex",
    ".gbnf": "gbnf",
    ".lark": "lark",
}
_STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Source:
    """A grammar or schema as text.

    Attributes:
        name: as the user gave it.
        path: of the file, absolute, beside which it may import others; None for standard input.
    """

    name: str
    kind: Kind
    text: str
    path: str | None


def read_source(name: str, kind: Kind | None) -> Source:
    """Read what a name stands for; a byte-order mark is left out.

    Args:
        name: a path, "-" for standard input, or the name of a shipped grammar.
        kind: the language. None: the suffix tells.

    Raises:
        typer.BadParameter: nothing is there, it is not UTF-8, or nothing tells its language.
    """
    path = Path(name)
    if name != _STANDARD_INPUT and not path.suffix and not path.exists():
        path = _shipped(name)
    found = kind or _KINDS.get(path.suffix.lower())
    if found is None:
        raise typer.BadParameter(
            f"nothing tells what language {_called(name)} is in; say --kind"
            " schema, regex, gbnf or lark"
        )
    text = read_text(name if name == _STANDARD_INPUT else str(path))
    if found == "regex":
        # Editors end a file by a newline, which is no part of the pattern.
        text = text.removesuffix("\n").removesuffix("\r")
    where = None if name == _STANDARD_INPUT else str(path.absolute())
    return Source(_called(name), found, text, where)


def read_text(name: str) -> str:
    """Read a file, or standard input for "-", as UTF-8; a byte-order mark is left out.

    Raises:
        typer.BadParameter: it cannot be read, or is not UTF-8.
    """
    try:
        data = sys.stdin.buffer.read() if name == _STANDARD_INPUT else Path(name).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise typer.BadParameter(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise typer.BadParameter(
            f"{_called(name)} is not UTF-8: byte {error.start} is {data[error.start]:#04x}"
        ) from None


def compile_source(source: Source, options: Reading) -> Grammar:
    """Make the grammar of a source.

    Raises:
        GuidedError: the source is at fault.
    """
    from guided.grammar import Grammar

    if source.kind == "schema":
        return Grammar.from_json_schema(
            source.text,
            whitespace=options.whitespace,
            property_order=options.property_order,
            unsupported="ignore" if options.lenient else "refuse",
        )
    if source.kind == "regex":
        return Grammar.from_regex(source.text, dialect=options.dialect)
    if source.kind == "gbnf":
        return Grammar.from_gbnf(source.text, start=start_of(source, options))
    return Grammar.from_lark(
        source.text,
        start=start_of(source, options),
        lexer=options.lexer,
        path=source.path,
        import_paths=options.import_paths,
        texts=options.texts,
    )


def read_texts(given: list[str]) -> dict[str, str]:
    """Read texts given as NAME=FILE, by name.

    Raises:
        typer.BadParameter: one is written otherwise, given twice, or cannot be read.
    """
    texts: dict[str, str] = {}
    for each in given:
        name, separator, file = each.partition("=")
        if not name or not separator or name in texts:
            what = "is given twice" if name in texts else "is not written as NAME=FILE"
            raise typer.BadParameter(f"--text {each} {what}")
        texts[name] = read_text(file)
    return texts


def start_of(source: Source, options: Reading) -> str:
    """Return the rule to start from."""
    return options.start or ("root" if source.kind == "gbnf" else "start")


def _shipped(name: str) -> Path:
    from guided.grammar.files import shipped_grammars

    known = shipped_grammars()
    if name not in known:
        raise typer.BadParameter(
            f'there is no file "{name}", and no shipped grammar of that name; those are'
            f" {', '.join(known)}"
        )
    return known[name]


def _called(name: str) -> str:
    return "standard input" if name == _STANDARD_INPUT else name
