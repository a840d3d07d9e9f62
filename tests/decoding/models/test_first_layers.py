"""The first layers of a model as a model: the same numbers, the same weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel

from guided.decoding import Job, Model, load
from guided.decoding.drafts.assistant import AssistantDrafter
from guided.decoding.models.first_layers import first_layers
from guided.errors import UnsupportedError
from guided.sampling import Sampler, Sampling
from guided.vocabulary import Vocabulary
from tests.decoding.drafts.reference import greedy_draft
from tests.decoding.models.families import tiny_model
from tests.decoding.simple_runner import network_of
from tests.decoding.tiny_model import SIZES, tiny_network, tiny_tokenizer

DEPTH = 3
FAMILIES = [
    "llama",
    "qwen2",
    "qwen3",
    "gemma3_text",
    "gpt2",
    "gpt_neox",
    "phi",
    "mistral",
    "gemma2",
]
OTHERS = ["cohere2", "deepseek_v3", "exaone4", "gemma", "glm4", "gpt_oss", "gptj", "granite"]
OTHERS += ["mixtral", "nemotron", "olmo2", "opt", "phi3", "qwen3_moe", "smollm3"]
TEXT = torch.tensor([[5, 9, 2, 77, 31, 8, 90, 14, 3, 60]])


def as_model(network: PreTrainedModel) -> Model:
    """A model whose tokens spell nothing in particular."""
    tokens = [bytes([token % 256, token // 256]) for token in range(network.config.vocab_size)]
    return Model(network, tiny_tokenizer(), Vocabulary.from_tokens(tokens, eos=[1]))


def logits(network: nn.Module) -> Tensor:
    with torch.no_grad():
        out: Tensor = network(input_ids=TEXT, use_cache=False).logits
    return out


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    "family", [*FAMILIES, *(pytest.param(name, marks=pytest.mark.nightly) for name in OTHERS)]
)
def test_it_is_the_network_that_has_these_layers_only(family: str, count: int) -> None:
    whole = tiny_model(family, num_hidden_layers=DEPTH)
    before = logits(whole)
    short = network_of(first_layers(as_model(whole), count))
    built = tiny_model(family, seed=1, num_hidden_layers=count)
    weights = whole.state_dict()
    built.load_state_dict({name: weights[name] for name in built.state_dict()})
    torch.testing.assert_close(logits(short), logits(built), rtol=1e-6, atol=1e-6)
    assert not torch.equal(logits(short), before)
    assert set(short.state_dict()) == set(built.state_dict())
    assert torch.equal(logits(whole), before)  # and the model is as it was
    assert whole.config.num_hidden_layers == DEPTH


@pytest.mark.parametrize("family", ["llama", "qwen3", "minicpm3"])
def test_it_exits_from_the_model_early(family: str) -> None:
    """MiniCPM scales its layers by the depth it was made with, and they stay as they are."""
    whole = tiny_model(family, num_hidden_layers=DEPTH)
    with torch.no_grad():
        states = whole(input_ids=TEXT, use_cache=False, output_hidden_states=True).hidden_states
        hidden = whole.model.norm(states[2])
        if family == "minicpm3":
            hidden = hidden / (whole.config.hidden_size / whole.config.dim_model_base)
        wanted = whole.lm_head(hidden)
    short = network_of(first_layers(as_model(whole), 2))
    torch.testing.assert_close(logits(short), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_it_shares_all_weights(family: str) -> None:
    whole = tiny_model(family, num_hidden_layers=DEPTH)
    short = network_of(first_layers(as_model(whole), 2))
    theirs = dict(whole.named_parameters())
    assert all(theirs[name] is parameter for name, parameter in short.named_parameters())


def test_training_is_seen_by_both() -> None:
    whole = tiny_model("llama", num_hidden_layers=DEPTH)
    short = network_of(first_layers(as_model(whole), 1))
    before = logits(short)
    optimizer = torch.optim.SGD(whole.parameters(), lr=0.1)
    whole(input_ids=TEXT, labels=TEXT, use_cache=False).loss.backward()
    optimizer.step()
    assert not torch.equal(logits(short), before)
    built = tiny_model("llama", seed=1, num_hidden_layers=1)
    weights = whole.state_dict()
    built.load_state_dict({name: weights[name] for name in built.state_dict()})
    torch.testing.assert_close(logits(short), logits(built), rtol=1e-6, atol=1e-6)


def test_a_cut_of_a_cut(model: Model) -> None:
    whole = as_model(tiny_network(num_hidden_layers=4))
    twice = first_layers(first_layers(whole, 3), 2)
    assert torch.equal(logits(network_of(twice)), logits(network_of(first_layers(whole, 2))))


@pytest.mark.parametrize("family", ["llama", "gemma3_text", "gpt2", "gpt_neox", "phi"])
def test_both_run_on_pages(family: str) -> None:
    """Each with its own configuration, so that the one does not switch the other's attention."""
    whole = as_model(tiny_model(family, num_hidden_layers=DEPTH))
    short = first_layers(whole, 2)
    drafter = AssistantDrafter(short, whole, name="layers", floor=0.0)
    job = Job(prompt=TEXT[0].tolist(), max_tokens=9, sampler=Sampler(Sampling()))
    before = logits(network_of(whole))
    [draft] = drafter.propose([job], [5])
    assert draft.tokens == greedy_draft(short, job, 5)
    assert torch.equal(logits(network_of(whole)), before)


@pytest.mark.parametrize("count", [0, 2, 5])
def test_it_has_fewer_layers_than_the_model(model: Model, count: int) -> None:
    with pytest.raises(ValueError, match=r"count is from 1 to 1, as the model has 2 layers"):
        first_layers(model, count)


def test_a_network_whose_modules_were_wrapped_is_refused() -> None:
    network = tiny_network()
    network.__dict__["forward"] = network.forward
    with pytest.raises(UnsupportedError) as error:
        first_layers(load(network, tiny_tokenizer()), 1)
    assert str(error.value) == (
        "the first layers of this model are no model: the network has a forward that somebody has"
        " replaced (scope: docs/speculation.md)\n"
        "  mend: take a smaller model as the assistant"
    )


class Scaled(LlamaForCausalLM):
    """Divides its logits by its depth."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        out = super().forward(*args, **kwargs)
        out.logits = out.logits / self.config.num_hidden_layers
        return out


def test_a_network_that_depends_on_its_depth_is_refused() -> None:
    network = Scaled(LlamaConfig(**{**SIZES, "num_hidden_layers": DEPTH}))
    network.train(False)
    with pytest.raises(UnsupportedError, match=r"its logits are 200\.0% away"):
        first_layers(load(network, tiny_tokenizer()), 1)
