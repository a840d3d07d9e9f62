"""Block tables: pages are shared until one is written, and given back when nobody sees them."""

from __future__ import annotations

import random

import pytest

from guided.decoding.models import OutOfPages
from guided.decoding.pages.pool import TRASH, PagePool
from guided.decoding.pages.tables import Tables
from guided.errors import GuidedError


class Written:
    """A cache of one number a slot: what is read back must be the tokens of the sequence."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.slots: dict[int, int] = {}

    def append(self, sequence: int, tokens: list[int]) -> None:
        size = self.tables.pool.size
        for copy in self.tables.append([(sequence, tokens)]):
            for place in range(copy.count):
                self.slots[copy.target * size + place] = self.slots[copy.source * size + place]
        table = self.tables[sequence]
        for index in range(len(table.tokens) - len(tokens), len(table.tokens)):
            self.slots[self.tables.slot(table, index)] = table.tokens[index]
        self.tables.publish(sequence)

    def read(self, sequence: int) -> list[int]:
        table = self.tables[sequence]
        return [self.slots[self.tables.slot(table, index)] for index in range(len(table.tokens))]


def new(pages: int = 20, size: int = 4, **options: int) -> Written:
    return Written(Tables(PagePool(pages, size), **options))  # type: ignore[arg-type]


def test_appended_tokens_fill_pages_in_order() -> None:
    cache = new()
    sequence, found = cache.tables.open([1, 2, 3])
    assert found == 0
    cache.append(sequence, [1, 2, 3])
    cache.append(sequence, [4, 5])
    assert len(cache.tables[sequence].pages) == 2
    assert cache.read(sequence) == [1, 2, 3, 4, 5]


def test_a_prompt_finds_the_whole_pages_and_the_part_of_a_page_that_it_begins_like() -> None:
    cache = new()
    first, _ = cache.tables.open()
    cache.append(first, list(range(10)))
    sequence, found = cache.tables.open([*range(7), 99, 98])
    assert found == 7
    cache.append(sequence, [99, 98])
    assert cache.read(sequence) == [*range(7), 99, 98]
    assert cache.read(first) == list(range(10))  # its page was copied before it was written


def test_the_last_token_of_a_prompt_is_never_found() -> None:
    cache = new()
    first, _ = cache.tables.open()
    cache.append(first, list(range(8)))
    assert cache.tables.open(list(range(8)))[1] == 7


def test_what_a_freed_sequence_held_is_found_its_last_page_too() -> None:
    cache = new()
    first, _ = cache.tables.open()
    cache.append(first, list(range(6)))
    cache.tables.free(first)
    sequence, found = cache.tables.open([*range(6), 50])
    assert found == 6
    assert cache.read(sequence) == list(range(6))


def test_nothing_is_found_where_reuse_is_off() -> None:
    cache = new(reuse=False)
    first, _ = cache.tables.open()
    cache.append(first, list(range(8)))
    assert cache.tables.open(list(range(8)))[1] == 0
    cache.tables.free(first)
    assert cache.tables.pool.free == 20


def test_a_fork_shares_pages_until_one_side_writes() -> None:
    cache = new()
    first, _ = cache.tables.open()
    cache.append(first, list(range(6)))
    second = cache.tables.fork(first)
    assert cache.tables.pool.available == 18
    assert cache.tables.missing(first, 1) == 1  # the copy
    cache.append(second, [7])
    cache.append(first, [8])
    assert cache.read(first) == [*range(6), 8]
    assert cache.read(second) == [*range(6), 7]
    assert cache.tables.pool.shared == 1


def test_too_little_room_changes_nothing() -> None:
    cache = new(pages=2)
    sequence, _ = cache.tables.open()
    cache.append(sequence, [1, 2, 3])
    with pytest.raises(OutOfPages, match="room for 4 tokens, and 8 are needed") as caught:
        cache.append(sequence, list(range(9)))
    assert (caught.value.needed, caught.value.room) == (8, 4)
    assert cache.read(sequence) == [1, 2, 3]
    assert cache.tables.pool.available == 1


def test_a_page_that_could_be_found_is_written_in_place_when_no_other_is_left() -> None:
    cache = new(pages=2)
    first, _ = cache.tables.open()
    cache.append(first, list(range(6)))
    cache.tables.free(first)
    sequence, found = cache.tables.open(list(range(6)))
    assert found == 5
    cache.append(sequence, [9])
    assert cache.read(sequence) == [0, 1, 2, 3, 4, 9]
    assert cache.tables.open([0, 1, 2, 3, 4, 5, 7])[1] == 4  # that page is another now


def test_rollback_gives_pages_back_and_writes_over_what_was_there() -> None:
    cache = new()
    sequence, _ = cache.tables.open()
    cache.append(sequence, list(range(10)))
    cache.tables.rollback(sequence, 5)
    assert len(cache.tables[sequence].pages) == 2
    cache.append(sequence, [70, 71])
    assert cache.read(sequence) == [0, 1, 2, 3, 4, 70, 71]


def test_more_than_there_is_cannot_be_rolled_back() -> None:
    cache = new()
    sequence, _ = cache.tables.open()
    cache.append(sequence, [1, 2])
    with pytest.raises(GuidedError, match="cannot drop 3 tokens: the sequence holds 2"):
        cache.tables.rollback(sequence, 3)


def test_a_path_of_a_tree_is_moved_together() -> None:
    cache = new()
    sequence, _ = cache.tables.open()
    cache.append(sequence, [1, 2, 3])
    table = cache.tables[sequence]
    cache.tables.append([(sequence, [10, 11, 12, 13])])
    table.parents = (-1, -1, 1, 0)
    before = list(table.pages)
    old, new_slots = cache.tables.keep(sequence, [1, 2])
    assert table.tokens == [1, 2, 3, 11, 12]
    slots = [page * 4 + place for page in before for place in range(4)]
    assert (old, new_slots) == (slots[4:6], slots[3:5])
    with pytest.raises(GuidedError, match="holds 5"):
        cache.tables.rollback(sequence, 6)


@pytest.mark.parametrize("path", [[0, 1], [2], [5], [1, 1]])
def test_what_is_no_path_is_refused(path: list[int]) -> None:
    cache = new()
    sequence, _ = cache.tables.open()
    cache.tables.append([(sequence, [10, 11, 12])])
    cache.tables[sequence].parents = (-1, -1, 1)
    with pytest.raises(ValueError, match="not a path"):
        cache.tables.keep(sequence, path)


def test_pages_outside_the_window_are_given_back_but_for_the_sinks() -> None:
    cache = new(window=6, sinks=2)
    sequence, _ = cache.tables.open()
    cache.append(sequence, list(range(19)))
    cache.tables.evict(sequence)
    pages = cache.tables[sequence].pages
    # The row at 19 sees 14 and what follows, and 0 and 1.
    assert [page == TRASH for page in pages] == [False, True, True, False, False]


def test_slack_is_kept_for_rollback_and_no_more_can_be_dropped() -> None:
    cache = new(window=6, slack=4)
    sequence, _ = cache.tables.open()
    cache.append(sequence, list(range(19)))
    cache.tables.evict(sequence)
    assert [page == TRASH for page in cache.tables[sequence].pages] == [True] * 2 + [False] * 3
    cache.tables.rollback(sequence, 4)
    with pytest.raises(GuidedError, match="at most 4 can be dropped"):
        cache.tables.rollback(sequence, 6)
    cache.tables.rollback(sequence, 15)  # all of it
    cache.append(sequence, [5])
    assert cache.read(sequence) == [5]


def test_an_unknown_sequence_is_named() -> None:
    with pytest.raises(KeyError, match="no sequence 7"):
        new().tables.rollback(7, 0)


@pytest.mark.parametrize("seed", range(8))
def test_any_order_of_operations_reads_back_what_was_written(seed: int) -> None:
    generator, cache = random.Random(seed), new(pages=12, size=3)
    tables, texts = cache.tables, dict[int, list[int]]()

    def tokens(most: int) -> list[int]:
        return [generator.randrange(3) for _ in range(generator.randint(1, most))]

    for _ in range(300):
        deed = generator.choice(["open", "append", "append", "append", "fork", "free", "rollback"])
        if deed == "open" and len(texts) < 4:
            prompt = tokens(9)
            sequence, found = tables.open(prompt)
            assert found < len(prompt)
            texts[sequence] = prompt[:found]
        elif not texts:
            continue
        sequence = generator.choice(list(texts))
        if deed == "append":
            new_tokens = tokens(5)
            missing = tables.missing(sequence, len(new_tokens))
            room = tables.pool.available
            if missing > room:
                with pytest.raises(OutOfPages):
                    cache.append(sequence, new_tokens)
            else:
                cache.append(sequence, new_tokens)
                texts[sequence] += new_tokens
        elif deed == "fork" and len(texts) < 6:
            texts[tables.fork(sequence)] = list(texts[sequence])
        elif deed == "free":
            tables.free(sequence)
            del texts[sequence]
        elif deed == "rollback":
            count = generator.randint(0, len(texts[sequence]))
            tables.rollback(sequence, count)
            del texts[sequence][len(texts[sequence]) - count :]
        for one, text in texts.items():
            assert cache.read(one) == text
    for sequence in texts:
        tables.free(sequence)
    assert tables.pool.available == 12
    assert tables.pool.shared == 0
