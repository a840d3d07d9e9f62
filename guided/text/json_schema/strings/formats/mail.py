"""`email` and `idn-email`."""

from __future__ import annotations

from guided.text.json_schema.strings.formats.network import groups, padded_ipv4
from guided.text.json_schema.strings.formats.notation import (
    ALPHANUMERIC,
    NON_ASCII,
    Notation,
    Ranges,
    charset,
)

# RFC 5322, section 3.2.3: what an atom consists of.
_ATEXT = (*ALPHANUMERIC, *charset("!#$%&'*+/=?^_`{|}~"), *charset("-"))
# RFC 5321, section 4.1.2: what may stand between quotes by itself, and what behind a backslash.
_QTEXT: Ranges = ((32, 33), (35, 91), (93, 126))
_QUOTABLE: Ranges = ((32, 126),)


def email(n: Notation) -> int:
    """Match a Mailbox: a local part, dotted or quoted, and a domain or an address in brackets.

    Of the tags for addresses in brackets `IPv6` is the only one that is registered. The sizes of
    section 4.5.3.1 are no part of the syntax.

    Source: RFC 5321, sections 4.1.2 and 4.1.3.
    """
    return _mailbox(n)


def idn_email(n: Notation) -> int:
    """Match the same with characters beyond ASCII.

    A label of the domain may hold any of them: whether IDNA allows the label is not looked at.

    Source: RFC 6531, section 3.3.
    """
    return _mailbox(n, n.one_of(NON_ASCII))


def _mailbox(n: Notation, *more: int) -> int:
    atom = n.many(n.either(n.one_of(_ATEXT), *more), 1)
    dotted = n.row(atom, n.many(n.row(".", atom)))
    quoted_pair = n.row("\\", n.one_of(_QUOTABLE))
    quoted = n.row('"', n.many(n.either(n.one_of(_QTEXT), quoted_pair, *more)), '"')
    return n.row(n.either(dotted, quoted), "@", n.either(_domain(n, *more), _literal(n)))


def _domain(n: Notation, *more: int) -> int:
    """Match labels, each beginning and ending with a letter or a digit."""
    letters = n.many(n.either(n.one_of(ALPHANUMERIC), *more), 1)
    return n.row(letters, n.many(n.row(n.either(n.many("-", 1), "."), letters)))


def _literal(n: Notation) -> int:
    quad = padded_ipv4(n)
    # Here `::` stands for two groups at least.
    return n.row("[", n.either(quad, n.row(n.word("IPv6"), ":", groups(n, quad, elided=2))), "]")
