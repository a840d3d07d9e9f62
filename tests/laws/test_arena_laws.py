"""What an arena says of regular nodes, against the derivatives of the oracle."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from guided import _core
from tests import reference
from tests.laws.grammars import (
    CHARACTERS,
    GrammarDescription,
    build,
    context_free_grammars,
    grammars,
    regular_grammars,
)
from tests.laws.law import law

TEXTS = st.lists(st.sampled_from([*CHARACTERS, b"\xc3", b"\xa9", "\x00", "\U0010ffff"]), max_size=5)


def data_of(pieces: list[str | bytes]) -> bytes:
    return b"".join(p.encode() if isinstance(p, str) else p for p in pieces)


@law(regular_grammars(), st.lists(TEXTS.map(data_of), max_size=8))
def test_a_regular_node_matches_as_its_expression_does(
    grammar: GrammarDescription, texts: list[bytes]
) -> None:
    core, oracle = _core.Arena(), reference.Arena()
    node, expected = build(grammar, core), build(grammar, oracle)
    assert core.is_regular(node)
    assert core.is_nullable(node) is oracle.is_nullable(expected)
    assert core.is_void(node) is oracle.is_void(expected)
    shortest, wanted = core.shortest(node), oracle.shortest(expected)
    if wanted is None:
        assert shortest is None
    else:
        assert shortest is not None
        assert len(shortest) == len(wanted)
        assert oracle.matches(expected, shortest)
        texts = [*texts, wanted, wanted + b"a", wanted[:-1]]
    for text in texts:
        assert core.matches(node, text) is oracle.matches(expected, text), text


@law(grammars())
def test_equal_descriptions_have_equal_numbers_and_clones_keep_them(
    grammar: GrammarDescription,
) -> None:
    arena = _core.Arena()
    node = build(grammar, arena)
    copy = arena.clone()
    assert len(copy) == len(arena)
    assert [copy.node(n) for n in range(len(copy))] == [arena.node(n) for n in range(len(arena))]
    if not grammar.rules:
        size = len(arena)
        assert build(grammar, arena) == node
        assert build(grammar, copy) == node
        assert len(arena) == size


@law(regular_grammars())
def test_building_again_from_descriptions_gives_the_same_node(grammar: GrammarDescription) -> None:
    arena = _core.Arena()
    node = build(grammar, arena)

    def rebuild(number: int) -> int:
        match arena.node(number):
            case ("empty",):
                return arena.sequence([])
            case ("never",):
                return arena.choice([])
            case ("literal", bytes(data)):
                return arena.literal(data)
            case ("class", list(ranges)):
                return arena.char_class(ranges)
            case ("dfa", list(states)):
                return arena.dfa(states)
            case ("sequence", first, rest):
                return arena.sequence([rebuild(first), rebuild(rest)])
            case ("choice", list(children)):
                return arena.choice([rebuild(child) for child in children])
            case ("repeat", child, minimum, maximum):
                return arena.repeat(rebuild(child), minimum, maximum)
            case ("both", a, b):
                return arena.both(rebuild(a), rebuild(b))
            case ("minus", a, b):
                return arena.minus(rebuild(a), rebuild(b))
            case ("capture", str(name), child):
                return arena.capture(name, rebuild(child))
            case ("part", child):
                return arena.part(rebuild(child))
            case unknown:
                raise AssertionError(unknown)

    assert rebuild(node) == node


@law(context_free_grammars())
def test_nodes_of_rules_and_tokens_are_not_regular(grammar: GrammarDescription) -> None:
    arena = _core.Arena()
    node = build(grammar, arena)
    assert arena.is_regular(node) is not _mentions(arena, node)


def _mentions(arena: _core.Arena, node: int) -> bool:
    """Return True if a rule or a token is below `node`, rules not followed."""
    description: tuple[Any, ...] = arena.node(node)
    match description:
        case (("rule" | "token" | "lexeme"), *_):
            return True
        case ("choice", children):
            return any(_mentions(arena, child) for child in children)
        case ("sequence" | "both" | "minus", a, b):
            return _mentions(arena, a) or _mentions(arena, b)
        case ("repeat", child, _, _) | ("capture", _, child) | ("part", child):
            return _mentions(arena, child)
        case _:
            return False
