"""What drafts are worth: `python tests/bench/bench_speculate.py --corpus tool-calls.jsonl`.

Tool calls and extractions, greedy, each prompt under a grammar of its own: the sources of drafts of
guided one by one and together, next to guided without drafts and to transformers' `generate` with
llguidance's logits processor; the same on a GGUF file next to llama.cpp under its own grammar. All
run in one process and take turns prompt by prompt, so that a slow minute is slow for all. Writing
is all but the forward that reads the prompt, which no draft makes quicker. Prints one JSON line,
and a table on standard error. See docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # so that this file also runs as a script

import guided  # noqa: E402 (after the path is set)
from tests.bench import record  # noqa: E402
from tests.bench.bench_decode import default_gguf, write_prompt  # noqa: E402
from tests.bench.decode_engines import LlamaCpp, StockLlguidance  # noqa: E402
from tests.bench.summary import table  # noqa: E402

PACKAGES = ("torch", "transformers", "llguidance", "llama-cpp-python")
SOURCES = ("off", "forced", "prompt", "states", "lookahead", "layers", "auto")
ALL, WRITING = "tokens_per_second", "writing_tokens_per_second"
MEMORY = 256 << 20  # bytes of cache of each engine


@dataclass(frozen=True, slots=True)
class Task:
    """A prompt, and what its output must fit; None: free text."""

    prompt: str
    schema: dict[str, Any] | None


Write: TypeAlias = Callable[[Sequence[Task], int, "Sum"], None]


@dataclass(slots=True)
class Sum:
    """What a contestant did in all tasks.

    Attributes:
        seconds: from the prompt to the end of the text.
        prompt_seconds: of these, the forward that reads the prompt; of a batch, until the last
            prompt is read.
        drafts: tokens by the source that guessed them, and how many of them were accepted.
    """

    seconds: float = 0.0
    prompt_seconds: float = 0.0
    tokens: int = 0
    forwards: int = 0
    texts: list[list[int]] = field(default_factory=list)
    drafts: dict[str, tuple[int, int]] = field(default_factory=dict)


def call_tasks(corpus: Path) -> list[Task]:
    """A tool call for each request of the corpus."""
    tasks = []
    for line in corpus.read_text().splitlines():
        case = json.loads(line)
        tools = json.dumps(
            [
                {key: tool[key] for key in ("name", "description", "parameters")}
                for tool in case["tools"]
            ]
        )
        calls = [
            {
                "type": "object",
                "properties": {
                    "name": {"const": tool["name"]},
                    "arguments": without_definitions(tool["parameters"]),
                },
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
            for tool in case["tools"]
        ]
        shared: dict[str, Any] = {}  # what references of the parameters point at, from the root
        for tool in case["tools"]:
            shared |= tool["parameters"].get("$defs", {})
        prompt = (
            f"You can call these functions: {tools}\nUser: {case['request']}\n"
            "Answer with the call as JSON, with name and arguments.\nCall: "
        )
        schema = calls[0] if len(calls) == 1 else {"anyOf": calls}
        tasks.append(Task(prompt, {**schema, "$defs": shared}))
    return tasks


def without_definitions(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$defs"}


def extraction_tasks(corpus: Path, count: int) -> list[Task]:
    """Texts that state the arguments of calls, which are to be read out of them again."""
    tasks = []
    for line in corpus.read_text().splitlines():
        case = json.loads(line)
        parameters = {tool["name"]: tool["parameters"] for tool in case["tools"]}
        for call in case["calls"][:1]:
            if call["arguments"]:
                facts = ", ".join(f"{key} {value}" for key, value in call["arguments"].items())
                prompt = f"{case['request']} The facts are: {facts}.\nThe facts as JSON: "
                tasks.append(Task(prompt, parameters[call["name"]]))
    return tasks[:count]


class Ours:
    """guided with one choice of drafts."""

    def __init__(self, model: guided.Model, speculate: Any) -> None:
        self.engine = guided.Engine(model, memory=MEMORY, max_batch=8, speculate=speculate)

    def run(self, tasks: Sequence[Task], tokens: int, total: Sum) -> None:
        start = perf_counter()
        requests = [
            self.engine.submit(task.prompt, grammar=compact(task), max_tokens=tokens)
            for task in tasks
        ]
        self.engine.run()
        results = [request.result() for request in requests]
        total.seconds += perf_counter() - start
        total.prompt_seconds += max(result.stats.prefill_seconds for result in results)
        total.tokens += sum(len(result.tokens) for result in results)
        total.forwards += max(result.stats.forwards for result in results)
        total.texts += [result.tokens for result in results]
        total.drafts = self.engine.stats().drafts


def compact(task: Task) -> guided.Grammar | None:
    if task.schema is None:
        return None
    return guided.Grammar.from_json_schema(task.schema, whitespace="compact", formats="annotate")


class Stock(StockLlguidance):
    """transformers' `generate` on the same weights."""

    def __init__(self, model: guided.Model) -> None:
        self.torch = import_module("torch")
        self.network, self.tokenizer = model.network, model.tokenizer
        self.tokenizer.padding_side = "left"
        self.tokenizer.pad_token = self.tokenizer.pad_token or self.tokenizer.eos_token
        self.width = model.vocabulary.size
        self.prepare()

    def run(self, tasks: Sequence[Task], tokens: int, total: Sum) -> None:  # type: ignore[override]
        start = perf_counter()
        inputs = self.tokenizer([task.prompt for task in tasks], return_tensors="pt", padding=True)
        processors = [] if tasks[0].schema is None else [self.process(tasks, total)]
        with self.torch.inference_mode():
            found = self.network.generate(
                **inputs,
                max_new_tokens=tokens,
                do_sample=False,
                logits_processor=processors,
                pad_token_id=self.tokenizer.pad_token_id,
            )
        total.seconds += perf_counter() - start
        length = inputs["input_ids"].shape[1]
        ends = {self.tokenizer.eos_token_id, self.tokenizer.pad_token_id}
        texts = [
            [token for token in row if token not in ends] for row in found[:, length:].tolist()
        ]
        total.tokens += sum(map(len, texts))
        total.forwards += found.shape[1] - length
        total.texts += texts

    def process(self, tasks: Sequence[Task], total: Sum) -> Callable[[Any, Any], Any]:
        """A logits processor for a batch under several grammars."""
        matchers = []
        for task in tasks:
            matchers.append(self.matcher(stock_grammar(task)))
        mask = self.masks.allocate_token_bitmask(len(matchers), self.width)
        is_first = True
        start = perf_counter()

        def process(ids: Any, scores: Any) -> Any:
            nonlocal is_first
            if is_first:
                total.prompt_seconds += perf_counter() - start
                is_first = False
            else:
                for matcher, token in zip(matchers, ids[:, -1].tolist(), strict=True):
                    if not matcher.is_stopped():
                        matcher.consume_token(token)
            for row, matcher in enumerate(matchers):
                self.masks.fill_next_token_bitmask(matcher, mask, row)
            self.masks.apply_token_bitmask_inplace(scores, mask)
            return scores

        return process


