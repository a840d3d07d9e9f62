"""The Triton kernel that samples, against `Sampler`, token by token.

On a GPU where there is one, else in Triton's interpreter. Both get the same random numbers, so what
they choose is the same only if they keep the same tokens with the same chances.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed (extra gpu)")

from triton.runtime import JITFunction

from guided.errors import GuidedError
from guided.sampling import Sampler, Sampling, sample_kernel
from guided.sampling.device import row_options, sample_launch, sample_rows
from tests.sampling.rows import KINDS, mask_of, random_rows

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
NAN, INF = float("nan"), float("inf")
DTYPES = [torch.float32, torch.float16, torch.bfloat16]

# Triton's interpreter does this for each scalar of a kernel.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Conversion of an array with ndim:DeprecationWarning"),
    pytest.mark.skipif(
        isinstance(sample_kernel.sample, JITFunction) and DEVICE.type == "cpu",
        reason="no GPU, and Triton was imported without TRITON_INTERPRET=1",
    ),
]

OPTIONS: list[dict[str, Any]] = [
    {"temperature": 0.0},
    {"temperature": 1.0},
    {"temperature": 3.0, "top_k": 5},
    {"temperature": 0.4, "top_p": 0.83},
    {"temperature": 1.7, "min_p": 0.093},
    {"temperature": 1.2, "top_k": 40, "top_p": 0.613, "min_p": 0.031},
    {"top_k": 1},
    {"top_p": 0.0},
    {"top_p": 0.99971, "top_k": 100_000},
]


def samplers_of(options: list[dict[str, Any]], rows: int) -> list[Sampler]:
    """Return a sampler for each row, each with its own seed, 2**63 and above among them."""
    return [
        Sampler(Sampling(**{"seed": (number * 0x9E3779B97F4A7C15) % (1 << 64)} | option))
        for number, option in zip(range(rows), options * rows, strict=False)
    ]


def one_by_one(logits: Tensor, samplers: list[Sampler], masks: Tensor | None) -> list[int]:
    chosen = []
    for number, (row, sampler) in enumerate(zip(logits, samplers, strict=True)):
        chosen.append(sampler.choose(row.clone(), None if masks is None else masks[number]))
    return chosen


def at_once(
    logits: Tensor, samplers: list[Sampler], masks: Tensor | None, block: int = 128
) -> list[int]:
    """Choose by the kernel with small blocks, so that a row has several."""
    tokens = torch.empty(len(samplers), dtype=torch.int64, device=DEVICE)
    masks = None if masks is None else masks.to(DEVICE)
    rows = row_options(samplers, DEVICE)
    sample_launch(logits.to(DEVICE), rows, masks, None, tokens, block).run()
    found: list[int] = tokens.tolist()
    return found


# The interpreter takes a tenth of a second for a row, so a few rows are looked at in a plain run.
EVERYTHING = [
    pytest.param(kind, dtype, marks=pytest.mark.nightly) for kind in KINDS for dtype in DTYPES
]
SOME = [("flat", torch.bfloat16), ("ties", torch.float16), ("impossible", torch.float32)]


@pytest.mark.parametrize(("kind", "dtype"), [*SOME, *EVERYTHING], ids=str)
def test_rows_of_all_kinds_get_the_token_of_their_sampler(kind: str, dtype: torch.dtype) -> None:
    logits = random_rows(kind, len(OPTIONS), 200, seed=1).to(dtype)
    samplers, alone = (samplers_of(OPTIONS, len(OPTIONS)) for _ in range(2))
    assert at_once(logits, samplers, None) == one_by_one(logits, alone, None)


@pytest.mark.parametrize(("kind", "dtype"), [("ties", torch.float32), *EVERYTHING], ids=str)
def test_masks_are_seen(kind: str, dtype: torch.dtype) -> None:
    count, width = len(OPTIONS), 190
    logits = random_rows(kind, count, width, seed=2).to(dtype)
    generator = torch.Generator().manual_seed(0)
    allowed = [torch.randperm(width, generator=generator)[: 1 + 9 * row] for row in range(count)]
    masks = torch.stack([mask_of(*tokens.tolist(), words=6) for tokens in allowed])
    samplers, alone = samplers_of(OPTIONS, count), samplers_of(OPTIONS, count)
    assert at_once(logits, samplers, masks) == one_by_one(logits, alone, masks)


@pytest.mark.parametrize(
    ("option", "rows"),
    [
        ({"temperature": 1.5, "top_k": 9, "top_p": 0.613, "min_p": 0.031}, 12),
        *[pytest.param(option, 100, marks=pytest.mark.nightly) for option in OPTIONS[1:]],
    ],
    ids=str,
)
def test_all_numbers_of_a_stream_give_the_same_tokens(option: dict[str, Any], rows: int) -> None:
    """Ties at the border of the sets, and points all over them."""
    logits = random_rows("ties", 1, 60, seed=3).float().expand(rows, 60)
    options = Sampling(**{"seed": 5} | option)
    samplers, alone = ([Sampler(options) for _ in range(rows)] for _ in range(2))
    for place in range(rows):
        samplers[place].stream.counter = place + (place % 2 << 40)
        alone[place].stream.counter = place + (place % 2 << 40)
    found = at_once(logits, samplers, None)
    assert found == one_by_one(logits, alone, None)
    assert (len(set(found)) > 1) is (len(Sampler(options).distribution(logits[0])[0]) > 1)


@pytest.mark.parametrize("option", [{"temperature": 0.0}, {"top_p": 0.7}])
@pytest.mark.parametrize(
    "logits",
    [
        pytest.param([NAN, 1.0, 2.0, NAN], id="some NaN"),
        pytest.param([NAN, NAN, NAN, NAN], id="all NaN"),
        pytest.param([INF, 1.0, INF, 2.0], id="plus infinity"),
        pytest.param([-INF, -INF, -INF, -INF], id="nothing is possible"),
        pytest.param([-INF, -3.0, -INF, NAN], id="one is possible"),
        pytest.param([0.0, -0.0, -0.0, 0.0], id="zeros of both signs"),
        pytest.param([3e38, -3e38, 3e38, 0.0], id="the largest numbers"),
    ],
)
@pytest.mark.filterwarnings("ignore:the model gave NaN:RuntimeWarning")
def test_what_is_no_number_is_treated_alike(logits: list[float], option: dict[str, Any]) -> None:
    rows = torch.tensor([logits] * 3)
    masks = torch.stack([mask_of(0, 1, 2, 3), mask_of(1, 2), mask_of(3)])
    assert at_once(rows, samplers_of([option], 3), masks) == one_by_one(
        rows, samplers_of([option], 3), masks
    )


def test_rows_come_strided_and_masks_from_a_pool_by_their_number() -> None:
    logits = random_rows("flat", 4, 80, seed=4).float()
    pool = torch.stack([mask_of(7, words=3), mask_of(1, 40, 79, words=3), mask_of(words=3)])
    numbers = torch.tensor([1, -1, 0, 2], dtype=torch.int32)
    samplers, alone = samplers_of([{"temperature": 2.0}], 4), samplers_of([{"temperature": 2.0}], 4)
    memory = torch.full((4, 3, 90), 50.0, device=DEVICE)
    memory[:, 1, :80] = logits.to(DEVICE)
    found = sample_rows(memory[:, 1, :80], samplers, pool.to(DEVICE), numbers.to(DEVICE)).tolist()
    assert found[0] == alone[0].choose(logits[0].clone(), pool[1])
    assert found[1] == alone[1].choose(logits[1].clone())
    assert found[2] == 7
    assert found[3] == -1
    with pytest.raises(GuidedError, match="no token is allowed"):
        alone[3].choose(logits[3].clone(), pool[2])


def test_each_call_takes_the_next_numbers() -> None:
    logits = torch.zeros(3, 64)
    options = [{"temperature": 1.0}, {"temperature": 0.0}, {"min_p": 0.1}]
    samplers, alone = samplers_of(options, 3), samplers_of(options, 3)
    for _ in range(4):
        found = sample_rows(logits.to(DEVICE), samplers).tolist()
        assert found == one_by_one(logits, alone, None)
    assert [sampler.stream.counter for sampler in samplers] == [4, 0, 4]


@pytest.mark.parametrize(
    ("options", "simple"),
    [
        ({"temperature": 0.7, "top_k": 5, "top_p": 0.9, "min_p": 0.1, "seed": 1}, True),
        ({"typical_p": 1.0}, True),
        ({"typical_p": 0.9}, False),
        ({"repetition_penalty": 1.1}, False),
        ({"logit_bias": {0: 1.0}}, False),
        ({"min_tokens": 3}, False),
    ],
)
def test_the_kernel_is_for_simple_options(options: dict[str, Any], simple: bool) -> None:
    sampler = Sampler(Sampling(**options))
    sampler.begin([1], [2])
    assert sampler.is_simple is simple
