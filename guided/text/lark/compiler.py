"""A grammar to one node: the public door of the Lark front end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from guided._core import Arena
from guided.text.lark.captures import Captures, check_captures
from guided.text.lark.dynamic import write_dynamic
from guided.text.lark.embedding import Embedded
from guided.text.lark.grammar_files import embedded_extensions, read_files
from guided.text.lark.reading import Reading, read_grammar
from guided.text.lark.tables import make_table, write_table
from guided.text.lark.terminals import compile_terminals

LexerName = Literal["contextual", "basic", "dynamic", "dynamic_complete"]
DialectName = Literal["guided", "lark"]


@dataclass(frozen=True, slots=True)
class CompiledGrammar:
    """A grammar as nodes.

    Attributes:
        arena, start: the nodes.
        tokens: rules that are not yet defined, as they stand for tokens: the text or the number of
            each, and whether any other token is meant.
        is_outside: True if files were read that may change: those that it imports or embeds, lark's
            own and those that are shipped aside.
        captures: finds what rules with the attribute `capture` spelled; None if there are none.
    """

    arena: Arena
    start: int
    tokens: dict[int, tuple[str | int, bool]]
    is_outside: bool
    captures: Captures | None = None


def check_lexer(lexer: str) -> None:
    """Refuse what is no lexer of Lark.

    Raises:
        ValueError: it is none.
    """
    names = get_args(LexerName)
    if lexer not in names:
        raise ValueError(f"lexer must be one of {', '.join(names)}, not {lexer!r}")


def check_dialect(dialect: str) -> None:
    """Refuse what is no dialect of the language.

    Raises:
        ValueError: it is none.
    """
    if dialect not in get_args(DialectName):
        raise ValueError(f'dialect must be "guided" or "lark", not {dialect!r}')


def compile_lark(
    text: str,
    *,
    start: str = "start",
    lexer: LexerName = "contextual",
    import_paths: Sequence[str | Path] = (),
    path: str | Path | None = None,
    dialect: DialectName = "guided",
    texts: Mapping[str, str] | None = None,
) -> CompiledGrammar:
    """Compile a grammar, with the meaning that Lark gives it.

    Args:
        text: the grammar.
        start: the rule that texts are made of.
        lexer: how Lark would find the terminals: "contextual" and "basic" with its LALR parser,
            "dynamic" and "dynamic_complete" with its Earley parser.
        import_paths: folders in which `%import` looks for grammars.
        path: the file that the text comes from, for relative imports and for messages.
        dialect: "guided" reads what guided adds to the language, "lark" refuses it.
        texts: those that `%verbatim` quotes, by name.

    Raises:
        GrammarError: the grammar is at fault; with place and mend.
        UnsupportedError: a terminal is not regular, or needs a post-lexer that is not known.
        LimitError: it is too large or nested too deeply.

    Cost: what lark needs to read it and to make its table, and about half of that again.
    """
    check_lexer(lexer)
    check_dialect(dialect)
    reading = read_grammar(
        text, start=start, import_paths=import_paths, path=path, extended=dialect == "guided"
    )
    files = read_files(reading, import_paths)
    found = embedded_extensions(reading, files)
    schemas = [text for each in found for text in each.schemas.values()]
    complete = lexer == "dynamic_complete"
    embedded = Embedded(files, schemas, texts or {}, complete=complete)
    arena = embedded.arena
    values = embedded.values(reading)
    terminals = compile_terminals(arena, reading.source, reading.terminals, reading.extensions)
    captures = None
    if lexer in ("dynamic", "dynamic_complete"):
        for each in (reading, *files.lark.values()):
            _refuse_captures(each)
        node = write_dynamic(arena, reading, terminals, values, complete=complete)
    else:
        table = make_table(arena, reading, terminals, contextual=lexer == "contextual")
        node = write_table(arena, table)
        if named := reading.extensions.attributes.captures:
            check_captures(reading)
            captures = Captures(arena, table, named)
    embedded.write_files()
    is_outside = reading.files.are_outside or files.are_outside
    return CompiledGrammar(arena, node, embedded.tokens, is_outside, captures)


def _refuse_captures(reading: Reading) -> None:
    """Refuse captures where a text may be read in several ways, so that it is not said which."""
    for name in reading.extensions.attributes.captures:
        raise reading.source.unsupported(
            f'"{name}" has the attribute "capture", and a dynamic lexer may read a text in several'
            " ways",
            "capture",
            at=name,
            defined=True,
            mend='give lexer="contextual" or "basic", or leave the attribute out',
        )
