"""The JSON Schema of a Python type: pydantic's, and what it leaves out though a schema can say it.

Pydantic's schema of a type may let through what the type then refuses: any string for a Decimal,
"ftp://..." for an HttpUrl. A model that writes such a text has done nothing wrong, and the value is
lost all the same; so what a keyword can say is added here. And it lets through what the type
ignores, properties that are not declared: those are written for nothing, so objects are closed,
except where the type keeps them (`extra="allow"`). No value of the type is out of reach for it.

To be imported where pydantic is known to be there.
"""

from __future__ import annotations

from decimal import Decimal

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

_DECIMAL_TEXT = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_INTEGER_TEXT = r"^-?(?:0|[1-9][0-9]*)$"
# Schemes whose URLs are read as having a host, whatever follows the colon.
_WITH_HOST = {"http", "https", "ws", "wss", "ftp"}
_LEAP = r"[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00"
# Of a datetime without an offset, which no format of the standard is.
_NAIVE = (
    r"^(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    rf"|(?:{_LEAP})-02-29)"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?$"
)


class PythonSchemas(GenerateJsonSchema):
    """Makes the schema of a type."""

    # A default says nothing about what is valid, so one that JSON cannot write is no matter.
    ignored_warning_kinds = GenerateJsonSchema.ignored_warning_kinds | {"non-serializable-default"}

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Close the object."""
        return _closed(super().model_schema(schema))

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Close the object."""
        return _closed(super().dataclass_schema(schema))

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        """Close the object."""
        return _closed(super().typed_dict_schema(schema))

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Let strings be decimals; within bounds there are none, as those bound numbers only."""
        bounds: JsonSchemaValue = {
            keyword: schema[option]  # type: ignore[literal-required]
            for keyword, option in (
                ("minimum", "ge"),
                ("maximum", "le"),
                ("exclusiveMinimum", "gt"),
                ("exclusiveMaximum", "lt"),
                ("multipleOf", "multiple_of"),
            )
            if schema.get(option) is not None
        }
        places, digits = schema.get("decimal_places"), schema.get("max_digits")
        rules = [bounds] if bounds else []
        if places is not None:
            rules.append({"multipleOf": Decimal(1).scaleb(-places)})
        if digits is not None:
            above = Decimal(10) ** (digits - (places or 0))
            rules.append({"exclusiveMinimum": -above, "exclusiveMaximum": above})
        if not rules:
            return {"anyOf": [{"type": "number"}, {"type": "string", "pattern": _DECIMAL_TEXT}]}
        return {"type": "number", "allOf": rules}

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Let keys be what they are read as: integers, or strings of a pattern."""
        result = super().dict_schema(schema)
        if schema.get("keys_schema", {}).get("type") == "int":
            result["propertyNames"] = {"pattern": _INTEGER_TEXT}
        if "patternProperties" in result:
            result.setdefault("additionalProperties", False)
        return result

    def url_schema(self, schema: core_schema.UrlSchema) -> JsonSchemaValue:
        """Let the scheme be one that is allowed."""
        return _with_schemes(super().url_schema(schema), schema.get("allowed_schemes"))

    def multi_host_url_schema(self, schema: core_schema.MultiHostUrlSchema) -> JsonSchemaValue:
        """Let the scheme be one that is allowed."""
        return _with_schemes(super().multi_host_url_schema(schema), schema.get("allowed_schemes"))

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        """Let a naive datetime have no offset; the format date-time always has one."""
        if schema.get("tz_constraint") == "naive":
            return {"type": "string", "pattern": _NAIVE}
        return super().datetime_schema(schema)


def _closed(result: JsonSchemaValue) -> JsonSchemaValue:
    if "properties" in result:
        result.setdefault("additionalProperties", False)
    return result


def _with_schemes(result: JsonSchemaValue, schemes: list[str] | None) -> JsonSchemaValue:
    if schemes:
        host = "//[^/?#]" if _WITH_HOST.issuperset(schemes) else ""
        result["pattern"] = f"^(?:{'|'.join(map(_escaped, schemes))}):{host}"
    return result


def _escaped(scheme: str) -> str:
    """Write a scheme as a pattern: of what it may have, the dot and the plus mean something."""
    return scheme.replace(".", r"\.").replace("+", r"\+")
