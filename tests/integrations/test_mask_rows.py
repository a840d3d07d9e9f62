"""Masks of a batch in which some rows have a matcher, some are over and some are free."""

from __future__ import annotations

import pytest
import torch

import guided
from guided.errors import GuidedError, VocabularyError
from guided.grammar import Matcher
from guided.integrations.mask_rows import MaskRows, Rest, Row, first_allowed
from tests.integrations.stand_ins import allowed

SIZE = 70  # three words, the last of them mostly beyond the vocabulary
END, OTHER_END, PAD = 64, 65, 69
VOCABULARY = guided.Vocabulary.from_tokens(
    [bytes([48 + token]) for token in range(64)], eos=[END, OTHER_END], size=SIZE
)
EVERYTHING = list(range(SIZE))
DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


def matcher(pattern: str, text: str = "") -> Matcher:
    made = guided.Grammar.from_regex(pattern).compile(VOCABULARY).matcher()
    made.accept_bytes(text.encode())
    return made


@pytest.mark.parametrize("width", [SIZE, SIZE + 40, 66], ids=["equal", "wider", "narrower"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("device", DEVICES)
def test_each_kind_of_row_allows_what_it_should(
    width: int, dtype: torch.dtype, device: str
) -> None:
    letters = matcher("[0-9]+A?", "0")
    rows: list[Row] = [letters, Rest.OVER, Rest.FREE, matcher("a|b"), Rest.OVER, letters]
    logits = torch.randn(len(rows), width).to(device, dtype)
    before = logits.clone()
    MaskRows(VOCABULARY, [PAD]).apply(logits, rows)
    over = [END, OTHER_END, PAD]
    digits = letters.allowed_tokens()
    assert digits == [*range(10), 17, END, OTHER_END]
    first = [digits, over, list(range(width)), [49, 50], over, digits]
    assert allowed(logits) == [[token for token in row if token < width] for row in first]
    kept = logits.isfinite()
    assert torch.equal(logits[kept], before[kept])


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_batches_of_changing_size_are_filled_alike(batch: int) -> None:
    masks = MaskRows(VOCABULARY)
    for size in (batch, 5, batch):
        rows: list[Row] = [matcher(f"[{chr(48 + row)}-9]") for row in range(size)]
        logits = torch.zeros(size, SIZE)
        masks.apply(logits, rows)
        assert allowed(logits) == [list(range(row, 10)) for row in range(size)]


def test_what_can_only_end_does() -> None:
    logits = torch.zeros(3, SIZE)
    logits[:, [END, OTHER_END]] = -torch.inf
    MaskRows(VOCABULARY).apply(logits, [matcher("a", "a"), matcher("ab?", "a"), Rest.OVER])
    assert allowed(logits) == [[END, OTHER_END], [ord("b") - 48], [END, OTHER_END]]
    # One of them that was not forbidden is enough.
    logits = torch.full((1, SIZE), 2.0)
    logits[0, END] = -torch.inf
    MaskRows(VOCABULARY).apply(logits, [matcher("a", "a")])
    assert allowed(logits) == [[OTHER_END]]
    assert logits[0, OTHER_END] == 2


def test_a_row_of_which_nothing_is_left_is_found_on_request() -> None:
    logits = torch.zeros(3, SIZE)
    logits[1, [0, 1]] = -torch.inf
    rows: list[Row] = [matcher("0|1"), matcher("0|1"), Rest.FREE]
    MaskRows(VOCABULARY).apply(logits.clone(), rows)
    with pytest.raises(GuidedError, match="have been forbidden") as raised:
        MaskRows(VOCABULARY).apply(logits.clone(), rows, strict=True)
    assert raised.value.place == "in row 1"
    logits[1, 1] = 0
    MaskRows(VOCABULARY).apply(logits, rows, strict=True)
    assert allowed(logits) == [[0, 1], [1], EVERYTHING]


def test_what_cannot_be_spelled_is_named() -> None:
    rows: list[Row] = [matcher("0(\u00e4|\u00f6)", "0")]
    with pytest.raises(VocabularyError, match="no token can write"):
        MaskRows(VOCABULARY).apply(torch.zeros(1, SIZE), rows, strict=True)


def test_the_first_token_of_a_row() -> None:
    tokens = [[3], [40, 50], [31, 32], [63], [], [31]]
    mask = torch.zeros(len(tokens), 2, dtype=torch.int32)
    for row, chosen in enumerate(tokens):
        for token in chosen:
            bit = 1 << token % 32
            mask[row, token // 32] |= bit - (1 << 32 if bit == 1 << 31 else 0)
    assert first_allowed(mask.numpy()) == [3, 40, 31, 63, 0, 31]
