"""What is wrong with a grammar is said with its place and what to do about it."""

from __future__ import annotations

import pytest

from guided import Grammar
from guided.errors import GrammarError, UnsupportedError

FAULTY = [
    pytest.param(
        'start: vaule\nvalue: "a"',
        'rule "vaule" is not defined\n'
        "  line 1, column 8\n"
        "    1 | start: vaule\n"
        "      |        ^^^^^\n"
        '  mend: did you mean "value"?',
        id="an undefined rule",
    ),
    pytest.param(
        "start: NUMBR\nNUMBER: /1/",
        'terminal "NUMBR" is not defined\n'
        "  line 1, column 8\n"
        "    1 | start: NUMBR\n"
        "      |        ^^^^^\n"
        '  mend: did you mean "NUMBER"?',
        id="an undefined terminal",
    ),
    pytest.param(
        "start: NUMBER",
        'terminal "NUMBER" is not defined\n'
        "  line 1, column 8\n"
        "    1 | start: NUMBER\n"
        "      |        ^^^^^^\n"
        "  mend: import it, `%import common.NUMBER`",
        id="a terminal of common.lark",
    ),
    pytest.param(
        "start: foo",
        'rule "foo" is not defined\n'
        "  line 1, column 8\n"
        "    1 | start: foo\n"
        "      |        ^^^\n"
        "  mend: define it, `foo: ...`",
        id="nothing alike",
    ),
    pytest.param(
        '{"type": "object"}',
        "this looks like a JSON Schema, not like a Lark grammar\n"
        "  line 1, column 1\n"
        '    1 | {"type": "object"}\n'
        "      | ^\n"
        "  mend: use Grammar.from_json_schema",
        id="a JSON Schema",
    ),
    pytest.param(
        'root ::= "a"',
        "this looks like GBNF, not like a Lark grammar\n"
        "  line 1, column 6\n"
        '    1 | root ::= "a"\n'
        "      |      ^^^\n"
        "  mend: use Grammar.from_gbnf, or write `name: ...` for a definition",
        id="GBNF",
    ),
    pytest.param(
        "start: 'a'",
        'unexpected character "\'"\n'
        "  line 1, column 8\n"
        "    1 | start: 'a'\n"
        "      |        ^\n"
        '  mend: strings stand in double quotes, "..."',
        id="single quotes",
    ),
    pytest.param(
        'start: "a',
        "unexpected character '\"'\n"
        "  line 1, column 8\n"
        '    1 | start: "a\n'
        "      |        ^\n"
        "  mend: close the string on the same line; within it write \\n for a new line",
        id="an open string",
    ),
    pytest.param(
        "start: /a",
        "unexpected character '/'\n"
        "  line 1, column 8\n"
        "    1 | start: /a\n"
        "      |        ^\n"
        "  mend: close the pattern on the same line, /.../; a slash in it is written \\/",
        id="an open pattern",
    ),
    pytest.param(
        'start: b c\nb: (c\nc: "y"',
        "a bracket is not closed\n"
        "  line 2, column 4\n"
        "    2 | b: (c\n"
        "      |    ^\n"
        '  mend: close it by ")"',
        id="an open bracket",
    ),
    pytest.param(
        'start: "a")',
        "a bracket is closed that was not opened\n"
        "  line 1, column 11\n"
        '    1 | start: "a")\n'
        "      |           ^\n"
        "  mend: remove it, or open one before",
        id="a closing bracket",
    ),
    pytest.param(
        "start: 1",
        "a value is a name, a string or a pattern\n"
        "  line 1, column 8\n"
        "    1 | start: 1\n"
        "      |        ^\n"
        '  mend: put quotes around it, as in "1"',
        id="a number",
    ),
    pytest.param(
        "start",
        "the grammar ends in the middle of a definition\n"
        "  line 1, column 5\n"
        "    1 | start\n"
        "      |     ^\n"
        "  mend: write `name: ...` with what the name stands for",
        id="no colon",
    ),
    pytest.param(
        'Start: "a"',
        'the name "Start" mixes upper and lower case\n'
        "  line 1, column 1\n"
        '    1 | Start: "a"\n'
        "      | ^^^^^\n"
        "  mend: write a rule in lower case, a terminal in upper case",
        id="a mixed name",
    ),
    pytest.param(
        'start: "a" -> B',
        "an alias, after `->`, is a lower-case name\n"
        "  line 1, column 15\n"
        '    1 | start: "a" -> B\n'
        "      |               ^\n"
        "  mend: write `-> name`",
        id="an alias in upper case",
    ),
    pytest.param(
        "start: a: b",
        "a colon stands where none may\n"
        "  line 1, column 9\n"
        "    1 | start: a: b\n"
        "      |         ^\n"
        '  mend: begin each definition on a line of its own, or quote the colon, ":"',
        id="a second colon",
    ),
    pytest.param(
        'start: "a"??',
        "an operator has nothing before it to apply to\n"
        "  line 1, column 12\n"
        '    1 | start: "a"??\n'
        "      |            ^\n"
        "  mend: put it right after one item; two operators need a group, as in (a?)*",
        id="two operators",
    ),
    pytest.param(
        'A.B: "a"',
        "after the dot of a definition stands a number, its priority\n"
        "  line 1, column 3\n"
        '    1 | A.B: "a"\n'
        "      |   ^\n"
        "  mend: write `NAME.2: ...`",
        id="a dot in a name",
    ),
    pytest.param(
        '%import "a"',
        "%import takes a name\n"
        "  line 1, column 9\n"
        '    1 | %import "a"\n'
        "      |         ^^^\n"
        "  mend: write `%import common.NUMBER`",
        id="an import of a string",
    ),
    pytest.param(
        'begin: "a"\nother: "b"',
        'there is no rule "start" to start with\n'
        '  mend: give start=...; the rules are "begin", "other"',
        id="no start",
    ),
    pytest.param(
        'strat: "a"',
        'there is no rule "start" to start with\n'
        '  mend: did you mean "strat"? give start=...; the rules are "strat"',
        id="a start like it",
    ),
    pytest.param(
        'START: "a"',
        "the grammar has no rules\n  mend: define one, `start: ...`",
        id="no rules",
    ),
    pytest.param(
        "",
        "the grammar is empty\n  mend: define a rule, `start: ...`",
        id="nothing",
    ),
    pytest.param(
        'start: "a"\nstart: "b"',
        'rule "start" is defined more than once\n'
        "  line 2, column 1\n"
        '    2 | start: "b"\n'
        "      | ^^^^^\n"
        "  mend: write both as alternatives of one definition, or use %extend or"
        " %override",
        id="two definitions",
    ),
    pytest.param(
        '%override start: "a"',
        'there is no rule "start" to override\n'
        "  line 1, column 11\n"
        '    1 | %override start: "a"\n'
        "      |           ^^^^^\n"
        "  mend: leave out %override",
        id="an override of nothing",
    ),
    pytest.param(
        '%extend start: "a"',
        'there is no rule "start" to extend\n'
        "  line 1, column 9\n"
        '    1 | %extend start: "a"\n'
        "      |         ^^^^^\n"
        "  mend: import it first, or leave out %extend",
        id="an extension of nothing",
    ),
    pytest.param(
        'start: __a\n__a: "x"',
        'the name "__a" is reserved: it begins with __\n'
        "  line 1, column 8\n"
        "    1 | start: __a\n"
        "      |        ^^^\n"
        "  mend: take another",
        id="a reserved name",
    ),
    pytest.param(
        'start: t{"a"}\nt{x,y}: x y',
        'template "t" takes 2 arguments, found 1\n'
        "  line 1, column 8\n"
        '    1 | start: t{"a"}\n'
        "      |        ^\n"
        "  mend: write it as t{...} with 2 arguments",
        id="too few arguments",
    ),
    pytest.param(
        "a{x}: x\nstart: a",
        'template "a" is used without arguments\n'
        "  line 2, column 8\n"
        "    2 | start: a\n"
        "      |        ^\n"
        "  mend: write it as a{...}",
        id="no arguments",
    ),
    pytest.param(
        'start: A\nA: b\nb: "x"',
        'terminal "A" uses rule "b": a terminal is made of terminals only\n'
        "  line 2, column 4\n"
        "    2 | A: b\n"
        "      |    ^\n"
        '  mend: write "A" in lower case, as a rule, or "b" in upper case, as a terminal',
        id="a rule in a terminal",
    ),
    pytest.param(
        'start: A\nA: "x" B\nB: A',
        'terminal "A" is part of itself\n'
        "  line 2, column 1\n"
        '    2 | A: "x" B\n'
        "      | ^\n"
        "  mend: write it as a rule, in lower case: only rules may be recursive",
        id="a recursive terminal",
    ),
    pytest.param(
        "start: A\nA: ",
        'terminal "A" is empty\n'
        "  line 2, column 1\n"
        "    2 | A: \n"
        "      | ^\n"
        "  mend: give it a text, or leave it out",
        id="an empty terminal",
    ),
    pytest.param(
        'start: ""',
        "an empty string is no terminal\n"
        "  line 1, column 8\n"
        '    1 | start: ""\n'
        "      |        ^^\n"
        "  mend: make the item optional, as in (...)?",
        id="an empty string",
    ),
    pytest.param(
        'start: A\nA: "a" -> b',
        "an alias, after `->`, stands in a terminal\n  mend: leave it out; rules have aliases",
        id="an alias in a terminal",
    ),
    pytest.param(
        'start: "a"~3..1',
        "a repetition from 3 to 1 is none\n"
        "  line 1, column 11\n"
        '    1 | start: "a"~3..1\n'
        "      |           ^\n"
        "  mend: write the smaller number first, and none below 0",
        id="a range backwards",
    ),
    pytest.param(
        'start: "a"\n%import common',
        '%import names the grammar "common" and nothing in it\n'
        "  line 2, column 9\n"
        "    2 | %import common\n"
        "      |         ^^^^^^\n"
        "  mend: write `%import common.NAME`",
        id="an import of a whole grammar",
    ),
    pytest.param(
        "%import .foo.X\nstart: X",
        'no grammar "foo" to import is found\n'
        "  line 1, column 10\n"
        "    1 | %import .foo.X\n"
        "      |          ^^^\n"
        "  mend: give import_paths=[folder], or read the grammar by Grammar.from_file",
        id="an import without a folder",
    ),
    pytest.param(
        "%import nosuch.X\nstart: X",
        'no grammar "nosuch" to import is found\n'
        "  line 1, column 9\n"
        "    1 | %import nosuch.X\n"
        "      |         ^^^^^^\n"
        "  mend: give import_paths=[folder], or read the grammar by Grammar.from_file",
        id="a missing grammar",
    ),
    pytest.param(
        "%import common.NOSUCH\nstart: NOSUCH",
        'the grammar that terminal "NOSUCH" is imported from has none of that name\n'
        "  line 2, column 8\n"
        "    2 | start: NOSUCH\n"
        "      |        ^^^^^^\n"
        "  mend: look it up there, or define it here",
        id="a missing name in a grammar",
    ),
    pytest.param(
        'start: "ab".."z"',
        "a range goes from one character to another\n"
        "  line 1, column 8\n"
        '    1 | start: "ab".."z"\n'
        "      |        ^^^^^^^^^\n"
        '  mend: write one character on either side, as in "a".."z"',
        id="a range of texts",
    ),
    pytest.param(
        "start: /[b-a]/",
        "the terminal /[b-a]/: bad character range b-a: it ends before it begins\n"
        "  line 1, column 8\n"
        "    1 | start: /[b-a]/\n"
        "      |        ^^^^^^^\n"
        "  mend: swap its ends, or escape the hyphen, \\-",
        id="a bad range in a pattern",
    ),
    pytest.param(
        'start: "\\x"',
        "a literal has an escape that is none\n"
        "  line 1, column 8\n"
        '    1 | start: "\\x"\n'
        "      |        ^^^^\n"
        "  mend: write \\\\ for a backslash; the escapes are those of Python",
        id="a bad escape",
    ),
    pytest.param(
        'start: "\\ud800"',
        'the terminal "\\ud800" has a surrogate, which UTF-8 cannot write\n'
        "  line 1, column 8\n"
        '    1 | start: "\\ud800"\n'
        "      |        ^^^^^^^^\n"
        "  mend: write the character itself",
        id="a surrogate",
    ),
    pytest.param(
        '%ignore FOO\nstart: "a"',
        'terminal "FOO" is not defined\n'
        "  line 1, column 9\n"
        "    1 | %ignore FOO\n"
        "      |         ^^^\n"
        "  mend: define it, `FOO: ...`",
        id="what is ignored is undefined",
    ),
    pytest.param(
        "start: /a\nb/",
        "a pattern goes over the end of a line\n"
        "  line 1, column 8\n"
        "    1 | start: /a\n"
        "      |        ^\n"
        "  mend: write \\n for a new line, or give it the flag x",
        id="a pattern over two lines",
    ),
    pytest.param(
        'start: "a"\n%ignore',
        "%ignore has nothing to ignore\n"
        "  line 2, column 1\n"
        "    2 | %ignore\n"
        "      | ^^^^^^^\n"
        '  mend: write `%ignore " "`, or leave it out',
        id="nothing to ignore",
    ),
    pytest.param(
        'start: A\nA: "x" B\n%declare B',
        'terminal "A" has a part without a pattern: "B", which is declared and not'
        " defined, stands in it\n"
        "  line 2, column 8\n"
        '    2 | A: "x" B\n'
        "      |        ^\n"
        '  mend: write "A" in lower case, as a rule',
        id="a declared terminal in a terminal",
    ),
    pytest.param(
        'start: A\nA: /(a/ "b"',
        'terminal "A": unbalanced parenthesis: "(" without ")"\n'
        "  line 2, column 1\n"
        '    2 | A: /(a/ "b"\n'
        "      | ^\n"
        '  mend: close it by ")", or write "\\(" for the character itself',
        id="a pattern that re refuses",
    ),
    pytest.param(
        'start: t{a} | u{a}\na: "x"\nt{y}: y\nu{y}: y',
        "two rules can end at the end of the text: `t{a}: a` and `u{a}: a`\n"
        "  line 3, column 1\n"
        "    3 | t{y}: y\n"
        "      | ^\n"
        '  mend: give lexer="dynamic", which follows both; or rewrite one, or give it a'
        " priority",
        id="a conflict of templates",
    ),
    pytest.param(
        'start: "\ud800"',
        "the grammar has a surrogate, which is no character\n"
        "  line 1, column 9\n"
        '    1 | start: "\ud800"\n'
        "      |         ^\n"
        "  mend: remove it, or write the character itself",
        id="a surrogate in the text",
    ),
    pytest.param(
        'start: a | b\na: "x"\nb: "x"',
        'two rules can end at the end of the text: `a: "x"` and `b: "x"`\n'
        "  line 2, column 1\n"
        '    2 | a: "x"\n'
        "      | ^\n"
        '  mend: give lexer="dynamic", which follows both; or rewrite one, or give it a'
        " priority",
        id="a conflict",
    ),
    pytest.param(
        'start: "a" %import common.WS',
        "a statement that begins with % stands within another\n"
        "  line 1, column 12\n"
        '    1 | start: "a" %import common.WS\n'
        "      |            ^\n"
        "  mend: begin a line with it; it has to be one that lark knows, such as %import",
        id="a directive within a rule",
    ),
    pytest.param(
        'start: A\nA: "b" /(?i)a/',
        'terminal "A": global flags not at the start of the pattern\n'
        "  line 2, column 1\n"
        '    2 | A: "b" /(?i)a/\n'
        "      | ^\n"
        "  mend: move (?i) to the start, or write (?i:...)",
        id="global flags in the middle",
    ),
]

