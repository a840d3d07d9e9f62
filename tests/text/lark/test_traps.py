"""A lexeme is not begun where nothing could follow it: its text would go on for ever."""

from __future__ import annotations

import pytest

from guided import Grammar, Vocabulary

END = 256
BYTES = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos=[END])
COMMENT = r"/#[^\n]*/"
SPACED_COMMENT = r"/\s*#[^\n]*/"


def allowed(grammar: str, text: str) -> list[str]:
    matcher = Grammar.from_lark(grammar).compile(BYTES).matcher()
    matcher.accept_bytes(text.encode())
    return [chr(token) for token in matcher.allowed_tokens() if token < END]


@pytest.mark.parametrize("comment", [COMMENT, SPACED_COMMENT])
def test_a_comment_is_not_begun_where_its_line_may_not_end(comment: str) -> None:
    grammar = f'start: "a" "b"\nC: {comment}\n%ignore C'
    assert allowed(grammar, "a") == ["b"]
    assert "#" in allowed(grammar, "ab")  # at the end of the text it may stand


def test_it_is_where_blanks_are_ignored_as_well() -> None:
    grammar = f'start: "a" "b"\nC: {COMMENT}\nW: /\\s+/\n%ignore C\n%ignore W'
    assert "#" in allowed(grammar, "a")


def test_a_terminal_that_takes_all_is_not_begun_before_another() -> None:
    assert allowed('start: A | B "x"\nA: "a"\nB: /b.*/s', "") == ["a"]
