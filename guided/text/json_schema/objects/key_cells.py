"""The keys of objects, parted into sets (cells) of which each key matches the same patterns.

With no two patterns that a key can match both, there is a cell for each, and one for all others.
How patterns overlap is found out on plain texts, where automata are smaller; the cells that are
left are then spelled in JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from guided._core import Arena
from guided.errors import LimitError
from guided.text.json_schema.shapes.shape import Child, Pattern
from guided.text.json_schema.strings.byte_walk import ByteWalk
from guided.text.json_schema.strings.partition import Partition, is_plainly_endless, meet

if TYPE_CHECKING:
    from guided.text.json_schema.values.scalars import Scalars

# A cell of so few keys is a list of names.
MAX_LISTED = 64

# A test of a key: a pattern, as its text, or a child whose strings it must be one of.
Trait = str | Child


class KeyCell:
    """A set of keys.

    Attributes:
        traits: the patterns that these keys match, as text, and the children that they fit.
        node: spells them, in quotes.
        texts: the keys themselves, if there are at most MAX_LISTED; else None.
    """

    def __init__(
        self, traits: frozenset[Trait], node: int, texts: list[str] | None, arena: Arena, plain: int
    ) -> None:
        self.traits = traits
        self.node = node
        self.texts = texts
        self._arena = arena
        self._plain = plain

    @cached_property
    def is_endless(self) -> bool:
        """True if there are as many keys as the core can count, at least."""
        if self.texts is not None:
            return False
        if is_plainly_endless(self._arena, self._plain):
            return True
        try:
            return ByteWalk(self._arena, self._plain).is_endless()
        except LimitError:
            return False


class KeyCells:
    """Parts keys by patterns, and by children of whose strings they may be one.

    Args:
        keys: what all keys must fit; there are no cells beyond it.

    Raises:
        LimitError: they overlap in too many ways.
    """

    def __init__(
        self,
        scalars: Scalars,
        patterns: Sequence[Pattern],
        strings: Sequence[Child] = (),
        keys: Child = (),
    ) -> None:
        self._scalars = scalars
        self._texts = scalars.reader.texts
        self._patterns = {pattern.text: pattern for pattern in patterns}
        self._keys = keys
        self._children = dict.fromkeys([keys, *strings] if keys else strings)

    def traits(self, name: str) -> frozenset[Trait]:
        """Return the patterns that a name matches and the children that it fits."""
        found: set[Trait] = {
            text for text, pattern in self._patterns.items() if self._texts.matches(pattern, name)
        }
        for child in self._children:
            shapes = self._scalars.reader.shape(child).strings
            if any(self._texts.fits(shape, name) is not False for shape in shapes):
                found.add(child)
        return frozenset(found)

    def cells(self) -> list[KeyCell]:
        """Return the cells, none of them void; no key is in two."""
        key: tuple[Trait, ...] = (*self._patterns, *self._children, self._keys)
        known = self._scalars.cells.get(key)
        if known is None:
            known = self._scalars.cells[key] = self._cells()
        return known

    def _cells(self) -> list[KeyCell]:
        contents = self._scalars.contents
        plain_base, base = self._strings(self._keys) if self._keys else (None, None)
        partition = Partition(self._texts.contents, plain_base)
        spelled: list[int] = []
        traits: list[Trait] = []
        for text, pattern in self._patterns.items():
            node, plain = contents.pattern(pattern), self._texts.contents.pattern(pattern)
            if node is not None and plain is not None:
                partition.add(plain)
                spelled.append(node)
                traits.append(text)
        for child in self._children:
            if child != self._keys:
                plain, node = self._strings(child)
                partition.add(plain)
                spelled.append(node)
                traits.append(child)
        arena, any_text = contents.arena, contents.spelling.any_text(contents.arena)
        shared: list[Trait] = [self._keys] if self._keys else []
        cells = []
        for part in partition.parts():
            inside = [spelled[test] for test in part.inside]
            outside = [spelled[test] for test in part.outside]
            content = meet(arena, any_text, base, inside, outside)
            found = frozenset([*shared, *(traits[test] for test in part.fits)])
            cells.append(self._cell(found, content, partition.node(part)))
        return cells

    def _strings(self, child: Child) -> tuple[int, int]:
        """Return the nodes of the strings that fit a child, in plain text and in JSON."""
        shapes = self._scalars.reader.shape(child).strings
        plain, spelled = (
            contents.arena.choice([contents.content(shape) for shape in shapes])
            for contents in (self._texts.contents, self._scalars.contents)
        )
        return plain, spelled

    def _cell(self, traits: frozenset[Trait], content: int, plain: int) -> KeyCell:
        arena, spelling = self._scalars.arena, self._scalars.spelling
        texts = _few(self._texts.contents.arena, plain)
        if texts is None:
            quote = arena.literal('"')
            node = arena.sequence([quote, content, quote])
        else:
            node = spelling.one_string_of(arena, texts)
        return KeyCell(traits, node, texts, self._texts.contents.arena, plain)


def _few(arena: Arena, node: int) -> list[str] | None:
    """Return the texts of a node, None if there are more than MAX_LISTED."""
    if is_plainly_endless(arena, node):
        return None
    try:
        found = ByteWalk(arena, node).texts(MAX_LISTED)
    except LimitError:
        return None
    return None if found is None else [text.decode() for text in found]
