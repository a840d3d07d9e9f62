"""Grammars put together of others: in a row, to choose from, again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Self

from guided.errors import GrammarError
from guided.text.composition import (
    Capture,
    Part,
    PartCaptures,
    Repeat,
    Token,
    Unordered,
    Until,
    Verbatim,
    check_count,
    check_depth,
    check_name,
    check_stops,
    check_unordered,
    choice,
    literal,
    refuse_whole_texts,
    sequence,
)
from guided.text.lark.verbatim import Unit
from guided.text.surrogates import check_text

if TYPE_CHECKING:
    from guided.grammar.grammar import Grammar


class ComposedGrammars:
    """The ways to make a `Grammar` of other ones. A text that stands for a part is that text."""

    __slots__ = ()

    _part: Part
    _depth: int

    @classmethod
    def sequence(cls, *parts: Grammar | str) -> Grammar:
        """Make a grammar of parts one after the other; `a + b` is `Grammar.sequence(a, b)`.

        Raises:
            TypeError: a part is neither a grammar nor a text.
            GrammarError: a text has a surrogate, which UTF-8 cannot write.
            UnsupportedError: a part is a Lark grammar whose lexer reads whole texts only.
            LimitError: parts stand within each other too deeply.
        """
        return _compose(sequence, parts, "a sequence")

    @classmethod
    def choice(cls, *parts: Grammar | str) -> Grammar:
        """Make a grammar of the texts of all parts; `a | b` is `Grammar.choice(a, b)`.

        Raises:
            GrammarError: there is no part, or as for `sequence`.
            TypeError, UnsupportedError, LimitError: as for `sequence`.
        """
        if not parts:
            raise GrammarError(
                "there is nothing to choose from", mend="give at least one grammar or text"
            )
        return _compose(choice, parts, "a choice")

    @classmethod
    def unordered(cls, *parts: Grammar | str, separator: Grammar | str | None = None) -> Grammar:
        """Make a grammar of parts in any order, each once.

        Args:
            parts: up to 12.
            separator: what stands between each two of them.

        Raises:
            GrammarError: there is no part, or as for `sequence`.
            LimitError: there are more than 12.
            TypeError, UnsupportedError: as for `sequence`.
        """
        check_unordered(len(parts))
        between = [] if separator is None else [separator]

        def make(found: list[Part]) -> Part:
            last = None if separator is None else found[-1]
            return Unordered(tuple(found[: len(parts)]), last)

        return _compose(make, [*parts, *between], "unordered parts")

    @classmethod
    def until(cls, stop: str | Iterable[str], *, text: Grammar | str | None = None) -> Grammar:
        """Make a grammar of a text that ends with the first occurrence of a stop text.

        Args:
            stop: the stop text, or several of which one comes first.
            text: what the text before it must fit, which must be regular; any text if not given.

        Raises:
            GrammarError: there is no stop text, or one is empty or can never come first.
            TypeError: something is no text, or no grammar.

        Where `text` is not regular, `compile` raises UnsupportedError.
        """
        stops = check_stops(stop)
        if text is None:
            return _made(Until(stops, None), 1)
        return _compose(lambda found: Until(stops, found[0]), [text], "until")

    @classmethod
    def verbatim(cls, text: str, *, unit: Unit = "words") -> Grammar:
        """Make a grammar of the spans of a text, quotations of it, none of them empty.

        Args:
            text: the text, up to some 100,000 bytes.
            unit: with "words" a span cuts no word: letters, digits, underscores and marks that
                combine with them, and apostrophes between them. With "characters" it may begin and
                end anywhere.

        Raises:
            GrammarError: the text is empty or has a surrogate.
            TypeError, ValueError: it is no text, or there is no such unit.

        Where it is too long, `compile` raises LimitError.
        """
        if not isinstance(text, str):
            raise TypeError(f"the text to quote is a str, found {type(text).__name__}")
        if unit not in ("words", "characters"):
            raise ValueError(f'unit must be "words" or "characters", not {unit!r}')
        if not text:
            raise GrammarError("the text to quote is empty: it has no span", mend="give some text")
        return _made(Verbatim(check_text(text, "the text to quote"), unit), 1)

    @classmethod
    def token(cls, token: str | int, *, negated: bool = False) -> Grammar:
        """Make a grammar of one token, which `compile` looks up in the vocabulary.

        Args:
            token: its text, such as "<think>", or its number.
            negated: any other token is meant, but for those that end an output.

        Raises:
            TypeError, ValueError: it is neither, or a negative number.
        """
        if isinstance(token, bool) or not isinstance(token, str | int):
            raise TypeError(f"a token is given by its text or its number, found {token!r}")
        if token == "" or (isinstance(token, int) and token < 0):
            raise ValueError(f"there is no token {token!r}")
        return _made(Token(token, bool(negated)), 1)

    def optional(self) -> Grammar:
        """Return the grammar of the same texts and the empty one."""
        return self.repeat(0, 1)

    def repeat(
        self,
        minimum: int = 0,
        maximum: int | None = None,
        *,
        separator: Grammar | str | None = None,
    ) -> Grammar:
        """Return the grammar of this one several times in a row.

        Args:
            minimum, maximum: how often, both included; None: there is no bound.
            separator: what stands between each two.

        Raises:
            TypeError, ValueError: a bound is no count, or the minimum above the maximum.
            GrammarError, UnsupportedError, LimitError: as for `Grammar.sequence`.
        """
        least = check_count("minimum", minimum)
        most = None if maximum is None else check_count("maximum", maximum)
        if most is not None and least > most:
            raise ValueError(f"minimum ({least}) is above maximum ({most})")

        def make(found: list[Part]) -> Part:
            return Repeat(found[0], least, most, None if separator is None else found[1])

        parts: list[Any] = [self] if separator is None else [self, separator]
        return _compose(make, parts, "a repetition")

    def capture(self, name: str) -> Grammar:
        """Return the same grammar, whose texts are found by a name in `result.captures`.

        They are found in any grammar that this one becomes a part of; see `Grammar.captures`. The
        value of an output stays what it is.

        Raises:
            TypeError, GrammarError: the name is no text, or empty.
            UnsupportedError, LimitError: as for `Grammar.sequence`.
        """
        called = check_name(name)
        grammar: Any = self
        captured = _compose(lambda found: Capture(called, found[0]), [grammar], "a capture")
        captured._read = grammar._read
        return captured

    def __get_pydantic_json_schema__(
        self, core_schema: Any, handler: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        """Let the text of a field `Annotated[str, grammar]` fit this grammar."""
        return {"allOf": [handler(core_schema), self]}

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __add__(self, other: Grammar | str) -> Grammar:
        return _operation(sequence, self, other)

    def __radd__(self, other: Grammar | str) -> Grammar:
        return _operation(sequence, other, self)

    def __or__(self, other: Grammar | str) -> Grammar:
        return _operation(choice, self, other)

    def __ror__(self, other: Grammar | str) -> Grammar:
        return _operation(choice, other, self)


def _operation(make: Callable[[list[Part]], Part], left: Any, right: Any) -> Grammar:
    for each in (left, right):
        if not isinstance(each, ComposedGrammars | str):
            return NotImplemented  # type: ignore[no-any-return]  # as Python asks of operators
    return _compose(make, (left, right), "an operation")


def _compose(make: Callable[[list[Part]], Part], given: Iterable[Any], what: str) -> Grammar:
    """Make a grammar of some, with what these say beside their nodes."""
    found: list[Part] = []
    grammars: list[Any] = []
    for number, each in enumerate(given, 1):
        if isinstance(each, str):
            found.append(literal(check_text(each, f"the text {each!r}")))
            continue
        if not isinstance(each, ComposedGrammars):
            raise TypeError(
                f"part {number} of {what} must be a guided.Grammar or a str,"
                f" found {type(each).__name__}"
            )
        grammars.append(each)
        found.append(grammars[-1]._part)
        if grammars[-1].kind == "lark":
            refuse_whole_texts(grammars[-1]._nodes)
    part = make(found)
    # Rows and choices in their like are laid out, and so are no deeper than before.
    flat = type(part) if make in (sequence, choice) else None
    depths = [each._depth + (type(each._part) is not flat) for each in grammars]
    return _made(part, check_depth(max(depths, default=1)), grammars)


def _made(part: Part, depth: int, grammars: Iterable[Any] = ()) -> Grammar:
    from guided.grammar.grammar import Grammar

    named = isinstance(part, Capture) or any(each._captures is not None for each in grammars)
    made = Grammar.__new__(Grammar)
    made._part, made._depth, made._written = part, depth, None
    made._captures = PartCaptures(part) if named else None
    made._read, made.kind = str, "composition"
    made.not_enforced = [place for each in grammars for place in each.not_enforced]
    made.unknown = [place for each in grammars for place in each.unknown]
    return made
