"""Masks in vLLM: a logits processor of its V1 engine, with a grammar in each request that asks.

    vllm serve MODEL --logits-processors guided.integrations.vllm:GuidedLogitsProcessor

It has to be named so, and is no plug-in that is found by itself: vLLM schedules a step before the
tokens of the last one are there, and tells the tokens only to processors that were named; and its
second model runner does not start where a processor of the first is installed as a plug-in.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from vllm.v1.sample.logits_processor import LogitsProcessor, MoveDirectionality

from guided.errors import GuidedError, TokenRejected, VocabularyError
from guided.grammar import Matcher
from guided.integrations.mask_rows import MaskRows, Rest, Row
from guided.integrations.request_grammar import read_grammar
from guided.vocabulary import Vocabulary

if TYPE_CHECKING:
    from vllm import SamplingParams
    from vllm.config import VllmConfig
    from vllm.v1.sample.logits_processor import BatchUpdate

ARGUMENT = "guided"
UNKNOWN_TOKEN = -1  # stands for a token that was not told yet
logger = logging.getLogger(__name__)


class GuidedLogitsProcessor(LogitsProcessor):  # type: ignore[misc,unused-ignore]
    """Lets the requests of a vLLM engine write only what their grammars allow.

    A request carries its grammar in `SamplingParams(extra_args={"guided": {"schema": ...}})`, or in
    `"vllm_xargs": {"guided": "{...}"}` over HTTP; see `read_grammar` for what it may be. Requests
    without one are left alone.

    A request whose grammar is at fault is refused when it comes in. One that goes wrong later, as
    the vocabulary cannot spell what it asks for or something else changed its tokens, is ended, and
    the reason is logged: an error here would end the engine with all its requests.
    """

    def __init__(self, vllm_config: VllmConfig, device: torch.device, is_pin_memory: bool) -> None:
        self.vocabulary = read_vocabulary(vllm_config.model_config)
        self._rows = MaskRows(self.vocabulary)
        self._requests: dict[int, Request] = {}

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Raise ValueError for a request whose grammar is at fault."""
        constraint = (sampling_params.extra_args or {}).get(ARGUMENT)
        if constraint is None:
            return
        try:
            read_grammar(constraint)
        except GuidedError as error:
            raise ValueError(str(error)) from None

    def is_argmax_invariant(self) -> bool:
        """Return False: the most likely token may be forbidden."""
        return False

    def needs_output_token_ids(self) -> bool:
        """Return True: it goes by the tokens that were written, not by their number."""
        return True

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow requests that left, joined or changed their rows; in this order."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._requests.pop(index, None)
        for index, parameters, _, output in batch_update.added:
            self._requests.pop(index, None)
            constraint = (getattr(parameters, "extra_args", None) or {}).get(ARGUMENT)
            if constraint is not None:
                self._requests[index] = Request(constraint, self.vocabulary, output)
        for source, target, direction in batch_update.moved:
            moved, replaced = self._requests.pop(source, None), self._requests.pop(target, None)
            if moved is not None:
                self._requests[target] = moved
            if direction == MoveDirectionality.SWAP and replaced is not None:
                self._requests[source] = replaced

    def apply(self, logits: Tensor) -> Tensor:
        """Forbid in place, and return, (B, V) logits of this step."""
        if self._requests:
            rows: list[Row] = [Rest.FREE] * len(logits)
            for index, request in self._requests.items():
                if index < len(rows):
                    rows[index] = request.row()
            self._rows.apply(logits, rows)
        return logits


class Request:
    """One request under a grammar.

    Args:
        constraint: what `read_grammar` takes.
        vocabulary: of the model.
        output: tokens written so far; vLLM's own list, which grows.
    """

    def __init__(self, constraint: object, vocabulary: Vocabulary, output: list[int]) -> None:
        self._output = output
        self._matcher: Matcher | None = None
        try:
            self._matcher = read_grammar(constraint).compile(vocabulary).matcher()
        except (GuidedError, ValueError) as error:
            logger.error("a request is ended, as its grammar cannot be used: %s", error)

    def row(self) -> Row:
        """Go on along the tokens that are new, and return what holds then."""
        if self._matcher is None:
            return Rest.OVER
        try:
            follow(self._matcher, self._output)
        except TokenRejected as error:
            self._matcher = None
            reason = str(error)
            if error.token == UNKNOWN_TOKEN:
                reason = (
                    "vLLM does not tell its tokens: name the processor by --logits-processors, or"
                    " start with --no-async-scheduling"
                )
            logger.error("a request is ended: %s", reason)
            return Rest.OVER
        return Rest.OVER if self._matcher.is_terminated else self._matcher


def follow(matcher: Matcher, output: list[int]) -> None:
    """Bring a matcher to an output that it mostly has accepted already.

    Raises:
        TokenRejected: the grammar refuses it.
    """
    known = matcher.tokens
    same = len(known)
    if output[:same] != known:
        same = next(
            (
                place
                for place, (old, new) in enumerate(zip(known, output, strict=False))
                if old != new
            ),
            min(len(known), len(output)),
        )
        matcher.rollback(len(known) - same)
    if len(output) > same and not matcher.is_terminated:
        matcher.accept_all(output[same:])


def read_vocabulary(model_config: Any) -> Vocabulary:
    """Read the tokenizer that vLLM uses, with the width of its logits and all its end tokens."""
    try:
        from vllm.tokenizers import cached_tokenizer_from_config
    except ImportError:  # before 0.12
        from vllm.transformers_utils.tokenizer import cached_tokenizer_from_config

    tokenizer = cached_tokenizer_from_config(model_config)
    options = {
        "size": model_config.get_vocab_size(),
        "generation_config": model_config.try_get_generation_config(),
    }
    try:
        return Vocabulary.from_tokenizer(tokenizer, **options)
    except VocabularyError:
        # vLLM wraps the tokenizers of mistral-common in a class of its own.
        inner = getattr(tokenizer, "tokenizer", None)
        if inner is None:
            raise
        return Vocabulary.from_tokenizer(inner, **options)
