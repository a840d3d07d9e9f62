"""What the times come to: quantiles, verdicts, ratios on common ground, tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.bench.worker import Outcome

PERCENTILES = (50, 90, 99, 99.9)
Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Case:
    """A schema with its instances as tokens, and whether each is valid."""

    id: str
    schema: str
    instances: list[list[int]]
    valid: list[bool]


def quantiles(times_ns: Sequence[int], unit_ns: float = 1000) -> Figures:
    """Mean, percentiles (the value at or above that rank) and maximum, in microseconds."""
    if not times_ns:
        return {}
    ranked = sorted(times_ns)
    figures = {"mean": sum(ranked) / len(ranked), "max": float(ranked[-1])}
    for percent in PERCENTILES:
        figures[f"p{percent:g}"] = ranked[min(len(ranked) - 1, int(len(ranked) * percent / 100))]
    return {name: round(value / unit_ns, 3) for name, value in figures.items()}


def ratios(ours: Figures, theirs: Figures) -> Figures:
    return {name: round(ours[name] / theirs[name], 3) for name in ours if theirs.get(name)}


def wrong_verdicts(case: Case, outcome: Outcome) -> Counter[str]:
    """Count what an engine got wrong; no entry where it was right."""
    wrong: Counter[str] = Counter()
    for valid, walk in zip(case.valid, outcome.walks, strict=False):
        if walk.contradicts_mask:
            wrong["mask and accept differ"] += 1
        elif walk.accepted != valid:
            wrong["valid rejected" if valid else "invalid accepted"] += 1
    return wrong


def summarise(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Sum up what one engine did; what it did not is counted and listed."""
    wrong: Counter[str] = Counter()
    failures = []
    for case, outcome in zip(cases, outcomes, strict=True):
        here = wrong_verdicts(case, outcome)
        wrong += here
        if outcome.status != "ok" or here:
            reason = outcome.reason or ", ".join(f"{count} {kind}" for kind, count in here.items())
            failures.append([case.id, outcome.status, reason])
    token_ns = [ns for outcome in outcomes for walk in outcome.walks for ns in walk.token_ns]
    return {
        "schemas": dict(Counter(outcome.status for outcome in outcomes)),
        "instances": sum(len(outcome.walks) for outcome in outcomes),
        "wrong": dict(wrong),
        "tokens": len(token_ns),
        "token_us": quantiles(token_ns),
        "first_mask_us": quantiles([o.first_mask_ns for o in outcomes if o.first_mask_ns]),
        "peak_mb": max((outcome.peak_mb for outcome in outcomes), default=0),
        "failures": failures,
    }


def compare(ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> dict[str, Any]:
    """Ratios on the schemas that both compiled and the tokens of them that both came to."""
    tokens: tuple[list[int], list[int]] = ([], [])
    firsts: tuple[list[int], list[int]] = ([], [])
    for pair in zip(ours, theirs, strict=True):
        if not all(outcome.first_mask_ns for outcome in pair):
            continue
        for times, outcome in zip(firsts, pair, strict=True):
            times.append(outcome.first_mask_ns)
        for walks in zip(pair[0].walks, pair[1].walks, strict=False):
            common = min(len(walk.token_ns) for walk in walks)
            for times, walk in zip(tokens, walks, strict=True):
                times.extend(walk.token_ns[:common])
    return {
        "schemas": len(firsts[0]),
        "tokens": len(tokens[0]),
        "token": ratios(quantiles(tokens[0]), quantiles(tokens[1])),
        "first_mask": ratios(quantiles(firsts[0]), quantiles(firsts[1])),
    }


def summarise_batches(batches: Sequence[Outcome]) -> dict[str, Any]:
    """Sum up the batches of one engine; times are of a whole batch, in milliseconds."""
    return {
        "cold_ms": quantiles([ns for batch in batches for ns in batch.cold_ns], 1e6),
        "warm_ms": quantiles([ns for batch in batches for ns in batch.warm_ns], 1e6),
        "failures": [batch.reason for batch in batches if batch.status != "ok"],
    }


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Draw a Markdown table; numbers to the right, missing ones as a dash."""
    cells = [[str(name) for name in head]] + [[written(value) for value in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = []
    for row in cells:
        padded = [row[0].ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append(f"| {' | '.join(padded)} |")
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([lines[0], f"| {' | '.join(rule)} |", *lines[1:]])


def written(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def report(engines: Mapping[str, Mapping[str, Any]]) -> str:
    """Draw what was measured as a table, one column an engine."""
    rows: list[list[object]] = []

    def add(label: str, *path: str) -> None:
        row: list[object] = [label]
        for measured in engines.values():
            value: Any = measured
            for key in path:
                value = value.get(key) if isinstance(value, Mapping) else None
            row.append(value)
        if any(value is not None for value in row[1:]):
            rows.append(row)

    for name in ("mean", *(f"p{percent:g}" for percent in PERCENTILES)):
        add(f"mask + accept {name}, us", "token_us", name)
        add("  ratio to llguidance", "to_llguidance", "token", name)
    for name in ("mean", "p50", "p99"):
        add(f"first mask {name}, us", "first_mask_us", name)
        add("  ratio to llguidance", "to_llguidance", "first_mask", name)
    for status in ("ok", "refused", "failed", "timeout", "crashed"):
        add(f"schemas {status}", "schemas", status)
    for kind in ("valid rejected", "invalid accepted", "mask and accept differ"):
        add(kind, "wrong", kind)
    add("peak memory, MB", "peak_mb")
    add("  before the first schema, MB", "loaded_mb")
    for kind in ("cold", "warm"):
        add(f"batch {kind} mean, ms", "batch", f"{kind}_ms", "mean")
        add(f"batch {kind} p50, ms", "batch", f"{kind}_ms", "p50")
        add("  ratio of means to llguidance", "batch", "to_llguidance", kind)
    return table(["", *engines], rows)
