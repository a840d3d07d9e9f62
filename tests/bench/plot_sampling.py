"""What top-k, top-p and min-p make of real next-token distributions: figures and a JSON line.

    python tests/bench/plot_sampling.py [--figures docs/figures]

The default model reads some texts; at each token of theirs its distribution of the next one is cut
by each option, at several temperatures. Needs the extras demo and bench.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

import guided
from guided.sampling import warp
from tests.bench.record import commit, hardware, versions

TEXTS = [
    "Water boils at one hundred degrees Celsius at sea level. On a high mountain the air presses"
    " less, so it boils sooner, and an egg takes longer to cook. The highest mountain on Earth is"
    " Mount Everest, which stands on the border of Nepal and China.",
    "The old woman closed the door behind her and listened. Nothing moved in the house. She had"
    " not been here since the summer her brother left, and yet the smell of the hall was the same:"
    ' dust, apples, and something she could not name. "Who is there?" she whispered.',
    "def mean(numbers):\n    total = 0\n    for number in numbers:\n        total += number\n"
    "    return total / len(numbers)\n\n\nclass Stack:\n    def __init__(self):\n"
    "        self.items = []\n\n    def push(self, item):\n        self.items.append(item)\n",
    '{"name": "Ada Lovelace", "born": 1815, "died": 1852, "fields": ["mathematics", "computing"],'
    ' "known_for": "notes on the analytical engine", "children": 3}',
    "Dear Mr. Smith, thank you for your letter of the third of May. I am sorry to hear that the"
    " parcel did not arrive. We have asked the carrier to look for it, and will send you another"
    " one at no cost if it is not found within a week.",
    "My three favourite things about the sea are the light in the morning, the sound of the gulls"
    " and the way that nobody asks what you are thinking about when you look at it.",
]
CUTS: Mapping[str, Mapping[str, Any]] = {
    "top-k 50": {"top_k": 50},
    "top-p 0.9": {"top_p": 0.9},
    "min-p 0.1": {"min_p": 0.1},
    "no cut": {},
}
COLOURS = {
    "top-k 50": "#b5543a",
    "top-p 0.9": "#2f6db3",
    "min-p 0.1": "#3a8f5c",
    "no cut": "#777777",
}
TEMPERATURES = [0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0]
ODD = 1e-3  # a token that the model itself gives less than this is called odd
EXAMPLES = ["The capital of France is the city of", "My favourite thing is"]
BINS = [0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]  # of entropy, in nats


def next_logits(model: guided.Model, text: str) -> Tensor:
    """Return the logits after each token of a text, (T, V) float64."""
    tokens = torch.tensor([model.tokenizer.encode(text)])
    assert isinstance(model.network, PreTrainedModel)
    with torch.inference_mode():
        logits: Tensor = model.network(input_ids=tokens).logits[0]
    return logits.double()


def entropies(logits: Tensor) -> Tensor:
    """Return the entropy of each row in nats: (T, V) -> (T,)."""
    chances = logits.softmax(-1)
    surprises: Tensor = -torch.special.xlogy(chances, chances)  # (T, V), weighted
    return surprises.sum(-1)


def cut(logits: Tensor, temperature: float, option: Mapping[str, Any]) -> tuple[Tensor, Tensor]:
    """Return the ids that are kept of one row (V,), and their probabilities."""
    options = guided.Sampling(temperature=temperature, **option)
    return warp(torch.arange(len(logits)), logits, options)


def measure(logits: Tensor) -> dict[str, list[dict[str, Any]]]:
    """Say for each cut and temperature how much is kept, and how often an odd token is drawn."""
    raw = logits.softmax(-1)  # (T, V)
    found: dict[str, list[dict[str, Any]]] = {}
    for name, option in CUTS.items():
        found[name] = []
        for temperature in TEMPERATURES:
            sizes, odd = [], []
            for row, chances in zip(logits, raw, strict=True):
                ids, probabilities = cut(row, temperature, option)
                sizes.append(len(ids))
                odd.append(float(probabilities[chances[ids] < ODD].sum()))
            counts = torch.tensor(sizes, dtype=torch.float64)
            found[name].append(
                {
                    "temperature": temperature,
                    "median_kept": float(counts.median()),
                    "p90_kept": float(counts.quantile(0.9)),
                    "single": float((counts == 1).double().mean()),
                    "odd": sum(odd) / len(odd),
                    "sizes": sizes,
                }
            )
    return found


def by_entropy(sizes: list[int], entropy: Tensor) -> list[tuple[float, float, float, float]]:
    """Return middle of the bin, and 10th, 50th and 90th percentile of the sizes in it."""
    counts, rows = torch.tensor(sizes, dtype=torch.float64), []
    for low, high in itertools.pairwise(BINS):
        part = counts[(entropy >= low) & (entropy < high)]
        if len(part) >= 5:
            quantiles = part.quantile(torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64))
            rows.append(((low + high) / 2, *quantiles.tolist()))
    return rows


def plot_kept(axes: Any, found: dict[str, list[dict[str, Any]]], entropy: Tensor) -> None:
    """Draw how many tokens are kept at temperature 1, by the entropy of the model."""
    place = TEMPERATURES.index(1.0)
    for name in list(CUTS)[:3]:
        rows = by_entropy(found[name][place]["sizes"], entropy)
        middles, low, median, high = zip(*rows, strict=True)
        axes.plot(middles, median, color=COLOURS[name], label=name, marker="o", markersize=3)
        axes.fill_between(middles, low, high, color=COLOURS[name], alpha=0.15, linewidth=0)
    axes.set(
        yscale="log",
        xlabel="entropy of the model (nats)",
        ylabel="tokens kept",
        title="Tokens kept at temperature 1: median, 10 to 90 %",
    )
    axes.legend(frameon=False)


def plot_odd(axes: Any, found: dict[str, list[dict[str, Any]]], entropy: Tensor) -> None:
    """Draw how often an odd token is drawn, by temperature."""
    for name in CUTS:
        odd = [max(row["odd"], 1e-6) for row in found[name]]
        axes.plot(TEMPERATURES, odd, color=COLOURS[name], label=name, marker="o", markersize=3)
    axes.set(
        yscale="log",
        ylim=(1e-4, 1),
        xlabel="temperature",
        ylabel=f"chance of a token below {ODD:g}",
        title="Tokens that the model itself finds unlikely",
    )
    axes.legend(frameon=False)


def plot_examples(figure: Any, rows: Mapping[str, Tensor]) -> dict[str, Any]:
    """Draw the most likely tokens of two prompts, and how far each cut goes; return the numbers."""
    numbers = {}
    places = torch.tensor(sorted({int(10 ** (step / 23)) for step in range(80)}))  # ranks from 1
    drawings = figure.subplots(1, len(rows), sharey=True)
    for axes, (prompt, logits) in zip(drawings, rows.items(), strict=True):
        likely = logits.softmax(-1).sort(descending=True).values
        axes.plot(places.tolist(), likely[places - 1].tolist(), color="#333333", linewidth=1)
        sizes = {name: len(cut(logits, 1.0, CUTS[name])[0]) for name in list(CUTS)[:3]}
        for name, size in sizes.items():
            dashes = "--" if name == "min-p 0.1" else "-"  # lines may lie upon each other
            axes.axvline(size + 0.5, color=COLOURS[name], ls=dashes, label=f"{name}: {size}")
        axes.set(xscale="log", yscale="log", xlabel="rank of the token", title=f'"{prompt} ..."')
        axes.title.set_fontsize(9)
        axes.legend(frameon=False, loc="lower left")
        numbers[prompt] = sizes | {"largest": float(likely[0])}
    figure.axes[0].set_ylabel("probability")
    return numbers


def save(figure: Any, path: Path) -> None:
    """Write an SVG whose text stays text and that is the same each time."""
    for axes in figure.axes:
        axes.minorticks_off()
    figure.savefig(path, metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    svg = path.read_text(encoding="utf-8")
    path.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8")


def plot_all(folder: Path, found: Any, entropy: Tensor, rows: Mapping[str, Tensor]) -> Any:
    """Write the three figures; return the numbers of the third."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "guided", "font.size": 9}
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    drawings: dict[str, Callable[[Any, Any, Tensor], None]] = {
        "sampling-kept.svg": plot_kept,
        "sampling-temperature.svg": plot_odd,
    }
    for name, draw in drawings.items():
        figure = Figure(figsize=(5.2, 3.4))
        draw(figure.subplots(), found, entropy)
        save(figure, folder / name)
    figure = Figure(figsize=(8, 3.2))
    numbers = plot_examples(figure, rows)
    save(figure, folder / "sampling-examples.svg")
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--figures", type=Path, default=Path("docs/figures"))
    options = parser.parse_args()
    model = guided.load()
    logits = torch.cat([next_logits(model, text) for text in TEXTS])  # (T, V)
    found, entropy = measure(logits), entropies(logits)
    rows = {prompt: next_logits(model, prompt)[-1] for prompt in EXAMPLES}
    examples = plot_all(options.figures, found, entropy, rows)
    for part in found.values():
        for row in part:
            del row["sizes"]
    result = {
        "commit": commit(),
        "hardware": hardware(),
        "versions": versions(["torch", "transformers", "matplotlib"]),
        "positions": len(logits),
        "entropy_quartiles": entropy.quantile(
            torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64)
        ).tolist(),
        "cuts": found,
        "examples": examples,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
