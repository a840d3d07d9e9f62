"""Which cells of llama.cpp's cache hold something, and for whom.

llama.cpp keeps all sequences in one buffer of cells, one cell a token. A sequence that is copied
shares the cells of its original, and a cell is free again when no sequence holds it. llama.cpp
does not tell how many are free, so this is counted here, with numbers of our own for the cells.
"""

from __future__ import annotations

from collections.abc import Iterable


class Cells:
    """Counts for each cell how many sequences hold it, and how many of these are in use.

    The others are kept for the beginnings of later prompts and can be given up at any time.

    Args:
        total: how many cells there are.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._free = list(range(total - 1, -1, -1))
        self._holders = [0] * total
        self._users = [0] * total  # holders in use
        self._used = 0  # cells with a user

    @property
    def free(self) -> int:
        """Cells that hold nothing."""
        return len(self._free)

    @property
    def room(self) -> int:
        """Cells that hold nothing in use."""
        return self.total - self._used

    @property
    def shared(self) -> int:
        """Cells that several sequences in use hold."""
        return sum(users > 1 for users in self._users)

    def take(self, count: int) -> list[int]:
        """Take free cells for a sequence in use; there must be so many."""
        assert count <= self.free
        cells = [self._free.pop() for _ in range(count)]
        self.share(cells)
        return cells

    def share(self, cells: Iterable[int]) -> None:
        """Let one more sequence in use hold these."""
        for cell in cells:
            self._holders[cell] += 1
            self._users[cell] += 1
            self._used += self._users[cell] == 1

    def retire(self, cells: Iterable[int]) -> None:
        """Note that a sequence that holds these is in use no longer; it still holds them."""
        for cell in cells:
            self._users[cell] -= 1
            self._used -= self._users[cell] == 0

    def drop(self, cells: Iterable[int]) -> None:
        """Let a sequence that is not in use hold these no longer."""
        for cell in cells:
            self._holders[cell] -= 1
            if self._holders[cell] == 0:
                self._free.append(cell)
