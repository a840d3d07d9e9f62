"""Schemas and where they stand: what each message about a schema starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from guided.text.json_schema.document.resources import Scope

# What json.loads gives, with Decimal beside float; the one place where the types of a value are
# open.
Json = Any

Path = tuple[str | int, ...]


class Subschema:
    """A schema inside a document and where it stands.

    Each stands for one schema of the text and is compared by identity, so a tuple of them is a
    cheap key. Only where dynamic references lead to different targets, by the way on which a schema
    was reached, there is one for each.

    Attributes:
        value: the schema, a dict or a bool once it has been read.
        parent: the subschema that holds it, None if `path` is from the top of its document.
        path: the tokens of the JSON pointer from the parent to here.
        shape: what it allows, once read.
        scope: what references in it are relative to.
    """

    __slots__ = ("parent", "path", "scope", "shape", "value")

    def __init__(
        self, value: Json, parent: Subschema | None, path: Path, scope: Scope | None = None
    ) -> None:
        if scope is None and parent is not None:
            scope = parent.scope
        self.value = value
        self.parent = parent
        self.path = path
        self.scope: Scope = scope  # type: ignore[assignment]  # None outside of any document
        self.shape: Any = None

    @property
    def draft(self) -> int:
        """The draft that says what the keywords mean here: 4, 6, 7, 2019 or 2020."""
        return self.scope.draft

    def tokens(self, *tokens: str | int) -> Path:
        """Return the way to here, or to what `tokens` lead to, from the top of the document."""
        parts: list[Path] = [tokens]
        schema: Subschema | None = self
        while schema is not None:
            parts.append(schema.path)
            schema = schema.parent
        return tuple(token for path in reversed(parts) for token in path)

    def pointer(self, *tokens: str | int) -> str:
        """Return the JSON pointer to this schema, or to what `tokens` lead to from here.

        In a document that the schema refers to, the URI of that and "#" stand before.
        """
        pointer = write_pointer(self.tokens(*tokens))
        return pointer if self.scope is None else f"{self.scope.resource.prefix}{pointer}"

    def short_pointer(self) -> str:
        """Return the pointer, cut at the left if this is nested deeply: its cost is bounded."""
        parts: list[Path] = [self.path]
        schema = self.parent
        while schema is not None and len(parts) < 20:
            parts.append(schema.path)
            schema = schema.parent
        tokens = [token for path in reversed(parts) for token in path]
        if schema is None or (schema.parent is None and not schema.path):
            return write_pointer(tokens)
        return f"...{write_pointer(tokens)}"


def write_pointer(tokens: list[str] | list[str | int] | Path) -> str:
    """Write a JSON pointer."""
    return "".join([f"/{escape_token(token)}" for token in tokens])


def escape_token(token: str | int) -> str:
    """Write one token of a JSON pointer."""
    return str(token).replace("~", "~0").replace("/", "~1")


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
