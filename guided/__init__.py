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
    from guided.decoding import Model, TokenLogprob, load
    from guided.decoding.drafts import Draft, Drafter
    from guided.decoding.drafts.assistant import AssistantDrafter
    from guided.decoding.drafts.forced import ForcedDrafter
    from guided.decoding.drafts.lookahead import LookaheadDrafter
    from guided.decoding.drafts.prompt import PromptDrafter
    from guided.decoding.drafts.states import StatesDrafter
    from guided.decoding.models.first_layers import first_layers
    from guided.grammar import Automaton, Grammar, Matcher
    from guided.masks import RowMirror, allocate_mask, apply_mask
    from guided.results import Engine, EngineStatistics, Request, Result, Statistics, Stream
    from guided.results.generate import generate
    from guided.results.stream import stream
    from guided.sampling import LogitBias, Sampler, Sampling, token_logprobs
    from guided.text.tags import Tag
    from guided.text.tools import Tool, tool_formats
    from guided.text.tools.call import ToolCall
    from guided.text.tools.reading import (
        CallArguments,
        CallBegan,
        CallFinished,
        CallParser,
        ParsedCalls,
        TextPiece,
        parse_calls,
        read_partial_json,
    )
    from guided.text.tools.recognition import recognise_format
    from guided.vocabulary import Vocabulary

__version__ = "0.1.0"

_HOME = {
    "AssistantDrafter": "guided.decoding.drafts.assistant",
    "Automaton": "guided.grammar",
    "CallArguments": "guided.text.tools.reading",
    "CallBegan": "guided.text.tools.reading",
    "CallFinished": "guided.text.tools.reading",
    "CallParser": "guided.text.tools.reading",
    "Draft": "guided.decoding.drafts",
    "Drafter": "guided.decoding.drafts",
    "Engine": "guided.results",
    "EngineStatistics": "guided.results",
    "ForcedDrafter": "guided.decoding.drafts.forced",
    "Grammar": "guided.grammar",
    "LogitBias": "guided.sampling",
    "LookaheadDrafter": "guided.decoding.drafts.lookahead",
    "Matcher": "guided.grammar",
    "Model": "guided.decoding",
    "ParsedCalls": "guided.text.tools.reading",
    "PromptDrafter": "guided.decoding.drafts.prompt",
    "Request": "guided.results",
    "Result": "guided.results",
    "RowMirror": "guided.masks",
    "Sampler": "guided.sampling",
    "Sampling": "guided.sampling",
    "StatesDrafter": "guided.decoding.drafts.states",
    "Statistics": "guided.results",
    "Stream": "guided.results",
    "Tag": "guided.text.tags",
    "TextPiece": "guided.text.tools.reading",
    "TokenLogprob": "guided.decoding",
    "Tool": "guided.text.tools",
    "ToolCall": "guided.text.tools.call",
    "Vocabulary": "guided.vocabulary",
    "allocate_mask": "guided.masks",
    "apply_mask": "guided.masks",
    "fill_masks": "guided._core",
    "first_layers": "guided.decoding.models.first_layers",
    "generate": "guided.results",
    "load": "guided.decoding",
    "parse_calls": "guided.text.tools.reading",
    "read_partial_json": "guided.text.tools.reading",
    "recognise_format": "guided.text.tools.recognition",
    "stream": "guided.results",
    "token_logprobs": "guided.sampling",
    "tool_formats": "guided.text.tools",
}

__all__ = [
    "AssistantDrafter",
    "Automaton",
    "CallArguments",
    "CallBegan",
    "CallFinished",
    "CallParser",
    "Draft",
    "Drafter",
    "Engine",
    "EngineStatistics",
    "ForcedDrafter",
    "Grammar",
    "GrammarError",
    "GuidedError",
    "IncompleteError",
    "LimitError",
    "LogitBias",
    "LookaheadDrafter",
    "Matcher",
    "Model",
    "ParsedCalls",
    "PromptDrafter",
    "Request",
    "Result",
    "RollbackError",
    "RowMirror",
    "Sampler",
    "Sampling",
    "SchemaError",
    "ShapeError",
    "SourceError",
    "StatesDrafter",
    "Statistics",
    "Stream",
    "Tag",
    "TextPiece",
    "TokenLogprob",
    "TokenRejected",
    "Tool",
    "ToolCall",
    "UnsupportedError",
    "ValueRejected",
    "Vocabulary",
    "VocabularyError",
    "__version__",
    "allocate_mask",
    "apply_mask",
    "fill_masks",
    "first_layers",
    "generate",
    "load",
    "parse_calls",
    "read_partial_json",
    "recognise_format",
    "stream",
    "token_logprobs",
    "tool_formats",
]


def __getattr__(name: str) -> object:
    if (home := _HOME.get(name)) is None:
        raise AttributeError(f"module 'guided' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return __all__
