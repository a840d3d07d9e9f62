"""The loop against stock generation, and under constraints."""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor
from transformers import GenerationMixin, MistralConfig, MistralForCausalLM

from guided.decoding import Model, Request, decode, load
from guided.grammar import Grammar
from guided.masks import apply_mask
from guided.sampling import Sampler, Sampling
from tests.decoding.tiny_model import SIZES, tiny_network, tiny_tokenizer


def request(
    model: Model,
    prompt: str,
    grammar: Grammar | None = None,
    max_tokens: int = 40,
    sampling: Sampling | None = None,
) -> Request:
    return Request(
        prompt=model.tokenizer(prompt)["input_ids"],
        max_tokens=max_tokens,
        sampler=Sampler(sampling or Sampling()),
        matcher=None if grammar is None else grammar.compile(model.vocabulary).matcher(),
    )


def run(model: Model, *requests: Request) -> list[list[int]]:
    for _ in decode(model, requests):
        pass
    return [request.tokens for request in requests]


def text(model: Model, tokens: list[int]) -> str:
    spellings = [model.vocabulary.token_bytes(token) for token in tokens]
    return b"".join(spelling or b"" for spelling in spellings).decode("utf-8")


@pytest.mark.parametrize("prompt", ["Hello", "abc abc abc", "1", "Ωmega"])
def test_free_greedy_text_is_that_of_stock_generation(model: Model, prompt: str) -> None:
    ids = model.tokenizer(prompt, return_tensors="pt")["input_ids"]
    network = model.network
    assert isinstance(network, GenerationMixin)
    stock = network.generate(
        ids, max_new_tokens=40, do_sample=False, attention_mask=torch.ones_like(ids)
    )[0, ids.shape[1] :].tolist()
    ours = request(model, prompt)
    [tokens] = run(model, ours)
    ended = stock[-1:] == [1]
    assert tokens == (stock[:-1] if ended else stock)
    assert ours.finish_reason == ("stop" if ended else "length")
    assert ours.is_complete is ended


def test_greedy_under_a_mask_takes_the_best_allowed_token(model: Model) -> None:
    """The same by hand: no cache, no batch, allowed tokens tried one by one."""
    grammar = Grammar.from_regex("[a-f]{3,6}x?")
    prompt = "Hello"
    matcher = grammar.compile(model.vocabulary).matcher()
    ids: list[int] = model.tokenizer(prompt)["input_ids"]
    expected: list[int] = []
    while True:
        with torch.no_grad():
            logits = model.network(input_ids=torch.tensor([ids + expected])).logits[0, -1]
        allowed = [token for token in range(model.vocabulary.size) if matcher.can_accept(token)]
        best = max(allowed, key=lambda token: float(logits[token]))
        if best in model.vocabulary.eos:
            break
        matcher.accept(best)
        expected.append(best)
    assert run(model, request(model, prompt, grammar)) == [expected]


@pytest.mark.parametrize("pattern", ["[0-9]{4}-[0-9]{2}", "(yes|no) [a-z]*", "true|false", "é{3}"])
@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=1.5, seed=4)], ids=str)
def test_what_comes_out_fits(model: Model, pattern: str, sampling: Sampling) -> None:
    asked = request(model, "Write: ", Grammar.from_regex(pattern), 30, sampling)
    [tokens] = run(model, asked)
    if asked.finish_reason == "stop":
        assert re.fullmatch(pattern, text(model, tokens))
    else:
        assert len(tokens) == 30


PROMPTS = ["a", "A much longer prompt than that", "abc", "12 12 12 12"]
PATTERNS = ["[a-z]{2,9}", '\\{"name": "[a-z]{1,5}", "age": [0-9]{1,3}\\}', "true|false", "[0-9.]*"]


@pytest.mark.parametrize("constrained", [True, False])
def test_a_batch_gives_what_each_prompt_gives_alone(model: Model, constrained: bool) -> None:
    grammars = [Grammar.from_regex(pattern) if constrained else None for pattern in PATTERNS]
    cases = list(zip(PROMPTS, grammars, strict=True))
    alone = [run(model, request(model, prompt, grammar))[0] for prompt, grammar in cases]
    assert run(model, *(request(model, prompt, grammar) for prompt, grammar in cases)) == alone
    assert len({len(tokens) for tokens in alone}) > 1 or not constrained  # they leave at times


def test_a_model_with_a_sliding_window_runs_one_prompt_after_the_other() -> None:
    torch.manual_seed(0)
    network = MistralForCausalLM(MistralConfig(**SIZES, sliding_window=6))
    model = load(network, tiny_tokenizer())
    alone = [run(model, request(model, prompt))[0] for prompt in PROMPTS]
    assert run(model, *(request(model, prompt) for prompt in PROMPTS)) == alone


