"""Whether a value fits a shape, in plain Python: the meaning of shapes, with no node in sight."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from guided.text.json_schema.document.document import Document
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.shapes.shape import (
    FALSE,
    NULL,
    TRUE,
    ArrayShape,
    Bound,
    Child,
    Count,
    Group,
    NumberShape,
    ObjectShape,
    Pattern,
    Some,
    StringShape,
)
from tests.text.json_schema.spelling import Number


def exact(value: Any) -> Any:
    """Return a JSON value with exact numbers."""
    if isinstance(value, float | Number):
        return Decimal(str(value))
    if isinstance(value, dict):
        return {name: exact(part) for name, part in value.items()}
    return [exact(item) for item in value] if isinstance(value, list) else value


class Fitting:
    """Verdicts on the values that fit a schema, by its shapes."""

    def __init__(self, schema: Any, **options: Any) -> None:
        document = Document(exact(schema), registry=options.pop("registry", None))
        self.reader = Reader(document, options.pop("unsupported", "refuse"), **options)
        self.root: Child = (document.root,)
        self.reader.shape(self.root)

    def fits(self, value: Any) -> bool:
        return self._fits(self.root, exact(value))

    def _fits(self, child: Child, value: Any) -> bool:
        shape = self.reader.shape(child)
        if value is None or isinstance(value, bool):
            return bool(shape.simple & (NULL if value is None else TRUE if value else FALSE))
        if isinstance(value, int | Decimal):
            return any(fits_number(one, Decimal(value)) for one in shape.numbers)
        if isinstance(value, str):
            return any(self._fits_string(one, value) for one in shape.strings)
        if isinstance(value, list):
            return any(self._fits_array(one, value) for one in shape.arrays)
        return any(self._fits_object(one, value) for one in shape.objects)

    def _matches(self, pattern: Pattern, text: str) -> bool:
        verdict = self.reader.texts.matches(pattern, text)
        assert verdict is not None, pattern
        return verdict

    def _fits_string(self, shape: StringShape, text: str) -> bool:
        assert not shape.formats
        return (
            _counts(shape.minimum, shape.maximum, len(text))
            and all(self._matches(pattern, text) for pattern in shape.patterns)
            and (shape.values is None or text in shape.values.members)
            and not any(self._fits_string(other, text) for other in shape.excluded)
        )

    def _fits_array(self, shape: ArrayShape, items: list[Any]) -> bool:
        if not _counts(shape.minimum, shape.maximum, len(items)):
            return False
        parts = (*shape.prefix, *(shape.rest for _ in items))
        if not all(self._fits(part, item) for part, item in zip(parts, items, strict=False)):
            return False
        for contains in shape.contains:
            count = sum(self._fits(contains.child, item) for item in items[contains.start :])
            if count < contains.minimum:
                return False
            if contains.maximum is not None and count > contains.maximum:
                return False
        return shape.unique is None or len(set(map(_key, items))) == len(items)

    def _fits_object(self, shape: ObjectShape, value: dict[str, Any]) -> bool:
        return (
            value.keys() >= shape.required.keys()
            and _counts(shape.minimum, shape.maximum, len(value))
            and all(
                self._fits_group(group, name, value[name])
                for group in shape.groups
                for name in value
            )
            and (not shape.keys or all(self._fits(shape.keys, name) for name in value))
            and all(owed in value for owing, owed, _ in shape.owes if owing in value)
            and all(any(self._meets(some, *each) for each in value.items()) for some in shape.some)
        )

    def _fits_group(self, group: Group, name: str, value: Any) -> bool:
        children = [child for pattern, child in group.patterns if self._matches(pattern, name)]
        if name in group.properties:
            children.append(group.properties[name])
        return all(self._fits(child, value) for child in children or [group.additional])

    def _meets(self, some: Some, name: str, value: Any) -> bool:
        return any(self._meets(other, name, value) for other in some.others) or (
            some.name in (None, name)
            and name not in some.names
            and all(self._matches(pattern, name) for pattern in some.matching)
            and not any(self._matches(pattern, name) for pattern in some.avoiding)
            and self._fits(some.key, name)
            and self._fits(some.child, value)
        )


def fits_number(shape: NumberShape, value: Decimal) -> bool:
    return (
        not (shape.is_integer and value != value.to_integral_value())
        and _above(shape.low, value)
        and (shape.high is None or _above(_mirrored(shape.high), -value))
        and (shape.values is None or value in shape.values.members)
        and all((Fraction(value) / Fraction(one.value)).denominator == 1 for one in shape.multiples)
        and not any(fits_number(other, value) for other in shape.excluded)
    )


def _above(low: Bound | None, value: Decimal) -> bool:
    return low is None or value > low.value or (value == low.value and not low.is_open)


def _mirrored(bound: Bound) -> Bound:
    return bound._replace(value=-bound.value)


def _counts(minimum: Count | None, maximum: Count | None, size: int) -> bool:
    low = 0 if minimum is None else minimum.value
    return low <= size and (maximum is None or size <= maximum.value)


def _key(value: Any) -> Any:
    """Return something that is equal for equal JSON values, and for no others."""
    if isinstance(value, list):
        return ("array", tuple(map(_key, value)))
    if isinstance(value, dict):
        return ("object", frozenset((name, _key(part)) for name, part in value.items()))
    return (isinstance(value, bool), value)
