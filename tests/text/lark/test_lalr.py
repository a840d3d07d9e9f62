"""Tables are those of lark's own analysis, state by state."""

from __future__ import annotations

import random
from typing import Any

import pytest
from lark.common import ParserConf
from lark.exceptions import GrammarError
from lark.grammar import Rule
from lark.parsers.lalr_analysis import LALR_Analyzer, Shift

from guided.text.lark.lalr import Automaton, Production, make_automaton
from guided.text.lark.reading import read_grammar
from tests.text.lark.matching import GRAMMARS, needs_corpora, samples


def productions_of(rules: list[Rule]) -> list[Production]:
    return [
        Production(
            rule.origin.name,
            tuple(symbol.name for symbol in rule.expansion),
            rule.options.priority or 0,
        )
        for rule in rules
    ]


def same_tables(ours: Automaton, theirs: Any, rules: list[Rule], start: str) -> bool:
    """Return True if the tables differ in the numbers of their states only."""
    pairs = {0: theirs.start_states[start]}
    waiting = [0]
    for state in waiting:
        row, other = ours.states[state], theirs.states[pairs[state]]
        if set(row) != set(other):
            return False
        for name, (ends, target) in row.items():
            action, argument = other[name]
            if ends is (action is Shift):
                return False
            if ends:
                if rules[target] != argument:
                    return False
                continue
            if target not in pairs:
                pairs[target] = argument
                waiting.append(target)
            if pairs[target] != argument:
                return False
    return pairs[ours.accept] == theirs.end_states[start] and len(pairs) == len(theirs.states)


def check(rules: list[Rule], start: str) -> None:
    ours = make_automaton(productions_of(rules), start)
    analyzer = LALR_Analyzer(ParserConf(rules, {}, [start]))
    if ours.reductions:
        with pytest.raises(GrammarError, match="Reduce/Reduce"):
            analyzer.compute_lalr()  # type: ignore[no-untyped-call]
        return
    analyzer.compute_lalr()  # type: ignore[no-untyped-call]
    assert same_tables(ours, analyzer.parse_table, rules, start)
    strict = LALR_Analyzer(ParserConf(rules, {}, [start]), strict=True)
    if ours.shifts:
        with pytest.raises(GrammarError, match="Shift/Reduce"):
            strict.compute_lalr()  # type: ignore[no-untyped-call]
    else:
        strict.compute_lalr()  # type: ignore[no-untyped-call]


@needs_corpora
@pytest.mark.parametrize("sample", samples(), ids=lambda sample: str(sample["grammar"]))
def test_tables_of_the_corpora_are_those_of_lark(sample: dict[str, Any]) -> None:
    path = GRAMMARS / sample["grammar"]
    reading = read_grammar(path.read_text(), start=sample["start"], path=path)
    check(reading.rules, sample["start"])


@pytest.mark.parametrize("seed", range(300))
def test_tables_of_random_grammars_are_those_of_lark(seed: int) -> None:
    source = random.Random(seed)
    names = ["start", *"abcd"[: source.randint(1, 4)]]
    symbols = [*names, *(f'"{letter}"' for letter in "xyz")]
    lines = []
    for name in names:
        alternatives = {
            " ".join(source.choices(symbols, k=source.choice([0, 1, 1, 2, 2, 3])))
            for _ in range(source.randint(1, 3))
        }
        priority = source.choice(["", "", ".2"])
        lines.append(f"{name}{priority}: {' | '.join(sorted(alternatives))}")
    check(read_grammar("\n".join(lines), start="start").rules, "start")
