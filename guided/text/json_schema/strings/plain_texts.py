"""Strings as plain texts: what can be known of their constraints without spelling them in JSON.

The nodes lie in an arena of their own, made when first asked: most schemas never ask.
"""

from __future__ import annotations

from collections.abc import Iterable

from guided._core import Arena
from guided.errors import LimitError, SchemaError
from guided.text.json_schema.document.places import Subschema
from guided.text.json_schema.shapes.shape import Pattern, StringShape
from guided.text.json_schema.strings.contents import Contents
from guided.text.json_schema.strings.spelling import is_spellable
from guided.text.nodes import Nodes
from guided.text.spelling import PlainSpelling


class PlainTexts(PlainSpelling):
    """Texts as their UTF-8."""

    def is_single(self, node: int) -> bool:
        """Return False: a class says itself that it is one character."""
        return False

    def length(self, spelled: bytes) -> int | None:
        """Return how many characters some bytes spell, None if they are not whole characters."""
        try:
            return len(spelled.decode())
        except UnicodeDecodeError:
            return None

    def one_of(self, arena: Arena, texts: Iterable[str]) -> int:
        """Return a node for one of some texts; those that are no UTF-8 are passed over."""
        return arena.choice([arena.literal(text) for text in texts if is_spellable(text)])

    def escape(self, text: str) -> str:
        """Return the text itself."""
        return text

    def grammar(self, arena: Arena, grammar: Nodes) -> int:
        """Return a node for the texts of a grammar; see `plain_grammar`."""
        from guided.text.json_schema.strings.grammar_strings import plain_grammar

        return plain_grammar(grammar, arena)


class Texts:
    """Decides on texts for one document; what has been decided is kept.

    Nothing is refused here: what cannot be enforced is refused where it is written.
    """

    def __init__(self) -> None:
        self._contents: Contents | None = None
        self._matches: dict[tuple[str, str], bool | None] = {}
        self._fits: dict[tuple[StringShape, str], bool | None] = {}
        self._void: dict[StringShape, bool] = {}

    @property
    def contents(self) -> Contents:
        """The nodes; of what cannot be enforced they hold too much rather than too little."""
        if self._contents is None:
            self._contents = Contents(Arena(), PlainTexts(), _pass_over)
        return self._contents

    def matches(self, pattern: Pattern, text: str) -> bool | None:
        """Return True if a text has a match of the pattern; None if that cannot be told."""
        key = (pattern.text, text)
        if key not in self._matches:
            self._matches[key] = self.fits(StringShape(patterns=(pattern,)), text)
        return self._matches[key]

    def fits(self, shape: StringShape, text: str) -> bool | None:
        """Return True if a text fits a shape; None if that cannot be told."""
        key = (shape, text)
        if key not in self._fits:
            try:
                self._fits[key] = self.contents.fits(shape, text)
            except (SchemaError, LimitError):
                # Whoever writes it says so, and it may be that nobody does.
                self._fits[key] = None
        return self._fits[key]

    def is_void(self, shape: StringShape) -> bool:
        """Return True if it is proven that no string fits a shape."""
        known = self._void.get(shape)
        if known is None:
            try:
                known = self._is_void(shape)
            except (SchemaError, LimitError):
                known = False
            self._void[shape] = known
        return known

    def _is_void(self, shape: StringShape) -> bool:
        minimum, maximum = shape.minimum, shape.maximum
        if minimum is not None and maximum is not None and minimum.value > maximum.value:
            return True
        if shape.values is not None:
            return not self.contents.fitting(shape)
        if not (shape.patterns or shape.formats or shape.grammars or shape.excluded):
            return False
        if any(_covers(other, shape) for other in shape.excluded):
            return True
        return self.contents.is_void(self.contents.content(shape))


def _pass_over(at: Subschema, keyword: str | None, fact: str, mend: str | None = None, /) -> None:
    """Take no notice."""


def _covers(wide: StringShape, narrow: StringShape) -> bool:
    """Return True if it is plain that all that fits `narrow` fits `wide`."""
    if wide.values is not None or wide.excluded:
        return wide is narrow
    texts = {pattern.text for pattern in narrow.patterns}
    names = {(one.name, one.at.draft) for one in narrow.formats}
    least = narrow.minimum.value if narrow.minimum is not None else 0
    return (
        all(pattern.text in texts for pattern in wide.patterns)
        and all((one.name, one.at.draft) in names for one in wide.formats)
        and all(one.value in [other.value for other in narrow.grammars] for one in wide.grammars)
        and (wide.minimum is None or wide.minimum.value <= least)
        and (
            wide.maximum is None
            or (narrow.maximum is not None and narrow.maximum.value <= wide.maximum.value)
        )
    )
