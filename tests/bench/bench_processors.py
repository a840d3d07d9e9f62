"""What logits processors cost in transformers: `bench_processors.py --tokenizer FOLDER`.

`generate` runs with a tiny random network as wide as the tokenizer, so that it is the processor
whose time shows. All engines write the same texts, one token a call: the logits favour them. Each
call of a processor is timed. Prints one JSON line, and a table on standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # so that this file also runs as a script

import torch  # noqa: E402 (after the path is set)
from torch import Tensor  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM  # noqa: E402

import guided  # noqa: E402
from guided.integrations.transformers import GuidedLogitsProcessor  # noqa: E402
from tests.bench import record  # noqa: E402
from tests.bench.engines import load_tokenizer  # noqa: E402
from tests.bench.engines import width as width_of  # noqa: E402
from tests.bench.summary import quantiles, table  # noqa: E402

Processor = Callable[[Tensor, Tensor], Tensor]
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 80},
            "born": {"type": "integer", "minimum": 0, "maximum": 2100},
            "fields": {"type": "array", "items": {"enum": ["mathematics", "computing", "poetry"]}},
            "notes": {"type": "string"},
        },
        "required": ["name", "born"],
        "additionalProperties": False,
    },
}
NAMES = ["Ada Lovelace", "Emmy Noether", "Grace Hopper", "Sofja Kowalewskaja"]
FIELDS = [["mathematics", "computing"], ["mathematics"], ["computing"], ["poetry", "mathematics"]]
NOTES = ["She wrote the first program.", "Symmetries give laws.", 'A "bug" in a relay.', ""]
PROMPT = 16  # tokens


def texts(count: int) -> list[str]:
    """JSON texts of the schema that differ from row to row."""
    records = [
        {"name": name, "born": 1800 + 7 * number, "fields": fields, "notes": notes}
        for number, (name, fields, notes) in enumerate(zip(NAMES, FIELDS, NOTES, strict=True))
    ]
    rows = [[records[(row + place) % 4] for place in range(12)] for row in range(count)]
    return [json.dumps(row) for row in rows]


class Script:
    """Logits that favour the next token of each row's text."""

    def __init__(self, tokens: Sequence[Sequence[int]]) -> None:
        self.tokens = torch.tensor(tokens)  # (B, T)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        wanted = self.tokens[:, input_ids.shape[1] - PROMPT]  # (B,)
        return torch.zeros_like(scores).scatter_(1, wanted.unsqueeze(1), 1.0)


class Timed:
    """A processor, and how long each of its calls took."""

    def __init__(self, processor: Processor) -> None:
        self.processor = processor
        self.times_ns: list[int] = []

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        began = time.perf_counter_ns()
        masked = self.processor(input_ids, scores)
        self.times_ns.append(time.perf_counter_ns() - began)
        return masked


def no_mask(tokenizer: Any, width: int) -> Callable[[], Processor]:
    """What calling a processor that does nothing takes."""
    return lambda: lambda input_ids, scores: scores


def guided_masks(tokenizer: Any, width: int) -> Callable[[], Processor]:
    vocabulary = guided.Vocabulary.from_tokenizer(tokenizer, size=width)
    automaton = guided.Grammar.from_json_schema(SCHEMA).compile(vocabulary)
    return lambda: GuidedLogitsProcessor(automaton)


def llguidance_masks(tokenizer: Any, width: int) -> Callable[[], Processor]:
    llguidance = import_module("llguidance")
    masks = import_module("llguidance.torch")
    vocabulary = import_module("llguidance.hf").from_tokenizer(tokenizer, width)
    executor = llguidance.LLExecutor(torch.get_num_threads())
    grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(SCHEMA))

    def make() -> Processor:
        matchers: list[Any] = []
        mask: Any = None

        def process(input_ids: Tensor, scores: Tensor) -> Tensor:
            nonlocal mask
            if not matchers:
                matchers.extend(llguidance.LLMatcher(vocabulary, grammar) for _ in input_ids)
                mask = masks.allocate_token_bitmask(len(input_ids), width)
            else:
                for matcher, token in zip(matchers, input_ids[:, -1].tolist(), strict=True):
                    if not matcher.consume_token(token):
                        raise ValueError(matcher.get_error())
            pairs = [(matcher, row) for row, matcher in enumerate(matchers)]
            masks.fill_next_token_bitmask_par(executor, pairs, mask)
            masks.apply_token_bitmask_inplace(scores, mask)
            return scores

        return process

    return make


