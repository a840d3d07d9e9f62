"""The text of a grammar and the places in it: where a name is used or defined."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from guided.errors import GrammarError, UnsupportedError

PAGE = "docs/grammars.md"

# What may hold a name without being one: comments, strings and patterns. A pattern must not begin
# where a comment would, `//`.
_TOKEN = re.compile(
    r"""
    (?P<comment>//[^\n]*|\#[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*"i?)
  | (?P<pattern>/(?!/)(?:\\[/\\]|[^/])*?/[imslux]*)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<directive>%[a-z]+)
  | (?P<break>\n)
  | (?P<other>.)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Name:
    """One occurrence of a name, or of a literal, in a grammar."""

    text: str
    index: int
    defines: bool
    imports: bool
    declares: bool = False


@dataclass(slots=True)
class Source:
    """A grammar file.

    Attributes:
        text: as it was given, with `\\n` at the ends of lines.
        path: where it came from.
        moved: places in the text that lark sees, and those in `text` that they are.
        embedded: where there are extensions, by the names that stand for them.
    """

    text: str
    path: str | None = None
    moved: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)], repr=False)
    embedded: dict[str, int] = field(default_factory=dict, repr=False)
    _names: list[Name] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, text: str, path: str | Path | None = None) -> Source:
        """Make a source of a text as it was given, with a byte order mark or `\\r\\n`."""
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        return cls(text, None if path is None else str(path))

    def place_of(self, index: int) -> int:
        """Return where a place stands in the text as given; lark sees it without extensions."""
        new, old = max((pair for pair in self.moved if pair[0] <= index), key=lambda pair: pair[0])
        return min(index - new + old, len(self.text))

    def extension_at(self, index: int) -> tuple[int, int]:
        """Return from where to where an extension stands that lark sees as the name at `index`."""
        start = self.place_of(index - 1)  # there is a blank before the name, and one after it
        return start, min(old for new, old in self.moved if new > index)

    def error(
        self, fact: str, index: int | None = None, *, length: int = 1, mend: str | None = None
    ) -> GrammarError:
        """Make an error that points at a place, and at the file if it has a name."""
        if self.path is not None:
            fact = f"{fact} (in {self.path})"
        return GrammarError(
            fact, text=self.text if index is not None else None, index=index, length=length,
            mend=mend,
        )  # fmt: skip

    def error_at(
        self, fact: str, at: str, *, defined: bool = False, mend: str | None = None
    ) -> GrammarError:
        """Make an error that points at a name or literal, where it is used or where defined."""
        if (index := self.embedded.get(at)) is not None:
            at = self.text[index:].split(maxsplit=1)[0]
        else:
            index = self.find(at, defined=defined)
        return self.error(fact, index, length=len(at), mend=mend)

    def unsupported(
        self,
        fact: str,
        keyword: str,
        *,
        at: str,
        defined: bool = False,
        mend: str | None = None,
    ) -> UnsupportedError:
        """Make an error about what is valid, but outside what guided can enforce."""
        return _unsupported(self.error_at(fact, at, defined=defined), keyword, mend)

    def unsupported_here(
        self, fact: str, keyword: str, index: int, *, length: int = 1, mend: str | None = None
    ) -> UnsupportedError:
        """Make an error about what is valid, but outside what guided can enforce, at a place."""
        return _unsupported(self.error(fact, index, length=length), keyword, mend)

    def find(self, text: str, *, defined: bool = False) -> int | None:
        """Return where a name or literal stands, preferably where it is used, or is defined."""
        found = [name for name in self.names() if name.text == text]
        wanted = [name for name in found if name.defines is defined and not name.imports]
        if places := wanted or found:
            return places[0].index
        # lark cuts names in two where lower and upper case meet: then it is part of one.
        index = self.text.find(text)
        return None if index < 0 else index

    def names(self) -> list[Name]:
        """Return the names and literals in their order, those in comments left out."""
        if self._names is None:
            self._names = list(self._find_names())
        return self._names

    def _find_names(self) -> list[Name]:
        names: list[Name] = []
        fresh = True  # nothing of a statement yet on this line
        directive = ""
        for token in _TOKEN.finditer(self.text):
            kind, text = token.lastgroup, token[0]
            if kind == "break":
                fresh, directive = True, ""
            elif kind == "directive":
                directive = text
                fresh = text in ("%override", "%extend", "%declare")
            elif kind in ("name", "string", "pattern"):
                defines = fresh and kind == "name"
                defines = defines and directive != "%declare"
                imports, declares = directive == "%import", directive == "%declare"
                names.append(Name(text, token.start(), defines, imports, declares))
                fresh = directive == "%declare"
            elif kind == "other" and text not in " \t\r?!":
                fresh = False
        return names


def _unsupported(error: GrammarError, keyword: str, mend: str | None) -> UnsupportedError:
    return UnsupportedError(error.fact, keyword=keyword, place=error.place, page=PAGE, mend=mend)
