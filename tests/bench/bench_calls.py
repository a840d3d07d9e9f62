"""What single calls cost: `python tests/bench/bench_calls.py --tokenizer FOLDER`.

The import, the vocabulary, the calls of a matcher where all states have been met before, and masks
applied to logits next to what torch, xgrammar and llguidance offer for it. Prints one JSON line,
and a table on standard error. See docs/benchmarks.md for what is measured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # so that this file also runs as a script

import numpy as np  # noqa: E402 (after the path is set)

import guided  # noqa: E402
from tests.bench import record  # noqa: E402
from tests.bench.engines import load_tokenizer  # noqa: E402
from tests.bench.summary import Figures, quantiles, table  # noqa: E402

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 80},
        "born": {"type": "integer", "minimum": 0, "maximum": 2100},
        "fields": {"type": "array", "items": {"enum": ["mathematics", "computing", "poetry"]}},
        "notes": {"type": "string"},
    },
    "required": ["name", "born"],
}
TEXT = (
    '{"name": "Ada Lovelace", "born": 1815, "fields": ["mathematics", "computing"], '
    '"notes": "She wrote the first program for a machine that was never built."}'
)
IMPORT = "import time; t = time.perf_counter_ns(); import guided; print(time.perf_counter_ns() - t)"
BATCH = 64

# A matcher at each place of a text, and the token that comes next.
Places = list[tuple[guided.Matcher, int]]

# What each is measured in, and what it must stay under; see docs/benchmarks.md.
UNITS = {"us": 1e3, "ms": 1e6}
TARGETS = {"import guided": 300.0, "fill_mask, numpy row": 2.0, "fill_mask, torch row": 2.0}
TARGETS |= {"accept": 1.0, "vocabulary of the tokenizer": 500.0}


def row_of(name: str, times_ns: Sequence[int], unit: str) -> dict[str, Any]:
    """Make one row of the result: count, minimum, median, p99 and target of a measurement."""
    figures: Figures = quantiles(times_ns, UNITS[unit])
    return {
        "name": name,
        "unit": unit,
        "count": len(times_ns),
        "min": round(min(times_ns) / UNITS[unit], 3),
        "median": figures["p50"],
        "p99": figures["p99"],
        "target": TARGETS.get(name),
    }


def time_each(run: Callable[[], object], repeats: int, calls: int = 1) -> list[int]:
    """Time a call of one of the `calls` calls that `run` makes, after a first round as warm-up."""
    run()
    times = []
    for _ in range(repeats):
        began = time.perf_counter_ns()
        run()
        times.append(round((time.perf_counter_ns() - began) / calls))
    return times


def import_times(repeats: int) -> list[int]:
    command = [sys.executable, "-c", IMPORT]
    times = []
    for _ in range(repeats + 1):
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        times.append(int(ran.stdout))
    return times[1:]  # the first may have read the files from disk


def vocabulary_times(folder: str, repeats: int) -> list[int]:
    times = []
    for _ in range(repeats):
        tokenizer = load_tokenizer(folder)  # a new one: the vocabulary is kept with it
        began = time.perf_counter_ns()
        guided.Vocabulary.from_tokenizer(tokenizer)
        times.append(time.perf_counter_ns() - began)
    return times


def matcher_rows(
    vocabulary: guided.Vocabulary, tokens: Sequence[int], repeats: int
) -> list[dict[str, Any]]:
    """Measure the calls of a matcher, each at all places of one text that was walked before."""
    matcher = guided.Grammar.from_json_schema(SCHEMA).compile(vocabulary).matcher()
    places: Places = []
    for token in tokens:
        places.append((matcher.fork(), token))
        matcher.accept(token)
    array = np.zeros(vocabulary.words, np.int32)  # (W,)
    tensor = guided.allocate_mask(1, vocabulary.size)[0]  # (W,)
    loops = {
        "fill_mask, numpy row": partial(fill_masks, places, array),
        "fill_mask, torch row": partial(fill_masks, places, tensor),
        "can_accept": partial(ask, places),
        "accept and rollback": partial(go_and_return, places),
        "fork": partial(fork, places),
    }
    rows = [row_of("accept", accept_times(matcher, tokens, repeats), "us")]
    for name, loop in loops.items():
        rows.append(row_of(name, time_each(loop, repeats, len(places)), "us"))
    return rows


def fill_masks(places: Places, row: object) -> None:
    for matcher, _ in places:
        matcher.fill_mask(row)


def ask(places: Places) -> None:
    for matcher, token in places:
        matcher.can_accept(token)


def go_and_return(places: Places) -> None:
    for matcher, token in places:
        matcher.accept(token)
        matcher.rollback(1)


def fork(places: Places) -> None:
    for matcher, _ in places:
        matcher.fork()


def accept_times(matcher: guided.Matcher, tokens: Sequence[int], repeats: int) -> list[int]:
    """Time `accept` alone: the matcher stands after the tokens, and is taken back in between."""
    times = []
    for _ in range(repeats):
        matcher.rollback(len(tokens))
        began = time.perf_counter_ns()
        for token in tokens:
            matcher.accept(token)
        times.append(round((time.perf_counter_ns() - began) / len(tokens)))
    return times


def masks_of(vocabulary: guided.Vocabulary, tokens: Sequence[int]) -> Any:
    """Fill a mask of 64 rows from the places of the text, over and over."""
    automaton = guided.Grammar.from_json_schema(SCHEMA).compile(vocabulary)
    matchers = []
    for b in range(BATCH):
        matcher = automaton.matcher()
        matcher.accept_all(tokens[: b % len(tokens)])
        matchers.append(matcher)
    mask = guided.allocate_mask(BATCH, vocabulary.size)  # (B, W)
    guided.fill_masks(matchers, mask)
    return mask


def appliers(logits: Any, mask: Any) -> dict[str, Callable[[], object]]:
    """Return what masks these logits, (B, V), in place, by the name of who offers it."""
    torch = import_module("torch")
    forbidden = ~import_module("guided.masks").unpack_bits(mask)[:, : logits.shape[1]]
    found: dict[str, Callable[[], object]] = {
        "guided": lambda: guided.apply_mask(logits, mask),
        "torch.masked_fill_": lambda: logits.masked_fill_(forbidden, -torch.inf),
    }
    try:
        apply = import_module("xgrammar").apply_token_bitmask_inplace
        found["xgrammar"] = lambda: apply(logits, mask)
    except ImportError:
        pass
    if logits.dtype == torch.float32:  # numpy has no bfloat16
        try:
            apply_rows = import_module("llguidance.numpy").apply_token_bitmask_inplace
            found["llguidance"] = lambda: apply_rows(logits.numpy(), mask.numpy())
        except ImportError:
            pass
    return found


def apply_rows(mask: Any, size: int, repeats: int) -> list[dict[str, Any]]:
    """Measure masks on logits; who is there takes turns, each on logits that are finite again."""
    torch = import_module("torch")
    rows = []
    for dtype in (torch.float32, torch.bfloat16):
        generator = torch.Generator().manual_seed(20)
        fresh = torch.randn((BATCH, size), generator=generator).to(dtype)  # (B, V)
        logits = fresh.clone()
        times: dict[str, list[int]] = {}
        for repeat in range(repeats + 1):
            for name, apply in appliers(logits, mask).items():
                logits.copy_(fresh)
                began = time.perf_counter_ns()
                apply()
                spent = time.perf_counter_ns() - began
                if repeat:  # the first round is warm-up
                    times.setdefault(name, []).append(spent)
        kind = str(dtype).removeprefix("torch.")
        rows += [
            row_of(f"{BATCH} x {size} {kind} masked by {name}", spent, "ms")
            for name, spent in times.items()
        ]
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokenizer", required=True, help="folder of a tokenizer")
    parser.add_argument("--repeats", type=int, default=200, help="of a loop over calls")
    options = parser.parse_args(arguments)
    tokenizer = load_tokenizer(options.tokenizer)
    tokens = tokenizer.encode(TEXT, add_special_tokens=False)
    vocabulary = guided.Vocabulary.from_tokenizer(tokenizer)
    few = min(10, options.repeats)
    rows = [
        row_of("import guided", import_times(few), "ms"),
        row_of("vocabulary of the tokenizer", vocabulary_times(options.tokenizer, few // 3), "ms"),
        *matcher_rows(vocabulary, tokens, options.repeats),
        *apply_rows(masks_of(vocabulary, tokens), vocabulary.size, few),
    ]
    names = ("name", "unit", "min", "median", "p99", "target")
    print(table(names, [[row[name] for name in names] for row in rows]), file=sys.stderr)
    results = {
        **record.about("calls", ["llguidance", "xgrammar", "torch", "transformers"]),
        "sizes": {"vocabulary": vocabulary.size, "tokens": len(tokens), "batch": BATCH},
        "tokenizer": Path(options.tokenizer).name,
        "failures": [],
        "rows": rows,
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
