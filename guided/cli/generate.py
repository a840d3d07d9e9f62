"""`guided generate`: a model writes text that fits a schema, a pattern, a grammar or a choice."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from guided.cli.failures import failures_told
from guided.cli.options import (
    ImportPathOption,
    KindOption,
    LenientOption,
    LexerOption,
    PropertyOrderOption,
    StartOption,
    TextOption,
    WhitespaceOption,
    reading,
)
from guided.cli.sources import compile_source, read_source, read_text, read_texts

if TYPE_CHECKING:
    from guided.decoding import Model
    from guided.results import Stream

EXAMPLES = """
[bold]Examples[/bold]

guided generate 'Ada Lovelace was born in 1815. As JSON:' --grammar person.json > ada.json

guided generate 'An ISO date: ' --regex '[0-9]{4}-[0-9]{2}-[0-9]{2}'

guided generate 'Is water wet? ' --choice yes --choice no

cat question.txt | guided generate - --chat --grammar query.lark --model ~/models/llama --stats
"""


def generate(
    prompt: Annotated[
        str | None,
        typer.Argument(
            metavar="PROMPT",
            help="The text to go on from; - for standard input. Without one, a text from its"
            " beginning.",
            show_default=False,
        ),
    ] = None,
    grammar: Annotated[
        str | None,
        typer.Option(
            "--grammar",
            "--schema",
            "-g",
            metavar="FILE",
            help="A schema (.json), a grammar (.gbnf, .lark), a pattern (.regex) or the name of a"
            " shipped grammar.",
        ),
    ] = None,
    regex: Annotated[
        str | None, typer.Option("--regex", help="A pattern for the whole output.")
    ] = None,
    choice: Annotated[
        list[str] | None, typer.Option("--choice", help="One of the texts to choose from.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", help="Folder or name of a model. The small default model if not given."
        ),
    ] = None,
    chat: Annotated[
        bool, typer.Option("--chat", help="Give the prompt as a message, by the model's template.")
    ] = False,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="At most so many.")] = 512,
    temperature: Annotated[
        float | None, typer.Option("--temperature", "-t", help="Greedy if not given.")
    ] = None,
    top_k: Annotated[int | None, typer.Option("--top-k")] = None,
    top_p: Annotated[float | None, typer.Option("--top-p")] = None,
    min_p: Annotated[float | None, typer.Option("--min-p")] = None,
    typical_p: Annotated[float | None, typer.Option("--typical-p")] = None,
    repetition_penalty: Annotated[float | None, typer.Option("--repetition-penalty")] = None,
    presence_penalty: Annotated[float | None, typer.Option("--presence-penalty")] = None,
    frequency_penalty: Annotated[float | None, typer.Option("--frequency-penalty")] = None,
    logit_bias: Annotated[
        list[str] | None,
        typer.Option(
            "--logit-bias",
            metavar="ID=NUMBER",
            help="Added to the logit of a token; -inf bans it. As often as you like.",
        ),
    ] = None,
    min_tokens: Annotated[
        int | None, typer.Option("--min-tokens", min=0, help="No end before so many.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="For the same output again.")] = None,
    speculate: Annotated[
        str,
        typer.Option(
            "--speculate",
            metavar="SOURCES",
            help="Guesses of next tokens: auto, off, or sources such as forced,prompt.",
        ),
    ] = "auto",
    assistant: Annotated[
        str | None,
        typer.Option("--assistant", metavar="MODEL", help="A smaller model that guesses."),
    ] = None,
    heal: Annotated[
        bool,
        typer.Option(
            "--heal", help="Let tokens reach across the end of the prompt: token healing."
        ),
    ] = False,
    kind: KindOption = None,
    start: StartOption = None,
    lexer: LexerOption = "contextual",
    texts: TextOption = None,
    import_paths: ImportPathOption = None,
    whitespace: WhitespaceOption = "flexible",
    property_order: PropertyOrderOption = "schema",
    lenient: LenientOption = False,
    stats: Annotated[
        bool, typer.Option("--stats", help="Say where the time went, on standard error.")
    ] = False,
) -> None:
    """Write text with a model. The text goes to standard output, all else to standard error.

    The status is 1 if the output was cut short before it was complete.
    """
    if sum(map(bool, (grammar, regex is not None, choice))) > 1:
        raise typer.BadParameter("at most one of --grammar, --regex and --choice can be given")
    constraint: dict[str, Any] = {"regex": regex, "choices": choice or None}
    with failures_told():
        if grammar is not None:
            options = reading(
                start=start,
                lexer=lexer,
                whitespace=whitespace,
                property_order=property_order,
                lenient=lenient,
                texts=read_texts(texts or []),
                import_paths=import_paths,
            )
            constraint = {"grammar": compile_source(read_source(grammar, kind), options)}
        elif regex is not None:
            _check_pattern(regex)
        text = read_text("-") if prompt == "-" else prompt
        sampling: dict[str, Any] = {
            "temperature": temperature,
            "top_k": top_k,
            "top_p": top_p,
            "min_p": min_p,
            "typical_p": typical_p,
            "repetition_penalty": repetition_penalty,
            "presence_penalty": presence_penalty,
            "frequency_penalty": frequency_penalty,
            "logit_bias": _read_biases(logit_bias or []),
            "min_tokens": min_tokens,
            "seed": seed,
            "speculate": speculate if speculate in ("auto", "off") else speculate.split(","),
            "assistant": None if assistant is None else _load(assistant),
            "heal": heal,
        }
        asked = [{"role": "user", "content": text or ""}] if chat else text
        stream = _begin(_load(model), asked, max_tokens=max_tokens, **sampling, **constraint)
        _write(stream)
        result = stream.result
        if stats:
            typer.echo(str(result.stats), err=True)
        # Free text has no end that it must come to.
        if any(value is not None for value in constraint.values()):
            _ = result.value  # raises if it was cut short, and says so


def _read_biases(texts: list[str]) -> dict[int, float] | None:
    """Read what `--logit-bias` was given: "50=-2.5" for token 50."""
    biases: dict[int, float] = {}
    for text in texts:
        token, _, bias = text.partition("=")
        try:
            biases[int(token)] = float(bias)
        except ValueError:
            raise typer.BadParameter(
                f"--logit-bias takes a token and a number such as 50=-2.5, found {text!r}"
            ) from None
    return biases or None


def _check_pattern(pattern: str) -> None:
    """Raise for a pattern that is at fault before a model is loaded for it."""
    from guided.grammar import Grammar

    Grammar.from_regex(pattern)


def _load(name: str | None) -> Model:
    from rich.console import Console

    console = Console(stderr=True)
    shown = name or "the default model"
    if console.is_terminal:
        with console.status(f"loading {shown} ..."):
            return _load_quietly(name)
    return _load_quietly(name)


def _load_quietly(name: str | None) -> Model:
    from guided.decoding import load

    return load(name)


def _begin(model: Model, prompt: Any, **options: Any) -> Stream:
    """Start to write; what the model or the sampler cannot take is a wrong call."""
    from guided.results import stream

    try:
        return stream(model, prompt, **options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _write(stream: Stream) -> None:
    """Write the pieces as they come, with a bar on standard error while the output is piped.

    How long the output will be is not known, only how long it can be: that is a full bar.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    count = TextColumn("{task.completed} of at most {task.total} tokens")
    with Progress(
        count,
        BarColumn(complete_style="green", finished_style="green"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal or sys.stdout.isatty(),
        # Else the library takes what is written to standard output for messages beside the bar.
        redirect_stdout=False,
        redirect_stderr=False,
    ) as progress:
        task = progress.add_task("writing", total=stream.max_tokens)
        for piece in stream:
            sys.stdout.write(piece)
            sys.stdout.flush()
            progress.update(task, completed=len(stream.tokens))
    sys.stdout.write("\n")
    sys.stdout.flush()
