"""The exceptions of guided, each of them data first and a sentence second.

GuidedError
    SourceError           the text given is at fault: place and mend are set
        GrammarError      place: line, column, the line itself with a caret
        SchemaError       place: JSON pointer
    UnsupportedError      valid input outside our scope; names the keyword and the docs page
    VocabularyError       the tokenizer cannot spell what the grammar demands; names the bytes
    ShapeError            a tensor has the wrong shape, dtype or device: wanted and found
    TokenRejected         the mask forbids a token that was offered: its bytes, what is allowed
    LimitError            a bound was passed: which, its value, the option that raises it
    RollbackError         more tokens were to be taken back than were accepted
    IncompleteError       the value of an output that was cut short was asked for: its text
    ValueRejected         a check beyond the schema refuses the value of an output: its text
"""

from __future__ import annotations

from collections.abc import Sequence


class GuidedError(Exception):
    """The root of all errors that guided raises on purpose.

    Attributes:
        fact: what is wrong, one sentence.
        place: where in the user's text, or None.
        mend: what to do about it, or None.
    """

    def __init__(self, fact: str, *, place: str | None = None, mend: str | None = None) -> None:
        self.fact = fact
        self.place = place
        self.mend = mend
        super().__init__(fact)

    def __str__(self) -> str:
        lines = [self.fact]
        if self.place is not None:
            lines.append(f"  {self.place}")
        if self.mend is not None:
            lines.append(f"  mend: {self.mend}")
        return "\n".join(lines)


class SourceError(GuidedError):
    """The regex, grammar or schema that was given is at fault."""


class GrammarError(SourceError):
    """A regex or a grammar file is at fault.

    Attributes:
        line, column: where, both from 1.
        length: how many characters the caret underlines.
    """

    def __init__(
        self,
        fact: str,
        *,
        text: str | None = None,
        index: int | None = None,
        length: int = 1,
        mend: str | None = None,
    ) -> None:
        self.line: int | None = None
        self.column: int | None = None
        self.length = max(1, length)
        place = None
        if text is not None and index is not None:
            self.line = text.count("\n", 0, index) + 1
            start = text.rfind("\n", 0, index) + 1
            self.column = index - start + 1
            place = _excerpt(text, start, self.line, self.column, self.length)
        super().__init__(fact, place=place, mend=mend)


def _excerpt(text: str, start: int, line: int, column: int, length: int) -> str:
    """Draw the line with a caret under the place; a long line is cut around it."""
    end = text.find("\n", start)
    shown = text[start : end if end >= 0 else len(text)]
    left = max(0, column - 1 - 50)
    cut = shown[left : left + 100]
    head = "..." if left else ""
    tail = "..." if left + 100 < len(shown) else ""
    carets = "^" * max(1, min(length, len(cut) - (column - 1 - left)))
    gutter = len(str(line))
    pad = " " * (len(head) + column - 1 - left)
    return (
        f"line {line}, column {column}\n"
        f"    {line} | {head}{cut}{tail}\n"
        f"    {' ' * gutter} | {pad}{carets}"
    )


class SchemaError(SourceError):
    """A JSON Schema is at fault.

    Attributes:
        pointer: JSON pointer to the keyword; the empty string is the whole schema.
    """

    def __init__(self, fact: str, *, pointer: str, mend: str | None = None) -> None:
        self.pointer = pointer
        super().__init__(fact, place=f"at {pointer or 'the top of the schema'}", mend=mend)


class UnsupportedError(GuidedError):
    """The input is valid but outside what guided can enforce exactly.

    Attributes:
        keyword: what is not supported, as the user wrote it.
        page: the page of the documentation that gives the scope.
    """

    def __init__(
        self,
        fact: str,
        *,
        keyword: str,
        place: str | None = None,
        page: str,
        mend: str | None = None,
    ) -> None:
        self.keyword = keyword
        self.page = page
        super().__init__(f"{fact} (scope: {page})", place=place, mend=mend)


class VocabularyError(GuidedError):
    """The tokenizer cannot be used, or cannot spell what the grammar demands.

    Attributes:
        missing: the bytes that no token spells, if that is the reason.
    """

    def __init__(self, fact: str, *, missing: bytes | None = None, mend: str | None = None) -> None:
        self.missing = missing
        super().__init__(fact, mend=mend)


class ShapeError(GuidedError):
    """A tensor has the wrong shape, dtype or device.

    Attributes:
        wanted, found: both as text.
    """

    def __init__(self, fact: str, *, wanted: str, found: str) -> None:
        self.wanted = wanted
        self.found = found
        super().__init__(f"{fact}: wanted {wanted}, found {found}")


class TokenRejected(GuidedError):
    """A token was offered that the mask forbids; nothing has changed.

    Attributes:
        token: the token offered; -1 where bytes were offered instead.
        spelling: its bytes, None for a special token or one outside the vocabulary.
        allowed: some of the tokens that were allowed, at most 16.
    """

    def __init__(
        self, token: int, spelling: bytes | None, allowed: Sequence[int], more: bool
    ) -> None:
        self.token = token
        self.spelling = spelling
        self.allowed = tuple(allowed)
        offered = f"token {token}" if spelling is None else f"token {token} ({spelling!r})"
        if token < 0 and spelling is not None:
            offered = f"the text {spelling!r}"
        shown = ", ".join(map(str, self.allowed)) + (", ..." if more else "")
        shown = shown or "nothing, the text has ended"
        super().__init__(f"{offered} is not allowed here; allowed: {shown}")


class RollbackError(GuidedError):
    """More tokens were to be taken back than were accepted; nothing has changed.

    Attributes:
        asked, accepted: the two numbers.
    """

    def __init__(self, asked: int, accepted: int) -> None:
        self.asked = asked
        self.accepted = accepted
        super().__init__(
            f"cannot take back {asked} tokens: {accepted} were accepted",
            mend="roll back by at most that many, and never by a negative number",
        )


class LimitError(GuidedError):
    """A bound that protects time or memory was passed.

    Attributes:
        limit: the name of the bound.
        value: what it was set to.
        option: the option that raises it, or None if it is fixed.
    """

    def __init__(self, fact: str, *, limit: str, value: int, option: str | None = None) -> None:
        self.limit = limit
        self.value = value
        self.option = option
        mend = f"raise {option} (now {value})" if option else "make the input smaller"
        super().__init__(f"{fact}: over the limit of {value} {limit}", mend=mend)


class IncompleteError(GuidedError):
    """The value of an output that was cut short was asked for.

    Attributes:
        text: the text so far.
        finish_reason: why it ended.
    """

    def __init__(self, text: str, finish_reason: str) -> None:
        self.text = text
        self.finish_reason = finish_reason
        super().__init__(
            f"the output is incomplete (finish_reason {finish_reason!r}), so it has no value;"
            f" the text so far has {len(text)} characters",
            mend="raise max_tokens, or read .text",
        )


class ValueRejected(GuidedError):
    """The output fits the schema of a Python type, and a check beyond the schema refuses its value.

    Its cause is the error of pydantic, with all that is wrong.

    Attributes:
        text: the output.
        pointer: JSON pointer into the value; the empty string is all of it.
    """

    def __init__(self, text: str, complaint: str, *, pointer: str) -> None:
        self.text = text
        self.pointer = pointer
        super().__init__(
            f"the output fits the schema, but not {complaint}",
            place=f"at {pointer or 'the top of the value'}",
            mend="read .text, or say in the schema what is checked (a pattern, a bound, an enum)",
        )
