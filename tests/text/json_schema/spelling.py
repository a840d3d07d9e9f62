"""Writes JSON values as texts, numbers as they were written, in the layouts that are usual."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any


class Number(str):
    """A number of a JSON text, as it stands there: for `parse_float` and `parse_int`."""

    __slots__ = ()


def layouts(value: Any) -> list[str]:
    """Write a value compactly, as json.dumps does it, and indented."""
    return [
        write(value, ",", ":", ascii_only=False),
        write(value),
        write(value, ",", ": ", indent=2, ascii_only=False),
    ]


def write(
    value: Any,
    comma: str = ", ",
    colon: str = ": ",
    indent: int | None = None,
    ascii_only: bool = True,
) -> str:
    """Write a value as json.dumps does, a Decimal in it as a float and a `Number` as it is."""
    return "".join(_write(value, comma, colon, indent, ascii_only, 0))


def _write(
    value: Any, comma: str, colon: str, indent: int | None, ascii_only: bool, level: int
) -> Iterator[str]:
    if isinstance(value, Number):
        yield value
    elif isinstance(value, Decimal):
        yield repr(float(value))
    elif isinstance(value, dict | list) and value:
        is_object = isinstance(value, dict)
        gap = "" if indent is None else "\n" + " " * (indent * (level + 1))
        yield "{" if is_object else "["
        for count, item in enumerate(value):
            yield (comma if count else "") + gap
            if is_object:
                yield json.dumps(item, ensure_ascii=ascii_only) + colon
                item = value[item]
            yield from _write(item, comma, colon, indent, ascii_only, level + 1)
        yield gap[: len(gap) - (indent or 0)] + ("}" if is_object else "]")
    else:
        yield json.dumps(value, ensure_ascii=ascii_only)
