"""The vocabulary as users see it: the core's, with names and an encoder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self, TypeVar
from weakref import WeakKeyDictionary

from guided import _core
from guided.errors import VocabularyError
from guided.vocabulary.dispatch import source_of
from guided.vocabulary.source import Encoder, TokenizerSource

Thing = TypeVar("Thing")

# What a vocabulary depends on besides the tokenizer itself: how many tokens that has (some may be
# added), the end tokens, and the width of the logits.
_Key = tuple[int, tuple[int, ...], int | None]
_cache: WeakKeyDictionary[object, dict[_Key, Vocabulary]] = WeakKeyDictionary()
_cache_lock = threading.Lock()


class Vocabulary:
    """The tokens of a model and what each spells, in bytes. Made once, shared by all grammars.

    It holds the core's vocabulary instead of being one: automata refer to that from C++, so those
    that are kept here close no circle that Python cannot see, and all of it goes together.

    Attributes:
        special: name and id of the tokens that are never matched by spelling.
        core: the core's vocabulary.
        encode: text to tokens as the tokenizer writes it, without special tokens around it;
            None if there is no tokenizer.
    """

    special: dict[str, int]
    encode: Encoder | None

    def __init__(
        self,
        tokens: Sequence[bytes | None],
        eos: Sequence[int],
        size: int | None = None,
        *,
        special: Mapping[str, int] | None = None,
        encode: Encoder | None = None,
    ) -> None:
        named = dict(special or {})
        spelled = _spelled(tokens, eos, named, size)
        self.core = _core.Vocabulary(spelled, list(dict.fromkeys(eos)), size)
        self.special = named
        self.encode = encode
        self._kept: dict[Callable[[], Any], Any] = {}

    @classmethod
    def from_tokens(
        cls,
        tokens: Sequence[bytes | None],
        eos: Sequence[int],
        special: Mapping[str, int] | None = None,
        size: int | None = None,
        *,
        encode: Encoder | None = None,
    ) -> Self:
        """Make a vocabulary of tokens that are spelled by the caller.

        Args:
            tokens: the bytes of each id; None for a special or unused one.
            eos: the end tokens, at least one.
            special: name and id of special tokens; these and the end tokens are never matched by
                spelling, whatever bytes they were given.
            size: V, the width of the logits, where it is larger than the number of tokens.
            encode: text to tokens, as the tokenizer would write it.

        Raises:
            VocabularyError: no end token, an id out of range, or `size` too small.
            TypeError: a token is no bytes. Text of a tokenizer's table is not what it spells.
        """
        return cls(tokens, eos, size, special=special, encode=encode)

    @classmethod
    def from_tokenizer(
        cls,
        tokenizer: object,
        *,
        eos: Sequence[int] | None = None,
        size: int | None = None,
        generation_config: object = None,
    ) -> Vocabulary:
        """Read a tokenizer of transformers, tokenizers, sentencepiece, tiktoken or mistral-common.

        The result is kept as long as the tokenizer lives, and returned again.

        Args:
            tokenizer: the tokenizer, fast or slow.
            eos: the end tokens, in place of those that tokenizer and generation config declare.
            size: V, the width of the logits, where the model's is another than the tokenizer's.
                Tokens beyond it are left out: the model has no logit for them.
            generation_config: an object or a mapping with `eos_token_id`, an int or several.

        Raises:
            VocabularyError: the tokenizer is not known, its tokens have no spelling of their own
                (WordPiece), or no end token is declared.

        Cost: some 0.3 s for 128,000 tokens the first time.
        """
        source = source_of(tokenizer)
        ends = _end_tokens(source.eos, generation_config) if eos is None else tuple(eos)
        key = (source.width, ends, size)
        with _cache_lock:
            known = _known(tokenizer)
            if key not in known:
                known[key] = _read(source, ends, size)
            return known[key]

    @property
    def size(self) -> int:
        """V, the width of the logits."""
        return self.core.size

    @property
    def words(self) -> int:
        """W = ceil(V / 32), the words of a mask row."""
        return self.core.words

    @cached_property
    def eos(self) -> list[int]:
        """The tokens that end a text."""
        return self.core.eos

    @property
    def fingerprint(self) -> str:
        """32 hex digits over all bytes, end tokens and the width."""
        return self.core.fingerprint

    def token_bytes(self, token: int) -> bytes | None:
        """Return what a token spells; None for a special token or a gap."""
        return self.core.token_bytes(token)

    def missing_bytes(self) -> bytes:
        """Return the bytes that no token spells by itself."""
        return self._missing_bytes

    @cached_property
    def _missing_bytes(self) -> bytes:
        return self.core.missing_bytes()  # found in the trie, and each automaton asks

    def stats(self) -> dict[str, int]:
        """Return sizes: of the trie, the mask rows and the tables of terminals."""
        return self.core.stats()

    @cached_property
    def lengths(self) -> list[int]:
        """How many bytes each token spells, 0 for special tokens and gaps."""
        return [len(self.core.token_bytes(token) or b"") for token in range(self.size)]

    @cached_property
    def longest(self) -> int:
        """How many bytes the longest token spells."""
        return max(self.lengths, default=0)

    def kept(self, make: Callable[[], Thing]) -> Thing:
        """Return what `make` returned when it was first given to this vocabulary.

        So that what is made of a vocabulary, such as its automata, lives as long as it does.
        """
        if make not in self._kept:
            self._kept.setdefault(make, make())
        thing: Thing = self._kept[make]
        return thing

    def __repr__(self) -> str:
        return f"<Vocabulary of {self.size} tokens, eos {self.eos}>"


def _read(source: TokenizerSource, eos: Sequence[int], size: int | None) -> Vocabulary:
    table = source.read()
    if size is not None and size < len(table.tokens):
        # Some checkpoints ship a tokenizer with more added tokens than the model has rows for.
        del table.tokens[size:]
        table.special = {name: id_ for name, id_ in table.special.items() if id_ < size}
        eos = [id_ for id_ in eos if id_ < size]
    return Vocabulary(table.tokens, eos, size, special=table.special, encode=source.encode)


def _known(tokenizer: object) -> dict[_Key, Vocabulary]:
    """Return what was made of this tokenizer so far."""
    try:
        return _cache.setdefault(tokenizer, {})
    except TypeError:  # a bare `tokenizers.Tokenizer` cannot be referred to weakly
        return {}


def _end_tokens(declared: Sequence[int], generation_config: object) -> tuple[int, ...]:
    """Join the end tokens of the tokenizer and of the generation config."""
    if isinstance(generation_config, Mapping):
        more: Any = generation_config.get("eos_token_id")
    else:
        more = getattr(generation_config, "eos_token_id", None)
    if more is None:
        more = []
    elif isinstance(more, int):
        more = [more]
    return tuple(dict.fromkeys([*declared, *more]))


def _spelled(
    tokens: Sequence[bytes | None], eos: Sequence[int], special: Mapping[str, int], size: int | None
) -> list[bytes | None]:
    """Return the tokens with nothing spelled by special ones; check all numbers."""
    if isinstance(eos, int):
        raise TypeError(f"eos is a list of ids, found {eos}; write eos=[{eos}]")
    if isinstance(tokens, Mapping) or set(map(type, tokens)) - {bytes, type(None)}:
        wrong = next((token for token in tokens if not isinstance(token, bytes | None)), tokens)
        raise TypeError(
            "tokens is a list with the bytes of each id, None for one that spells nothing;"
            f" found {wrong!r:.60}"
        )
    if not eos:
        raise VocabularyError(
            "no end token is known, so no output could ever end",
            mend="pass eos=[...] with the ids that end a text",
        )
    if size is not None and size < len(tokens):
        raise VocabularyError(
            f"the logits are {size} wide, but there are {len(tokens)} tokens",
            mend=f"pass a size of at least {len(tokens)}, or leave it out",
        )
    width = len(tokens) if size is None else size
    named = [(f"end token {id_}", id_) for id_ in eos]
    named += [(f"special token {name!r} ({id_})", id_) for name, id_ in special.items()]
    for what, id_ in named:
        if not 0 <= id_ < width:
            raise VocabularyError(
                f"{what} is outside the vocabulary of {width} tokens",
                mend="use ids from 0, or pass size=... if the logits are wider",
            )
    spelled: list[bytes | None] = [data or None for data in tokens]
    # A model may end by an id that its tokenizer has no entry for.
    spelled += [None] * (max(id_ for _, id_ in named) + 1 - len(spelled))
    for _, id_ in named:
        spelled[id_] = None
    return spelled
