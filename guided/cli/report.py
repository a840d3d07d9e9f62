"""What a check found, for people: coloured on a terminal, plain where it is piped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from guided.cli.cost import Cost
from guided.cli.inspection import Inspection
from guided.cli.samples import Outcome

if TYPE_CHECKING:
    from rich.console import Console

    from guided.text.checks.finding import Finding

_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def print_report(
    console: Console,
    inspection: Inspection,
    outcomes: list[Outcome],
    cost: Cost | None,
    *,
    quiet: bool,
) -> None:
    """Print what was found of one source, its summary last.

    Args:
        quiet: errors and the summary only.
    """
    for finding in inspection.findings:
        if not quiet or finding.level == "error":
            _print_finding(console, inspection.source.name, finding)
    if inspection.keywords and not quiet:
        _print_keywords(console, inspection)
    for outcome in outcomes:
        if not outcome.is_as_wanted:
            _print_outcome(console, outcome)
    if cost is not None:
        for line in _cost_lines(cost):
            _say(console, f"  {line}")
    style = "green" if is_fine(inspection, outcomes) else "bold red"
    _say(console, f"{inspection.source.name}: ", (_summary(inspection, outcomes), style))


def is_fine(inspection: Inspection, outcomes: list[Outcome], *, strict: bool = False) -> bool:
    """Whether there is no error and each sample is as it should be; if strict, no warning too."""
    wrong = inspection.count("error") + (inspection.count("warning") if strict else 0)
    return not wrong and all(outcome.is_as_wanted for outcome in outcomes)


def _print_finding(console: Console, name: str, finding: Finding) -> None:
    place = "" if finding.line is None else f":{finding.line}:{finding.column}"
    level = (f"{finding.level}: ", _STYLES[finding.level])
    _say(console, f"{finding.file or name}{place}: ", level, finding.fact)
    if finding.pointer is not None:
        _say(console, f"  at {finding.pointer or 'the top of the schema'}")
    for line in (finding.excerpt or "").splitlines():
        _say(console, line)
    if finding.mend is not None:
        _say(console, f"  mend: {finding.mend}")


def _print_keywords(console: Console, inspection: Inspection) -> None:
    for role, pointers in inspection.keywords.items():
        _say(console, f"  {role}:")
        for pointer in pointers:
            _say(console, f"    {pointer}")


def _print_outcome(console: Console, outcome: Outcome) -> None:
    sample, standing = outcome.sample, outcome.standing
    _say(console, f"{sample.name}: ", ("error: ", _STYLES["error"]), wrong_sample(outcome))
    if sample.accept:
        text = standing.text.decode(errors="replace")
        for line in caret(text, standing.line, standing.column):
            _say(console, line)


def wrong_sample(outcome: Outcome) -> str:
    """Say in what a sample is not as it should be."""
    if not outcome.sample.accept:
        return "accepted, and should be rejected"
    return str(outcome.standing)


def caret(text: str, line: int, column: int) -> list[str]:
    """Return the line of a text with a caret under the column."""
    from guided.errors import GrammarError

    lines = text.split("\n")
    index = sum(len(each) + 1 for each in lines[: line - 1]) + column - 1
    place = GrammarError("", text=text, index=index).place or ""
    return place.splitlines()[1:]


def _cost_lines(cost: Cost) -> Iterator[str]:
    yield f"over {cost.vocabulary:,} tokens:"
    yield f"  first mask {cost.first_mask_ms:.2f} ms, compilation counted"
    yield (
        f"  a mask and its accept {cost.mask_us_mean:.1f} us in the mean,"
        f" {cost.mask_us_median:.1f} us at the median, over {cost.steps} random steps"
    )
    yield f"  {cost.states} states, {cost.kilobytes:,.0f} kB"
    yield (
        f"  a mask allows {cost.tokens_least:,} to {cost.tokens_most:,} tokens,"
        f" {cost.tokens_median:,} at the median"
    )


def _summary(inspection: Inspection, outcomes: list[Outcome]) -> str:
    parts = []
    for level in ("error", "warning", "note"):
        if count := inspection.count(level):
            parts.append(f"{count} {level}{'s' if count > 1 else ''}")
    if outcomes:
        right = sum(outcome.is_as_wanted for outcome in outcomes)
        parts.append(f"{right} of {len(outcomes)} texts as they should be")
    head = "fine" if is_fine(inspection, outcomes) else "not fine"
    kind = inspection.source.kind
    rules = inspection.rules
    told = kind if rules is None or kind == "regex" else f"{kind}, {_counted(rules, 'rule')}"
    return f"{head} ({told})" + (f": {', '.join(parts)}" if parts else "")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _say(console: Console, *parts: str | tuple[str, str]) -> None:
    from rich.text import Text

    console.print(Text.assemble(*parts), soft_wrap=True)
