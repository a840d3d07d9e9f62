"""Masks under a large Lark grammar: `python tests/bench/bench_lark.py --tokenizer FOLDER GRAMMAR`.

Walks Python files of the standard library, each of them whole, under python.lark (the grammar of
lark's own distribution, with its Indenter), and prints one JSON line: how long reading the grammar
takes, the first mask, and a mask and its accept in the mean and in percentiles, in microseconds.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # so that this file also runs as a script

import guided  # noqa: E402 (after the path is set)
from tests.bench import record  # noqa: E402
from tests.bench.engines import load_tokenizer  # noqa: E402

LARGEST = 30_000  # bytes of a file


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("grammar", help="python.lark")
    parser.add_argument("--tokenizer", required=True, help="folder of a tokenizer")
    parser.add_argument("--start", default="file_input")
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--seed", type=int, default=5)
    return parser.parse_args(arguments)


def sources(count: int, seed: int) -> list[str]:
    """Return so many files of the standard library, drawn with a seed."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    paths = [path for path in sorted(folder.glob("*.py")) if path.stat().st_size < LARGEST]
    chosen = random.Random(seed).sample(paths, count)
    return [path.read_text("utf-8").rstrip("\n") + "\n" for path in chosen]


def walk(automaton: guided.Automaton, tokens: Sequence[int]) -> tuple[list[int], bool]:
    """Return the nanoseconds of each mask with its accept, and whether the text is complete."""
    matcher, clock = automaton.matcher(), time.perf_counter_ns
    row = np.zeros(automaton.vocabulary.words, np.int32)  # (W,)
    times: list[int] = []
    for token in tokens:
        began = clock()
        matcher.fill_mask(row)
        wall = clock() - began
        if not (int(row[token >> 5]) >> (token & 31)) & 1:
            return times, False
        began = clock()
        matcher.accept(token)
        times.append(wall + clock() - began)
    return times, bool(matcher.is_complete)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    tokenizer = load_tokenizer(options.tokenizer)
    vocabulary = guided.Vocabulary.from_tokenizer(tokenizer)
    clock = time.perf_counter
    began = clock()
    grammar = guided.Grammar.from_lark(
        Path(options.grammar).read_text("utf-8"), start=options.start
    )
    read = clock()
    automaton = grammar.compile(vocabulary)
    automaton.matcher().fill_mask(np.zeros(vocabulary.words, np.int32))
    first = clock()
    times: list[int] = []
    accepted = 0
    for text in sources(options.files, options.seed):
        taken, complete = walk(automaton, tokenizer.encode(text, add_special_tokens=False))
        times += taken
        accepted += complete
    microseconds = np.array(times) / 1e3
    return {
        "read_ms": round((read - began) * 1e3, 1),
        "first_mask_ms": round((first - read) * 1e3, 1),
        "files": options.files,
        "files_accepted": accepted,
        "tokens": len(times),
        "mean_us": round(float(microseconds.mean()), 1),
        **{
            f"p{share:g}_us": round(float(np.percentile(microseconds, share)), 1)
            for share in (50, 90, 99, 99.9)
        },
        "states": automaton.stats()["states"],
        "megabytes": automaton.stats()["bytes"] >> 20,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    about = {"commit": record.commit(), **record.hardware(), **record.versions(["lark"])}
    print(json.dumps({**about, **measure(options)}))


if __name__ == "__main__":
    main()
