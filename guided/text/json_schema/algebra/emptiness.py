"""Whether nothing fits an alternative or a child, as far as that can be told cheaply.

True is proven; False may mean that it is not known. So a schema that leads back to itself counts
as fitted by something while it is looked at, and what is void of it is void for a reason that ends.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import compress
from typing import TYPE_CHECKING

from guided.errors import LimitError, SchemaError, UnsupportedError
from guided.text.json_schema.algebra.budget import Budget
from guided.text.json_schema.algebra.union import lists_only
from guided.text.json_schema.numbers.sets import holds_unlisted, is_void_numbers
from guided.text.json_schema.shapes.children import is_false, join
from guided.text.json_schema.shapes.shape import (
    FALSE,
    NULL,
    TRUE,
    ArrayShape,
    Child,
    Group,
    NumberShape,
    ObjectShape,
    Shape,
    Some,
    StringShape,
)

if TYPE_CHECKING:
    from guided.text.json_schema.reader import Reader
    from guided.text.json_schema.strings.plain_texts import Texts

# Parts of parts of ... that are looked at.
MAX_DEPTH = 8


# Stands for what has not been looked at.
_UNKNOWN: frozenset[object] = frozenset([object()])


class CircularError(SchemaError):
    """A schema refers to itself without a property or an item between."""


class Emptiness:
    """Decides for one reader; what has been decided is kept."""

    def __init__(self, reader: Reader) -> None:
        self.budget = Budget()
        self._reader = reader
        self._children: dict[Child, bool] = {}
        self._values: dict[Child, frozenset[object] | None] = {}
        # Not void as far as was seen from inside something else: forgotten when that is decided.
        self._unsettled: set[Child] = set()
        self._depth = 0
        self._is_settled = True

    @property
    def texts(self) -> Texts:
        """What can be told of patterns."""
        return self._reader.texts

    def child(self, child: Child) -> bool:
        """Return True if it is proven that nothing fits a child."""
        if not child:
            return False
        if is_false(child):
            return True
        known = self._children.get(child)
        if known is not None:
            return known
        try:
            child = self._reader.sharing.resolve(child)
        except (CircularError, UnsupportedError):
            self._is_settled = False
            return False
        known = self._children.get(child)
        if known is not None:
            return known
        if child in self._unsettled or self._depth >= MAX_DEPTH:
            self._is_settled = False
            return False
        outer, self._is_settled = self._is_settled, True
        self._unsettled.add(child)
        self._depth += 1
        try:
            found = self._shape(self._reader.shape(child))
        except (CircularError, LimitError, UnsupportedError):
            self._is_settled = found = False
        finally:
            is_settled, self._is_settled = self._is_settled, outer
            self._leave()
        if found or is_settled:
            self._children[child] = found
        else:
            self._is_settled = False
        return found

    def are_same(self, one: Child, other: Child) -> bool:
        """Return True if it is plain that the same fits two children."""
        try:
            return self._read(one) is self._read(other)
        except (CircularError, LimitError, UnsupportedError):
            return False

    def _read(self, child: Child) -> Shape:
        """Read a child; of references to one schema that schema is read, and once."""
        return self._reader.shape(self._reader.sharing.resolve(child))

    def _leave(self) -> None:
        """End to look into something; at the outermost, forget what could not be settled."""
        self._depth -= 1
        if not self._depth:
            self._unsettled.clear()

    def alternative(self, one: object) -> bool:
        """Return True if it is proven that nothing fits an alternative, of whatever type."""
        if isinstance(one, ObjectShape):
            return self._object(one)
        if isinstance(one, ArrayShape):
            return self._array(one)
        if isinstance(one, StringShape):
            return self._reader.texts.is_void(one)
        assert isinstance(one, NumberShape)
        return is_void_numbers(one)

    def values(self, child: Child) -> frozenset[object] | None:
        """Return exactly the values that fit a child, if they are listed; else None."""
        if not child:
            return None
        known = self._values.get(child, _UNKNOWN)
        if known is not _UNKNOWN or self._depth >= MAX_DEPTH:
            return None if known is _UNKNOWN else known
        self._depth += 1
        try:
            known = self._values[child] = self._listed(self._read(child))
        except (CircularError, LimitError, UnsupportedError):
            return None
        finally:
            self._leave()
        return known

    def _listed(self, shape: Shape) -> frozenset[object] | None:
        if shape.arrays or shape.objects:
            return None
        found: set[object] = {("simple", bit) for bit in (NULL, TRUE, FALSE) if shape.simple & bit}
        for number in shape.numbers:
            if number.values is None:
                return None
            found.update(value for value in number.values.members if holds_unlisted(number, value))
        for string in shape.strings:
            if string.values is None:
                return None
            texts = string.values.members
            if not lists_only(string):
                verdicts = [self._reader.texts.fits(string, text) for text in texts]
                if None in verdicts:
                    return None
                texts = tuple(compress(texts, verdicts))
            found.update(texts)
        return frozenset(found)

    def value_child(self, shape: ObjectShape, name: str) -> Child:
        """Return what the value of a property must fit, as far as patterns can be matched."""
        child: Child = ()
        for group in shape.groups:
            # There are often many, most of them for one other name.
            if group.patterns:
                part = self._in_group(group, name)
            else:
                part = group.properties.get(name, group.additional)
            if part:
                child = join(child, part)
        return child

    def _shape(self, shape: Shape) -> bool:
        if shape.simple:
            return False
        alternatives = (*shape.numbers, *shape.strings, *shape.arrays, *shape.objects)
        return all(map(self.alternative, alternatives))

    def _object(self, shape: ObjectShape) -> bool:
        required = set(shape.required)
        if shape.owes:
            _add_owed(required, shape.owes)
        if shape.maximum is not None:
            least = max(len(required), shape.minimum.value if shape.minimum else 0)
            if least > shape.maximum.value or (shape.some and not shape.maximum.value):
                return True
        if shape.keys and any(self._is_no_key(shape.keys, name) for name in required):
            return True
        if any(self.child(self.value_child(shape, name)) for name in required):
            return True
        if any(self.cannot_meet(shape, some) for some in shape.some):
            return True
        return shape.minimum is not None and shape.minimum.value > self._room(shape)

    def _in_group(self, group: Group, name: str) -> Child:
        declared = group.properties.get(name)
        child: Child = declared or ()
        is_additional = declared is None
        for pattern, part in group.patterns:
            verdict = self._reader.texts.matches(pattern, name)
            if verdict:
                child = join(child, part)
            if verdict is not False:
                is_additional = False
        return join(child, group.additional) if is_additional else child

    def _is_no_key(self, keys: Child, name: str) -> bool:
        try:
            strings = self._read(keys).strings
        except (CircularError, LimitError, UnsupportedError):
            return False
        return all(self._reader.texts.fits(one, name) is False for one in strings)

    def cannot_meet(self, shape: ObjectShape, some: Some) -> bool:
        """Return True if it is proven that no property of what fits `shape` meets an obligation."""
        return self._is_unmet(shape, some) and all(
            self._is_unmet(shape, other) for other in some.others
        )

    def _is_unmet(self, shape: ObjectShape, some: Some) -> bool:
        if some.name is not None:
            return self.child(join(self.value_child(shape, some.name), some.child))
        child = some.child
        matching = {pattern.text for pattern in some.matching}
        avoiding = {pattern.text for pattern in some.avoiding}
        for group in shape.groups:
            for pattern, part in group.patterns:
                if pattern.text in matching:
                    child = join(child, part)
            if (
                not matching
                and group.additional
                and some.names >= group.properties.keys()
                and all(pattern.text in avoiding for pattern, _ in group.patterns)
            ):
                child = join(child, group.additional)
        if self.child(child):
            return True
        return bool(some.key and shape.keys) and self.child(join(shape.keys, some.key))

    def all_names(self, shape: ObjectShape) -> Collection[str] | None:
        """Return names of which each key must be one, if there are such; it need not fit them."""
        for group in shape.groups:
            if is_false(group.additional) and not group.patterns:
                return group.properties
        return None

    def _room(self, shape: ObjectShape) -> float:
        """Return how many properties there can be at most."""
        names = self.all_names(shape)
        if names is None:
            return float("inf")
        return sum(not self.child(self.value_child(shape, name)) for name in names)

    def _array(self, shape: ArrayShape) -> bool:
        least = shape.minimum.value if shape.minimum is not None else 0
        most = shape.maximum.value if shape.maximum is not None else float("inf")
        if least > most:
            return True
        if any(map(self.child, shape.prefix[:least])):
            return True
        if least > len(shape.prefix) and self.child(shape.rest):
            return True
        for contains in shape.contains:
            if contains.maximum is not None and contains.minimum > contains.maximum:
                return True
            if any(
                other.child == contains.child
                and other.start == contains.start
                and other.maximum is not None
                and other.maximum < contains.minimum
                for other in shape.contains
            ):
                return True
            if contains.minimum and not self._has_place(shape, contains.child, contains.start):
                return True
        return False

    def _has_place(self, shape: ArrayShape, child: Child, start: int) -> bool:
        """Return True if some item from `start` on may fit a child."""
        most = shape.maximum.value if shape.maximum is not None else None
        is_open = most is None or most > max(start, len(shape.prefix))
        if is_open and not self.child(join(shape.rest, child)):
            return True
        return any(not self.child(join(item, child)) for item in shape.prefix[:most][start:])


def _add_owed(required: set[str], owes: tuple[tuple[str, str, object], ...]) -> None:
    """Add what those that are required ask for in turn."""
    grew = True
    while grew:
        size = len(required)
        required.update(owed for owing, owed, _ in owes if owing in required)
        grew = len(required) > size
