"""A comparison with the stock forward, on the model itself, before it is used."""

from __future__ import annotations

import random

import torch
from torch import Tensor
from transformers import PreTrainedModel

from guided.decoding.head import Head
from guided.decoding.models.paged_layers import NotServed
from guided.decoding.models.protocol import Piece, Runner

# |ours - stock| / |stock|. In half precision, rounding alone makes some percent; attention that is
# wrong makes tens.
_TOLERANCES = {torch.float64: 1e-6, torch.float32: 1e-3, torch.float16: 0.05, torch.bfloat16: 0.1}


def check_against_stock(network: PreTrainedModel, runner: Runner, head: Head) -> None:
    """Run two sequences of unequal length packed, in pieces, and compare all their logits.

    `head.is_linear` is turned off where logits of a few columns are not those columns.

    Raises:
        NotServed: they differ.
    """
    generator = random.Random(0)
    texts = [[generator.randrange(runner.width) for _ in range(length)] for length in (8, 5)]
    wanted = [stock_logits(network, text) for text in texts]
    if wanted[0].shape[1] != runner.width:
        raise NotServed(
            f"its logits have {wanted[0].shape[1]} columns, and its output embedding {runner.width}"
        )
    found: list[list[Tensor]] = [[], []]
    left, right = (runner.open()[0] for _ in texts)
    is_linear, head.is_linear = head.is_linear, False
    try:
        for cuts in (((0, 5), (0, 3)), ((5, 6), (3, 5)), ((6, 8), None)):
            pieces = [
                Piece(sequence, text[cut[0] : cut[1]], logits=cut[1] - cut[0])
                for sequence, text, cut in zip((left, right), texts, cuts, strict=True)
                if cut is not None
            ]
            parts = torch.split(runner.run(pieces).values, [piece.logits for piece in pieces])
            for place, rows in enumerate(parts):
                found[place].append(rows)
    finally:
        head.is_linear = is_linear
    for ours, stock in zip(found, wanted, strict=True):
        difference = distance(torch.cat(ours), stock)
        if not difference <= _TOLERANCES.get(network.dtype, 0.1):
            raise NotServed(
                f"its logits differ by {difference:.1%} from those of its stock forward"
            )
    if is_linear:
        runner.rollback(left, 1)
        head.is_linear = columns_agree(runner, Piece(left, texts[0][-1:]), wanted[0][-1:])
    for sequence in (left, right):
        runner.free(sequence)


def columns_agree(runner: Runner, piece: Piece, stock: Tensor) -> bool:
    """Whether a few columns of the logits can be computed alone; stock is (1, V)."""
    tokens = torch.arange(0, runner.width, max(1, runner.width // 3))[:3]
    try:
        logits = runner.run([piece], lambda: [tokens])
    except Exception:  # the model does something with its logits that needs all of them
        return False
    if logits.tokens is None:
        return True
    expected = stock[:, tokens.to(stock.device)]
    return logits.values.shape == expected.shape and distance(
        logits.values, expected
    ) <= 10 * _TOLERANCES.get(stock.dtype, 0.1)


def stock_logits(network: PreTrainedModel, text: list[int]) -> Tensor:
    """Run the network on a text as transformers does, (T, V)."""
    tokens = torch.tensor([text], device=input_device(network))
    with torch.no_grad():
        logits: Tensor = network(input_ids=tokens, use_cache=False).logits
    return logits[0]


def input_device(network: PreTrainedModel) -> torch.device:
    """Return where a network wants its tokens."""
    weight = network.get_input_embeddings().weight
    assert isinstance(weight, Tensor)
    return weight.device


def distance(found: Tensor, wanted: Tensor) -> float:
    """Return |found - wanted| / |wanted|; infinity where a number is missing or not finite."""
    if found.shape != wanted.shape:
        return float("inf")
    found, wanted = found.float(), wanted.float().to(found.device)
    difference = float(torch.linalg.vector_norm(found - wanted))
    scale = float(torch.linalg.vector_norm(wanted))
    return difference / scale if scale > 0 else difference
