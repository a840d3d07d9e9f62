"""Where a text stands under a grammar: how far it fits, and what may come there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from guided.errors import VocabularyError
from guided.grammar.automaton import Matcher
from guided.grammar.expectation import expectations
from guided.grammar.grammar import Grammar
from guided.text.checks.spelled import quoted
from guided.text.tags import Marker
from guided.vocabulary import Vocabulary

Verdict = Literal["accepted", "incomplete", "rejected"]

THE_END = "the end of the text"
_END = 256


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a text stands under a grammar.

    Attributes:
        text: all of it.
        taken: how many of its bytes may begin a text of the grammar.
        line, column: of the first character that may not be there, or of the end; from 1.
        is_complete: what was taken is a text of the grammar.
        expected: what may come there, as far as it can be said in a few words.
        forced: what must come there.
        next_bytes: the bytes that may come there.
        heads: the places of the grammar at which it stands, in the words of the engine.
    """

    text: bytes
    taken: int
    line: int
    column: int
    is_complete: bool
    expected: tuple[str, ...]
    forced: str
    next_bytes: bytes
    heads: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """Whether it fits, would with more text, or never will."""
        if self.taken < len(self.text):
            return "rejected"
        return "accepted" if self.is_complete else "incomplete"

    @property
    def found(self) -> str | None:
        """The character that may not be there."""
        rest = self.text[self.taken :].decode(errors="replace")
        return rest[0] if rest else None

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column}"
        wanted = join(self.expected)
        if self.verdict == "rejected":
            return f"{place}: expected {wanted}, found {quoted(self.found or '')}"
        if self.verdict == "incomplete":
            return f"incomplete: the text ends at {place}, where {wanted} is expected"
        return f"accepted: complete at {place}"


def explain(grammar: Grammar, text: str | bytes) -> Standing:
    """Find out how far a text fits a grammar, and what may come there.

    A text that ends within a character of several bytes is incomplete; where one byte of a
    character is wrong, the place is that character. Where the grammar names a token, such as
    `<think>`, that name in the text stands for the token.

    Raises:
        GrammarError: nothing can match.
        VocabularyError: the grammar names tokens by their number, which takes their tokenizer.
    """
    data = encode(text)
    vocabulary = plain_vocabulary(grammar)
    matcher = grammar.compile(vocabulary).matcher()
    tokens, starts = _tokens(data, vocabulary)
    fitting = matcher.accepted_prefix(tokens)
    while 0 < fitting < len(tokens) and _is_within_character(data, starts[fitting]):
        fitting -= 1
    matcher.accept_all(tokens[:fitting])
    taken = starts[fitting]
    before = data[:taken].decode(errors="replace")
    return Standing(
        text=data,
        taken=taken,
        line=before.count("\n") + 1,
        column=len(before) - (before.rfind("\n") + 1) + 1,
        is_complete=matcher.is_complete,
        expected=_expected(matcher),
        forced=matcher.forced_bytes().decode(errors="ignore"),
        next_bytes=matcher.allowed_bytes(),
        heads=tuple(matcher.describe()),
    )


def next_tokens(grammar: Grammar, text: str | bytes, vocabulary: Vocabulary) -> list[int]:
    """Return the tokens that may come after a text, which fits as far as it goes."""
    matcher = grammar.compile(vocabulary).matcher()
    if data := encode(text):
        matcher.accept_bytes(data)
    return matcher.allowed_tokens()


def encode(text: str | bytes) -> bytes:
    """Return the bytes of a text; what a command line could not decode comes back as it was."""
    return text if isinstance(text, bytes) else text.encode(errors="surrogateescape")


def plain_vocabulary(grammar: Grammar) -> Vocabulary:
    """Return a vocabulary of a token for each byte, and one for each that the grammar names.

    Raises:
        VocabularyError: it names one by its number.
    """
    # Markers are text where no token is named.
    named = {each[0] for each in grammar._nodes.late.values() if not isinstance(each, Marker)}
    for name in named:
        if isinstance(name, int):
            raise VocabularyError(
                f"the grammar names token {name} by its number, which texts cannot show",
                mend="write it by its text, as in <name>",
            )
    return _plain_vocabulary(tuple(sorted(map(str, named))))


@lru_cache(maxsize=64)
def _plain_vocabulary(named: tuple[str, ...]) -> Vocabulary:
    tokens = [bytes([byte]) for byte in range(256)]
    special = {name: _END + 1 + index for index, name in enumerate(named)}
    return Vocabulary.from_tokens([*tokens, None, *([None] * len(named))], [_END], special)


def _tokens(data: bytes, vocabulary: Vocabulary) -> tuple[list[int], list[int]]:
    """Return the tokens of a text in such a vocabulary, and where each begins; last the end."""
    if not vocabulary.special:
        return list(data), list(range(len(data) + 1))
    names = {name.encode(): id_ for name, id_ in vocabulary.special.items()}
    pattern = b"|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    tokens, starts, place = [], [], 0
    for found in re.finditer(pattern + b"|(?s:.)", data):
        tokens.append(names.get(found[0], found[0][0]))
        starts.append(place)
        place = found.end()
    return tokens, [*starts, len(data)]


def _expected(matcher: Matcher) -> tuple[str, ...]:
    expected = expectations(matcher)
    names = matcher.vocabulary.special
    if names:
        allowed = set(matcher.allowed_tokens())
        expected += [f"the token {name}" for name, id_ in names.items() if id_ in allowed]
        if not allowed.issuperset(names.values()) and allowed & (
            set(range(256)) - set(matcher.allowed_bytes())
        ):
            expected.append("any other token")
    if matcher.is_complete:
        expected.append(THE_END)
    return tuple(expected)


def _is_within_character(data: bytes, index: int) -> bool:
    return data[index] & 0xC0 == 0x80 and data[index - 1] >= 0x80


def join(items: tuple[str, ...] | list[str], most: int = 12) -> str:
    """Write a list with "or" before its last item; a long one is cut."""
    shown = list(items[:most])
    if len(items) > most:
        shown.append(f"one of {len(items) - most} more")
    if not shown:
        return "nothing"
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
