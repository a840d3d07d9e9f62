"""The page pool: which pages are free, how often each is used, and what the full ones hold.

A page is a place for keys and values of `size` tokens, in every layer; here it is a number only.
Pages are counted by reference. One whose content is known stays findable when nobody uses it any
more, until the place is needed: a later prompt with the same beginning takes it over.
"""

from __future__ import annotations

import hashlib
import struct
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from guided.decoding.models.protocol import OutOfPages

TRASH = 0  # the page that padding is written to; never given out
ROOT = b""  # the key of what precedes the first page of a sequence
_SIBLINGS = 32  # how many pages that follow the same text are compared with a prompt


def content_key(parent: bytes, tokens: Sequence[int]) -> bytes:
    """Return the key of a page: a digest of its tokens and of all before them.

    Keys and values depend on the whole text up to them. 128 bits of BLAKE2b: two texts do not meet.
    """
    packed = struct.pack(f"<{len(tokens)}q", *tokens)
    return hashlib.blake2b(parent + packed, digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Content:
    """What a page is known to hold.

    Attributes:
        parent: the key of the text before it.
        key: its own.
        tokens: at most `size`; a page may be known when it is not full.
    """

    parent: bytes
    key: bytes
    tokens: tuple[int, ...]


class PagePool:
    """Pages 1 to `pages`, of `size` tokens each.

    Args:
        pages: how many there are; page 0 comes on top and is the trash page.
        size: tokens a page.
    """

    def __init__(self, pages: int, size: int) -> None:
        if pages < 1 or size < 1:
            raise ValueError(f"a pool needs a page and a token, found {pages} pages of {size}")
        self.pages = pages
        self.size = size
        self._references = [0] * (pages + 1)
        self._free = set(range(1, pages + 1))
        self._cached: OrderedDict[int, None] = OrderedDict()  # unused but findable, oldest first
        self._content: dict[int, Content] = {}
        self._by_key: dict[bytes, int] = {}
        self._by_parent: dict[bytes, OrderedDict[int, None]] = {}
        self._starts = 0
        self._shared = 0

    @property
    def free(self) -> int:
        """How many pages hold nothing."""
        return len(self._free)

    @property
    def cached(self) -> int:
        """How many pages are unused but findable."""
        return len(self._cached)

    @property
    def shared(self) -> int:
        """How many pages are used twice or more."""
        return self._shared

    @property
    def available(self) -> int:
        """How many pages can be taken."""
        return len(self._free) + len(self._cached)

    def take(self, after: int = TRASH) -> int:
        """Take a page for one user: the one next to `after` if it is free.

        Neighbouring pages are one block of memory, which attention on a CPU reads without copying.
        So sequences start far from one another and grow into the pages behind them. Where no page
        is free, the one that has been unused for longest goes.

        Raises:
            OutOfPages: there is none.
        """
        if self._free:
            page = after + 1 if after != TRASH and after + 1 in self._free else self._far_page()
            self._free.discard(page)
        elif self._cached:
            page, _ = self._cached.popitem(last=False)
            self._forget(page)
        else:
            raise OutOfPages(self.size, 0)
        self._references[page] = 1
        return page

    def _far_page(self) -> int:
        """Choose a free page with free ones behind it, as far as a few tries tell."""
        for _ in range(8):
            fraction, denominator, count = 0.0, 0.5, self._starts  # van der Corput: 0, 1/2, 1/4, ..
            while count:
                fraction += denominator * (count & 1)
                count, denominator = count >> 1, denominator / 2
            self._starts = (self._starts + 1) % 64
            page = 1 + int(fraction * self.pages)
            if page in self._free:
                return page
        return next(iter(self._free))

    def retain(self, page: int) -> None:
        """Count one more user."""
        if self._references[page] == 0:
            del self._cached[page]
        elif self._references[page] == 1:
            self._shared += 1
        self._references[page] += 1

    def release(self, page: int) -> None:
        """Count one user less."""
        self._references[page] -= 1
        if self._references[page] == 1:
            self._shared -= 1
        elif self._references[page] == 0:
            if page in self._content:
                self._cached[page] = None
            else:
                self._free.add(page)

    def is_shared(self, page: int) -> bool:
        """Whether the page has two users or more."""
        return self._references[page] > 1

    def is_published(self, page: int) -> bool:
        """Whether the page can be found by its content."""
        return page in self._content

    def publish(self, page: int, parent: bytes, tokens: Sequence[int]) -> bytes:
        """Make a page findable by what it holds, and return its key.

        Where another page is known to hold the same, that one stays the one to be found.
        """
        key = content_key(parent, tokens)
        if key not in self._by_key and page not in self._content:
            self._by_key[key] = page
            self._content[page] = Content(parent, key, tuple(tokens))
            self._by_parent.setdefault(parent, OrderedDict())[page] = None
        return key

    def unpublish(self, page: int) -> None:
        """Make a page that is in use unfindable, as it is about to be written."""
        self._forget(page)

    def _forget(self, page: int) -> None:
        content = self._content.pop(page)
        del self._by_key[content.key]
        siblings = self._by_parent[content.parent]
        del siblings[page]
        if not siblings:
            del self._by_parent[content.parent]

    def find(self, parent: bytes, tokens: Sequence[int]) -> tuple[int, int]:
        """Find the page whose content begins like `tokens`, after the text with the key `parent`.

        Returns:
            the page, and how many of its first tokens are equal; (TRASH, 0) if there is none.
        """
        if len(tokens) >= self.size:
            full = self._by_key.get(content_key(parent, tokens[: self.size]))
            if full is not None:
                return full, self.size
        best, length = TRASH, 0
        siblings = self._by_parent.get(parent)
        if siblings is None or not tokens:
            return best, length
        for _, page in zip(range(_SIBLINGS), reversed(siblings), strict=False):
            common = common_prefix(self._content[page].tokens, tokens)
            if common > length:
                best, length = page, common
        return best, length


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Count the equal tokens at the beginning of both."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count
