"""Formats outside the standard that pydantic writes for types of its own and of Python."""

from __future__ import annotations

from guided.text.json_schema.strings.formats.network import ipv4, ipv6
from guided.text.json_schema.strings.formats.notation import (
    ALPHANUMERIC,
    DIGIT,
    HEXADECIMAL,
    Notation,
    Ranges,
    charset,
)


def uuid_of_version(n: Notation, version: str) -> int:
    """Match a UUID of a version and of the variant that has versions.

    Source: RFC 9562, sections 4.1 and 4.2.
    """
    digit = n.one_of(HEXADECIMAL)
    four, three = n.many(digit, 4, 4), n.many(digit, 3, 3)
    variant = n.one_of(charset("89ABab"))
    head = n.row(n.many(digit, 8, 8), "-", four, "-", version, three, "-", variant, three)
    return n.row(head, "-", n.many(digit, 12, 12))


def base64(n: Notation) -> int:
    """Match the Base 64 encoding of some bytes, padded, its last bits 0 where they spell nothing.

    Source: RFC 4648, sections 3.5 and 4.
    """
    return _base64(n, charset("+/"))


def base64url(n: Notation) -> int:
    """Match the same with `-` and `_` (RFC 4648, section 5)."""
    return _base64(n, (*charset("_"), *charset("-")))


def ipv4_interface(n: Notation) -> int:
    """Match an IPv4 address, perhaps with the length of the prefix of its network."""
    digit = n.one_of(DIGIT)
    length = n.either(n.row(n.one_of(charset("12")), n.maybe(digit)), digit, "30", "31", "32")
    return n.row(ipv4(n), n.maybe("/", length))


def ipv6_interface(n: Notation) -> int:
    """Match an IPv6 address, perhaps with the length of the prefix of its network."""
    digit = n.one_of(DIGIT)
    hundreds = n.either(n.row(n.one_of(charset("01")), digit), n.row("2", n.one_of(charset("0-8"))))
    length = n.either(digit, n.row(n.one_of(charset("1-9")), digit), n.row("1", hundreds))
    return n.row(ipv6(n), n.maybe("/", length))


def ip_address(n: Notation) -> int:
    """Match an address of either version."""
    return n.either(ipv4(n), ipv6(n))


def ip_interface(n: Notation) -> int:
    """Match an address of either version, perhaps with the length of the prefix of its network."""
    return n.either(ipv4_interface(n), ipv6_interface(n))


def _base64(n: Notation, others: Ranges) -> int:
    digit = n.one_of((*ALPHANUMERIC, *others))
    # What the digits before the padding may be: two bits more than they need, or four.
    two_zeros = n.one_of(charset("AEIMQUYcgkosw048"))
    four_zeros = n.one_of(charset("AQgw"))
    whole = n.many(n.many(digit, 4, 4))
    three = n.row(digit, digit, two_zeros, "=")
    return n.row(whole, n.maybe(n.either(three, n.row(digit, four_zeros, "=="))))