def stock_grammar(task: Task) -> str:
    """Write the schema of a task as llguidance reads it."""
    schema = {**(task.schema or {}), "x-guidance": {"whitespace_flexible": False}}
    grammar: str = import_module("llguidance").LLMatcher.grammar_from_json_schema(schema)
    return grammar


def stock_reads(task: Task) -> bool:
    """Whether llguidance knows all keywords of a schema; in an unknown one it writes nothing."""
    return not import_module("llguidance").LLMatcher.validate_grammar(stock_grammar(task))


class Llama(LlamaCpp):
    """llama.cpp under the grammar that it makes of a schema."""

    def __init__(self, path: str) -> None:
        super().__init__(path, None)
        self.convert = import_module("llama_cpp.llama_grammar").json_schema_to_gbnf
        self.schema: dict[str, Any] | None = None

    def sampler(self, schema: str | None) -> Any:
        chain = self.llama.llama_sampler_chain_init(self.llama.llama_sampler_chain_default_params())
        if self.schema is not None:
            grammar = self.convert(json.dumps(self.schema)).encode()
            part = self.llama.llama_sampler_init_grammar(self.vocab, grammar, b"root")
            if not part:
                raise ValueError("llama.cpp cannot read the grammar that it made")
            self.llama.llama_sampler_chain_add(chain, part)
        self.llama.llama_sampler_chain_add(chain, self.llama.llama_sampler_init_greedy())
        return chain

    def can_read(self, task: Task) -> bool:
        """Whether the grammar that it makes of a schema is one that it can read."""
        self.schema = task.schema
        try:
            self.llama.llama_sampler_free(self.sampler(None))
        except Exception:  # of any kind: it is another program's
            return False
        return True

    def write(self, task: Task, tokens: int, total: Sum) -> None:
        """Write one text, up to its end."""
        llama = self.llama
        text = self.encode(task.prompt)
        self.schema = task.schema
        context = self.context(1, len(text) + tokens)
        batch = llama.llama_batch_init(len(text), 0, 1)
        start = perf_counter()  # a context is not made for each request
        sampler = self.sampler(None)
        rows = [(0, place, token) for place, token in enumerate(text)]
        written: list[int] = []
        while len(written) < tokens:
            self.fill(batch, rows)
            begin = perf_counter()
            self.decode(context, batch)
            if not written:
                total.prompt_seconds += perf_counter() - begin
            total.forwards += 1
            token = llama.llama_sampler_sample(sampler, context, -1)
            if llama.llama_vocab_is_eog(self.vocab, token):
                break
            written.append(token)
            rows = [(0, len(text) + len(written) - 1, token)]
        total.seconds += perf_counter() - start
        total.tokens += len(written)
        total.texts.append(written)
        llama.llama_sampler_free(sampler)
        llama.llama_batch_free(batch)
        llama.llama_free(context)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the benchmark: who writes what.

    Attributes:
        run: by the name of a contestant, what writes a batch of tasks.
    """

    name: str
    run: dict[str, Write]
    batches: Sequence[Sequence[Task]]


def measure(part: Part, tokens: int) -> list[dict[str, Any]]:
    """Let all take turns, batch by batch, each time in another order; return a row for each."""
    sums = {name: Sum() for name in part.run}
    warm = part.batches[0]
    for run in part.run.values():
        run(warm, 4, Sum())
    chance = random.Random(0)
    for number, batch in enumerate(part.batches):
        for name in chance.sample(list(part.run), len(part.run)):
            part.run[name](batch, tokens, sums[name])
        print(f"{part.name}: {number + 1} of {len(part.batches)}", file=sys.stderr)
    plain = sums.get("off")
    rows = []
    for name, total in sums.items():
        same = None
        if plain is not None and name != "stock":
            same = sum(a == b for a, b in zip(plain.texts, total.texts, strict=True))
        rows.append(
            {
                "part": part.name,
                "drafts": name,
                "tokens": total.tokens,
                ALL: total.tokens / total.seconds,
                WRITING: total.tokens / (total.seconds - total.prompt_seconds),
                "tokens_per_forward": total.tokens / total.forwards,
                "same_as_off": same,
                "texts": len(total.texts),
                "sources": total.drafts,
            }
        )
    return rows


def draw(rows: Sequence[dict[str, Any]]) -> str:
    head = ["part", "drafts", "tokens/s", "to stock", "to off", "writing tokens/s", "to stock",
            "tokens/forward", "same as off"]  # fmt: skip
    lines = []
    for row in rows:
        same = None if row["same_as_off"] is None else f"{row['same_as_off']} of {row['texts']}"
        lines.append([
            row["part"], row["drafts"],
            round(row[ALL], 1), ratio(rows, row, ALL, "stock"), ratio(rows, row, ALL, "off"),
            round(row[WRITING], 1), ratio(rows, row, WRITING, "stock"),
            round(row["tokens_per_forward"], 2), same,
        ])  # fmt: skip
    return table(head, lines)


def ratio(rows: Sequence[dict[str, Any]], row: dict[str, Any], speed: str, to: str) -> float | None:
    """Divide a speed of a row by that of another contestant in its part, if it is there."""
    for other in rows:
        if (other["part"], other["drafts"]) == (row["part"], to):
            return round(float(row[speed] / other[speed]), 2)
    return None


def cut(tasks: Sequence[Task], size: int) -> list[Sequence[Task]]:
    return [tasks[start : start + size] for start in range(0, len(tasks), size)]


def free_tasks(count: int) -> list[Task]:
    """Prompts for free text: of the kind that a look-up finds nothing in, and some."""
    return [Task(f"{write_prompt(40, f'free {n}')}\nTell a story: ", None) for n in range(count)]


def parts_of(options: argparse.Namespace, tasks: Sequence[Task]) -> Iterator[Part]:
    """One part after the other; a model is loaded when its first part comes."""
    if options.gguf:
        yield llama_part(options, tasks)
    torch = import_module("torch")
    for dtype in filter(None, options.dtypes.split(",")):
        model = guided.load(options.model, dtype=getattr(torch, dtype))
        for batch in map(int, options.batches.split(",")):
            names = options.sources.split(",")
            run: dict[str, Write] = {name: Ours(model, source_of(name)).run for name in names}
            run["stock"] = Stock(model).run
            yield Part(f"calls, batch {batch}, {dtype}", run, cut(tasks, batch))
            if batch == 1 and options.free:
                both: dict[str, Write] = {name: Ours(model, name).run for name in ("off", "auto")}
                yield Part(f"free text, {dtype}", both, cut(free_tasks(options.free), 1))


def source_of(name: str) -> Any:
    return name if name in ("off", "auto") else [name]


def llama_part(options: argparse.Namespace, tasks: Sequence[Task]) -> Part:
    model = guided.load(options.gguf)
    names = [name for name in options.sources.split(",") if name not in ("lookahead", "layers")]
    run: dict[str, Write] = {name: Ours(model, source_of(name)).run for name in names}
    llama = Llama(options.gguf)
    tasks = [task for task in tasks if llama.can_read(task)]
    run["stock"] = lambda tasks, tokens, total: llama.write(tasks[0], tokens, total)
    return Part("calls, batch 1, GGUF", run, cut(tasks, 1))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", type=Path, required=True, help="tool-calls.jsonl")
    parser.add_argument("--model", help="folder or name; the small default model if not given")
    parser.add_argument("--gguf", default=default_gguf(), help="file for llama.cpp; '' for none")
    parser.add_argument("--dtypes", default="float32,bfloat16", help="'' leaves out transformers")
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--sources", default=",".join(SOURCES))
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--free", type=int, default=6, help="prompts for free text")
    parser.add_argument("--tokens", type=int, default=96, help="of an output, at most")
    options = parser.parse_args(arguments)
    tasks = call_tasks(options.corpus) + extraction_tasks(options.corpus, 20)
    tasks = [task for task in tasks if stock_reads(task)]
    tasks = random.Random(1).sample(tasks, min(options.tasks, len(tasks)))
    rows = []
    for part in parts_of(options, tasks):
        found = measure(part, options.tokens)
        rows += found
        print(draw(found), file=sys.stderr)
    results = {
        **record.about("speculate", PACKAGES),
        "sizes": {key: getattr(options, key) for key in ("tasks", "tokens", "free")},
        "rows": rows,
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
