"""What the tests of the regex front end share: does a pattern match a text?"""

from __future__ import annotations

from typing import Literal

from guided._core import Arena
from guided.text.regex import compile_regex


class Pattern:
    """A pattern compiled into an arena of its own."""

    def __init__(
        self,
        pattern: str,
        *,
        dialect: Literal["python", "ecma"] = "python",
        search: bool = False,
        flags: str = "",
    ) -> None:
        self.arena = Arena()
        self.node = compile_regex(self.arena, pattern, dialect=dialect, search=search, flags=flags)

    def matches(self, text: str) -> bool:
        return self.arena.matches(self.node, text)

    def kinds(self) -> set[str]:
        """Return the kinds of the nodes that the pattern is made of."""
        kinds = set()
        waiting = [self.node]
        while waiting:
            kind, *parts = self.arena.node(waiting.pop())
            kinds.add(kind)
            if kind in ("sequence", "both", "minus"):
                waiting.extend(parts)
            elif kind == "choice":
                waiting.extend(parts[0])
            elif kind == "repeat":
                waiting.append(parts[0])
        return kinds
