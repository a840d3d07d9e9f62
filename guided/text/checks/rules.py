"""What is worth knowing about the rules of a grammar: mistakes it runs with, and surprises."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from guided.text.checks import analysis
from guided.text.checks.finding import Finding, Level, found_in
from guided.text.checks.outline import (
    Characters,
    Outline,
    Part,
    Reference,
    Repeat,
    Rule,
    children,
    references,
    walk,
)

# A class of one letter is no name that was meant otherwise.
_SHORTEST_NAME = 2


def check_rules(outline: Outline, *, rewrites_left_recursion: bool = True) -> list[Finding]:
    """Return what there is to say of the rules, in the order of the text.

    Args:
        outline: the rules.
        rewrites_left_recursion: whether a rule that begins with itself is matched by rewriting it,
            which is so for all but the LALR parser of Lark.

    Rules that nothing leads to get no more than that.
    """
    findings = list(_undefined(outline))
    if outline.start in outline.rules:
        used = analysis.reachable(outline)
        findings += _unused(outline, used)
        findings += _unproductive(outline, used)
        findings += _empty(outline, used)
        findings += _white_space(outline, used)
        if rewrites_left_recursion:
            findings += _left_recursion(outline, used)
        findings += _classes_like_rules(outline, used)
    return sorted(findings, key=lambda each: (each.line or 0, each.column or 0))


def _undefined(outline: Outline) -> Iterator[Finding]:
    told = set()
    is_lark = bool(outline.external) or any(rule.is_terminal for rule in outline.rules.values())
    for part in analysis.undefined(outline):
        if part.name in told:
            continue
        told.add(part.name)
        kind = "terminal" if is_lark and part.name.lstrip("_")[:1].isupper() else "rule"
        near = difflib.get_close_matches(part.name, [*outline.rules, *outline.external], n=1)
        mend = f'did you mean "{near[0]}"?' if near else f"define {part.name}, or take it out"
        fact = f'{kind} "{part.name}" is not defined'
        yield found_in(
            outline.text,
            part.index,
            part.length,
            level="error",
            code="undefined-rule",
            fact=fact,
            mend=mend,
        )


def _unused(outline: Outline, used: set[str]) -> Iterator[Finding]:
    for name, rule in outline.rules.items():
        if name not in used:
            yield _at_name(
                outline,
                rule,
                "warning",
                "unused-rule",
                f'{_kind(rule)} "{name}" is never used: "{outline.start}" does not lead to it',
                "take it out, or use it",
            )


def _unproductive(outline: Outline, used: set[str]) -> Iterator[Finding]:
    fine = analysis.productive(outline)
    known = outline.rules.keys() | outline.external
    for name, rule in outline.rules.items():
        if name not in used or name in fine:
            continue
        missing = [each for each in references(rule.body) if each.name not in known]
        if missing:  # that one is told
            continue
        is_start = name == outline.start
        yield _at_name(
            outline,
            rule,
            "error" if is_start else "warning",
            "unproductive-rule",
            f'{_kind(rule)} "{name}" matches no text: it never comes to an end',
            "give it an alternative that does not lead back to it",
        )


def _empty(outline: Outline, used: set[str]) -> Iterator[Finding]:
    empty = analysis.nullable(outline)
    for name, rule in outline.rules.items():
        if name not in used or name not in empty:
            continue
        if name == outline.start:
            fact = f'"{name}", the start, matches the empty text, so a model may write nothing'
            mend = "let something in it be required"
        else:
            fact = f'{_kind(rule)} "{name}" can match nothing, the empty text'
            mend = None
        level: Level = "warning" if name == outline.start else "note"
        yield _at_name(outline, rule, level, "empty-rule", fact, mend)


def _white_space(outline: Outline, used: set[str]) -> Iterator[Finding]:
    blank = analysis.blank(outline)
    told: set[str] = set()
    for part in outline.ignored:
        if analysis.is_blank(part, blank):
            told.update(each.name for each in references(part))
            yield _gap(
                outline,
                part,
                "ignored white space may go on without end wherever it may stand",
                "leave out %ignore and write the white space where it belongs, with a bound",
            )
    loops = analysis.recursive(outline) & blank
    for name, rule in outline.rules.items():
        if name not in used or name in told or rule.is_lazy:
            continue
        if name in loops:
            fact = (
                f'{_kind(rule)} "{name}" lets white space go on without end, by leading to itself'
            )
            yield _at_name(outline, rule, "warning", "white-space", fact, _BOUND)
            continue
        for part in _gaps(rule.body, blank - loops):
            length = part.length or len(name)
            place = Reference(name, index=part.index or rule.index, length=length)
            fact = f'{_kind(rule)} "{name}" lets white space go on without end'
            yield _gap(outline, place, fact, _BOUND)


_BOUND = "bound it, for example to 20 characters, as a model may fill its output with blanks"


def _gaps(part: Part, blank: set[str]) -> Iterator[Part]:
    """Give the outermost repetitions without end of white space, and the patterns with one."""
    waiting = [part]
    while waiting:
        part = waiting.pop()
        if (
            isinstance(part, Repeat)
            and part.maximum is None
            and analysis.is_blank(part.part, blank)
        ):
            yield part
            continue
        inside = list(children(part))
        if part.length and not isinstance(part, Repeat):
            # What is inside a pattern has no place of its own.
            nameless = [each for each in inside if not each.length]
            if any(True for each in nameless for _ in _gaps(each, blank)):
                yield part
                continue
        waiting.extend(reversed(inside))


def _left_recursion(outline: Outline, used: set[str]) -> Iterator[Finding]:
    for group in analysis.left_recursive(outline):
        if not used.issuperset(group):
            continue
        rule = outline.rules[group[0]]
        with_others = f", by way of {', '.join(group[1:4])}" if len(group) > 1 else ""
        fact = (
            f'rule "{rule.name}" begins with itself{with_others}: it is rewritten as a repetition'
        )
        yield _at_name(outline, rule, "note", "left-recursion", fact, None)


def _classes_like_rules(outline: Outline, used: set[str]) -> Iterator[Finding]:
    for name, rule in outline.rules.items():
        if name not in used:
            continue
        for part in walk(rule.body):
            inside = part.written[1:-1] if isinstance(part, Characters) else ""
            if len(inside) < _SHORTEST_NAME or inside not in outline.rules or inside in used:
                continue
            fact = (
                f'the class [{inside}] is one character out of "{inside}", spelled like the rule'
                f' "{inside}", which is otherwise unused'
            )
            yield found_in(
                outline.text,
                part.index,
                part.length,
                level="warning",
                code="class-like-rule",
                fact=fact,
                mend=f"write {inside}? if the rule was meant, and may be left out",
            )


def _gap(outline: Outline, part: Part, fact: str, mend: str) -> Finding:
    return found_in(
        outline.text,
        part.index,
        part.length,
        level="warning",
        code="white-space",
        fact=fact,
        mend=mend,
    )


def _at_name(
    outline: Outline, rule: Rule, level: Level, code: str, fact: str, mend: str | None
) -> Finding:
    return found_in(
        outline.text, rule.index, len(rule.name), level=level, code=code, fact=fact, mend=mend
    )


def _kind(rule: Rule) -> str:
    return "terminal" if rule.is_terminal else "rule"
