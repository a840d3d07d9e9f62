"""Masks in SGLang: a grammar backend, `--grammar-backend guided`.

SGLang starts further processes, each of which has to know the backend. A script that registers it
before anything else does for all of them, as they run the script again:

    import os
    import sys
    from guided.integrations.sglang import register

    register()

    if __name__ == "__main__":
        from sglang.launch_server import run_server
        from sglang.srt.server_args import prepare_server_args
        from sglang.srt.utils import kill_process_tree

        try:
            run_server(prepare_server_args(sys.argv[1:]))
        finally:
            kill_process_tree(os.getpid(), include_parent=False)
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from typing import Any, Self

import torch
from sglang.srt.constrained import base_grammar_backend
from sglang.srt.constrained.base_grammar_backend import BaseGrammarBackend, BaseGrammarObject
from torch import Tensor

from guided._core import fill_masks
from guided.errors import GuidedError, TokenRejected
from guided.grammar import Automaton, Grammar
from guided.masks import allocate_mask, apply_mask
from guided.text.json_schema import Whitespace
from guided.vocabulary import Vocabulary

NAME = "guided"
ANY_JSON = "$$ANY$$"  # what SGLang writes where any JSON will do
ALL = -1  # a word of a mask with every bit set
logger = logging.getLogger(__name__)


def register(name: str = NAME) -> None:
    """Make the backend known to SGLang, and its name to `--grammar-backend`."""
    from sglang.srt import server_args

    base_grammar_backend.register_grammar_backend(name, GuidedGrammarBackend.create)
    if name not in server_args.GRAMMAR_BACKEND_CHOICES:
        server_args.add_grammar_backend_choices([name])


class GuidedGrammar(BaseGrammarObject):  # type: ignore[misc,unused-ignore]
    """One request under a grammar.

    Args:
        automaton: shared by all requests with this grammar.
    """

    def __init__(self, automaton: Automaton) -> None:
        super().__init__()
        self.automaton = automaton
        self.matcher = automaton.matcher()

    def accept_token(self, token: int) -> None:
        """Go on by a token that was sampled.

        Raises:
            ValueError: the grammar refuses it; SGLang then aborts this request alone.
        """
        if self.is_terminated():
            return
        try:
            self.matcher.accept(token)
        except TokenRejected as error:
            raise ValueError(str(error)) from None
        self.current_token = token

    def rollback(self, k: int) -> None:
        """Take back the last k tokens, also across the end of the text."""
        self.matcher.rollback(k)

    def is_terminated(self) -> bool:
        """Return whether an end token was accepted."""
        return self.matcher.is_terminated

    def copy(self) -> GuidedGrammar:
        """Return the grammar for another request, at its beginning."""
        return GuidedGrammar(self.automaton)

    def cache_memory_bytes(self) -> int:
        """Return what a grammar that SGLang keeps takes."""
        return self.automaton.stats()["bytes"]

    @staticmethod
    def allocate_vocab_mask(vocab_size: int, batch_size: int, device: object) -> Tensor:
        """Make a mask that allows everything: requests without a grammar are not filled."""
        mask = allocate_mask(batch_size, vocab_size)  # (B, W)
        return mask.fill_(ALL)

    @staticmethod
    def reset_vocab_mask(vocab_mask: Tensor) -> None:
        """Allow everything again."""
        vocab_mask.fill_(ALL)

    def fill_vocab_mask(self, vocab_mask: Tensor, idx: int) -> None:
        """Write what may come next into one row of a (B, W) mask on the CPU."""
        self.matcher.fill_mask(vocab_mask[idx])

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[Any], vocab_mask: Tensor) -> None:
        """Fill the rows that are listed, in threads, and leave the others."""
        if not entries:
            return
        filled = torch.empty((len(entries), vocab_mask.shape[1]), dtype=torch.int32)  # (n, W)
        fill_masks([entry.grammar.matcher for entry in entries], filled)
        vocab_mask[torch.tensor([entry.row for entry in entries])] = filled

    @staticmethod
    def move_vocab_mask(vocab_mask: Tensor, device: torch.device | str) -> Tensor:
        """Send a mask to where the logits are."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Tensor, vocab_mask: Tensor) -> None:
        """Set the logits of forbidden tokens to minus infinity, in place."""
        apply_mask(logits, vocab_mask)

    def try_jump_forward(self, tokenizer: object) -> tuple[list[int], str] | None:
        """Return the text that must come next, None if there is none."""
        # A character may be cut where the ways part.
        text = self.matcher.forced_bytes().decode(errors="ignore")
        return ([], text) if text else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """Return the text of `try_jump_forward`; no state of ours is needed beside it."""
        return helper[1], -1

    def jump_and_retokenize(
        self, old_output_ids: list[int], new_output_ids: list[int], next_state: int
    ) -> None:
        """Go on along an output that was tokenized again with the text that must come."""
        same = next(
            (
                place
                for place, (old, new) in enumerate(
                    zip(old_output_ids, new_output_ids, strict=False)
                )
                if old != new
            ),
            min(len(old_output_ids), len(new_output_ids)),
        )
        self.matcher.rollback(len(old_output_ids) - same)
        self.matcher.accept_all(new_output_ids[same:])

    def __repr__(self) -> str:
        return f"<GuidedGrammar after {len(self.matcher.tokens)} tokens>"


