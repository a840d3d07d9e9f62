"""What the grammar forces, in the tokens that the tokenizer would write."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from guided import Grammar, Matcher, Vocabulary

BYTES = [bytes([byte]) for byte in range(256)]


def greedy(tokens: Sequence[bytes], before: str = "") -> Callable[[str], list[int]]:
    """A tokenizer that always takes the longest token; `before` is put before each text."""

    def encode(text: str) -> list[int]:
        data = (before + text).encode()
        ids = []
        while data:
            best = max((token for token in tokens if data.startswith(token)), key=len)
            ids.append(tokens.index(best))
            data = data[len(best) :]
        return ids

    return encode


def matcher_of(
    pattern: str,
    tokens: list[bytes],
    *,
    encode: Callable[[str], list[int]] | None = None,
    encoder: bool = True,
) -> Matcher:
    """A matcher over these tokens and an end token, with a greedy encoder unless told otherwise."""
    chosen = (encode or greedy(tokens)) if encoder else None
    vocabulary = Vocabulary.from_tokens([*tokens, None], eos=[len(tokens)], encode=chosen)
    return Grammar.from_regex(pattern).compile(vocabulary).matcher()


def spelled(matcher: Matcher, tokens: list[int]) -> list[bytes]:
    return [matcher.vocabulary.token_bytes(token) or b"?" for token in tokens]


def forced(matcher: Matcher) -> list[bytes]:
    before = (matcher.state(), matcher.tokens)
    tokens = matcher.forced_tokens()
    assert (matcher.state(), matcher.tokens) == before
    matcher.fork().accept_all(tokens)
    return spelled(matcher, tokens)


def test_forced_text_is_written_as_the_tokenizer_does() -> None:
    matcher = matcher_of("hello[!?]", [*BYTES, b"he", b"llo"])
    assert forced(matcher) == [b"he", b"llo"]


def test_a_token_is_left_out_if_a_legal_one_reaches_over_the_end() -> None:
    matcher = matcher_of("hello[!?]", [*BYTES, b"he", b"llo", b"llo!"])
    assert forced(matcher) == [b"he"]


def test_a_token_that_the_rest_would_have_split_is_left_out() -> None:
    # `abc` is `a bc`, but `abcd` is `ab cd`.
    merges = {"a": ["a"], "ab": ["ab"], "abc": ["a", "bc"]}
    tokens = [*BYTES, b"ab", b"bc", b"cd"]

    def encode(text: str) -> list[int]:
        return [tokens.index(part.encode()) for part in merges[text]]

    assert forced(matcher_of("abc[de]", tokens, encode=encode)) == []


def test_blanks_at_the_end_are_left_to_what_follows() -> None:
    assert forced(matcher_of("x  [ab]", [*BYTES, b"  "])) == [b"x"]


def test_all_are_left_out_if_one_reaches_over_everything() -> None:
    matcher = matcher_of("hello[!?]", [*BYTES, b"he", b"llo", b"hello?"])
    assert forced(matcher) == []


def test_a_token_that_reaches_over_the_end_but_is_not_legal_hinders_nothing() -> None:
    matcher = matcher_of("hello[!?]", [*BYTES, b"he", b"llo", b"llo."])
    assert forced(matcher) == [b"he", b"llo"]


def test_the_text_may_end_after_it() -> None:
    assert forced(matcher_of("yes", [*BYTES, b"yes"])) == [b"yes"]


def test_the_end_token_is_not_forced() -> None:
    matcher = matcher_of("a", BYTES)
    matcher.accept(ord("a"))
    assert matcher.forced_token() == len(BYTES)
    assert forced(matcher) == []


def test_nothing_is_forced_where_there_is_a_choice() -> None:
    assert forced(matcher_of("a|b", BYTES)) == []


def test_text_before_it_is_tokenized_with_it() -> None:
    tokens = [*BYTES, b"ab", b"bc"]
    matcher = matcher_of("[ax]bc", tokens)
    matcher.accept(ord("a"))
    # Whole, the text is `ab c`: there is no boundary after `a`, so nothing is known of what the
    # tokenizer would write, and no token is the only one allowed.
    assert forced(matcher) == []
    other = matcher_of("[ax]bc", tokens)
    other.accept(ord("x"))
    assert forced(other) == [b"bc"]


def test_a_tokenizer_that_adds_a_blank_in_front() -> None:
    tokens = [*BYTES, b"he", b"llo", b" he"]
    matcher = matcher_of("hello[!?]", tokens, encode=greedy(tokens, before=" "))
    assert forced(matcher) == [b"he", b"llo"]
    matcher = matcher_of("[hx]ello[!?]", tokens, encode=greedy(tokens, before=" "))
    matcher.accept(ord("x"))
    assert forced(matcher) == [b"e", b"llo"]


def test_without_an_encoder_only_tokens_without_rival() -> None:
    tokens = [b"he", b"l", b"o", b"lo", b"!", b"?"]
    assert forced(matcher_of("hello[!?]", tokens, encoder=False)) == [b"he", b"l"]
    assert forced(matcher_of("hello[!?]", [*BYTES, b"he"], encoder=False)) == []


def test_an_encoder_that_changes_the_text_is_not_followed() -> None:
    matcher = matcher_of("ABC[!?]", BYTES, encode=lambda text: list(text.lower().encode()))
    assert forced(matcher) == [b"A", b"B", b"C"]  # the only tokens allowed


def test_an_unfinished_character_is_not_forced() -> None:
    matcher = matcher_of("x[éê]", BYTES)  # C3 A9 or C3 AA
    assert matcher.forced_bytes() == b"x\xc3"
    assert forced(matcher) == [b"x"]


def test_a_long_run_comes_in_parts() -> None:
    matcher = matcher_of("a{5000}", [*BYTES, b"aaaaaaaa"])
    written = b""
    while tokens := matcher.forced_tokens():
        matcher.accept_all(tokens)
        written += b"".join(spelled(matcher, tokens))
    assert written[:4000] == b"a" * 4000


def byte_level(merges: list[tuple[str, str]]) -> Tokenizer:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    texts = [*letters, *(a + b for a, b in merges)]
    tokenizer = Tokenizer(models.BPE({text: id_ for id_, text in enumerate(texts)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|end|>"])
    return tokenizer


TOKENIZER = byte_level([("a", "b"), ("ab", "c"), ("Ġ", "a"), ('"', ":"), ("b", "c"), ("c", '"')])
VOCABULARY = Vocabulary.from_tokenizer(TOKENIZER, eos=[TOKENIZER.get_vocab_size() - 1])


@given(
    st.lists(st.sampled_from(["ab", "abc", '"', ":", " a", "[ab]", "[bc]?", "(a|c)"]), max_size=5)
)
def test_whatever_follows_the_tokenizer_writes_the_forced_tokens(parts: list[str]) -> None:
    grammar = Grammar.from_regex("".join(parts) or "x?")
    start = grammar.compile(VOCABULARY).matcher()
    tokens = start.forced_tokens()
    for text in _texts(parts):
        written = TOKENIZER.encode(text).ids
        assert written[: len(tokens)] == tokens, (text, tokens)


def _texts(parts: list[str]) -> list[str]:
    alternatives = {"[ab]": ["a", "b"], "[bc]?": ["b", "c", ""], "(a|c)": ["a", "c"]}
    texts = [""]
    for part in parts:
        texts = [text + more for text in texts for more in alternatives.get(part, [part])]
    return texts
