"""`heal=True`: the end of a prompt is written again, in tokens that may reach beyond it."""

from __future__ import annotations

from typing import Any, Literal

import pytest
import torch

from guided import Engine, Grammar, IncompleteError
from guided.decoding import Model
from guided.decoding.healing import spelled
from guided.results import generate, stream

# The tiny vocabulary: 256 bytes, tr, tru, true, ": and the like.


def token(model: Model, text: str) -> int:
    [found] = [
        each
        for each in range(model.vocabulary.size)
        if model.vocabulary.token_bytes(each) == text.encode()
    ]
    return found


CHOICES = ["ue", "x12", "uv", "12", '": "', "u"]


def by_hand(model: Model, prompt: str, most: int) -> list[int]:
    """Write one of the choices greedily, with all tokens tried one by one: the same by plain means.

    In these prompts the last token alone is taken back.
    """
    prompt_tokens = list(model.tokenizer(prompt)["input_ids"])
    kept, text = prompt_tokens[:-1], spelled(prompt_tokens[-1:], model.vocabulary)
    network: Any = model.network
    written: list[int] = []
    while len(written) < most:
        with torch.no_grad():
            logits = network(torch.tensor([[*kept, *written]])).logits[0, -1]  # (V,)
        ranked = logits.argsort(descending=True, stable=True).tolist()
        best = next(each for each in ranked if may_follow(model, written, text, each))
        if best in model.vocabulary.eos:
            break
        written.append(best)
    return written


def may_follow(model: Model, written: list[int], text: bytes, each: int) -> bool:
    data = spelled(written, model.vocabulary)
    wanted = [text + choice.encode() for choice in CHOICES]
    if each in model.vocabulary.eos:
        return data in wanted
    own = model.vocabulary.token_bytes(each)
    return own is not None and any(whole.startswith(data + own) for whole in wanted)


@pytest.mark.parametrize("prompt", ["it is tr", 'x "', "so 1", "3a", "a b tru", "t"])
@pytest.mark.parametrize("speculate", ["off", "auto"])
def test_what_is_written_is_the_best_of_what_fits(
    model: Model, prompt: str, speculate: Any
) -> None:
    result = generate(model, prompt, choices=CHOICES, heal=True, max_tokens=20, speculate=speculate)
    assert result.value in CHOICES
    if len(model.tokenizer(prompt)["input_ids"]) > 1:
        wanted = by_hand(model, prompt, 20)
        # What can only be one text up to its end is written as the tokenizer does.
        assert result.tokens[0] == wanted[0]
        assert spelled(result.tokens, model.vocabulary) == spelled(wanted, model.vocabulary)


def test_a_token_may_bridge_the_end_of_the_prompt(model: Model) -> None:
    bias = {token(model, "true"): 1000.0}
    options: dict[str, Any] = {"choices": ["ue.", "x"], "logit_bias": bias}
    result = generate(model, "it is tr", heal=True, logprobs=True, **options)
    assert result.tokens[0] == token(model, "true")
    assert result.text == result.value == "ue."
    assert result.stats.prompt_tokens == len(model.tokenizer("it is tr")["input_ids"]) - 1
    assert result.logprobs is not None
    assert [found.token for found in result.logprobs] == result.tokens
    unhealed = generate(model, "it is tr", **options)
    assert token(model, "true") not in unhealed.tokens


@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param([{"role": "user", "content": "tr"}], id="messages"),
        pytest.param(None, id="no prompt"),
        pytest.param("a", id="one token"),
        pytest.param("it is <|turn|>", id="a special token"),
        pytest.param("it is true", id="nothing longer begins so"),
    ],
)
def test_nothing_is_taken_back(model: Model, prompt: Any) -> None:
    result = generate(model, prompt, regex="[a-z]{3}", heal=True)
    assert result.tokens == generate(model, prompt, regex="[a-z]{3}").tokens
    assert result.stats.prompt_tokens == generate(model, prompt, regex="b").stats.prompt_tokens


