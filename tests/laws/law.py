"""What makes a function of random arguments a law: few examples in the plain run, many nightly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

PLAIN, NIGHTLY = 200, 2000


def law(
    *arguments: st.SearchStrategy[Any], plain: int = PLAIN, nightly: int = NIGHTLY
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a test of a function that is to hold for all arguments."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @pytest.mark.parametrize(
            "examples",
            [
                pytest.param(plain, id="plain"),
                pytest.param(nightly, id="nightly", marks=pytest.mark.nightly),
            ],
        )
        def test(examples: int) -> None:
            settings(max_examples=examples)(given(*arguments)(function))()

        test.__name__ = function.__name__
        test.__qualname__ = function.__qualname__
        test.__doc__ = function.__doc__
        test.__module__ = function.__module__
        return test

    return decorate
