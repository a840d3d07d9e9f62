"""What can be told of the rules of a grammar without running it, each by one pass over them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from guided.text.checks.outline import (
    Characters,
    Choice,
    Opaque,
    Outline,
    Part,
    Pattern,
    Reference,
    Repeat,
    Sequence,
    Text,
    Unordered,
    references,
    walk,
)

Names = set[str]


def reachable(outline: Outline) -> Names:
    """Return the rules that the start, or ignored text, leads to."""
    found: Names = set()
    waiting = [outline.start]
    waiting += [each.name for part in outline.ignored for each in references(part)]
    while waiting:
        name = waiting.pop()
        if name in found or name not in outline.rules:
            continue
        found.add(name)
        waiting += [each.name for each in references(outline.rules[name].body)]
    return found


def undefined(outline: Outline) -> list[Reference]:
    """Return the references to rules that are not there, in the order of the text."""
    known = outline.rules.keys() | outline.external
    missing = [
        each
        for rule in outline.rules.values()
        for each in references(rule.body)
        if each.name not in known and each.name not in rule.parameters
    ]
    missing += [
        each for part in outline.ignored for each in references(part) if each.name not in known
    ]
    return sorted(missing, key=lambda each: each.index)


def productive(outline: Outline) -> Names:
    """Return the rules that match some text."""

    def holds(part: Part, found: Names) -> bool:
        if isinstance(part, Reference):
            return part.name in found or part.name not in outline.rules
        if isinstance(part, Choice):
            return any(holds(each, found) for each in part.parts)
        if isinstance(part, Sequence | Unordered):
            return all(holds(each, found) for each in part.parts)
        if isinstance(part, Repeat):
            return part.minimum == 0 or holds(part.part, found)
        return not (isinstance(part, Characters) and not part.ranges)

    return _least(outline, holds)


def nullable(outline: Outline) -> Names:
    """Return the rules that match the empty text. What is defined elsewhere is taken not to."""
    fuller = {name for name, rule in outline.rules.items() if rule.is_lazy or rule.stop}
    return _least(outline, is_nullable, without=fuller)


def is_nullable(part: Part, found: Names) -> bool:
    """Return True if a part matches the empty text, where the rules `found` do."""
    if isinstance(part, Text):
        return not part.text
    if isinstance(part, Opaque):
        return part.is_nullable
    if isinstance(part, Pattern):
        return is_nullable(part.body, found)
    if isinstance(part, Reference):
        return part.name in found
    if isinstance(part, Choice):
        return any(is_nullable(each, found) for each in part.parts)
    if isinstance(part, Sequence | Unordered):
        return all(is_nullable(each, found) for each in part.parts)
    return isinstance(part, Repeat) and (part.minimum == 0 or is_nullable(part.part, found))


def blank(outline: Outline) -> Names:
    """Return the rules that match white space only."""

    def is_more(part: Part, found: Names) -> bool:
        if isinstance(part, Reference):
            known = part.name in outline.rules
            return part.name in found if known else part.name not in BLANK_ELSEWHERE
        if isinstance(part, Text):
            return bool(part.text.strip())
        if isinstance(part, Characters):
            return not all(_is_blank(*each) for each in part.ranges)
        if isinstance(part, Opaque):
            return not part.is_nullable
        inner = part.parts if isinstance(part, Sequence | Choice | Unordered) else ()
        if isinstance(part, Repeat | Pattern):
            inner = (part.part if isinstance(part, Repeat) else part.body,)
        return any(is_more(each, found) for each in inner)

    ended = {name for name, rule in outline.rules.items() if rule.stop.strip()}
    more = _least(outline, is_more, ended)
    return {
        name
        for name, rule in outline.rules.items()
        if name not in more and any(map(_has_characters, walk(rule.body)))
    }


# Terminals of lark's common.lark that are white space.
BLANK_ELSEWHERE = frozenset({"WS", "WS_INLINE", "NEWLINE", "CR", "LF"})


def is_blank(part: Part, rules: Names) -> bool:
    """Return True if a part matches white space only, and some; `rules`: those that do."""
    some = False
    for each in walk(part):
        if isinstance(each, Reference):
            if each.name not in rules and each.name not in BLANK_ELSEWHERE:
                return False
            some = True
        elif isinstance(each, Text) and each.text:
            if each.text.strip():
                return False
            some = True
        elif isinstance(each, Characters):
            if not all(_is_blank(*ranges) for ranges in each.ranges):
                return False
            some = True
        elif isinstance(each, Opaque) and not each.is_nullable:
            return False
    return some


def left_recursive(outline: Outline) -> list[list[str]]:
    """Return the groups of rules that begin with each other, or one with itself."""
    empty = nullable(outline)
    leads = {
        name: [each for each in firsts(rule.body, empty) if each in outline.rules]
        for name, rule in outline.rules.items()
    }
    return cycles(leads)


def recursive(outline: Outline) -> Names:
    """Return the rules that lead back to themselves."""
    leads = {
        name: [each.name for each in references(rule.body) if each.name in outline.rules]
        for name, rule in outline.rules.items()
    }
    return {name for group in cycles(leads) for name in group}


def cycles(leads: dict[str, list[str]]) -> list[list[str]]:
    """Return the strongly connected components that hold a cycle, in the order of the names.

    Source: Sharir, "A strong-connectivity algorithm", 1981 (two searches, the second backwards).
    """
    back: dict[str, list[str]] = defaultdict(list)
    for name, targets in leads.items():
        for target in targets:
            back[target].append(name)
    finished: list[str] = []
    _search(leads, leads, finished.append, set())
    place = {name: number for number, name in enumerate(leads)}
    seen: Names = set()
    groups = []
    for root in reversed(finished):
        group: list[str] = []
        _search([root], back, group.append, seen)
        if len(group) > 1 or (group and root in leads[root]):
            groups.append(sorted(group, key=place.__getitem__))
    return sorted(groups, key=lambda group: place[group[0]])


def _search(
    roots: Iterable[str],
    leads: dict[str, list[str]],
    finish: Callable[[str], None],
    seen: Names,
) -> None:
    """Go depth first, and call `finish` with each name after all that it leads to."""
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(leads.get(root, ())))]
        while stack:
            name, targets = stack[-1]
            target = next((each for each in targets if each not in seen), None)
            if target is None:
                finish(name)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(leads.get(target, ()))))


def firsts(part: Part, empty: Names) -> list[str]:
    """Return the rules that a part may begin with."""
    if isinstance(part, Reference):
        return [part.name]
    if isinstance(part, Choice | Unordered):
        return [name for each in part.parts for name in firsts(each, empty)]
    if isinstance(part, Repeat):
        return firsts(part.part, empty)
    found: list[str] = []
    if isinstance(part, Sequence):
        for each in part.parts:
            found += firsts(each, empty)
            if not is_nullable(each, empty):
                break
    return found


def _least(
    outline: Outline,
    holds: Callable[[Part, Names], bool],
    given: Iterable[str] = (),
    without: Names | frozenset[str] = frozenset(),
) -> Names:
    """Return the least set of rules whose bodies satisfy `holds`, given that set.

    The rules `given` are in it, and those of `without` are not, whatever their bodies.
    """
    users: dict[str, list[str]] = defaultdict(list)
    for name, rule in outline.rules.items():
        for each in references(rule.body):
            users[each.name].append(name)
    found: Names = set(given)
    waiting = [name for name in outline.rules if name not in without]
    while waiting:
        name = waiting.pop()
        if name not in found and holds(outline.rules[name].body, found):
            found.add(name)
            waiting += (user for user in users[name] if user not in without)
    return found


def _has_characters(part: Part) -> bool:
    return isinstance(part, Text | Characters | Reference)


def _is_blank(first: int, last: int) -> bool:
    return last - first < 16 and all(chr(each).isspace() for each in range(first, last + 1))
