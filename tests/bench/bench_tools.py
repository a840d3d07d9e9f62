"""From tools to the first mask: `python tests/bench/bench_tools.py --tokenizer FOLDER`.

Sets of tools that were never seen, each with an object of seven parameters, in several formats of
calls. Prints milliseconds, medians of `--repeats` sets, as one JSON line; `fresh` is the first set
of a process, which waits for imports besides.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # so that this file also runs as a script

import guided  # noqa: E402 (after the path is set)
from tests.bench import record  # noqa: E402
from tests.bench.engines import load_tokenizer, width  # noqa: E402


def make_tools(count: int, seed: int) -> list[dict[str, Any]]:
    """Return tools as the OpenAI API has them, other ones for each seed."""
    return [
        {
            "type": "function",
            "function": {
                "name": f"tool_{seed}_{number}",
                "description": "Does what its name says.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        f"name_{seed}_{number}": {"type": "string", "maxLength": 40 + number},
                        "count": {"type": "integer", "minimum": 0, "maximum": 1_000 + seed},
                        "share": {"type": "number"},
                        "unit": {"enum": ["metre", "foot", f"unit {number}"]},
                        "day": {"type": "string", "format": "date"},
                        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
                        "deep": {"type": "object", "properties": {"on": {"type": "boolean"}}},
                    },
                    "required": [f"name_{seed}_{number}", "count"],
                    "additionalProperties": False,
                },
            },
        }
        for number in range(count)
    ]


def first_mask(vocabulary: guided.Vocabulary, tools: list[dict[str, Any]], form: str) -> float:
    """Return the milliseconds from tools to the first mask."""
    row = np.zeros(vocabulary.words, np.int32)  # (W,)
    start = perf_counter()
    grammar = guided.Grammar.from_tools(tools, format=form, tool_choice="required")
    grammar.compile(vocabulary).matcher().fill_mask(row)
    return 1e3 * (perf_counter() - start)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokenizer", required=True, help="folder of a tokenizer")
    parser.add_argument("--counts", default="1,10,50")
    parser.add_argument("--formats", default="hermes,llama-3.1-json,qwen3-coder-xml,llama-pythonic")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--fresh", action="store_true", help="measure the first set, and no more")
    options = parser.parse_args(arguments)
    tokenizer = load_tokenizer(options.tokenizer)
    vocabulary = guided.Vocabulary.from_tokenizer(tokenizer, size=width(tokenizer))
    formats = options.formats.split(",")
    if unknown := set(formats) - set(guided.tool_formats()):
        parser.error(f"no such format: {', '.join(sorted(unknown))}")
    counts = [int(count) for count in options.counts.split(",")]
    if options.fresh:
        print(first_mask(vocabulary, make_tools(counts[-1], 0), formats[0]))
        return
    rows = []
    for form in formats:
        first_mask(vocabulary, make_tools(1, 0), form)  # modules are loaded
        for count in counts:
            seeds = range(1, options.repeats + 1)
            times = [first_mask(vocabulary, make_tools(count, seed), form) for seed in seeds]
            rows.append({"format": form, "tools": count, "ms": round(median(times), 2)})
    command = [sys.executable, __file__, "--tokenizer", options.tokenizer, "--fresh"]
    command += ["--counts", str(counts[-1]), "--formats", formats[0]]
    fresh = [
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(3)
    ]
    results = {
        **record.about("tools", ["transformers"]),
        "fresh": {"format": formats[0], "tools": counts[-1], "ms": round(median(fresh), 2)},
        "rows": rows,
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
