"""Speculation: the same text with drafts and without, in how many forwards and seconds.

python examples/speculation.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Literal

import guided

SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "maxLength": 15},
            "country": {"type": "string", "maxLength": 15},
        },
        "required": ["city", "country"],
        "additionalProperties": False,
    },
    "minItems": 3,
    "maxItems": 3,
}
PROMPT = "Three capitals, with their countries, as JSON: "
MODES: list[Literal["off", "auto"]] = ["off", "auto"]


def compare(model: guided.Model, *, max_tokens: int = 120) -> Iterator[tuple[str, guided.Result]]:
    """Write the text in each mode; nothing of one run is kept for the next but the automaton."""
    guided.Grammar.from_json_schema(SCHEMA, whitespace=" ?").compile(model.vocabulary)
    for mode in MODES:
        with guided.Engine(model, speculate=mode) as engine:
            request = engine.submit(PROMPT, schema=SCHEMA, whitespace=" ?", max_tokens=max_tokens)
            yield mode, request.result()


def main() -> int:
    """Print a table of both modes, and whether the texts are the same."""
    print(f"{'':5} {'forwards':>8} {'tokens':>7} {'seconds':>8} {'tokens/forward':>15}")
    texts = []
    for mode, result in compare(guided.load()):
        stats = result.stats
        seconds = stats.prefill_seconds + stats.decode_seconds
        print(
            f"{mode:5} {stats.forwards:8} {stats.output_tokens:7} {seconds:8.2f}"
            f" {stats.tokens_per_forward:15.2f}"
        )
        texts.append(result.text)
    print(texts[0])
    print("the same text" if len(set(texts)) == 1 else "the texts differ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
