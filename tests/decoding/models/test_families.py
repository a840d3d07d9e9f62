"""Many families of models on our pages give the logits of their stock forward."""

from __future__ import annotations

import random

import pytest

from guided.decoding.models import Piece
from guided.decoding.models.transformers_runner import TransformersRunner
from guided.decoding.pages import CacheOptions
from tests.decoding.models.families import PAGED, tiny_model
from tests.decoding.models.play import Player

SMALL = CacheOptions(page_size=4, memory=4 << 20, slack=8)


@pytest.mark.parametrize("family", PAGED)
def test_a_family_on_pages_gives_the_logits_of_its_stock_forward(family: str) -> None:
    network = tiny_model(family)
    player = Player(network, TransformersRunner(network, SMALL), random.Random(family))
    # A ragged prefill, past the windows and over several pages; a decode step; a chunk beside it.
    sequences = [player.open(player.random_tokens(1, 1))[0] for _ in range(3)]
    lengths = (19, 7, 3)
    player.run(
        [
            Piece(sequence, player.random_tokens(length, length), length)
            for sequence, length in zip(sequences, lengths, strict=True)
        ]
    )
    player.run([Piece(sequence, player.random_tokens(1, 1)) for sequence in sequences])
    player.run([Piece(sequences[0], player.random_tokens(1, 1)), Piece(sequences[1], [5] * 9, 2)])
    player.run_tree()
    player.rollback()
    player.fork()
    player.run([Piece(sequence, player.random_tokens(2, 2), 2) for sequence in player.texts])
    player.run_tree()
    player.reopen()
    player.finish()


@pytest.mark.nightly
@pytest.mark.parametrize("family", PAGED)
@pytest.mark.parametrize("seed", range(5))
def test_a_family_survives_any_order_of_operations(family: str, seed: int) -> None:
    network = tiny_model(family, seed)
    player = Player(network, TransformersRunner(network, SMALL), random.Random(f"{family}{seed}"))
    play_at_random(player, steps=40)


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma2", "deepseek_v3"])
@pytest.mark.parametrize("kind", ["paged", "contiguous"])
def test_any_order_of_operations_gives_the_logits_of_the_stock_forward(
    family: str, kind: str
) -> None:
    network = tiny_model(family)
    size = 4 if kind == "paged" else None
    options = CacheOptions(kind=kind, page_size=size, memory=4 << 20, slack=8)  # type: ignore[arg-type]
    player = Player(network, TransformersRunner(network, options), random.Random(family + kind))
    play_at_random(player, steps=25)


def play_at_random(player: Player, steps: int) -> None:
    """Do anything that a step loop may do, and keep texts short."""
    generator = player.generator
    player.open(player.random_tokens(1, 9))
    player.run_some()
    for _ in range(steps):
        if not player.texts:
            player.open(player.random_tokens(1, 9))
        longest = max(len(text) for text in player.texts.values())
        deed = generator.choice(
            [player.run_some] * 4
            + [player.run_tree, player.rollback, player.fork, player.reopen, player.free]
        )
        if longest > 60 or (len(player.texts) > 6 and deed in (player.fork, player.reopen)):
            deed = player.free
        deed()
    player.finish()
