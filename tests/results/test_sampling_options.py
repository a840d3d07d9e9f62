"""Penalties, bias and `min_tokens` through `generate`, against transformers and a plain loop."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from guided.decoding import Model
from guided.errors import GuidedError
from guided.results import generate, stream

LETTERS = "abcdefgh"


def ids_of(model: Model, text: str) -> list[int]:
    ids: list[int] = model.tokenizer.encode(text)
    return ids


@pytest.mark.parametrize("penalty", [0.7, 1.1, 1.5, 4.0])
def test_a_greedy_text_under_a_repetition_penalty_is_that_of_transformers(
    model: Model, penalty: float
) -> None:
    assert isinstance(model.network, PreTrainedModel)
    prompt = "the cat sat on the mat"
    theirs = model.network.generate(  # type: ignore[operator]
        torch.tensor([ids_of(model, prompt)]),
        attention_mask=torch.ones(1, len(ids_of(model, prompt)), dtype=torch.long),
        max_new_tokens=40,
        do_sample=False,
        repetition_penalty=penalty,
        eos_token_id=list(model.vocabulary.eos),
        pad_token_id=0,
    )
    wanted = theirs[0, len(ids_of(model, prompt)) :].tolist()
    found = generate(model, prompt, max_tokens=40, repetition_penalty=penalty)
    assert found.tokens == [token for token in wanted if token not in model.vocabulary.eos]


@pytest.mark.parametrize(
    ("presence", "frequency"), [(2.0, 0.0), (0.0, 0.3), (0.5, 2.0), (-2.0, 0.1)]
)
def test_penalties_count_what_was_written(model: Model, presence: float, frequency: float) -> None:
    """A loop without a cache, over the eight letters that the grammar allows."""
    prompt, allowed = "abc abc", [ids_of(model, letter)[0] for letter in LETTERS]
    tokens, counts = ids_of(model, prompt), torch.zeros(8, dtype=torch.float64)
    text = ""
    for _ in range(15):
        with torch.inference_mode():
            logits = model.network(torch.tensor([tokens])).logits[0, -1]  # type: ignore[operator]
        scores = logits[allowed].double() - frequency * counts - presence * (counts > 0)
        place = int(scores.argmax())
        counts[place] += 1
        tokens.append(allowed[place])
        text += LETTERS[place]
    merged = [*ids_of(model, "ab"), *ids_of(model, "abc")]  # no token of several letters
    assert len(merged) == 2
    options: dict[str, Any] = {"presence_penalty": presence, "frequency_penalty": frequency}
    found = generate(
        model,
        prompt,
        regex=f"[{LETTERS}]{{15}}",
        logit_bias=dict.fromkeys(merged, -torch.inf),
        **options,
    )
    assert found.text == text
    assert len(set(text)) > 1


@pytest.mark.parametrize("seed", range(5))
def test_a_text_does_not_end_before_min_tokens(model: Model, seed: int) -> None:
    options: dict[str, Any] = {"temperature": 2.0, "seed": seed, "regex": "[a-z]*"}
    found = generate(model, "x", min_tokens=6, max_tokens=9, **options)
    assert len(found.tokens) >= 6
    assert generate(model, "x", **(options | {"regex": "ab?"}), min_tokens=6).text in ("a", "ab")


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_bias_decides(model: Model, temperature: float) -> None:
    [p], [q] = ids_of(model, "p"), ids_of(model, "q")
    for bias, wanted in [({p: -torch.inf}, "q"), ({q: -torch.inf}, "p"), ({q: 1e4}, "q")]:
        found = generate(model, "x", regex="[pq]", temperature=temperature, logit_bias=bias)
        assert found.text == wanted
        streamed = stream(model, "x", regex="[pq]", temperature=temperature, logit_bias=bias)
        assert "".join(streamed) == wanted


def test_banning_all_that_is_allowed_is_told(model: Model) -> None:
    banned = dict.fromkeys((*ids_of(model, "p"), *ids_of(model, "q")), -torch.inf)
    with pytest.raises(GuidedError, match="logit_bias leaves no allowed token: it bans all 2"):
        generate(model, "x", regex="[pq]", logit_bias=banned)


def test_each_sequence_of_a_batch_has_its_own_history(model: Model) -> None:
    prompts = ["the cat", "abc abc", "x"]
    options: dict[str, Any] = {"max_tokens": 15, "repetition_penalty": 1.4, "presence_penalty": 0.7}
    together = generate(model, prompts, **options)
    alone = [generate(model, prompt, **options) for prompt in prompts]
    assert [each.tokens for each in together] == [each.tokens for each in alone]
