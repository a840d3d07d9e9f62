"""Masks in llama-cpp-python: a logits processor for `Llama.create_completion`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import llama_cpp
import numpy as np
import torch
from numpy.typing import NDArray

from guided.decoding.models.llama_cpp import LlamaCppNetwork, LlamaCppTokenizer
from guided.integrations.automata import Constraint, compile_all
from guided.integrations.mask_rows import MaskRows, Rest
from guided.integrations.prefixes import OutputTree
from guided.vocabulary import Vocabulary


class GuidedLogitsProcessor:
    """Lets llama-cpp-python write only what a grammar allows.

        llama = llama_cpp.Llama("model.gguf")
        vocabulary = read_vocabulary(llama)
        processor = GuidedLogitsProcessor(grammar, vocabulary)
        llama.create_completion(prompt, logits_processor=LogitsProcessorList([processor]))

    The prompt is what the tokens are when a completion begins: when they do not continue those of
    the last call by one. So one processor serves completion after completion; not two at a time.

    An error in a processor is printed and passed over by llama-cpp-python. So where something else
    changed the output to what the grammar refuses, it may only end. Draft models are not to be
    used beside it: for a draft's logits a processor is shown the whole draft.

    Args:
        constraint: a grammar or an automaton.
        vocabulary: what `read_vocabulary` made of the model; not needed beside an automaton.
        prompt_length: how many tokens are prompt, where they are not all of it at the beginning.
    """

    def __init__(
        self,
        constraint: Constraint,
        vocabulary: Vocabulary | None = None,
        *,
        prompt_length: int | None = None,
    ) -> None:
        automaton = compile_all([constraint], vocabulary)[0]
        if automaton is None:
            raise TypeError("a processor needs a grammar or an automaton")
        self.prompt_length = prompt_length
        self._tree = OutputTree(automaton, ends=automaton.vocabulary.eos, refused="end")
        self._rows = MaskRows(automaton.vocabulary)
        self.reset()

    def reset(self) -> None:
        """Forget the last completion: what the tokens are at the next call is prompt."""
        self._tokens = np.empty(0, np.intc)  # (T,) of the last call
        self._begins = True
        self._place = self._tree.root

    def __call__(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> Any:
        """Return the scores with what the grammar forbids at minus infinity.

        Args:
            input_ids: (T,) prompt and output.
            scores: (V,) logits; unchanged.
        """
        known = len(self._tokens)
        if (
            self._begins
            or len(input_ids) != known + 1
            or not np.array_equal(input_ids[:known], self._tokens)
        ):
            self._begin(input_ids)
        else:
            self._place = self._tree.step(self._place, int(input_ids[-1]))
        self._tokens = input_ids.copy()
        row = Rest.OVER if self._place.is_over else self._tree.matcher(self._place)
        masked = torch.from_numpy(np.array(scores)).unsqueeze(0)  # (1, V), a copy
        self._rows.apply(masked, [row])
        return masked[0].numpy()

    def _begin(self, input_ids: NDArray[np.intc]) -> None:
        """Take tokens for a prompt, and what `prompt_length` leaves of them for output."""
        self._tree.clear()
        self._begins = False
        prompt = len(input_ids) if self.prompt_length is None else self.prompt_length
        self._place = self._tree.follow(input_ids[prompt:].tolist())


@dataclass(frozen=True, slots=True)
class Opened:
    """A model of llama-cpp-python, with what the reader of its tokens asks of it."""

    model: Any

    @property
    def llama(self) -> Any:
        """The functions of llama.cpp."""
        return llama_cpp

    @property
    def vocab(self) -> Any:
        """Where llama.cpp keeps the tokens."""
        return llama_cpp.llama_model_get_vocab(self.model.model)

    @property
    def width(self) -> int:
        """V, the width of the logits."""
        return int(self.model.n_vocab())

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.model.model_path)

    def chat_template(self) -> None:
        """Give none: llama-cpp-python writes messages by itself."""


def read_vocabulary(llama: Any) -> Vocabulary:
    """Read the tokens of an open `llama_cpp.Llama`, which is kept open as long as they are used.

    Raises:
        ValueError: it has a draft model.
        VocabularyError: it has no tokenizer, or one whose tokens have no spelling.

    Cost: some microseconds a token; call it once for a model.
    """
    if getattr(llama, "draft_model", None) is not None:
        raise ValueError("a draft model and a grammar do not go together in llama-cpp-python")
    return LlamaCppTokenizer(cast(LlamaCppNetwork, Opened(llama))).vocabulary()
