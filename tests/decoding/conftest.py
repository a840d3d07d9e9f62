"""The tiny model, once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from guided.decoding import Model, load
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Models this small run slower on several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def model() -> Model:
    return load(tiny_network(), tiny_tokenizer())
