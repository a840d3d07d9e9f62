"""Batch extraction: many texts to JSON Lines, with a progress bar and resumption.

    python examples/jsonl.py                      # the five texts below, to people.jsonl
    python examples/jsonl.py texts.txt out.jsonl  # one text a line

Stop it with Ctrl-C and start it again: texts whose line is in the output are not run again. The bar
is on standard error, so the output may be /dev/stdout as well.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

import guided

AHEAD = 32  # requests that the engine knows of at a time: as many share its steps

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "born": {"type": "integer", "minimum": 1000, "maximum": 2100},
    },
    "required": ["name", "born"],
    "additionalProperties": False,
}

EXAMPLES = """\
Marie Curie, the chemist, was born in Warsaw in 1867. As JSON: {"name": "Marie Curie", "born": 1867}
Born in 1643, Isaac Newton saw an apple. As JSON: {"name": "Isaac Newton", "born": 1643}
"""

TEXTS = [
    "Ada Lovelace, mathematician, was born in London in 1815.",
    "Grace Hopper was born in New York City in 1906.",
    "Emmy Noether, born in Erlangen in 1882, worked on invariants.",
    "Alan Turing (born 1912) described a machine.",
    "Born in 1903, John von Neumann left Budapest for Princeton.",
]


def finished(path: Path) -> set[int]:
    """Return the numbers of the texts that are in the output, and cut off a torn last line.

    A line is whole if it ends: each is written and flushed at once.
    """
    if not path.is_file():
        return set()
    whole = path.read_bytes()
    whole = whole[: whole.rfind(b"\n") + 1]
    with path.open("r+b") as file:
        file.truncate(len(whole))
    return {json.loads(line)["id"] for line in whole.splitlines()}


def record(number: int, result: guided.Result) -> dict[str, Any]:
    """Make the line of a result; one that was cut short keeps its text."""
    if result.is_complete:
        return {"id": number, "value": result.value}
    return {"id": number, "error": result.finish_reason, "text": result.text}


def extract(
    engine: guided.Engine, texts: Sequence[str], skip: set[int], *, max_tokens: int = 60
) -> Iterator[dict[str, Any]]:
    """Run the texts whose numbers are not in `skip`; yield their lines in order."""
    todo = deque(number for number in range(len(texts)) if number not in skip)
    running: deque[tuple[int, guided.Request]] = deque()
    try:
        while todo or running:
            while todo and len(running) < AHEAD:
                number = todo.popleft()
                prompt = f"{EXAMPLES}{texts[number]} As JSON:"
                request = engine.submit(
                    prompt, schema=SCHEMA, whitespace=" ?", max_tokens=max_tokens
                )
                running.append((number, request))
            number, request = running.popleft()
            yield record(number, request.result())
    finally:  # whoever stops early wants nothing of what is running
        for _, request in running:
            request.cancel()


def run(model: guided.Model, texts: Sequence[str], path: Path) -> int:
    """Extract what is not there yet, show how far it is, and return how many lines were written."""
    skip = finished(path) if path.is_file() else set()
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(file=sys.stderr))
    written = 0
    with guided.Engine(model) as engine, path.open("a", encoding="utf-8") as file, bar:
        task = bar.add_task("texts", total=len(texts), completed=len(skip))
        for line in extract(engine, texts, skip):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
            written += 1
            bar.advance(task)
    return written


def main(arguments: Sequence[str]) -> int:
    """Take the texts from a file or from above, and the name of the output."""
    texts = Path(arguments[0]).read_text(encoding="utf-8").splitlines() if arguments else TEXTS
    path = Path(arguments[1] if len(arguments) > 1 else "people.jsonl")
    try:
        written = run(guided.load(), texts, path)
    except KeyboardInterrupt:
        print("stopped; start it again to go on", file=sys.stderr)
        return 130
    print(f"{written} lines written to {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
