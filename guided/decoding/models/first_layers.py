"""The first layers of a model as a model of its own, which shares the weights.

What a few layers say, read by the model's own norm and head, is often what all of them would say:
the first layers guess, and all of them check.
"""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

from guided.decoding.model import Model
from guided.decoding.models.self_test import distance, stock_logits
from guided.errors import UnsupportedError

Module = TypeVar("Module", bound=nn.Module)

_PAGE = "docs/speculation.md"
_TEXT = 6  # tokens that it is tried on
_SAME = 1e-3  # |cut - wanted| / |wanted|; the operations are the same, so mostly it is 0


def first_layers(model: Model, count: int) -> Model:
    """Make a model of the first layers of another one, with its embedding, last norm and head.

    All weights are those of the model itself: they take no memory, and a change in place is seen by
    both. The model is left as it was; no other thread may run it during the call.

    Args:
        model: of transformers.
        count: how many layers, fewer than it has.

    Raises:
        ValueError: it has not more than `count` layers, or `count` is below 1.
        UnsupportedError: its layers cannot be cut so; the text is the reason.

    Cost: two forwards on a few tokens, which compare it with the model whose other layers are
    passed over.

    Source: Schuster et al., "Confident Adaptive Language Modeling", NeurIPS 2022, for the early
    exit; Zhang et al., "Draft & Verify", ACL 2024, and Elhoushi et al., "LayerSkip", ACL 2024, for
    drafts by some of the layers.
    """
    network = model.network
    if not isinstance(network, PreTrainedModel):
        raise refusal("a file in llama.cpp is run as a whole")
    path = layers_path(network)
    layers = network.get_submodule(path)
    assert isinstance(layers, nn.ModuleList)
    if not 1 <= count < len(layers):
        raise ValueError(
            f"count is from 1 to {len(layers) - 1}, as the model has {len(layers)} layers;"
            f" found {count}"
        )
    try:
        cut = cut_layers(network, path, count)
        difference = distance(logits_of(cut), logits_of(pass_over(network, path, count)))
    except Exception as error:
        reason = (str(error).strip().splitlines() or [""])[0]
        raise refusal(f"its forward fails ({type(error).__name__}: {reason})") from error
    if not difference <= _SAME:
        raise refusal(f"its logits are {difference:.1%} away from those it should have")
    return Model(cut, model.tokenizer, model.vocabulary)


def refusal(reason: str) -> UnsupportedError:
    """Make the error for a model whose layers cannot be cut."""
    return UnsupportedError(
        f"the first layers of this model are no model: {reason}",
        keyword="first_layers",
        page=_PAGE,
        mend="take a smaller model as the assistant",
    )


def layers_path(network: PreTrainedModel) -> str:
    """Return the name of the list of layers: the outermost that is as long as the model is deep.

    Raises:
        UnsupportedError: there is none, or there are several, or modules were replaced.
    """
    count = getattr(text_config(network.config), "num_hidden_layers", None)
    found: list[str] = []
    for name, module in network.named_modules():
        if "forward" in module.__dict__:  # offloaded, sharded, or wrapped by other code
            raise refusal(f"{name or 'the network'} has a forward that somebody has replaced")
        is_nested = any(name.startswith(f"{outer}.") for outer in found)  # such as experts
        if isinstance(module, nn.ModuleList) and len(module) == count and not is_nested:
            found.append(name)
    if len(found) != 1:
        raise refusal(f"it has {len(found)} lists of {count} layers")
    return found[0]


def cut_layers(network: PreTrainedModel, path: str, count: int) -> PreTrainedModel:
    """Return a copy that shares all weights and has the first `count` layers only."""
    cut = share(network, {})
    layers = cut.get_submodule(path)
    assert isinstance(layers, nn.ModuleList)
    cut_config(text_config(cut.config), count)
    del layers[count:]
    return cut


def cut_config(config: PreTrainedConfig, count: int) -> None:
    """Let a configuration describe the first `count` layers, in place."""
    depth = config.num_hidden_layers
    shared = getattr(config, "num_kv_shared_layers", None)  # the last ones, in Gemma
    if shared:
        config.num_kv_shared_layers = max(0, shared - (depth - count))
    config.num_hidden_layers = count
    for name, value in list(vars(config).items()):
        # Other lists may be as long by chance, such as one of two end tokens.
        if "layer" in name and isinstance(value, list | tuple) and len(value) == depth:
            setattr(config, name, value[:count])


def text_config(config: PreTrainedConfig) -> PreTrainedConfig:
    """Return the part of a configuration that describes the language model."""
    part: PreTrainedConfig = config.get_text_config(decoder=True)
    return part


def share(module: Module, copies: dict[int, Any]) -> Module:
    """Copy a tree of modules, but not its weights: parameters and buffers are the same objects.

    Each module is copied, and not only those above the layers, as a forward on pages switches
    their configurations and their forwards for a moment.

    Args:
        copies: of modules and configurations made so far, by identity; in `copy.deepcopy`'s format.
    """
    if id(module) in copies:
        known: Module = copies[id(module)]
        return known
    copied = module.__class__.__new__(module.__class__)
    copies[id(module)] = copied
    for name, value in module.__dict__.items():
        if isinstance(value, PreTrainedConfig):
            value = copy.deepcopy(value, copies)
        elif isinstance(value, dict | list | set):
            value = copy.copy(value)
        copied.__dict__[name] = value
    for name, child in module._modules.items():
        copied._modules[name] = None if child is None else share(child, copies)
    return copied


def pass_over(network: PreTrainedModel, path: str, count: int) -> PreTrainedModel:
    """Return a copy with all layers, of which those from `count` on hand on what they are given."""
    whole = share(network, {})
    layers = whole.get_submodule(path)
    assert isinstance(layers, nn.ModuleList)
    for layer in layers[count:]:
        layer.register_forward_hook(hand_on, with_kwargs=True)
    return whole


def hand_on(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
    """Replace the output of a layer by its input, as a forward hook."""
    hidden = args[0] if args else kwargs["hidden_states"]
    return (hidden, *output[1:]) if isinstance(output, tuple) else hidden


def logits_of(network: PreTrainedModel) -> Tensor:
    """Run a network on a few tokens, (T, V)."""
    size = int(text_config(network.config).vocab_size)
    return stock_logits(network, [(7 * place + 3) % size for place in range(_TEXT)])
