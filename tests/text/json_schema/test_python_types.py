"""Python types as schemas: what is written is what pydantic reads."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import functools
import ipaddress
import json
import pathlib
import random
import sys
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    Optional,
    Required,
    TypeVar,
    Union,
)

import pydantic
import pytest
from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from guided._core import Automaton, Matcher
from guided.errors import GuidedError, SchemaError, UnsupportedError, ValueRejected
from guided.text.json_schema import compile_schema, is_python_type, read_value, type_adapter
from guided.text.json_schema.python_types.types import type_schema
from tests.text.json_schema.matching import Language, byte_vocabulary, language


class Address(pydantic.BaseModel):
    street: str
    number: int | None = None


class Person(pydantic.BaseModel):
    """A person."""

    name: str = Field(min_length=1, max_length=5, description="first name")
    age: int = Field(ge=0, lt=150)
    kind: Literal["a", "b"] = "a"
    homes: list[Address] = []
    parent: Person | None = None
    scores: dict[str, float] = {}


class Renamed(pydantic.BaseModel):
    first: int = Field(alias="First name")


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    name: str


Thing = TypeVar("Thing")


class Box(pydantic.BaseModel, Generic[Thing]):
    thing: Thing


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


class Movie(TypedDict, total=False):
    title: Required[str]
    year: int


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Color(enum.Enum):
    RED = "red"
    TWO = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


# A type, texts of it, and texts that are none of it.
TYPES: list[tuple[Any, list[str], list[str]]] = [
    (int, ["5", "-1", "5.0"], ["5.5", '"5"', "null"]),
    (str, ['"a"', '""'], ["5"]),
    (float, ["5", "1.5e3"], ['"x"']),
    (bool, ["true"], ["1", '"true"']),
    (type(None), ["null"], ["0"]),
    (Any, ["null", '{"a":[1]}'], []),
    (int | None, ["5", "null"], ["5.5"]),
    (Optional[str], ['"a"', "null"], ["5"]),  # noqa: UP045
    (Union[int, str], ["5", '"a"'], ["null"]),  # noqa: UP007
    (Literal["a", 1, None, True], ['"a"', "1", "null", "true"], ["2", "false", '"b"']),
    (list[int], ["[]", "[1,2]"], ["[null]", "1"]),
    (Sequence[int], ["[1]"], ['["a"]']),
    (tuple[int, str], ['[1,"a"]'], ["[1]", "[1,2]", '[1,"a",2]']),
    (tuple[int, ...], ["[1,2,3]", "[]"], ['["a"]']),
    (set[int], ["[1,2]", "[]"], ["[1,1]", "[1,2,1]"]),
    (frozenset[Literal["a", "b"]], ['["b","a"]'], ['["a","a"]']),
    (deque[int], ["[1,1]"], ["[null]"]),
    (Annotated[list[int], Field(min_length=1, max_length=2)], ["[1]", "[1,2]"], ["[]", "[1,2,3]"]),
    (dict[str, int], ['{"a":1}', "{}"], ['{"a":"x"}', "[]"]),
    (dict[int, str], ['{"1":"a","-20":"b"}'], ['{"a":"b"}', '{"1.5":"b"}']),
    (dict[Literal["a", "b"], int], ['{"a":1,"b":2}'], ['{"c":1}']),
    (dict[datetime.date, int], ['{"2024-02-29":1}'], ['{"2023-02-29":1}']),
    (dict[Annotated[str, Field(pattern="^x")], int], ['{"xa":1}', "{}"], ['{"a":1}', '{"x":"a"}']),
    (Annotated[int, Field(gt=0, le=10, multiple_of=5)], ["5", "10"], ["0", "7", "15"]),
    (Annotated[str, Field(pattern=r"^\d{3}$")], ['"123"'], ['"12"', '"1234"']),
    (NewType("Id", int), ["5"], ['"5"']),
    (Color, ['"red"', "2"], ['"RED"', "1"]),
    (Level, ["1", "2"], ["3", '"LOW"']),
    (Point, ['{"x":1}', '{"x":1,"y":2.5}'], ['{"y":2.5}', '{"x":"a"}']),
    (Movie, ['{"title":"M"}', '{"title":"M","year":1931}'], ['{"year":1931}']),
    (Pair, ['[1,"a"]', "[1]"], ["[]", '["a"]']),
    (Renamed, ['{"First name":1}'], ['{"first":1}']),
    (Box[int], ['{"thing":1}'], ['{"thing":"a"}']),
    (list[Box[Color]], ['[{"thing":"red"}]'], ['[{"thing":"blue"}]']),
    (
        Cat | Dog,
        ['{"kind":"cat","lives":9}', '{"kind":"dog","name":"R"}'],
        ['{"kind":"cat","name":"R"}', '{"kind":"cow"}'],
    ),
    (
        Annotated[Cat | Dog, Field(discriminator="kind")],
        ['{"kind":"cat","lives":9}', '{"kind":"dog","name":"R"}'],
        ['{"kind":"cat","name":"R"}', '{"kind":"cow"}'],
    ),
    (
        Person,
        [
            '{"name":"Ada","age":36}',
            '{"name":"Ada","age":36,"kind":"b","homes":[{"street":"x","number":null}]}',
            '{"name":"Ada","age":36,"parent":{"name":"B","age":0},"scores":{"x":1.5}}',
        ],
        [
            '{"name":"","age":36}',
            '{"name":"Ada","age":150}',
            '{"name":"Ada","age":1,"kind":"c"}',
            '{"name":"Ada","age":1,"homes":[{"number":1}]}',
            '{"name":"Ada","age":1,"parent":{"name":"B"}}',
            '{"name":"Ada","age":1,"x":1}',
        ],
    ),
    (datetime.date, ['"2024-02-29"'], ['"2023-02-29"', '"2024-1-1"']),
    (datetime.time, ['"12:00:00Z"', '"12:00:00.5+01:00"'], ['"24:00:00Z"', '"12:00"']),
    (datetime.datetime, ['"2024-02-29T12:00:00Z"'], ['"2024-02-29"', '"2024-02-29T12:00:00"']),
    (pydantic.AwareDatetime, ['"2024-02-29T12:00:00+02:00"'], ['"2024-02-29T12:00:00"']),
    (
        pydantic.NaiveDatetime,
        ['"2024-02-29T12:00:00"', '"1999-12-31T23:59:59.123456"', '"2000-02-29T00:00:00"'],
        ['"2024-02-29T12:00:00Z"', '"1900-02-29T12:00:00"', '"2024-04-31T12:00"', '"2024-02-28"'],
    ),
    (datetime.timedelta, ['"P1DT2H"', '"PT30S"'], ['"P"', '"1 day"']),
    (uuid.UUID, ['"123e4567-e89b-12d3-a456-426614174000"'], ['"123e4567"']),
    (
        pydantic.UUID4,
        ['"123e4567-e89b-42d3-a456-426614174000"'],
        ['"123e4567-e89b-12d3-a456-426614174000"', '"123e4567-e89b-42d3-0456-426614174000"'],
    ),
    (decimal.Decimal, ["1.5", "-2", '"1.50"', '"-2e5"'], ['"x"', '"."', '"1.5 "']),
    (
        Annotated[decimal.Decimal, Field(max_digits=5, decimal_places=2, gt=0)],
        ["0.01", "999.99", "12"],
        ["0", "-1", "0.005", "1000", '"x"', '"5"'],
    ),
    (
        Annotated[decimal.Decimal, Field(multiple_of=0.25)],
        ["0.5", "-1.75"],
        ["0.3"],
    ),
    (bytes, ['"abc"', '"é"'], ["1"]),
    (pydantic.Base64Bytes, ['"YQ=="', '"YWJj"', '""'], ['"YQ"', '"YQ="', '"!!!!"']),
    (pydantic.Base64UrlBytes, ['"YQ=="', '"_-Jj"'], ['"YQ"', '"//Jj"']),
    (pathlib.Path, ['"/a/b"', '""'], ["1"]),
    (pydantic.SecretStr, ['"x"'], ["1"]),
    (pydantic.AnyUrl, ['"https://example.org/a?b#c"', '"urn:x:y"'], ['"a b"', '"/a"', '""']),
    (
        pydantic.HttpUrl,
        ['"https://example.org/a?b#c"', '"http://x"'],
        ['"ftp://example.org"', '"http://"', '"http:x"', '"urn:x:y"'],
    ),
    (ipaddress.IPv4Address, ['"192.168.0.1"'], ['"192.168.0.256"']),
    (ipaddress.IPv6Address, ['"2001:db8::1"'], ['"2001:db8:::1"']),
    (ipaddress.IPv4Interface, ['"10.0.0.1/8"', '"10.0.0.1"'], ['"10.0.0.1/33"', '"10.0.0"']),
    (pydantic.Json[list[int]], ['"[1]"'], ["[1]"]),
]  # fmt: skip

NAMES = [
    type_.__qualname__ if isinstance(type_, type) else repr(type_)[:70] for type_, _, _ in TYPES
]


@pytest.mark.parametrize(("python_type", "accept", "reject"), TYPES, ids=NAMES)
def test_texts_of_a_type_are_let_through_and_no_others(
    python_type: Any, accept: list[str], reject: list[str]
) -> None:
    compiled = language(python_type)
    assert [text for text in accept if not compiled.matches(text)] == []
    assert [text for text in reject if compiled.matches(text)] == []
    for text in accept:
        type_adapter(python_type).validate_json(text)


# What no keyword says: years from 1 on, no leap seconds, no numbers beyond those of a float, hosts
# as browsers read them, JSON within a string.
BEYOND = {
    "date_from_datetime_parsing",
    "datetime_from_date_parsing",
    "date_parsing",
    "datetime_parsing",
    "finite_number",
    "int_parsing_size",
    "json_invalid",
    "time_delta_parsing",
    "time_parsing",
    "url_parsing",
}


@pytest.mark.parametrize("python_type", [type_ for type_, _, _ in TYPES], ids=NAMES)
def test_whatever_is_written_can_be_read(python_type: Any) -> None:
    compiled, adapter = language(python_type, whitespace="compact"), type_adapter(python_type)
    randomness = random.Random(20)
    texts = [text for _ in range(60) if (text := written(compiled, randomness)) is not None]
    assert texts
    for text in texts:
        assert complaints(adapter, text) <= BEYOND, text


def complaints(adapter: TypeAdapter[Any], text: str) -> set[str]:
    """What pydantic finds wrong with a text, by the names of its kinds."""
    try:
        adapter.validate_json(text)
    except pydantic.ValidationError as error:
        return {entry["type"] for entry in error.errors()}
    return set()


def written(compiled: Language, randomness: random.Random) -> str | None:
    """Walk at random and mostly towards the end; None if it does not come within 400 bytes."""
    automaton = Automaton(compiled.compiled.arena, compiled.compiled.start, byte_vocabulary())
    matcher = Matcher(automaton)
    output = bytearray()
    for _ in range(400):
        allowed = [token for token in matcher.allowed_tokens() if token < 256]
        if matcher.is_complete and (not allowed or randomness.random() < 0.5):
            return output.decode()
        ends = [token for token in allowed if chr(token) in '"]}']
        chosen = randomness.choice(ends if ends and randomness.random() < 0.4 else allowed)
        matcher.accept(chosen)
        output.append(chosen)
    return None


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")

    inner: Address


@pytest.mark.parametrize("closed", [Address, Point, Movie])
def test_objects_hold_only_what_the_type_keeps(closed: Any) -> None:
    open_schema = TypeAdapter(closed).json_schema()
    assert type_schema(type_adapter(closed)) == {**open_schema, "additionalProperties": False}


def test_a_type_that_keeps_more_is_open() -> None:
    opened = language(Open)
    assert opened.matches('{"inner": {"street": "x"}, "and": "more"}')
    assert not opened.matches('{"inner": {"street": "x", "and": "more"}}')


def test_a_default_that_json_cannot_write_is_no_matter() -> None:
    class Odd(pydantic.BaseModel):
        value: Any = object()

    assert language(Odd).matches("{}")


def test_values_are_those_of_the_type() -> None:
    adapter = type_adapter(list[Point])
    assert read_value(adapter, '[{"x": 1}, {"x": 2, "y": 3}]') == [Point(1, 0.0), Point(2, 3.0)]
    assert read_value(type_adapter(set[Color]), '["red", 2]') == {Color.RED, Color.TWO}
    assert read_value(type_adapter(datetime.date), '"2024-02-29"') == datetime.date(2024, 2, 29)


def test_an_adapter_is_a_type_too() -> None:
    adapter = TypeAdapter(list["Address"])  # the name is known here
    assert type_adapter(adapter) is adapter
    assert language(adapter).matches('[{"street": "x"}]')


def test_an_adapter_is_made_once() -> None:
    assert type_adapter(list[Point]) is type_adapter(list[Point])
    assert type_adapter(Literal["a", "b"]) is not type_adapter(Literal["b", "a"])
    assert type_adapter(Literal[1]) is not type_adapter(Literal[True])
    unhashable = Annotated[int, Field(json_schema_extra={"x": []})]
    assert language(unhashable).matches("1")


def test_what_a_schema_cannot_say_speaks_when_the_value_is_read() -> None:
    class Even(pydantic.BaseModel):
        number: int
        text: str = ""

        @pydantic.field_validator("number")
        @classmethod
        def even(cls, number: int) -> int:
            if number % 2:
                raise ValueError(f"{number} is odd")
            return number

    with pytest.raises(ValueRejected) as caught:
        read_value(type_adapter(list[Even]), '[{"number": 2}, {"number": 3}]')
    assert caught.value.text == '[{"number": 2}, {"number": 3}]'
    assert caught.value.pointer == "/1/number"
    assert isinstance(caught.value.__cause__, pydantic.ValidationError)
    assert str(caught.value) == (
        "the output fits the schema, but not list[Even]: Value error, 3 is odd\n"
        "  at /1/number\n"
        "  mend: read .text, or say in the schema what is checked (a pattern, a bound, an enum)"
    )


@pytest.mark.parametrize(
    "schema", [{}, True, "{}", b"{}", bytearray(b"{}"), None, 1, 1.5, [], (), decimal.Decimal(1)]
)
def test_json_is_no_python_type(schema: Any) -> None:
    assert not is_python_type(schema)


class Opaque:
    pass


def function(x: int) -> int:
    raise AssertionError("a schema is not called")


@pytest.mark.parametrize(
    ("schema", "fact"),
    [
        (Opaque, "pydantic has no schema for Opaque: Unable to generate pydantic-core schema"),
        (Person(name="a", age=1), "pydantic has no schema for Person(name='a'"),
        (Callable[[int], int], "Cannot generate a JsonSchema for core_schema.CallableSchema"),
        (list["Nowhere"], "not"),  # type: ignore[name-defined]  # noqa: F821
        (function, "found the function function"),
        (functools.partial(function, 1), "found the function functools.partial"),
        (len, "found the function len"),
    ],
)
def test_what_is_no_type_is_refused_with_the_way_to_one(schema: Any, fact: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    assert fact in caught.value.fact
    assert "TypedDict" in str(caught.value.mend)


def test_what_cannot_be_enforced_is_refused_by_its_name_and_place() -> None:
    class Crowd(pydantic.BaseModel):
        people: set[tuple[str, int]]

    with pytest.raises(UnsupportedError, match="uniqueItems is not supported") as caught:
        compile_schema(Crowd)
    assert caught.value.place == "at /properties/people/uniqueItems"
    assert compile_schema(Crowd, unsupported="ignore").not_enforced == [
        "/properties/people/uniqueItems"
    ]


def test_the_word_for_the_discriminator_is_listed_as_unknown() -> None:
    compiled = compile_schema(Annotated[Cat | Dog, Field(discriminator="kind")])
    assert compiled.unknown == ["/discriminator"]


def test_without_pydantic_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(GuidedError) as caught:
        compile_schema(list[int])
    assert str(caught.value) == (
        "the schema list[int] is a Python type, and to read it takes pydantic\n"
        "  mend: pip install 'guided-decoding[pydantic]', or give a JSON Schema"
    )
    assert language({"type": "integer"}).matches("1")


def test_a_value_is_written_as_json_dumps_writes_it() -> None:
    person = Person(name="Ada", age=36, homes=[Address(street="x")])
    assert language(Person).matches(person.model_dump_json())
    assert language(Person, whitespace=2).matches(json.dumps(person.model_dump(), indent=2))
