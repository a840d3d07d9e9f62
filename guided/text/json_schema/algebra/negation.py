"""What does not fit an alternative.

That is a union, with an alternative for each constraint that may fail. What a part must not fit
stands in a negated child. That some part, no matter which, does not fit is said by
`ObjectShape.some` and `ArrayShape.contains`, and their own complements are constraints on all parts
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

from guided.text.json_schema.algebra.choices import Choices
from guided.text.json_schema.algebra.intersection import meet_objects
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.shapes.children import join, negated
from guided.text.json_schema.shapes.shape import (
    ANY_NUMBERS,
    ANY_STRINGS,
    ArrayShape,
    Bound,
    Child,
    Contains,
    Count,
    Group,
    NumberShape,
    ObjectShape,
    Some,
    StringShape,
)


class InexactError(Exception):
    """The complement of a keyword cannot be said."""

    def __init__(self, at: Subschema, keyword: str) -> None:
        super().__init__(at, keyword)
        self.at = at
        self.keyword = keyword


def not_numbers(numbers: tuple[NumberShape, ...]) -> tuple[NumberShape, ...]:
    """Return the numbers that fit none of some alternatives."""
    if not numbers:
        return ANY_NUMBERS
    if any(shape == ANY_NUMBERS[0] for shape in numbers):
        return ()
    if len(numbers) > 1:
        return (NumberShape(excluded=numbers),)
    shape = numbers[0]
    if shape == NumberShape(low=shape.low, high=shape.high):
        below = (NumberShape(high=_turned(shape.low)),) if shape.low else ()
        above = (NumberShape(low=_turned(shape.high)),) if shape.high else ()
        return below + above
    if shape == NumberShape(excluded=shape.excluded):
        return shape.excluded
    return (NumberShape(excluded=numbers),)


def not_strings(strings: tuple[StringShape, ...]) -> tuple[StringShape, ...]:
    """Return the strings that fit none of some alternatives."""
    if not strings:
        return ANY_STRINGS
    if any(shape == ANY_STRINGS[0] for shape in strings):
        return ()
    if len(strings) > 1:
        return (StringShape(excluded=strings),)
    shape = strings[0]
    if shape == StringShape(shape.minimum, shape.maximum):
        short = (StringShape(maximum=_fewer(shape.minimum)),) if shape.minimum else ()
        long = (StringShape(minimum=_more(shape.maximum)),) if shape.maximum else ()
        return short + long
    if shape == StringShape(excluded=shape.excluded):
        return shape.excluded
    return (StringShape(excluded=strings),)


class ObjectFailures(NamedTuple):
    """How an object may not fit: it meets one of `some`, or is one of `others`."""

    some: tuple[Some, ...]
    others: tuple[ObjectShape, ...]


class Failures:
    """The ways not to fit the alternatives of one document.

    Equal groups of one name are one group, equal obligations are one, so that alternatives can be
    compared cheaply.
    """

    def __init__(self) -> None:
        self._arrays: dict[int, tuple[ArrayShape, tuple[ArrayShape, ...]]] = {}
        self._objects: dict[int, tuple[ObjectShape, ObjectFailures]] = {}
        self._groups: dict[tuple[str, Child], Group] = {}
        self._together: dict[tuple[int, ...], tuple[Sequence[Group], Group]] = {}
        self._absent: dict[str, ObjectShape] = {}
        self._some: dict[object, Some] = {}
        self._unions: dict[tuple[int, ...], Some] = {}
        self._choices: dict[int, Choices] = {}
        self._live: dict[object, tuple[ObjectShape, ObjectShape, list[Some]]] = {}

    def of_array(self, shape: ArrayShape, at: Subschema) -> tuple[ArrayShape, ...]:
        """Return the alternatives of the arrays that do not fit `shape`.

        Raises:
            InexactError: it asks for unique items.
        """
        if shape.unique is not None and (shape.maximum is None or shape.maximum.value > 1):
            raise InexactError(shape.unique, "uniqueItems")
        known = self._arrays.get(id(shape))
        if known is None:
            known = self._arrays[id(shape)] = (shape, tuple(_array_failures(shape, at)))
        return known[1]

    def of_object(self, shape: ObjectShape, at: Subschema) -> ObjectFailures:
        """Return how objects may not fit `shape`."""
        known = self._objects.get(id(shape))
        if known is None:
            failures = ObjectFailures(
                tuple(self._some_failures(shape, at)), tuple(self._other_failures(shape, at))
            )
            known = self._objects[id(shape)] = (shape, failures)
        return known[1]

    def one_of(self, obligations: Sequence[Some]) -> Some:
        """Return the obligation to meet one of some, the same for the same ones."""
        if len(obligations) == 1:
            return obligations[0]
        key = tuple(map(id, obligations))
        known = self._unions.get(key)
        if known is None:
            known = obligations[0]._replace(others=tuple(obligations[1:]))
            known = self._unions[key] = known
            self._choices[id(known)] = Choices(obligations)
        return known

    def live(
        self,
        one: ObjectShape,
        rival: ObjectShape,
        as_one: bool,
        find: Callable[[ObjectShape, bool], list[Some]],
    ) -> list[Some]:
        """Return what `find` gives: the ways by a property not to fit `rival` and to fit `one`.

        That hangs on the values that `one` allows, not on what is required or owed in it.
        """
        key = (*map(id, one.groups), one.keys, id(rival), as_one)
        known = self._live.get(key)
        if known is None:
            known = self._live[key] = (one, rival, find(one, as_one))
        return known[-1]

    def without_implied(self, one: ObjectShape) -> ObjectShape:
        """Leave out each obligation that is met if another one is."""
        choices = [self._choices.get(id(some)) or Choices((some,)) for some in one.some]
        kept: list[int] = []
        for number, mine in enumerate(choices):
            if not any(choices[other].imply(mine) for other in kept):
                kept = [other for other in kept if not mine.imply(choices[other])] + [number]
        if len(kept) == len(choices):
            return one
        return one._replace(some=tuple(one.some[number] for number in kept))

    def alternative(self, some: Some) -> ObjectShape:
        """Return the objects that meet an obligation."""
        if some.name is None or some.others:
            return ObjectShape(some=(some,))
        key = (some.name, some.child)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group({some.name: some.child})
        return ObjectShape((group,), {some.name: some.at})

    def together(self, groups: Sequence[Group]) -> Group:
        """Return the group that says what some do that speak of properties by name only."""
        key = tuple(map(id, groups))
        known = self._together.get(key)
        if known is None:
            names: dict[str, Child] = {}
            for group in groups:
                for name, child in group.properties.items():
                    names[name] = join(names.get(name, ()), child)
            known = self._together[key] = (groups, Group(names))
        return known[1]

    def absent(self, name: str, at: Subschema) -> ObjectShape:
        """Return the objects without a property."""
        shape = self._absent.get(name)
        if shape is None:
            child: Child = (Subschema(False, at, ()),)
            shape = self._absent[name] = ObjectShape((Group({name: child}),))
        return shape

    def _other_failures(self, shape: ObjectShape, at: Subschema) -> Iterator[ObjectShape]:
        """Give the alternatives in which something is not there, or too much."""
        declared = set()
        for group in shape.groups:
            for name in group.properties.keys() & shape.required.keys():
                child = group.properties[name]
                if child:
                    # Its absence is a failure as well.
                    declared.add(name)
                    some = self.obligation(Some(negated(child, at), at, name=name))
                    yield self.alternative(some)._replace(required={})
        for name, schema in shape.required.items():
            if name not in declared:
                yield self.absent(name, schema)
        if shape.minimum is not None and shape.minimum.value:
            yield ObjectShape(maximum=_fewer(shape.minimum))
        if shape.maximum is not None:
            yield ObjectShape(minimum=_more(shape.maximum))
        for name, owed, schema in shape.owes:
            yield self.absent(owed, schema)._replace(required={name: schema})
        for some in shape.some:
            failing = [_none(one) for one in (some._replace(others=()), *some.others)]
            yield reduce(meet_objects, failing)

    def _some_failures(self, shape: ObjectShape, at: Subschema) -> Iterator[Some]:
        """Give the obligations of which an object that does not fit may meet one."""
        for group in shape.groups:
            for name, child in group.properties.items():
                if child and name not in shape.required:
                    yield self.obligation(Some(negated(child, at), at, name=name))
            for pattern, child in group.patterns:
                if child:
                    yield self.obligation(Some(negated(child, at), at, matching=(pattern,)))
            if group.additional:
                beyond = Some(
                    negated(group.additional, at),
                    at,
                    avoiding=tuple(pattern for pattern, _ in group.patterns),
                    names=frozenset(group.properties),
                )
                yield self.obligation(beyond)
        if shape.keys:
            yield self.obligation(Some((), at, key=negated(shape.keys, at)))

    def obligation(self, some: Some) -> Some:
        """Return the same obligation for equal ones."""
        texts = [tuple(one.text for one in each) for each in (some.matching, some.avoiding)]
        key = (some.child, *texts, some.names, some.key, some.name)
        return self._some.setdefault(key, some)


def _array_failures(shape: ArrayShape, at: Subschema) -> Iterator[ArrayShape]:
    if shape.minimum is not None and shape.minimum.value:
        yield ArrayShape(maximum=_fewer(shape.minimum))
    if shape.maximum is not None:
        yield ArrayShape(minimum=_more(shape.maximum))
    for index, child in enumerate(shape.prefix):
        if child:
            place = Count(index + 1, at, "prefixItems")
            yield ArrayShape(((),) * index + (negated(child, at),), minimum=place)
    if shape.rest:
        start = len(shape.prefix)
        yield ArrayShape(contains=(Contains(negated(shape.rest, at), 1, None, at, "items", start),))
    for contains in shape.contains:
        if contains.minimum > 1:
            fewer = contains._replace(minimum=0, maximum=contains.minimum - 1)
            yield ArrayShape(contains=(fewer,))
        elif contains.minimum == 1:
            yield ArrayShape(((),) * contains.start, negated(contains.child, at))
        if contains.maximum is not None:
            more = contains._replace(minimum=contains.maximum + 1, maximum=None)
            yield ArrayShape(contains=(more,))


def _none(some: Some) -> ObjectShape:
    """Return the objects in which no property meets an obligation."""
    child = negated(some.child, some.at)
    if some.name is not None:
        return ObjectShape((Group({some.name: child}),))
    if some.key:
        # Obligations come from one keyword each: one on keys says nothing else.
        assert some == Some((), some.at, key=some.key)
        return ObjectShape(keys=negated(some.key, some.at))
    if some.matching:
        assert some == Some(some.child, some.at, some.matching[:1])
        return ObjectShape((Group({}, ((some.matching[0], child),)),))
    names: dict[str, Child] = dict.fromkeys(sorted(some.names), ())
    return ObjectShape((Group(names, tuple((one, ()) for one in some.avoiding), child),))


def _fewer(count: Count) -> Count:
    return count._replace(value=count.value - 1)


def _more(count: Count) -> Count:
    return count._replace(value=count.value + 1)


def _turned(bound: Bound | None) -> Bound | None:
    return bound and bound._replace(is_open=not bound.is_open)
