"""Arrays and objects taken out of others.

Out of each alternative are taken those of its rivals that it may have a value in common with. Which
those are is mostly decided by a property that it requires, with values that they do not allow; an
index by those values keeps the work near linear in the number of rivals.

What is left is in as many alternatives as there are ways out of all rivals, multiplied. An object
that has many ways out by some property or other can have them as one obligation instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from guided.text.json_schema.algebra.budget import MAX_ALTERNATIVES, TooManyError
from guided.text.json_schema.algebra.intersection import meet_arrays, meet_objects
from guided.text.json_schema.algebra.rival_index import FEW_RIVALS, Index, telling_names
from guided.text.json_schema.algebra.union import absorb
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.shapes.children import join
from guided.text.json_schema.shapes.shape import ArrayShape, Child, Group, ObjectShape, Some

if TYPE_CHECKING:
    from guided.text.json_schema.reader import Reader

Container = TypeVar("Container", ArrayShape, ObjectShape)

# Up to so many alternatives are better than obligations, which must be counted.
_FEW_WAYS = 8

# The core counts 16 conditions in one object; some are left to others.
_MAX_OBLIGATIONS = 12


class Rivals(Generic[Container]):
    """Alternatives, in branches, to be taken out of others."""

    def __init__(
        self, reader: Reader, branches: Sequence[tuple[Container, ...]], at: Subschema
    ) -> None:
        self._emptiness = reader.emptiness
        self._failures = reader.failures
        self._at = at
        self._rivals: list[tuple[int, Container]] = []
        for branch, alternatives in enumerate(branches):
            self._rivals += [(branch, one) for one in alternatives]

    def outside_of(
        self, alternatives: tuple[Container, ...], branch: int | None
    ) -> tuple[Container, ...]:
        """Return what fits one of some alternatives and no rival, but those of a branch.

        Raises:
            InexactError: a keyword has no complement that can be said.
            TooManyError: there are too many ways not to fit.
        """
        found: list[Container] = []
        for one in alternatives:
            if len(alternatives) > 1 and self._emptiness.alternative(one):
                continue
            rivals = self._near(one, branch)
            if not rivals:
                found.append(one)
            elif not any(one is rival for rival in rivals):
                found += self._outside(one, sorted(rivals, key=self._count))
            if len(found) > MAX_ALTERNATIVES:
                raise TooManyError(len(alternatives), len(self._rivals))
        return tuple(found)

    def _near(self, one: Container, branch: int | None) -> list[Container]:
        candidates = self._candidates(one)
        self._emptiness.budget.spend(1, len(candidates))
        others = [self._rivals[place] for place in candidates]
        return [
            rival
            for its_branch, rival in others
            if its_branch != branch and not self._emptiness.alternative(self._meet(one, rival))
        ]

    def _outside(self, one: Container, rivals: list[Container]) -> list[Container]:
        left = [one]
        for rival in rivals:
            count = self._count(rival)
            is_crowded = len(left) * count > _FEW_WAYS
            self._emptiness.budget.spend(len(left), count)
            both = [
                self._tidy(self._meet(a, way))
                for a in left
                for way in self._ways(a, rival, is_crowded)
            ]
            left = absorb([a for a in both if not self._emptiness.alternative(a)])
            if len(left) > MAX_ALTERNATIVES:
                raise TooManyError(len(left), count)
        return left

    def _candidates(self, one: Container) -> Sequence[int]:
        """Return the places of the rivals that are to be compared with an alternative."""
        return range(len(self._rivals))

    def _meet(self, a: Container, b: Container) -> Container:
        raise NotImplementedError

    def _tidy(self, one: Container) -> Container:
        """Return the same, said as shortly as can be."""
        return one

    def _count(self, rival: Container) -> int:
        """Return how many ways there are not to fit a rival."""
        raise NotImplementedError

    def _ways(self, one: Container, rival: Container, is_crowded: bool) -> Sequence[Container]:
        """Return the ways not to fit a rival for what fits `one`; few, if it is crowded there."""
        raise NotImplementedError


class ArrayRivals(Rivals[ArrayShape]):
    """The same for arrays."""

    def _meet(self, a: ArrayShape, b: ArrayShape) -> ArrayShape:
        return meet_arrays(a, b)

    def _count(self, rival: ArrayShape) -> int:
        return len(self._failures.of_array(rival, self._at))

    def _ways(self, one: ArrayShape, rival: ArrayShape, is_crowded: bool) -> Sequence[ArrayShape]:
        return self._failures.of_array(rival, self._at)


class ObjectRivals(Rivals[ObjectShape]):
    """The same for objects."""

    def __init__(
        self, reader: Reader, branches: Sequence[tuple[ObjectShape, ...]], at: Subschema
    ) -> None:
        super().__init__(reader, branches, at)
        self._index = Index(reader.emptiness, [one for _, one in self._rivals])

    def _candidates(self, one: ObjectShape) -> Sequence[int]:
        return self._index.candidates(one)

    def _meet(self, a: ObjectShape, b: ObjectShape) -> ObjectShape:
        return meet_objects(a, b)

    def _count(self, rival: ObjectShape) -> int:
        failures = self._failures.of_object(rival, self._at)
        return len(failures.some) + len(failures.others)

    def _outside(self, one: ObjectShape, rivals: list[ObjectShape]) -> list[ObjectShape]:
        found = []
        for part, left in self._by_presence(one, rivals):
            if part is one or not self._emptiness.alternative(part):
                found += self._outside_all(part, left) if left else [part]
        return found

    def _by_presence(
        self, one: ObjectShape, rivals: list[ObjectShape]
    ) -> Iterator[tuple[ObjectShape, list[ObjectShape]]]:
        """Part what fits `one` by which is the first that it has of some names, if any.

        Gives with each part the rivals with which it may have something in common.
        """
        telling = telling_names(self._emptiness, one, rivals) if len(rivals) > FEW_RIVALS else {}
        part = one
        absent: dict[str, Group] = {}
        for name, (at, allowing) in telling.items():
            left = [rival for rival in allowing if absent.keys().isdisjoint(rival.required)]
            if any(name in rival.required for rival in left):
                yield self._meet(part, ObjectShape(required={name: at})), left
                absent[name] = self._failures.absent(name, at).groups[0]
                together = self._failures.together(list(absent.values()))
                part = self._meet(one, ObjectShape((together,)))
        yield part, [rival for rival in rivals if absent.keys().isdisjoint(rival.required)]

    def _outside_all(self, one: ObjectShape, rivals: list[ObjectShape]) -> list[ObjectShape]:
        # Those that one property tells apart are taken out together: there are often many.
        single = [rival for rival in rivals if self._count(rival) == 1]
        if len(single) <= FEW_RIVALS:
            return super()._outside(one, rivals)
        self._emptiness.budget.spend(1, len(single))
        ways = [self._ways(one, rival, False) for rival in single]
        if not all(ways):
            return []
        bounds: list[Group] = []
        for (way,) in ways:
            if way == ObjectShape(way.groups) and all(map(_is_by_name, way.groups)):
                bounds += way.groups
            else:
                one = self._tidy(self._meet(one, way))
        if bounds:
            one = self._meet(one, ObjectShape((self._failures.together(bounds),)))
        if self._emptiness.alternative(one):
            return []
        return super()._outside(one, [rival for rival in rivals if self._count(rival) > 1])

    def _ways(
        self, one: ObjectShape, rival: ObjectShape, is_crowded: bool
    ) -> Sequence[ObjectShape]:
        failures = self._failures.of_object(rival, self._at)
        ways = [self._plainly(one, way) for way in failures.others]
        as_one = is_crowded and len(one.some) < _MAX_OBLIGATIONS
        live = self._failures.live(one, rival, as_one, partial(self._find_live, failures.some))
        if any(_is_met(one, each) for some in live for each in (some, *some.others)):
            return [ObjectShape()]
        if as_one and len(live) > 1:
            return [*ways, ObjectShape(some=(self._failures.one_of(live),))]
        return [*ways, *map(self._failures.alternative, live)]

    def _tidy(self, one: ObjectShape) -> ObjectShape:
        """Leave out the obligations that others imply."""
        return self._failures.without_implied(one) if len(one.some) > 1 else one

    def _find_live(self, obligations: Sequence[Some], one: ObjectShape, as_one: bool) -> list[Some]:
        """Return the obligations that `one` can meet, as they are for it.

        Those on a set of keys are said by name if they can be: if `as_one` by one each, else by
        one that has others.
        """
        found: list[Some] = []
        for some in obligations:
            possible = [self._possible(one, each) for each in self._by_name(one, some)]
            live = [each for each in possible if each is not None]
            if as_one:
                found += live
            elif live:
                found.append(self._failures.one_of(live))
        return found

    def _by_name(self, one: ObjectShape, some: Some) -> Sequence[Some]:
        """Return an obligation on a set of keys as one on each name, if `one` has no other keys.

        So obligations that ask for the same of `one` are equal.
        """
        if some.name is not None or some.key:
            return (some,)
        names = self._emptiness.all_names(one)
        if names is None:
            return (some,)
        matches = self._emptiness.texts.matches
        found = []
        for name in names:
            verdicts = [matches(pattern, name) for pattern in some.matching]
            verdicts += [_negation(matches(pattern, name)) for pattern in some.avoiding]
            if name in some.names or False in verdicts:
                continue
            if None in verdicts:
                return (some,)
            found.append(self._failures.obligation(Some(some.child, some.at, name=name)))
        return found

    def _possible(self, one: ObjectShape, some: Some) -> Some | None:
        """Return an obligation as it is for what fits `one`, None if that cannot meet it."""
        if some.name is not None:
            child = self._emptiness.value_child(one, some.name)
            if self._emptiness.child(child):
                return None
            if self._is_idle(child, join(child, some.child)):
                return self._failures.obligation(some._replace(child=()))
        return None if self._emptiness.cannot_meet(one, some) else some

    def _plainly(self, one: ObjectShape, way: ObjectShape) -> ObjectShape:
        """Leave out what a way asks of a property if all its listed values are fine."""
        if len(way.groups) != 1 or way != ObjectShape(way.groups, way.required):
            return way
        names, patterns, additional = way.groups[0]
        if len(names) != 1 or patterns or additional:
            return way
        ((name, other),) = names.items()
        child = self._emptiness.value_child(one, name)
        is_idle = self._is_idle(child, join(child, other))
        return ObjectShape(required=way.required) if is_idle else way

    def _is_idle(self, child: Child, narrower: Child) -> bool:
        """Return True if a child lists values, and all of them fit a narrower one."""
        values = self._emptiness.values(child)
        return values is not None and values == self._emptiness.values(narrower)


def _is_met(one: ObjectShape, some: Some) -> bool:
    """Return True if all that fits `one` meets an obligation, for the property must be there."""
    return some.name in one.required and not some.child


def _negation(verdict: bool | None) -> bool | None:
    return None if verdict is None else not verdict


def _is_by_name(group: Group) -> bool:
    """Return True if a group speaks of properties by name only."""
    return not group.patterns and not group.additional
