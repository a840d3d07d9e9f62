"""Decoder layers by the core, on the CPU: in one call each for the few rows of a decode step.

A decode step of a small model spends as much time between its matrices as in them: some forty
operations a layer, each a call from Python. Layers of Llama, Mistral, Qwen 2 and Qwen 3 are done by
the core at once (`run_layer`), which rounds where they round. With many rows, torch multiplies the
matrices, and the core does what lies between. All other layers run as transformers wrote them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from guided import _core
from guided.decoding.attention.core_attention import attend_by_core, plan_of
from guided.decoding.models.linears import most_rows
from guided.decoding.models.openmp import share_threads
from guided.decoding.models.paged_layers import PagedLayer, PagedModelCache
from guided.decoding.pages import LayerPages

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
# So many rows more than those up to which the core's linear layers alone are quicker than torch's.
_MORE = 8
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
    def step(self) -> Iterator[None]:
        """Replace their forwards for the time of a forward of the network."""
        layers = self._layers if self._cache.kv_dtype is None else []
        taken = [layer for layer in layers if layer.is_as_it_was()]
        for layer in taken:
            layer.module.__dict__["forward"] = layer.forward
        try:
            yield
        finally:
            for layer in taken:
                del layer.module.__dict__["forward"]


@dataclass(frozen=True, slots=True)
class Part:
    """A weight or bias of a layer.

    Attributes:
        module: that holds it.
        kind: "weight" or "bias".
        tensor: it.
        address: of its numbers.
    """

    module: nn.Module
    kind: str
    tensor: Tensor
    address: int

    def is_as_it_was(self) -> bool:
        """Whether the module still holds it, and at this address."""
        return (
            self.module._parameters[self.kind] is self.tensor
            and self.tensor.data_ptr() == self.address
        )


class FusedLayer:
    """One layer.

    Attributes:
        module: of the network.
        core: its weights, as the core knows them.
        dtype: of its numbers.
    """

    def __init__(self, module: nn.Module, cache: PagedModelCache) -> None:
        attention: Any = module.self_attn
        norm: Any = module.input_layernorm
        self.module = module
        self._cache = cache
        self._index: int = attention.layer_idx
        self._own: Forward = type(module).forward.__get__(module)
        self._parts = parts_of(module)
        # Whose submodule each is; `module` is its own business.
        self._places = [
            (parent._modules, name, child)
            for parent in module.modules()
            for name, child in parent.named_children()
        ]
        self._hooks = [
            hooks
            for each in module.modules()
            for hooks in (each._forward_hooks, each._forward_pre_hooks)
        ]
        # `Linears` replaces the forwards of linear layers, for as long as a step as well.
        self._attributes = [
            each.__dict__ for each in module.modules() if not isinstance(each, nn.Linear)
        ]
        # How far it sees; Mistral says it in its configuration only.
        self._window = getattr(attention, "sliding_window", None)
        if type(module).__name__.startswith("Mistral"):
            self._window = attention.config.sliding_window
        shapes = {name: part.tensor.shape for name, part in self._parts.items()}
        width, hidden = shapes["key"]
        size = attention.head_dim
        self.dtype = self._parts["key"].tensor.dtype
        self.core = _core.DecoderLayer(
            hidden=hidden,
            inner=shapes["up"][0],
            heads=width // size,
            group=shapes["query"][0] // width,
            head_size=size,
            epsilon=norm.variance_epsilon,
            scale=attention.scaling,
            is_half=self.dtype == torch.bfloat16,
            addresses={name: part.address for name, part in self._parts.items()},
        )

    def is_as_it_was(self) -> bool:
        """Whether nobody put hooks on it, changed its modules or moved its weights."""
        return (
            not any(self._hooks)
            and not any("forward" in attributes for attributes in self._attributes)
            and all(modules[name] is child for modules, name, child in self._places)
            and all(part.is_as_it_was() for part in self._parts.values())
        )

    def forward(
        self,
        hidden_states: Tensor,
        *args: Any,
        position_embeddings: tuple[Tensor, Tensor] | None = None,
        **kwargs: Any,
    ) -> Tensor:
        """Run the layer on (1, T, hidden), or let it run itself where the core cannot."""
        layer = self._cache.layers[self._index]
        served = not args and position_embeddings is not None and isinstance(layer, PagedLayer)
        if served and kwargs.get("attention_mask") is None:
            out = self._run(hidden_states, layer, position_embeddings)  # type: ignore[arg-type]
            if out is not None:
                return out
        return self._own(hidden_states, *args, position_embeddings=position_embeddings, **kwargs)

    def _run(
        self, hidden: Tensor, layer: PagedLayer, embeddings: tuple[Tensor, Tensor]
    ) -> Tensor | None:
        """Run the layer on its pages; None where the core cannot."""
        batch, pages = self._cache.batch, layer.pages
        sees_more = self._window is not None and (
            layer.window is None or layer.window > self._window
        )
        if (
            pages is None
            or self._cache.gathers
            or sees_more
            or hidden.dtype != self.dtype
            or hidden.shape[:2] != (1, batch.size)
        ):
            return None
        plan = plan_of(hidden, pages, batch, layer.window, layer.sinks)
        if plan is None:
            return None
        hidden = hidden.contiguous()
        cosines, sines = (each.contiguous() for each in embeddings)  # (1, T, D)
        if batch.size > most_rows(self.dtype) + _MORE:
            return self._run_many(hidden, pages, plan, cosines, sines)
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

    def _run_many(
        self,
        hidden: Tensor,
        pages: LayerPages,
        plan: _core.AttentionPlan,
        cosines: Tensor,
        sines: Tensor,
    ) -> Tensor:
        """Run the layer on many rows: its matrices by torch, what lies between them by the core."""
        module: Any = self.module
        attention, network, batch = module.self_attn, module.mlp, self._cache.batch
        rows, threads = batch.size, torch.get_num_threads()
        normal = torch.empty_like(hidden)
        _core.normalize_rows(self.core, False, hidden.data_ptr(), rows, normal.data_ptr(), threads)
        query, key, value = (
            project(normal) for project in (attention.q_proj, attention.k_proj, attention.v_proj)
        )
        _core.place_rows(
            self.core,
            query.data_ptr(),
            key.data_ptr(),
            value.data_ptr(),
            rows,
            batch.slots.data_ptr(),
            cosines.data_ptr(),
            sines.data_ptr(),
            pages.keys.data_ptr(),
            pages.values.data_ptr(),
            len(pages.keys) * batch.page_size,
            threads,
        )
        heads = query.view(rows, -1, attention.head_dim)
        attended = attend_by_core(heads, pages, plan, attention.scaling, None, None)
        out: Tensor = attention.o_proj(attended.view(1, rows, -1)).add_(hidden)
        _core.normalize_rows(self.core, True, out.data_ptr(), rows, normal.data_ptr(), threads)
        gate, up = network.gate_proj(normal), network.up_proj(normal)
        _core.gate_rows(self.core, gate.data_ptr(), up.data_ptr(), rows, threads)
        self._cache.attended += 1
        return out.add_(network.down_proj(gate))


def is_known(module: nn.Module) -> bool:
    """Whether a module is a layer that the core runs, as transformers made it, on the CPU."""
    kind = type(module)
    family = kind.__name__.removesuffix("DecoderLayer")
    if family not in _FAMILIES or kind.__module__ != (
        f"transformers.models.{family.lower()}.modeling_{family.lower()}"
    ):
        return False
    attention, network, parts = module.self_attn, module.mlp, parts_of(module).values()
    return (
        type(network.act_fn).__name__ in ("SiLU", "SiLUActivation")  # type: ignore[union-attr]
        and all(type(module.get_submodule(path)) is nn.Linear for path in _MATRICES.values())
        and all(
            "forward" not in each.__dict__
            for each in (module, attention, network, *(part.module for part in parts))
        )
        and all(
            type(part.tensor) is nn.Parameter and part.tensor.is_cpu and part.tensor.is_contiguous()
            for part in parts
        )
        and {part.tensor.dtype for part in parts} in ({torch.float32}, {torch.bfloat16})
    )


def parts_of(module: nn.Module) -> dict[str, Part]:
    """Return the weights and biases of a layer, by the names that the core has for them."""
    paths = {**_MATRICES, **_NORMS}
    if hasattr(module.self_attn, "q_norm"):
        paths |= _HEAD_NORMS
    parts = {}
    for name, path in paths.items():
        owner = module.get_submodule(path)
        for kind, own in (("weight", name), ("bias", f"{name}_bias")):
            tensor = getattr(owner, kind, None)
            if tensor is not None:
                parts[own] = Part(owner, kind, tensor, tensor.data_ptr())
    return parts
