"""A grammar behind a text that was taken back from a prompt."""

from __future__ import annotations

from guided._core import Arena
from guided.grammar.automaton import Automaton
from guided.grammar.grammar import Grammar
from guided.grammar.kept import Kept
from guided.grammar.tokens import define_tokens
from guided.text.composition import Part
from guided.vocabulary import Vocabulary

# Prompts end alike: with a blank, a colon, a line break.
KEPT = 64


def compile_behind(text: bytes, grammar: Grammar | None, vocabulary: Vocabulary) -> Automaton:
    """Compile a grammar that begins with a text; the result is kept with the vocabulary.

    A token may begin in the text and end behind it. Any grammar can stand there, as it goes on to
    the end of the output.

    Args:
        text: what the output begins with, as bytes: it may begin within a character.
        grammar: what follows it; None: anything at all.
        vocabulary: the tokens.

    Raises:
        GrammarError, VocabularyError, LimitError: as for `Grammar.compile`.

    Cost: as for a grammar that was not compiled before, once for each text: states behind another
        text, or behind none, are other ones.
    """
    if grammar is not None:
        grammar.compile(vocabulary)  # what is wrong with it is said as ever

    def make() -> Automaton:
        if grammar is None:
            arena = Arena()
            following = anything(arena)
        else:
            nodes = grammar._nodes
            arena = define_tokens(nodes.arena, nodes.late, vocabulary).clone()
            following = nodes.start
        start = arena.sequence([arena.literal(text), following])
        return Automaton.build(arena, start, vocabulary)

    automata: Kept[tuple[bytes, Part | None], Automaton] = vocabulary.kept(_new_automata)
    return automata.get((text, None if grammar is None else grammar._part), make)


def anything(arena: Arena) -> int:
    """Match any bytes, which need not be characters, and any tokens that have none."""
    byte = arena.dfa([(False, [(0, 255, 1)]), (True, [])])
    return arena.repeat(arena.choice([byte, arena.token([], True)]))


def _new_automata() -> Kept[tuple[bytes, Part | None], Automaton]:
    return Kept(KEPT)
