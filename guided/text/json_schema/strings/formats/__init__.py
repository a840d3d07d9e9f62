"""The formats of JSON Schema: what a string of each may be, as one regular node.

notation    ABNF to nodes
dates       date, time, date-time, duration
network     ipv4, ipv6, hostname
mail        email, idn-email
uris        uri, uri-reference, iri, iri-reference, uri-template
pointers    json-pointer, relative-json-pointer, uuid
extras      uuid4, base64, ipv4interface, ...

The names are those of draft 2020-12 and of pydantic, in whatever dialect they stand. The standard
has those of others say nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from guided._core import Arena
from guided.text.json_schema.strings.formats import dates, extras, mail, network, pointers, uris
from guided.text.json_schema.strings.formats.notation import Notation
from guided.text.spelling import HostnameSpelling

_LATEST = 2020

_WRITERS: dict[str, Callable[[Notation], int]] = {
    "date": dates.date,
    "date-time": dates.date_time,
    "duration": dates.duration,
    "email": mail.email,
    "idn-email": mail.idn_email,
    "ipv4": network.ipv4,
    "ipv6": network.ipv6,
    "iri": uris.iri,
    "iri-reference": uris.iri_reference,
    "json-pointer": pointers.json_pointer,
    "time": dates.time,
    "uri": uris.uri,
    "uri-reference": uris.uri_reference,
    "uri-template": uris.uri_template,
    "uuid": pointers.uuid,
    "base64": extras.base64,
    "base64url": extras.base64url,
    "ipv4interface": extras.ipv4_interface,
    "ipv6interface": extras.ipv6_interface,
    "ipvanyaddress": extras.ip_address,
    "ipvanyinterface": extras.ip_interface,
    **{f"uuid{version}": partial(extras.uuid_of_version, version=version) for version in "1345678"},
}

# The text of the standard differs between drafts.
_WRITERS_BY_DRAFT: dict[str, Callable[[Notation, int], int]] = {
    "hostname": network.hostname,
    "relative-json-pointer": pointers.relative_json_pointer,
}

KNOWN = frozenset(_WRITERS) | frozenset(_WRITERS_BY_DRAFT)

# Formats of the standard that no regular language is, and why.
UNSUPPORTED = {
    "idn-hostname": "labels in Unicode are not written, those in Punycode are (hostname)",
    "regex": "regular expressions are no regular language: their groups nest",
}

# Well known formats that ask nothing of a text, though they may of a number or of a disk.
SILENT = frozenset(
    {
        "binary",
        "directory-path",
        "double",
        "file-path",
        "float",
        "int32",
        "int64",
        "json-string",
        "password",
        "path",
    }
)


def is_narrow(name: str, draft: int = _LATEST) -> bool:
    """Return True if a format has strings that its node does not match.

    Where what does *not* have the format is wanted, such a node is of no use. Host names that begin
    with a text are left out where it takes too long to find one of them; those with Punycode in
    them are left out where anything else is asked of the string (`plain`).
    """
    return name == "hostname" and draft >= network.PUNYCODE_DRAFT


def format_node(
    arena: Arena,
    spelling: HostnameSpelling,
    name: str,
    draft: int = _LATEST,
    *,
    plain: bool = False,
) -> int | None:
    """Return the regular node for strings of a format, without quotes; None if it is not `KNOWN`.

    Args:
        arena: where the nodes go.
        spelling: how a character is spelled in the text.
        name: the value of the keyword `format`.
        draft: 4, 6, 7, 2019 or 2020.
        plain: the node is to be intersected with others, or the like, so it must have few states:
            host names are those without Punycode.

    Cost: up to half a millisecond. Keep the node.
    """
    if plain and is_narrow(name, draft):
        return network.plain_hostname(Notation(arena, spelling))
    writer = _WRITERS.get(name)
    if writer is not None:
        return writer(Notation(arena, spelling))
    by_draft = _WRITERS_BY_DRAFT.get(name)
    return None if by_draft is None else by_draft(Notation(arena, spelling), draft)
