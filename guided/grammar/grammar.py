"""A grammar: nodes of the core, whatever language they come from."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from guided import _core
from guided.errors import GrammarError
from guided.grammar.arguments import check_choices, content_of, refuse_options
from guided.grammar.automaton import MAX_BYTES, MAX_HEADS, Automaton
from guided.grammar.composed import ComposedGrammars
from guided.grammar.files import read_grammar_file
from guided.grammar.kept import Identity, Kept
from guided.grammar.tagged import TaggedGrammars
from guided.grammar.tokens import NamedTokens, define_tokens
from guided.text.composition import Leaf, Part, PartCaptures, write_part
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
from guided.text.nodes import GrammarValue
from guided.text.regex import compile_regex
from guided.vocabulary import Vocabulary

if TYPE_CHECKING:
    from referencing import Registry

    from guided.text.lark import Captures, DialectName, LexerName

Kind = Literal["regex", "json_schema", "choices", "gbnf", "lark", "tags", "tools", "composition"]

# Grammars, by their content, so that a schema of every request is read once, and automata of each
# vocabulary. An automaton of a usual schema holds some 0.3 MB once it was walked, and giving one up
# takes about as long as making one.
KEPT = 256
_grammars: Kept[Hashable, Grammar] = Kept(KEPT)


class Grammar(TaggedGrammars, ComposedGrammars, GrammarValue):
    """What an output must fit. Immutable; one source gives one object while it is remembered.

    Attributes:
        kind: the language it was written in.
        not_enforced: JSON pointers to the keywords that `unsupported="ignore"` passed over.
        unknown: JSON pointers to keywords that are not in the standard, and so say nothing.
    """

    __slots__ = (
        "__weakref__",
        "_captures",
        "_depth",
        "_part",
        "_read",
        "_written",
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
        tokens: NamedTokens | None = None,
        captures: Captures | PartCaptures | None = None,
    ) -> None:
        own = Identity(arena) if key is None else key
        self._part: Part = Leaf(own, arena, start, tokens or {})
        self._written: Leaf | None = None
        self._depth = 1
        self._captures = captures
        self._read = read
        self.kind = kind
        self.not_enforced = list(not_enforced)
        self.unknown = list(unknown)

    @property
    def _nodes(self) -> Leaf:
        """Its nodes; those of a composition are written when they are first asked for."""
        if self._written is None:
            self._written = write_part(self._part)
        return self._written

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

        key: Hashable = None
        if (content := content_of(schema)) is not None:
            options = (whitespace, property_order, escapes, formats, unsupported)
            documents = None if registry is None else Identity(registry)
            key = ("json_schema", content, options, documents)
            kept = _grammars.find(key)
            if kept is not None:
                return kept
        compiled = compile_schema(
            schema,
            whitespace=whitespace,
            property_order=property_order,
            escapes=escapes,
            formats=formats,
            unsupported=unsupported,
            registry=registry,
        )
        grammar = cls(
            compiled.arena,
            compiled.start,
            kind="json_schema",
            key=key,
            read=read,
            not_enforced=compiled.not_enforced,
            unknown=compiled.unknown,
        )
        return grammar if key is None else _grammars.keep(key, grammar)

    @classmethod
    def from_choices(cls, choices: Iterable[str]) -> Grammar:
        """Make a grammar of the given texts, any one of them as a whole.

        Raises:
            GrammarError: there are none, or one has a surrogate, which UTF-8 cannot write.
        """
        texts = check_choices(choices)

        def make() -> Grammar:
            arena = _core.Arena()
            start = arena.choice([arena.literal(text) for text in texts])
            return cls(arena, start, kind="choices", key=key)

        key = ("choices", texts)
        return _grammars.get(key, make)

    @classmethod
    def from_gbnf(cls, text: str, *, start: str = "root") -> Grammar:
        """Make a grammar of a text in GBNF, the notation of llama.cpp.

        A token that it gives by its text, such as `<think>`, is looked up by `compile`.

        Args:
            text: the grammar.
            start: the rule that the whole output must match.

        Raises:
            GrammarError: it is invalid; line, column and mend are given.
            LimitError: its groups are nested too deeply, or a count is too large.
        """
        if not isinstance(text, str):
            raise TypeError(f"a grammar must be a str, found {type(text).__name__}")

        def make() -> Grammar:
            from guided.text.gbnf import compile_gbnf

            compiled = compile_gbnf(text, start=start)
            return cls(compiled.arena, compiled.start, kind="gbnf", key=key, tokens=compiled.tokens)

        key = ("gbnf", text, start)
        return _grammars.get(key, make)

    @classmethod
    def from_file(
        cls,
        source: str | PathLike[str],
        *,
        start: str | None = None,
        lexer: LexerName | None = None,
        import_paths: Sequence[str | Path] = (),
        texts: Mapping[str, str] | None = None,
    ) -> Grammar:
        """Read a grammar from a file, or one of those that are shipped.

        Args:
            source: path of a file whose suffix tells its language: `.gbnf`, `.lark`, or `.json` for
                a JSON Schema; or the name of a shipped grammar, such as "sql".
            start: the rule that the whole output must match; "root" in GBNF and "start" in Lark
                if it is not given.
            lexer, import_paths, texts: for a Lark grammar, as `from_lark` takes them.

        Raises:
            FileNotFoundError: there is no such file.
            GrammarError: it is invalid, or there is no shipped grammar of that name.
            UnsupportedError: it has a part that cannot be enforced exactly.
            TypeError: an option is given that the language of the file does not have.
        """
        file = read_grammar_file(source)
        if file.kind != "lark":
            refuse_options(file, lexer=lexer, import_paths=import_paths or None, texts=texts)
        if file.kind == "json":
            refuse_options(file, start=start)
        if file.kind == "gbnf":
            return cls.from_gbnf(file.text, start=start or "root")
        if file.kind == "json":
            return cls.from_json_schema(file.text)
        # What names no other file is remembered by its text, wherever it is.
        names_files = "%import" in file.text or "%grammar" in file.text
        path = file.path if names_files else None
        return cls.from_lark(
            file.text,
            start=start or "start",
            lexer=lexer or "contextual",
            import_paths=import_paths,
            path=path,
            texts=texts,
        )

    @classmethod
    def from_lark(
        cls,
        text: str,
        *,
        start: str = "start",
        lexer: LexerName = "contextual",
        import_paths: Sequence[str | Path] = (),
        path: str | Path | None = None,
        dialect: DialectName = "guided",
        texts: Mapping[str, str] | None = None,
    ) -> Grammar:
        """Make a grammar of the texts that a Lark grammar parses.

        Args:
            text: the grammar.
            start: the rule that texts are made of.
            lexer: whose meaning it has, by the names that lark gives its lexers. "contextual" and
                "basic" are those of its LALR parser, "dynamic" and "dynamic_complete" those of its
                Earley parser, which takes ambiguous grammars too. What comes out is parsed by
                `lark.Lark(text, parser="lalr")`, or with the last two by `lark.Lark(text)`.
            import_paths: folders in which `%import` looks for grammars.
            path: the file that the text comes from, beside which relative imports are looked for.
            dialect: "guided" reads also what guided adds to the language: `NAME[lazy]`,
                `NAME[stop="..."]`, `name[capture]`, tokens as `<|name|>` and `<[1000]>`, schemas as
                `%json {...}`, grammars as `%grammar "file"`, quotations as
                `%verbatim name words`, and `unordered{a, b, c}`; "lark" refuses it.
            texts: the texts that `%verbatim` quotes, by name.

        Raises:
            GrammarError: the grammar is at fault; with line, column and mend.
            UnsupportedError: a terminal is not regular, or needs a post-lexer other than lark's
                for Python's indentation.
            LimitError: it is too large or nested too deep.
            ValueError: there is no such lexer or dialect.

        Cost: some 10 ms for a small grammar, 0.5 s for Python's; mostly lark's reading of it.
        """
        from guided.text.lark import check_dialect, check_lexer, compile_lark

        if not isinstance(text, str):
            raise TypeError(f"a grammar must be a str, found {type(text).__name__}")
        check_lexer(lexer)
        check_dialect(dialect)
        folders = tuple(map(str, import_paths))
        place = None if path is None else str(path)
        given = dict(texts or {})
        key: Hashable = ("lark", text, start, lexer, dialect, tuple(sorted(given.items())))

        def make() -> Grammar:
            compiled = compile_lark(
                text,
                start=start,
                lexer=lexer,
                import_paths=folders,
                path=place,
                dialect=dialect,
                texts=given,
            )
            # Files that are imported or embedded may change: such a grammar is known by itself.
            own = None if compiled.is_outside else key
            return cls(
                compiled.arena,
                compiled.start,
                kind="lark",
                key=own,
                tokens=compiled.tokens,
                captures=compiled.captures,
            )

        return make() if folders or place is not None else _grammars.get(key, make)

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
            VocabularyError: no token can begin what must come first, or there is no such token as
                the grammar asks for.
            LimitError: a product of two parts is too large.

        Cost: microseconds for a grammar that was compiled before; else some 0.1 ms, as states are
            made when they are first walked.
        """
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(
                f"a grammar needs a guided.Vocabulary, found {type(vocabulary).__name__};"
                " make one by Vocabulary.from_tokenizer or Vocabulary.from_tokens"
            )

        automata: Kept[Hashable, Automaton] = vocabulary.kept(_new_automata)
        key = (self._part, max_heads, max_bytes)
        kept = automata.find(key)
        if kept is not None:
            return kept
        nodes = self._nodes
        arena = define_tokens(nodes.arena, nodes.late, vocabulary)
        try:
            made = Automaton.build(
                arena, nodes.start, vocabulary, max_heads=max_heads, max_bytes=max_bytes
            )
        except GrammarError:
            if self.kind != "regex":
                raise
            raise GrammarError(
                "no text matches the pattern",
                mend="one part of it excludes another, or looks for text before the beginning"
                " or after the end; change that part",
            ) from None
        return automata.keep(key, made)

    def read(self, text: str) -> Any:
        """Return the value of a text that fits: what it is read as in `Result.value`.

        For a Python type that is the validated object, for another schema what `json.loads` gives,
        else the text itself.

        Raises:
            ValueRejected: a check of the Python type that its schema cannot say refuses the value.
        """
        return self._read(text)

    def captures(self, text: str) -> dict[str, list[str]]:
        """Return what was captured in a text that fits: by the attribute of rules, or `capture`.

        Returns:
            for each name the texts, in the order in which they begin; empty if there were none.
            A text of Lark is parsed as lark would. A rule spells from its first terminal to the end
            of its last one, with all between them. A text of a composition is read from left to
            right, each part taking as much as lets the rest fit, a choice its first part that does;
            special tokens stand in it by their names.

        Raises:
            GuidedError: the text does not fit.
            LimitError: there are more than 100 million bytes of such texts, or too many ways to
                read it.

        Cost: some 10 us for each byte of the text; nothing for a grammar without captures.
        """
        return {} if self._captures is None else self._captures.find(text)

    def __repr__(self) -> str:
        return f"<Grammar of {self.kind}, {len(self._nodes.arena)} nodes>"


def _new_automata() -> Kept[Hashable, Automaton]:
    return Kept(KEPT)
