"""Expected and measured speed-up by drafts: `python tests/bench/plot_speculation.py FOLDER`.

A drafter that knows the text proposes k tokens, each right with probability r. What comes of it is
measured over the default model in float32 and over its GGUF file in llama.cpp, next to the formula
of docs/speculation.md with the costs of forwards measured in the same run. Not in bfloat16: there a
forward of several rows rounds otherwise, and the text soon is not the one that the drafter knows.
Writes `speculation.svg` into the folder, and prints the figures as one JSON line.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # so that this file also runs as a script

import guided  # noqa: E402 (after the path is set)
from guided.decoding import Job  # noqa: E402
from tests.bench.bench_decode import default_gguf  # noqa: E402
from tests.decoding.simple_drafters import EagerPace  # noqa: E402

PROMPT = "A short history of the lighthouse, in plain words:"
CHANCES, LENGTHS = (0.5, 0.8, 0.95), (1, 2, 4, 8, 16)


class Oracle:
    """Knows what will be written, and proposes it with errors."""

    name, cost = "oracle", 0.0

    def __init__(self, text: list[int]) -> None:
        self.text = text
        self.chance, self.length = 0.0, 0
        self.random = random.Random(0)

    def propose(self, jobs: Sequence[Job], most: Sequence[int]) -> list[guided.Draft]:
        drafts = []
        for job, limit in zip(jobs, most, strict=True):
            draft = guided.Draft()
            for token in self.text[len(job.tokens) :][: min(limit, self.length)]:
                wrong = self.random.random() >= self.chance
                draft.add(token + 1 if wrong else token, len(draft) - 1)
            drafts.append(draft)
        return drafts

    def observe(self, job: Job, tokens: Sequence[int], states: Sequence[int]) -> None:
        pass


class Always(EagerPace):
    """Checks whatever is proposed, and notes what steps take."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: dict[int, list[float]] = {}

    def note_step(self, jobs: int, rows: int, seconds: float) -> None:
        self.steps.setdefault(rows, []).append(seconds)


def expected(chance: float, length: int) -> float:
    """Tokens that a forward writes: the accepted ones and the one after them."""
    return (1 - chance ** (length + 1)) / (1 - chance)


def measure(name: str, model: guided.Model, tokens: int) -> dict[str, Any]:
    """Time texts with drafts of each length and chance, and without."""
    plain = guided.Engine(model, speculate="off", memory=128 << 20)
    text = plain.submit(PROMPT, max_tokens=tokens).result().tokens
    oracle = Oracle(text)
    engine = guided.Engine(model, speculate=[oracle], memory=128 << 20)
    loop = engine._driver.loop
    loop.speculator.pace = pace = Always()

    def once() -> float:
        loop.speculator._busy = -(10**6)  # no step without drafts in between
        start = perf_counter()
        engine.submit(PROMPT, max_tokens=tokens).result()
        return perf_counter() - start

    def rate(chance: float, length: int) -> float:
        oracle.chance, oracle.length = chance, length
        return tokens / median(once() for _ in range(3))

    rate(0.0, 0)
    pace.steps.clear()
    base = rate(0.0, 0)
    points = [
        {"chance": chance, "length": length, "speed": rate(chance, length) / base}
        for chance in CHANCES
        for length in LENGTHS
    ]
    costs = {rows: median(seconds) for rows, seconds in sorted(pace.steps.items())}
    for point in points:
        cost = costs[1 + int(point["length"])] / costs[1]
        point["expected"] = expected(point["chance"], int(point["length"])) / cost
    return {
        "model": name,
        "tokens_per_second": base,
        "costs": {rows: seconds / costs[1] for rows, seconds in costs.items()},
        "points": points,
    }


def plot(found: Sequence[dict[str, Any]], path: Path) -> None:
    pyplot = import_module("matplotlib.pyplot")
    figure, parts = pyplot.subplots(1, len(found), figsize=(8, 3.4), sharey=True)
    for part, result in zip(parts, found, strict=True):
        for colour, chance in zip(("#c44", "#48a", "#383"), CHANCES, strict=True):
            points = [point for point in result["points"] if point["chance"] == chance]
            lengths = [point["length"] for point in points]
            part.plot(lengths, [point["expected"] for point in points], color=colour, lw=1)
            speeds = [point["speed"] for point in points]
            part.plot(lengths, speeds, "o", color=colour, ms=4, label=f"r = {chance}")
        part.axhline(1, color="#888", lw=0.6)
        part.set_xscale("log", base=2)
        part.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
        part.set_title(result["model"], fontsize=10)
        part.set_xlabel("k, tokens of a draft")
    parts[0].set_ylabel("speed-up")
    parts[0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--gguf", default=default_gguf())
    options = parser.parse_args()
    torch = import_module("torch")
    model = guided.load(dtype=torch.float32)
    found = [measure("float32", model, options.tokens)]
    if options.gguf:
        found.append(measure("llama.cpp, Q4_1", guided.load(options.gguf), options.tokens))
    print(json.dumps({"figure": "speculation", "results": found}), flush=True)
    matplotlib = import_module("matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "guided"
    plot(found, options.folder / "speculation.svg")


if __name__ == "__main__":
    main()
