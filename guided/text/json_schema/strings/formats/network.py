"""`ipv4`, `ipv6` and `hostname`."""

from __future__ import annotations

from guided.text.json_schema.strings.formats.notation import (
    ALPHANUMERIC,
    DIGIT,
    HEXADECIMAL,
    Notation,
    charset,
)

_GROUPS = 8
_LABEL, _NAME = 63, 253

# From here on a host name may be one that IDNA made.
PUNYCODE_DRAFT = 7


def ipv4(n: Notation) -> int:
    """Match four numbers up to 255 without leading zeros.

    Source: RFC 2673, section 3.2; RFC 3986, section 3.2.2, for the zeros.
    """
    digit = n.one_of(DIGIT)
    return _quad(
        n,
        n.either(
            "0", n.row("1", n.many(digit, 0, 2)), _from_200(n), n.row(_from_3(n), n.maybe(digit))
        ),
    )


def padded_ipv4(n: Notation) -> int:
    """Match the same where zeros may lead: up to three digits (RFC 5321, section 4.1.3)."""
    digit = n.one_of(DIGIT)
    low = n.row(n.one_of(charset("01")), n.many(digit, 0, 2))
    return _quad(n, n.either(low, _from_200(n), n.row(_from_3(n), n.maybe(digit))))


def ipv6(n: Notation) -> int:
    """Match an address in any of its forms, without a zone.

    Source: RFC 4291, section 2.2; RFC 3986, section 3.2.2, has it as ABNF.
    """
    return groups(n, ipv4(n), elided=1)


def groups(n: Notation, quad: int, *, elided: int) -> int:
    """Match an IPv6 address whose last two groups may be a `quad`.

    Args:
        n: where to write.
        quad: an address of version 4.
        elided: how many groups `::` stands for, at least.
    """
    group = n.many(n.one_of(HEXADECIMAL), 1, 4)
    most = _GROUPS - elided
    # What may follow so many groups with `::` among them, and without.
    after = [0] * (_GROUPS + 1)
    for count in reversed(range(most)):
        after[count] = n.maybe(":", _next(n, group, quad, after, count, most))
    plain = 0
    for count in reversed(range(1, _GROUPS)):
        options = [n.row(group, plain)]
        if count == _GROUPS - 2:
            options.append(quad)
        if count <= most:
            tail = _next(n, group, quad, after, count, most)
            options.append(n.row(":", n.maybe(tail)))
        plain = n.row(":", n.either(*options))
    return n.either(
        n.row(group, plain), n.row("::", n.maybe(_next(n, group, quad, after, 0, most)))
    )


def _next(n: Notation, group: int, quad: int, after: list[int], count: int, most: int) -> int:
    """Match what may come after `count` groups, one at least, where `::` was before."""
    options = []
    if count + 1 <= most:
        options.append(n.row(group, after[count + 1]))
    if count + 2 <= most:
        options.append(quad)
    return n.either(*options)


def hostname(n: Notation, draft: int) -> int:
    """Match labels of letters, digits and inner hyphens, at most 63 long, 253 in all.

    From draft 7 on names are those that IDNA knows too. There a label with hyphens as its third and
    fourth character is reserved, but for `xn--` and the Punycode of a label that IDNA allows, which
    the core knows.

    Source: RFC 1123, section 2.1, with RFC 1034, section 3.1; RFC 5890, section 2.3.1.
    """
    if draft >= PUNYCODE_DRAFT:
        return n.hostname(_NAME)
    letter = n.one_of(ALPHANUMERIC)
    return _names(n, n.row(letter, _label_end(n, _LABEL - 1)))


def plain_hostname(n: Notation) -> int:
    """Match the host names without a reserved label, which are regular."""
    letter = n.one_of(ALPHANUMERIC)
    inner = n.one_of((*ALPHANUMERIC, *charset("-")))
    unreserved = n.either(
        n.row(letter, _label_end(n, _LABEL - 3)), n.row("-", letter, _label_end(n, _LABEL - 4))
    )
    return _names(n, n.row(letter, n.maybe(n.either(letter, n.row(inner, unreserved)))))


def _label_end(n: Notation, most: int) -> int:
    """Match up to so many characters more, the last of them no hyphen."""
    inner = n.one_of((*ALPHANUMERIC, *charset("-")))
    return n.maybe(n.many(inner, 0, most - 1), n.one_of(ALPHANUMERIC))


def _names(n: Notation, label: int) -> int:
    names = n.row(label, n.many(n.row(".", label)))
    return n.arena.both(names, n.many(n.one_of((*ALPHANUMERIC, *charset(".-"))), 1, _NAME))


def _quad(n: Notation, octet: int) -> int:
    return n.row(octet, n.many(n.row(".", octet), 3, 3))


def _from_200(n: Notation) -> int:
    """Match 2, 20 to 29 and 200 to 255."""
    digit = n.one_of(DIGIT)
    return n.row(
        "2",
        n.maybe(
            n.either(
                n.row(n.one_of(charset("0-4")), n.maybe(digit)),
                n.row("5", n.maybe(n.one_of(charset("0-5")))),
                n.one_of(charset("6-9")),
            )
        ),
    )


def _from_3(n: Notation) -> int:
    return n.one_of(charset("3-9"))