UNSUPPORTED = [
    pytest.param(
        "start: /(a)\\1/",
        "the terminal /(a)\\1/: back-reference \\1 is not regular: no automaton can match"
        " it (scope: docs/grammars.md)\n"
        "  line 1, column 8\n"
        "    1 | start: /(a)\\1/\n"
        "      |        ^^^^^^^\n"
        "  mend: write out the texts that the group may hold",
        id="a back-reference",
    ),
    pytest.param(
        "start: /a++/",
        "the terminal /a++/: an atomic group or possessive quantifier is not supported"
        " in a terminal (scope: docs/grammars.md)\n"
        "  line 1, column 8\n"
        "    1 | start: /a++/\n"
        "      |        ^^^^^",
        id="a possessive quantifier",
    ),
    pytest.param(
        "start: /\\ba/",
        "the terminal /\\ba/ looks at what is before it (scope: docs/grammars.md)\n"
        "  line 1, column 8\n"
        "    1 | start: /\\ba/\n"
        "      |        ^^^^^\n"
        "  mend: leave out the ^, \\b or look-behind it begins with, and say by rules"
        " what is before",
        id="a word boundary at the start",
    ),
    pytest.param(
        "start: x\n%declare x",
        'rule "x" is declared and not defined: what it matches is not known (scope:'
        " docs/grammars.md)\n"
        "  line 1, column 8\n"
        "    1 | start: x\n"
        "      |        ^\n"
        "  mend: define it, `x: ...`",
        id="a declared rule",
    ),
    pytest.param(
        "start: X\n%declare X",
        'terminal "X" is declared and not defined: what it matches, a post-lexer knows'
        " (scope: docs/grammars.md)\n"
        "  line 1, column 8\n"
        "    1 | start: X\n"
        "      |        ^\n"
        "  mend: define it, or leave it out",
        id="a declared terminal",
    ),
]


@pytest.mark.parametrize(("grammar", "message"), FAULTY)
def test_a_faulty_grammar_is_refused_with_place_and_mend(grammar: str, message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark(grammar)
    assert str(caught.value) == message


@pytest.mark.parametrize(("grammar", "message"), UNSUPPORTED)
def test_what_cannot_be_enforced_is_refused_by_name(grammar: str, message: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        Grammar.from_lark(grammar)
    assert str(caught.value) == message


def test_an_error_has_line_and_column() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark('start: a\n  | vaule\na: "a"\nvalue: "v"')
    assert (caught.value.line, caught.value.column, caught.value.length) == (2, 5, 5)
    assert caught.value.mend == 'did you mean "value"?'


def test_a_name_in_a_comment_is_not_taken_for_the_place() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark('// vaule\nstart: "vaule" vaule')
    assert (caught.value.line, caught.value.column) == (2, 16)
