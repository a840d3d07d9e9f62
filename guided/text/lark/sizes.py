"""What a grammar comes to once it is written out, found before that is tried.

Lark writes a rule out as plain alternatives and a terminal as one pattern. Both can be exponential
in the text: `a? b? c? ...` has 2^n alternatives, and `B: A A`, `C: B B`, ... doubles each time.
"""

from __future__ import annotations

from typing import Any

from guided.errors import LimitError
from guided.text.lark.source import Source

MAX_PATTERN = 200_000
MAX_INSTANCES = 2_000
# From here on lark breaks a repetition up into rules of its own, REPEAT_BREAK_THRESHOLD.
_BROKEN_UP = 50
# The largest product of repetitions that lark makes one rule of, when it breaks them up.
_FACTOR = 9
_ENOUGH = 10**12


def alternatives(tree: Any) -> int:
    """Return how many alternatives lark makes of a tree of a rule; at most 10^12."""
    if not hasattr(tree, "data"):
        return 1
    kind, children = tree.data, tree.children
    if kind == "expansions":
        total = sum(alternatives(child) for child in children)
    elif kind == "expansion":
        total = 1
        for child in children:
            total = min(_ENOUGH, total * alternatives(child))
    elif kind in ("alias", "maybe"):
        total = alternatives(children[0]) + (kind == "maybe")
    elif kind == "expr":
        total = _repeated(alternatives(children[0]), children[1:])
    else:
        total = 1
    return min(total, _ENOUGH)


def _repeated(inner: int, operator: list[Any]) -> int:
    sign, *counts = [str(each) for each in operator]
    if sign != "~":
        return inner + 1 if sign == "?" else 2 * inner
    low, high = int(counts[0]), int(counts[-1])
    if high < _BROKEN_UP:
        return sum(min(_ENOUGH, int(inner**count)) for count in range(low, high + 1))
    return min(_ENOUGH, int(inner**_FACTOR)) * (1 if low == high else _FACTOR)


def check_references(source: Source) -> None:
    """Refuse terminals that refer to others so often that lark would take too long to resolve it.

    This looks at the text alone, as it has to come before lark looks at all.

    Raises:
        LimitError: one would be written out to more than 200,000 parts.
    """
    parts: dict[str, list[str]] = {}
    current: list[str] = []
    for each in source.names():
        if each.defines:
            current = parts.setdefault(each.text, [])
        elif each.text.isupper() and not each.imports:
            current.append(each.text)
    totals: dict[str, int] = {}
    for name in parts:
        _total(name, parts, totals)


def _total(name: str, parts: dict[str, list[str]], totals: dict[str, int]) -> None:
    """Count the parts of a terminal, those it refers to before it; recursive ones count as one."""
    stack = [name]
    while stack:
        current = stack[-1]
        if current not in totals:
            totals[current] = 1
            stack += [part for part in parts.get(current, []) if part in parts]
            continue
        stack.pop()
        total = 1 + sum(totals.get(part, 1) for part in parts.get(current, []))
        totals[current] = min(total, _ENOUGH)
        if current.isupper() and total > MAX_PATTERN:
            raise _too_long(current)


def _too_long(name: str) -> LimitError:
    return LimitError(
        f'terminal "{name}", with the terminals that it uses written out, is too long',
        limit="characters",
        value=MAX_PATTERN,
    )


def check_terminals(definitions: dict[str, Any]) -> None:
    """Refuse terminals that are too long once the terminals they use are written into them.

    Raises:
        LimitError: one has more than 200,000 characters.
    """
    known: dict[int, int] = {}
    for name, tree in definitions.items():
        if tree is not None and _length(tree, known) > MAX_PATTERN:
            raise _too_long(name)


def _length(tree: Any, known: dict[int, int]) -> int:
    """Return the length of the pattern of a terminal; trees are shared, so each is met once."""
    stack = [tree]
    while stack:
        current = stack[-1]
        if id(current) in known:
            stack.pop()
            continue
        missing = [
            child for child in current.children if hasattr(child, "data") and id(child) not in known
        ]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        total = 4
        for child in current.children:
            total += known[id(child)] if hasattr(child, "data") else len(str(child))
        known[id(current)] = min(total, _ENOUGH)
    return known[id(tree)]


def check_templates(rules: list[tuple[str, Any, Any, Any]]) -> None:
    """Refuse templates that make ever new instances of themselves.

    Raises:
        LimitError: there are more than 2,000 instances.
    """
    bodies = {name: (params, tree) for name, params, tree, _ in rules}
    seen: set[tuple[str, tuple[str, ...]]] = set()
    waiting: list[tuple[Any, dict[str, str]]] = [
        (tree, {}) for _, params, tree, _ in rules if not params and tree is not None
    ]
    while waiting:
        tree, bound = waiting.pop()
        for usage in tree.find_data("template_usage"):
            name = _spell(usage.children[0], bound)
            instance = (name, tuple(_spell(child, bound) for child in usage.children[1:]))
            if instance in seen or name not in bodies:
                continue
            seen.add(instance)
            if len(seen) > MAX_INSTANCES or sum(map(len, instance[1])) > MAX_PATTERN:
                raise LimitError(
                    f'template "{name}" is used with too many arguments that differ',
                    limit="instances of templates",
                    value=MAX_INSTANCES,
                )
            params, body = bodies[name]
            waiting.append((body, dict(zip(params, instance[1], strict=False))))


def _spell(item: Any, bound: dict[str, str]) -> str:
    """Return the text of an argument, with the parameters in it replaced."""
    if not hasattr(item, "data"):
        name = str(getattr(item, "name", item))
        return bound.get(name, name)
    if item.data in ("value", "literal"):
        return _spell(item.children[0], bound)
    name, *arguments = (_spell(child, bound) for child in item.children)
    return f"{name}{{{','.join(arguments)}}}"
