"""The full text of each message: the fact, the place, how to mend it."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from guided.errors import GrammarError, LimitError
from guided.text.gbnf import compile_gbnf, find_errors

MESSAGES = [
    (
        'root ::= "a" vaule\nvalue ::= "b"',
        """rule "vaule" is not defined
  line 1, column 14
    1 | root ::= "a" vaule
      |              ^^^^^
  mend: did you mean "value"?""",
    ),
    (
        'root ::= "a" vaule',
        """rule "vaule" is not defined
  line 1, column 14
    1 | root ::= "a" vaule
      |              ^^^^^
  mend: write "vaule" in double quotes if it is text, or define the rule""",
    ),
    (
        'roof ::= "a"\nline ::= "b"',
        """there is no rule "root" to start with
  mend: did you mean start="roof"? name the rule to start with by start=...;"""
        ' the rules are "roof", "line"',
    ),
    (
        "# nothing",
        """the grammar is empty: it has no rule
  mend: write at least root ::= "text\"""",
    ),
    (
        'root ::= "x" root',
        """no text can match the rule "root": """
        """each way through it comes to a rule again that cannot end
  line 1, column 1
    1 | root ::= "x" root
      | ^^^^
  mend: add an alternative that ends""",
    ),
    (
        'root ::= x\nx ::= "a"\n# c\nx ::= "b"',
        """rule "x" is defined twice, first in line 2
  line 4, column 1
    4 | x ::= "b"
      | ^
  mend: rename one, or join the two by "|\"""",
    ),
    (
        '{"type": "integer"}',
        """this looks like a JSON schema, not like a GBNF grammar
  line 1, column 1
    1 | {"type": "integer"}
      | ^
  mend: use Grammar.from_json_schema, or the option schema=""",
    ),
    (
        '// sums\nstart: "a" -> b\n%import common.WS',
        """this looks like a Lark grammar, not like a GBNF grammar
  line 2, column 1
    2 | start: "a" -> b
      | ^^^^^^
  mend: use Grammar.from_lark""",
    ),
    (
        'root ::= ("a" | "b"\nb ::= "c"',
        """unbalanced parenthesis: "(" without ")"
  line 1, column 10
    1 | root ::= ("a" | "b"
      |          ^
  mend: close it by ")\"""",
    ),
    (
        'root ::= "a")',
        """unbalanced parenthesis: ")" without "("
  line 1, column 13
    1 | root ::= "a")
      |             ^
  mend: remove it""",
    ),
    (
        'root ::= "abc\nb ::= "x"',
        """unterminated string: a double quote without a second one
  line 1, column 10
    1 | root ::= "abc
      |          ^
  mend: close it by ", or write "\\"" for the character itself and "\\n" for a line break""",
    ),
    (
        "root ::= [abc",
        """unterminated character class: "[" without "]"
  line 1, column 10
    1 | root ::= [abc
      |          ^
  mend: close it by "]", or write "[" in double quotes for the character itself""",
    ),
    (
        "root ::= | *",
        """nothing to repeat: * stands where it has nothing before it
  line 1, column 12
    1 | root ::= | *
      |            ^
  mend: write "*" in double quotes for the characters themselves""",
    ),
    (
        'root ::= "a"\n  "b"',
        """unexpected '"b"' where a rule begins
  line 2, column 3
    2 |   "b"
      |   ^^^
  mend: begin a rule by its name and "::="; go on with one by "|", or within brackets""",
    ),
    (
        'root ::= "a"\n  foo',
        """after the name of the rule "foo" stands no "::="
  line 2, column 3
    2 |   foo
      |   ^^^
  mend: write foo ::= "text"; a rule that goes on in a new line does"""
        """ so by "|", or within brackets""",
    ),
    (
        'root = "a"',
        """unexpected '='
  line 1, column 6
    1 | root = "a"
      |      ^
  mend: a rule is written: name ::= "text\"""",
    ),
    (
        "root ::= 'a'",
        """unexpected "'"
  line 1, column 10
    1 | root ::= 'a'
      |          ^
  mend: write strings in double quotes""",
    ),
    (
        'root ::= "a" %',
        """unexpected '%'
  line 1, column 14
    1 | root ::= "a" %
      |              ^
  mend: write the characters of the text in double quotes""",
    ),
    (
        'root ::=\nx ::= "a"',
        """a second "::=" in one rule
  line 2, column 3
    2 | x ::= "a"
      |   ^^^
  mend: a rule that matches the empty text is written: name ::= \"\"""",
    ),
    (
        'root ::= "a" b ::= "c"',
        """a second "::=" in one rule
  line 1, column 16
    1 | root ::= "a" b ::= "c"
      |                ^^^
  mend: begin each rule in a line of its own, by its name""",
    ),
    (
        'root ::= "a"{,3}',
        """{,3} is no count
  line 1, column 13
    1 | root ::= "a"{,3}
      |             ^^^^
  mend: write {2}, {2,} or {2,5}; {0,5} for at most 5""",
    ),
    (
        'root ::= "a"{3,2}',
        """{3,2} repeats at least 3 and at most 2 times
  line 1, column 13
    1 | root ::= "a"{3,2}
      |             ^^^^^
  mend: swap the two counts""",
    ),
    (
        'root ::= "a"{2',
        """unexpected '{'
  line 1, column 13
    1 | root ::= "a"{2
      |             ^
  mend: write a count as {2}, {2,} or {2,5}, and "{" in double quotes for the character itself""",
    ),
    (
        'root ::= "a\\q"',
        """unknown escape \\q
  line 1, column 12
    1 | root ::= "a\\q"
      |            ^^
  mend: escapes are \\n \\r \\t \\\\ \\" \\[ \\] \\- \\x41 \\u00e9 \\U0001F600;"""
        " other characters stand for themselves",
    ),
    (
        "root ::= [\\x4]",
        """incomplete escape \\x4
  line 1, column 11
    1 | root ::= [\\x4]
      |           ^^^
  mend: write 2 hexadecimal digits after \\x""",
    ),
    (
        'root ::= "\\U00110000"',
        """\\U00110000 is above the last code point, 10FFFF
  line 1, column 11
    1 | root ::= "\\U00110000"
      |           ^^^^^^^^^^
  mend: write a smaller number""",
    ),
    (
        'root ::= "\\ud83d\\ude00"',
        """\\ud83d is half of a surrogate pair and no character
  line 1, column 11
    1 | root ::= "\\ud83d\\ude00"
      |           ^^^^^^
  mend: write the character itself, or \\U and eight hexadecimal digits""",
    ),
    (
        'root ::= "\ud83d"',
        """U+D83D is half of a surrogate pair and no character
  line 1, column 11
    1 | root ::= "\ufffd"
      |           ^
  mend: write the character itself, or \\U and eight hexadecimal digits""",
    ),
    (
        "root ::= [z-a]",
        """the range z-a ends before it begins
  line 1, column 11
    1 | root ::= [z-a]
      |           ^^^
  mend: swap its ends, or put the dash last for the character itself""",
    ),
    (
        "root ::= []",
        """[] has no characters
  line 1, column 10
    1 | root ::= []
      |          ^^
  mend: write characters between the brackets""",
    ),
    (
        "root ::= [^]",
        """[^] has no characters
  line 1, column 10
    1 | root ::= [^]
      |          ^^^
  mend: write . for any character""",
    ),
    (
        "root ::= <[think]>",
        """<[think]> names no token
  line 1, column 10
    1 | root ::= <[think]>
      |          ^^^^^^^^^
  mend: write a token as <text> or <[number]>, any other token as !<text>""",
    ),
    (
        "root ::= !think",
        """unexpected '!'
  line 1, column 10
    1 | root ::= !think
      |          ^
  mend: write a token as <text> or <[number]>, any other token as !<text>""",
    ),
    (
        "root ::= <[4294967296]>",
        """there is no token of the number 4294967296
  line 1, column 10
    1 | root ::= <[4294967296]>
      |          ^^^^^^^^^^^^^^
  mend: write one below 2147483648""",
    ),
]


