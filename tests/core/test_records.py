"""Records whose recorded texts run short: what cannot be finished is not begun."""

from __future__ import annotations

import pytest

from guided import _core
from guided.errors import GrammarError
from tests.laws.grammars import Description, GrammarDescription, build
from tests.laws.records import ARRAY, EMPTY, either, literal, repeat, then

BYTES: list[bytes | None] = [bytes([byte]) for byte in range(128)]
END = len(BYTES)
ONES = then(literal("1."), repeat(literal("0"), 1))
NOTHINGS = then(literal("0e"), repeat(("class", [(0x30, 0x39)]), 1))


OBJECT = (literal("{"), EMPTY, literal(", "), literal("}"), literal("}"))
KEY = then(literal('"'), repeat(("class", [(0x61, 0x7A)])), literal('"'))


def distinct(*items: Description, minimum: int = 0) -> _core.Matcher:
    """Return a matcher of arrays of distinct items."""
    members = tuple((0, item, None, True, ((0, EMPTY),)) for item in items)
    return matcher(("record", ARRAY, ((False, True, ()),), members, "each", minimum, None, (), ()))


def matcher(record: Description, words: list[bytes] | None = None) -> _core.Matcher:
    return _core.Matcher(automaton(record, words))


def automaton(record: Description, words: list[bytes] | None = None) -> _core.Automaton:
    arena = _core.Arena()
    node = build(GrammarDescription(record, ()), arena)
    vocabulary = _core.Vocabulary([*BYTES, None, *(words or [])], [END])
    return _core.Automaton(arena, node, vocabulary)


def allowed_after(matcher: _core.Matcher, text: str) -> str:
    matcher.accept_bytes(text.encode())
    return "".join(chr(token) for token in matcher.allowed_tokens())


@pytest.mark.parametrize("item", [ONES, NOTHINGS], ids=["1.0, 1.00, ...", "0e0, 0e1, ..."])
def test_texts_without_end_that_spell_one_number_fill_one_place(item: Description) -> None:
    with pytest.raises(GrammarError):
        distinct(item, minimum=2)
    begun = "[1.0" if item is ONES else "[0e07"
    assert "," not in allowed_after(distinct(item), begun)
    assert "]" in allowed_after(distinct(item, minimum=1), begun)


def test_of_texts_without_end_other_values_are_found() -> None:
    assert allowed_after(distinct(either(ONES, literal("12")), minimum=2), "[1.000,1") == "2"
    assert allowed_after(distinct(ONES, NOTHINGS, minimum=2), "[0e9,") == "1"


def test_spellings_of_few_strings_are_not_taken_for_many() -> None:
    letter = either(literal("a"), literal(r"\u0061"))
    item = then(literal('"'), repeat(letter, 0, 1), repeat(literal(r"\u0061"), 0, 1), literal('"'))
    assert "," in allowed_after(distinct(item), '["","a"')
    assert "," not in allowed_after(distinct(item), r'["","a","\u0061\u0061"')


def test_before_a_required_item_all_others_are_due() -> None:
    members = tuple((slot, literal("1"), None, True, ((0, EMPTY),)) for slot in range(2))
    members += ((2, EMPTY, None, False, ((0, literal("2")),)),)
    slots = ((False, False, ()), (False, False, ()), (True, False, ()))
    with pytest.raises(GrammarError):
        matcher(("record", ARRAY, slots, members, "each", 0, None, (), ()))


def test_before_a_required_item_none_is_impossible() -> None:
    members = (
        (0, EMPTY, None, False, ((0, ("choice", ())),)),
        (1, EMPTY, None, False, ((0, literal("1")),)),
    )
    slots = ((False, False, ()), (True, False, ()))
    with pytest.raises(GrammarError):
        matcher(("record", ARRAY, slots, members, "each", 0, None, (), ()))


def test_a_token_with_a_gap_and_a_whole_key_is_compared_with_the_keys_before() -> None:
    # So many tokens begin with a gap and a quote that what follows comes from a table.
    letters = [bytes([letter]) for letter in range(0x61, 0x7B)]
    pairs = [first + second for first in letters for second in letters]
    words = [b' "' + word + end for word in (b"", *letters, *pairs) for end in (b"", b'"', b'":1')]
    members = ((0, KEY, None, True, ((0, literal(":1")),)),)
    slots = ((False, True, ()),)
    for written in ('{"":1,', '{"a":1, "":1,', '{"ab":1, "b":1, "xyz":1,'):
        objects = matcher(("record", OBJECT, slots, members, "any", 0, None, (), ()), words)
        objects.accept_bytes(written.encode())
        keys = {key.split(b'"')[1] for key in written.encode().split(b",") if b'"' in key}
        expected = {word for word in words if not (word.count(b'"') == 2 and _key(word) in keys)}
        allowed = objects.allowed_tokens()
        assert {words[token - END - 1] for token in allowed if token > END} == expected
        assert allowed == [
            token for token in range(END + 1 + len(words)) if objects.can_accept(token)
        ]


def _key(word: bytes) -> bytes:
    return word.split(b'"')[1]


def test_where_a_later_item_has_few_texts_only_these_are_looked_at() -> None:
    letters = [bytes([letter]) for letter in range(0x61, 0x7B)]
    pairs = [first + second for first in letters for second in letters]
    words = [word + end for word in (b"", *letters, *pairs) for end in (b'"', b'","', b'"]')]
    words += [
        word + end
        for word in (b"", b"x", b"y", b"z")
        for end in (b'","x', b'","x"', b'","y"]', b'","y","', b'","x","y"')
    ]
    few = either(literal('"x"'), literal('"y"'))
    for minimum in (0, 3):
        members = tuple(
            (slot, item, None, True, ((0, EMPTY),)) for slot, item in enumerate((KEY, few, few))
        )
        slots = ((False, False, ()),) * 3
        array = ("record", ARRAY, slots, members, "each", minimum, None, (), ())
        for written in ('["', '["x', '["xy', '["a","', '["a","x', '["a","x","'):
            source = automaton(array, words)
            arrays = _core.Matcher(source)
            arrays.accept_bytes(written.encode())
            before = source.stats()["continuations"]
            allowed = arrays.allowed_tokens()
            assert source.stats()["continuations"] < before + 60
            assert allowed == [
                token for token in range(END + 1 + len(words)) if arrays.can_accept(token)
            ]


def test_a_slot_that_owes_one_that_is_past_does_not_make_up_the_number() -> None:
    members = (
        (0, literal('"ab"'), "ab", False, ((0, EMPTY),)),
        (1, literal('"a"'), None, True, ((0, EMPTY),)),
        (2, literal('"b"'), "b", False, ((0, EMPTY),)),
    )
    slots = ((False, False, ()), (False, True, ()), (False, True, (0,)))
    objects = matcher(("record", OBJECT, slots, members, "later", 2, None, (), ()))
    assert allowed_after(objects, '{"a') == "b"
    assert objects.allowed_bytes() == b"b"
