"""The main job on the small default model: JSON for a class, a time of day, a choice.

    python examples/demo.py

The first run converts the model into the cache folder, which takes half a minute.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

import guided

RECIPE: Any
try:
    from pydantic import BaseModel, ConfigDict, Field

    class Recipe(BaseModel):
        """What is asked for, as a class."""

        model_config = ConfigDict(extra="forbid")
        title: str = Field(max_length=40)
        minutes: int = Field(ge=5, le=120)
        vegetarian: bool
        ingredients: list[str] = Field(min_length=2, max_length=3)

    RECIPE = Recipe
except ImportError:  # the same as a schema
    RECIPE = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "maxLength": 40},
            "minutes": {"type": "integer", "minimum": 5, "maximum": 120},
            "vegetarian": {"type": "boolean"},
            "ingredients": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 2,
                "maxItems": 3,
            },
        },
        "required": ["title", "minutes", "vegetarian", "ingredients"],
        "additionalProperties": False,
    }

TIME = r"([01]\d|2[0-3]):[0-5]\d"
MOODS = [" positive", " negative", " neutral"]


def ask(text: str) -> list[dict[str, str]]:
    """Make chat messages of one question."""
    return [{"role": "user", "content": text}]


def show(title: str, running: guided.Stream) -> guided.Result:
    """Print an output while it comes, then its value and where the time went."""
    print(f"\n{title}\n  ", end="")
    for piece in running:
        print(piece, end="", flush=True)
    result = running.result
    print(f"\n  value  {result.value!r}\n  stats  {result.stats}")
    return result


def main() -> int:
    """Run the three jobs."""
    start = perf_counter()
    model = guided.load()
    print(f"{model} loaded in {perf_counter() - start:.1f} s")

    question = ask(
        "Give me a recipe for pancakes as JSON, with title, minutes, vegetarian and ingredients."
    )
    show("schema=Recipe", guided.stream(model, question, schema=RECIPE, max_tokens=150))
    question = ask("At what time should I have lunch? Answer as HH:MM.")
    show(f"regex={TIME}", guided.stream(model, question, regex=TIME))
    review = 'Review: "The best pancakes I ever had!"\nSentiment:'
    show(f"choices={MOODS}", guided.stream(model, review, choices=MOODS))
    print(f"\n{perf_counter() - start:.1f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
