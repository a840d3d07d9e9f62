"""Masks in `generate` of transformers: a logits processor that follows outputs, not calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from transformers import LogitsProcessor

from guided.errors import ShapeError, TokenRejected
from guided.grammar import Automaton
from guided.integrations.automata import Constraint, compile_all, vocabulary_of
from guided.integrations.mask_rows import MaskRows, Rest, Row
from guided.integrations.prefixes import OutputTree, Place, Refused

Ids = NDArray[np.int64]
RUNS = 4
REFUSED = (
    "something other than the masked scores chose this token: another processor, or an assistant"
    " with another tokenizer; beams that are sampled take refused='end'"
)


class GuidedLogitsProcessor(LogitsProcessor):
    """Lets `generate` write only what a grammar allows.

        processor = GuidedLogitsProcessor(grammar, tokenizer)
        model.generate(**inputs, logits_processor=[processor], max_new_tokens=200)

    It goes by the tokens of each row and not by what it was called with before. So it is right
    where rows change places (beams), go back (prompt look-up and assistants, which put drafts
    behind the rows), or end at different times. One processor serves any number of calls of
    `generate`, one after the other.

    What comes after the prompt is output. The prompt is what the rows hold when a call of
    `generate` begins: when they do not continue what was seen, or begin with another prompt. A
    prompt that is made of the last prompt, all of its output and nothing else is taken for the
    output going on; give `prompt_length`, or a new processor, where that is not meant.

    Rows that are over, by an end token, or by padding after something else stopped them, may write
    end tokens and padding.

    Args:
        constraint: a grammar or an automaton; or a list with one for each prompt of the batch,
            None for a prompt without. Rows of one prompt (beams, `num_return_sequences`) share it.
        vocabulary: a `guided.Vocabulary`, a `guided.Model` or a tokenizer; not needed beside
            automata.
        prompt_length: how many tokens of each row are prompt, padding included; for rows that
            already hold a part of the output when `generate` is called.
        generation_config: its end tokens count too, if `vocabulary` is a tokenizer.
        pad_token: what `generate` writes after the end of a row, if it is no end token; a tokenizer
            tells it by itself.
        refused: what becomes of a row that holds what the grammar refuses, because something
            changed it: "raise", or "end" to let it write end tokens only. Beam search with
            `do_sample` draws rows of probability zero where it finds no others, and needs "end".

    Raises:
        TypeError, ValueError: no constraint, or constraints over different vocabularies.
        GrammarError, VocabularyError, LimitError: as `Grammar.compile`.
    """

    supports_continuous_batching = False

    def __init__(
        self,
        constraint: Constraint | Sequence[Constraint | None],
        vocabulary: object = None,
        *,
        prompt_length: int | None = None,
        generation_config: object = None,
        pad_token: int | None = None,
        refused: Refused = "raise",
    ) -> None:
        given = list(constraint) if isinstance(constraint, Sequence) else [constraint]
        own = None if vocabulary is None else vocabulary_of(vocabulary, generation_config)
        automata = compile_all(given, own)
        known = next((automaton.vocabulary for automaton in automata if automaton), own)
        if known is None:
            raise TypeError("a batch without any constraint needs no processor")
        if pad_token is None:
            pad_token = getattr(vocabulary, "pad_token_id", None)
        padding = [] if pad_token is None else [pad_token]
        self.prompt_length = prompt_length
        self._rows = MaskRows(known, padding)
        ends = {*known.eos, *padding}
        trees: dict[Automaton, OutputTree] = {
            automaton: OutputTree(automaton, ends=ends, refused=refused)
            for automaton in automata
            if automaton is not None
        }
        self._trees = [None if automaton is None else trees[automaton] for automaton in automata]
        self._runs: list[_Run] = []

    def reset(self) -> None:
        """Forget prompts and outputs: what the rows hold at the next call is prompt."""
        self._runs.clear()
        for tree in filter(None, self._trees):
            tree.clear()

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Return the scores with what the grammar forbids at minus infinity.

        Args:
            input_ids: (B, T) prompt and output of each row.
            scores: (B, V) logits or log-probabilities, float32, float16 or bfloat16; unchanged.

        Raises:
            TokenRejected: a row holds what the grammar refuses; `place` says where.
            ShapeError: the batch is no multiple of the number of constraints.
            GuidedError: other processors forbid all that the grammar allows.
        """
        ids: Ids = input_ids.cpu().numpy()  # (B, T)
        run = self._run(ids)
        run.places = self._places(run, ids)
        run.ids = ids.copy()  # a loop may go on to write where these are
        rows = [self._row(tree, place) for tree, place in run.places]
        # Not in place: prompt look-up gives the same tensor again for each token of a draft, and
        # `output_logits` keeps the one it gave.
        masked = scores.clone()  # (B, V)
        self._rows.apply(masked, rows, strict=True)
        return masked

    def _row(self, tree: OutputTree | None, place: Place | None) -> Row:
        if tree is None or place is None:
            return Rest.FREE
        return Rest.OVER if place.is_over else tree.matcher(place)

    def _run(self, ids: Ids) -> _Run:
        """Find the call of `generate` that these rows belong to, or begin a new one."""
        for run in self._runs:
            if run.holds(ids):
                self._runs.remove(run)
                self._runs.insert(0, run)
                return run
        batch, length = ids.shape
        if batch % len(self._trees):
            raise ShapeError(
                "the rows of the batch cannot be shared among the constraints",
                wanted=f"a multiple of {len(self._trees)} rows",
                found=f"{batch} rows",
            )
        prompt = length if self.prompt_length is None else self.prompt_length
        if prompt > length:
            raise ShapeError(
                "the rows are shorter than their prompt",
                wanted=f"at least {prompt} tokens",
                found=f"{length} tokens",
            )
        run = _Run(ids[:, :prompt].copy(), length)
        self._runs = [run, *self._runs[: RUNS - 1]]
        return run

    def _places(self, run: _Run, ids: Ids) -> list[_Where]:
        """Return where each row stands: one step from the last call, or from the prompt on."""
        batch, length = ids.shape
        before = 0
        if run.is_continued:
            before = length - 1 - run.prompt.shape[1]
            tokens = [[token] for token in ids[:, -1].tolist()]
            starts = run.places
        else:
            tokens = ids[:, run.prompt.shape[1] :].tolist()
            shared = batch // len(self._trees)
            trees = [self._trees[row // shared] for row in range(batch)]
            starts = [(tree, None if tree is None else tree.root) for tree in trees]
        found: list[_Where] = []
        for row, ((tree, place), new) in enumerate(zip(starts, tokens, strict=True)):
            if tree is not None and place is not None:
                try:
                    place = tree.follow(new, place, before)
                except TokenRejected as error:
                    self._runs.clear()
                    error.place = f"in row {row}, {error.place}"
                    error.mend = REFUSED
                    raise
            found.append((tree, place))
        return found


_Where = tuple[OutputTree | None, Place | None]


class _Run:
    """One call of `generate`, as far as it can be told from the rows.

    Attributes:
        prompt: (B, P) what the rows began with.
        longest: the most tokens that a row has had.
        ids: (B, T) of the last call, whose rows are at `places`; None before it.
        is_continued: whether each row is the row of the last call and one token more.
    """

    def __init__(self, prompt: Ids, length: int) -> None:
        self.prompt = prompt
        self.longest = length
        self.ids: Ids | None = None
        self.places: list[_Where] = []
        self.is_continued = False

    def holds(self, ids: Ids) -> bool:
        """Whether rows go on from this prompt; no loop skips a length, though it may go back."""
        (batch, prompt), length = self.prompt.shape, ids.shape[1]
        if len(ids) != batch or not prompt <= length <= self.longest + 1:
            return False
        self.is_continued = (
            self.ids is not None
            and length == self.ids.shape[1] + 1
            and np.array_equal(ids[:, :-1], self.ids)
        )
        if not self.is_continued and not np.array_equal(ids[:, :prompt], self.prompt):
            return False
        self.longest = length if length == prompt else max(self.longest, length)
        return True
