"""Text that a grammar forces, as the tokens that the tokenizer would write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guided.grammar.automaton import Matcher
    from guided.vocabulary import Vocabulary

# Tokens of the output that are tokenized again with the forced text: what stands further back no
# longer decides where its tokens begin.
_CONTEXT = 16
# Forced text may be as long as a count says ("a{100000}"); the rest follows with the next call.
_LONGEST = 1024


def forced_tokens(matcher: Matcher) -> list[int]:
    """Return the tokens that must come next; see `Matcher.forced_tokens`."""
    forced = _whole_characters(matcher.forced_bytes()[:_LONGEST])
    if forced:
        tokens = _settled(matcher, forced)
        if tokens:
            return tokens
    return _only_tokens(matcher)


def _only_tokens(matcher: Matcher) -> list[int]:
    """Follow the states while one token only is allowed."""
    fork = matcher.fork()
    ends = set(matcher.vocabulary.eos)
    tokens: list[int] = []
    while len(tokens) < _LONGEST:
        token = fork.forced_token()
        if token is None or token in ends:
            break
        fork.accept(token)
        tokens.append(token)
    return tokens


def _written(matcher: Matcher, forced: bytes) -> list[int]:
    """Tokenize the forced text after the text before it; empty if no token begins where it does."""
    encode = matcher.vocabulary.encode
    if encode is None:
        return []
    before = _text_before(matcher)
    # At the start of a text many tokenizers add a blank. A line break keeps it off what follows.
    for context in [before] if before else [b"", b"\n"]:
        try:
            text = (context + forced).decode()
        except UnicodeDecodeError:  # the text before is no text by itself
            return []
        tokens = _split(matcher.vocabulary, encode(text), context, forced)
        if tokens:
            return tokens
    return []


def _text_before(matcher: Matcher) -> bytes:
    """Return what the last tokens spell, from the beginning of a character."""
    pieces: list[bytes] = []
    for token in reversed(matcher.tokens[-_CONTEXT:]):
        piece = matcher.vocabulary.token_bytes(token) if token >= 0 else None
        if piece is None:
            break
        pieces.append(piece)
    before = b"".join(reversed(pieces))
    start = 0
    while start < len(before) and before[start] & 0xC0 == 0x80:
        start += 1
    return before[start:]


def _split(
    vocabulary: Vocabulary, tokens: Sequence[int], context: bytes, forced: bytes
) -> list[int]:
    """Return the tokens after the context, if these spell the text and one begins there."""
    spelled = [vocabulary.token_bytes(token) for token in tokens]
    text = b"".join(piece or b"" for piece in spelled)
    added = len(text) - len(context) - len(forced)
    if added not in (0, 1) or None in spelled or text != b" " * added + context + forced:
        return []  # special tokens, or a normalizer has changed the text
    position = 0
    for index, piece in enumerate(spelled):
        if position == len(context) + added:
            return list(tokens[index:])
        position += len(piece or b"")
    return []


def _settled(matcher: Matcher, forced: bytes) -> list[int]:
    """Return the tokens that begin the tokenizer's writing of the forced text whatever follows it.

    What follows may share a token with the end of the forced text. That token begins where the text
    before it ends, so the tokens before it are those of some shorter beginning of the forced text:
    what all these beginnings agree on is settled. (A pair of tokens that both merge, such as `a bc`
    for `abc` and `ab cd` for `abcd`, shows that dropping the last tokens would not do.)
    """
    kept = _written(matcher, forced)
    for cut in _cuts(matcher, forced):
        if not kept:
            break
        other = _written(matcher, _whole_characters(forced[:cut]))
        agreed = 0
        while agreed < min(len(kept), len(other)) and kept[agreed] == other[agreed]:
            agreed += 1
        del kept[agreed:]
    # An encoder may write what the grammar has no reading for, such as a token by its number.
    return kept[: matcher.accepted_prefix(kept)]


def _cuts(matcher: Matcher, forced: bytes) -> list[int]:
    """Return the places in the forced text from where a legal token reaches over its end."""
    lengths = matcher.vocabulary.lengths
    longest = matcher.vocabulary.longest
    start = max(0, len(forced) - longest + 1)
    fork = matcher.fork()
    if start:
        fork.accept_bytes(forced[:start])
    # Pre-tokenizers look past blanks: of several, the last goes with the word that follows.
    blanks = len(forced.rstrip())
    cuts = []
    for place in range(start, len(forced)):
        reach = len(forced) - place
        if place >= blanks or any(lengths[token] > reach for token in fork.allowed_tokens()):
            cuts.append(place)
        fork.accept_bytes(forced[place : place + 1])
    return cuts


def _whole_characters(data: bytes) -> bytes:
    """Cut off an unfinished character at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            wanted = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data if back >= wanted else data[:-back]
    return data
