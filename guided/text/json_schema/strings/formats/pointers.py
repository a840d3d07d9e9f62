"""`json-pointer`, `relative-json-pointer` and `uuid`."""

from __future__ import annotations

from guided.text.json_schema.strings.formats.notation import (
    DIGIT,
    HEXADECIMAL,
    Notation,
    Ranges,
    charset,
)
from guided.text.spelling import LAST_CODE_POINT

_UNESCAPED: Ranges = ((0, 0x7D), (0x7F, LAST_CODE_POINT))


def json_pointer(n: Notation) -> int:
    """Match json-pointer, as a string and not as the fragment of a URI.

    Source: RFC 6901, section 3.
    """
    # The slash is one of the characters, so tokens need no level of their own.
    character = n.either(n.one_of(_UNESCAPED), n.row("~", n.one_of(charset("01"))))
    return n.maybe("/", n.many(character))


def relative_json_pointer(n: Notation, draft: int) -> int:
    """Match relative-json-pointer; from draft 2020-12 on an index may be moved, as in `0+1/a`.

    Source: draft-handrews-relative-json-pointer-01 and draft-bhutton-relative-json-pointer-00, each
    section 3.
    """
    number = n.either("0", n.row(n.one_of(charset("1-9")), n.many(n.one_of(DIGIT))))
    pointer = json_pointer(n)
    if draft >= 2020:
        pointer = n.row(n.maybe(n.one_of(charset("+-")), number), pointer)
    return n.row(number, n.either("#", pointer))


def uuid(n: Notation) -> int:
    """Match UUID, of any version and variant.

    Source: RFC 4122, section 3.
    """
    digit = n.one_of(HEXADECIMAL)
    first, *rest = (n.many(digit, count, count) for count in (8, 4, 4, 4, 12))
    return n.row(first, *(n.row("-", part) for part in rest))
