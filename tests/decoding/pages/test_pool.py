"""The pool counts users of pages, and finds pages again by what they hold."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from guided.decoding.models import OutOfPages
from guided.decoding.pages.pool import ROOT, TRASH, PagePool


def test_each_page_is_given_out_once_and_the_trash_page_never() -> None:
    pool = PagePool(10, 4)
    pages = [pool.take() for _ in range(10)]
    assert sorted(pages) == list(range(1, 11))
    with pytest.raises(OutOfPages):
        pool.take()


def test_a_page_next_to_the_last_is_preferred() -> None:
    pool = PagePool(64, 4)
    starts = [pool.take() for _ in range(4)]
    last = list(starts)
    for _ in range(8):
        for place, page in enumerate(last):
            last[place] = pool.take(page)
            assert last[place] == page + 1
    assert len({*starts}) == 4


def test_a_page_is_free_when_its_last_user_goes() -> None:
    pool = PagePool(2, 4)
    page = pool.take()
    pool.retain(page)
    assert pool.is_shared(page)
    assert pool.shared == 1
    pool.release(page)
    assert (pool.free, pool.shared) == (1, 0)
    pool.release(page)
    assert pool.free == 2


def test_a_published_page_is_found_by_its_content_after_its_user_went() -> None:
    pool = PagePool(3, 2)
    page = pool.take()
    key = pool.publish(page, ROOT, [7, 8])
    pool.release(page)
    assert (pool.free, pool.cached, pool.available) == (2, 1, 3)
    assert pool.find(ROOT, [7, 8, 9]) == (page, 2)
    assert pool.find(ROOT, [7, 9]) == (page, 1)  # its beginning
    assert pool.find(ROOT, [8, 8]) == (TRASH, 0)
    assert pool.find(key, [7, 8]) == (TRASH, 0)  # not at this place of a text
    pool.retain(page)
    assert (pool.free, pool.cached) == (2, 0)


def test_the_page_unused_for_longest_goes_when_no_page_is_free() -> None:
    pool = PagePool(2, 1)
    first, second = pool.take(), pool.take()
    pool.publish(first, ROOT, [1])
    pool.publish(second, ROOT, [2])
    pool.release(first)
    pool.release(second)
    assert pool.take() == first
    assert pool.find(ROOT, [1]) == (TRASH, 0)
    assert pool.find(ROOT, [2]) == (second, 1)


def test_an_unpublished_page_is_not_found() -> None:
    pool = PagePool(2, 2)
    page = pool.take()
    pool.publish(page, ROOT, [1, 2])
    pool.unpublish(page)
    assert pool.find(ROOT, [1, 2]) == (TRASH, 0)
    pool.release(page)
    assert pool.free == 2


@pytest.mark.parametrize("seed", range(5))
def test_references_are_counted_like_a_plain_counter_does(seed: int) -> None:
    generator, pool, size = random.Random(seed), PagePool(12, 2), 12
    users: Counter[int] = Counter()
    for _ in range(400):
        deed = generator.randrange(4)
        used = [page for page, count in users.items() if count]
        if deed == 0 and pool.available:
            page = pool.take(generator.randrange(size + 1))
            assert users[page] == 0
            users[page] = 1
        elif used and deed == 1:
            page = generator.choice(used)
            pool.retain(page)
            users[page] += 1
        elif used and deed == 2:
            page = generator.choice(used)
            pool.release(page)
            users[page] -= 1
        elif used:
            pool.publish(generator.choice(used), ROOT, [generator.randrange(99) for _ in range(2)])
        in_use = sum(count > 0 for count in users.values())
        assert pool.available == size - in_use
        assert pool.shared == sum(count > 1 for count in users.values())


def test_a_pool_has_a_page() -> None:
    with pytest.raises(ValueError, match="found 0 pages of 4"):
        PagePool(0, 4)
