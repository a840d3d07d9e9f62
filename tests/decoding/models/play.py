"""A runner is played with at random, and all it says compared with the stock forward."""

from __future__ import annotations

import random

import torch
from torch import Tensor
from transformers import PreTrainedModel

from guided.decoding.models import Piece, Runner


class Player:
    """Sequences of a runner, and what each should hold.

    Args:
        network: the model of the runner, on its stock forward.
        runner: what is tested.
        generator: of all choices.
        tolerance: of the logits.
    """

    def __init__(
        self,
        network: PreTrainedModel,
        runner: Runner,
        generator: random.Random,
        tolerance: float = 1e-4,
    ) -> None:
        self.network = network
        self.runner = runner
        self.generator = generator
        self.tolerance = tolerance
        self.texts: dict[int, list[int]] = {}

    def random_tokens(self, least: int, most: int) -> list[int]:
        count = self.generator.randint(least, most)
        return [self.generator.randrange(self.runner.width) for _ in range(count)]

    def stock(self, text: list[int]) -> Tensor:
        """The logits after each token, by one forward without a cache, (T, V)."""
        with torch.no_grad():
            logits: Tensor = self.network(input_ids=torch.tensor([text]), use_cache=False).logits
        return logits[0]

    def check(self, found: Tensor, wanted: Tensor) -> None:
        torch.testing.assert_close(found, wanted, atol=self.tolerance, rtol=self.tolerance)

    def open(self, prompt: list[int]) -> tuple[int, int]:
        sequence, found = self.runner.open(prompt)
        assert found < len(prompt)
        self.texts[sequence] = prompt[:found]
        return sequence, found

    def run(self, pieces: list[Piece]) -> None:
        """Run chains, and compare all logits."""
        rows = torch.split(self.runner.run(pieces).values, [piece.logits for piece in pieces])
        for piece, found in zip(pieces, rows, strict=True):
            text = self.texts[piece.sequence]
            text += piece.tokens
            assert self.runner.length(piece.sequence) == len(text)
            self.check(found, self.stock(text)[len(text) - piece.logits :])

    def run_some(self, most: int = 6) -> None:
        """Run pieces of some sequences, of different lengths."""
        some = self.generator.sample(list(self.texts), self.generator.randint(1, len(self.texts)))
        pieces = []
        for sequence in some:
            tokens = self.random_tokens(1, self.generator.choice([1, 1, most]))
            logits = self.generator.randint(0, len(tokens))
            pieces.append(Piece(sequence, tokens, logits))
        self.run(pieces)

    def run_tree(self, beside: bool = True) -> None:
        """Run a tree of drafts beside a chain, compare each path, and keep one of them."""
        sequence, *others = self.generator.sample(list(self.texts), min(2, len(self.texts)))
        tokens = self.random_tokens(2, 6)
        parents = [self.generator.randint(-1, node - 1) for node in range(len(tokens))]
        pieces = [Piece(sequence, tokens, len(tokens), parents)]
        if others and beside:
            pieces.append(Piece(others[0], self.random_tokens(1, 3), 1))
        values = self.runner.run(pieces).values
        text = self.texts[sequence]
        paths: list[list[int]] = []
        for node, parent in enumerate(parents):
            paths.append([*(paths[parent] if parent >= 0 else []), node])
            path = [tokens[step] for step in paths[node]]
            self.check(values[node], self.stock(text + path)[-1])
        if others and beside:
            self.texts[others[0]] += pieces[1].tokens
            self.check(values[-1], self.stock(self.texts[others[0]])[-1])
        kept = self.generator.choice([[], *paths])
        self.runner.keep(sequence, kept)
        text += [tokens[step] for step in kept]
        assert self.runner.length(sequence) == len(text)

    def rollback(self) -> None:
        sequence = self.generator.choice(list(self.texts))
        text = self.texts[sequence]
        count = self.generator.randint(0, min(len(text), 7))
        self.runner.rollback(sequence, count)
        del text[len(text) - count :]

    def fork(self) -> None:
        sequence = self.generator.choice(list(self.texts))
        self.texts[self.runner.fork(sequence)] = list(self.texts[sequence])

    def free(self) -> None:
        sequence = self.generator.choice(list(self.texts))
        self.runner.free(sequence)
        del self.texts[sequence]

    def reopen(self) -> None:
        """Begin a sequence whose prompt begins like what was seen before."""
        text = self.generator.choice(list(self.texts.values()))
        prompt = text[: self.generator.randint(0, len(text))] + self.random_tokens(1, 5)
        sequence, found = self.open(prompt)
        self.run([Piece(sequence, prompt[found:])])

    def free_all(self) -> None:
        for sequence in list(self.texts):
            self.runner.free(sequence)
        self.texts.clear()

    def finish(self) -> None:
        """Free all; no page may be lost."""
        self.free_all()
        stats = self.runner.stats()
        assert stats.free + stats.cached == stats.pages
        assert stats.shared == 0
