"""What may come next in a text, written for people: texts and classes of characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from guided.grammar.automaton import Matcher
from guided.text.checks.spelled import char_class, quoted

# A forced text is shown as far as it helps to recognize it.
LONGEST = 40

_Ranges = list[tuple[int, int]]


def expectations(matcher: Matcher) -> list[str]:
    """Return what may come next, the end of the text not among it.

    Where a character of its own leads to a text that is forced, that text is one item, in quotes;
    all other characters are joined in one class, or shown in quotes if there is only one.

    Args:
        matcher: at the place; it is not changed.

    Cost: a fork and a step for each byte allowed, and some hundreds where these begin a character
    beyond ASCII.
    """
    texts: list[str] = []
    characters: _Ranges = []
    known: dict[tuple[int, int], _Ranges] = {}
    forks = {byte: _step(matcher, byte) for byte in matcher.allowed_bytes()}
    shared = Counter(fork.state() for fork in forks.values())
    within = any(0x80 <= byte < 0xC0 for byte in forks)
    for byte, fork in forks.items():
        if 0x80 <= byte < 0xC0:
            continue
        forced = (bytes([byte]) + fork.forced_bytes()[: 4 * LONGEST]).decode(errors="ignore")
        # Characters that lead to one place are a class, though what follows them may be forced.
        if byte < 0x80 and shared[fork.state()] > 1:
            forced = chr(byte)
        if len(forced) > 1:
            texts.append(quoted(forced[:LONGEST]) + ("..." if len(forced) > LONGEST else ""))
        elif len(forced) == 1:
            characters.append((ord(forced), ord(forced)))
        else:
            characters += _begun(fork, byte, known)
    if within:
        texts.append("the rest of a character")
    return [*texts, *_class(characters)]


def _class(characters: _Ranges) -> list[str]:
    """Write the characters as one item, one alone in quotes."""
    joined = list(_joined(characters))
    if len(joined) == 1 and joined[0][0] == joined[0][1]:
        return [quoted(chr(joined[0][0]))]
    return [char_class(joined)] if joined else []


def _begun(fork: Matcher, lead: int, known: dict[tuple[int, int], _Ranges]) -> _Ranges:
    """Return the characters whose first byte is `lead`, after which `fork` stands."""
    more = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
    base = (lead & (0x3F >> more)) << (6 * more)
    return [(base + first, base + last) for first, last in _tails(fork, more, known)]


def _tails(matcher: Matcher, more: int, known: dict[tuple[int, int], _Ranges]) -> _Ranges:
    """Return what `more` continuation bytes may come to, as numbers; states are looked at once."""
    key = (matcher.state(), more)
    if key not in known:
        found: _Ranges = []
        for byte in matcher.allowed_bytes():
            base = (byte & 0x3F) << (6 * (more - 1))
            if more == 1:
                found.append((base, base))
            else:
                tails = _tails(_step(matcher, byte), more - 1, known)
                found += [(base + first, base + last) for first, last in tails]
        known[key] = list(_joined(found))
    return known[key]


def _step(matcher: Matcher, byte: int) -> Matcher:
    fork = matcher.fork()
    fork.accept_bytes(bytes([byte]))
    return fork


def _joined(ranges: _Ranges) -> Iterator[tuple[int, int]]:
    """Join ranges that touch."""
    current: tuple[int, int] | None = None
    for first, last in sorted(ranges):
        if current is not None and first <= current[1] + 1:
            current = (current[0], max(current[1], last))
            continue
        if current is not None:
            yield current
        current = (first, last)
    if current is not None:
        yield current
