"""What a string of each format is, a second time: the ABNF of the RFCs word by word, or a library.

Slow, and made in another way than the nodes: no factoring, no sharing, dates by the calendar.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
import unicodedata
from calendar import monthrange
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import idna

Oracle = Callable[[str], bool]

_HEX = "[0-9A-Fa-f]"
_PERCENT = f"%{_HEX}{_HEX}"


def by_pattern(pattern: str) -> Oracle:
    compiled = re.compile(pattern, re.DOTALL)
    return lambda text: compiled.fullmatch(text) is not None


# RFC 3339. The year 0 is one of 400 years that are like those from 2000 on.


def is_date(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    year, month, day = map(int, text.split("-"))
    return 1 <= month <= 12 and 1 <= day <= monthrange(2000 + year % 400, month)[1]


def is_time(text: str, date: str | None = None) -> bool:
    found = re.fullmatch(
        r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))", text
    )
    if found is None:
        return False
    hour, minute, second = map(int, found.group(1, 2, 3))
    offset_hour, offset_minute = (int(digits or "0") for digits in found.group(5, 6))
    if hour > 23 or minute > 59 or second > 60 or offset_hour > 23 or offset_minute > 59:
        return False
    if second < 60:
        return True
    offset = timedelta(hours=offset_hour, minutes=offset_minute)
    year, month, day = map(int, (date or "2016-12-31").split("-"))
    local = datetime(2000 + year % 400, month, day, hour, minute)
    utc = local + offset if found[4] == "-" else local - offset
    is_last = (utc + timedelta(days=1)).day == 1 or date is None
    return (utc.hour, utc.minute) == (23, 59) and is_last and offset_minute % 15 == 0


def is_date_time(text: str) -> bool:
    date, separator, time = text[:10], text[10:11], text[11:]
    return separator in ("T", "t") and is_date(date) and is_time(time, date)


def duration() -> str:
    second = "[0-9]+S"
    minute = f"[0-9]+M(?:{second})?"
    hour = f"[0-9]+H(?:{minute})?"
    time = f"T(?:{hour}|{minute}|{second})"
    day = "[0-9]+D"
    month = f"[0-9]+M(?:{day})?"
    year = f"[0-9]+Y(?:{month})?"
    return f"P(?:(?:{day}|{month}|{year})(?:{time})?|{time}|[0-9]+W)"


# Addresses and names.


def is_ip(text: str, version: int) -> bool:
    try:
        return "%" not in text and ipaddress.ip_address(text).version == version
    except ValueError:
        return False


def is_interface(text: str, version: int) -> bool:
    address, slash, length = text.partition("/")
    bits = {4: 32, 6: 128}[version]
    if slash and not (re.fullmatch("0|[1-9][0-9]{0,2}", length) and int(length) <= bits):
        return False
    return is_ip(address, version)


def is_hostname(text: str) -> bool:
    if not 1 <= len(text) <= 253:
        return False
    labels = [_u_label(label) for label in text.split(".")]
    if None in labels:
        return False
    # RFC 5893, section 2: in a name with something from right to left the rule holds everywhere.
    is_bidi = any(
        unicodedata.bidirectional(one) in ("R", "AL", "AN")
        for label in labels
        for one in label or ""
    )
    return not is_bidi or all(_is_ordered(label or "") for label in labels)


def _u_label(label: str) -> str | None:
    """Return what a label stands for, None if it is no label."""
    if not re.fullmatch("[A-Za-z0-9-]{1,63}", label):
        return None
    if label[:4].lower() == "xn--":
        try:
            return idna.ulabel(label)
        except idna.IDNAError:
            return None
    is_plain = label[0] != "-" and label[-1] != "-" and label[2:4] != "--"
    return label if is_plain else None


def _is_ordered(label: str) -> bool:
    try:
        return idna.check_bidi(label, check_ltr=True)
    except idna.IDNAError:
        return False


# RFC 5321 and 6531.


def mailbox(more: str = "") -> Oracle:
    letter = f"[A-Za-z0-9{more}]"
    atom = rf"[A-Za-z0-9!#$%&'*+\-/=?^_`{{|}}~{more}]+"
    quoted = rf'"(?:[ !#-\[\]-~{more}]|\\[ -~])*"'
    sub_domain = f"{letter}(?:(?:{letter}|-)*{letter})?"
    domain = rf"{sub_domain}(?:\.{sub_domain})*"
    pattern = re.compile(
        rf"(?:{atom}(?:\.{atom})*|{quoted})@(?:{domain}|\[([0-9.]+)\]|\[(?i:IPv6):([^\]]+)\])"
    )

    def is_mailbox(text: str) -> bool:
        found = pattern.fullmatch(text)
        if found is None:
            return False
        return (found[1] is None or _is_padded_ip(found[1])) and (
            found[2] is None or _is_ip_for_mail(found[2])
        )

    return is_mailbox


def _is_padded_ip(text: str) -> bool:
    numbers = text.split(".")
    fits = [re.fullmatch("[0-9]{1,3}", number) and int(number) < 256 for number in numbers]
    return len(numbers) == 4 and all(fits)


def _is_ip_for_mail(text: str) -> bool:
    """Return True for an IPv6 address whose `::` stands for two groups at least."""
    head, colon, last = text.rpartition(":")
    if "." in last:
        if not _is_padded_ip(last):
            return False
        text = f"{head}{colon}0:0"
    # To stand for one group is to have seven others.
    others = [group for group in text.split(":") if group]
    return is_ip(text, 6) and ("::" not in text or len(others) < 7)


# RFC 3986, appendix A, and RFC 3987, section 2.2.

_SUB_DELIMS = "!$&'()*+,;="
_PLANES = "".join(f"{chr(plane << 16)}-{chr(plane << 16 | 0xFFFD)}" for plane in range(1, 14))
UCSCHAR = f"\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef{_PLANES}\U000e1000-\U000efffd"
IPRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"


def ipv6() -> str:
    octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9][0-9]|[0-9])"
    h16 = f"{_HEX}{{1,4}}"
    ls32 = rf"(?:{h16}:{h16}|{octet}(?:\.{octet}){{3}})"
    forms = [f"(?:{h16}:){{6}}{ls32}"]
    for before in range(8):
        start = f"(?:(?:{h16}:){{0,{before - 1}}}{h16})?" if before else ""
        after = {6: h16, 7: ""}.get(before, f"(?:{h16}:){{{5 - before}}}{ls32}")
        forms.append(f"{start}::{after}")
    return f"(?:{'|'.join(forms)})"


def uri_and_reference(more: str = "", private: str = "") -> tuple[str, str]:
    unreserved = rf"A-Za-z0-9\-._~{more}"
    pchar = f"(?:[{unreserved}{_SUB_DELIMS}:@]|{_PERCENT})"
    segment_nz_nc = f"(?:[{unreserved}{_SUB_DELIMS}@]|{_PERCENT})+"
    path_abempty = f"(?:/{pchar}*)*"
    path_absolute = f"/(?:{pchar}+(?:/{pchar}*)*)?"
    path_rootless = f"{pchar}+(?:/{pchar}*)*"
    path_noscheme = f"{segment_nz_nc}(?:/{pchar}*)*"
    future = rf"[Vv]{_HEX}+\.[A-Za-z0-9\-._~{_SUB_DELIMS}:]+"
    host = rf"(?:\[(?:{ipv6()}|{future})\]|(?:[{unreserved}{_SUB_DELIMS}]|{_PERCENT})*)"
    user = f"(?:(?:[{unreserved}{_SUB_DELIMS}:]|{_PERCENT})*@)?"
    network = f"//{user}{host}(?::[0-9]*)?{path_abempty}"
    query = rf"(?:\?(?:[{unreserved}{_SUB_DELIMS}:@/?{private}]|{_PERCENT})*)?"
    ending = f"{query}(?:#(?:{pchar}|[/?])*)?"
    scheme = r"[A-Za-z][A-Za-z0-9+\-.]*:"
    uri = f"{scheme}(?:{network}|{path_absolute}|{path_rootless}|){ending}"
    relative = f"(?:{network}|{path_absolute}|{path_noscheme}|){ending}"
    return uri, f"(?:{uri}|{relative})"


def uri_template() -> str:
    literals = rf"!#$&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~{UCSCHAR}{IPRIVATE}"
    varchar = f"(?:[A-Za-z0-9_]|{_PERCENT})"
    varspec = rf"{varchar}(?:\.?{varchar})*(?::[1-9][0-9]{{0,3}}|\*)?"
    expression = rf"\{{[+#./;?&=,!@|]?{varspec}(?:,{varspec})*\}}"
    return f"(?:[{literals}]|{_PERCENT}|{expression})*"


def is_base64(text: str, others: bytes) -> bool:
    try:
        decoded = base64.b64decode(text.encode(), others, validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return False
    return base64.b64encode(decoded, others).decode() == text


_URI, _URI_REFERENCE = uri_and_reference()
_IRI, _IRI_REFERENCE = uri_and_reference(UCSCHAR, IPRIVATE)
_POINTER = "(?:/(?:[^/~]|~[01])*)*"
_NUMBER = "(?:0|[1-9][0-9]*)"
_UUID = f"{_HEX}{{8}}-{_HEX}{{4}}-%s{_HEX}{{3}}-%s{_HEX}{{3}}-{_HEX}{{12}}"

ORACLES: dict[str, Oracle] = {
    "date": is_date,
    "time": is_time,
    "date-time": is_date_time,
    "duration": by_pattern(duration()),
    "ipv4": partial(is_ip, version=4),
    "ipv6": partial(is_ip, version=6),
    "hostname": is_hostname,
    "email": mailbox(),
    "idn-email": mailbox("\x80-\U0010ffff"),
    "uri": by_pattern(_URI),
    "uri-reference": by_pattern(_URI_REFERENCE),
    "iri": by_pattern(_IRI),
    "iri-reference": by_pattern(_IRI_REFERENCE),
    "uri-template": by_pattern(uri_template()),
    "json-pointer": by_pattern(_POINTER),
    "relative-json-pointer": by_pattern(f"{_NUMBER}(?:#|(?:[+-]{_NUMBER})?{_POINTER})"),
    "uuid": by_pattern(_UUID % (_HEX, _HEX)),
    "base64": partial(is_base64, others=b"+/"),
    "base64url": partial(is_base64, others=b"-_"),
    "ipv4interface": partial(is_interface, version=4),
    "ipv6interface": partial(is_interface, version=6),
    "ipvanyaddress": lambda text: is_ip(text, 4) or is_ip(text, 6),
    "ipvanyinterface": lambda text: is_interface(text, 4) or is_interface(text, 6),
    **{f"uuid{version}": by_pattern(_UUID % (version, "[89ABab]")) for version in "1345678"},
}
