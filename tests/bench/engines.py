"""The engines that are compared, each behind the same few calls.

What is timed is `fill_mask`, `accept` and the function that `batch` returns, each of them one call
into the engine. Settings are those under which the engines mean the same: objects are open, white
space is free, and a keyword that an engine does not know is an error where it can be made one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Matcher:
    """One sequence; `fill_mask` writes into the row that its engine was given."""

    inner: Any
    fill_mask: Callable[[], object]
    accept: Callable[[int], object]  # false where the token is rejected
    is_complete: Callable[[], object]


class Engine:
    """Made of a tokenizer and a mask row, (W,). ImportError: it is not installed."""

    settings: ClassVar[str]

    def __init__(self, tokenizer: Any, row: Mask) -> None:
        raise NotImplementedError

    def compile(self, schema: str) -> Callable[[], Matcher]:
        """Return what makes matchers at the start. Any exception is a refusal."""
        raise NotImplementedError

    def batch(self, matchers: Sequence[Any], mask: Mask) -> Callable[[], object]:
        """Return what fills row b of `mask`, (B, W), from the inner matcher b."""
        raise NotImplementedError


def load_tokenizer(folder: str) -> Any:
    # Not by AutoTokenizer: that imports torch, which some engines do without.
    return import_module("transformers").PreTrainedTokenizerFast.from_pretrained(folder)


def width(tokenizer: Any) -> int:
    """V: some tokenizers have gaps, so their length is not enough."""
    return int(max(tokenizer.get_vocab().values())) + 1


class Guided(Engine):
    settings = "defaults"

    def __init__(self, tokenizer: Any, row: Mask) -> None:
        self.guided = import_module("guided")
        self.row = row
        self.vocabulary = self.guided.Vocabulary.from_tokenizer(tokenizer, size=width(tokenizer))

    def compile(self, schema: str) -> Callable[[], Matcher]:
        automaton = self.guided.Grammar.from_json_schema(schema).compile(self.vocabulary)

        def start() -> Matcher:
            inner = automaton.matcher()
            fill_mask = partial(inner.fill_mask, self.row)
            return Matcher(inner, fill_mask, partial(self.accept, inner), lambda: inner.is_complete)

        return start

    def accept(self, inner: Any, token: int) -> bool:
        try:
            inner.accept(token)
        except self.guided.TokenRejected:
            return False
        return True

    def batch(self, matchers: Sequence[Any], mask: Mask) -> Callable[[], object]:
        return partial(self.guided.fill_masks, matchers, mask)


class Llguidance(Engine):
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

        def start() -> Matcher:
            inner = first.deep_copy()
            fill = partial(inner.unsafe_compute_mask_ptr, self.row.ctypes.data, self.row.nbytes)
            return Matcher(inner, fill, inner.consume_token, inner.is_accepting)

        return start

    def batch(self, matchers: Sequence[Any], mask: Mask) -> Callable[[], object]:
        pairs = [(matcher, row.ctypes.data) for matcher, row in zip(matchers, mask, strict=True)]
        size = mask[0].nbytes

        def fill() -> None:
            for matcher, address in pairs:
                matcher.unsafe_compute_mask_ptr(address, size)

        return fill


class LlguidanceExecutor(Llguidance):
    settings = "defaults; a batch goes to LLExecutor, one thread a processor"

    def batch(self, matchers: Sequence[Any], mask: Mask) -> Callable[[], object]:
        fill = self.llguidance.LLExecutor(os.cpu_count()).unsafe_compute_mask_ptr
        pairs = [(matcher, b) for b, matcher in enumerate(matchers)]
        return partial(fill, pairs, mask.ctypes.data, mask[0].nbytes, len(pairs))


class Xgrammar(Engine):
    settings = "strict_mode=False, any_whitespace=True, max_threads=1"
    dynamic = False

    def __init__(self, tokenizer: Any, row: Mask) -> None:
        self.xgrammar = import_module("xgrammar")
        self.as_tensor = import_module("torch").from_numpy
        self.row = self.as_tensor(row[None, :])
        info = self.xgrammar.TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=width(tokenizer), stop_token_ids=[tokenizer.eos_token_id]
        )
        self.compiler = self.xgrammar.GrammarCompiler(
            info, max_threads=1, enable_dynamic_compilation=self.dynamic
        )

    def compile(self, schema: str) -> Callable[[], Matcher]:
        compiled = self.compiler.compile_json_schema(schema, strict_mode=False, any_whitespace=True)

        def start() -> Matcher:
            inner = self.xgrammar.GrammarMatcher(compiled)
            fill = partial(inner.fill_next_token_bitmask, self.row)
            return Matcher(inner, fill, inner.accept_token, inner.is_completed)

        return start

    def batch(self, matchers: Sequence[Any], mask: Mask) -> Callable[[], object]:
        fill = self.xgrammar.BatchGrammarMatcher(os.cpu_count()).batch_fill_next_token_bitmask
        return partial(fill, matchers, self.as_tensor(mask))


class XgrammarDynamic(Xgrammar):
    settings = f"{Xgrammar.settings}, enable_dynamic_compilation=True"
    dynamic = True


class Outlines(Engine):
    settings = "build_regex_from_schema with its defaults"

    def __init__(self, tokenizer: Any, row: Mask) -> None:
        self.outlines_core = import_module("outlines_core")
        self.row = row
        # It asks for the bytes of each token, and has no way to them from a tokenizer.
        spelled = import_module("guided").Vocabulary.from_tokenizer(tokenizer)
        ids: dict[bytes, list[int]] = {}
        for token in range(width(tokenizer)):
            if (spelling := spelled.token_bytes(token)) is not None:
                ids.setdefault(spelling, []).append(token)
        self.vocabulary = self.outlines_core.Vocabulary(tokenizer.eos_token_id, ids)

    def compile(self, schema: str) -> Callable[[], Matcher]:
        pattern = import_module("outlines_core.json_schema").build_regex_from_schema(schema)
        index = self.outlines_core.Index(pattern, self.vocabulary)

        def start() -> Matcher:
            inner = self.outlines_core.Guide(index)
            fill = partial(
                inner.write_mask_into, self.row.ctypes.data, self.row.size, self.row.itemsize
            )
            return Matcher(inner, fill, partial(self.accept, inner), inner.is_finished)

        return start

    def accept(self, inner: Any, token: int) -> bool:
        try:
            inner.advance(token, False)
        except ValueError:
            return False
        return True


ENGINES: dict[str, type[Engine]] = {
    "guided": Guided,
    "llguidance": Llguidance,
    "llguidance-executor": LlguidanceExecutor,
    "xgrammar": Xgrammar,
    "xgrammar-dynamic": XgrammarDynamic,
    "outlines": Outlines,
}
