"""What no interpreter shows: kernels under CUDA graphs, masks on a device, results that repeat."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed (extra gpu)")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

import guided
from guided.decoding.attention import reference, triton_attention
from guided.decoding.batch import Batch, SequenceRows
from guided.decoding.graphs import StepGraphs
from guided.decoding.pages import LayerLayout, LayerPages
from guided.masks import RowMirror
from guided.masks.apply import apply_by_torch
from guided.sampling import Sampler, Sampling
from guided.sampling.device import sample_rows

DEVICE = torch.device("cuda", torch.cuda.current_device())
PAGE, PAGES = 64, 64


def layer(dtype: torch.dtype = torch.float32, device: torch.device = DEVICE) -> LayerPages:
    made = LayerPages(LayerLayout(2, 64, 64, dtype, device), 1 + 4 * PAGES, PAGE)
    generator = torch.Generator().manual_seed(0)
    for tensor in (made.keys, made.values):
        tensor.copy_(torch.randn(tensor.shape, generator=generator))
    return made


def decode(*lengths: int) -> Batch:
    rows = []
    for number, length in enumerate(lengths):
        pages = [1 + number * PAGES + place for place in range(-(-length // PAGE))]
        rows.append(SequenceRows([number], length, pages))
    return Batch(rows, PAGE, DEVICE)


def test_a_captured_step_attends_to_contexts_of_any_length() -> None:
    pages = layer()
    queries = torch.randn(4, 8, 64, device=DEVICE)

    def step(batch: Batch) -> Tensor:
        return triton_attention.attend(queries[batch.tokens], pages, batch, scale=0.125)

    graphs = StepGraphs(step, pages=PAGES, page_size=PAGE, device=DEVICE, buckets=[1, 4])
    on_cpu = layer(device=torch.device("cpu"))
    for lengths in [(1,), (4000,), (130, 70, 4096), (1, 2, 3, 4), (900, 4000)]:
        batch = decode(*lengths)
        found = graphs.run(batch)
        assert graphs.reason is None
        assert found is not None
        cpu_batch = batch.to(torch.device("cpu"))
        wanted = reference.attend(queries[batch.tokens].cpu(), on_cpu, cpu_batch, scale=0.125)
        assert float((found.cpu().double() - wanted).abs().max()) < 1e-5
    assert graphs.replays == 5


def test_the_same_step_gives_the_same_bits() -> None:
    pages = layer(torch.bfloat16)
    query = torch.randn(3, 8, 64, device=DEVICE, dtype=torch.bfloat16)
    found = [
        triton_attention.attend(query, pages, decode(4000, 17, 900), scale=0.125) for _ in range(5)
    ]
    assert all(torch.equal(found[0], other) for other in found[1:])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_apply_mask_on_a_device_is_the_kernel(dtype: torch.dtype) -> None:
    logits = torch.randn(64, 128_256, device=DEVICE).to(dtype)
    mask = torch.randint(-(1 << 31), 1 << 31, (64, 4008), device=DEVICE).int()
    wanted = logits.clone()
    apply_by_torch(wanted, mask)
    guided.apply_mask(logits, mask)
    assert torch.equal(logits, wanted)


def test_a_mirror_on_the_device_holds_the_masks_of_matchers() -> None:
    tokens: list[bytes | None] = [bytes([byte]) for byte in range(97, 123)]
    vocabulary = guided.Vocabulary.from_tokens([*tokens, None], eos=[26], size=70)
    mirror = RowMirror(vocabulary, DEVICE, rows=2)
    for pattern in ("[a-f]+", "xyz", "[^q]", "ab?"):
        matcher = guided.Grammar.from_regex(pattern).compile(vocabulary).matcher()
        logits = torch.randn(2, 70)
        wanted = logits.clone()
        mask = guided.allocate_mask(1, vocabulary)
        matcher.fill_mask(mask[0])
        guided.apply_mask(wanted[:1], mask)
        there = logits.to(DEVICE)
        guided.apply_mask(there, mirror.rows, numbers=mirror.numbers([matcher, None]))
        assert torch.equal(there.cpu(), wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_sampling_on_a_device_gives_the_tokens_of_the_samplers(dtype: torch.dtype) -> None:
    options: list[dict[str, Any]] = [
        {"temperature": 0.0},
        {"temperature": 1.3},
        {"temperature": 0.8, "top_p": 0.911},
        {"temperature": 1.6, "min_p": 0.0371},
        {"top_k": 40, "top_p": 0.613},
    ]
    logits = 3 * torch.randn(40, 128_256, device=DEVICE)
    masks = torch.randint(-(1 << 31), 1 << 31, (40, 4008), device=DEVICE).int()
    both = [[Sampler(Sampling(**each, seed=3)) for each in options * 8] for _ in range(2)]
    found = sample_rows(logits.to(dtype), both[0], masks)
    rows = zip(both[1], logits.to(dtype).cpu(), masks.cpu(), strict=True)
    assert found.tolist() == [sampler.choose(row, mask) for sampler, row, mask in rows]
