"""Schemas that others fall over: `python tests/bench/bench_cliffs.py --tokenizer FOLDER`.

Each is compiled some times, never the same one twice, up to the first mask; then a long text is
walked, and the masks of its first part are compared to those of its last. Each has a process of its
own and a limit of time. Prints one JSON line, and a table on standard error.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # so that this file also runs as a script

import numpy as np  # noqa: E402 (after the path is set)

import guided  # noqa: E402
from tests.bench import record  # noqa: E402
from tests.bench.engines import load_tokenizer  # noqa: E402
from tests.bench.summary import quantiles, table  # noqa: E402

TARGET_MS = 1_000.0  # for the first mask of each
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cliff:
    """`schema(tag)` is another one for each tag, a letter or two; `text` fits that of tag "x"."""

    name: str
    schema: Callable[[str], Schema]
    text: Callable[[], str]
    options: dict[str, Any] = field(default_factory=dict)


def closed(properties: Schema, required: Sequence[str] = ()) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def boxed(tag: str, schema: Schema) -> Schema:
    """Put a schema under a key of its own, so that no two tags give the same schema."""
    return closed({tag: schema}, [tag])


def in_box(text: str) -> str:
    return f'{{"x": {text}}}'


def properties(tag: str) -> Schema:
    kinds = [{"type": "integer"}, {"type": "string"}, {"type": "boolean"}, {"enum": ["a", "b"]}]
    return closed({f"{tag}{index:03}": kinds[index % 4] for index in range(500)})


def all_properties(shuffled: bool) -> str:
    values = [1, "text", True, "a"]
    indices = list(range(500))
    if shuffled:
        random.Random(20).shuffle(indices)
    return json.dumps({f"x{index:03}": values[index % 4] for index in indices})


def nested_choices(tag: str, tagged: bool) -> Schema:
    """Three levels of 40 alternatives: by the value of a property, or by its name alone."""
    levels: Schema = {}
    for level in range(3):
        inner = {"$ref": f"#/$defs/{tag}{level + 1}"} if level < 2 else {"type": "integer"}
        branches = []
        for index in range(40):
            if tagged:
                parts = {"kind": {"const": f"{tag}{level}-{index}"}, "value": inner}
                branches.append(closed(parts, ["kind", "value"]))
            else:
                key = f"{tag}{level}-{index}"
                branches.append({"type": "object", "properties": {key: inner}, "required": [key]})
        levels[f"{tag}{level}"] = {"oneOf": branches}
    return {"$ref": f"#/$defs/{tag}0", "$defs": levels}


def parts_of_one(tag: str) -> Schema:
    parts = []
    for index in range(20):
        names = [f"{tag}{index}{letter}" for letter in "abc"]
        schemas = {
            names[0]: {"type": "string", "maxLength": 100 + index},
            names[1]: {"type": "integer", "minimum": index},
            f"{tag}-shared": {"type": "string", "minLength": index % 5},
        }
        parts.append({"type": "object", "properties": schemas, "required": names[:1]})
    return {"allOf": parts}


def whole_of_parts() -> str:
    value: dict[str, Any] = {"x0a": "text", "x0b": 5, "x-shared": "shared text"}
    for index in range(1, 20):
        value |= {f"x{index}a": "some text", f"x{index}b": index + 3}
    return json.dumps(value)


def five_definitions(tag: str) -> Schema:
    names = [f"{tag}{letter}" for letter in "abcde"]
    definitions: Schema = {}
    for index, name in enumerate(names):
        following = {"$ref": f"#/$defs/{names[(index + 1) % 5]}"}
        inner = following if index % 2 else {"type": "array", "items": following}
        parts = {"label": {"type": "string"}, "inner": {"anyOf": [inner, {"type": "null"}]}}
        definitions[name] = closed(parts, ["label"])
    return {"$ref": f"#/$defs/{names[0]}", "$defs": definitions}


def nested_objects(depth: int) -> str:
    value: Any = {"label": "last"}
    for level in reversed(range(depth)):
        index = level % 5
        value = {"label": f"level {level}", "inner": value if index % 2 else [value]}
    return json.dumps(value)


def letters(count: int) -> str:
    chance = random.Random(20)
    words = ["alpha", "beta", "gamma", "delta", "le", "temps", "perdu", "日本", "é", "x"]
    text = " ".join(chance.choice(words) for _ in range(count))
    return text[:count]


def word(tag: str, index: int) -> str:
    return f"{tag}{index * 7919 % 10_000:04}-{'y' * (index % 30)}"


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def pattern(text: str) -> Callable[[str], Schema]:
    return lambda tag: boxed(tag, {"type": "string", "pattern": text})


def string(**keywords: int) -> Callable[[str], Schema]:
    return lambda tag: boxed(tag, {"type": "string", **keywords})


def list_of(schema: Schema, **keywords: Any) -> Callable[[str], Schema]:
    return lambda tag: boxed(tag, {"type": "array", "items": schema, **keywords})


CLIFFS = [
    Cliff(
        "enum of 10,000 strings",
        lambda tag: {
            "enum": [f"{tag}{n * 7919 % 10_000:04}-{'y' * (n % 30)}" for n in range(10_000)]
        },
        lambda: quoted(f"x{29 * 7919 % 10_000:04}-{'y' * 29}"),
    ),
    Cliff("maxLength 100,000", string(maxLength=100_000), lambda: in_box(quoted(letters(99_000)))),
    Cliff("minLength 2,000", string(minLength=2_000), lambda: in_box(quoted(letters(2_500)))),
    Cliff("500 optional properties, in order", properties, lambda: all_properties(False)),
    Cliff(
        "500 optional properties, in any order",
        properties,
        lambda: all_properties(True),
        {"property_order": "any"},
    ),
    Cliff(
        "2,000 additional properties",
        lambda tag: {"type": "object", "properties": {tag: {"type": "integer"}}},
        lambda: json.dumps({f"key {n * 7919 % 2_000}": n for n in range(2_000)}),
    ),
    Cliff(
        "maxItems 10,000",
        list_of({"type": "integer"}, maxItems=10_000),
        lambda: in_box(json.dumps(list(range(10_000)))),
    ),
    Cliff(
        "uniqueItems, 1,000 strings",
        list_of({"type": "string"}, uniqueItems=True),
        lambda: in_box(json.dumps([f"item {n * 7919 % 1_000}" for n in range(1_000)])),
    ),
    Cliff(
        "contains, minContains 100",
        list_of({"type": "integer"}, contains={"minimum": 5}, minContains=100),
        lambda: in_box(json.dumps([n % 10 for n in range(1_000)])),
    ),
    Cliff(
        "40-way oneOf nested three deep, by a tag",
        lambda tag: nested_choices(tag, True),
        lambda: (
            '{"kind": "x0-39", "value": {"kind": "x1-20", "value": {"kind": "x2-7", "value": 12}}}'
        ),
    ),
    Cliff(
        "40-way oneOf nested three deep, by required keys",
        lambda tag: nested_choices(tag, False),
        lambda: '{"x0-39": {"x1-20": {"x2-7": 12}}}',
    ),
    Cliff("allOf of 20 objects", parts_of_one, whole_of_parts),
    Cliff("recursion through five definitions", five_definitions, lambda: nested_objects(400)),
    Cliff("pattern ^.{0,500}$", pattern("^.{0,500}$"), lambda: in_box(quoted(letters(490)))),
    Cliff("pattern a.{0,500}b", pattern("a.{0,500}b"), lambda: in_box(quoted(letters(490) + "b"))),
    Cliff(
        "pattern ^x.{0,500}y.{0,500}z$",
        pattern("^x.{0,500}y.{0,500}z$"),
        lambda: in_box(quoted(f"x{letters(450)}y{letters(450)}z")),
    ),
    Cliff(
        "pattern foo with maxLength 1,000",
        lambda tag: boxed(tag, {"type": "string", "pattern": "foo", "maxLength": 1_000}),
        lambda: in_box(quoted(f"{letters(450)} foo {letters(450)}")),
    ),
    Cliff(
        r"pattern \S with minLength 2,000",
        lambda tag: boxed(tag, {"type": "string", "pattern": "\\S", "minLength": 2_000}),
        lambda: in_box(quoted(letters(2_500))),
    ),
]


def first_mask(cliff: Cliff, tag: str, vocabulary: guided.Vocabulary) -> tuple[int, guided.Matcher]:
    """Return the nanoseconds from the schema to the first mask, and the matcher there."""
    schema = cliff.schema(tag)
    row = np.zeros(vocabulary.words, np.int32)  # (W,)
    began = time.perf_counter_ns()
    grammar = guided.Grammar.from_json_schema(schema, **cliff.options)
    matcher = grammar.compile(vocabulary).matcher()
    matcher.fill_mask(row)
    return time.perf_counter_ns() - began, matcher


def walk(matcher: guided.Matcher, tokens: Sequence[int], row: Any) -> list[int]:
    """Return the nanoseconds of a mask and an accept, for each token."""
    times = []
    for token in tokens:
        began = time.perf_counter_ns()
        matcher.fill_mask(row)
        matcher.accept(token)
        times.append(time.perf_counter_ns() - began)
    if not matcher.is_complete:
        raise ValueError("the text is not complete")
    return times


def measure(cliff: Cliff, tokenizer: Any, vocabulary: guided.Vocabulary, repeats: int) -> Schema:
    tokens = tokenizer.encode(cliff.text(), add_special_tokens=False)
    # The first is warm-up; the last is that of the text.
    tags = ["w", *(f"{chr(97 + n % 23)}{n}" for n in range(repeats - 1)), "x"]
    ready = []
    for tag in tags:
        spent, matcher = first_mask(cliff, tag, vocabulary)
        ready.append(spent)
    times = walk(matcher, tokens, np.zeros(vocabulary.words, np.int32))
    tenth = max(1, len(times) // 10)
    first, last = times[tenth : 2 * tenth] or times, times[-tenth:]
    return {
        "first_mask_ms": quantiles(ready[1:], 1e6),
        "warm_up_ms": round(ready[0] / 1e6, 3),
        "tokens": len(tokens),
        "token_us": quantiles(times),
        "early_us": round(sum(first) / len(first) / 1e3, 3),
        "late_us": round(sum(last) / len(last) / 1e3, 3),
    }


def worker(pipe: Any, cliff: Cliff, tokenizer: Any, vocabulary: Any, repeats: int) -> None:
    try:
        pipe.send(measure(cliff, tokenizer, vocabulary, repeats))
    except Exception as error:
        pipe.send({"failure": f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"})


def run(cliff: Cliff, tokenizer: Any, vocabulary: guided.Vocabulary, options: Any) -> Schema:
    """Measure in a process of its own, which is ended at the limit."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    arguments = (there, cliff, tokenizer, vocabulary, options.repeats)
    process = context.Process(target=worker, args=arguments)
    process.start()
    there.close()
    try:
        found: Schema = here.recv() if here.poll(options.limit) else {"failure": "out of time"}
    except EOFError:
        found = {"failure": "crashed"}
    process.kill()
    process.join()
    return {"name": cliff.name, **found}