@pytest.mark.parametrize(("grammar", "message"), MESSAGES, ids=[each[0][:40] for each in MESSAGES])
def test_a_message_says_what_where_and_how_to_mend(grammar: str, message: str) -> None:
    with pytest.raises(GrammarError) as raised:
        compile_gbnf(grammar)
    assert str(raised.value) == message


def test_all_errors_are_found_in_one_go() -> None:
    grammar = "\n".join(
        [
            'root ::= "a" one [z-a]',
            'two ::= ("b"',
            'three ::= two "\\q" nine',
            '= "c"',
            'four ::= "a',
            "five ::= five",
        ]
    )
    found = [(error.line, error.fact) for error in find_errors(grammar)]
    assert found == [
        (1, "the range z-a ends before it begins"),
        (2, 'unbalanced parenthesis: "(" without ")"'),
        (3, "unknown escape \\q"),
        (4, "unexpected '='"),
        (5, "unterminated string: a double quote without a second one"),
        (1, 'rule "one" is not defined'),
        (3, 'rule "nine" is not defined'),
    ]


def test_a_rule_that_cannot_be_read_is_not_called_undefined() -> None:
    found = [error.fact for error in find_errors('root ::= a b\na ::= "x" )\nb ::= a')]
    assert found == ['unbalanced parenthesis: ")" without "("']


