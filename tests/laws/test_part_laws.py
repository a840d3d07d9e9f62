"""Parts change nothing but the way to a mask: what is kept of them must fit every place."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import assume

from guided import _core
from guided.errors import GrammarError
from tests.laws.grammars import (
    GrammarDescription,
    VocabularyDescription,
    build,
    choices,
    grammars,
    pick,
    vocabularies,
    wide_vocabulary,
)
from tests.laws.law import law
from tests.laws.pairs import core_vocabulary


class _InParts(_core.Arena):
    """An arena that makes a part of whatever is put together."""

    def sequence(self, nodes: Sequence[int]) -> int:
        return self.part(super().sequence(nodes))

    def choice(self, nodes: Sequence[int]) -> int:
        return self.part(super().choice(nodes))

    def repeat(self, node: int, minimum: int = 0, maximum: int | None = None) -> int:
        return self.part(super().repeat(node, minimum, maximum))


def _automaton(
    arena: _core.Arena, grammar: GrammarDescription, vocabulary: _core.Vocabulary
) -> _core.Automaton:
    return _core.Automaton(arena, build(grammar, arena), vocabulary)


def _walk_together(
    grammar: GrammarDescription,
    vocabulary: _core.Vocabulary,
    eos: tuple[int, ...],
    walks: Sequence[Sequence[int]],
) -> None:
    """Walk automata with parts, one after the other over one vocabulary, beside one without.

    A shape is kept from the second time on, so the later automata read what the earlier ones kept.
    """
    try:
        plain = _automaton(_core.Arena(), grammar, vocabulary)
    except GrammarError:
        assume(False)
        raise
    for walk in walks:
        one = _core.Matcher(plain)
        other = _core.Matcher(_automaton(_InParts(), grammar, vocabulary))
        for choice in (*walk, 0):
            allowed = one.allowed_tokens()
            assert other.allowed_tokens() == allowed
            assert other.is_complete is one.is_complete
            if not allowed:
                break
            token = pick(allowed, eos, choice)
            one.accept(token)
            other.accept(token)


@law(grammars(), vocabularies(), choices())
def test_masks_with_parts_are_those_without(
    grammar: GrammarDescription, vocabulary: VocabularyDescription, walk: list[int]
) -> None:
    walks = [walk, walk, walk[::-1], walk[1:]]
    _walk_together(grammar, core_vocabulary(vocabulary), vocabulary.eos, walks)


WIDE = wide_vocabulary()


@law(grammars(), choices(), plain=40, nightly=400)
def test_so_they_are_over_a_vocabulary_with_large_subtrees(
    grammar: GrammarDescription, walk: list[int]
) -> None:
    walks = [walk, walk, walk[::-1]]
    _walk_together(grammar, core_vocabulary(WIDE), WIDE.eos, walks)