def drawn(rows: Sequence[Schema]) -> str:
    head = ["", "first mask p50, ms", "max, ms", "tokens", "mean, us", "p99, us", "early, us"]
    lines: list[list[Any]] = []
    for row in rows:
        if "failure" in row:
            lines.append([f"{row['name']}: {row['failure'][:40]}", *[None] * 7])
            continue
        ready, times = row["first_mask_ms"], row["token_us"]
        figures = [ready["p50"], ready["max"], row["tokens"], times["mean"], times["p99"]]
        lines.append([row["name"], *figures, row["early_us"], row["late_us"]])
    return table([*head, "late, us"], lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokenizer", required=True, help="folder of a tokenizer")
    parser.add_argument("--repeats", type=int, default=5, help="schemas of each kind")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one kind")
    parser.add_argument("--only", metavar="REGEX", help="those whose name matches")
    options = parser.parse_args(arguments)
    tokenizer = load_tokenizer(options.tokenizer)
    vocabulary = guided.Vocabulary.from_tokenizer(tokenizer)
    chosen = [cliff for cliff in CLIFFS if re.search(options.only or "", cliff.name)]
    rows = [run(cliff, tokenizer, vocabulary, options) for cliff in chosen]
    print(drawn(rows), file=sys.stderr)
    slow = [
        row["name"]
        for row in rows
        if "failure" not in row and row["first_mask_ms"]["max"] > TARGET_MS
    ]
    results = {
        **record.about("cliffs", ["torch", "transformers"]),
        "sizes": {"vocabulary": vocabulary.size, "repeats": options.repeats},
        "tokenizer": Path(options.tokenizer).name,
        "target_ms": TARGET_MS,
        "too_slow": slow,
        "failures": [[row["name"], row["failure"]] for row in rows if "failure" in row],
        "rows": rows,
    }
    print(json.dumps(results, ensure_ascii=False))


if __name__ == "__main__":
    main()
