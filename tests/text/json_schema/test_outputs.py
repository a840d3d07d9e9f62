"""Random schemas: what comes out of their masks is valid, and what is valid is let through.

The judges are jsonschema and jsonschema-rs, where they agree. A failure names the seed that gives
the schema again: `python -m tests.text.json_schema.test_outputs SEED`.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import count, islice
from typing import Any

import pytest

from guided._core import Automaton, Vocabulary
from guided.errors import GrammarError, GuidedError, LimitError, SchemaError, UnsupportedError
from guided.text.json_schema import compile_schema
from tests.text.json_schema.matching import accepts, byte_vocabulary
from tests.text.json_schema.random_schemas import random_schema
from tests.text.json_schema.random_values import ValueMaker, in_any_order, with_escapes
from tests.text.json_schema.spelling import layouts, write
from tests.text.json_schema.validators import Validators, has_duplicates
from tests.text.json_schema.walking import Walker, large_walker, small_walker

PLAIN, NIGHTLY = 400, 20_000
OUTPUTS, VALUES = 4, 12  # of a schema
SPACES: list[str | int] = ["flexible", "flexible", "compact", 2, "[ ]?"]
# Which of the layouts fits such white space; any of them fits what is flexible.
STYLE_OF = {"compact": 0, "[ ]?": 1, 2: 2}


def options_of(seed: int) -> dict[str, Any]:
    """Return the options of a seed; half are the defaults."""
    chance = random.Random(seed)
    if chance.random() < 0.5:
        return {}
    return {
        "whitespace": chance.choice(SPACES),
        "property_order": chance.choice(["schema", "any"]),
        "escapes": chance.choice(["minimal", "any"]),
        "formats": chance.choice(["assert", "annotate"]),
    }


def compiled(
    schema: Any, options: dict[str, Any], seen: Counter[str], vocabulary: Vocabulary
) -> Automaton | GuidedError:
    """Compile a schema, or return the error; `seen` counts what came of it."""
    try:
        grammar = compile_schema(schema, **options)
        automaton = Automaton(grammar.arena, grammar.start, vocabulary)
    except (UnsupportedError, LimitError, SchemaError, GrammarError) as error:
        if is_impossible(error):
            seen["nothing fits"] += 1
        else:
            seen[f"refused for {getattr(error, 'keyword', type(error).__name__)}"] += 1
        return error
    seen["compiled"] += 1
    return automaton


def is_impossible(error: GuidedError) -> bool:
    """Return True if the error is that nothing fits the schema."""
    if isinstance(error, SchemaError):
        return "circular" not in error.fact
    return isinstance(error, GrammarError)


def check_outputs(seed: int, walker: Walker, seen: Counter[str], outputs: int = OUTPUTS) -> None:
    """Assert that what is generated under a random schema fits it."""
    schema, options = random_schema(seed), options_of(seed)
    automaton = compiled(schema, options, seen, walker.vocabulary.core)
    if isinstance(automaton, GuidedError):
        return
    judges = Validators(schema, options.get("formats") != "annotate")
    chance = random.Random(seed)
    for _ in range(outputs):
        try:
            output = walker.walk(automaton, chance.choice([3, 10, 30, 60]), chance)
        except LimitError:  # products of patterns and formats are met, and bounded, on the way
            seen["stopped by a limit"] += 1
            return
        if output is None:
            seen["walks without an end"] += 1
            continue
        text = output.decode()
        about = f"seed {seed}: {write(schema)} with {options} gives {text!r}"
        python, rust = judges.verdicts(text)
        seen["outputs"] += 1
        seen["outputs judged in two ways"] += python is not rust
        assert (python, rust) != (False, False), about
        assert not has_duplicates(text), about


def check_values(seed: int, seen: Counter[str], values: int = VALUES) -> None:
    """Assert the verdicts on random values, of which many fit the random schema."""
    schema, options = random_schema(seed), {**options_of(seed), "property_order": "any"}
    automaton = compiled(schema, options, seen, byte_vocabulary())
    if isinstance(automaton, GuidedError) and not is_impossible(automaton):
        return
    judges = Validators(schema, options.get("formats") != "annotate")
    maker, chance = ValueMaker(schema, seed), random.Random(seed)
    for _ in range(values):
        texts = layouts(in_any_order(maker.value(), chance))
        text = texts[STYLE_OF.get(options.get("whitespace"), chance.randrange(3))]
        verdict = judges.verdict(text)
        if options.get("escapes") == "any":
            text = with_escapes(text, chance)
        about = f"seed {seed}: {write(schema)} with {options} and {text!r}, which is {verdict}"
        seen[f"values {verdict}"] += 1
        if verdict is not None:
            try:
                matches = isinstance(automaton, Automaton) and accepts(automaton, text)
            except LimitError:
                seen["stopped by a limit"] += 1
                return
            assert matches is verdict, about


def first_seed() -> int:
    """Draw where the seeds begin, and print it for the case that a test fails."""
    seed = random.SystemRandom().randrange(1 << 40)
    print(f"seeds from {seed} on")
    return seed


def test_outputs_of_random_schemas_are_valid() -> None:
    seen: Counter[str] = Counter()
    for seed in count(first_seed()):
        check_outputs(seed, small_walker(), seen)
        if seen["outputs"] >= PLAIN:
            break
    print(dict(seen))
    assert seen["walks without an end"] < PLAIN / 10
    assert seen["stopped by a limit"] <= PLAIN / 100


def test_valid_values_of_random_schemas_are_let_through_and_no_others() -> None:
    seen: Counter[str] = Counter()
    for seed in islice(count(first_seed()), PLAIN // 4):
        check_values(seed, seen)
    print(dict(seen))
    assert seen["values True"] > seen.total() / 10
    assert seen["stopped by a limit"] <= PLAIN / 100


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["smollm2", "qwen"])
def test_so_are_very_many_with_a_real_tokenizer(name: str) -> None:
    walker = large_walker(name) or small_walker()
    seen: Counter[str] = Counter()
    for seed in count(first_seed()):
        check_outputs(seed, walker, seen)
        if seen["outputs"] >= NIGHTLY:
            break
    print(dict(seen))


@pytest.mark.nightly
def test_so_are_the_values_of_many_more_schemas() -> None:
    seen: Counter[str] = Counter()
    for seed in islice(count(first_seed()), NIGHTLY // 4):
        check_values(seed, seen)
    print(dict(seen))


def _walk_long(seeds: Iterable[int], walker: Walker) -> None:
    seen: Counter[str] = Counter()
    for seed in seeds:
        options = options_of(seed)
        automaton = compiled(random_schema(seed), options, seen, walker.vocabulary.core)
        if isinstance(automaton, Automaton):
            try:
                walker.walk(automaton, 2_000, random.Random(seed), patient=seed % 2 == 0)
            except LimitError:
                seen["stopped by a limit"] += 1
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {write(random_schema(seed))}") from error


def test_no_walk_of_2000_tokens_meets_an_empty_mask() -> None:
    _walk_long(islice(count(first_seed()), 60), small_walker())


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["smollm2", "qwen"])
def test_nor_do_many_walks_with_a_real_tokenizer(name: str) -> None:
    _walk_long(islice(count(first_seed()), 2_000), large_walker(name) or small_walker())


def main(arguments: list[str]) -> None:
    seed = int(arguments[0])
    print(write(random_schema(seed), indent=2), options_of(seed))
    for check in (_check_many_outputs, _check_many_values):
        try:
            check(seed)
        except (AssertionError, GuidedError) as error:
            print(error)


def _check_many_outputs(seed: int) -> None:
    check_outputs(seed, small_walker(), Counter(), 100)


def _check_many_values(seed: int) -> None:
    check_values(seed, Counter(), 200)


if __name__ == "__main__":
    main(sys.argv[1:])
