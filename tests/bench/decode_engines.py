"""What writes text in `bench_decode.py`: guided, transformers with peers' masks, llama.cpp."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from statistics import fmean
from time import perf_counter, process_time
from typing import Any

import guided

# As the peers write JSON without free white space; no text ends before it is cut.
SCHEMAS: dict[str, dict[str, Any]] = {
    "string": {"type": "string", "minLength": 1500},
    "records": {
        "type": "array",
        "minItems": 500,
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 20},
                "born": {"type": "integer", "minimum": 1000, "maximum": 2100},
                "field": {"enum": ["mathematics", "computing", "poetry"]},
                "married": {"type": "boolean"},
            },
            "required": ["name", "born", "field", "married"],
            "additionalProperties": False,
        },
    },
}
# The same two for llama.cpp's own grammars.
GBNF = {
    "string": r"""root ::= "\"" char{1500,} "\""
char ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
""",
    "records": r"""root ::= "[" item (", " item){499,} "]"
item ::= "{\"name\": " name ", \"born\": " born ", \"field\": " field ", \"married\": " married "}"
name ::= "\"" char{0,20} "\""
char ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
born ::= "1" [0-9]{3} | "20" [0-9]{2} | "2100"
field ::= "\"mathematics\"" | "\"computing\"" | "\"poetry\""
married ::= "true" | "false"
""",
}


@dataclass(frozen=True, slots=True)
class Run:
    """One batch, written.

    Attributes:
        seconds: from the call to the last token of the last sequence.
        processor: seconds of processors that this process took in that time.
        first: mean seconds to the first token of a sequence.
        tokens: written by all sequences.
        forced: those of them that the grammar forced, so that no logits were looked at.
        forwards: of the model; None where they are not counted.
        prompt: tokens of all prompts.
    """

    seconds: float
    processor: float
    first: float
    tokens: int
    forced: int
    forwards: int | None
    prompt: int


class Guided:
    """Ours, over transformers or, for a GGUF file, over llama.cpp."""

    def __init__(self, source: str | None, dtype: str | None) -> None:
        torch = import_module("torch")
        kind = None if dtype is None else getattr(torch, dtype)
        self.model = guided.load(source, dtype=kind)
        self.engine = guided.Engine(self.model, max_batch=64, speculate="off")
        self.grammars = {
            name: guided.Grammar.from_json_schema(schema, whitespace="compact")
            for name, schema in SCHEMAS.items()
        }

    def run(self, prompts: Sequence[str], schema: str | None, tokens: int) -> Run:
        grammar = None if schema is None else self.grammars[schema]
        began, used = perf_counter(), process_time()
        requests = [
            self.engine.submit(prompt, grammar=grammar, max_tokens=tokens) for prompt in prompts
        ]
        self.engine.run()
        stats = [request.result().stats for request in requests]
        seconds, processor = perf_counter() - began, process_time() - used
        return Run(
            seconds=seconds,
            processor=processor,
            first=fmean(each.first_token_seconds for each in stats),
            tokens=sum(each.output_tokens for each in stats),
            forced=sum(each.forced_tokens for each in stats),
            forwards=max(each.forwards for each in stats),
            prompt=sum(each.prompt_tokens for each in stats),
        )


class Stock:
    """transformers' `generate` with a logits processor; prompts are padded on the left."""

    def __init__(self, source: str | None, dtype: str | None) -> None:
        self.torch = import_module("torch")
        kind = None if dtype is None else getattr(self.torch, dtype)
        model = guided.load(source, dtype=kind)
        self.network: Any = model.network
        tokenizer: Any = model.tokenizer
        self.tokenizer = tokenizer
        self.tokenizer.padding_side = "left"
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.width = model.vocabulary.size
        self.prepare()

    def prepare(self) -> None:
        """Load what masks logits."""

    def processor(self, schema: str) -> Callable[[Any, Any], Any]:
        """Return a new logits processor for a batch."""
        raise NotImplementedError

    def run(self, prompts: Sequence[str], schema: str | None, tokens: int) -> Run:
        own = None if schema is None else self.processor(schema)
        first = 0.0

        def process(ids: Any, scores: Any) -> Any:
            nonlocal first
            masked = scores if own is None else own(ids, scores)
            first = first or perf_counter()  # all but the argmax
            return masked

        began, used = perf_counter(), process_time()
        inputs = self.tokenizer(list(prompts), return_tensors="pt", padding=True)
        with self.torch.inference_mode():
            found = self.network.generate(
                **inputs,
                max_new_tokens=tokens,
                min_new_tokens=tokens if schema is None else None,
                do_sample=False,
                logits_processor=[process],
                pad_token_id=self.tokenizer.pad_token_id,
            )
        seconds, processor = perf_counter() - began, process_time() - used
        length = inputs["input_ids"].shape[1]
        return Run(
            seconds=seconds,
            processor=processor,
            first=first - began,
            tokens=found[:, length:].numel(),
            forced=0,
            forwards=found.shape[1] - length,
            prompt=int(inputs["attention_mask"].sum()),
        )


