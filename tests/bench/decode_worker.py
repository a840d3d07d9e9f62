"""A process of `bench_decode.py`: loads one engine, then answers lines of JSON by lines of JSON."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.bench.decode_engines import ENGINES


def fact(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"


def main(name: str, source: str, dtype: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer

    def answer(value: dict[str, Any]) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        engine = ENGINES[name](source or None, dtype or None)
    except Exception as error:  # a failure is a row of the result
        answer({"failure": fact(error)})
        return
    answer({})
    for line in sys.stdin:
        try:
            answer(asdict(engine.run(**json.loads(line))))
        except Exception as error:
            answer({"failure": fact(error)})


if __name__ == "__main__":
    main(*sys.argv[1:])
