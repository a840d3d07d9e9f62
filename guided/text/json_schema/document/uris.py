"""URI references, resolved as RFC 3986 says in section 5.2, whatever the scheme.

`urllib.parse.urljoin` does so for a list of schemes only; under `tag:` or a company's own it gives
the reference back as it was.
"""

from __future__ import annotations

import re

# RFC 3986, appendix B, without the fragment.
_PARTS = r"(?s)(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?"


def join(base: str, reference: str) -> str:
    """Resolve a reference without a fragment against a base, which may be relative or empty."""
    scheme, authority, path, query = _split(reference)
    if scheme is None:
        scheme, base_authority, base_path, base_query = _split(base)
        if authority is None:
            authority = base_authority
            if not path:
                path = base_path
                query = base_query if query is None else query
            elif not path.startswith("/"):
                path = _merge(base_path, path, authority is not None)
    text = _without_dots(path)
    if authority is not None:
        text = f"//{authority}{text}"
    if scheme is not None:
        text = f"{scheme}:{text}"
    return text if query is None else f"{text}?{query}"


def _split(uri: str) -> tuple[str | None, str | None, str, str | None]:
    match = re.match(_PARTS, uri)
    assert match is not None  # every part may be absent
    return match[1], match[2], match[3], match[4]


def _merge(base: str, path: str, has_authority: bool) -> str:
    """Put a relative path in the place of the last segment of the base (5.2.3)."""
    if has_authority and not base:
        return f"/{path}"
    return base[: base.rfind("/") + 1] + path


def _without_dots(path: str) -> str:
    """Take the segments "." and ".." out of a path (5.2.4)."""
    if "." not in path:
        return path
    segments = path.split("/")
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            # The first may be the empty one before a leading slash: nothing is above it.
            if kept and kept != [""]:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)
