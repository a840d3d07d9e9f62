"""What each part of the notation means."""

from __future__ import annotations

import pytest

from tests.text.gbnf.matching import Texts

ACCEPT, REJECT = True, False


@pytest.mark.parametrize(
    ("written", "character"),
    [
        ("\\x41", "A"),
        ("\\u00e9", "é"),
        ("\\U0001F600", "😀"),
        ("\\n", "\n"),
        ("\\r", "\r"),
        ("\\t", "\t"),
        ("\\\\", "\\"),
        ('\\"', '"'),
        ("\\[", "["),
        ("\\]", "]"),
        ("\\-", "-"),
        ("日", "日"),
    ],
)
def test_escapes_stand_for_one_character_in_strings_and_classes(
    written: str, character: str
) -> None:
    for grammar in (f'root ::= "<{written}>"', f'root ::= "<" [{written}] ">"'):
        texts = Texts(grammar)
        assert texts.has(f"<{character}>")
        assert not texts.has("<>")
        assert not texts.has("<x>")
    assert not Texts(f'root ::= "<" [^{written}] ">"').has(f"<{character}>")
    assert Texts(f'root ::= "<" [^{written}] ">"').has("<x>")


@pytest.mark.parametrize(
    ("written", "members", "others"),
    [
        pytest.param("[a-c]", "abc", "d-", id="a range"),
        pytest.param("[-a]", "-a", "b", id="a dash in front"),
        pytest.param("[a-]", "-a", "b", id="a dash at the end"),
        pytest.param("[a\\-c]", "a-c", "b", id="a dash with a backslash"),
        pytest.param("[a-c-e]", "abc-e", "d", id="a dash after a range"),
        pytest.param("[ -~]", " ~a", "\n\x7f", id="all of printable ASCII"),
        pytest.param("[a^]", "a^", "b", id="a caret that is not in front"),
        pytest.param("[^^]", "a", "^", id="all but the caret"),
        pytest.param("[[(\"'#]", "[(\"'#", "]", id="what has a meaning elsewhere"),
        pytest.param("[^\\x00-\\x7F]", "é日😀", "a~", id="all but a range"),
        pytest.param("[\\ud7ff-\\ue000]", "\ud7ff\ue000", "a", id="a range over the surrogates"),
        pytest.param(".", "a\né\0", "", id="any character"),
    ],
)
def test_a_class_matches_its_members(written: str, members: str, others: str) -> None:
    texts = Texts(f"root ::= {written}")
    assert [each for each in members if not texts.has(each)] == []
    assert [each for each in others if texts.has(each)] == []
    assert not texts.has("")
    assert not texts.has(members[0] * 2)


@pytest.mark.parametrize(
    ("quantifier", "minimum", "maximum"),
    [
        ("*", 0, 9),
        ("+", 1, 9),
        ("?", 0, 1),
        ("{3}", 3, 3),
        ("{2,}", 2, 9),
        ("{2,4}", 2, 4),
        ("{0,3}", 0, 3),
        ("{0}", 0, 0),
        ("{ 2 , 4 }", 2, 4),
        ("{2}{2}", 4, 4),
        ("*?", 0, 9),
        (" +", 1, 9),
    ],
)
def test_counts_say_how_often(quantifier: str, minimum: int, maximum: int) -> None:
    for item in ('"ab"', "x", '("ab" | "ab")'):
        texts = Texts(f'root ::= {item}{quantifier}\nx ::= "ab"')
        counts = [count for count in range(10) if texts.has("ab" * count)]
        assert counts == list(range(minimum, maximum + 1))
        assert not texts.has("a")


@pytest.mark.parametrize(
    ("grammar", "text", "verdict"),
    [
        pytest.param('root ::= "a" | "b" "c"', "bc", ACCEPT, id="the bar binds least"),
        pytest.param('root ::= "a" | "b" "c"', "ac", REJECT, id="it binds less than a sequence"),
        pytest.param('root ::= "a" "b"?', "a", ACCEPT, id="a count binds most"),
        pytest.param('root ::= "a" ("b" | "c")+ "d"', "acbd", ACCEPT, id="groups"),
        pytest.param('root ::= "x" | ', "", ACCEPT, id="an empty alternative at the end"),
        pytest.param('root ::= | "x"', "", ACCEPT, id="an empty alternative in front"),
        pytest.param('root ::= "a" (| "b") "c"', "ac", ACCEPT, id="an empty one in a group"),
        pytest.param('root ::= "a" () "c"', "ac", ACCEPT, id="an empty group"),
        pytest.param('root ::= ""', "", ACCEPT, id="an empty string"),
        pytest.param('root ::= ""', "a", REJECT, id="an empty string matches nothing else"),
        pytest.param('root ::=\n  "a"', "a", ACCEPT, id="a line break after the sign"),
        pytest.param('root ::= "a" |\n "b"', "b", ACCEPT, id="a line break after a bar"),
        pytest.param('root ::= "a"\n\n # c\n | "b"', "b", ACCEPT, id="a line break before a bar"),
        pytest.param('root ::= ("a"\n# c\n\n"b"\n)', "ab", ACCEPT, id="line breaks in a group"),
        pytest.param('root ::= "a"\r| "b"\rb ::= "c"', "b", ACCEPT, id="carriage returns only"),
        pytest.param('root ::= "a # b"', "a # b", ACCEPT, id="a sharp in a string"),
        pytest.param('root ::= [#] "a" # c', "#a", ACCEPT, id="a sharp in a class"),
        pytest.param('root::="a"b\nb::="c"', "ac", ACCEPT, id="no blanks at all"),
        pytest.param('root ::= "a\nb"', "a\nb", ACCEPT, id="a line break in a string"),
        pytest.param('root ::= 1 A-b_c\n1 ::= "x"\nA-b_c ::= "y"', "xy", ACCEPT, id="names"),
        pytest.param("root ::= b\n" * 1 + 'b ::= "x" b "y" | ""', "xxyy", ACCEPT, id="nesting"),
        pytest.param('root ::= "x" root "y" | ""', "xxy", REJECT, id="nesting is counted"),
        pytest.param('root ::= a "x" | "y"\na ::= root', "yxx", ACCEPT, id="left recursion"),
        pytest.param('root ::= root root | "a"', "aaa", ACCEPT, id="recursion at both ends"),
        pytest.param(
            'root ::= "a" | unused-is-fine\nunused-is-fine ::= "b"', "b", ACCEPT, id="rule"
        ),
    ],
)
def test_rules_match_texts(grammar: str, text: str, verdict: bool) -> None:
    assert Texts(grammar).has(text) is verdict


def test_the_start_rule_may_have_any_name() -> None:
    grammar = 'list ::= item+\nitem ::= "- " [a-z]+ "\\n"'
    assert Texts(grammar, start="list").has("- a\n- b\n")
    assert not Texts(grammar, start="item").has("- a\n- b\n")


def test_a_long_chain_of_rules_is_no_deep_nesting() -> None:
    rules = [f'r{number} ::= "(" r{number + 1} ")" | "x"' for number in range(3000)]
    grammar = "\n".join(["root ::= r0", *rules, 'r3000 ::= "x"'])
    texts = Texts(grammar)
    assert texts.has("(" * 2000 + "x" + ")" * 2000)
    assert not texts.has("(" * 2000 + "x" + ")" * 1999)
    assert not texts.has("(" * 3001 + "x" + ")" * 3001)
