"""A grammar: nodes of the core, whatever language they come from."""

from __future__ import annotations

import json
import sys
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal

from guided import _core
from guided.errors import GrammarError, LimitError
from guided.grammar.automaton import MAX_BYTES, MAX_HEADS, Automaton
from guided.grammar.kept import Kept
from guided.text.json_schema import compile_schema
from guided.text.regex import compile_regex
from guided.vocabulary import Vocabulary

Kind = Literal["regex", "json_schema", "choices"]

# Grammars by their content, so that a schema that comes with every request is read once.
# Grammars, and automata of each vocabulary, that are kept. An automaton of a usual schema that was
# walked holds some 0.3 MB, and giving one up takes about as long as making one.
KEPT = 256
_grammars: Kept[Hashable, Grammar] = Kept(KEPT)


class Grammar:
    """What an output must fit. Immutable; one source gives one object while it is remembered.

    Attributes:
        kind: the language it was written in.
        not_enforced: JSON pointers to the keywords that `unsupported="ignore"` passed over.
        unknown: JSON pointers to keywords that are not in the standard, and so say nothing.
    """

    __slots__ = ("__weakref__", "_arena", "_key", "_start", "kind", "not_enforced", "unknown")

    def __init__(
        self,
        arena: _core.Arena,
        start: int,
        *,
        kind: Kind,
        key: Hashable = None,
        not_enforced: Iterable[str] = (),
        unknown: Iterable[str] = (),
    ) -> None:
        self._arena = arena
        self._start = start
        self._key = self if key is None else key
        self.kind = kind
        self.not_enforced = list(not_enforced)
        self.unknown = list(unknown)

    @classmethod
    def from_regex(
        cls, pattern: str, *, dialect: Literal["python", "ecma"] = "python", search: bool = False
    ) -> Grammar:
        r"""Make a grammar of texts that a regular expression matches.

        Args:
            pattern: the expression. `\d \w \s` are ASCII unless `(?u)` is given, `.` is any
                character but a newline, and lazy quantifiers mean what greedy ones do.
            dialect: whose syntax and meaning it has, Python's `re` or ECMA-262 with the flag `u`.
            search: the match may stand anywhere in the text, instead of being all of it.

        Raises:
            GrammarError: the pattern is invalid; line, column and mend are given.
            UnsupportedError: it has a part that is not regular, such as a back-reference.
            LimitError: it is too large.
        """
        if not isinstance(pattern, str):
            raise TypeError(f"a pattern must be a str, found {type(pattern).__name__}")

        def make() -> Grammar:
            arena = _core.Arena()
            start = compile_regex(arena, pattern, dialect=dialect, search=search)
            return cls(arena, start, kind="regex", key=key)

        key = ("regex", pattern, dialect, search)
        return _grammars.get(key, make)

    @classmethod
    def from_json_schema(
        cls,
        schema: type | Mapping[str, Any] | bool | str,
        *,
        whitespace: Literal["flexible", "compact"] | int = "flexible",
        unsupported: Literal["refuse", "ignore"] = "refuse",
    ) -> Grammar:
        """Make a grammar of the JSON texts that are valid under a schema.

        Args:
            schema: a JSON Schema as a value or as JSON text, or a pydantic class.
            whitespace: "flexible" lets blanks stand between any two tokens, within bounds;
                "compact" lets none; a number is the indent of `json.dumps`.
            unsupported: "refuse" raises for a keyword that cannot be enforced; "ignore" passes over
                it and lists it in `not_enforced`.

        Raises:
            SchemaError: the schema is invalid or nothing can satisfy it; with a JSON pointer.
            UnsupportedError: it has a keyword that cannot be enforced exactly.
            LimitError: it is too large or nested too deep.
        """

        def make() -> Grammar:
            compiled = compile_schema(schema, whitespace=whitespace, unsupported=unsupported)
            return cls(
                compiled.arena,
                compiled.start,
                kind="json_schema",
                key=key,
                not_enforced=compiled.not_enforced,
                unknown=compiled.unknown,
            )

        content = _content(schema)
        key = None if content is None else ("json_schema", content, whitespace, unsupported)
        return make() if key is None else _grammars.get(key, make)

    @classmethod
    def from_choices(cls, choices: Iterable[str]) -> Grammar:
        """Make a grammar of the given texts, any one of them as a whole.

        Raises:
            GrammarError: there are none, or one has a surrogate, which UTF-8 cannot write.
        """
        texts = _check_choices(choices)

        def make() -> Grammar:
            arena = _core.Arena()
            start = arena.choice([arena.literal(text) for text in texts])
            return cls(arena, start, kind="choices", key=key)

        key = ("choices", texts)
        return _grammars.get(key, make)

    def compile(
        self, vocabulary: Vocabulary, *, max_heads: int = MAX_HEADS, max_bytes: int = MAX_BYTES
    ) -> Automaton:
        """Lay the grammar over a vocabulary. The result is kept with the vocabulary, by content.

        Args:
            vocabulary: the tokens.
            max_heads: bound on the ambiguity of one state; LimitError beyond it.
            max_bytes: bound on the memory of the states; on reaching it they are made anew.

        Raises:
            GrammarError: nothing can match.
            VocabularyError: no token can begin what must come first.
            LimitError: a product of two parts is too large.

        Cost: microseconds for a grammar that was compiled before; else some 0.1 ms, as states are
            made when they are first walked.
        """
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(
                f"a grammar needs a guided.Vocabulary, found {type(vocabulary).__name__};"
                " make one by Vocabulary.from_tokenizer or Vocabulary.from_tokens"
            )

        def make() -> Automaton:
            try:
                return Automaton.build(
                    self._arena, self._start, vocabulary, max_heads=max_heads, max_bytes=max_bytes
                )
            except GrammarError:
                if self.kind != "regex":
                    raise
                raise GrammarError(
                    "no text matches the pattern",
                    mend="one part of it excludes another, or looks for text before the beginning"
                    " or after the end; change that part",
                ) from None

        automata: Kept[Hashable, Automaton] = vocabulary.kept(_new_automata)
        return automata.get((self._key, max_heads, max_bytes), make)

    def __repr__(self) -> str:
        return f"<Grammar of {self.kind}, {len(self._arena)} nodes>"


def _content(schema: object) -> Hashable:
    """Return what tells one schema from another; None if it is in no state to tell.

    Raises:
        LimitError: it is nested deeper than Python can follow.
    """
    if isinstance(schema, (str, bytes, type)):
        return schema
    try:
        # Keys keep their order: it is the order in which properties are written.
        return json.dumps(schema, default=repr)
    except RecursionError:
        raise LimitError(
            "the schema is nested too deeply", limit="levels", value=sys.getrecursionlimit()
        ) from None
    except (TypeError, ValueError):
        return None  # the front end says what is wrong


def _new_automata() -> Kept[Hashable, Automaton]:
    return Kept(KEPT)


def _check_choices(choices: Iterable[str]) -> tuple[str, ...]:
    """Return the texts, once each, in their order."""
    if isinstance(choices, str):
        raise TypeError(f"choices must be a list of strings, found the string {choices!r}")
    texts = tuple(dict.fromkeys(choices))
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"a choice must be a str, found {text!r}")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise GrammarError(
                f"the choice {text!r} has a surrogate, which UTF-8 cannot write",
                text=text,
                index=error.start,
                mend="write the character itself",
            ) from None
    if not texts:
        raise GrammarError(
            "there is nothing to choose from", mend="give at least one text, which may be empty"
        )
    return texts
