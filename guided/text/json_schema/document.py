"""A schema document: its dialect, its subschemas and their places, its references."""

from __future__ import annotations

import difflib
from typing import Any
from urllib.parse import unquote, urljoin

from guided.errors import SchemaError, UnsupportedError

# What json.loads gives, with Decimal beside float; the one place where the types of a value are
# open.
Json = Any

DOCUMENTATION = "docs/json-schema.md"

_DIALECTS = {
    "draft-04": 4,
    "draft-06": 6,
    "draft-07": 7,
    "draft/2019-09": 2019,
    "draft/2020-12": 2020,
}
LATEST = 2020


class Subschema:
    """A schema inside the document and where it stands.

    Each stands for one schema of the text and is compared by identity, so a tuple of them is a
    cheap key.

    Attributes:
        value: the schema, a dict or a bool once it has been read.
        parent: the subschema that holds it, None for the whole document.
        path: the tokens of the JSON pointer from the parent to here.
        shape: what it allows, once read.
    """

    __slots__ = ("parent", "path", "shape", "value")

    def __init__(self, value: Json, parent: Subschema | None, path: tuple[str | int, ...]) -> None:
        self.value = value
        self.parent = parent
        self.path = path
        self.shape: Any = None

    def pointer(self, *tokens: str | int) -> str:
        """Return the JSON pointer to this schema, or to what `tokens` lead to from here."""
        parts: list[tuple[str | int, ...]] = [tokens]
        schema: Subschema | None = self
        while schema is not None:
            parts.append(schema.path)
            schema = schema.parent
        return "".join(f"/{escape_token(token)}" for path in reversed(parts) for token in path)

    def short_pointer(self) -> str:
        """Return the pointer, cut at the left if this is nested deeply: its cost is bounded."""
        parts: list[tuple[str | int, ...]] = []
        schema: Subschema = self
        while schema.parent is not None and len(parts) < 20:
            parts.append(schema.path)
            schema = schema.parent
        tokens = "".join(f"/{escape_token(token)}" for path in reversed(parts) for token in path)
        return tokens if schema.parent is None else f"...{tokens}"


class Document:
    """The schema as a whole.

    Attributes:
        root: the outermost schema.
        draft: 4, 6, 7, 2019 or 2020, by `$schema`; the latest if there is none.
        is_foreign: `$schema` names something else, which may give keywords another meaning.
    """

    def __init__(self, schema: Json) -> None:
        self.root = Subschema(schema, None, ())
        known = _draft(self.root)
        self.draft = known or LATEST
        self.is_foreign = known == 0
        self._known: dict[int, Subschema] = {id(schema): self.root}
        self._targets: dict[str, Subschema] = {}

    def subschema(self, value: Json, parent: Subschema, path: tuple[str | int, ...]) -> Subschema:
        """Return the one Subschema for this value, which `path` leads to from `parent`."""
        if not isinstance(value, dict):
            return Subschema(value, parent, path)
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = Subschema(value, parent, path)
        return known

    def target(self, reference: str, schema: Subschema) -> Subschema:
        """Return the subschema that the `$ref` of `schema` points at.

        Raises:
            SchemaError: it points at nothing in this document.
            UnsupportedError: it points at another document or at an anchor.
        """
        if schema.parent is not None:
            self._refuse_inner_base(schema)
        found = self._targets.get(reference)
        if found is None:
            fragment = self._fragment(reference, schema)
            found = self._targets[reference] = self._find(fragment, reference, schema)
        return found

    def _fragment(self, reference: str, schema: Subschema) -> str:
        """Return the JSON pointer in a reference to this document, decoded from its URI form."""
        document, _, fragment = reference.partition("#")
        base = self._base(self.root) or ""
        if document and urljoin(base, document) != base:
            raise UnsupportedError(
                f'$ref "{reference}" points at a remote document, and those are never fetched',
                keyword="$ref",
                place=f"at {schema.pointer('$ref')}",
                page=DOCUMENTATION,
                mend='copy the schema under "$defs" and refer to it as "#/$defs/name"',
            )
        if fragment and not fragment.startswith("/"):
            raise UnsupportedError(
                f'$ref "{reference}" names an anchor, and those are not supported',
                keyword="$ref",
                place=f"at {schema.pointer('$ref')}",
                page=DOCUMENTATION,
                mend='refer to the schema by a JSON pointer, such as "#/$defs/name"',
            )
        return unquote(fragment)

    def _find(self, fragment: str, reference: str, schema: Subschema) -> Subschema:
        """Walk a JSON pointer from the root."""
        value = self.root.value
        tokens = [token.replace("~1", "/").replace("~0", "~") for token in fragment.split("/")[1:]]
        for index, token in enumerate(tokens):
            if isinstance(value, dict) and token in value:
                value = value[token]
            elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
                value = value[int(token)]
            else:
                raise SchemaError(
                    f'$ref "{reference}" points at nothing',
                    pointer=schema.pointer("$ref"),
                    mend=_nearest(tokens[:index], token, value),
                )
        return self.subschema(value, self.root, tuple(tokens)) if tokens else self.root

    def _base(self, schema: Subschema) -> str | None:
        """Return the URI that a schema gives itself, without its fragment, if it gives one."""
        keyword = "id" if self.draft == 4 else "$id"
        identifier = schema.value.get(keyword) if isinstance(schema.value, dict) else None
        return identifier.partition("#")[0] or None if isinstance(identifier, str) else None

    def _refuse_inner_base(self, schema: Subschema) -> None:
        """Refuse a `$ref` below an inner `$id`: that changes what the reference is relative to."""
        place: Subschema = schema
        while place.parent is not None:
            base = self._base(place)
            if base is not None:
                keyword = "id" if self.draft == 4 else "$id"
                raise UnsupportedError(
                    f'$ref inside the embedded resource "{base}" is not supported',
                    keyword=keyword,
                    place=f"at {place.pointer(keyword)}",
                    page=DOCUMENTATION,
                    mend=f"take the inner {keyword} out and refer by JSON pointers from the top",
                )
            place = place.parent


def escape_token(token: str | int) -> str:
    """Write one token of a JSON pointer."""
    return str(token).replace("~", "~0").replace("/", "~1")


def _draft(root: Subschema) -> int:
    """Return the draft that `$schema` names, 0 if that is none we know."""
    uri = root.value.get("$schema", "") if isinstance(root.value, dict) else ""
    if not isinstance(uri, str):
        raise SchemaError(
            f"$schema is a URI, found {describe(uri)}",
            pointer="/$schema",
            mend='write "https://json-schema.org/draft/2020-12/schema", or leave it out',
        )
    if not uri or uri.rstrip("#").endswith("json-schema.org/schema"):
        return LATEST
    drafts = (draft for name, draft in _DIALECTS.items() if f"json-schema.org/{name}/" in uri)
    return next(drafts, 0)


def _nearest(before: list[str], token: str, value: Json) -> str:
    """Suggest what a dangling pointer may have meant."""
    names = list(value) if isinstance(value, dict) else []
    close = difflib.get_close_matches(token, names, 1, 0.7)
    pointer = "#" + "".join(f"/{escape_token(part)}" for part in [*before, *close])
    if close:
        return f'did you mean "{pointer}"?'
    return f'add "{token}" at {pointer or "#"}'


def describe(value: Json) -> str:
    """Show a JSON value in a message, cut if it is long."""
    if isinstance(value, str):
        text = f'"{value}"'
    elif value is None or isinstance(value, bool):
        text = {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, dict):
        return "an object"
    elif isinstance(value, list):
        return "an array"
    else:
        text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
