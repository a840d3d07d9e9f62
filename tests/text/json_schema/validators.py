"""What two independent validators say of a JSON text, with all numbers exact."""

from __future__ import annotations

import decimal
import json
from decimal import Decimal
from typing import Any

import jsonschema
import jsonschema_rs

# Quotients of long numbers are to be exact.
CONTEXT = decimal.Context(prec=2_000, Emax=1_000_000, Emin=-1_000_000)


class Validators:
    """jsonschema and jsonschema-rs for one schema."""

    def __init__(self, schema: Any, formats: bool = True) -> None:
        exact = loads(json.dumps(schema, default=_number))
        kind = jsonschema.validators.validator_for(exact, jsonschema.Draft202012Validator)
        checker = kind.FORMAT_CHECKER if formats else None
        self._python = kind(exact, format_checker=checker)
        self._rust = jsonschema_rs.validator_for(exact, validate_formats=formats)

    def verdicts(self, text: str) -> tuple[bool | None, bool | None]:
        """Return what each says; None if one cannot tell."""
        try:
            value = loads(text)
        except decimal.InvalidOperation:  # an exponent of many digits
            return None, None
        return _said(self._python, value), _said(self._rust, value)

    def verdict(self, text: str) -> bool | None:
        """Return what they agree on; None if they do not."""
        python, rust = self.verdicts(text)
        return python if python is rust else None


def _said(validator: Any, value: Any) -> bool | None:
    try:
        with decimal.localcontext(CONTEXT):
            return bool(validator.is_valid(value))
    except (ArithmeticError, RecursionError, ValueError, jsonschema.exceptions.UnknownType):
        return None


def loads(text: str) -> Any:
    """Read JSON with exact numbers; an integral one is an int, as it is in JSON Schema."""
    return json.loads(text, parse_float=_exact)


def _exact(text: str) -> Decimal | int:
    number = Decimal(text)
    if number.adjusted() > 1_000:
        return number
    return int(number) if number == number.to_integral_value() else number


def _number(value: Any) -> Any:
    assert isinstance(value, Decimal)
    # json.dumps writes a float shortest, and all numbers of the random schemas are short.
    return float(value)


def has_duplicates(text: str) -> bool:
    """Return True if an object in a JSON text has a key twice."""
    found = False

    def pairs(members: list[tuple[str, Any]]) -> None:
        nonlocal found
        found = found or len({name for name, _ in members}) < len(members)

    json.loads(text, object_pairs_hook=pairs)
    return found
