"""What a check found, for tools: one JSON object."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from guided.cli.cost import Cost
from guided.cli.inspection import Inspection
from guided.cli.report import is_fine
from guided.cli.samples import Outcome

Checked = tuple[Inspection, list[Outcome], Cost | None]


def json_report(checked: list[Checked], *, strict: bool) -> str:
    """Write what was found of all sources."""
    files = [_file(*each, strict=strict) for each in checked]
    return json.dumps({"ok": all(file["ok"] for file in files), "files": files}, indent=2)


def _file(
    inspection: Inspection, outcomes: list[Outcome], cost: Cost | None, *, strict: bool
) -> dict[str, Any]:
    return {
        "file": inspection.source.name,
        "kind": inspection.source.kind,
        "ok": is_fine(inspection, outcomes, strict=strict),
        "findings": [_filled(asdict(finding)) for finding in inspection.findings],
        "keywords": inspection.keywords,
        "samples": [_outcome(outcome) for outcome in outcomes],
        "cost": None if cost is None else asdict(cost),
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    standing = outcome.standing
    return {
        "name": outcome.sample.name,
        "ok": outcome.is_as_wanted,
        "wanted": "accepted" if outcome.sample.accept else "rejected",
        "verdict": standing.verdict,
        "line": standing.line,
        "column": standing.column,
        "expected": list(standing.expected),
        "found": standing.found,
    }


def _filled(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is not known, and the drawing, which is for people."""
    return {key: value for key, value in values.items() if value is not None and key != "excerpt"}
