"""What a JSON Schema comes to: each of its keywords, and all that is wrong with it in one go."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from guided.errors import GuidedError, LimitError, SchemaError, UnsupportedError
from guided.text.checks.finding import Finding, Level, from_error
from guided.text.checks.unsatisfiable import check_satisfiable
from guided.text.json_schema.document.dialects import KINDS, LIST, MAP, ONE
from guided.text.json_schema.document.document import Document
from guided.text.json_schema.document.places import Json, Subschema, escape_token
from guided.text.json_schema.keywords.assertions import ASSERTIONS
from guided.text.json_schema.keywords.child_schemas import PARTS
from guided.text.json_schema.keywords.combinations import COMBINATIONS
from guided.text.json_schema.keywords.known import ANNOTATIONS, DRAFTS, kinds_of
from guided.text.json_schema.options import Formats, PropertyOrder, Whitespace
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.values.any_json import any_json
from guided.text.json_schema.writer import Writer

MAX_ERRORS = 20
_KNOWN = {draft: kinds_of(draft, ASSERTIONS, PARTS, COMBINATIONS) for draft in DRAFTS}

Role = Literal["enforced", "annotation", "unknown", "not supported"]
_Path = tuple[str | int, ...]


@dataclass
class SchemaCheck:
    """What a schema comes to.

    Attributes:
        findings: what is wrong with it, and what is worth knowing.
        keywords: JSON pointers to its keywords, by what becomes of them.
    """

    findings: list[Finding] = field(default_factory=list)
    keywords: dict[Role, list[str]] = field(default_factory=dict)


class _Collecting(Reader):
    """A reader that goes on where a keyword cannot be enforced, and keeps the error for it."""

    def __init__(self, document: Document, formats: Formats) -> None:
        self.refused: dict[str, UnsupportedError] = {}
        super().__init__(document, "ignore", formats=formats)

    def refuse(
        self,
        schema: Subschema,
        keyword: str | None,
        fact: str | None = None,
        mend: str | None = None,
    ) -> None:
        pointer = schema.pointer() if keyword is None else schema.pointer(keyword)
        self.is_lenient = False
        try:
            super().refuse(schema, keyword, fact, mend)
        except UnsupportedError as error:
            self.refused.setdefault(pointer, error)
        finally:
            self.is_lenient = True
        self.not_enforced[pointer] = None

    def target(self, schema: Subschema, keyword: str = "$ref") -> Subschema | None:
        try:
            return self.document.target(schema, keyword)
        except UnsupportedError as error:
            self.refused.setdefault(schema.pointer(keyword), error)
            return super().target(schema, keyword)


def check_schema(
    schema: Json,
    *,
    whitespace: Whitespace = "flexible",
    property_order: PropertyOrder = "schema",
    formats: Formats = "assert",
    lenient: bool = False,
) -> SchemaCheck:
    """Find all that is wrong with a schema, and say what becomes of each of its keywords.

    Where an error is found, the keyword is taken out and the rest is read again, up to
    `MAX_ERRORS` times.

    Args:
        schema: as from json.loads.
        whitespace, property_order, formats: as for `Grammar.from_json_schema`.
        lenient: what cannot be enforced exactly is a warning.
    """
    check = SchemaCheck()
    refused = _collect(check, schema, whitespace, property_order, formats)
    level: Level = "warning" if lenient else "error"
    check.findings += [from_error(each, level=level) for each in refused.values()]
    if isinstance(schema, dict):
        if not check.findings:
            check.findings += check_satisfiable(schema, formats=formats)
        _sort_keywords(check, schema, set(refused))
        check.findings += _unknown(check.keywords.get("unknown", []))
        check.findings += _unused_definitions(schema)
    return check


def _collect(
    check: SchemaCheck,
    schema: Json,
    whitespace: Whitespace,
    property_order: PropertyOrder,
    formats: Formats,
) -> dict[str, UnsupportedError]:
    """Note all errors of a schema, and return those for what cannot be enforced, by pointer."""
    rest = schema
    reader: _Collecting | None = None
    nodes = any_json(whitespace, "minimal")
    while len(check.findings) < MAX_ERRORS:
        try:
            document = Document(rest)
            reader = _Collecting(document, formats)
            Writer(reader, nodes, property_order=property_order).write((document.root,))
            break
        except SchemaError as error:
            check.findings.append(from_error(error))
            if rest is schema and (rest := _copy(schema)) is None:
                break
            if not _take_out(rest, error.pointer):
                break
        except GuidedError as error:
            check.findings.append(from_error(error))
            break
        except RecursionError:
            limit = LimitError("the schema is nested too deeply", limit="levels", value=1_000)
            check.findings.append(from_error(limit))
            break
    return {} if reader is None else reader.refused


def _copy(schema: Json) -> Json:
    """Copy a schema; None if it is nested deeper than Python can follow."""
    try:
        return copy.deepcopy(schema)
    except RecursionError:
        return None


def _take_out(schema: Json, pointer: str) -> bool:
    """Take a keyword out of a schema, in place; a subschema becomes `true`.

    Returns:
        False if it is not there.
    """
    tokens = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
    holder: Any = schema
    for token in tokens[:-1]:
        holder = _child(holder, token)
    if not tokens or _child(holder, tokens[-1]) is None:
        return False
    if isinstance(holder, list):
        holder[int(tokens[-1])] = True
    elif len(tokens) > 1 and KINDS[2020].get(tokens[-2], 0) & MAP:
        holder[tokens[-1]] = True
    else:
        del holder[tokens[-1]]
    return True


def _child(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return value.get(token)
    if isinstance(value, list) and token.isdigit() and int(token) < len(value):
        return value[int(token)]
    return None


def _sort_keywords(check: SchemaCheck, schema: Json, refused: set[str]) -> None:
    """Note what becomes of each keyword, in the order of the schema."""
    draft = _draft(schema)
    roles: dict[Role, list[str]] = {
        "enforced": [],
        "annotation": [],
        "unknown": [],
        "not supported": [],
    }
    for pointer, keyword in _keywords(schema, draft):
        if pointer in refused:
            roles["not supported"].append(pointer)
        elif keyword in ANNOTATIONS:
            roles["annotation"].append(pointer)
        else:
            roles["enforced" if keyword in _KNOWN[draft] else "unknown"].append(pointer)
    known = {pointer for pointers in roles.values() for pointer in pointers}
    roles["not supported"] += [pointer for pointer in refused if pointer not in known]
    check.keywords = {role: pointers for role, pointers in roles.items() if pointers}


def _draft(schema: Json) -> int:
    try:
        return Document(schema).draft
    except GuidedError:
        return 2020


def _keywords(schema: Json, draft: int) -> Iterator[tuple[str, str]]:
    """Give pointer and keyword of all keywords of a schema and of those in it."""
    waiting: list[tuple[str, Json]] = [("", schema)]
    while waiting:
        pointer, schema = waiting.pop()
        if not isinstance(schema, dict):
            continue
        inside: list[tuple[str, Json]] = []
        for keyword, content in schema.items():
            at = f"{pointer}/{escape_token(keyword)}"
            yield at, keyword
            inside += _schemas_of(at, content, KINDS[draft].get(keyword, 0))
        waiting.extend(reversed(inside))


def _schemas_of(at: str, content: Json, kind: int) -> Iterator[tuple[str, Json]]:
    """Give the schemas that the value of a keyword holds."""
    if isinstance(content, dict) and kind & MAP:
        for name, schema in content.items():
            yield f"{at}/{escape_token(name)}", schema
    elif isinstance(content, list) and kind & LIST:
        for index, schema in enumerate(content):
            yield f"{at}/{index}", schema
    elif kind & ONE:
        yield at, content


def _unknown(pointers: list[str]) -> Iterator[Finding]:
    for pointer in pointers:
        keyword = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        mend = _meant(keyword)
        yield Finding(
            "warning" if mend else "note",
            "unknown-keyword",
            f'the keyword "{keyword}" is not in the standard, and says nothing',
            pointer=pointer,
            mend=mend,
        )


def _meant(keyword: str) -> str | None:
    import difflib

    near = difflib.get_close_matches(keyword, [*_KNOWN[2020], *ANNOTATIONS], n=1, cutoff=0.75)
    return f'did you mean "{near[0]}"?' if near else None


def _unused_definitions(schema: Json) -> Iterator[Finding]:
    """Give the definitions at the top that no reference names; none if some have other names."""
    references = set()
    waiting: list[Json] = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if value.keys() & {"$anchor", "$dynamicRef", "$recursiveRef"}:
                return
            if isinstance(value.get("$ref"), str):
                references.add(value["$ref"])
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    for holder in ("$defs", "definitions"):
        definitions = schema.get(holder)
        for name in definitions if isinstance(definitions, dict) else ():
            at = f"/{holder}/{escape_token(name)}"
            if not any(each.partition("#")[2].startswith(at) or "%" in each for each in references):
                yield Finding(
                    "warning", "unused-definition", f'"{name}" is never referred to', pointer=at
                )
