"""Block tables: which pages hold the tokens of each sequence.

All operations cost no tensor work, but one: before a page is written that somebody else reads, its
content is copied; the copies to be made are handed to the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from guided.decoding.models.protocol import OutOfPages
from guided.decoding.pages.pool import ROOT, TRASH, PagePool, content_key
from guided.errors import GuidedError


@dataclass(frozen=True, slots=True)
class PageCopy:
    """The first `count` tokens of page `source` are to be copied to page `target`."""

    source: int
    target: int
    count: int


@dataclass(slots=True)
class Table:
    """One sequence.

    Attributes:
        tokens: what it holds, in the order of the places in the cache.
        pages: page i holds the tokens from i * size on; TRASH where it was given back.
        keys: content keys of its full pages, as far as they were published.
        evicted: tokens before this one may be gone, but for the first `sinks`.
        parents: for each of the last tokens its parent, while they are a tree.
    """

    tokens: list[int] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)
    evicted: int = 0
    parents: tuple[int, ...] = ()


class Tables:
    """The sequences of a cache, by handle.

    Args:
        pool: where pages come from.
        window: rows see this many tokens, themselves included, in every layer; None: all.
        sinks: the first tokens, which are seen always and never given back.
        slack: tokens kept behind the window, so that as many can be rolled back.
        reuse: whether pages are found again by their content.
    """

    def __init__(
        self,
        pool: PagePool,
        *,
        window: int | None = None,
        sinks: int = 0,
        slack: int = 0,
        reuse: bool = True,
    ) -> None:
        self.pool = pool
        self.window = window
        self.sinks = sinks
        self.slack = slack
        self.reuse = reuse
        self._tables: dict[int, Table] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._tables)

    def __getitem__(self, sequence: int) -> Table:
        try:
            return self._tables[sequence]
        except KeyError:
            raise KeyError(
                f"there is no sequence {sequence}: it was freed or never opened"
            ) from None

    def _add(self, table: Table) -> int:
        self._next += 1
        self._tables[self._next] = table
        return self._next

    def open(self, prompt: Sequence[int] = ()) -> tuple[int, int]:
        """Begin a sequence with what is cached of `prompt`, its last token apart."""
        table = Table()
        size, key = self.pool.size, ROOT
        sought = list(prompt[:-1]) if self.reuse else []
        while len(table.tokens) < len(sought):
            page, count = self.pool.find(key, sought[len(table.tokens) :][:size])
            if page == TRASH:
                break
            self.pool.retain(page)
            start = len(table.tokens)
            table.pages.append(page)
            table.tokens += sought[start : start + count]
            if count < size:
                break
            key = content_key(key, sought[start : start + size])
            table.keys.append(key)
        return self._add(table), len(table.tokens)

    def missing(self, sequence: int, count: int) -> int:
        """Count the pages that must be taken for `count` more tokens."""
        table, size = self[sequence], self.pool.size
        needed = -(-(len(table.tokens) + count) // size) - len(table.pages)
        partial = len(table.tokens) % size
        return needed + bool(count and partial and self.pool.is_shared(table.pages[-1]))

    def append(self, pieces: Sequence[tuple[int, Sequence[int]]]) -> list[PageCopy]:
        """Append tokens to sequences, and return what must be copied before they are written.

        Raises:
            OutOfPages: there is no room for all of them; nothing has changed.
        """
        needed = sum(self.missing(sequence, len(tokens)) for sequence, tokens in pieces)
        spare = self.pool.available - needed
        if spare < 0:
            raise OutOfPages(needed * self.pool.size, self.pool.available * self.pool.size)
        copies = []
        for sequence, tokens in pieces:
            table = self[sequence]
            partial = len(table.tokens) % self.pool.size
            if partial:
                copy, spare = self._own_last_page(table, partial, spare)
                copies += copy
            table.tokens.extend(tokens)
            while len(table.pages) * self.pool.size < len(table.tokens):
                table.pages.append(self.pool.take(table.pages[-1] if table.pages else TRASH))
        return copies

    def _own_last_page(self, table: Table, partial: int, spare: int) -> tuple[list[PageCopy], int]:
        """Make the last page of a table one that may be written; return copies and spare pages."""
        page = table.pages[-1]
        if not self.pool.is_shared(page):
            if not self.pool.is_published(page):
                return [], spare
            if spare == 0:
                self.pool.unpublish(page)
                return [], spare
            spare -= 1  # there is room, so what the page holds can still be found
        before = table.pages[-2] if len(table.pages) > 1 else TRASH
        table.pages[-1] = self.pool.take(before)
        self.pool.release(page)
        return [PageCopy(page, table.pages[-1], partial)], spare

    def publish(self, sequence: int) -> None:
        """Make the full pages of a sequence findable; what they hold has been written."""
        table, size = self[sequence], self.pool.size
        if not self.reuse or table.parents:
            return
        for index in range(len(table.keys), len(table.tokens) // size):
            parent = table.keys[-1] if table.keys else ROOT
            page, tokens = table.pages[index], table.tokens[index * size : (index + 1) * size]
            table.keys.append(self.pool.publish(page, parent, tokens))

    def rollback(self, sequence: int, count: int) -> None:
        """Drop the last `count` tokens.

        Raises:
            GuidedError: there are not as many, or what the rows before them see was given back.
        """
        table = self[sequence]
        length = len(table.tokens) - count
        if count < 0 or length < 0:
            raise GuidedError(f"cannot drop {count} tokens: the sequence holds {len(table.tokens)}")
        if table.parents and count < len(table.parents):
            raise GuidedError(
                f"the last {len(table.parents)} tokens are a tree, of which {count} cannot be"
                " dropped alone",
                mend="keep a path of the tree first, or drop all of it",
            )
        if length and self.window is not None and max(0, length - self.window + 1) < table.evicted:
            raise GuidedError(
                f"cannot drop {count} tokens: what a window of {self.window} tokens sees from there"
                f" was given back (at most {self.slack} can be dropped)",
                mend="free the sequence and run its tokens again",
            )
        table.parents = ()
        self._cut(table, length)

    def _cut(self, table: Table, length: int) -> None:
        """Make a table `length` tokens long."""
        pages = -(-length // self.pool.size)
        for page in reversed(table.pages[pages:]):
            self._release(page)
        del table.pages[pages:], table.tokens[length:], table.keys[length // self.pool.size :]
        table.evicted = min(table.evicted, length)

    def keep(self, sequence: int, path: Sequence[int]) -> tuple[list[int], list[int]]:
        """Keep a path of the tree at the end of a sequence, and drop the rest of it.

        Returns:
            the slots to be moved from, and those to move to, in this order; a slot is
            page * size + place in the page.
        """
        table = self[sequence]
        previous = -1
        for node in path:
            if not 0 <= node < len(table.parents) or table.parents[node] != previous:
                raise ValueError(f"{list(path)} is not a path from the root of the tree")
            previous = node
        start = len(table.tokens) - len(table.parents)
        moves = [(start + node, start + depth) for depth, node in enumerate(path) if node != depth]
        old_slots = [self.slot(table, old) for old, _ in moves]
        new_slots = [self.slot(table, new) for _, new in moves]
        table.tokens[start : start + len(path)] = [table.tokens[start + node] for node in path]
        table.parents = ()
        self._cut(table, start + len(path))
        return old_slots, new_slots

    def slot(self, table: Table, index: int) -> int:
        """Return the place of a token in the cache."""
        size = self.pool.size
        return table.pages[index // size] * size + index % size

    def fork(self, sequence: int) -> int:
        """Begin a sequence with the same tokens, on the same pages."""
        table = self[sequence]
        if table.parents:
            raise GuidedError("a sequence that ends in a tree cannot be forked: keep a path first")
        for page in table.pages:
            if page != TRASH:
                self.pool.retain(page)
        return self._add(
            Table(list(table.tokens), list(table.pages), list(table.keys), table.evicted)
        )

    def free(self, sequence: int) -> None:
        """Give back the pages of a sequence; what they hold stays findable."""
        table = self[sequence]
        if table.parents:
            self._cut(table, len(table.tokens) - len(table.parents))
            table.parents = ()
        self.publish(sequence)
        self._publish_last(table)
        # The last pages first, so that they go first: without those before them they are lost.
        for page in reversed(table.pages):
            self._release(page)
        del self._tables[sequence]

    def _publish_last(self, table: Table) -> None:
        """Make the last page findable though it is not full."""
        size = self.pool.size
        rest = table.tokens[len(table.tokens) // size * size :]
        if self.reuse and rest and not self.pool.is_shared(table.pages[-1]):
            self.pool.publish(table.pages[-1], table.keys[-1] if table.keys else ROOT, rest)

    def evict(self, sequence: int) -> None:
        """Give back the pages that no row to come can see."""
        table, size = self[sequence], self.pool.size
        if self.window is None:
            return
        first = len(table.tokens) - self.window - self.slack + 1  # the first token kept
        for index in range(table.evicted // size, first // size):
            if index * size >= self.sinks and table.pages[index] != TRASH:
                self.pool.release(table.pages[index])
                table.pages[index] = TRASH
        table.evicted = max(table.evicted, first // size * size)

    def _release(self, page: int) -> None:
        if page != TRASH:
            self.pool.release(page)
