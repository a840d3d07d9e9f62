"""The options of the choice and what they refuse."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from guided.sampling import Sampling

INF, NAN = float("inf"), float("nan")


def test_nothing_given_is_greedy() -> None:
    assert Sampling().is_greedy


@pytest.mark.parametrize(
    "option", [{"top_k": 5}, {"top_p": 0.9}, {"min_p": 0.1}, {"typical_p": 0.9}, {"seed": 0}]
)
def test_asking_for_chance_without_a_temperature_means_temperature_1(
    option: dict[str, Any],
) -> None:
    assert Sampling(**option).effective_temperature == 1.0


@pytest.mark.parametrize(
    "option",
    [
        {"logit_bias": {1: 2.0}},
        {"repetition_penalty": 1.1},
        {"presence_penalty": 1},
        {"frequency_penalty": 1},
        {"min_tokens": 3},
        {"logprobs": True},
    ],
)
def test_bias_and_penalties_ask_for_no_chance(option: dict[str, Any]) -> None:
    assert Sampling(**option).is_greedy


def test_a_temperature_of_0_is_greedy_whatever_else_is_given() -> None:
    assert Sampling(temperature=0, top_p=0.9, seed=3).is_greedy


@pytest.mark.parametrize(
    ("option", "error", "message"),
    [
        ({"temperature": -0.1}, ValueError, "temperature must be at least 0, found -0.1"),
        ({"temperature": NAN}, ValueError, "temperature must be at least 0, found nan"),
        ({"temperature": INF}, ValueError, "temperature must be a finite number"),
        ({"temperature": "hot"}, TypeError, "temperature must be a number, found 'hot'"),
        ({"temperature": True}, TypeError, "temperature must be a number, found True"),
        ({"top_p": 1.5}, ValueError, "top_p must be from 0 to 1, found 1.5"),
        ({"min_p": -1}, ValueError, "min_p must be from 0 to 1, found -1"),
        ({"typical_p": 0.0}, ValueError, "typical_p must be above 0, found 0.0"),
        ({"typical_p": 1.1}, ValueError, "typical_p must be from 0 to 1, found 1.1"),
        ({"top_k": -1}, ValueError, "top_k must be from 0 to "),
        ({"top_k": 2.0}, TypeError, "top_k must be an int, found 2.0"),
        ({"seed": -1}, ValueError, "seed must be from 0 to 18446744073709551615, found -1"),
        ({"seed": 1 << 64}, ValueError, "seed must be from 0 to 18446744073709551615"),
        (
            {"repetition_penalty": 0},
            ValueError,
            "repetition_penalty must be finite and above 0, found 0",
        ),
        ({"repetition_penalty": INF}, ValueError, "repetition_penalty must be finite and above 0"),
        ({"repetition_penalty": -1.2}, ValueError, "repetition_penalty must be at least 0"),
        ({"presence_penalty": 2.1}, ValueError, "presence_penalty must be from -2 to 2, found 2.1"),
        ({"frequency_penalty": NAN}, ValueError, "frequency_penalty must be from -2 to 2"),
        ({"min_tokens": -1}, ValueError, "min_tokens must be from 0 to "),
        ({"min_tokens": 1.5}, TypeError, "min_tokens must be an int, found 1.5"),
        ({"logprobs": 5}, TypeError, "logprobs must be True or False, found 5"),
        ({"logit_bias": [(1, 2)]}, TypeError, "logit_bias must be a mapping from tokens to"),
        ({"logit_bias": {"1": 2}}, TypeError, "logit_bias must name tokens by their ids, found '1"),
        ({"logit_bias": {-1: 2}}, ValueError, "logit_bias must name tokens by their ids, found -1"),
        ({"logit_bias": {1: "a"}}, TypeError, "logit_bias of token 1 must be a number, found 'a'"),
        ({"logit_bias": {1: NAN}}, ValueError, "must be finite, or -inf to ban it, found nan"),
        ({"logit_bias": {1: INF}}, ValueError, "must be finite, or -inf to ban it, found inf"),
        ({"top": 1}, TypeError, "unexpected keyword"),
    ],
)
def test_an_option_out_of_its_range_is_refused(
    option: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        Sampling(**option)
    assert message in str(caught.value)


def test_a_bias_cannot_be_changed_afterwards() -> None:
    biases = {7: 1.5, 3: -INF}
    options = Sampling(logit_bias=biases)
    biases[9] = 1.0
    assert options.logit_bias == {3: -INF, 7: 1.5}
    assert (options.banned, options.finite_biases) == ((3,), {7: 1.5})
    assert hash(options) == hash(Sampling(logit_bias={3: -INF, 7: 1.5}))
    assert dataclasses.replace(options, seed=1).logit_bias == options.logit_bias


def test_an_end_cannot_be_forbidden_for_longer_than_the_output_lasts() -> None:
    Sampling(min_tokens=5).check_length(5)
    with pytest.raises(ValueError, match="min_tokens must be at most max_tokens, 4, found 5"):
        Sampling(min_tokens=5).check_length(4)
