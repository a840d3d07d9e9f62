"""What is wrong with the rules of a grammar as a whole."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from guided.errors import GrammarError
from guided.text.gbnf.reader import MAX_ERRORS, Reading
from guided.text.gbnf.syntax import (
    Choice,
    Expression,
    Reference,
    Repeat,
    Rule,
    Sequence,
    bottom_up,
    parts_of,
    references,
)

_SHOWN = 12


def check(reading: Reading, start: str) -> list[GrammarError]:
    """Return all that is wrong, in the order of the text."""
    if not reading.rules:
        empty = GrammarError(
            "the grammar is empty: it has no rule", mend=f'write at least {start} ::= "text"'
        )
        return reading.errors or [empty]
    errors = list(reading.errors)
    known = [*reading.rules, *reading.lost]
    if start not in known:
        errors.append(_no_start(reading, start))
    errors += _undefined(reading, known)
    if not errors and start not in productive(reading.rules):
        errors.append(_endless(reading, start))
    return errors[:MAX_ERRORS]


def _no_start(reading: Reading, start: str) -> GrammarError:
    names = [f'"{name}"' for name in reading.rules]
    listed = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    close = difflib.get_close_matches(start, reading.rules, 1)
    if len(reading.rules) == 1:
        close = list(reading.rules)
    meant = f'did you mean start="{close[0]}"? ' if close else ""
    return GrammarError(
        f'there is no rule "{start}" to start with',
        mend=f"{meant}name the rule to start with by start=...; the rules are {listed}",
    )


def _undefined(reading: Reading, known: list[str]) -> Iterator[GrammarError]:
    """Yield an error for the first reference to each rule that is not there."""
    seen = set(known)
    for rule in reading.rules.values():
        for reference in references(rule.body):
            if reference.name in seen:
                continue
            seen.add(reference.name)
            close = difflib.get_close_matches(reference.name, known, 1)
            text = f'write "{reference.name}" in double quotes if it is text, or define the rule'
            yield GrammarError(
                f'rule "{reference.name}" is not defined',
                text=reading.text,
                index=reference.at,
                length=len(reference.name),
                mend=f'did you mean "{close[0]}"?' if close else text,
            )


def _endless(reading: Reading, start: str) -> GrammarError:
    rule = reading.rules[start]
    return GrammarError(
        f'no text can match the rule "{start}": each way through it comes to a rule again'
        " that cannot end",
        text=reading.text,
        index=rule.at,
        length=len(start),
        mend="add an alternative that ends",
    )


def reachable(rules: dict[str, Rule], *starts: str) -> list[str]:
    """Return the rules that the given ones lead to, and they themselves.

    Each comes after those that it refers to, as far as these do not refer to it.
    """
    order: list[str] = []
    met: set[str] = set()
    for start in starts:
        stack = [iter([start])]
        names: list[str] = []
        while stack:
            name = next((each for each in stack[-1] if each in rules and each not in met), None)
            if name is not None:
                met.add(name)
                names.append(name)
                stack.append(iter([each.name for each in references(rules[name].body)]))
                continue
            stack.pop()
            if names:
                order.append(names.pop())
    return order


def productive(rules: dict[str, Rule]) -> set[str]:
    """Return the rules that some text matches."""
    waiting = reachable(rules, *rules)
    known: set[str] = set()
    while True:
        left = []
        for name in waiting:
            # What was found counts at once, so that a chain of rules takes one round.
            if _can_end(rules[name].body, known):
                known.add(name)
            else:
                left.append(name)
        if len(left) == len(waiting):
            return known
        waiting = left


def _can_end(body: Expression, known: set[str]) -> bool:
    """Return True if an expression has a text, given the rules that have one."""
    able: set[int] = set()
    for part in bottom_up(body):
        within = [id(each) in able for each in parts_of(part)]
        match part:
            case Reference(name=name):
                fine = name in known
            case Choice():
                fine = any(within)
            case Sequence():
                fine = all(within)
            case Repeat(minimum=minimum):
                fine = minimum == 0 or all(within)
            case _:
                fine = True
        if fine:
            able.add(id(part))
    return id(body) in able
