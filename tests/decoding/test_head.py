"""The head multiplies the rows and columns that are wanted, and is left as it was."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from guided.decoding.head import Head, few_tokens


def tokens(*numbers: int) -> Tensor:
    return torch.tensor(numbers, dtype=torch.int64)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ([tokens(3, 5)], [3, 5]),
        ([tokens(3, 5), tokens(1, 5, 9)], [1, 3, 5, 9]),
        ([tokens(3), tokens()], [3]),
        ([tokens(3), None], None),
        ([tokens(*range(5))], None),
        ([tokens(1, 2, 3), tokens(4, 5)], None),
        ([], None),
        ([tokens()], None),
    ],
)
def test_columns_are_those_of_all_rows_together_if_few(
    wanted: list[Tensor | None], found: list[int] | None
) -> None:
    together = few_tokens(wanted, 4)
    assert (None if together is None else together.tolist()) == found


@pytest.mark.parametrize("bias", [False, True])
def test_rows_and_columns_are_a_part_of_the_whole_product(bias: bool) -> None:
    torch.manual_seed(0)
    embedding = nn.Linear(6, 40, bias=bias)
    hidden = torch.randn(1, 5, 6)
    with torch.no_grad():
        whole = embedding(hidden)
        head = Head(embedding)
        with head.step(tokens(0, 4), lambda: [tokens(7), tokens(2, 39)]):
            found = embedding(hidden)
    assert head.was_called
    assert head.tokens is not None
    torch.testing.assert_close(found, whole[:, [0, 4]][:, :, [2, 7, 39]])
    assert torch.equal(embedding(hidden), whole)


def test_a_quantized_or_unknown_head_is_multiplied_whole() -> None:
    class Other(nn.Linear):
        pass

    embedding = Other(6, 40)
    head = Head(embedding)
    with head.step(tokens(1), lambda: [tokens(7)]):
        found = embedding(torch.randn(1, 3, 6))
    assert found.shape == (1, 1, 40)
    assert head.tokens is None


def test_the_head_is_put_back_after_a_failure() -> None:
    embedding = nn.Linear(6, 40)

    def fails() -> list[Tensor | None]:
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"), Head(embedding).step(None, fails):
        embedding(torch.randn(1, 3, 6))
    assert "forward" not in vars(embedding)


def test_a_forward_that_was_replaced_already_is_kept() -> None:
    embedding = nn.Linear(6, 40)
    own = embedding.forward
    embedding.forward = lambda hidden: own(hidden) + 1  # type: ignore[method-assign, assignment]
    replaced = embedding.forward
    hidden = torch.randn(1, 3, 6)
    head = Head(embedding)
    head.is_linear = False
    with head.step(tokens(2), None):
        found = embedding(hidden)
    assert embedding.forward is replaced
    torch.testing.assert_close(found, own(hidden)[:, 2:] + 1)
