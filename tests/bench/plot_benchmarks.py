"""Draw what benchmarks printed: `python tests/bench/plot_benchmarks.py FOLDER MASKS DECODE`.

MASKS and DECODE are files with the JSON line of `bench_masks.py` and of `bench_decode.py`. Writes
`masks.svg` (times of masks and of first masks, by percentile) and `decode.svg` (tokens a second)
into the folder.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

COLOURS = {"guided": "#c44", "llguidance": "#48a", "xgrammar": "#383"}
POINTS = ("p50", "p90", "p99", "p99.9", "max")


def plot_masks(found: dict[str, Any], path: Path) -> None:
    """Percentiles of a mask with its accept, and of first masks."""
    pyplot = import_module("matplotlib.pyplot")
    figure, parts = pyplot.subplots(1, 2, figsize=(8, 3.2))
    for part, kind, title in zip(
        parts, ("token_us", "first_mask_us"), ("mask and accept", "first mask"), strict=True
    ):
        for name, engine in found["engines"].items():
            times = engine[kind]
            heights = [times[point] for point in POINTS]
            label = f"{name} (mean {times['mean']:,.0f} us)"
            part.plot(POINTS, heights, "o-", color=COLOURS[name], ms=4, lw=1.2, label=label)
        part.set_yscale("log")
        part.set_title(title, fontsize=10)
        part.legend(frameon=False, fontsize=8)
    parts[0].set_ylabel("microseconds")
    save(figure, path)


def plot_decode(found: dict[str, Any], path: Path) -> None:
    """Tokens a second by dtype, one group of bars a case."""
    pyplot = import_module("matplotlib.pyplot")
    rows = [row for row in found["rows"] if row["dtype"] != "GGUF" and "failure" not in row]
    dtypes = list(dict.fromkeys(row["dtype"] for row in rows))
    figure, parts = pyplot.subplots(1, len(dtypes), figsize=(8, 3.2), squeeze=False)
    for part, dtype in zip(parts[0], dtypes, strict=True):
        here = [row for row in rows if row["dtype"] == dtype]
        cases = list(dict.fromkeys(row["case"] for row in here))
        names = list(dict.fromkeys(row["engine"] for row in here))
        for index, name in enumerate(names):
            speeds = {
                row["case"]: row["tokens_per_second"] for row in here if row["engine"] == name
            }
            places = [place + 0.27 * (index - (len(names) - 1) / 2) for place in range(len(cases))]
            heights = [speeds.get(case, 0.0) for case in cases]
            colour = next(colour for engine, colour in COLOURS.items() if engine in name)
            part.bar(places, heights, width=0.25, color=colour, label=name)
        part.set_xticks(range(len(cases)), cases, fontsize=7)
        part.set_title(dtype, fontsize=10)
    parts[0][0].set_ylabel("tokens a second")
    parts[0][0].legend(frameon=False, fontsize=8)
    save(figure, path)


def save(figure: Any, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("masks", type=Path, help="output of bench_masks.py")
    parser.add_argument("decode", type=Path, help="output of bench_decode.py")
    options = parser.parse_args(arguments)
    plot_masks(json.loads(options.masks.read_text()), options.folder / "masks.svg")
    plot_decode(json.loads(options.decode.read_text()), options.folder / "decode.svg")


if __name__ == "__main__":
    main()
