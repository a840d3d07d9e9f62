"""Texts that a grammar must accept or reject, and what becomes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from guided.cli.sources import read_text

if TYPE_CHECKING:
    from guided.grammar import Grammar
    from guided.grammar.explain import Standing

_FORM = 'a line is {"text": "...", "accept": true} or {"accept": ["..."], "reject": ["..."]}'


@dataclass(frozen=True, slots=True)
class Sample:
    """A text and whether it should be accepted.

    Attributes:
        name: what it is called in a report: the file and line, or the text itself.
        is_file: it is a file of its own, whose last line may end by a newline.
    """

    name: str
    text: str
    accept: bool
    is_file: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a sample."""

    sample: Sample
    standing: Standing

    @property
    def is_as_wanted(self) -> bool:
        """Whether it was accepted or rejected as it should be; incomplete is not accepted."""
        return (self.standing.verdict == "accepted") == self.sample.accept


def given_samples(accept: list[str], reject: list[str], files: list[Path]) -> list[Sample]:
    """Gather the samples of a call.

    Raises:
        typer.BadParameter: a file cannot be read, or holds something else.
    """
    samples = [Sample(f"--accept {_shown(text)}", text, True) for text in accept]
    samples += [Sample(f"--reject {_shown(text)}", text, False) for text in reject]
    for file in files:
        for number, line in enumerate(read_text(str(file)).split("\n"), 1):
            if line.strip():
                samples += _read_line(f"{file}, line {number}", line)
    return samples


def text_file(name: str) -> Sample:
    """Read a file as one text that must be accepted."""
    return Sample(name, read_text(name), True, is_file=True)


def try_sample(grammar: Grammar, sample: Sample) -> Outcome:
    """Run a sample through a grammar.

    The newline that ends the last line of a file is left out where the grammar has no place for it.
    """
    from guided.grammar.explain import explain

    standing = explain(grammar, sample.text)
    if sample.is_file and standing.verdict != "accepted" and sample.text.endswith("\n"):
        standing = explain(grammar, sample.text.removesuffix("\n").removesuffix("\r"))
    return Outcome(sample, standing)


def _read_line(name: str, line: str) -> Iterator[Sample]:
    try:
        value = json.loads(line)
    except ValueError:
        raise typer.BadParameter(f"{name} is not JSON; {_FORM}") from None
    if not isinstance(value, dict) or not value.keys() & {"text", "accept", "reject"}:
        raise typer.BadParameter(f"{name} holds no samples; {_FORM}")
    if "text" in value:
        if not isinstance(value["text"], str) or not isinstance(value.get("accept"), bool):
            raise typer.BadParameter(f"{name} is no sample; {_FORM}")
        yield Sample(name, value["text"], value["accept"])
        return
    for key, accept in (("accept", True), ("reject", False)):
        for text in _texts(name, value.get(key, [])):
            yield Sample(f"{name}, {key} {_shown(text)}", text, accept)


def _texts(name: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise typer.BadParameter(f"{name}: accept and reject are lists of texts; {_FORM}")
    return value


def _shown(text: str) -> str:
    """Quote a text, cut if it is long."""
    from guided.text.checks.spelled import quoted

    return quoted(text if len(text) <= 40 else f"{text[:37]}...")
