"""`uri`, `uri-reference`, `iri`, `iri-reference` and `uri-template`.

Source: RFC 3986, appendix A; RFC 3987, section 2.2; RFC 6570, section 2. No scheme has rules of its
own here, and whether a scheme is registered is not looked at.
"""

from __future__ import annotations

from guided.text.json_schema.strings.formats.network import ipv6
from guided.text.json_schema.strings.formats.notation import (
    ALPHANUMERIC,
    DIGIT,
    HEXADECIMAL,
    LETTER,
    Notation,
    Ranges,
    charset,
)

_UNRESERVED = (*ALPHANUMERIC, *charset("._~"), *charset("-"))
_SUB_DELIMS = charset("!$&'()*+,;=")

# RFC 3987, section 2.2: all of Unicode but controls, private use and what is no character.
_UCSCHAR: Ranges = (
    (0xA0, 0xD7FF),
    (0xF900, 0xFDCF),
    (0xFDF0, 0xFFEF),
    *((plane << 16, plane << 16 | 0xFFFD) for plane in range(1, 14)),
    (0xE1000, 0xEFFFD),
)
_IPRIVATE: Ranges = ((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))

# RFC 6570, section 2.1, with the apostrophe, as erratum 6937 has it.
_LITERALS: Ranges = (
    (0x21, 0x21),
    (0x23, 0x24),
    (0x26, 0x3B),
    (0x3D, 0x3D),
    (0x3F, 0x5B),
    (0x5D, 0x5D),
    (0x5F, 0x5F),
    (0x61, 0x7A),
    (0x7E, 0x7E),
)


def uri(n: Notation) -> int:
    """Match URI: with a scheme."""
    return _Rules(n).absolute()


def uri_reference(n: Notation) -> int:
    """Match URI-reference: a URI, or relative to one."""
    rules = _Rules(n)
    return n.either(rules.absolute(), rules.relative())


def iri(n: Notation) -> int:
    """Match IRI: a URI with characters beyond ASCII."""
    return _Rules(n, _UCSCHAR, _IPRIVATE).absolute()


def iri_reference(n: Notation) -> int:
    """Match IRI-reference: an IRI, or relative to one."""
    rules = _Rules(n, _UCSCHAR, _IPRIVATE)
    return n.either(rules.absolute(), rules.relative())


def uri_template(n: Notation) -> int:
    """Match URI-Template, of any level, also with the operators that are reserved."""
    percent = _percent(n)
    literals = n.many(n.either(*map(n.one_of, (_LITERALS, _UCSCHAR, _IPRIVATE)), percent))
    varchars = n.many(n.either(n.one_of((*ALPHANUMERIC, *charset("_"))), percent), 1)
    name = n.row(varchars, n.many(n.row(".", varchars)))
    prefix = n.row(":", n.one_of(charset("1-9")), n.many(n.one_of(DIGIT), 0, 3))
    variable = n.row(name, n.maybe(n.either(prefix, "*")))
    variables = n.row(variable, n.many(n.row(",", variable)))
    operator = n.one_of(charset("+#./;?&=,!@|"))
    expression = n.row("{", n.maybe(operator), variables, "}")
    return n.row(literals, n.many(n.row(expression, literals)))


class _Rules:
    """The rules of URIs, or of IRIs with the sets that these have more.

    Paths are cut at the first slash only: then it is one of the characters.
    """

    def __init__(self, n: Notation, more: Ranges = (), private: Ranges = ()) -> None:
        self.n = n
        self._percent = _percent(n)
        # Apart from the others, since so many ranges are best spelled once only.
        self._more = [n.one_of(more)] if more else []
        self._private = [n.one_of(private)] if private else []
        self._path = n.maybe("/", n.many(self._character(":@/")))
        self._from_slash = self._slash()
        self._ending = self._query_and_fragment()

    def absolute(self) -> int:
        n = self.n
        # More letters than one at the beginning are no change, but keep it one terminal.
        more = n.many(n.one_of((*ALPHANUMERIC, *charset("+.-"))))
        scheme = n.row(n.many(n.one_of(LETTER), 1), more)
        rootless = n.row(n.many(self._character(":@"), 1), self._path)
        return n.row(scheme, ":", n.either(self._from_slash, n.maybe(rootless)), self._ending)

    def relative(self) -> int:
        n = self.n
        # A colon in the first segment would make it a scheme.
        rootless = n.row(n.many(self._character("@"), 1), self._path)
        return n.row(n.either(self._from_slash, n.maybe(rootless)), self._ending)

    def _slash(self) -> int:
        """Match a path from the root, or two slashes, an authority and perhaps such a path."""
        n = self.n
        rooted = n.maybe(n.many(self._character(":@"), 1), self._path)
        authority = n.row("/", self._authority(), self._path)
        return n.row("/", n.either(rooted, authority))

    def _authority(self) -> int:
        n = self.n
        user = n.maybe(n.many(self._character(":")), "@")
        future = n.row(
            n.word("v"),
            n.many(n.one_of(HEXADECIMAL), 1),
            ".",
            n.many(n.one_of((*_UNRESERVED, *_SUB_DELIMS, *charset(":"))), 1),
        )
        literal = n.row("[", n.either(ipv6(n), future), "]")
        # An IPv4 address is a name by its syntax.
        host = n.either(literal, n.many(self._character("")))
        return n.row(user, host, n.maybe(":", n.many(n.one_of(DIGIT))))

    def _query_and_fragment(self) -> int:
        n = self.n
        fragment = n.many(self._character(":@/?"))
        query = n.many(n.either(self._character(":@/?"), *self._private))
        return n.row(n.maybe("?", query), n.maybe("#", fragment))

    def _character(self, others: str) -> int:
        """Match what needs no escape anywhere, some other characters, or an escape."""
        allowed = self.n.one_of((*_UNRESERVED, *_SUB_DELIMS, *charset(others)))
        return self.n.either(allowed, *self._more, self._percent)


def _percent(n: Notation) -> int:
    digit = n.one_of(HEXADECIMAL)
    return n.row("%", digit, digit)
