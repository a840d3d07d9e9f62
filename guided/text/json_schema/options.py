"""How a schema is to be compiled: what callers may choose, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from referencing import Registry

# A number is the indent of json.dumps; any other text is a pattern of the blanks in a gap.
Whitespace = Literal["flexible", "compact"] | int | str
PropertyOrder = Literal["schema", "any"]
Escapes = Literal["minimal", "any"]
Formats = Literal["assert", "annotate"]
Unsupported = Literal["refuse", "ignore"]

MAX_INDENT = 16

# What most callers choose, by choosing nothing.
_USUAL = ("flexible", "schema", "minimal", "assert", "refuse", None)


def check_options(
    whitespace: Whitespace,
    property_order: PropertyOrder,
    escapes: Escapes,
    formats: Formats,
    unsupported: Unsupported,
    registry: Registry[Any] | None,
) -> None:
    """Raise unless each option of `compile_schema` is one of its choices.

    Raises:
        ValueError: one is not.
        TypeError: the registry is no registry.
    """
    if (whitespace, property_order, escapes, formats, unsupported, registry) == _USUAL:
        return
    _check_whitespace(whitespace)
    _check_choice("property_order", property_order, ("schema", "any"))
    _check_choice("escapes", escapes, ("minimal", "any"))
    _check_choice("formats", formats, ("assert", "annotate"))
    _check_choice("unsupported", unsupported, ("refuse", "ignore"))
    if registry is not None:
        _check_registry(registry)


def _check_choice(name: str, value: str, choices: tuple[str, str]) -> None:
    if value not in choices:
        raise ValueError(f'{name} must be "{choices[0]}" or "{choices[1]}", not {value!r}')


def _check_whitespace(whitespace: object) -> None:
    """Raise unless this may be white space; what is wrong with a pattern is found on reading it.

    True is no indent of 1, although the two are equal.
    """
    if isinstance(whitespace, str) or (type(whitespace) is int and 0 <= whitespace <= MAX_INDENT):
        return
    raise ValueError(
        f'whitespace must be "flexible", "compact", an indent from 0 to {MAX_INDENT} or a pattern'
        f" of the blanks between two tokens, not {whitespace!r}"
    )


def _check_registry(registry: object) -> None:
    from referencing import Registry

    if not isinstance(registry, Registry):
        raise TypeError(
            f"registry must be a referencing.Registry, found {type(registry).__name__};"
            " make one by Registry().with_contents([(uri, schema), ...])"
        )
