"""What shapes mean, found out by evaluating them: no nodes, no writer."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from guided.errors import GuidedError, SchemaError, UnsupportedError
from tests.text.json_schema.fitting import Fitting
from tests.text.json_schema.suite import DRAFTS, registry, suite_cases, wild_cases
from tests.text.json_schema.tangled_schemas import DIALECTS, simple_value, tangled_schema

OBJECT, STRING = {"type": "object"}, {"type": "string"}


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_required_tests_have_no_wrong_verdict_and_none_is_refused(
    corpora: Path, draft: str
) -> None:
    for case in suite_cases(corpora, draft):
        fitting = Fitting(case.schema, formats="annotate", registry=registry(corpora, draft))
        for instance in case.instances:
            verdict = fitting.fits(instance.data)
            assert verdict is instance.valid, (case.name, instance.description)


def test_instances_of_schemas_in_the_wild_fit(corpora: Path) -> None:
    wrong = Counter[str]()
    for case in wild_cases(corpora):
        fitting = Fitting(case.schema, formats="annotate")
        for instance in case.instances:
            if fitting.fits(instance.data) is not instance.valid:
                wrong[f"valid {instance.valid}"] += 1
    # Those have a format wrong.
    assert wrong == {"valid False": 21}


VALIDATORS: dict[str, tuple[Any, Any]] = {
    DIALECTS[4]: (jsonschema.Draft4Validator, jsonschema_rs.Draft4Validator),
    DIALECTS[6]: (jsonschema.Draft6Validator, jsonschema_rs.Draft6Validator),
    DIALECTS[7]: (jsonschema.Draft7Validator, jsonschema_rs.Draft7Validator),
    DIALECTS[2019]: (jsonschema.Draft201909Validator, jsonschema_rs.Draft201909Validator),
    DIALECTS[2020]: (jsonschema.Draft202012Validator, jsonschema_rs.Draft202012Validator),
}


def is_said(schema: dict[str, Any], value: Any, verdict: bool) -> bool:
    """Return True if one of two validators says the same, or both cannot tell."""
    can_tell = False
    for kind in VALIDATORS[schema["$schema"]]:
        try:
            if kind(schema).is_valid(value) is verdict:
                return True
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException:  # recursion; a panic of Rust is no Exception
            continue
        can_tell = True
    return not can_tell


def differs_by_a_choice(schema: dict[str, Any]) -> bool:
    """Return True where `contains` of 2019-09 is meant to evaluate items, which is left open."""
    text = str(schema)
    return "2019-09" in text and "contains" in text and "unevaluatedItems" in text


def test_shapes_of_any_keywords_mean_what_the_validators_say() -> None:
    start = random.randrange(10**9)
    outcome = Counter[str]()
    for seed in range(start, start + 600):
        schema = tangled_schema(seed)
        chance = random.Random(seed)
        try:
            fitting = Fitting(schema)
            values = [simple_value(chance) for _ in range(12)]
            verdicts = [fitting.fits(value) for value in values]
        except GuidedError as error:
            is_fine = isinstance(error, UnsupportedError) or "circular" in str(error)
            outcome[type(error).__name__ if is_fine else f"seed {seed}: {error}"] += 1
            continue
        is_void = fitting.reader.is_void(fitting.root)
        for value, verdict in zip(values, verdicts, strict=True):
            if not differs_by_a_choice(schema):
                assert is_said(schema, value, verdict), (seed, value, schema)
            assert not (verdict and is_void), (seed, schema)
            outcome[f"fits {verdict}"] += 1
    assert outcome["fits True"] > 1000, outcome
    assert outcome["fits False"] > 1000, outcome
    assert outcome["UnsupportedError"] < 20, outcome
    assert not any(name.startswith("seed") for name in outcome), outcome


def alternatives(schema: Any) -> int:
    """Return how many alternatives of objects a schema has at the top."""
    fitting = Fitting(schema)
    return len(fitting.reader.shape(fitting.root).objects)


def test_alternatives_that_nothing_fits_are_struck_out() -> None:
    kinds = [{"properties": {"kind": {"const": kind}}, "required": ["kind"]} for kind in "abcdef"]
    assert alternatives({**OBJECT, "oneOf": kinds}) == 6
    assert alternatives({**OBJECT, "allOf": [{"anyOf": kinds}, {"anyOf": kinds}]}) == 6
    assert alternatives({**OBJECT, "anyOf": kinds, "not": {"anyOf": kinds[:5]}}) == 1
    rules = [{"if": kind, "then": {"required": [f"x{k}"]}} for k, kind in enumerate(kinds)]
    assert alternatives({**OBJECT, "allOf": rules}) == 7


def test_a_discriminator_may_be_required_beside_the_one_of() -> None:
    kinds = [
        {"properties": {"kind": {"const": kind}, kind: STRING, "size": {"type": "integer"}}}
        for kind in "abcdef"
    ]
    inner = {**OBJECT, "oneOf": kinds}
    assert alternatives({**inner, "required": ["kind"]}) == 6
    assert (
        alternatives(
            {"allOf": [{"$ref": "#/$defs/i"}, {"required": ["kind"]}], "$defs": {"i": inner}}
        )
        == 6
    )


def test_what_some_property_must_not_fit_is_one_obligation() -> None:
    branches = [
        {
            **OBJECT,
            "properties": {
                f"p{k}": {"type": ["string", "integer"][(k + n) % 2]} for k in range(20)
            },
        }
        for n in range(3)
    ]
    fitting = Fitting({"oneOf": branches})
    objects = fitting.reader.shape(fitting.root).objects
    assert len(objects) < 10
    assert max(len(some.others) for one in objects for some in one.some) == 19
    assert not fitting.fits({})
    assert fitting.fits({"p0": 1})
    assert not fitting.fits({"p0": 1, "p1": 1})


def test_required_properties_of_branches_exclude_each_other() -> None:
    names = [f"p{index}" for index in range(20)]
    schema = {**OBJECT, "oneOf": [{"required": [name]} for name in names]}
    assert alternatives(schema) == 20
    fitting = Fitting({**schema, "minProperties": 2})
    assert fitting.fits({"p3": 1, "q": 1})
    assert not fitting.fits({"p3": 1, "p4": 1})


def nested_one_of(levels: int) -> dict[str, Any]:
    if not levels:
        return STRING
    inner = nested_one_of(levels - 1)
    return {
        "oneOf": [
            {
                **OBJECT,
                "properties": {"kind": {"const": f"k{index}"}, "child": inner},
                "required": ["kind"],
            }
            for index in range(40)
        ]
    }


def forty(branch: Any) -> list[Any]:
    return [branch(index) for index in range(40)]


CLIFFS = {
    "oneOf of 40, three deep": nested_one_of(3),
    "a discriminator that no branch requires": {
        "oneOf": forty(lambda k: {**OBJECT, "properties": {"kind": {"const": k}, "value": STRING}})
    },
    "oneOf of 1,000 constants": {"oneOf": [{"const": f"x{index}"} for index in range(1000)]},
    "oneOf of ranges": {"oneOf": forty(lambda k: {"minimum": k, "exclusiveMaximum": k + 1})},
    "oneOf of arrays": {
        "oneOf": forty(lambda k: {"type": "array", "minItems": 1, "prefixItems": [{"const": k}]})
    },
    "allOf of 20 objects": {
        "allOf": [
            {
                **OBJECT,
                "properties": {f"p{k}-{n}": STRING for n in range(20)},
                "required": [f"p{k}-0"],
            }
            for k in range(20)
        ]
    },
    "40 rules by one property": {
        **OBJECT,
        "allOf": forty(
            lambda k: {
                "if": {"properties": {"kind": {"const": k}}, "required": ["kind"]},
                "then": {"required": [f"value{k}"]},
            }
        ),
    },
    "anyOf of required": {**OBJECT, "anyOf": forty(lambda k: {"required": [f"p{k}"]})},
    "not of enum": {"not": {"enum": [*range(1000), *({"a": k, "b": 1} for k in range(40))]}},
    "unevaluated beside anyOf": {
        "anyOf": [{"properties": {f"p{k}": STRING}} for k in range(8)],
        "unevaluatedProperties": False,
    },
}


@pytest.mark.parametrize("name", CLIFFS)
def test_large_unions_are_read_fast(name: str) -> None:
    Fitting(
        {"oneOf": [{"pattern": "a"}, {"pattern": "b"}]}
    )  # what is loaded once is no matter here
    started = time.process_time()
    Fitting(CLIFFS[name])
    assert time.process_time() - started < 5  # a fifth of a second on an idle machine


def test_rules_that_have_nothing_to_do_with_each_other_are_bounded() -> None:
    rules = [
        {
            "if": {"properties": {f"a{k}": {"const": 1}}, "required": [f"a{k}"]},
            "then": {"required": [f"b{k}"]},
        }
        for k in range(20)
    ]
    Fitting({**OBJECT, "allOf": rules[:8]})
    started = time.process_time()
    with pytest.raises(UnsupportedError, match='"if" leads to too many alternatives') as caught:
        Fitting({**OBJECT, "allOf": rules})
    assert time.process_time() - started < 10
    assert caught.value.place == "at /allOf/11/if"


def test_a_circle_in_place_is_told_from_a_recursion() -> None:
    tree = {
        "required": ["kind"],
        "oneOf": [
            {"properties": {"kind": {"const": "leaf"}}},
            {
                "properties": {"kind": {"const": "node"}, "left": {"$ref": "#"}},
                "required": ["left"],
            },
        ],
    }
    fitting = Fitting(tree)
    leaf = {"kind": "leaf"}
    assert fitting.fits({"kind": "node", "left": {"kind": "node", "left": leaf}})
    assert not fitting.fits({"kind": "node", "left": {"kind": "node"}})
    for keyword in ("not", "if", "else"):
        circle = {"if": True, "else": True, keyword: {"$ref": "#"}}
        with pytest.raises(SchemaError, match="circular reference"):
            Fitting(circle)


def unknown(schema: Any, **options: Any) -> list[str]:
    fitting = Fitting(schema, **options)
    return list(fitting.reader.unknown)


def test_keywords_of_other_drafts_are_unknown() -> None:
    later = {
        "const": 1,
        "contains": {},
        "propertyNames": {},
        "if": {},
        "then": {},
        "dependentRequired": {},
        "dependentSchemas": {},
        "unevaluatedItems": {},
        "prefixItems": [],
        "minContains": 1,
    }
    assert unknown({"$schema": DIALECTS[4], **later}) == [f"/{keyword}" for keyword in later]
    assert unknown({"$schema": DIALECTS[7], **later}) == [
        f"/{keyword}" for keyword in list(later)[5:]
    ]
    assert unknown({**later, "dependencies": {}, "additionalItems": {}}) == [
        "/dependencies",
        "/additionalItems",
    ]
    assert unknown({"$schema": DIALECTS[2019], "dependencies": {}}) == ["/dependencies"]
