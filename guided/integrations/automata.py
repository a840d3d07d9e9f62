"""Grammars as users give them to an adapter, compiled over one vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

from guided.grammar import Automaton, Grammar
from guided.vocabulary import Vocabulary

Constraint = Grammar | Automaton


def vocabulary_of(source: object, generation_config: object = None) -> Vocabulary:
    """Return a vocabulary from itself, from what has one (`guided.load`), or from a tokenizer.

    Args:
        source: the vocabulary, a `guided.Model`, or any tokenizer that
            `Vocabulary.from_tokenizer` reads.
        generation_config: its end tokens count too, where `source` is a tokenizer.

    Raises:
        VocabularyError: it is none of these, or cannot be used.
    """
    if isinstance(source, Vocabulary):
        return source
    if isinstance(own := getattr(source, "vocabulary", None), Vocabulary):
        return own
    return Vocabulary.from_tokenizer(source, generation_config=generation_config)


def compile_all(
    constraints: Sequence[Constraint | None], vocabulary: Vocabulary | None
) -> list[Automaton | None]:
    """Compile what is not compiled yet.

    Args:
        constraints: a grammar or an automaton for each row; None for a row that is free.
        vocabulary: of the grammars; None where there are automata alone.

    Raises:
        TypeError: one is neither, or a grammar has no vocabulary to be compiled over.
        ValueError: they are over different vocabularies.
    """
    automata: list[Automaton | None] = []
    for constraint in constraints:
        if isinstance(constraint, Grammar):
            if vocabulary is None:
                raise TypeError("a grammar needs a vocabulary or a tokenizer beside it")
            automata.append(constraint.compile(vocabulary))
        elif constraint is None or isinstance(constraint, Automaton):
            automata.append(constraint)
        else:
            raise TypeError(
                "a constraint is a guided.Grammar or a guided.Automaton,"
                f" found {type(constraint).__name__}"
            )
    known = [automaton.vocabulary for automaton in automata if automaton is not None]
    if vocabulary is not None:
        known.append(vocabulary)
    if any(other is not known[0] for other in known):
        raise ValueError("all rows of a batch are over one vocabulary, found different ones")
    return automata