def xgrammar_masks(tokenizer: Any, width: int) -> Callable[[], Processor]:
    xgrammar = import_module("xgrammar")
    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=width)
    compiled = xgrammar.GrammarCompiler(info).compile_json_schema(json.dumps(SCHEMA))
    processor = import_module("xgrammar.contrib.hf").LogitsProcessor
    return lambda: processor(compiled)


ENGINES: dict[str, Callable[[Any, int], Callable[[], Processor]]] = {
    "no mask": no_mask,
    "guided": guided_masks,
    "llguidance": llguidance_masks,
    "xgrammar": xgrammar_masks,
}


def tiny_network(width: int) -> Any:
    """A Llama of one layer with random weights."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=width,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        eos_token_id=None,
    )
    return LlamaForCausalLM(config).eval()


def write(network: Any, processor: Timed, script: Script) -> tuple[bool, float]:
    """Write the texts once; return whether they came out, and seconds in all."""
    batch, length = script.tokens.shape
    prompt = torch.full((batch, PROMPT), 5)
    began = time.perf_counter()
    with torch.inference_mode():
        rows = network.generate(
            input_ids=prompt,
            attention_mask=torch.ones_like(prompt),
            logits_processor=[script, processor],
            max_new_tokens=length,
            do_sample=False,
            pad_token_id=0,
            eos_token_id=None,
        )
    return torch.equal(rows[:, PROMPT:], script.tokens), time.perf_counter() - began


def measure(
    options: argparse.Namespace, tokenizer: Any, network: Any, width: int, batch: int
) -> list[dict[str, Any]]:
    """Let the engines take turns at one size of batch."""
    tokens = [tokenizer.encode(text, add_special_tokens=False) for text in texts(batch)]
    length = min(options.tokens, *map(len, tokens))
    script = Script([row[:length] for row in tokens])
    makers: dict[str, Callable[[], Processor]] = {}
    failures: dict[str, str] = {}
    times: dict[str, list[int]] = {}
    seconds: dict[str, float] = {}
    for name in options.engines:
        try:
            makers[name] = ENGINES[name](tokenizer, width)
        except Exception as error:  # a peer that is missing or refuses is a row of the result
            failures[name] = f"{type(error).__name__}: {error}"
    for repeat in range(options.repeats + 1):
        for name, make in makers.items():
            processor = Timed(make())
            came_out, spent = write(network, processor, script)
            if not came_out and name != "no mask":
                failures[name] = "it did not write the texts"
            if repeat:  # the first round is warm-up
                times.setdefault(name, []).extend(processor.times_ns)
                seconds[name] = min(spent, seconds.get(name, spent))
    return [
        {
            "engine": name,
            "batch": batch,
            "calls": len(times.get(name, [])),
            "call_us": quantiles(times.get(name, [])),
            "step_us": round(seconds[name] / length * 1e6, 1) if name in seconds else None,
            "failure": failures.get(name),
        }
        for name in options.engines
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokenizer", help="folder of a tokenizer; without it, the default model")
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--batch", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--tokens", type=int, default=300, help="a text, at most")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    if options.tokenizer is None:
        model = guided.load()
        tokenizer: Any = model.tokenizer
        network: Any = model.network
        width = model.vocabulary.size
    else:
        tokenizer = load_tokenizer(options.tokenizer)
        width = width_of(tokenizer)
        network = tiny_network(width)
    rows = [
        row for batch in options.batch for row in measure(options, tokenizer, network, width, batch)
    ]
    head = ["engine", "batch", "mean, us", "p50, us", "p99, us", "whole step, us"]
    cells = [
        [row["engine"], row["batch"]]
        + [row["call_us"].get(name) for name in ("mean", "p50", "p99")]
        + [row["step_us"]]
        for row in rows
    ]
    print(table(head, cells), file=sys.stderr)
    results = {
        **record.about("processors", ["llguidance", "xgrammar", "torch", "transformers"]),
        "sizes": {"vocabulary": width, "tokens": options.tokens, "repeats": options.repeats},
        "network": "tiny" if options.tokenizer else "the default model",
        "failures": [[row["engine"], row["failure"]] for row in rows if row["failure"]],
        "rows": rows,
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
