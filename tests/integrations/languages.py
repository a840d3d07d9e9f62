"""Two languages of the tests, as grammars and as others tell what is of them."""

from __future__ import annotations

import json
import re

import jsonschema

import guided

PATTERN = r'(true|"ab(c|12){1,3}"|[0-9]{2,5}|\[(a,)*b\])!?'
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "array", "items": {"enum": [True, 12, "abc"]}, "maxItems": 2},
        "b": {"type": "string", "maxLength": 3},
    },
    "required": ["a", "b"],
    "additionalProperties": False,
}
REGEX = guided.Grammar.from_regex(PATTERN)
OBJECT = guided.Grammar.from_json_schema(SCHEMA, whitespace="compact")
PROMPTS = ["As JSON: ", "true or false? abc"]


def is_valid(grammar: guided.Grammar, text: str) -> bool:
    """Whether Python's `re` matches the text, or jsonschema finds it valid."""
    if grammar is REGEX:
        return re.fullmatch(PATTERN, text) is not None
    assert grammar is OBJECT
    try:
        jsonschema.validate(json.loads(text), SCHEMA)
    except (json.JSONDecodeError, jsonschema.ValidationError):
        return False
    return True