class StockLlguidance(Stock):
    def prepare(self) -> None:
        self.llguidance = import_module("llguidance")
        self.masks = import_module("llguidance.torch")
        self.vocabulary = import_module("llguidance.hf").from_tokenizer(self.tokenizer, self.width)
        self.executor = self.llguidance.LLExecutor(self.torch.get_num_threads())

    def processor(self, schema: str) -> Callable[[Any, Any], Any]:
        compact = {**SCHEMAS[schema], "x-guidance": {"whitespace_flexible": False}}
        grammar = self.llguidance.LLMatcher.grammar_from_json_schema(json.dumps(compact))
        matchers: list[Any] = []

        def process(ids: Any, scores: Any) -> Any:
            if not matchers:
                matchers.extend(self.matcher(grammar) for _ in ids)
                self.mask = self.masks.allocate_token_bitmask(len(ids), self.width)
            else:
                for matcher, token in zip(matchers, ids[:, -1].tolist(), strict=True):
                    if not matcher.consume_token(token):
                        raise ValueError(matcher.get_error())
            pairs = [(matcher, row) for row, matcher in enumerate(matchers)]
            self.masks.fill_next_token_bitmask_par(self.executor, pairs, self.mask)
            self.masks.apply_token_bitmask_inplace(scores, self.mask)
            return scores

        return process

    def matcher(self, grammar: str) -> Any:
        matcher = self.llguidance.LLMatcher(self.vocabulary, grammar)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher


class StockXgrammar(Stock):
    def prepare(self) -> None:
        xgrammar = import_module("xgrammar")
        info = xgrammar.TokenizerInfo.from_huggingface(self.tokenizer, vocab_size=self.width)
        compiler = xgrammar.GrammarCompiler(info, max_threads=self.torch.get_num_threads())
        self.compiled = {
            name: compiler.compile_json_schema(json.dumps(schema), any_whitespace=False)
            for name, schema in SCHEMAS.items()
        }

    def processor(self, schema: str) -> Callable[[Any, Any], Any]:
        own: Callable[[Any, Any], Any] = import_module("xgrammar.contrib.hf").LogitsProcessor(
            self.compiled[schema]
        )
        return own


class LlamaCpp:
    """llama.cpp itself: its batch, its greedy sampler and, under a schema, its grammar sampler."""

    def __init__(self, source: str | None, dtype: str | None) -> None:
        assert source is not None
        self.llama = import_module("llama_cpp")
        import_module("logging").getLogger("llama-cpp-python").setLevel("ERROR")
        parameters = self.llama.llama_model_default_params()
        self.model = self.llama.llama_model_load_from_file(source.encode(), parameters)
        self.vocab = self.llama.llama_model_get_vocab(self.model)
        self.threads = import_module("torch").get_num_threads()

    def run(self, prompts: Sequence[str], schema: str | None, tokens: int) -> Run:
        llama = self.llama
        texts = [self.encode(prompt) for prompt in prompts]
        room = max(map(len, texts)) + tokens
        context = self.context(len(texts), room)
        batch = llama.llama_batch_init(sum(map(len, texts)), 0, 1)
        samplers = [self.sampler(schema) for _ in texts]
        began, used = perf_counter(), process_time()  # a context is not made for each request
        last: list[int] = []
        for sequence, text in enumerate(texts):  # prompts one by one, as its server does
            self.fill(batch, [(sequence, place, token) for place, token in enumerate(text)])
            self.decode(context, batch)
            last.append(llama.llama_sampler_sample(samplers[sequence], context, -1))
        first = perf_counter() - began
        for step in range(tokens - 1):
            rows = [(row, len(texts[row]) + step, token) for row, token in enumerate(last)]
            self.fill(batch, rows, each=True)
            self.decode(context, batch)
            last = [
                llama.llama_sampler_sample(sampler, context, row)
                for row, sampler in enumerate(samplers)
            ]
        seconds, processor = perf_counter() - began, process_time() - used
        for sampler in samplers:
            llama.llama_sampler_free(sampler)
        llama.llama_batch_free(batch)
        llama.llama_free(context)
        return Run(seconds, processor, first, tokens * len(texts), 0, None, sum(map(len, texts)))

    def encode(self, text: str) -> list[int]:
        data = text.encode()
        buffer = (self.llama.llama_token * (len(data) + 8))()
        count = self.llama.llama_tokenize(
            self.vocab, data, len(data), buffer, len(buffer), True, True
        )
        return list(buffer[:count])

    def context(self, sequences: int, room: int) -> Any:
        parameters = self.llama.llama_context_default_params()
        parameters.n_ctx = sequences * (-(-room // 256) * 256)
        parameters.n_seq_max = sequences
        parameters.n_batch = max(2048, room)
        parameters.n_threads = parameters.n_threads_batch = self.threads
        context = self.llama.llama_init_from_model(self.model, parameters)
        if not context:
            raise MemoryError("llama.cpp makes no context")
        return context

    def sampler(self, schema: str | None) -> Any:
        llama = self.llama
        chain = llama.llama_sampler_chain_init(llama.llama_sampler_chain_default_params())
        if schema is not None:
            grammar = llama.llama_sampler_init_grammar(self.vocab, GBNF[schema].encode(), b"root")
            if not grammar:
                raise ValueError(f"llama.cpp refuses the grammar of {schema!r}")
            llama.llama_sampler_chain_add(chain, grammar)
        llama.llama_sampler_chain_add(chain, llama.llama_sampler_init_greedy())
        return chain

    def fill(self, batch: Any, rows: Sequence[tuple[int, int, int]], each: bool = False) -> None:
        """Write rows of (sequence, position, token); logits after each or after the last."""
        batch.n_tokens = len(rows)
        for row, (sequence, position, token) in enumerate(rows):
            batch.token[row], batch.pos[row] = token, position
            batch.n_seq_id[row], batch.seq_id[row][0] = 1, sequence
            batch.logits[row] = each or row == len(rows) - 1

    def decode(self, context: Any, batch: Any) -> None:
        if status := self.llama.llama_decode(context, batch):
            raise RuntimeError(f"llama_decode: {status}")


ENGINES: dict[str, Callable[[str | None, str | None], Any]] = {
    "guided": Guided,
    "llguidance": StockLlguidance,
    "xgrammar": StockXgrammar,
    "llama.cpp": LlamaCpp,
}
