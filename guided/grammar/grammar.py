"""A grammar: nodes of the core, whatever language they come from."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from guided import _core
from guided.errors import GrammarError, LimitError
from guided.grammar.automaton import MAX_BYTES, MAX_HEADS, Automaton
from guided.grammar.kept import Identity, Kept
from guided.text.json_schema import (
    Escapes,
    Formats,
    PropertyOrder,
    SchemaLike,
    Unsupported,
    Whitespace,
    check_options,
    compile_schema,
    is_python_type,
    read_value,
    type_adapter,
)
from guided.text.regex import compile_regex
from guided.vocabulary import Vocabulary

if TYPE_CHECKING:
    from referencing import Registry

Kind = Literal["regex", "json_schema", "choices"]

# Grammars, by their content, so that a schema of every request is read once, and automata of each
# vocabulary. An automaton of a usual schema holds some 0.3 MB once it was walked, and giving one up
# takes about as long as making one.
KEPT = 256
_grammars: Kept[Hashable, Grammar] = Kept(KEPT)


class Grammar:
    """What an output must fit. Immutable; one source gives one object while it is remembered.

    Attributes:
        kind: the language it was written in.
        not_enforced: JSON pointers to the keywords that `unsupported="ignore"` passed over.
        unknown: JSON pointers to keywords that are not in the standard, and so say nothing.
    """

    __slots__ = (
        "__weakref__",
        "_arena",
        "_key",
        "_read",
        "_start",
        "kind",
        "not_enforced",
        "unknown",
    )

    def __init__(
        self,
        arena: _core.Arena,
        start: int,
        *,
        kind: Kind,
        key: Hashable = None,
        read: Callable[[str], Any] = str,
        not_enforced: Iterable[str] = (),
        unknown: Iterable[str] = (),
    ) -> None:
        self._arena = arena
        self._start = start
        self._read = read
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
        schema: SchemaLike,
        *,
        whitespace: Whitespace = "flexible",
        property_order: PropertyOrder = "schema",
        escapes: Escapes = "minimal",
        formats: Formats = "assert",
        unsupported: Unsupported = "refuse",
        registry: Registry[Any] | None = None,
    ) -> Grammar:
        r"""Make a grammar of the JSON texts that are valid under a schema.

        Args:
            schema: a JSON Schema as a value or as JSON text; or a Python type, such as a pydantic
                model, a dataclass, `list[int]` or `Literal["a", "b"]`. That takes pydantic.
            whitespace: the blanks between two tokens. "flexible" lets up to 40 stand there,
                "compact" none; a number is the indent of `json.dumps`; another text is a pattern,
                as in `re`, of the blanks in each gap, such as " ?".
            property_order: "schema" writes the properties of an object in the order in which the
                schema names them, "any" lets the model choose.
            escapes: "minimal" spells characters as `json.dumps` does, `ensure_ascii` or not;
                "any" takes all spellings of RFC 8259, `\u0061` for `a`, in declared keys too.
            formats: "assert" enforces `format`; "annotate" lets it say nothing.
            unsupported: "refuse" raises for a keyword that cannot be enforced exactly; "ignore"
                passes over it and lists it in `not_enforced`.
            registry: documents, of the package `referencing`, that references may lead to. None is
                ever fetched.

        Raises:
            SchemaError: the schema is invalid or nothing can satisfy it; with a JSON pointer.
            UnsupportedError: it has a keyword that cannot be enforced exactly.
            LimitError: it is too large or nested too deep.
            ValueError, TypeError: an option is none of its choices.

        Cost: microseconds for a schema that was read before, under the same registry.
        """
        check_options(whitespace, property_order, escapes, formats, unsupported, registry)
        read: Callable[[str], Any] = json.loads
        if is_python_type(schema):
            schema = type_adapter(schema)
            read = partial(read_value, schema)

        def make() -> Grammar:
            compiled = compile_schema(
                schema,
                whitespace=whitespace,
                property_order=property_order,
                escapes=escapes,
                formats=formats,
                unsupported=unsupported,
                registry=registry,
            )
            return cls(
                compiled.arena,
                compiled.start,
                kind="json_schema",
                key=key,
                read=read,
                not_enforced=compiled.not_enforced,
                unknown=compiled.unknown,
            )

        key: Hashable = None
        if (content := _content(schema)) is not None:
            options = (whitespace, property_order, escapes, formats, unsupported)
            key = ("json_schema", content, options, Identity(registry))
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

    def read(self, text: str) -> Any:
        """Return the value of a text that fits: what it is read as in `Result.value`.

        For a Python type that is the validated object, for another schema what `json.loads` gives,
        else the text itself.

        Raises:
            ValueRejected: a check of the Python type that its schema cannot say refuses the value.
        """
        return self._read(text)

    def __repr__(self) -> str:
        return f"<Grammar of {self.kind}, {len(self._arena)} nodes>"


def _content(schema: object) -> Hashable:
    """Return what tells one schema from another; None if it cannot be told.

    Raises:
        LimitError: it is nested deeper than Python can follow.
    """
    if isinstance(schema, (str, bytes)):
        return "text", schema
    if is_python_type(schema):
        return Identity(schema)
    try:
        # Exact where JSON is not (a tuple is no list, 1 no 1.0 and no True), with keys in their
        # order, which is the order in which properties are written; and linear, though parts may
        # be shared or hold themselves.
        return pickle.dumps(schema, pickle.HIGHEST_PROTOCOL)
    except RecursionError:
        raise LimitError(
            "the schema is nested too deeply", limit="levels", value=sys.getrecursionlimit()
        ) from None
    except Exception:  # it holds some object, and what its class does about that, who knows
        return None


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
