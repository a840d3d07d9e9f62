"""Texts of users that must be written as UTF-8."""

from __future__ import annotations

from guided.errors import GrammarError


def check_text(text: str, what: str) -> str:
    """Return a text that UTF-8 can write.

    Args:
        what: the text is, for the error.

    Raises:
        GrammarError: it has half of a surrogate pair.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise GrammarError(
            f"{what} has a surrogate, which UTF-8 cannot write",
            text=text,
            index=error.start,
            mend="write the character itself",
        ) from None
    return text