def test_errors_are_no_more_than_twenty() -> None:
    grammar = "\n".join(f"r{number} ::= )" for number in range(1000))
    assert len(find_errors(grammar, start="r0")) == 20


def test_a_grammar_without_errors_has_none() -> None:
    assert find_errors('root ::= "a"') == []


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        (
            "root ::= " + "(" * 2000 + '"a"' + ")" * 2000,
            "the groups of the grammar are nested too deeply:"
            " over the limit of 1000 groups within groups\n  mend: make the input smaller",
        ),
        (
            'root ::= "a"{1000000}',
            "a part of the grammar repeats 1000000 times: over the limit of 100000 repetitions\n"
            "  mend: make the input smaller",
        ),
        (
            'root ::= "a"{1,99999999999999999999999}',
            "a part of the grammar repeats 1000000000000000000 times:"
            " over the limit of 100000 repetitions\n  mend: make the input smaller",
        ),
    ],
    ids=["nesting", "count", "count without end"],
)
def test_limits_are_named(grammar: str, message: str) -> None:
    with pytest.raises(LimitError) as raised:
        compile_gbnf(grammar)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "grammar",
    [
        "root ::= " + '"a" | ' * 50_000 + '"b"',
        "root ::= " + '("a"' * 900 + ")*" * 900,
        "root ::= " + "# # # # #" * 10_000,
        "root ::= \n" + " \n # c \n" * 10_000 + '| "a"',
        "root ::= " + "[^a]" * 20_000,
        "root ::= r0\n" + "\n".join(f"r{n} ::= r{n + 1}?" for n in range(5000)) + '\nr5000 ::= "a"',
        "root ::= r0\n"
        + "\n".join(f"r{n} ::= r{n + 1} r{n + 1}" for n in range(99))
        + '\nr99 ::= "a"?',
    ],
    ids=["alternatives", "groups", "comments", "lines", "classes", "optional chain", "doubling"],
)
def test_large_grammars_are_read_in_time(grammar: str) -> None:
    # Each takes a second or two; what grows with the square of these sizes takes minutes. The bound
    # leaves room for a slow machine and for all that the process holds besides.
    start = time.process_time()
    with suppress(LimitError):
        compile_gbnf(grammar)
    assert time.process_time() - start < 30
