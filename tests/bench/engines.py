"""The engines that are compared, each behind the same few calls.

What is timed is one call of an adapter, which is one call into the engine: `fill_mask`, `accept`,
or the function that `batch` returns. Settings are those under which the engines mean the same:
objects are open, white space is free, and a keyword that an engine does not know is an error where
it can be made one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.int32]


class Matcher(Protocol):
    inner: Any

    def fill_mask(self) -> None: ...
    def accept(self, token: int) -> bool: ...
    def is_complete(self) -> bool: ...


class Engine(Protocol):
    package: str
    settings: str

    def __init__(self, tokenizer: Any, row: Mask) -> None: ...
    def compile(self, schema: str) -> Callable[[], Matcher]:
        """Return what makes matchers at the start; they fill `row`. Any exception is a refusal."""

    def batch(self, matchers: Sequence[Matcher], mask: Mask) -> Callable[[], object]:
        """Return what fills row b of `mask`, (B, W), from matchers[b]."""


def load_tokenizer(folder: str) -> Any:
    return import_module("transformers").AutoTokenizer.from_pretrained(folder)


def width(tokenizer: Any) -> int:
    """V: some tokenizers have gaps, so their length is not enough."""
    return max(tokenizer.get_vocab().values()) + 1


class GuidedMatcher:
    def __init__(self, inner: Any, row: Mask, rejected: type[Exception]) -> None:
        self.inner, self.row, self.rejected = inner, row, rejected

    def fill_mask(self) -> None:
        self.inner.fill_mask(self.row)

    def accept(self, token: int) -> bool:
        try:
            self.inner.accept(token)
        except self.rejected:
            return False
        return True

    def is_complete(self) -> bool:
        return bool(self.inner.is_complete)


class Guided:
    package = "guided"
    settings = "defaults"

    def __init__(self, tokenizer: Any, row: Mask) -> None:
        self.guided = import_module("guided")
        self.row = row
        self.vocabulary = self.guided.Vocabulary.from_tokenizer(tokenizer, size=width(tokenizer))

    def compile(self, schema: str) -> Callable[[], Matcher]:
        automaton = self.guided.Grammar.from_json_schema(schema).compile(self.vocabulary)
        return lambda: GuidedMatcher(automaton.matcher(), self.row, self.guided.TokenRejected)

    def batch(self, matchers: Sequence[Matcher], mask: Mask) -> Callable[[], object]:
        inner = [matcher.inner for matcher in matchers]
        return lambda: self.guided.fill_masks(inner, mask)


class LlguidanceMatcher:
    def __init__(self, inner: Any, row: Mask) -> None:
        self.inner, self.address, self.size = inner, row.ctypes.data, row.nbytes

    def fill_mask(self) -> None:
        self.inner.unsafe_compute_mask_ptr(self.address, self.size)

    def accept(self, token: int) -> bool:
        return bool(self.inner.consume_token(token))

    def is_complete(self) -> bool:
        return bool(self.inner.is_accepting())


class Llguidance:
    package = "llguidance"
    settings = "defaults; a batch is a loop over its rows"

    def __init__(self, tokenizer: Any, row: Mask) -> None:
        self.llguidance = import_module("llguidance")
        self.row = row
        self.tokenizer = import_module("llguidance.hf").from_tokenizer(tokenizer, width(tokenizer))

    def compile(self, schema: str) -> Callable[[], Matcher]:
        grammar = self.llguidance.LLMatcher.grammar_from_json_schema(schema)
        first = self.llguidance.LLMatcher(self.tokenizer, grammar)
        if first.is_error():
            raise ValueError(first.get_error())
        return lambda: LlguidanceMatcher(first.deep_copy(), self.row)

    def batch(self, matchers: Sequence[Matcher], mask: Mask) -> Callable[[], object]:
        size = mask[0].nbytes
        fills = [matcher.inner.unsafe_compute_mask_ptr for matcher in matchers]
        addresses = [row.ctypes.data for row in mask]

        def fill() -> None:
            for call, address in zip(fills, addresses, strict=True):
                call(address, size)

        return fill


class LlguidanceExecutor(Llguidance):
    settings = "defaults; a batch goes to LLExecutor, one thread a processor"

    def batch(self, matchers: Sequence[Matcher], mask: Mask) -> Callable[[], object]:
        executor = self.llguidance.LLExecutor(os.cpu_count())
        pairs = [(matcher.inner, b) for b, matcher in enumerate(matchers)]
        at, size = mask.ctypes.data, mask[0].nbytes
        return lambda: executor.unsafe_compute_mask_ptr(pairs, at, size, len(pairs))


class XgrammarMatcher:
    def __init__(self, inner: Any, row: Any) -> None:
        self.inner, self.row = inner, row

    def fill_mask(self) -> None:
        self.inner.fill_next_token_bitmask(self.row)

    def accept(self, token: int) -> bool:
        return bool(self.inner.accept_token(token))

    def is_complete(self) -> bool:
        return bool(self.inner.is_completed())


class Xgrammar:
    package = "xgrammar"
    settings = "strict_mode=False, any_whitespace=True, max_threads=1"
    dynamic = False

    def __init__(self, tokenizer: Any, row: Mask) -> None:
        self.xgrammar = import_module("xgrammar")
        self.from_numpy = import_module("torch").from_numpy
        self.row = self.from_numpy(row[None, :])
        info = self.xgrammar.TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=width(tokenizer), stop_token_ids=[tokenizer.eos_token_id]
        )
        self.compiler = self.xgrammar.GrammarCompiler(
            info, max_threads=1, enable_dynamic_compilation=self.dynamic
        )

    def compile(self, schema: str) -> Callable[[], Matcher]:
        compiled = self.compiler.compile_json_schema(schema, strict_mode=False, any_whitespace=True)
        return lambda: XgrammarMatcher(self.xgrammar.GrammarMatcher(compiled), self.row)

    def batch(self, matchers: Sequence[Matcher], mask: Mask) -> Callable[[], object]:
        fill = self.xgrammar.BatchGrammarMatcher(os.cpu_count()).batch_fill_next_token_bitmask
        inner, tensor = [matcher.inner for matcher in matchers], self.from_numpy(mask)
        return lambda: fill(inner, tensor)


class XgrammarDynamic(Xgrammar):
    settings = f"{Xgrammar.settings}, enable_dynamic_compilation=True"
    dynamic = True


ENGINES: dict[str, type[Engine]] = {
    "guided": Guided,
    "llguidance": Llguidance,
    "llguidance-executor": LlguidanceExecutor,
    "xgrammar": Xgrammar,
    "xgrammar-dynamic": XgrammarDynamic,
}
