"""Grammars of every language, compiled over a vocabulary into automata and their matchers."""

from guided.grammar.automaton import Automaton, Matcher
from guided.grammar.grammar import Grammar

__all__ = ["Automaton", "Grammar", "Matcher"]
