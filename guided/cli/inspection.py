"""All that is known of a source: whether it compiles, what is wrong, what is worth knowing."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from guided.cli.options import Reading
from guided.cli.sources import Source, compile_source, start_of
from guided.cli.wording import reword

if TYPE_CHECKING:
    from guided.grammar import Grammar
    from guided.text.checks.finding import Finding
    from guided.text.checks.outline import Outline

# What a walk over the parts of a rule, which calls itself, surely manages.
MAX_NESTING = 200
# Lark grammars import others, and an error may be in one of these.
_IN_FILE = re.compile(r" \(in ([^()]+)\)$")


@dataclass
class Inspection:
    """What was found out about a source.

    Attributes:
        grammar: None if it cannot be used.
        keywords: of a schema: JSON pointers, by what becomes of them.
        rules: how many a grammar has; None where there are none to count.
    """

    source: Source
    findings: list[Finding] = field(default_factory=list)
    grammar: Grammar | None = None
    keywords: dict[str, list[str]] = field(default_factory=dict)
    rules: int | None = None

    def count(self, level: str) -> int:
        """Return how many findings are of a level."""
        return sum(finding.level == level for finding in self.findings)


def inspect(source: Source, options: Reading) -> Inspection:
    """Check a source by all means there are for its language."""
    inspection = Inspection(source)
    if source.kind == "schema":
        _inspect_schema(inspection, options)
    elif source.kind == "gbnf":
        _inspect_gbnf(inspection, options)
    if not inspection.count("error"):
        _compile(inspection, options)
    if source.kind != "schema":
        _inspect_rules(inspection, options)
    inspection.findings = _in_order([_reworded(finding, source) for finding in inspection.findings])
    return inspection


def _reworded(finding: Finding, source: Source) -> Finding:
    """Return a finding in words of the command line, and with its file if that is another one."""
    if finding.mend is not None:
        finding = replace(finding, mend=reword(finding.mend))
    if source.kind == "lark" and (named := _IN_FILE.search(finding.fact)):
        file = None if named[1] == source.path else os.path.relpath(named[1])
        finding = replace(finding, fact=finding.fact[: named.start()], file=file)
    return finding


def _in_order(findings: list[Finding]) -> list[Finding]:
    """Return the findings in the order of the text; of two errors at one place, the first."""
    kept, places = [], set()
    for each in findings:
        place = (each.file, each.line, each.column)
        if each.level == "error" and each.line is not None:
            if place in places:
                continue
            places.add(place)
        kept.append(each)
    return sorted(kept, key=lambda each: (each.line or 0, each.column or 0))


def _compile(inspection: Inspection, options: Reading) -> None:
    """Make the grammar, and its automaton over bytes, which tells whether anything matches."""
    from guided.errors import GuidedError, VocabularyError
    from guided.grammar.explain import plain_vocabulary
    from guided.text.checks.finding import from_error

    try:
        grammar = compile_source(inspection.source, options)
        with suppress(VocabularyError):  # it has tokens that only a tokenizer knows
            grammar.compile(plain_vocabulary(grammar))
    except GuidedError as error:
        inspection.findings.append(from_error(error))
        return
    inspection.grammar = grammar


def _inspect_schema(inspection: Inspection, options: Reading) -> None:
    from guided.errors import GuidedError
    from guided.text.checks.finding import from_error, placed
    from guided.text.checks.json_place import member_places
    from guided.text.checks.schema import check_schema
    from guided.text.checks.schema_text import read_schema

    try:
        schema, findings = read_schema(inspection.source.text)
    except GuidedError as error:
        inspection.findings.append(from_error(error))
        return
    check = check_schema(
        schema,
        whitespace=options.whitespace,
        property_order=options.property_order,
        lenient=options.lenient,
    )
    places = member_places(inspection.source.text)
    inspection.findings += [
        placed(finding, inspection.source.text, places) for finding in [*findings, *check.findings]
    ]
    inspection.keywords = {str(role): pointers for role, pointers in check.keywords.items()}


def _inspect_gbnf(inspection: Inspection, options: Reading) -> None:
    """Find all errors of a GBNF grammar, not only the first."""
    from guided.errors import LimitError
    from guided.text.checks.finding import from_error
    from guided.text.gbnf import find_errors

    source = inspection.source
    try:
        errors = find_errors(source.text, start=start_of(source, options))
        inspection.findings += [from_error(error) for error in errors]
    except LimitError as error:
        inspection.findings.append(from_error(error))


def _inspect_rules(inspection: Inspection, options: Reading) -> None:
    """Look at the rules as they are written."""
    from guided.errors import GuidedError
    from guided.text.checks.finding import Finding
    from guided.text.checks.rules import check_rules

    source = inspection.source
    is_lark = source.kind == "lark"
    try:
        outline = outline_of(source, options)
        if source.kind == "gbnf" and outline.external:
            return  # of rules that cannot be read it is not known what they use
        inspection.rules = len(outline.rules)
        rewrites = not is_lark or options.lexer.startswith("dynamic")
        inspection.findings += check_rules(outline, rewrites_left_recursion=rewrites)
        if is_lark and inspection.grammar is not None:
            from guided.text.checks.collisions import check_collisions

            inspection.findings += check_collisions(
                outline, lexer=options.lexer, path=source.path, import_paths=options.import_paths
            )
    except (GuidedError, RecursionError):
        # What cannot be read is told by the compiler, which has better words for it.
        if inspection.grammar is not None:
            fact = "the grammar is nested too deeply to be looked at for more than its errors"
            inspection.findings.append(Finding("note", "not-checked", fact))


def outline_of(source: Source, options: Reading) -> Outline:
    """Return the rules of a source that is no schema.

    Raises:
        GuidedError: it cannot be read, or is nested too deeply.
    """
    try:
        return _outline(source, options)
    except RecursionError:
        from guided.errors import LimitError

        raise LimitError(
            "the grammar is nested too deeply to be looked at",
            limit="groups within groups",
            value=MAX_NESTING,
        ) from None


def _outline(source: Source, options: Reading) -> Outline:
    if source.kind == "gbnf":
        from guided.text.checks.gbnf_outline import outline_gbnf

        return outline_gbnf(source.text, start=start_of(source, options))
    if source.kind == "lark":
        from guided.text.checks.lark_outline import outline_lark

        return outline_lark(source.text, start=start_of(source, options))
    from guided.text.checks.regex_outline import outline_regex

    return outline_regex(source.text, dialect=options.dialect)
