"""Masks of JSON Schemas against peers: `python tests/bench/bench_masks.py --tokenizer FOLDER`.

Every schema is seen once. All engines take part in one run, each in a process of its own; a schema
is done by one after the other in an order that is shuffled per schema, so noise falls on all alike.
Prints one JSON line, and a table on standard error. See docs/benchmarks.md for what is measured.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # so that this file also runs as a script

from tests.bench import record  # noqa: E402 (after the path is set)
from tests.bench.engines import ENGINES, load_tokenizer, width  # noqa: E402
from tests.bench.summary import (  # noqa: E402
    Case,
    compare,
    report,
    summarise,
    summarise_batches,
)
from tests.bench.worker import Batch, Outcome, Schema, Worker  # noqa: E402

BASE = "llguidance"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    folder = os.environ.get("GUIDED_CORPORA", str(ROOT.parent / "shared" / "corpora"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--tokenizer", required=True, help="folder of a tokenizer of some 128k tokens")
    add("--corpus", default=f"{folder}/maskbench-300.jsonl.gz", help="schemas with instances")
    add("--engines", default="guided,llguidance,xgrammar", help=f"out of {','.join(ENGINES)}")
    add("--schemas", type=int, help="a random sample of so many, instead of all")
    add("--only", metavar="REGEX", help="those schemas whose id matches")
    add("--seed", type=int, default=20)
    add("--limit", type=float, default=60, help="seconds for an engine on a schema")
    add("--batch", type=int, default=64, help="matchers in a batch; 0: no batches")
    add("--batches", type=int, default=2, help="at most so many batches of other schemas")
    add("--steps", type=int, default=16, help="tokens that a batch is walked")
    add("--cpu", type=int, default=max(os.sched_getaffinity(0)), help="to run on; -1: any")
    add("--nice", type=int, default=-10, help="priority; needs rights where negative, else ignored")
    add("--table", metavar="FILE", help="write the table there instead")
    options = parser.parse_args(arguments)
    options.engines = options.engines.split(",")
    if unknown := set(options.engines) - set(ENGINES):
        parser.error(
            f"no such engine: {', '.join(sorted(unknown))}; there are {', '.join(ENGINES)}"
        )
    for path in (options.tokenizer, options.corpus):
        if not Path(path).exists():
            parser.error(f"there is nothing at {path}")
    return options


def read_cases(options: argparse.Namespace, tokenizer: Any) -> list[Case]:
    """Read the corpus, JSON lines of `id`, `schema` and `tests` of `data` and `valid`."""
    opened = gzip.open if options.corpus.endswith(".gz") else open
    with opened(options.corpus, "rt", encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines]
    entries = [entry for entry in entries if re.search(options.only or "", entry["id"])]
    random.Random(options.seed).shuffle(entries)
    return [
        Case(
            entry["id"],
            json.dumps(entry["schema"], ensure_ascii=False),
            [
                tokenizer.encode(
                    json.dumps(test["data"], ensure_ascii=False), add_special_tokens=False
                )
                for test in entry["tests"]
            ],
            [test["valid"] for test in entry["tests"]],
        )
        for entry in entries[: options.schemas]
    ]


def start(options: argparse.Namespace, cpu: int | None) -> dict[str, Worker]:
    workers = {}
    for name in options.engines:
        try:
            workers[name] = Worker(name, options.tokenizer, cpu, options.nice)
        except ImportError as error:
            say(f"{name} is left out: {error}")
    return workers


def take_turns(
    workers: dict[str, Worker], jobs: Sequence[Schema | Batch], limit: float, seed: int
) -> dict[str, list[Outcome]]:
    """Give each job to one engine after the other, in another order each time."""
    outcomes: dict[str, list[Outcome]] = {name: [] for name in workers}
    order = list(workers)
    shuffle = random.Random(seed).shuffle
    for done, job in enumerate(jobs, 1):
        shuffle(order)
        for name in order:
            outcomes[name].append(workers[name].run(job, limit))
        if done % 25 == 0 or done == len(jobs):
            say(f"{done} of {len(jobs)} {type(job).__name__.lower()} jobs done")
    for worker in workers.values():
        worker.close()
    return outcomes


def make_batches(
    options: argparse.Namespace, cases: Sequence[Case], outcomes: dict[str, list[Outcome]]
) -> list[Batch]:
    """Group schemas that all engines got right and that have an instance long enough."""
    fit = []
    for index, case in enumerate(cases):
        walks = [outcomes[name][index].walks for name in outcomes]
        for number, tokens in enumerate(case.instances):
            if len(tokens) >= options.steps and all(
                len(done) > number and done[number].accepted for done in walks
            ):
                fit.append((case.schema, tokens))
                break
    size = min(options.batch, len(fit))
    groups = [fit[at : at + size] for at in range(0, len(fit) - size + 1, size or 1) if size]
    return [
        Batch([text for text, _ in group], [tokens for _, tokens in group], options.steps)
        for group in groups[: options.batches]
    ]


def measure(options: argparse.Namespace) -> dict[str, Any]:
    tokenizer = load_tokenizer(options.tokenizer)
    cases = read_cases(options, tokenizer)
    cpu = None if options.cpu < 0 else options.cpu
    everywhere = os.sched_getaffinity(0)
    if cpu is not None and len(everywhere) > 1:
        os.sched_setaffinity(
            0, everywhere - {cpu}
        )  # what measures stays away from what is measured
    workers = start(options, cpu)
    about = {name: worker.about for name, worker in workers.items()}
    jobs = [Schema(case.schema, case.instances) for case in cases]
    outcomes = take_turns(workers, jobs, options.limit, options.seed)

    engines = {name: summarise(cases, outcomes[name]) for name in outcomes}
    for name, summary in engines.items():
        summary |= about[name]
        if BASE in outcomes and name != BASE:
            summary["to_llguidance"] = compare(outcomes[name], outcomes[BASE])

    os.sched_setaffinity(0, everywhere)  # batches are filled by threads, on all processors
    batches = make_batches(options, cases, outcomes)
    if batches:
        # New processes: the schemas of a batch must not have been seen.
        limit = options.limit * options.batch
        filled = take_turns(start(options, None), batches, limit, options.seed)
        add_batches(engines, filled)
    return {
        **record.about("masks", ["llguidance", "xgrammar", "torch", "transformers"]),
        "sizes": {
            "vocabulary": width(tokenizer),
            "schemas": len(cases),
            "instances": sum(len(case.instances) for case in cases),
            "tokens": sum(len(tokens) for case in cases for tokens in case.instances),
            "batch": len(batches[0].texts) if batches else 0,
            "batches": len(batches),
            "steps": options.steps,
        },
        "options": {
            name: Path(value).name if name in ("tokenizer", "corpus", "table") and value else value
            for name, value in vars(options).items()
        },
        "engines": engines,
    }


def add_batches(engines: dict[str, dict[str, Any]], filled: dict[str, list[Outcome]]) -> None:
    for name, outcomes in filled.items():
        engines[name]["batch"] = summarise_batches(outcomes)
    base = engines.get(BASE, {}).get("batch")
    for name in filled:
        batch = engines[name]["batch"]
        if base and name != BASE:
            batch["to_llguidance"] = {
                kind: round(batch[f"{kind}_ms"]["mean"] / base[f"{kind}_ms"]["mean"], 3)
                for kind in ("cold", "warm")
                if batch[f"{kind}_ms"] and base[f"{kind}_ms"]
            }


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    results = measure(options)
    drawn = report(results["engines"])
    if options.table:
        Path(options.table).write_text(drawn + "\n", encoding="utf-8")
    else:
        say(drawn)
    print(json.dumps(results, ensure_ascii=False))


if __name__ == "__main__":
    main()
