"""Parts of a schema that nothing fits, though the schema as a whole has values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from guided.errors import GuidedError, SchemaError
from guided.text.checks.finding import Finding
from guided.text.json_schema.document.dialects import KINDS, LIST, MAP, ONE
from guided.text.json_schema.document.document import Document
from guided.text.json_schema.document.places import Json, Subschema
from guided.text.json_schema.options import Formats
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.values.any_json import any_json
from guided.text.json_schema.writer import Writer

MAX_SCHEMAS = 2_000

# What comes of it where nothing fits, by the keyword that holds the schema. Below `not`, `if` and
# the like that is often meant.
_SO = {
    "properties": 'the property "{}" is never written',
    "patternProperties": 'no property that matches "{}" is written',
    "additionalProperties": "no other property is written",
    "items": "no item is written",
    "prefixItems": "there is no item {}",
    "anyOf": "alternative {} is never taken",
    "oneOf": "alternative {} is never taken",
}
_MEANT: tuple[Json, ...] = (False, {"not": {}}, {"not": True})


def check_satisfiable(schema: Json, *, formats: Formats = "assert") -> Iterator[Finding]:
    """Give a warning for each part that is proven to fit nothing; those within it are left out.

    Args:
        schema: one that compiles.
        formats: as for `Grammar.from_json_schema`.
    """
    document = Document(schema)
    reader = Reader(document, "ignore", formats=formats)
    waiting = [document.root]
    seen = 0
    while waiting and seen < MAX_SCHEMAS:
        holder = waiting.pop()
        for keyword, name, part in _parts(document, holder):
            seen += 1
            if keyword in _SO and _is_void(reader, part):
                yield _finding(schema, formats, part, _SO[keyword].format(name))
            else:
                waiting.append(part)


def _is_void(reader: Reader, part: Subschema) -> bool:
    # What is only referred to is told where it stands.
    if part.value in _MEANT or (isinstance(part.value, dict) and "$ref" in part.value):
        return False
    try:
        return reader.is_void((part,))
    except GuidedError:
        return False


def _parts(document: Document, holder: Subschema) -> Iterator[tuple[str, str | int, Subschema]]:
    """Give the schemas in a schema, each with the keyword and the name or index that lead there."""
    value: Any = holder.value
    if not isinstance(value, dict):
        return
    for keyword, content in value.items():
        kind = KINDS[holder.draft].get(keyword, 0)
        if isinstance(content, dict) and kind & MAP:
            for name, each in content.items():
                yield keyword, name, document.subschema(each, holder, (keyword, name))
        elif isinstance(content, list) and kind & LIST:
            for index, each in enumerate(content):
                yield keyword, index, document.subschema(each, holder, (keyword, index))
        elif kind & ONE and isinstance(content, dict | bool):
            yield keyword, "", document.subschema(content, holder, (keyword,))


def _finding(schema: Json, formats: Formats, part: Subschema, so: str) -> Finding:
    """Say what comes of it, and why: in the words of the error that the part alone would give."""
    fact, pointer, mend = "nothing fits it", part.pointer(), None
    document = Document(schema)
    reader = Reader(document, "ignore", formats=formats)
    target = document.root
    for tokens in _steps(part):
        value: Any = target.value
        for token in tokens:
            value = value[token]
        target = document.subschema(value, target, tokens)
    try:
        Writer(reader, any_json("compact", "minimal"), property_order="schema").write((target,))
    except SchemaError as error:
        fact, pointer, mend = error.fact, error.pointer, error.mend
    except GuidedError:
        pass
    return Finding("warning", "unsatisfiable", f"{so}: {fact}", pointer=pointer, mend=mend)


def _steps(part: Subschema) -> list[tuple[str | int, ...]]:
    """Return the way from the root to a part, schema by schema."""
    steps = []
    current: Subschema | None = part
    while current is not None and current.parent is not None:
        steps.append(current.path)
        current = current.parent
    return steps[::-1]
