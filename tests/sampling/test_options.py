"""The options of the choice and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from guided.sampling import Sampling


def test_nothing_given_is_greedy() -> None:
    assert Sampling().is_greedy


@pytest.mark.parametrize("option", [{"top_k": 5}, {"top_p": 0.9}, {"min_p": 0.1}, {"seed": 0}])
def test_asking_for_chance_without_a_temperature_means_temperature_1(
    option: dict[str, Any],
) -> None:
    assert Sampling(**option).effective_temperature == 1.0


def test_a_temperature_of_0_is_greedy_whatever_else_is_given() -> None:
    assert Sampling(temperature=0, top_p=0.9, seed=3).is_greedy


@pytest.mark.parametrize(
    ("option", "error", "message"),
    [
        ({"temperature": -0.1}, ValueError, "temperature must be at least 0, found -0.1"),
        ({"temperature": float("nan")}, ValueError, "temperature must be at least 0, found nan"),
        ({"temperature": float("inf")}, ValueError, "temperature must be a finite number"),
        ({"temperature": "hot"}, TypeError, "temperature must be a number, found 'hot'"),
        ({"temperature": True}, TypeError, "temperature must be a number, found True"),
        ({"top_p": 1.5}, ValueError, "top_p must be from 0 to 1, found 1.5"),
        ({"min_p": -1}, ValueError, "min_p must be from 0 to 1, found -1"),
        ({"top_k": -1}, ValueError, "top_k must be from 0 to "),
        ({"top_k": 2.0}, TypeError, "top_k must be an int, found 2.0"),
        ({"seed": -1}, ValueError, "seed must be from 0 to 18446744073709551615, found -1"),
        ({"seed": 1 << 64}, ValueError, "seed must be from 0 to 18446744073709551615"),
        ({"top": 1}, TypeError, "unexpected keyword"),
    ],
)
def test_an_option_out_of_its_range_is_refused(
    option: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        Sampling(**option)
    assert message in str(caught.value)
