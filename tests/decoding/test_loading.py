"""Loading: folders, names, and models that are there already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from guided.decoding import load
from guided.errors import GuidedError
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    network = tiny_network()
    network.generation_config.eos_token_id = [1, 2]
    network.save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    return tmp_path


def test_a_folder_is_loaded_quietly(saved: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for source in (saved, str(saved)):
        model = load(source)
        assert model.tokenizer("true")["input_ids"] == tiny_tokenizer()("true")["input_ids"]
        assert isinstance(model.network, PreTrainedModel)
        assert not model.network.training
        assert model.context == 256
    assert capfd.readouterr() == ("", "")


def test_end_tokens_come_from_the_generation_config_too(saved: Path) -> None:
    assert sorted(load(saved).vocabulary.eos) == [1, 2]


def test_the_vocabulary_is_as_wide_as_the_logits(saved: Path) -> None:
    assert load(saved).vocabulary.size == 320


def test_dtype_and_device_are_those_asked_for(saved: Path) -> None:
    assert load(saved).network.dtype == torch.float32
    model = load(saved, dtype=torch.bfloat16, device="cpu")
    assert model.network.dtype == torch.bfloat16
    assert repr(model) == "<guided.Model LlamaForCausalLM bfloat16 on cpu>"


def test_a_loaded_model_is_taken_with_its_tokenizer(saved: Path) -> None:
    network, tokenizer = tiny_network(), tiny_tokenizer()
    network.train()
    model = load(network, tokenizer)
    assert model.network is network
    assert model.tokenizer is tokenizer
    assert not network.training
    assert load(network, saved).tokenizer("a")["input_ids"] == tokenizer("a")["input_ids"]


def test_a_loaded_model_without_tokenizer_is_refused() -> None:
    with pytest.raises(TypeError, match=r"guided\.load\(model, tokenizer\)"):
        load(tiny_network())


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(GuidedError) as caught:
        load(tmp_path)
    assert str(caught.value).startswith(f"no model can be loaded from {str(tmp_path)!r}: ")
    assert "mend: give a folder with config.json, weights and tokenizer" in str(caught.value)


def test_a_path_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(GuidedError) as caught:
        load("./not/there/at/all")
    assert str(caught.value).startswith("no model can be loaded from './not/there/at/all': ")
    assert "mend: check the path" in str(caught.value)


def test_an_absolute_path_that_is_not_there_asks_no_hub(tmp_path: Path) -> None:
    with pytest.raises(GuidedError) as caught:
        load(tmp_path / "not")
    assert str(caught.value) == (
        f"no model can be loaded from {str(tmp_path / 'not')!r}: there is no such folder\n"
        "  mend: check the path"
    )


@pytest.mark.parametrize("model", [5, torch.nn.Linear(1, 1), b"folder"])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(TypeError, match="a model is a folder, a name, or a PreTrainedModel"):
        load(model)
