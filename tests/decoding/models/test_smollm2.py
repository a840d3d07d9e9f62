"""A real model on our pages: the words of its stock generation, and what quantized pages cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from transformers import PreTrainedTokenizerBase as Tokenizer

from guided.decoding.default_model import default_model
from guided.decoding.models import Piece
from guided.decoding.models.transformers_runner import TransformersRunner
from guided.decoding.pages import CacheOptions, KVDtype

pytestmark = pytest.mark.model

WRITTEN = 8  # tokens a prompt
BEGINNINGS = [
    "The capital of {} is",
    "A short history of {}:",
    '{{"name": "{}", "kind": "',
    "Dear people of {}, I am writing because",
    "Q: What do you know about {}?\nA:",
]
PLACES = [
    "France",
    "Peru",
    "Kenya",
    "Norway",
    "Japan",
    "Ohio",
    "Venice",
    "Mars",
    "Iceland",
    "Timbuktu",
]
PROMPTS = [beginning.format(place) for place in PLACES for beginning in BEGINNINGS]
MEMORY = 256 << 20


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    loaded: Tokenizer = AutoTokenizer.from_pretrained(default_model())
    return loaded


@pytest.fixture(scope="module")
def network() -> Iterator[PreTrainedModel]:
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    loaded = AutoModelForCausalLM.from_pretrained(default_model(), dtype=torch.float32)
    yield loaded.eval()
    torch.set_num_threads(threads)


def generate(runner: TransformersRunner, prompts: list[list[int]], end: int) -> list[list[int]]:
    """Greedy decoding of all prompts at once, of unequal lengths."""
    sequences, pieces = [], []
    for prompt in prompts:
        sequence, found = runner.open(prompt)
        sequences.append(sequence)
        pieces.append(Piece(sequence, prompt[found:]))
    written: list[list[int]] = [[] for _ in prompts]
    for _ in range(WRITTEN):
        chosen = runner.run(pieces).values.argmax(1).tolist()
        for text, token in zip(written, chosen, strict=True):
            if not (text and text[-1] == end):
                text.append(token)
        pieces = [
            Piece(sequence, [token]) for sequence, token in zip(sequences, chosen, strict=True)
        ]
    for sequence in sequences:
        runner.free(sequence)
    return written


def stock_generate(
    network: PreTrainedModel, tokenizer: Tokenizer, prompts: list[str]
) -> list[list[int]]:
    """What transformers writes, each prompt alone."""
    written = []
    for prompt in prompts:
        tokens = tokenizer(prompt, return_tensors="pt")
        out = network.generate(**tokens, max_new_tokens=WRITTEN, do_sample=False)  # type: ignore[operator]
        written.append(out[0, tokens["input_ids"].shape[1] :].tolist())
    return written


@pytest.mark.parametrize("count", [6, pytest.param(50, marks=pytest.mark.nightly)])
def test_greedy_output_is_that_of_stock_generation(
    network: PreTrainedModel, tokenizer: Tokenizer, count: int
) -> None:
    assert len(PROMPTS) == 50
    prompts = PROMPTS[-count:]
    runner = TransformersRunner(network, CacheOptions(memory=MEMORY))
    tokens = [tokenizer(prompt)["input_ids"] for prompt in prompts]
    end = network.generation_config.eos_token_id
    assert isinstance(end, int)
    assert generate(runner, tokens, end) == stock_generate(network, tokenizer, prompts)


def read(network: PreTrainedModel, text: list[int], kv_dtype: KVDtype | None) -> torch.Tensor:
    """Read a text in chunks, so that most of what is attended to comes from the pages.

    Returns:
        the logarithms of the probabilities after each token, (T, V).
    """
    runner = TransformersRunner(network, CacheOptions(memory=MEMORY, kv_dtype=kv_dtype))
    sequence, _ = runner.open()
    rows = []
    for begin in range(0, len(text), 64):
        chunk = text[begin : begin + 64]
        rows.append(runner.run([Piece(sequence, chunk, len(chunk))]).values)
    return torch.log_softmax(torch.cat(rows), 1)


def perplexity(logarithms: torch.Tensor, text: list[int]) -> float:
    """Of a text, from what `read` returns of it."""
    following = torch.tensor(text[1:]).unsqueeze(1)
    return math.exp(-float(logarithms[:-1].gather(1, following).mean()))


BOUNDS: dict[KVDtype, float] = {"int8": 1e-3, "fp8": 1.5e-2}


@pytest.mark.parametrize("count", [200, pytest.param(600, marks=pytest.mark.nightly)])
def test_quantized_pages_raise_the_perplexity_by_a_thousandth_or_a_hundredth(
    network: PreTrainedModel, tokenizer: Tokenizer, count: int
) -> None:
    words = (Path(__file__).parent / "alice.txt").read_text(encoding="utf-8")
    text = tokenizer(words)["input_ids"][:count]
    with torch.no_grad():
        stock = torch.log_softmax(network(input_ids=torch.tensor([text])).logits[0], 1)
    torch.testing.assert_close(read(network, text, None), stock, atol=1e-3, rtol=1e-3)
    for kv_dtype, bound in BOUNDS.items():
        found = read(network, text, kv_dtype)
        # What is to be expected of texts that the model itself would write. A text of this length
        # has a perplexity that moves by some thousandths up or down for any change of rounding.
        divergence = float((stock.exp() * (stock - found)).sum(1).mean())
        assert math.expm1(divergence) < bound
        assert perplexity(found, text) == pytest.approx(perplexity(stock, text), rel=1.5e-2)


@pytest.mark.nightly
@pytest.mark.parametrize("kv_dtype", BOUNDS)
def test_the_perplexity_of_long_texts_is_raised_by_a_thousandth_or_a_hundredth(
    network: PreTrainedModel, tokenizer: Tokenizer, kv_dtype: KVDtype
) -> None:
    bound = BOUNDS[kv_dtype]
    raised = []
    for path in (Path(__file__).parents[3] / "LICENSE", Path(__file__).parent / "alice.txt"):
        text = tokenizer(path.read_text(encoding="utf-8"))["input_ids"]
        plain, found = read(network, text, None), read(network, text, kv_dtype)
        # What is to be expected of texts that the model itself would write.
        assert math.expm1(float((plain.exp() * (plain - found)).sum(1).mean())) < bound
        following = torch.tensor(text[1:]).unsqueeze(1)
        raised.append((plain - found)[:-1].gather(1, following))
    # What is seen on these 2,800 tokens, with the error of a mean of so few.
    together = torch.cat(raised)
    error = float(together.std()) / math.sqrt(len(together))
    assert abs(float(together.mean())) < bound + 3 * error
    assert error < bound
