"""Decoder layers in one call each, on the CPU, for the few rows of a decode step.

A decode step of a small model spends as much time between its matrices as in them: some forty
operations a layer, each a call from Python. Layers of Llama, Mistral, Qwen 2 and Qwen 3 are done by
the core at once (`run_layer`), which rounds where they round. All other layers, and steps with many
rows, go the way of transformers' own code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from guided import _core
from guided.decoding.attention.core_attention import plan_of
from guided.decoding.batch import Batch
from guided.decoding.models.linears import most_rows
from guided.decoding.models.openmp import share_threads
from guided.decoding.models.paged_layers import PagedLayer, PagedModelCache

# Families whose layer is this one. Their names, as transformers has no type for what they share; a
# model is compared with its stock forward before it is used, these layers in it.
_FAMILIES = ("Llama", "Mistral", "Qwen2", "Qwen3")
_MATRICES = {
    "query": "self_attn.q_proj",
    "key": "self_attn.k_proj",
    "value": "self_attn.v_proj",
    "output": "self_attn.o_proj",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}
_NORMS = {"attention_norm": "input_layernorm", "network_norm": "post_attention_layernorm"}
_HEAD_NORMS = {"query_norm": "self_attn.q_norm", "key_norm": "self_attn.k_norm"}

Forward = Callable[..., Tensor]


class FusedLayers:
    """The layers of a network that the core can run, each on the pages of a cache.

    Args:
        network: on the CPU, as far as its layers are to be taken.
        cache: its layers attend on.
    """

    def __init__(self, network: nn.Module, cache: PagedModelCache) -> None:
        self._cache = cache
        self._layers = [
            FusedLayer(module, cache)
            for module in network.modules()
            if is_known(module) and share_threads()
        ]
        self._layers = [layer for layer in self._layers if layer.core.can_run]

    def __len__(self) -> int:
        return len(self._layers)

    def forget(self) -> None:
        """Run all layers as the network does from now on."""
        self._layers = []

    @contextmanager
    def step(self, batch: Batch) -> Iterator[None]:
        """Replace their forwards for the time of a forward on a batch, if it has few rows."""
        layers = self._layers if self._cache.kv_dtype is None else []
        if layers and batch.size > most_rows(layers[0].dtype):
            layers = []
        taken = [layer for layer in layers if layer.is_as_it_was()]
        for layer in taken:
            layer.module.__dict__["forward"] = layer.forward
        try:
            yield
        finally:
            for layer in taken:
                del layer.module.__dict__["forward"]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a layer is made of, by the names of the core.

    Attributes:
        tensors: its weights and biases.
        modules: that hold them.
    """

    tensors: dict[str, Tensor]
    modules: list[nn.Module]


