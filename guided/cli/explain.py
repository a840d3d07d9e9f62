"""`guided explain`: where a prefix stands under a grammar, and what may come next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guided.cli.failures import AT_FAULT, failures_told
from guided.cli.options import (
    DialectOption,
    ImportPathOption,
    KindOption,
    LenientOption,
    LexerOption,
    PropertyOrderOption,
    Reading,
    StartOption,
    TextOption,
    TokenizerOption,
    WhitespaceOption,
    reading,
)
from guided.cli.sources import Source, compile_source, read_source, read_text, read_texts

if TYPE_CHECKING:
    from guided.grammar import Grammar
    from guided.grammar.explain import Standing

EXAMPLES = """
[bold]Examples[/bold]

guided explain person.json '{"name": '

guided explain sql 'select a, b from' --tokenizer ~/models/llama

guided explain query.lark - < unfinished.txt
"""
_SHOWN = 20

Tokens = list[tuple[int, str]]


def explain(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A schema (.json), a grammar (.gbnf, .lark), a pattern (.regex), the name of a"
            " shipped grammar, or - for standard input.",
            show_default=False,
        ),
    ],
    prefix: Annotated[
        str, typer.Argument(metavar="PREFIX", help="The text so far; - for standard input.")
    ] = "",
    kind: KindOption = None,
    start: StartOption = None,
    lexer: LexerOption = "contextual",
    texts: TextOption = None,
    import_paths: ImportPathOption = None,
    dialect: DialectOption = "python",
    tokenizer: TokenizerOption = None,
    whitespace: WhitespaceOption = "flexible",
    property_order: PropertyOrderOption = "schema",
    lenient: LenientOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Report as JSON, for tools.")] = False,
) -> None:
    """Show where a text stands under a grammar and what may come next, or where it fails.

    The status is 0 if the text may go on or end, 1 if it cannot be.
    """
    if file == prefix == "-":
        raise typer.BadParameter("only one of FILE and PREFIX can be standard input")
    options = reading(
        start=start,
        lexer=lexer,
        dialect=dialect,
        whitespace=whitespace,
        property_order=property_order,
        lenient=lenient,
        texts=read_texts(texts or []),
        import_paths=import_paths,
    )
    source = read_source(file, kind)
    text = read_text("-") if prefix == "-" else prefix
    with failures_told():
        from guided.grammar.explain import explain as find_standing

        grammar = compile_source(source, options)
        standing = find_standing(grammar, text)
        names = _terminals(source, options, standing)
        within = _open_rules(source, options, standing)
        tokens = None if tokenizer is None else _tokens(grammar, standing, tokenizer)
        if as_json:
            typer.echo(
                json.dumps(
                    _as_json(source, standing, within, names, tokens), indent=2, ensure_ascii=False
                )
            )
        else:
            for line in _lines(source, standing, within, names, tokens):
                typer.echo(line)
        if standing.verdict == "rejected":
            raise typer.Exit(AT_FAULT)


def _terminals(source: Source, options: Reading, standing: Standing) -> list[str]:
    """Return the terminals of Lark that may come next, as far as its parser tells."""
    if source.kind != "lark" or standing.verdict == "rejected":
        return []
    from guided.cli.sources import start_of
    from guided.text.checks.lark_terminals import next_terminals

    return next_terminals(
        source.text,
        standing.text.decode(errors="replace"),
        start=start_of(source, options),
        lexer=options.lexer,
        path=source.path,
        import_paths=options.import_paths,
    )


def _open_rules(source: Source, options: Reading, standing: Standing) -> list[list[str]]:
    """Return the rules of GBNF that the text is in the middle of, the outermost first."""
    if source.kind != "gbnf":
        return []
    from guided.cli.inspection import outline_of
    from guided.text.checks.open_rules import open_rules

    text = standing.text[: standing.taken].decode(errors="replace")
    return open_rules(outline_of(source, options), text)


def _tokens(grammar: Grammar, standing: Standing, folder: Path) -> Tokens:
    """Return the tokens that may come next, with what they spell."""
    from guided.cli.vocabularies import load_vocabulary
    from guided.grammar.explain import next_tokens
    from guided.text.checks.spelled import quoted

    vocabulary = load_vocabulary(folder)
    names = {number: name for name, number in vocabulary.special.items()}
    tokens = []
    for token in next_tokens(grammar, standing.text[: standing.taken], vocabulary):
        spelled = vocabulary.token_bytes(token)
        if spelled is None:
            tokens.append((token, names.get(token, "end of text")))
        else:
            tokens.append((token, _spelled(spelled, quoted)))
    return tokens


def _spelled(spelled: bytes, quoted: Any) -> str:
    try:
        text: str = quoted(spelled.decode())
    except UnicodeDecodeError:
        return f"bytes {spelled.hex(' ').upper()}"
    return text


def _lines(
    source: Source,
    standing: Standing,
    within: list[list[str]],
    names: list[str],
    tokens: Tokens | None,
) -> list[str]:
    """Write what is known for people."""
    from guided.cli.report import caret
    from guided.grammar.explain import THE_END
    from guided.text.checks.spelled import quoted

    text = standing.text.decode(errors="replace")
    place = f"line {standing.line}, column {standing.column}"
    if standing.verdict == "rejected":
        lines = [f"{source.name}: the text fails at {place}"]
        lines += caret(text, standing.line, standing.column)
        lines.append(f"  found     {quoted(standing.found or '')}")
    else:
        ends = "complete, and may end here" if standing.is_complete else "not complete"
        lines = [f"{source.name}: the text stands at {place}: {ends}"]
    if source.kind == "schema":
        lines.append(f"  value     {_pointer(standing) or 'the whole value'}")
    for way in within:
        lines.append(f"  within    {' > '.join(way)}")
    expected = [each for each in standing.expected if each != THE_END]
    head = "  expected  " if standing.verdict == "rejected" else "  next      "
    if standing.is_complete:
        expected.append(THE_END)
    for each in expected or ["nothing"]:
        lines.append(f"{head}{each}")
        head = "            "
    if names:
        lines.append(f"  terminals {', '.join(names)}")
    if standing.forced:
        lines.append(f"  forced    {quoted(standing.forced[:200])}")
    lines.append(f"  bytes     {_byte_ranges(standing.next_bytes) or 'none'}")
    if tokens is not None:
        shown = ", ".join(f"{number} {text}" for number, text in tokens[:_SHOWN])
        more = f", and {len(tokens) - _SHOWN:,} more" if len(tokens) > _SHOWN else ""
        lines.append(f"  tokens    {len(tokens):,}: {shown}{more}")
    return lines


def _pointer(standing: Standing) -> str:
    from guided.text.checks.json_place import pointer_at

    return pointer_at(standing.text[: standing.taken].decode(errors="replace"))


def _byte_ranges(data: bytes) -> str:
    """Write bytes in hexadecimal, runs of three and more as a range."""
    runs: list[list[int]] = []
    for byte in data:
        if runs and byte == runs[-1][-1] + 1:
            runs[-1].append(byte)
        else:
            runs.append([byte])
    written = []
    for run in runs:
        ends = [f"{run[0]:02X}-{run[-1]:02X}"] if len(run) > 2 else [f"{byte:02X}" for byte in run]
        written += ends
    return " ".join(written)


def _as_json(
    source: Source,
    standing: Standing,
    within: list[list[str]],
    names: list[str],
    tokens: Tokens | None,
) -> dict[str, Any]:
    return {
        "verdict": standing.verdict,
        "line": standing.line,
        "column": standing.column,
        "taken_bytes": standing.taken,
        "found": standing.found,
        "pointer": _pointer(standing) if source.kind == "schema" else None,
        "is_complete": standing.is_complete,
        "expected": list(standing.expected),
        "within": within,
        "terminals": names,
        "forced": standing.forced,
        "bytes": list(standing.next_bytes),
        "heads": list(standing.heads),
        "tokens": None if tokens is None else [number for number, _ in tokens],
    }
