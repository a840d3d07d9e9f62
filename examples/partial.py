"""Partial objects: what is known of an object while the model still writes it.

    python examples/partial.py

Under a schema each prefix of an output can be finished, so it is an object already in which some
things are still missing. A string grows; a number is there when it is whole, as `12` may become
`120`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.pretty import Pretty

import guided

SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 30},
        "minutes": {"type": "integer", "minimum": 1, "maximum": 240},
        "ingredients": {
            "type": "array",
            "items": {"type": "string", "maxLength": 20},
            "minItems": 2,
            "maxItems": 3,
        },
    },
    "required": ["title", "minutes", "ingredients"],
    "additionalProperties": False,
}
QUESTION = [{"role": "user", "content": "A recipe for pancakes as JSON, please."}]


def partial_objects(pieces: Iterator[str]) -> Iterator[Any]:
    """Yield what is known after each piece in which something new came."""
    text, known = "", None
    for piece in pieces:
        text += piece
        value = guided.read_partial_json(text)
        if value != known:
            known = value
            yield value


def main() -> int:
    """Show a recipe while it is written: one line a state, or in place on a terminal."""
    running = guided.stream(guided.load(), QUESTION, schema=SCHEMA, whitespace=" ?", max_tokens=80)
    console = Console()
    if console.is_terminal:
        with Live(console=console) as live:
            for value in partial_objects(running):
                live.update(Pretty(value))
    else:
        for value in partial_objects(running):
            print(json.dumps(value, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
