"""Puts the keys of values in the order in which a schema declares them."""

from __future__ import annotations

from typing import Any


def in_schema_order(value: Any, schema: Any, branch: int = 0) -> Any:
    """Give a value with the keys of its objects in the order that the schema declares them in.

    Branches of an anyOf may differ in it; the one numbered `branch` (of so many as there are) comes
    first.
    """
    return _in_order(value, [schema], schema, branch)


def _in_order(value: Any, schemas: list[Any], root: Any, branch: int) -> Any:
    applied: list[Any] = []
    for schema in schemas:
        _gather(schema, root, applied, branch)
    if isinstance(value, list):
        return [
            _in_order(item, [_item_schema(schema, index) for schema in applied], root, branch)
            for index, item in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    declared = [name for schema in applied for name in schema.get("properties", ())]
    declared += [name for schema in applied for name in schema.get("required", ())]
    names = dict.fromkeys([*(name for name in declared if name in value), *value])
    result = {}
    for name in names:
        parts = []
        for schema in applied:
            if name in schema.get("properties", ()):
                parts.append(schema["properties"][name])
            elif "additionalProperties" in schema:
                parts.append(schema["additionalProperties"])
        result[name] = _in_order(value[name], parts, root, branch)
    return result


def _item_schema(schema: Any, index: int) -> Any:
    prefix, rest = schema.get("prefixItems", []), schema.get("items", True)
    if isinstance(rest, list):
        prefix, rest = rest, schema.get("additionalItems", True)
    return prefix[index] if index < len(prefix) else rest


def _gather(schema: Any, root: Any, applied: list[Any], first: int) -> None:
    """Collect the schemas that apply to the same value, in the order in which they are read."""
    if not isinstance(schema, dict) or any(schema is known for known in applied):
        return
    applied.append(schema)
    for keyword, content in schema.items():
        if keyword == "$ref" and isinstance(content, str) and content.startswith("#"):
            target = root
            for token in content.split("/")[1:]:
                token = token.replace("~1", "/").replace("~0", "~")
                target = target[int(token)] if isinstance(target, list) else target[token]
            _gather(target, root, applied, first)
        elif keyword in ("allOf", "anyOf", "oneOf"):
            turn = first % len(content) if keyword != "allOf" else 0
            for branch in content[turn:] + content[:turn]:
                _gather(branch, root, applied, first)
