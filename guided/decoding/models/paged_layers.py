"""Our pages as transformers' cache, and our attention as one of its attention functions."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, Cache, DynamicCache, PreTrainedConfig
from transformers.cache_utils import (
    CacheLayerMixin,
    DummyLayer,
    DynamicLayer,
    DynamicSlidingWindowLayer,
)

from guided.decoding.attention import attend
from guided.decoding.attention.rule import Rule
from guided.decoding.attention.spans import spans_of
from guided.decoding.attention.torch_attention import attend_packed
from guided.decoding.batch import Batch
from guided.decoding.pages import KVDtype, LayerLayout, LayerPages

ATTENTION = "guided"  # the name of our attention function


class NotServed(Exception):
    """Why a model cannot run on our pages."""


class KeysChanged(NotServed):
    """The model works on keys and values after they were cached, so it must be given them."""


class PagedLayer(CacheLayerMixin):
    """The pages of one layer, as transformers sees them.

    Its tensors are made when the first keys come, as only they tell heads, sizes and device.

    Args:
        cache: of the model.
        window: how far rows see in this layer.
    """

    is_sliding = False
    is_croppable = False

    def __init__(self, cache: PagedModelCache, window: int | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.cache = cache
        self.window = window
        self.sinks = 0
        self.layout: LayerLayout | None = None
        self.pages: LayerPages | None = None

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Take memory for keys (1, H, T, D) and values (1, H, T, Dv)."""
        if self.layout is None:
            if key_states.shape[1] != value_states.shape[1]:
                raise NotServed("it has other numbers of heads for keys than for values")
            self.layout = LayerLayout(
                heads=key_states.shape[1],
                key_size=key_states.shape[3],
                value_size=value_states.shape[3],
                dtype=key_states.dtype,
                device=key_states.device,
                kv_dtype=self.cache.kv_dtype,
            )
        self.allocate()

    def allocate(self) -> LayerPages:
        """Take memory for a layout that is known."""
        assert self.layout is not None
        self.pages = LayerPages(self.layout, self.cache.page_count + 1, self.cache.page_size)
        self.is_initialized = True
        return self.pages

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Write the new rows, (1, H, T, D), and say which layer they belong to.

        Where the model wants keys and values itself (`gathers`), return those of all sequences, one
        after the other: (1, H, sum of L, D).
        """
        if self.pages is None:
            self.lazy_initialization(key_states, value_states)
        pages, batch = self.pages, self.cache.batch.to(key_states.device)
        assert pages is not None
        pages.write(
            batch.slots,
            key_states.squeeze(0).transpose(0, 1),  # (T, H, D)
            value_states.squeeze(0).transpose(0, 1),
            batch.first_slot,
        )
        if not self.cache.gathers:
            key_states.guided_layer = self  # type: ignore[attr-defined]
            return key_states, value_states
        spans = spans_of(batch, self.window, self.sinks, key_states.dtype)
        read = [span.read(pages) for span in spans]
        keys, values = (torch.cat(parts, 2) for parts in zip(*read, strict=True))
        return pages.rotate(keys), values

    def get_seq_length(self) -> int:
        """Return 0: positions are given with each forward."""
        return 0

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return what a mask would need, though none is made."""
        return query_length, 0

    def get_max_length(self) -> int:
        """Return -1: pages end, sequences do not."""
        return -1


