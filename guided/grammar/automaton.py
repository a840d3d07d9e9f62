"""A grammar over a vocabulary, and one sequence under it, as users see them."""

from __future__ import annotations

from os import PathLike, fspath

import numpy as np

from guided import _core
from guided.errors import GuidedError, VocabularyError
from guided.grammar.forced import forced_tokens
from guided.vocabulary import Vocabulary

MAX_HEADS = 10_000
MAX_BYTES = 1 << 30


class Automaton:
    """A grammar over a vocabulary: which tokens may follow what.

    States and masks are made when they are first walked, and kept. Any number of threads may share
    one automaton.

    Attributes:
        vocabulary: the tokens it is over.
        core: the core's automaton.
    """

    def __init__(self, core: _core.Automaton, vocabulary: Vocabulary) -> None:
        self.core = core
        self.vocabulary = vocabulary

    @classmethod
    def build(
        cls,
        arena: _core.Arena,
        start: int,
        vocabulary: Vocabulary,
        *,
        max_heads: int = MAX_HEADS,
        max_bytes: int = MAX_BYTES,
    ) -> Automaton:
        """Lay the nodes of an arena over a vocabulary; `Grammar.compile` is the way to this.

        Raises:
            GrammarError: nothing can match.
            VocabularyError: no token can begin what must come first.
            LimitError: a product of two parts is too large.
        """
        core = _core.Automaton(
            arena, start, vocabulary.core, max_heads=max_heads, max_bytes=max_bytes
        )
        automaton = cls(core, vocabulary)
        # A vocabulary that spells each byte by a token of its own never comes to a dead end.
        if vocabulary.missing_bytes():
            automaton.matcher().check_spelling()
        return automaton

    def matcher(self) -> Matcher:
        """Return a matcher at the beginning of a text."""
        return Matcher(self)

    def precompute(self, max_states: int | None = None) -> int:
        """Fill states and masks ahead of use, breadth first; return how many states are known.

        Args:
            max_states: stop there. None: when there are no more; grammars with nesting have no end.
        """
        return self.core.precompute(max_states)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the grammar and all that was made of it so far to a file."""
        self.core.save(fspath(path))

    @classmethod
    def load(cls, path: str | PathLike[str], vocabulary: Vocabulary) -> Automaton:
        """Read what `save` wrote.

        Raises:
            FileNotFoundError: it is not there.
            GuidedError: it is another file, damaged, or was made over another vocabulary.
        """
        try:
            core = _core.Automaton.load(fspath(path), vocabulary.core)
        except ValueError as error:
            raise GuidedError(
                str(error), place=f"in {fspath(path)}", mend="compile the grammar and save it again"
            ) from None
        return cls(core, vocabulary)

    def stats(self) -> dict[str, int]:
        """Return counts: states, masks, transitions, continuations, heads_max, bytes."""
        return self.core.stats()

    def __repr__(self) -> str:
        return f"<Automaton over {self.vocabulary!r}>"


class Matcher(_core.Matcher):
    """One sequence under an automaton. Not to be used by two threads at once.

    The methods that run for every token are the core's own: `fill_mask`, `can_accept`, `accept`,
    `accept_all`, `accepted_prefix`, `rollback`, `is_complete`, `is_terminated`.

    Attributes:
        automaton: where it walks.
    """

    automaton: Automaton

    def __init__(self, source: Automaton | Matcher) -> None:
        """Start at the beginning of an automaton, or as a copy of another matcher."""
        if isinstance(source, Automaton):
            super().__init__(source.core)
            self.automaton = source
        else:
            super().__init__(source)
            self.automaton = source.automaton

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens it goes by."""
        return self.automaton.vocabulary

    def fork(self) -> Matcher:
        """Return a copy that goes its own way; a few words are copied."""
        return Matcher(self)

    def forced_tokens(self) -> list[int]:
        """Return tokens that must come next, as the tokenizer would write them; nothing changes.

        Text that the grammar forces is tokenized together with the text before it. The last tokens
        are left out if what follows could be written in one token with them, so that none is
        forced that the tokenizer would not write. Without an encoder, or where it finds no token
        boundary here, these are the tokens that are the only ones allowed.

        Cost: some 10 us a byte of forced text, which are few, and mostly none.
        """
        return forced_tokens(self)

    def check_spelling(self) -> None:
        """Raise if no token can go on from here, as the vocabulary lacks the bytes that must come.

        Raises:
            VocabularyError: names those bytes.
        """
        if self.is_terminated or self.is_complete:
            return
        row = np.zeros(self.vocabulary.words, np.int32)  # (W,)
        self.fill_mask(row)
        if not row.any():
            wanted = self.allowed_bytes()
            raise VocabularyError(
                f"no token can write what must come next: one of the bytes {wanted!r}",
                missing=wanted,
                mend="use a tokenizer that has a token for every byte, or change the grammar",
            )
