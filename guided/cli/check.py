"""`guided check`: is a grammar right, and does it take what it should?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from guided.cli.cost import Cost, measure
from guided.cli.failures import AT_FAULT, failures_told
from guided.cli.inspection import Inspection, inspect
from guided.cli.options import (
    DialectOption,
    ImportPathOption,
    Kind,
    KindOption,
    LenientOption,
    LexerOption,
    PropertyOrderOption,
    StartOption,
    TextOption,
    TokenizerOption,
    WhitespaceOption,
    reading,
)
from guided.cli.samples import Outcome, Sample, given_samples, text_file, try_sample
from guided.cli.sources import Source, read_source, read_texts

EXAMPLES = """
[bold]Examples[/bold]

guided check person.json query.lark

guided check numbers.gbnf --accept 12 --reject x --samples numbers.jsonl

guided check answer.gbnf answer.txt

guided check person.json --tokenizer ~/models/llama --json

echo 'root ::= "a" b' | guided check - --kind gbnf
"""


def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Schemas (.json), grammars (.gbnf, .lark), patterns (.regex), names of shipped"
            " grammars, or - for standard input. A .txt file is a text that the grammar before"
            " it must accept.",
            show_default=False,
        ),
    ],
    kind: KindOption = None,
    start: StartOption = None,
    lexer: LexerOption = "contextual",
    texts: TextOption = None,
    import_paths: ImportPathOption = None,
    dialect: DialectOption = "python",
    accept: Annotated[
        list[str] | None, typer.Option("--accept", help="A text that must be accepted.")
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option("--reject", help="A text that must be rejected.")
    ] = None,
    samples: Annotated[
        list[Path] | None,
        typer.Option(
            "--samples",
            metavar="FILE.jsonl",
            help='Lines of {"text": ..., "accept": true} or {"accept": [...], "reject": [...]}.',
        ),
    ] = None,
    tokenizer: TokenizerOption = None,
    whitespace: WhitespaceOption = "flexible",
    property_order: PropertyOrderOption = "schema",
    lenient: LenientOption = False,
    strict: Annotated[bool, typer.Option("--strict", help="Let warnings count as errors.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Report as JSON, for tools.")] = False,
) -> None:
    """Check schemas and grammars: all errors with their places, warnings, and samples.

    The status is 0 if all is well, 1 if a grammar or sample is wrong, 2 for a wrong call.
    """
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
    given = given_samples(accept or [], reject or [], samples or [])
    checked = []
    with failures_told():
        for source, text_files in _sources(files, kind):
            inspection = inspect(source, options)
            outcomes = _try(inspection, [*given, *text_files])
            cost = None if tokenizer is None else _cost(inspection, tokenizer)
            checked.append((inspection, outcomes, cost))
        if not _report(checked, strict=strict, quiet=quiet, as_json=as_json):
            raise typer.Exit(AT_FAULT)


def _sources(names: list[str], kind: Kind | None) -> list[tuple[Source, list[Sample]]]:
    """Read the files; a .txt goes to the grammar before it, unless all are of one kind."""
    sources: list[tuple[Source, list[Sample]]] = []
    for name in names:
        if kind is None and Path(name).suffix == ".txt":
            if not sources:
                raise typer.BadParameter(
                    f"{name} is a text; name a grammar before it, or say its language by --kind"
                )
            sources[-1][1].append(text_file(name))
        else:
            sources.append((read_source(name, kind), []))
    return sources


def _try(inspection: Inspection, samples: list[Sample]) -> list[Outcome]:
    grammar = inspection.grammar
    return [] if grammar is None else [try_sample(grammar, sample) for sample in samples]


def _cost(inspection: Inspection, tokenizer: Path) -> Cost | None:
    from guided.cli.vocabularies import load_vocabulary
    from guided.errors import GuidedError
    from guided.text.checks.finding import from_error

    if inspection.grammar is None:
        return None
    vocabulary = load_vocabulary(tokenizer)
    try:
        return measure(inspection.grammar, vocabulary)
    except GuidedError as error:
        inspection.findings.append(from_error(error))
        return None


def _report(
    checked: list[tuple[Inspection, list[Outcome], Cost | None]],
    *,
    strict: bool,
    quiet: bool,
    as_json: bool,
) -> bool:
    """Print the report, and return whether all is well."""
    from guided.cli.report import is_fine, print_report

    if as_json:
        from guided.cli.report_json import json_report

        typer.echo(json_report(checked, strict=strict))
    else:
        from rich.console import Console

        console = Console(highlight=False)
        for inspection, outcomes, cost in checked:
            print_report(console, inspection, outcomes, cost, quiet=quiet)
    return all(is_fine(inspection, outcomes, strict=strict) for inspection, outcomes, _ in checked)
