"""From a network to the runner that serves it."""

from __future__ import annotations

import warnings

from transformers import PreTrainedModel

from guided.decoding.models.paged_layers import NotServed
from guided.decoding.models.protocol import Runner
from guided.decoding.models.stock_runner import StockRunner
from guided.decoding.models.transformers_runner import TransformersRunner
from guided.decoding.pages import CacheOptions
from guided.errors import UnsupportedError


def open_transformers_runner(
    network: PreTrainedModel, options: CacheOptions | None = None
) -> Runner:
    """Make a runner for a causal language model of transformers.

    A model that cannot run on our pages is run on its own cache, with a warning that names the
    reason.

    Args:
        network: in evaluation mode.
        options: of the cache; None: the defaults.

    Raises:
        UnsupportedError: it cannot run on pages, and an option was asked for that needs them.
        LimitError: the memory does not suffice for a page.
    """
    options = options or CacheOptions()
    try:
        return TransformersRunner(network, options)
    except NotServed as error:
        name = type(network).__name__
        asked = [
            option
            for option in ("kv_dtype", "window", "memory")
            if getattr(options, option) is not None
        ]
        if asked:
            raise UnsupportedError(
                f"{name} cannot run on pages: {error}",
                keyword=asked[0],
                page="docs/decoding.md",
                mend=f"leave out {' and '.join(asked)}: it runs on its own cache then",
            ) from error
        warnings.warn(
            f"{name} runs on its own cache, one sequence at a time: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return StockRunner(network)