class GuidedGrammarBackend(BaseGrammarBackend):  # type: ignore[misc,unused-ignore]
    """Makes grammars of what requests ask for: `json_schema`, `regex` and `ebnf` (GBNF).

    A request whose grammar is at fault, or cannot be enforced exactly, is refused with the reason.
    Structural tags are refused.

    Args:
        tokenizer: of the model.
        vocab_size: V, the width of the logits.
        eos_token_ids: the model's own end tokens, which count besides the tokenizer's.
        whitespace: as `Grammar.from_json_schema` takes it.
    """

    def __init__(
        self,
        tokenizer: object,
        vocab_size: int,
        eos_token_ids: Collection[int] | None = None,
        *,
        whitespace: Whitespace = "flexible",
    ) -> None:
        super().__init__()
        ends = {"eos_token_id": sorted(eos_token_ids or [])}
        self.vocabulary = Vocabulary.from_tokenizer(
            tokenizer, size=vocab_size, generation_config=ends
        )
        self.whitespace = whitespace

    @classmethod
    def create(
        cls,
        server_args: Any,
        tokenizer: object,
        vocab_size: int,
        eos_token_ids: Collection[int] | None = None,
    ) -> Self:
        """Make the backend as SGLang asks for it, with its options for white space."""
        whitespace: Whitespace = "flexible"
        if getattr(server_args, "constrained_json_disable_any_whitespace", False):
            whitespace = "compact"
        elif pattern := getattr(server_args, "constrained_json_whitespace_pattern", None):
            whitespace = pattern
        return cls(tokenizer, vocab_size, eos_token_ids, whitespace=whitespace)

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """Make the grammar of a JSON Schema, given as text."""
        schema = "true" if key_string == ANY_JSON else key_string
        return self._compile(Grammar.from_json_schema, schema, whitespace=self.whitespace)

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """Make the grammar of a regular expression."""
        return self._compile(Grammar.from_regex, key_string)

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """Make the grammar of a text in GBNF."""
        return self._compile(Grammar.from_gbnf, key_string)

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """Refuse structural tags."""
        return invalid("structural tags are not supported by the grammar backend 'guided'")

    def _compile(self, make: Any, source: str, **options: Any) -> BaseGrammarObject:
        try:
            return GuidedGrammar(make(source, **options).compile(self.vocabulary))
        except (GuidedError, ValueError, TypeError) as error:
            return invalid(str(error))


def invalid(reason: str) -> BaseGrammarObject:
    """Return what stands for a grammar that cannot be used, so that its request is refused."""
    logger.error("a grammar is refused: %s", reason)
    kind = getattr(base_grammar_backend, "InvalidGrammarObject", None)
    if kind is not None:
        refused: BaseGrammarObject = kind(reason)
        return refused
    older: BaseGrammarObject = base_grammar_backend.INVALID_GRAMMAR_OBJ  # it holds no reason
    return older
