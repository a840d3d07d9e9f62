"""The context-free part of the oracle against lark's Earley parser, on all short texts."""

from __future__ import annotations

import itertools

import lark
import pytest

from tests.reference import Arena, Matcher, Vocabulary, accepts, allowed_tokens, is_viable_prefix

GRAMMARS = {
    "direct left recursion": 'start: start "a" | "b"',
    "right recursion": 'start: "a" start | "b"',
    "indirect left recursion": 'start: x "a" | "b"\nx: start "b" | "a"',
    "hidden left recursion": 'start: x start "b" | "a"\nx: "a"?',
    "ambiguous": 'start: start start | "a"',
    "ambiguous and nullable": 'start: start start | "a" |',
    "cycle": 'start: x | "a"\nx: start | "b" start "b"',
    "nullable loop": 'start: (x*)* "b"\nx: "a"?',
    "brackets": 'start: ("a" start "b")*',
    "palindromes": 'start: "a" start "a" | "b" start "b" | "a" | "b" |',
    "dyck twice": 'start: x x\nx: "a" x "b" x |',
    "counts": 'start: x~2..3\nx: "a" "b"? | start "b"',
    "all stacks": 'start: "a" start "b" | "a" start "a" | "a"',
    "unproductive branch": 'start: "a" start "b" | "b" x | "a"\nx: "a" x',
    "nullable in a row": 'start: x x x "a"\nx: y y\ny: "b"?',
}
TEXTS = ["".join(text) for n in range(8) for text in itertools.product("ab", repeat=n)]


def build_lark(arena: Arena, text: str) -> int:
    """Build nodes from the few forms of lark that are used above."""
    rules = {line.split(":")[0]: arena.rule(line.split(":")[0]) for line in text.split("\n")}
    parser = lark.Lark(
        r"""start: seq ("|" seq)*
        seq: item*
        item: (NAME | STRING | "(" start ")") suffix?
        suffix: "?" -> maybe | "*" -> star | "~" INT ".." INT -> counts
        NAME: /[a-z]+/
        STRING: /"[ab]+"/
        %import common.INT
        %ignore " "
        """
    )

    def build(tree: lark.Tree[lark.Token]) -> int:
        if tree.data == "start":
            return arena.choice(
                [build(child) for child in tree.children if not isinstance(child, lark.Token)]
            )
        if tree.data == "seq":
            return arena.sequence(
                [build(child) for child in tree.children if not isinstance(child, lark.Token)]
            )
        head = tree.children[0]
        if isinstance(head, lark.Token):
            node = rules[str(head)] if head.type == "NAME" else arena.literal(str(head)[1:-1])
        else:
            node = build(head)
        if len(tree.children) == 1:
            return node
        suffix = tree.children[1]
        assert isinstance(suffix, lark.Tree)
        counts = [int(str(child)) for child in suffix.children]
        low, high = {"maybe": (0, 1), "star": (0, None)}.get(suffix.data) or (counts[0], counts[1])
        return arena.repeat(node, low, high)

    for line in text.split("\n"):
        name, body = line.split(":")
        arena.define(rules[name], build(parser.parse(body.strip())))
    return rules["start"]


@pytest.mark.parametrize("name", GRAMMARS)
def test_verdicts_are_those_of_lark_and_prefixes_those_of_accepted_texts(name: str) -> None:
    arena = Arena()
    start = build_lark(arena, GRAMMARS[name])
    parser = lark.Lark(GRAMMARS[name], parser="earley", lexer="dynamic_complete")
    accepted = set()
    for text in TEXTS:
        try:
            parser.parse(text)
            verdict = True
        except lark.exceptions.UnexpectedInput:
            verdict = False
        assert accepts(arena, start, text) is verdict, text
        if verdict:
            accepted.add(text)
    # These grammars finish any prefix of 4 within 3 more, or not at all.
    prefixes = {text[:length] for text in accepted for length in range(min(4, len(text)) + 1)}
    for text in TEXTS:
        if len(text) <= 3:
            assert is_viable_prefix(arena, start, text) is (text in prefixes), text


def test_token_nodes_are_matched_by_id_and_never_by_spelling() -> None:
    arena = Arena()
    call = arena.sequence([arena.token([2]), arena.repeat(arena.literal("a"), 0, 2)])
    start = arena.choice(
        [call, arena.sequence([arena.literal("b"), arena.token([0], negated=True)])]
    )
    vocabulary = Vocabulary([b"a", b"b", None, b"ba", None], eos=[4], size=8)
    assert allowed_tokens(arena, start, [], vocabulary) == {1, 2}
    assert allowed_tokens(arena, start, [2], vocabulary) == {0, 4}
    assert allowed_tokens(arena, start, [2, 0, 0], vocabulary) == {4}
    assert allowed_tokens(arena, start, [1], vocabulary) == {1, 2, 3}
    assert allowed_tokens(arena, start, "b", vocabulary) == {1, 2, 3}


def test_a_token_is_read_by_its_bytes_across_borders_of_nodes() -> None:
    arena = Arena()
    items = arena.rule("items")
    arena.define(items, arena.choice([0, arena.sequence([arena.literal("ab"), items])]))
    matcher = Matcher(arena, items, Vocabulary([b"a", b"b", b"aba", b"bab", b"ba", None], [5]))
    assert matcher.allowed_tokens() == [0, 2, 5]
    matcher.accept(2)
    assert not matcher.is_complete
    assert matcher.allowed_tokens() == [1, 3, 4]
    assert matcher.accepted_prefix([3, 5, 0]) == 2
    matcher.accept_all([3, 5])
    assert matcher.is_terminated
    assert matcher.allowed_tokens() == []
    matcher.rollback(2)
    assert matcher.allowed_tokens() == [1, 3, 4]
