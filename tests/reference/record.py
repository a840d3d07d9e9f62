"""Records for the oracle: what has been written of one, and whether it can still be finished.

A record in progress is a symbol of the Earley recogniser: what is left of the record. Its
productions are the ways to write one more member, or the end. Whether there is a way to the end
is found by trying all ways, a step more at a time, as far as a shortest one can be long.

Keys that are recorded make this finite as follows. The values of the key of a member are listed,
shortest texts first. A list that ends is a small language: its values may run out. Of the others
there are more values than any shortest way to the end can need, so a fresh one is always there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from tests.reference.arena import Arena
from tests.reference.json_text import Value, json_value, spellings, string_value
from tests.reference.regular import Algebra, Term

MANY_VALUES = 64
MAX_KEY_LENGTH = 12


class Member(NamedTuple):
    slot: int
    key: int
    name: str | None
    recorded: bool
    variants: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Progress:
    """A symbol: the rest of a record, when so much of it has been written."""

    node: int
    used: frozenset[int] = frozenset()
    last: int = -1
    members: int = 0
    sums: tuple[int, ...] = ()
    keys: frozenset[Value] = frozenset()


@dataclass(frozen=True)
class RecordedKey:
    """A symbol: the key of a member, as far as it is none of those before."""

    progress: Progress
    member: int


@dataclass(frozen=True)
class Fill:
    """A symbol: a variant of a member whose key was read, and the rest of the record."""

    progress: Progress
    member: int
    value: Value | None = None

    def of(self, text: bytes) -> Fill:
        return replace(self, value=json_value(text))


class Record:
    """What may follow what, for one record node; variants that are void are left out."""

    def __init__(self, arena: Arena, node: int, is_productive: Callable[[int], bool]) -> None:
        self.arena, self.algebra, self.node = arena, arena.algebra, node
        _, layout, slots, members, order, minimum, maximum, counts, excluded = arena.node(node)
        self.begin, self.first, self.between, self.end, self.empty = layout
        self.slots, self.order, self.counts = slots, order, counts
        self.minimum, self.maximum = minimum, maximum
        self.members = [self._productive(Member(*member), is_productive) for member in members]
        self.is_productive = is_productive
        names = [member[2] for member in members if member[2] is not None]
        self.taken = frozenset(map(string_value, [*names, *excluded]))
        self._values: dict[int, list[Value]] = {}
        self._known: dict[Progress, bool] = {}
        self._terms: dict[RecordedKey, Term] = {}

    @staticmethod
    def _productive(member: Member, is_productive: Callable[[int], bool]) -> Member:
        variants = tuple(pair for pair in member.variants if is_productive(pair[1]))
        return member._replace(variants=variants if is_productive(member.key) else ())

    @property
    def start(self) -> Progress:
        return Progress(self.node, sums=(0,) * len(self.counts))

    def is_whole(self) -> bool:
        """Return True if there is a text of this record."""
        return self.is_productive(self.begin) and self.can_finish(self.start)

    def is_final(self, progress: Progress) -> bool:
        """Return True if nothing is owed."""
        within = self.minimum <= progress.members and not self._is_beyond(progress)
        return (
            within
            and self.is_productive(self.end if progress.members else self.empty)
            and all(low <= n for n, (low, _) in zip(progress.sums, self.counts, strict=True))
            and all(i in progress.used for i, (required, _, _) in enumerate(self.slots) if required)
            and all(progress.used.issuperset(self.slots[i][2]) for i in progress.used)
        )

    def _is_beyond(self, progress: Progress) -> bool:
        bounds = [(progress.members, self.maximum)]
        bounds += [(n, high) for n, (_, high) in zip(progress.sums, self.counts, strict=True)]
        return any(high is not None and n > high for n, high in bounds)

    def can_finish(self, progress: Progress) -> bool:
        """Return True if the record has an end from here."""
        if progress not in self._known:
            self._known[progress] = self._find_end(progress)
        return self._known[progress]

    def _find_end(self, progress: Progress) -> bool:
        # A member of a shortest way is there for a slot, for a count, or for their number.
        steps = len(self.slots) + max(0, self.minimum - progress.members)
        for n, (low, _) in zip(progress.sums, self.counts, strict=True):
            steps += max(0, low - n)
        contested = len(self._contested(progress)) + steps
        assert contested < MANY_VALUES, "too many values to try all"
        level = {progress}
        for _ in range(steps + 1):
            if any(map(self.is_final, level)):
                return True
            level = {further for each in level for further in self._further(each)}
        return False

    def _further(self, progress: Progress) -> Iterator[Progress]:
        for index in self.next_members(progress):
            member = self.members[index]
            values: list[Value | None] = [None]
            if member.recorded and not self.is_large(index):
                values = list(self.values(index))
            for value in values:
                for _, after in self.fillings(progress, index, value, to_end=False):
                    yield after

    def next_members(self, progress: Progress) -> Iterator[int]:
        """Yield the members whose slots may come next, whatever comes of it."""
        lead = self.between if progress.members else self.first
        if not self.is_productive(lead):
            return
        for index, member in enumerate(self.members):
            slot, (_, many, _) = member.slot, self.slots[member.slot]
            if slot in progress.used and not many:
                continue
            if self.order == "later" and slot < progress.last:
                continue
            if self.order == "each" and slot != min(progress.last + 1, len(self.slots) - 1):
                continue
            yield index

    def fillings(
        self, progress: Progress, index: int, value: Value | None, to_end: bool = True
    ) -> Iterator[tuple[int, Progress]]:
        """Yield the variants of a member with that key, and what there is after each."""
        if value is not None and (value in progress.keys or value in self.taken):
            return
        member = self.members[index]
        for bits, node in member.variants:
            sums = tuple(n + (bits >> i & 1) for i, n in enumerate(progress.sums))
            after = Progress(
                self.node,
                progress.used | {member.slot},
                member.slot,
                progress.members + 1,
                sums,
                progress.keys if value is None else progress.keys | {value},
            )
            if self.can_finish(after) if to_end else not self._is_beyond(after):
                yield node, after

    def bodies(
        self, progress: Progress
    ) -> Iterator[tuple[int | Progress | RecordedKey | Fill, ...]]:
        """Yield the productions of a record in progress."""
        if self.is_final(progress):
            yield (self.end if progress.members else self.empty,)
        lead = self.between if progress.members else self.first
        for index in self.next_members(progress):
            if self.members[index].recorded:
                key = RecordedKey(progress, index)
                if not self.algebra.is_void(self.key_term(key)):
                    yield lead, key, Fill(progress, index)
            else:
                for node, after in self.fillings(progress, index, None):
                    yield lead, self.members[index].key, node, after

    def key_term(self, symbol: RecordedKey) -> Term:
        """Return the term for the keys of a member that leave a way to the end."""
        if symbol not in self._terms:
            self._terms[symbol] = self._key_term(symbol.progress, symbol.member)
        return self._terms[symbol]

    def _key_term(self, progress: Progress, index: int) -> Term:
        def fits(value: Value | None) -> bool:
            return any(True for _ in self.fillings(progress, index, value))

        term = self.arena.term(self.members[index].key)
        assert term is not None, "a recorded key is regular"
        algebra = self.algebra
        if not self.is_large(index):
            good = [spellings(algebra, value) for value in self.values(index) if fits(value)]
            return algebra.both(term, algebra.choice(good))
        if not fits(None):
            return algebra.never
        bad = [spellings(algebra, v) for v in self._contested(progress) if not fits(v)]
        return algebra.minus(term, algebra.choice(bad))

    def _contested(self, progress: Progress) -> set[Value]:
        """Return the values of which it matters whether they are still free."""
        contested = {*progress.keys, *self.taken}
        for index, member in enumerate(self.members):
            if member.recorded and not self.is_large(index):
                contested |= set(self.values(index))
        return contested

    def is_large(self, index: int) -> bool:
        return len(self.values(index)) == MANY_VALUES

    def values(self, index: int) -> list[Value]:
        """Return the values that the key of a member can spell, or the first of very many."""
        key = self.members[index].key
        if key not in self._values:
            term = self.arena.term(key)
            assert term is not None, "a recorded key is regular"
            values: dict[Value, None] = {}
            for text in texts_of(self.algebra, term):
                values[json_value(text)] = None
                if len(values) == MANY_VALUES:
                    break
            self._values[key] = list(values)
        return self._values[key]


def texts_of(algebra: Algebra, term: Term) -> Iterator[bytes]:
    """Yield the texts of a term, shortest first, up to `MAX_KEY_LENGTH` bytes."""
    level = [(b"", term)]
    for _ in range(MAX_KEY_LENGTH + 1):
        following = []
        for text, left in level:
            if left.nullable:
                yield text
            for byte in range(256):
                further = algebra.derivative(left, byte)
                if not algebra.is_void(further):
                    following.append((text + bytes([byte]), further))
        level = following