class FusedLayer:
    """One layer.

    Attributes:
        module: of the network.
        core: its weights, as the core knows them.
        dtype: of its numbers.
    """

    def __init__(self, module: nn.Module, cache: PagedModelCache) -> None:
        attention: Any = module.self_attn
        self.module = module
        self._cache = cache
        self._index: int = attention.layer_idx
        self._own: Forward = type(module).forward.__get__(module)
        self._parts = parts_of(module)
        self._hooks = [
            hooks
            for each in (module, attention, module.mlp, *self._parts.modules)
            for hooks in (each._forward_hooks, each._forward_pre_hooks)
        ]
        # How far it sees; Mistral says it in its configuration only.
        self._window = getattr(attention, "sliding_window", None)
        if type(module).__name__.startswith("Mistral"):
            self._window = attention.config.sliding_window
        key = self._parts.tensors["key"]
        size = attention.head_dim
        self._group = self._parts.tensors["query"].shape[0] // key.shape[0]
        self.dtype = key.dtype
        self._addresses = {name: each.data_ptr() for name, each in self._parts.tensors.items()}
        self.core = _core.DecoderLayer(
            hidden=key.shape[1],
            inner=self._parts.tensors["up"].shape[0],
            heads=key.shape[0] // size,
            group=self._group,
            head_size=size,
            epsilon=module.input_layernorm.variance_epsilon,
            scale=attention.scaling,
            is_half=key.dtype == torch.bfloat16,
            addresses=self._addresses,
        )

    def is_as_it_was(self) -> bool:
        """Whether nobody put hooks on it, moved its weights, or gave it a forward of their own."""
        return (
            not any(self._hooks)
            and "forward" not in self.module.__dict__
            and all(
                each.data_ptr() == self._addresses[name]
                for name, each in self._parts.tensors.items()
            )
        )

    def forward(
        self,
        hidden_states: Tensor,
        *args: Any,
        position_embeddings: tuple[Tensor, Tensor] | None = None,
        **kwargs: Any,
    ) -> Tensor:
        """Run the layer on (1, T, hidden), or let it run itself where the core cannot."""
        layer, batch = self._cache.layers[self._index], self._cache.batch
        pages = layer.pages if isinstance(layer, PagedLayer) else None
        plan = None
        if (
            position_embeddings is not None
            and pages is not None
            and not self._cache.gathers
            and hidden_states.dtype == self.dtype
            and hidden_states.shape[:2] == (1, batch.size)
            and kwargs.get("attention_mask") is None
            and not args
            and (self._window is None or layer.window is None or layer.window <= self._window)
            and (self._window is None or layer.window is not None)
        ):
            plan = plan_of(hidden_states, pages, batch, layer.window, layer.sinks)
        if plan is None or pages is None or position_embeddings is None:
            return self._own(
                hidden_states, *args, position_embeddings=position_embeddings, **kwargs
            )
        hidden = hidden_states.contiguous()
        cosines, sines = (each.contiguous() for each in position_embeddings)  # (1, T, D)
        out = torch.empty_like(hidden)
        _core.run_layer(
            self.core,
            plan,
            pages.keys.data_ptr(),
            pages.values.data_ptr(),
            len(pages.keys),
            batch.slots.data_ptr(),
            cosines.data_ptr(),
            sines.data_ptr(),
            hidden.data_ptr(),
            out.data_ptr(),
            torch.get_num_threads(),
        )
        self._cache.attended += 1
        return out


def is_known(module: nn.Module) -> bool:
    """Whether a module is a layer that the core runs, as transformers made it, on the CPU."""
    kind = type(module)
    family = kind.__name__.removesuffix("DecoderLayer")
    if family not in _FAMILIES or kind.__module__ != (
        f"transformers.models.{family.lower()}.modeling_{family.lower()}"
    ):
        return False
    parts = parts_of(module)
    tensors, attention, network = parts.tensors, module.self_attn, module.mlp
    return (
        type(network.act_fn).__name__ in ("SiLU", "SiLUActivation")  # type: ignore[union-attr]
        and all(type(getattr(module, name)).__name__ == f"{family}RMSNorm" for name in _NORMS.values())
        and all(type(module.get_submodule(name)) is nn.Linear for name in _MATRICES.values())
        and all("forward" not in each.__dict__ for each in (module, attention, network))  # type: ignore[union-attr]
        and all("forward" not in each.__dict__ for each in parts.modules)
        and all(type(each) is nn.Parameter for each in tensors.values())
        and {each.dtype for each in tensors.values()} in ({torch.float32}, {torch.bfloat16})
        and all(each.is_cpu and each.is_contiguous() for each in tensors.values())
    )


def parts_of(module: nn.Module) -> Parts:
    """Take a layer to pieces."""
    names = {**_MATRICES, **_NORMS}
    if hasattr(module.self_attn, "q_norm"):
        names |= _HEAD_NORMS
    modules = {name: module.get_submodule(path) for name, path in names.items()}
    tensors: dict[str, Tensor] = {}
    for name, each in modules.items():
        tensors[name] = each.weight  # type: ignore[assignment]
        if getattr(each, "bias", None) is not None:
            tensors[f"{name}_bias"] = each.bias  # type: ignore[assignment]
    return Parts(tensors, list(modules.values()))
