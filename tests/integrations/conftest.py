"""The tiny model of the decoding tests, and what stands for vLLM."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from guided.decoding import Model
from tests.decoding.conftest import model, one_thread
from tests.integrations import stand_ins

__all__ = ["model", "one_thread"]


@pytest.fixture(
    params=["restated", "installed"] if importlib.util.find_spec("vllm") else ["restated"]
)
def vllm_modules(request: pytest.FixtureRequest, model: Model) -> dict[str, ModuleType]:
    """The modules to put in the place of vLLM's; none where vLLM itself is to be used."""
    return stand_ins.vllm_modules(model.tokenizer) if request.param == "restated" else {}
