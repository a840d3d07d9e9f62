"""What there is to say of the rules of a grammar: each message in full, and when it is not said."""

from __future__ import annotations

import pytest

from guided.text.checks.finding import Finding
from guided.text.checks.gbnf_outline import outline_gbnf
from guided.text.checks.lark_outline import outline_lark
from guided.text.checks.rules import check_rules


def gbnf(text: str) -> list[Finding]:
    return check_rules(outline_gbnf(text))


def lark(text: str) -> list[Finding]:
    return check_rules(outline_lark(text), rewrites_left_recursion=False)


def told(findings: list[Finding]) -> list[tuple[str, str, int | None, int | None]]:
    return [(each.level, each.code, each.line, each.column) for each in findings]


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


def test_a_grammar_without_surprises_has_no_findings() -> None:
    assert gbnf('root ::= item ("," item){0,9}\nitem ::= [a-z]{1,8}') == []
    assert lark('start: ITEM ("," ITEM)*\nITEM: /[a-z]+/') == []


def test_a_rule_that_the_start_does_not_lead_to_is_unused() -> None:
    finding = only(gbnf('root ::= "a"\nspare ::= "b"'))
    assert finding == Finding(
        "warning",
        "unused-rule",
        'rule "spare" is never used: "root" does not lead to it',
        line=2,
        column=1,
        length=5,
        excerpt='    2 | spare ::= "b"\n      | ^^^^^',
        mend="take it out, or use it",
    )


def test_rules_that_use_only_each_other_are_unused_both() -> None:
    findings = gbnf('root ::= "a"\nb ::= c "x"\nc ::= "y" | b')
    assert told(findings) == [("warning", "unused-rule", 2, 1), ("warning", "unused-rule", 3, 1)]


def test_a_terminal_that_is_ignored_is_used() -> None:
    assert lark("start: A\nA: /a/\nB: /b/\n%ignore B") == []


def test_what_a_template_is_given_is_used() -> None:
    assert lark('start: twice{A}\ntwice{x}: x x\nA: "a"') == []


def test_a_reference_to_nothing_is_an_error_with_the_nearest_name() -> None:
    finding = only(lark("start: value\nvaule: /a/")[:1])
    assert finding.fact == 'rule "value" is not defined'
    assert finding.mend == 'did you mean "vaule"?'
    assert (finding.level, finding.line, finding.column, finding.length) == ("error", 1, 8, 5)


@pytest.mark.parametrize(
    "importing",
    ["%import common.INT", "%import common (INT)", "%import common.NUMBER -> INT", "%declare INT"],
)
def test_what_is_imported_or_declared_is_defined(importing: str) -> None:
    assert lark(f"start: INT\n{importing}") == []


def test_a_rule_that_never_ends_is_unproductive() -> None:
    findings = gbnf('root ::= "a" | loop\nloop ::= "b" loop')
    finding = only(findings)
    assert finding.fact == 'rule "loop" matches no text: it never comes to an end'
    assert finding.level == "warning"


def test_a_start_that_never_ends_is_an_error() -> None:
    assert told(gbnf('root ::= "b" root')) == [("error", "unproductive-rule", 1, 1)]


def test_an_empty_output_is_a_warning_and_another_empty_rule_a_note() -> None:
    findings = gbnf('root ::= tail?\ntail ::= "x"*')
    assert [(each.level, each.fact) for each in findings] == [
        ("warning", '"root", the start, matches the empty text, so a model may write nothing'),
        ("note", 'rule "tail" can match nothing, the empty text'),
    ]


@pytest.mark.parametrize(
    ("rules", "column"),
    [
        ('root ::= "a" [ \\t]* "b"', 14),
        ('root ::= "a" ([ ] | "\\n")+ "b"', 15),
        ('root ::= "a" (" " | " "){3,} "b"', 15),
    ],
)
def test_white_space_without_end_is_a_warning(rules: str, column: int) -> None:
    finding = only(gbnf(rules))
    assert (finding.level, finding.code, finding.column) == ("warning", "white-space", column)
    assert finding.fact == 'rule "root" lets white space go on without end'
    assert finding.mend == (
        "bound it, for example to 20 characters, as a model may fill its output with blanks"
    )


@pytest.mark.parametrize(
    "rules",
    [
        'root ::= "a" [ \\t]{0,20} "b"',
        "root ::= [ a]*  [b]",
        'root ::= (" " "x")* [b]',
        "root ::= [^ ]+",
    ],
)
def test_white_space_with_an_end_or_with_text_between_is_none(rules: str) -> None:
    assert [each for each in gbnf(rules) if each.code == "white-space"] == []


def test_white_space_may_go_on_by_a_rule_that_leads_to_itself() -> None:
    findings = gbnf('root ::= "a" ws "b"\nws ::= ([ \\t\\n] ws)?')
    assert [each.fact for each in findings if each.level == "warning"] == [
        'rule "ws" lets white space go on without end, by leading to itself'
    ]


def test_ignored_white_space_is_told_where_it_is_ignored() -> None:
    finding = only(lark('start: "a" "b"\nBLANK: /[ \\t]+/\n%ignore BLANK'))
    assert (finding.line, finding.column) == (3, 9)
    assert finding.fact == "ignored white space may go on without end wherever it may stand"


def test_ignored_comments_are_no_white_space() -> None:
    assert lark('start: "a"\n%ignore /#[^\\n]*/') == []


def test_a_pattern_of_white_space_is_told_at_the_pattern() -> None:
    finding = only(lark("start: A\nA: /x[ \\n]*y/"))
    assert (finding.code, finding.line, finding.column) == ("white-space", 2, 4)


def test_left_recursion_is_noted_where_it_is_rewritten() -> None:
    text = 'root ::= sum\nsum ::= sum "+" [0-9] | [0-9]'
    finding = only(gbnf(text))
    assert (finding.level, finding.code) == ("note", "left-recursion")
    assert finding.fact == 'rule "sum" begins with itself: it is rewritten as a repetition'
    assert lark('start: sum\nsum: sum "+" /[0-9]/ | /[0-9]/') == []


def test_hidden_and_indirect_left_recursion_is_left_recursion() -> None:
    findings = gbnf('root ::= a\na ::= "x"? b "y" | "z"\nb ::= a "w"')
    assert [each.fact for each in findings] == [
        'rule "a" begins with itself, by way of b: it is rewritten as a repetition'
    ]


def test_right_recursion_is_no_left_recursion() -> None:
    assert gbnf('root ::= "x" root | "y"') == []


def test_a_class_of_the_letters_of_a_used_rule_is_meant() -> None:
    findings = gbnf('root ::= [ab] ab\nab ::= "ab"')
    assert findings == []


def test_a_long_chain_of_rules_is_no_trouble() -> None:
    count = 5_000
    rules = [f"r{each} ::= r{each + 1}" for each in range(count)]
    text = "\n".join(["root ::= r0", *rules, f'r{count} ::= "x"'])
    assert gbnf(text) == []
