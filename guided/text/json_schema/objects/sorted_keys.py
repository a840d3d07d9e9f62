"""The keys of an object, sorted: the names that the schema speaks of, and sets of other keys.

Schemas say by name, by pattern and by what keys must fit (`propertyNames`) what the value of a key
must fit. Here each key gets one place: it is one of the names, or in one of some sets of keys
(cells) of which all are treated alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from guided.text.json_schema.objects.key_cells import MAX_LISTED, KeyCell, KeyCells
from guided.text.json_schema.shapes.children import join
from guided.text.json_schema.shapes.shape import Child, ObjectShape, Pattern, Some
from guided.text.json_schema.strings.spelling import is_spellable

if TYPE_CHECKING:
    from guided.text.json_schema.writer import Writer


# The patterns, as text, that a key matches, and the children that it fits.
Traits = frozenset[str | Child]


class OtherKeys(NamedTuple):
    """A set of keys that are no names.

    Attributes:
        key: the node that spells them, in quotes; it may spell names too.
        child: what their values must fit.
        meets: bits of those of the `single_obligations` whose set of keys these belong to.
    """

    key: int
    child: Child
    meets: int


class ObjectParts(NamedTuple):
    """The keys of an object, sorted.

    Attributes:
        names: by name, in order, what the value must fit.
        meets: by name as in OtherKeys.
        others: sets of keys; no key is in two.
        forbidden: names that no key may be.
    """

    names: dict[str, Child]
    meets: dict[str, int]
    others: list[OtherKeys]
    forbidden: list[str]


def sort_keys(writer: Writer, shape: ObjectShape) -> ObjectParts:
    """Sort the keys of a shape."""
    parts = ObjectParts({}, {}, [], [])
    some = single_obligations(shape)
    meets = _Meets(some)
    names = dict.fromkeys(_mentioned(shape, some))
    patterns, strings = _tests(shape, some)
    listed = _listed_keys(writer, shape)
    keys = shape.keys if listed is None else ()
    cells = KeyCells(writer.scalars, patterns, strings, keys)
    if listed is not None:
        names.update(listed)
    elif patterns or strings or keys:
        names.update(_add_cells(writer, shape, meets, parts, cells.cells()))
    else:
        nothing: Traits = frozenset()
        child, bits = _child(shape, None, nothing), meets.of(None, nothing)
        parts.others.append(OtherKeys(writer.any_json.string, child, bits))
    is_sorted = bool(patterns or strings or keys)
    for name in names:
        traits: Traits = cells.traits(name) if is_sorted and is_spellable(name) else frozenset()
        is_key = keys in traits if keys else listed is None or name in listed
        if is_key:
            parts.names[name] = _child(shape, name, traits)
            if some:
                parts.meets[name] = meets.of(name, traits)
        else:
            parts.forbidden.append(name)
    return parts


def _add_cells(
    writer: Writer,
    shape: ObjectShape,
    meets: _Meets,
    parts: ObjectParts,
    cells: list[KeyCell],
) -> dict[str, None]:
    """Add sets of other keys, those treated alike as one; return the keys of small sets."""
    names: dict[str, None] = {}
    same: dict[tuple[Child, int], list[KeyCell]] = {}
    for cell in cells:
        if cell.texts is not None:
            names.update(dict.fromkeys(cell.texts))
        else:
            child, bits = _child(shape, None, cell.traits), meets.of(None, cell.traits)
            same.setdefault((child, bits), []).append(cell)
    for (child, bits), alike in same.items():
        key = writer.arena.choice([cell.node for cell in alike])
        parts.others.append(OtherKeys(key, child, bits))
    _check_number(writer, shape, [cell for alike in same.values() for cell in alike])
    return names


def single_obligations(shape: ObjectShape) -> list[Some]:
    """Return the obligations of a shape, and those that can be met instead of one."""
    return [one for some in shape.some for one in (some, *some.others)]


def _listed_keys(writer: Writer, shape: ObjectShape) -> dict[str, None] | None:
    """Return the keys that may occur, if the schema lists them."""
    if not shape.keys:
        return None
    strings = writer.reader.shape(writer.reader.resolve(shape.keys)).strings
    if any(one.values is None for one in strings):
        return None
    fitting = writer.scalars.contents.fitting
    return {text: None for one in strings for text in fitting(one)}


def _check_number(writer: Writer, shape: ObjectShape, cells: list[KeyCell]) -> None:
    """Refuse a minimum that may be more than there are keys: that they run out is not foreseen."""
    minimum = shape.minimum
    if minimum is None or minimum.value <= MAX_LISTED or any(cell.is_endless for cell in cells):
        return
    if cells:
        fact = f"{minimum.keyword} is not supported where only finitely many keys are allowed"
        writer.reader.refuse(minimum.at, minimum.keyword, fact)


def _mentioned(shape: ObjectShape, some: list[Some]) -> Iterator[str]:
    """Return the names that a shape speaks of, in the order in which they are to be written."""
    for group in shape.groups:
        yield from group.properties
    yield from shape.required
    for owing, owed, _ in shape.owes:
        yield owing
        yield owed
    for one in some:
        yield from sorted(one.names)
        if one.name is not None:
            yield one.name


def _tests(shape: ObjectShape, some: list[Some]) -> tuple[list[Pattern], list[Child]]:
    """Return the patterns, and the children, that tell one key from another."""
    patterns = [pattern for group in shape.groups for pattern, _ in group.patterns]
    children: list[Child] = []
    for one in some:
        patterns += one.matching
        patterns += one.avoiding
        if one.key:
            children.append(one.key)
    by_text = {pattern.text: pattern for pattern in patterns}
    return list(by_text.values()), list(dict.fromkeys(children))


def _child(shape: ObjectShape, name: str | None, traits: Traits) -> Child:
    """Return what the value of a key must fit, a name or one that is no name."""
    child: Child = ()
    for group in shape.groups:
        declared = None if name is None else group.properties.get(name)
        if not group.patterns:
            part = group.additional if declared is None else declared
            if part:
                child = join(child, part)
            continue
        is_additional = declared is None
        child = join(child, declared or ())
        for pattern, fitting in group.patterns:
            if pattern.text in traits:
                is_additional = False
                child = join(child, fitting)
        if is_additional:
            child = join(child, group.additional)
    return child


class _Meets:
    """Finds for a key the obligations whose set of keys it is in, as bits."""

    def __init__(self, some: list[Some]) -> None:
        self._by_name: dict[str, int] = {}
        self._others: list[tuple[int, Some]] = []
        for number, one in enumerate(some):
            if one.name is None:
                self._others.append((1 << number, one))
            else:
                self._by_name[one.name] = self._by_name.get(one.name, 0) | 1 << number

    def of(self, name: str | None, traits: Traits) -> int:
        """Return the bits for a name, or for a key that is no name."""
        bits = 0 if name is None else self._by_name.get(name, 0)
        for bit, one in self._others:
            if (
                name not in one.names
                and (not one.key or one.key in traits)
                and all(pattern.text in traits for pattern in one.matching)
                and not any(pattern.text in traits for pattern in one.avoiding)
            ):
                bits |= bit
        return bits
