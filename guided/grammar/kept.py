"""What was made last, by its key."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Identity:
    """Stands in a key for a value that is compared by what it is, not by what it holds."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)


class Kept(Generic[Key, Value]):
    """Values by key, the most recently used `bound` of them. Any number of threads may ask."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of `key`, made now if it is not kept.

        It is made outside the lock, so a slow one keeps nobody waiting; of two threads that make
        the same, the first gives it to both.
        """
        kept = self.find(key)
        return self.keep(key, make()) if kept is None else kept

    def find(self, key: Key) -> Value | None:
        """Return the value of `key`, None if it is not kept."""
        with self._lock:
            kept = self._values.get(key)
            if kept is not None:
                self._values.move_to_end(key)
        return kept

    def keep(self, key: Key, made: Value) -> Value:
        """Keep a value, and return it; or the one that was kept under this key meanwhile."""
        dropped = None  # freed when the lock is
        with self._lock:
            value = self._values.setdefault(key, made)
            if value is not made:
                self._values.move_to_end(key)
            elif len(self._values) > self._bound:
                dropped = self._values.popitem(last=False)
        del dropped
        return value

    def __len__(self) -> int:
        return len(self._values)