class PagedModelCache(Cache):
    """The layers of a model on our pages.

    Args:
        config: of the model.

    Attributes:
        batch: the rows of the forward that runs.
        page_count, page_size: of the pool.
        kv_dtype: how keys and values are kept.
        gathers: whether `update` returns keys and values of the whole context.
        attended: how many layers attended in the forward that runs.

    Raises:
        NotServed: the model keeps more between tokens than keys and values.
    """

    def __init__(self, config: PreTrainedConfig) -> None:
        layers: list[Any] = [
            DummyLayer() if window == "none" else PagedLayer(self, window)
            for window in layer_windows(config)
        ]
        super().__init__(layers=layers)
        self.kv_dtype: KVDtype | None = None
        self.batch = Batch([], 1)
        self.page_count = 0
        self.page_size = 1
        self.gathers = False
        self.attended = 0

    def narrow(self, window: int | None, sinks: int) -> None:
        """Let no layer see further than `window`, but for the first tokens; None: as they are."""
        for layer in self.paged:
            if window is not None and (layer.window is None or window < layer.window):
                layer.window, layer.sinks = window, sinks

    @property
    def widest(self) -> int | None:
        """How far the layer sees that sees furthest."""
        widest = 0
        for layer in self.paged:
            if layer.window is None:
                return None
            widest = max(widest, layer.window)
        return widest

    def store(self, kv_dtype: KVDtype | None) -> None:
        """Keep keys and values in this format from the next `resize` on."""
        self.kv_dtype = kv_dtype
        for layer in self.paged:
            if layer.layout is not None:
                layer.layout = replace(layer.layout, kv_dtype=kv_dtype)

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Write new rows to a layer; see `PagedLayer.update`."""
        updated: tuple[Tensor, Tensor] = self.layers[layer_idx].update(key_states, value_states)  # type: ignore[union-attr]
        return updated

    @property
    def paged(self) -> list[PagedLayer]:
        """The layers with pages."""
        return [layer for layer in self.layers if isinstance(layer, PagedLayer)]

    def resize(self, pages: int, size: int) -> None:
        """Forget all pages; new ones are made when first they are needed."""
        self.page_count, self.page_size = pages, size
        for layer in self.paged:
            layer.pages = None
            layer.is_initialized = False


def layer_windows(config: PreTrainedConfig) -> list[Any]:
    """Return for each layer how far it sees: tokens, None for all, "none" if it caches nothing.

    transformers' own cache is made from the same configuration, so it tells.
    """
    text = config.get_text_config(decoder=True)
    kinds = getattr(text, "layer_types", None) or ()
    if "chunked_attention" in kinds or (
        not kinds and getattr(text, "attention_chunk_size", None) is not None
    ):
        raise NotServed("it attends in chunks, not over a window")
    try:
        layers = DynamicCache(config=config).layers
    except Exception as error:
        raise NotServed(f"transformers makes no cache for it ({error})") from error
    windows: list[Any] = []
    for layer in layers:
        if type(layer) is DynamicLayer:
            windows.append(None)
        elif type(layer) is DynamicSlidingWindowLayer:
            windows.append(layer.sliding_window)
        elif type(layer) is DummyLayer:
            windows.append("none")
        else:
            raise NotServed(
                f"its layers keep more between tokens than keys and values ({type(layer).__name__})"
            )
    if not any(window != "none" for window in windows):
        raise NotServed("it has no attention layers")
    return windows


class _Running(threading.local):
    """The cache of the forward that runs in this thread.

    Not every model hands arguments of ours down to the attention function, so they wait here.
    """

    cache: PagedModelCache | None = None


running = _Running()


def guided_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attend for transformers: query (1, Hq, T, D), to (1, T, Hq, Dv)."""
    cache = running.cache
    if cache is None:
        raise RuntimeError("the attention function of guided runs within guided only")
    if attention_mask is not None or kwargs.get("position_bias") is not None:
        raise NotServed("it adds a bias of its own to the scores")
    layer = getattr(key, "guided_layer", None)
    if layer is None:
        if not cache.gathers:
            raise KeysChanged("it works on keys and values after they were cached")
        layer = cache.layers[module.layer_idx]  # type: ignore[index]
    assert isinstance(layer, PagedLayer)
    assert layer.pages is not None
    cache.attended += 1
    if sliding_window is not None and (layer.window is None or sliding_window < layer.window):
        raise NotServed(
            f"a layer attends over {sliding_window} tokens, and its cache keeps {layer.window}"
        )
    batch = cache.batch.to(query.device)
    rule = Rule(
        scale=scaling if scaling is not None else query.shape[3] ** -0.5,
        window=layer.window,
        sinks=layer.sinks,
        soft_cap=softcap,
        sink_logits=s_aux,
    )
    rows = query.transpose(1, 2).squeeze(0)  # (T, Hq, D)
    if cache.gathers:
        out = attend_packed(rows, key, value, batch, **rule)
    else:
        out = attend(rows, layer.pages, batch, **rule)
    return out.unsqueeze(0), None


AttentionInterface.register(ATTENTION, guided_attention)