def test_free_text_is_held_to_the_end_of_the_prompt_alone(model: Model) -> None:
    bias = {token(model, "tru"): 1000.0}
    result = generate(model, "it is tr", heal=True, max_tokens=5, logit_bias=bias, min_tokens=5)
    assert result.text.startswith("u")
    assert result.tokens[0] == token(model, "tru")
    assert result.finish_reason == "length"
    assert len(result.tokens) == 6  # one of them for what was taken back
    assert not result.is_complete
    with pytest.raises(IncompleteError):
        _ = result.value
    # The whole vocabulary is open again behind it.
    special = generate(model, "it is tr", heal=True, max_tokens=3, logit_bias={2: 1000.0})
    assert special.tokens[-1] == 2


def test_what_is_taken_back_counts_neither_as_most_nor_as_least(model: Model) -> None:
    bias = {token(model, "tr"): 90.0, token(model, "tru"): -1000.0, token(model, "true"): -1000.0}
    for count in (1, 2, 3):
        result = generate(
            model, "it is tr", regex="[a-z]*", heal=True, max_tokens=count, min_tokens=count,
            logit_bias=bias,
        )  # fmt: skip
        assert result.tokens[0] == token(model, "tr")
        assert len(result.tokens) == count + 1


def test_a_stream_leaves_the_end_of_the_prompt_out(model: Model) -> None:
    for options in ({}, {"regex": "[a-zé]{4,9}"}, {"regex": "é+", "max_tokens": 12}):
        given: dict[str, Any] = {"heal": True, "max_tokens": 8, **options}
        pieces = stream(model, "it is tr", **given)
        text = "".join(pieces)
        assert text == pieces.result.text == generate(model, "it is tr", **given).text


def test_captures_and_values_are_of_the_text(model: Model) -> None:
    grammar = Grammar.from_regex("ue|x").capture("word") + "!"
    result = generate(model, "it is tr", grammar=grammar, heal=True)
    assert result.captures == {"word": [result.text[:-1]]}
    lark = Grammar.from_lark('start: word "!"\nword[capture]: "ue" | "x"')
    assert set(generate(model, "it is tr", grammar=lark, heal=True).captures) == {"word"}


def test_calls_of_tools_are_read_behind_the_prompt(model: Model) -> None:
    def look(q: Literal["ue"]) -> None:
        """Look."""

    options: dict[str, Any] = {"tools": [look], "tool_format": "hermes", "max_tokens": 200}
    result = generate(model, "it is tr", tool_choice="look", heal=True, **options)
    assert [call.name for call in result.calls] == ["look"]
    assert result.text == ""
    bias = {token(model, "true"): 1000.0}
    free = generate(model, "it is tr", heal=True, logit_bias=bias, **{**options, "max_tokens": 3})
    assert free.text.startswith("ue")


def test_prompts_of_a_batch_are_healed_each_by_itself(model: Model) -> None:
    prompts: list[Any] = ["it is tr", "so", [{"role": "user", "content": "tr"}]]
    together = generate(model, prompts, choices=CHOICES, heal=True)
    for prompt, result in zip(prompts, together, strict=True):
        assert result.tokens == generate(model, prompt, choices=CHOICES, heal=True).tokens


def test_requests_to_an_engine_are_healed(model: Model) -> None:
    wanted = generate(model, "it is tr", choices=["ue", "x"], heal=True).tokens
    with Engine(model) as engine:
        result = engine.submit("it is tr", choices=["ue", "x"], heal=True).result()
        free = engine.submit("it is tr", heal=True, max_tokens=3).result()
        assert engine.submit("it is tr", heal=True, max_tokens=3).result().text == free.text
    assert result.tokens == wanted
    assert generate(model, "it is tr", heal=True, max_tokens=3).tokens == free.tokens