def test_a_text_that_can_only_be_one_costs_no_forward(model: Model) -> None:
    asked = request(model, "Say it: ", Grammar.from_choices(["always the same"]))
    [tokens] = run(model, asked)
    assert text(model, tokens) == "always the same"
    assert asked.finish_reason == "stop"
    assert asked.is_complete
    assert asked.forced == len(tokens)
    assert asked.timings.forwards == 0


def test_forced_tokens_are_run_together_with_the_chosen_one(model: Model) -> None:
    asked = request(model, "", Grammar.from_regex("(Xone|Yeno) and nothing more than that"))
    asked.prompt = [0]
    [tokens] = run(model, asked)
    assert asked.timings.forwards == 1
    assert asked.forced == len(tokens) - 1
    assert asked.finish_reason == "stop"


def test_room_bounds_forced_tokens_too(model: Model) -> None:
    asked = request(model, "Say it: ", Grammar.from_choices(["always the same"]), max_tokens=3)
    [tokens] = run(model, asked)
    assert len(tokens) == 3
    assert asked.finish_reason == "length"
    assert not asked.is_complete


class Scripted(Sampler):
    """Chooses the tokens it was given, as a model that is sure of them would."""

    def __init__(self, *tokens: int) -> None:
        super().__init__(Sampling())
        self._tokens = list(tokens)

    def choose(self, logits: Tensor, mask: Tensor | None = None) -> int:
        token = self._tokens.pop(0)
        if mask is not None:
            apply_mask(logits, mask)
            assert logits[token] > -torch.inf
        return token


def scripted(model: Model, grammar: Grammar | None, *tokens: int, max_tokens: int = 40) -> Request:
    asked = request(model, "Hi", grammar, max_tokens)
    asked.sampler = Scripted(*tokens)
    return asked


def token_of(model: Model, character: str) -> int:
    [token] = model.tokenizer(character)["input_ids"]
    return int(token)


def test_a_text_that_fits_when_its_room_ends_is_complete_but_was_cut(model: Model) -> None:
    a = token_of(model, "a")
    asked = scripted(model, Grammar.from_regex("a{2,}"), a, a, max_tokens=2)
    assert run(model, asked) == [[a, a]]
    assert asked.finish_reason == "length"
    assert asked.is_complete


def test_a_text_that_lacks_something_when_its_room_ends_is_not_complete(model: Model) -> None:
    a = token_of(model, "a")
    asked = scripted(model, Grammar.from_regex("(a|b){3}"), a, a, max_tokens=2)
    run(model, asked)
    assert asked.finish_reason == "length"
    assert not asked.is_complete


def test_a_text_that_can_only_end_when_its_room_ends_was_not_cut(model: Model) -> None:
    a = token_of(model, "a")
    asked = scripted(model, Grammar.from_regex("(a|b){2}"), a, a, max_tokens=2)
    run(model, asked)
    assert asked.finish_reason == "stop"


@pytest.mark.parametrize("end", [1, 2])
@pytest.mark.parametrize("pattern", ["[a-z]*", None])
def test_each_end_token_ends_and_is_not_part_of_the_output(end: int, pattern: str | None) -> None:
    network = tiny_network()
    network.generation_config.eos_token_id = [1, 2]
    model = load(network, tiny_tokenizer())
    assert sorted(model.vocabulary.eos) == [1, 2]
    a = token_of(model, "a")
    grammar = None if pattern is None else Grammar.from_regex(pattern)
    asked = scripted(model, grammar, a, a, end)
    assert run(model, asked) == [[a, a]]
    assert asked.finish_reason == "stop"
    assert asked.is_complete


def test_several_end_tokens_alone_need_no_forward_to_choose_between() -> None:
    network = tiny_network()
    network.generation_config.eos_token_id = [1, 2]
    model = load(network, tiny_tokenizer())
    asked = request(model, "Hi", Grammar.from_choices(["a", "b"]))
    [tokens] = run(model, asked)
    assert text(model, tokens) in {"a", "b"}
    assert asked.timings.forwards == 1


def test_nothing_runs_before_it_is_asked_for(model: Model) -> None:
    asked = request(model, "Hello")
    steps = decode(model, [asked])
    assert asked.timings.forwards == 0
    next(steps)
    next(steps)
    assert asked.timings.forwards == 1
    steps.close()
    assert asked.finish_reason is None
