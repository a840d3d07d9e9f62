"""What engines make of each keyword: `python tests/bench/bench_keywords.py`.

Each engine compiles a small schema and is offered texts that fit it and texts that do not, over a
vocabulary in which each byte is a token. Prints one JSON line, and a table on standard error.

enforced: all verdicts are right; refused: the schema is not compiled; ignored: a text that does not
fit is let through; narrowed: a text that fits is not; wrong: both.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # so that this file also runs as a script

from tests.bench import record  # noqa: E402 (after the path is set)
from tests.bench.engines import ENGINES, load_tokenizer  # noqa: E402
from tests.bench.keyword_cases import CASES, KeywordCase  # noqa: E402
from tests.bench.worker import Outcome, Schema, Worker  # noqa: E402

PACKAGES = ["llguidance", "xgrammar", "outlines-core"]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--engines", default="guided,llguidance,xgrammar,outlines", help=f"of {','.join(ENGINES)}")
    add("--only", metavar="REGEX", default="", help="those keywords whose line matches")
    add("--limit", type=float, default=60, help="seconds for an engine on a schema")
    add("--table", metavar="FILE", help="write the table there instead")
    options = parser.parse_args(arguments)
    options.engines = options.engines.split(",")
    if unknown := set(options.engines) - set(ENGINES):
        parser.error(f"no such engine: {', '.join(sorted(unknown))}")
    return options


def save_byte_tokenizer(folder: str) -> None:
    """Write a tokenizer of the 256 bytes and an end token, for all engines to load."""
    tokenizers, transformers = import_module("tokenizers"), import_module("transformers")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    model = tokenizers.models.BPE({letter: id_ for id_, letter in enumerate(letters)}, [])
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<end>"
    ).save_pretrained(folder)


def verdict(case: KeywordCase, outcome: Outcome) -> str:
    """Return what the engine makes of the keyword."""
    if outcome.status != "ok":
        return outcome.status
    accepted = [walk.accepted for walk in outcome.walks]
    narrowed = not all(accepted[: len(case.fit)])
    ignored = any(accepted[len(case.fit) :])
    return {
        (False, False): "enforced",
        (True, False): "narrowed",
        (False, True): "ignored",
        (True, True): "wrong",
    }[narrowed, ignored]


def mistakes(case: KeywordCase, outcome: Outcome) -> list[str]:
    """Return the texts that were judged wrongly, or why there is no verdict."""
    if outcome.status != "ok":
        return [outcome.reason]
    texts = [*case.fit, *case.unfit]
    return [
        text
        for index, (text, walk) in enumerate(zip(texts, outcome.walks, strict=True))
        if walk.accepted != (index < len(case.fit))
    ]


def ask(name: str, folder: str, cases: Sequence[KeywordCase], limit: float) -> dict[str, Any]:
    """Ask one engine about all keywords. ImportError: it is not installed."""
    tokenizer = load_tokenizer(folder)
    worker = Worker(name, folder, None, 0)
    verdicts, wrong = {}, {}
    for case in cases:
        texts = [*case.fit, *case.unfit]
        tokens = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
        outcome = worker.run(Schema(json.dumps(case.schema), tokens), limit)
        verdicts[case.name] = verdict(case, outcome)
        if verdicts[case.name] != "enforced":
            wrong[case.name] = mistakes(case, outcome)
    worker.close()
    counts = {kind: list(verdicts.values()).count(kind) for kind in sorted({*verdicts.values()})}
    return {"counts": counts, "verdicts": verdicts, "wrong": wrong, **worker.about}


def table(cases: Sequence[KeywordCase], engines: dict[str, dict[str, Any]]) -> str:
    """Draw the verdicts as Markdown; what is enforced is a tick, so that the rest is seen."""
    lines = [f"| | {' | '.join(engines)} |", f"|---{'|---' * len(engines)}|"]
    group = ""
    for case in cases:
        if case.group != group:
            group = case.group
            lines.append(f"| **{group}** {'| ' * len(engines)}|")
        found = (engine["verdicts"][case.name] for engine in engines.values())
        shown = ("✓" if kind == "enforced" else kind for kind in found)
        lines.append(f"| {case.name} | {' | '.join(shown)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    cases = [case for case in CASES if re.search(options.only, case.name)]
    engines = {}
    with TemporaryDirectory() as folder:
        save_byte_tokenizer(folder)
        for name in options.engines:
            try:
                engines[name] = ask(name, folder, cases, options.limit)
            except ImportError as error:
                print(f"{name} is left out: {error}", file=sys.stderr, flush=True)
    drawn = table(cases, engines)
    if options.table:
        Path(options.table).write_text(drawn + "\n", encoding="utf-8")
    else:
        print(drawn, file=sys.stderr, flush=True)
    result = {
        **record.about("keywords", PACKAGES),
        "sizes": {
            "keywords": len(cases),
            "texts": sum(len(case.fit) + len(case.unfit) for case in cases),
        },
        "engines": engines,
    }
    print(json.dumps(result, ensure_ascii=False))


if __name__ == "__main__":
    main()
