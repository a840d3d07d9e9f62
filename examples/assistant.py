"""An assistant with two real tools: the model calls a function, the function answers.

    python examples/assistant.py

The grammar sees to it that a call names a tool that exists, with arguments of its types. Which
tool, and which arguments, the model chooses: look at what a small one makes of it.
"""

from __future__ import annotations

import sys
from datetime import date
from typing import Any, Literal

import guided

Unit = Literal["m", "km", "mile", "foot"]
METRES: dict[Unit, float] = {"m": 1.0, "km": 1000.0, "mile": 1609.344, "foot": 0.3048}

QUESTIONS = [
    "How many miles are 42 km? Use convert_length.",
    "How many days are there from 2024-02-01 to 2024-03-01? Use days_between.",
]


def convert_length(value: float, source: Unit, target: Unit) -> float:
    """Converts a length from one unit to another.

    Args:
        value: the length to convert
        source: its unit
        target: the unit wanted
    """
    return round(value * METRES[source] / METRES[target], 3)


def days_between(first: date, last: date) -> int:
    """Counts the days from one date to another.

    Args:
        first: the earlier date
        last: the later date
    """
    return (last - first).days


def answer(model: guided.Model, question: str, *, max_tokens: int = 120) -> list[tuple[str, Any]]:
    """Return what was called, as text, and what came of it.

    A call that was cut short by `max_tokens` is not made.
    """
    result = guided.generate(
        model,
        [{"role": "user", "content": question}],
        tools=[convert_length, days_between],
        tool_choice="required",
        parallel_calls=False,
        max_tokens=max_tokens,
    )
    made: list[tuple[str, Any]] = []
    for call in result.calls:
        arguments = ", ".join(f"{name}={value}" for name, value in call.value.items())
        made.append((f"{call.name}({arguments})", call()))
    return made


def main() -> int:
    """Ask the questions above."""
    model = guided.load()
    for question in QUESTIONS:
        print(question)
        for called, outcome in answer(model, question):
            print(f"  {called}\n  {outcome}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
