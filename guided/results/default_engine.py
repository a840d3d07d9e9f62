"""The engine that `generate` and `stream` use: one a model, kept as long as the model is."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TypeAlias
from weakref import WeakKeyDictionary

from torch import nn

from guided.decoding import Model
from guided.results.engine import Engine

# Where the weights lie and how often each was written.
Mark: TypeAlias = tuple[tuple[int, int], ...]

_engines: WeakKeyDictionary[Model, tuple[Mark, Engine]] = WeakKeyDictionary()
_lock = threading.Lock()


def default_engine(model: Model) -> Engine:
    """Return the engine of a model, made when it is first asked for.

    Its cache keeps the keys and values of earlier prompts. They are of no use once the weights have
    changed, so then there is a new engine.
    """
    mark = mark_weights(model.network)
    with _lock:
        known = _engines.get(model)
        if known is not None and known[0] == mark:
            return known[1]
        # The engine has a twin of the model: a value that held the key would keep it for ever.
        engine = Engine(replace(model))
        _engines[model] = (mark_weights(model.network), engine)
        return engine


def mark_weights(network: object) -> Mark:
    """Tell the present weights of a network from others: training, moving and casting change it.

    Cost: about a microsecond a parameter.
    """
    if not isinstance(network, nn.Module):
        return ()
    return tuple(
        (weight.data_ptr(), 0 if weight.is_inference() else weight._version)
        for weight in network.parameters()
    )
