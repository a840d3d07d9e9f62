"""Requests of a vLLM engine that come with a grammar, whichever of its model runners has them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from guided.errors import GuidedError, TokenRejected, VocabularyError
from guided.grammar import Matcher
from guided.integrations.mask_rows import Rest, Row
from guided.integrations.request_grammar import read_grammar
from guided.vocabulary import Vocabulary

ARGUMENT = "guided"
UNKNOWN_TOKEN = -1  # stands for a token that was not told yet
logger = logging.getLogger(__name__)


def constraint_of(parameters: object) -> object:
    """Return what a request asks for in its extra arguments, None if it does not."""
    return (getattr(parameters, "extra_args", None) or {}).get(ARGUMENT)


def check_parameters(parameters: object) -> None:
    """Raise ValueError for a request whose grammar is at fault."""
    constraint = constraint_of(parameters)
    if constraint is None:
        return
    try:
        read_grammar(constraint)
    except GuidedError as error:
        raise ValueError(str(error)) from None


class Request:
    """One request under a grammar.

    Args:
        constraint: what `read_grammar` takes.
        vocabulary: of the model.
        output: tokens written so far; a list that others let grow.
    """

    def __init__(self, constraint: object, vocabulary: Vocabulary, output: list[int]) -> None:
        self.output = output
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
            follow(self._matcher, self.output)
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

    def rows(self, draft: Sequence[int]) -> list[Row]:
        """Return what holds now, and after each token of a draft; nothing is taken for written.

        After a token that is refused it does not matter: the verification refuses it too.
        """
        rows = [self.row()]
        for token in draft:
            row = rows[-1]
            if isinstance(row, Matcher):
                matcher = row.fork()
                allowed = matcher.can_accept(token)
                if allowed:
                    matcher.accept(token)
                row = matcher if allowed and not matcher.is_terminated else Rest.OVER
            rows.append(row)
        return rows


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
