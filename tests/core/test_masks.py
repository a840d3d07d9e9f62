"""Masks: what may be filled, and what is refused with a `ShapeError`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from guided import _core
from guided.errors import ShapeError

TOKENS: list[bytes | None] = [b"a", b"b", *[b"c%d" % index for index in range(70)], None]
END = len(TOKENS) - 1
VOCABULARY = _core.Vocabulary(TOKENS, [END], size=100)
WORDS = 4


def matcher() -> _core.Matcher:
    arena = _core.Arena()
    digits = arena.repeat(arena.char_class([(0x30, 0x39)]), 1)
    node = arena.repeat(
        arena.choice([arena.literal("a"), arena.sequence([arena.literal("c"), digits])])
    )
    return _core.Matcher(_core.Automaton(arena, node, VOCABULARY))


ALLOWED = [0, *range(2, 72), END]
ROW = [sum(1 << (t % 32) for t in ALLOWED if t // 32 == word) for word in range(WORDS)]


def test_bit_j_of_word_w_is_token_32_w_plus_j() -> None:
    assert VOCABULARY.words == WORDS
    row = np.full(WORDS, -1, dtype=np.int32)
    matcher().fill_mask(row)
    assert row.view(np.uint32).tolist() == ROW
    assert matcher().allowed_tokens() == ALLOWED


GOOD: dict[str, Callable[[], Any]] = {
    "numpy int32": lambda: np.zeros(WORDS, np.int32),
    "numpy uint32": lambda: np.zeros(WORDS, np.uint32),
    "torch int32": lambda: torch.zeros(WORDS, dtype=torch.int32),
    "torch uint32": lambda: torch.zeros(WORDS, dtype=torch.uint32),
    "row of a numpy mask": lambda: np.zeros((3, WORDS), np.int32)[1],
    "row of a torch mask": lambda: torch.zeros((3, WORDS), dtype=torch.int32)[1],
    "part of a longer row": lambda: np.zeros(10, np.int32)[3 : 3 + WORDS],
}


@pytest.mark.parametrize("name", GOOD)
def test_rows_of_numpy_and_torch_are_filled_in_place(name: str) -> None:
    row = GOOD[name]()
    matcher().fill_mask(row)
    assert [int(word) & 0xFFFFFFFF for word in row.tolist()] == ROW


def read_only() -> Any:
    row = np.zeros(WORDS, np.int32)
    row.flags.writeable = False
    return row


BAD_ROWS: dict[str, Callable[[], Any]] = {
    "too short": lambda: np.zeros(WORDS - 1, np.int32),
    "too long": lambda: np.zeros(WORDS + 1, np.int32),
    "empty": lambda: np.zeros(0, np.int32),
    "a dimension too many": lambda: np.zeros((1, WORDS), np.int32),
    "a number": lambda: np.zeros((), np.int32),
    "int64": lambda: np.zeros(WORDS, np.int64),
    "float32": lambda: np.zeros(WORDS, np.float32),
    "bool": lambda: np.zeros(WORDS, np.bool_),
    "bytes of the right number": lambda: np.zeros(4 * WORDS, np.uint8),
    "other byte order": lambda: np.zeros(WORDS, np.dtype(">i4")),
    "every second word": lambda: np.zeros(2 * WORDS, np.int32)[::2],
    "backwards": lambda: np.zeros(WORDS, np.int32)[::-1],
    "read-only": read_only,
    "read-only bytes": lambda: bytes(4 * WORDS),
    "a list": lambda: [0] * WORDS,
    "torch int64": lambda: torch.zeros(WORDS, dtype=torch.int64),
    "torch float32": lambda: torch.zeros(WORDS),
    "torch too short": lambda: torch.zeros(WORDS - 1, dtype=torch.int32),
    "torch every second word": lambda: torch.zeros(2 * WORDS, dtype=torch.int32)[::2],
    "torch on no device": lambda: torch.zeros(WORDS, dtype=torch.int32, device="meta"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_other_rows_are_refused_and_left_as_they_are(name: str) -> None:
    row = BAD_ROWS[name]()
    with pytest.raises(ShapeError) as caught:
        matcher().fill_mask(row)
    assert "4" in caught.value.wanted
    assert "int32" in caught.value.wanted
    assert caught.value.found
    if isinstance(row, np.ndarray):
        assert not row.any()


def test_a_batch_is_filled_row_by_row() -> None:
    matchers = [matcher(), matcher(), matcher()]
    matchers[1].accept(2)
    matchers[2].accept(END)
    mask = np.full((3, WORDS), -1, np.int32)
    _core.fill_masks(matchers, mask)
    assert mask.view(np.uint32)[0].tolist() == ROW
    row = np.zeros(WORDS, np.int32)
    matchers[1].fill_mask(row)
    assert mask[1].tolist() == row.tolist()
    assert mask[2].tolist() == [0] * WORDS


def test_rows_of_a_batch_may_be_apart() -> None:
    block = np.full((2, WORDS + 3), 7, np.int32)
    _core.fill_masks([matcher(), matcher()], block[:, 1 : 1 + WORDS])
    assert block[:, 1 : 1 + WORDS].view(np.uint32).tolist() == [ROW, ROW]
    assert (block[:, 0] == 7).all()
    assert (block[:, 1 + WORDS :] == 7).all()


def test_a_torch_batch_is_filled() -> None:
    mask = torch.zeros((2, WORDS), dtype=torch.int32)
    _core.fill_masks([matcher(), matcher()], mask)
    assert mask.numpy().view(np.uint32).tolist() == [ROW, ROW]


def test_matchers_of_a_batch_are_held_while_it_is_filled() -> None:
    made = (matcher() for _ in range(2))  # which nothing else holds
    mask = np.zeros((2, WORDS), np.int32)
    _core.fill_masks(made, mask)  # type: ignore[arg-type]
    assert mask.view(np.uint32).tolist() == [ROW, ROW]


def test_an_empty_batch_is_nothing() -> None:
    _core.fill_masks([], np.zeros((0, WORDS), np.int32))


BAD_MASKS: dict[str, Callable[[], Any]] = {
    "one row too few": lambda: np.zeros((1, WORDS), np.int32),
    "one row too many": lambda: np.zeros((3, WORDS), np.int32),
    "too narrow": lambda: np.zeros((2, WORDS - 1), np.int32),
    "flat": lambda: np.zeros(2 * WORDS, np.int32),
    "transposed": lambda: np.zeros((WORDS, 2), np.int32).T,
    "int64": lambda: np.zeros((2, WORDS), np.int64),
    "rows backwards": lambda: np.zeros((2, WORDS), np.int32)[::-1],
    "rows that are one": lambda: np.lib.stride_tricks.as_strided(
        np.zeros(WORDS, np.int32), (2, WORDS), (0, 4)
    ),
    "torch on no device": lambda: torch.zeros((2, WORDS), dtype=torch.int32, device="meta"),
    "torch transposed": lambda: torch.zeros((WORDS, 2), dtype=torch.int32).T,
}


@pytest.mark.parametrize("name", BAD_MASKS)
def test_other_masks_are_refused(name: str) -> None:
    with pytest.raises(ShapeError) as caught:
        _core.fill_masks([matcher(), matcher()], BAD_MASKS[name]())
    assert "2" in caught.value.wanted
    assert "4" in caught.value.wanted


def test_matchers_of_vocabularies_of_other_sizes_are_no_batch() -> None:
    arena = _core.Arena()
    small = _core.Vocabulary([b"a", None], [1])
    other = _core.Matcher(_core.Automaton(arena, arena.literal("a"), small))
    with pytest.raises(ValueError, match="vocabular"):
        _core.fill_masks([matcher(), other], np.zeros((2, WORDS), np.int32))


def test_equal_row_numbers_mean_equal_rows() -> None:
    first, second = matcher(), matcher()
    assert first.row_id() == second.row_id()
    second.accept(0)
    assert first.row_id() == second.row_id()
    second.accept(END)
    assert first.row_id() != second.row_id()


@pytest.mark.parametrize("size", [73, 96, 97, 128, 1000])
def test_bits_beyond_the_tokens_are_0(size: int) -> None:
    arena = _core.Arena()
    node = arena.choice([arena.any_text(), arena.token([5], negated=True), arena.token([900])])
    vocabulary = _core.Vocabulary(TOKENS, [END], size=size)
    matcher = _core.Matcher(_core.Automaton(arena, node, vocabulary))
    row = np.full(vocabulary.words, -1, np.int32)
    matcher.fill_mask(row)
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    assert bits[: len(TOKENS)].all()
    assert not bits[len(TOKENS) :].any()
    assert not any(matcher.can_accept(token) for token in range(len(TOKENS), size + 1))
