"""Any causal language model of transformers on our pages and our attention."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

from guided.decoding.batch import Batch
from guided.decoding.graphs import StepGraphs
from guided.decoding.head import Head
from guided.decoding.models.fused_layers import FusedLayers
from guided.decoding.models.linears import Linears
from guided.decoding.models.paged_layers import (
    ATTENTION,
    KeysChanged,
    NotServed,
    PagedModelCache,
    running,
)
from guided.decoding.models.protocol import Allowed, Logits, Piece, RunnerStats
from guided.decoding.models.self_test import check_against_stock, input_device
from guided.decoding.pages import CacheOptions, PageCache
from guided.decoding.pages.memory import count_pages

PAGE_SIZE = 64
_TEST_PAGES, _TEST_SIZE = 8, 4  # of the cache that the self-test runs on

# A forward switches the attention of the network, so there is one at a time.
_LOCKS: WeakKeyDictionary[nn.Module, threading.RLock] = WeakKeyDictionary()


class TransformersRunner:
    """A network whose layers attend through `AttentionInterface`; see `Runner` for the methods.

    The network itself stays as it was: its attention function and its head are replaced for the
    time of a forward only, during which no other thread may use it, but for other runners, which
    wait. When made, it is compared with its stock forward on a few tokens.

    Args:
        network: in evaluation mode, on one device or several.
        options: of the cache.

    Raises:
        NotServed: it does not work this way; the text is the reason.
        LimitError: the memory does not suffice for a page.
    """

    trees = True
    drafts = True

    def __init__(self, network: PreTrainedModel, options: CacheOptions | None = None) -> None:
        self.options = options or CacheOptions()
        self._network = network
        self._cache_name = cache_name(network)
        self._configs = attention_configs(network)
        self._lock = _LOCKS.setdefault(network, threading.RLock())
        embedding = network.get_output_embeddings()
        if embedding is None:
            raise NotServed("it has no output embedding")
        self._linears = Linears(network)
        self._head = Head(embedding, self._linears.multiply)
        self.dtype: torch.dtype = network.dtype
        self.device = input_device(network)
        self._model_cache = PagedModelCache(network.config)
        self._fused = FusedLayers(network, self._model_cache)
        self._pages = PageCache(1, 1)
        self._graphs: StepGraphs | None = None
        # Inference mode is some percent faster; what a sharded network does may not know it.
        is_plain = all(type(parameter) is nn.Parameter for parameter in network.parameters())
        self._without_gradient = (
            torch.inference_mode
            if is_plain and not hasattr(network, "hf_device_map")
            else torch.no_grad
        )
        with self._lock:  # the comparison runs the network as it is
            self._prove()
        self._provide()

    @property
    def width(self) -> int:
        """V, the width of the logits."""
        return self._head.width

    @property
    def context(self) -> int | None:
        """The positions that the model was made for."""
        config = self._network.config.get_text_config(decoder=True)
        length = getattr(config, "max_position_embeddings", None)
        return int(length) if length else None

    def open(self, prompt: Sequence[int] = ()) -> tuple[int, int]:
        """Begin a sequence; see `Runner.open`."""
        return self._pages.open(prompt)

    def length(self, sequence: int) -> int:
        """Count the tokens of a sequence."""
        return self._pages.length(sequence)

    def run(self, pieces: Sequence[Piece], allowed: Allowed | None = None) -> Logits:
        """Append rows and return logits; see `Runner.run`."""
        check_pieces(pieces)
        batch = self._pages.append(pieces)
        try:
            with self._lock, self._without_gradient():
                logits = self._forward(batch.to(self.device), logit_rows(batch, pieces), allowed)
        except BaseException:
            self._pages.take_back(pieces)
            raise
        self._pages.written(pieces)
        if logits.values.is_inference():  # the caller may write to them
            return Logits(logits.values.clone(), logits.tokens)
        return logits

    def keep(self, sequence: int, path: Sequence[int]) -> None:
        """Keep a path of a tree; see `Runner.keep`."""
        self._pages.keep(sequence, path)

    def rollback(self, sequence: int, count: int) -> None:
        """Drop the last tokens of a sequence."""
        self._pages.rollback(sequence, count)

    def fork(self, sequence: int) -> int:
        """Begin a sequence with the same tokens."""
        return self._pages.fork(sequence)

    def free(self, sequence: int) -> None:
        """Forget a sequence."""
        self._pages.free(sequence)

    def room(self) -> int:
        """Count the tokens that fit now."""
        return self._pages.room()

    def needs(self, pieces: Sequence[Piece]) -> int:
        """Count the tokens of room that pieces take."""
        return self._pages.needs(pieces)

    def reset(self) -> None:
        """Forget all sequences and all that is cached."""
        layers = self._pages.layers
        self._pages = self._new_pages(self._model_cache.page_count, self._model_cache.page_size)
        self._pages.layers = layers

    def stats(self) -> RunnerStats:
        """Return the state of the cache."""
        return self._pages.stats()

    def _forward(self, batch: Batch, rows: Tensor | None, allowed: Allowed | None) -> Logits:
        """Run the network on a batch; `rows` (R,) are those whose logits are wanted."""
        if rows is None and self._graphs is not None:
            values = self._graphs.run(batch)
            if values is not None:
                return Logits(values.clone())
        # The head last, as it is a linear layer too and goes on to what it finds.
        steps = self._linears.step(), self._fused.step(), self._head.step(rows, allowed)
        with steps[0], steps[1], steps[2] as head:
            logits = self._run_network(batch)  # (R, n)
        if head.was_called:
            return Logits(logits, head.tokens)
        return Logits(logits if rows is None else logits.index_select(0, rows.to(logits.device)))

    def _run_network(self, batch: Batch) -> Tensor:
        """Run the network on a batch, on our cache and attention; return its logits."""
        cache = self._model_cache
        cache.batch, cache.attended = batch, 0
        with self._switched():
            out = self._network(
                input_ids=batch.tokens.unsqueeze(0),  # (1, T)
                position_ids=batch.positions.unsqueeze(0),  # (1, T)
                use_cache=True,
                **{self._cache_name: cache},
            )
        logits: Tensor = out.logits[0]
        return logits

    @contextmanager
    def _switched(self) -> Iterator[None]:
        """Let the network attend by our function, and leave it as it was."""
        before = [config._attn_implementation for config in self._configs]
        running.cache = self._model_cache
        for config in self._configs:
            config._attn_implementation_internal = ATTENTION
        try:
            yield
        finally:
            running.cache = None
            for config, name in zip(self._configs, before, strict=True):
                config._attn_implementation_internal = name

    def _prove(self) -> None:
        """Compare with the stock forward, reading pages, or gathering keys where that must be."""
        self._model_cache.resize(_TEST_PAGES, _TEST_SIZE)
        try:
            self._compare()
        except KeysChanged:
            self._model_cache.gathers = True
            self._compare()
        except NotServed:
            if not len(self._fused):
                raise
            self._fused.forget()
            self._compare()

    def _compare(self) -> None:
        self._pages = PageCache(_TEST_PAGES, _TEST_SIZE, reuse=False)
        try:
            check_against_stock(self._network, self, self._head)
        except NotServed:
            raise
        except Exception as error:
            reason = (str(error).strip().splitlines() or [""])[0]
            raise NotServed(f"its forward fails here ({type(error).__name__}: {reason})") from error
        layers = self._model_cache.paged
        if self._model_cache.attended < len(layers):
            raise NotServed("its layers keep an attention of their own")
        if any(layer.layout is None for layer in layers):
            raise NotServed("not all of its layers cache what its configuration says")

    def _provide(self) -> None:
        """Make the real cache."""
        options, cache = self.options, self._model_cache
        cache.store(options.kv_dtype)
        cache.narrow(options.window, options.sinks)
        layouts = [layer.layout for layer in cache.paged if layer.layout is not None]
        size = options.page_size or PAGE_SIZE
        if options.kind == "contiguous":
            size = options.page_size or self.context or 4096
        pages = count_pages(layouts, size, memory=options.memory, context=self.context)
        cache.resize(pages, size)
        self._pages = self._new_pages(pages, size)
        self._pages.layers = [layer.allocate() for layer in cache.paged]
        self._graphs = self._new_graphs()

    def _new_graphs(self) -> StepGraphs | None:
        """Prepare for decode steps as CUDA graphs, where all layers are on one GPU."""
        cache = self._model_cache
        devices = {layer.layout.device for layer in cache.paged if layer.layout is not None}
        if self.device.type != "cuda" or devices != {self.device} or cache.gathers:
            return None
        longest = min(cache.page_count, -(-(self.context or 32768) // cache.page_size))
        return StepGraphs(
            self._run_network, pages=longest, page_size=cache.page_size, device=self.device
        )

    def _new_pages(self, pages: int, size: int) -> PageCache:
        options, cache = self.options, self._model_cache
        return PageCache(
            pages,
            size,
            window=cache.widest,
            sinks=options.sinks,
            slack=options.slack,
            reuse=options.reuse,
        )


def cache_name(network: PreTrainedModel) -> str:
    """Return what the network's forward calls its cache.

    Raises:
        NotServed: it takes no positions, without which rows cannot be packed.
    """
    parameters = inspect.signature(network.forward).parameters
    if "position_ids" not in parameters:
        raise NotServed("its forward takes no position_ids")
    # `cache` replaced `past_key_values` in transformers 5.21; models with code of their own may
    # know only the old name.
    return "cache" if "cache" in parameters else "past_key_values"


def attention_configs(network: PreTrainedModel) -> list[PreTrainedConfig]:
    """Return the configurations that the layers of a network look up their attention in."""
    found = {id(network.config): network.config}
    for module in network.modules():
        config = getattr(module, "config", None)
        if isinstance(config, PreTrainedConfig):
            found[id(config)] = config
    return list(found.values())


def check_pieces(pieces: Sequence[Piece]) -> None:
    """Raise unless pieces belong to different sequences, with sound rows and trees."""
    if len({piece.sequence for piece in pieces}) != len(pieces) or not pieces:
        raise ValueError("a step takes at least one piece, and at most one of each sequence")
    for piece in pieces:
        if not piece.tokens or not 0 <= piece.logits <= len(piece.tokens):
            raise ValueError(
                f"a piece has a token, and logits after some of them; found {len(piece.tokens)}"
                f" tokens and {piece.logits} logits"
            )
        if piece.parents is not None and (
            len(piece.parents) != len(piece.tokens)
            or any(not -1 <= parent < node for node, parent in enumerate(piece.parents))
        ):
            raise ValueError("each token of a tree has a parent before it, or -1")


def logit_rows(batch: Batch, pieces: Sequence[Piece]) -> Tensor | None:
    """Return the rows of a batch whose logits are wanted, (R,) int64; None: all."""
    rows = [
        row
        for stop, piece in zip(batch.row_starts[1:], pieces, strict=True)
        for row in range(stop - piece.logits, stop)
    ]
    return None if len(rows) == batch.size else torch.tensor(rows, dtype=torch.int64)
