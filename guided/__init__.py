"""Run language models under a grammar, so that what comes out always parses.

```python
import guided

model = guided.load()
guided.generate(model, "Ada Lovelace was born in 1815. As JSON:", schema=Person).value
```

Importing this package is cheap: each name is looked up in its own package when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from guided.errors import (
    GrammarError,
    GuidedError,
    IncompleteError,
    LimitError,
    RollbackError,
    SchemaError,
    ShapeError,
    SourceError,
    TokenRejected,
    UnsupportedError,
    ValueRejected,
    VocabularyError,
)

if TYPE_CHECKING:
    from guided._core import fill_masks
    from guided.decoding import Model, load
    from guided.grammar import Automaton, Grammar, Matcher
    from guided.masks import RowMirror, allocate_mask, apply_mask
    from guided.results import Engine, EngineStatistics, Request, Result, Statistics, Stream
    from guided.results.generate import generate
    from guided.results.stream import stream
    from guided.sampling import Sampling
    from guided.vocabulary import Vocabulary

__version__ = "0.1.0"

_HOME = {
    "Automaton": "guided.grammar",
    "Engine": "guided.results",
    "EngineStatistics": "guided.results",
    "Grammar": "guided.grammar",
    "Matcher": "guided.grammar",
    "Model": "guided.decoding",
    "Request": "guided.results",
    "Result": "guided.results",
    "RowMirror": "guided.masks",
    "Sampling": "guided.sampling",
    "Statistics": "guided.results",
    "Stream": "guided.results",
    "Vocabulary": "guided.vocabulary",
    "allocate_mask": "guided.masks",
    "apply_mask": "guided.masks",
    "fill_masks": "guided._core",
    "generate": "guided.results",
    "load": "guided.decoding",
    "stream": "guided.results",
}

__all__ = [
    "Automaton",
    "Engine",
    "EngineStatistics",
    "Grammar",
    "GrammarError",
    "GuidedError",
    "IncompleteError",
    "LimitError",
    "Matcher",
    "Model",
    "Request",
    "Result",
    "RollbackError",
    "RowMirror",
    "Sampling",
    "SchemaError",
    "ShapeError",
    "SourceError",
    "Statistics",
    "Stream",
    "TokenRejected",
    "UnsupportedError",
    "ValueRejected",
    "Vocabulary",
    "VocabularyError",
    "__version__",
    "allocate_mask",
    "apply_mask",
    "fill_masks",
    "generate",
    "load",
    "stream",
]


def __getattr__(name: str) -> object:
    if (home := _HOME.get(name)) is None:
        raise AttributeError(f"module 'guided' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return __all__
