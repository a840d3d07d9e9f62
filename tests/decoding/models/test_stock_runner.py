"""Models on their stock cache: any cut of a text gives the logits of the whole."""

from __future__ import annotations

import random

import pytest
import torch

from guided.decoding.models import Piece
from guided.decoding.models.stock_runner import StockRunner
from guided.errors import GuidedError
from tests.decoding.models.families import STOCK, tiny_model
from tests.decoding.models.play import Player


@pytest.mark.parametrize("family", [*STOCK, "llama"])
def test_any_order_of_operations_gives_the_logits_of_the_whole_text(family: str) -> None:
    network = tiny_model(family)
    generator = random.Random(family)
    player = Player(network, StockRunner(network), generator, tolerance=2e-4)
    player.open(player.random_tokens(1, 1))
    for _ in range(14):
        deed = generator.choice(
            [player.run_some] * 3 + [player.rollback, player.fork, player.reopen, player.free]
        )
        if max(map(len, player.texts.values()), default=0) > 30 or len(player.texts) > 4:
            deed = player.free
        if not player.texts:
            player.open(player.random_tokens(1, 1))
        else:
            deed()
    player.finish()


def test_logits_come_for_the_rows_asked_for_only() -> None:
    runner = StockRunner(tiny_model("mamba"))
    first, second = runner.open()[0], runner.open()[0]
    logits = runner.run([Piece(first, [5, 6, 7], 0), Piece(second, [8, 9], 2)])
    assert logits.values.shape == (2, 160)
    assert logits.tokens is None


def test_trees_are_refused() -> None:
    runner = StockRunner(tiny_model("llama"))
    sequence, _ = runner.open()
    with pytest.raises(GuidedError, match="no trees of drafts"):
        runner.run([Piece(sequence, [5, 6], 2, (-1, -1))])
    assert runner.length(sequence) == 0


def test_a_failed_forward_leaves_the_sequence_as_it_was() -> None:
    network = tiny_model("mamba")
    runner = StockRunner(network)
    sequence, _ = runner.open()
    wanted = runner.run([Piece(sequence, [5, 6, 7])]).values
    with pytest.raises(IndexError):
        runner.run([Piece(sequence, [9999])])
    assert runner.length(sequence) == 3
    runner.rollback(sequence, 1)
    found = runner.run([Piece(sequence, [7])]).values
    torch.testing.assert_close(found, wanted, atol=2e-4, rtol=2e-4)


def test_more_than_there_is_cannot_be_rolled_back() -> None:
    runner = StockRunner(tiny_model("llama"))
    sequence, _ = runner.open()
    with pytest.raises(GuidedError, match="cannot drop 1 tokens: the sequence holds 0"):
        runner.rollback(sequence, 1)
