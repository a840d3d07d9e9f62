"""The text of a pattern under reading, and the errors that point into it."""

from __future__ import annotations

from dataclasses import dataclass

from guided.errors import GrammarError, UnsupportedError
from guided.text.regex.classes import Dialect

PAGE = "docs/regex.md"


@dataclass(frozen=True, slots=True)
class Source:
    """A pattern and its dialect."""

    pattern: str
    dialect: Dialect

    def error(self, fact: str, index: int, *, length: int = 1, mend: str) -> GrammarError:
        """Return the error for what is wrong at `index`."""
        return GrammarError(fact, text=self.pattern, index=index, length=length, mend=mend)

    def unsupported(
        self, fact: str, index: int, *, length: int = 1, keyword: str, mend: str | None = None
    ) -> UnsupportedError:
        """Return the error for what is valid at `index` but cannot be enforced exactly."""
        place = GrammarError(fact, text=self.pattern, index=index, length=length).place
        return UnsupportedError(fact, keyword=keyword, place=place, page=PAGE, mend=mend)
