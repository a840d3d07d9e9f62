"""Runs test data through compiled schemas, and says what came out: `python -m` this for a report.

A case is a schema with instances, each valid or not. Every instance is read in three layouts. What
is refused is counted by its reason; what is let through or stopped wrongly is listed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_specifications
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7, DRAFT202012

from guided.errors import GuidedError, LimitError, UnsupportedError
from tests.text.json_schema.matching import Language, language
from tests.text.json_schema.ordering import in_schema_order
from tests.text.json_schema.spelling import Number, layouts

DRAFTS = {"draft2020-12": DRAFT202012, "draft7": DRAFT7}
BRANCHES = 12
URI_OF_DRAFT = {"draft7": "http://json-schema.org/draft-07/schema#"}


@dataclass(frozen=True, slots=True)
class Instance:
    description: str
    valid: bool
    data: Any  # numbers in it are `Number`


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    schema: Any  # numbers in it are Decimal
    instances: Sequence[Instance]


@dataclass
class Report:
    """What came of some cases.

    Attributes:
        passed: the number of those with no wrong verdict.
        refused: case and reason, where the schema was not taken.
        wrong: case, instance, its text and what should have been said of it.
    """

    passed: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[tuple[str, str, str, str]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        return self.passed + len(self.refused) + len({case for case, *_ in self.wrong})

    def __str__(self) -> str:
        share = len(self.refused) / max(1, self.cases)
        lines = [
            f"{self.cases} cases, {self.passed} passed, {len(self.refused)} refused ({share:.1%}),"
            f" {len(self.wrong)} wrong verdicts; {self.seconds:.1f} s",
            "",
        ]
        reasons = Counter(reason for _, reason in self.refused)
        if reasons:
            lines += ["| cases | refused for | such as |", "| ---: | --- | --- |"]
        for reason, count in reasons.most_common():
            such = [case for case, why in self.refused if why == reason]
            lines.append(f"| {count} | {_cell(reason)} | {_cell('; '.join(such[:4]))} |")
        lines += [
            "",
            *(
                f"- WRONG {name}: {what}: {text}: {verdict}"
                for name, what, text, verdict in self.wrong
            ),
        ]
        return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a file, packed or not; only a newline ends one."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    yield from filter(None, text.split("\n"))


def suite_cases(corpora: Path, draft: str, required: bool = True) -> Iterator[Case]:
    """Yield the groups of the JSON Schema Test Suite, the required ones or those of formats."""
    for line in lines_of(corpora / f"jsts-{draft}.jsonl"):
        entry = json.loads(line, parse_float=Decimal)
        if entry["required"] is not required:
            continue
        schema = entry["schema"]
        if draft in URI_OF_DRAFT and isinstance(schema, dict):
            schema = {"$schema": URI_OF_DRAFT[draft], **schema}
        yield Case(f"{entry['file']}: {entry['group']}", schema, _instances(line))


def wild_cases(corpora: Path) -> Iterator[Case]:
    """Yield the schemas of the MaskBench sample."""
    for line in lines_of(corpora / "maskbench-300.jsonl.gz"):
        entry = json.loads(line, parse_float=Decimal)
        yield Case(entry["id"], entry["schema"], _instances(line))


def _instances(line: str) -> list[Instance]:
    tests = json.loads(line, parse_float=Number, parse_int=Number)["tests"]
    return [Instance(test["description"], test["valid"], test["data"]) for test in tests]


@cache
def registry(corpora: Path, draft: str) -> Registry[Any]:
    """Return the documents that the suite refers to, and the meta-schemas."""
    resources = []
    for line in lines_of(corpora / "jsts-remotes.jsonl"):
        entry = json.loads(line, parse_float=Decimal)
        resource = Resource.from_contents(entry["schema"], default_specification=DRAFTS[draft])
        resources.append((entry["uri"], resource))
    known: Registry[Any] = jsonschema_specifications.REGISTRY
    return known.with_resources(resources)


def compiled_or_error(schema: Any, **options: Any) -> Language | GuidedError:
    try:
        return language(schema, **options)
    except GuidedError as error:
        return error


def reason(error: GuidedError) -> str | None:
    """Return why a schema is refused; None if the error is that nothing fits it."""
    match error:
        case UnsupportedError():
            return f"`{error.keyword}`: {error.fact}"
        case LimitError():
            return f"limit of {error.limit}"
        case _:
            return None


def run(cases: Iterable[Case], reorder: bool = False, **options: Any) -> Report:
    """Compile each schema and compare the verdicts on its instances, in all layouts.

    With `reorder` an instance is let through if it is with its keys in the order of the schema.
    """
    report = Report()
    start = time.perf_counter()
    for case in cases:
        try:
            grammar = compiled_or_error(case.schema, **options)
        except Exception as error:
            report.wrong.append((case.name, "while compiling", repr(error), "no crash"))
            continue
        if isinstance(grammar, GuidedError) and (why := reason(grammar)):
            report.refused.append((case.name, why))
            continue
        wrong = list(_wrong_verdicts(case, grammar, reorder))
        report.wrong += wrong
        report.passed += not wrong
    report.seconds = time.perf_counter() - start
    return report


def _wrong_verdicts(
    case: Case, grammar: Language | GuidedError, reorder: bool
) -> Iterator[tuple[str, str, str, str]]:
    for instance in case.instances:
        wanted = "valid" if instance.valid else "invalid"
        if isinstance(grammar, GuidedError):
            if instance.valid:
                yield case.name, instance.description, f"the schema: {grammar}", wanted
            continue
        for style, text in enumerate(layouts(instance.data)):
            try:
                verdict = grammar.matches(text)
                if reorder and not verdict:
                    ordered = _in_orders_of(case.schema, instance.data)
                    verdict = any(grammar.matches(layouts(value)[style]) for value in ordered)
            except GuidedError as error:
                yield case.name, instance.description, f"{text!r}: {error}", wanted
                continue
            if verdict is not instance.valid:
                yield case.name, instance.description, repr(text), wanted


def _in_orders_of(schema: Any, value: Any) -> Iterator[Any]:
    """Yield a value in the orders of a schema, which differ where one of some branches is taken."""
    return (in_schema_order(value, schema, branch) for branch in range(BRANCHES))


def main(arguments: Sequence[str] | None = None) -> None:
    folder = os.environ.get("GUIDED_CORPORA", str(Path(__file__).parents[4] / "shared/corpora"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpora", type=Path, default=Path(folder))
    parser.add_argument("--out", type=Path, help="write the report there")
    options = parser.parse_args(arguments)
    corpora: Path = options.corpora
    parts = []
    for draft in DRAFTS:
        for required, formats in ((True, "annotate"), (False, "assert")):
            title = f"{draft}, {'required' if required else 'formats'}"
            report = run(
                suite_cases(corpora, draft, required),
                property_order="any",
                formats=formats,
                registry=registry(corpora, draft),
            )
            parts.append(f"## {title}\n\n{report}")
    for order, reorder in (("any", False), ("schema", True), ("schema", False)):
        report = run(wild_cases(corpora), reorder, property_order=order)
        how = ", instances put in its order" if reorder else ""
        parts.append(f"## MaskBench sample, property_order={order!r}{how}\n\n{report}")
    text = "\n\n".join(parts) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
