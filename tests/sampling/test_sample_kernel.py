"""The Triton kernel that samples, against `Sampler`, token by token.

On a GPU where there is one, else in Triton's interpreter. Both get the same random numbers, so what
they choose is the same only if they keep the same tokens with the same chances.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed (extra gpu)")

import triton
import triton.language as tl
from triton.runtime import JITFunction

from guided.errors import GuidedError
from guided.sampling import Sampler, Sampling, sample_kernel
from guided.sampling.device import row_options, sample_launch, sample_rows
from guided.sampling.random_stream import uniform
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
SOME = [("ties", torch.float16), ("impossible", torch.float32)]


@pytest.mark.parametrize(("kind", "dtype"), [*SOME, *EVERYTHING], ids=str)
def test_rows_of_all_kinds_get_the_token_of_their_sampler(kind: str, dtype: torch.dtype) -> None:
    logits = random_rows(kind, len(OPTIONS), 200, seed=1).to(dtype)
    samplers, alone = (samplers_of(OPTIONS, len(OPTIONS)) for _ in range(2))
    assert at_once(logits, samplers, None) == one_by_one(logits, alone, None)


@pytest.mark.parametrize(("kind", "dtype"), [("ties", torch.bfloat16), *EVERYTHING], ids=str)
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


BORDERS: list[dict[str, Any]] = [
    *({"top_k": count} for count in (1, 2, 5, 8, 11, 12)),
    *({"top_p": mass} for mass in (0.0, 0.09, 0.35, 0.6, 0.96)),
    *({"min_p": share} for share in (0.37, 0.5, 0.82, 0.95, 1.0)),
    *({"top_k": 7, "top_p": mass} for mass in (0.2, 0.5, 0.9)),
    *({"top_k": 7, "min_p": share} for share in (0.4, 0.9)),
]


@pytest.mark.parametrize("scale", [1.0, 0.5], ids=["no ties", "pairs of equals"])
def test_each_option_draws_its_border_at_the_same_token(scale: float) -> None:
    """The least likely token has the lowest id, so a number near 0 draws the last that is kept."""
    near_0 = next(place for place in range(10_000) if uniform(1, place) < 1e-3)
    logits = (torch.arange(12.0) * scale).floor() / scale
    samplers = [Sampler(Sampling(temperature=10.0, seed=1, **option)) for option in BORDERS]
    wanted = [int(sampler.distribution(logits)[0][0]) for sampler in samplers]
    for sampler in samplers:
        sampler.stream.counter = near_0
    assert at_once(logits.expand(len(BORDERS), 12), samplers, None) == wanted
    assert len(set(wanted)) > 5


def test_equals_at_the_border_of_top_p_are_counted_from_the_lowest_id() -> None:
    """A number near 1 draws the last of the equals that are kept."""
    near_1 = next(place for place in range(10_000) if uniform(1, place) > 1 - 1e-3)
    masses = [0.02 + 0.1203 * step for step in range(8)]
    samplers = [Sampler(Sampling(seed=1, top_p=mass)) for mass in masses]
    wanted = [int(sampler.distribution(torch.zeros(100))[0][-1]) for sampler in samplers]
    for sampler in samplers:
        sampler.stream.counter = near_1
    assert at_once(torch.zeros(8, 100), samplers, None, block=64) == wanted
    assert wanted == [math.ceil(100 * mass) - 1 for mass in masses]


@triton.jit  # type: ignore[untyped-decorator]
def write_uniform(counts: Any, numbers: Any, COUNT: tl.constexpr) -> None:
    for place in range(COUNT):
        number = sample_kernel.uniform(tl.load(counts + place), tl.load(counts + COUNT + place))
        tl.store(numbers + place, number)


def test_the_numbers_are_those_of_the_stream() -> None:
    seeds = [0, 1, (1 << 63) - 1, -1, -(1 << 63), 0x123456789ABCDEF]
    counters = [0, 7, (1 << 32) - 1, 1 << 32, (1 << 62) + 5, 3]
    numbers = torch.empty(len(seeds), dtype=torch.float64, device=DEVICE)
    write_uniform[(1,)](torch.tensor([seeds, counters], device=DEVICE), numbers, COUNT=len(seeds))
    assert numbers.tolist() == [
        uniform(seed % (1 << 64), counter) for seed, counter in zip(seeds, counters, strict=True)
    ]


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


def test_rows_of_one_sampler_look_at_one_number_after_the_other() -> None:
    options = [{"temperature": 1.0}, {"temperature": 0.0}, {"min_p": 0.1}]
    samplers, alone = samplers_of(options, 3), samplers_of(options, 3)
    ahead = [0, 0, 0, 1, 1, 2]
    of_row = [0, 1, 2, 0, 2, 0]
    rows = [samplers[place] for place in of_row]
    logits = torch.zeros(6, 64)
    for _ in range(2):  # none is taken, so the same come again
        found = sample_rows(logits.to(DEVICE), rows, ahead=ahead).tolist()
        assert [sampler.stream.counter for sampler in samplers] == [0, 0, 0]
    assert found == one_by_one(logits, [alone[place] for place in of_row], None)
    assert len(set(found)) > 3


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
