"""The classes of vLLM and SGLang that adapters derive from, restated.

Neither can be installed everywhere. What stands here is what their interfaces say: names, fields
and the order of calls, no more. Where the real ones can be imported the tests run on them too.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor


class MoveDirectionality(Enum):
    """vllm/v1/sample/logits_processor/interface.py"""

    UNIDIRECTIONAL = auto()
    SWAP = auto()


@dataclass(frozen=True)
class BatchUpdate:
    """Its lists are to be followed in the order removed, added, moved."""

    batch_size: int
    removed: Sequence[int] = ()
    added: Sequence[tuple[int, Any, list[int] | None, list[int]]] = ()
    moved: Sequence[tuple[int, int, Any]] = ()


class LogitsProcessor:
    """Its methods are abstract there."""


class SecondLogitsProcessor:
    """vllm/v1/worker/gpu/sample/logits_processor/interface.py; `apply` is abstract there."""


@dataclass
class SamplingParams:
    """vllm/sampling_params.py, the field that custom processors read."""

    extra_args: dict[str, Any] | None = None


def vllm_modules(tokenizer: object) -> dict[str, ModuleType]:
    """The modules of vLLM from which the adapter imports, by name."""
    processors = ModuleType("vllm.v1.sample.logits_processor")
    vars(processors).update(
        LogitsProcessor=LogitsProcessor,
        MoveDirectionality=MoveDirectionality,
        BatchUpdate=BatchUpdate,
    )
    tokenizers = ModuleType("vllm.tokenizers")
    vars(tokenizers).update(cached_tokenizer_from_config=lambda model_config: tokenizer)
    second = ModuleType("vllm.v1.worker.gpu.sample.logits_processor.interface")
    vars(second).update(
        LogitsProcessor=SecondLogitsProcessor,
        LogitsContext=SimpleNamespace,
        LogitsProcRequestState=SimpleNamespace,
    )
    names = ["vllm", "vllm.v1", "vllm.v1.sample"]
    parts = second.__name__.split(".")
    names += [".".join(parts[:count]) for count in range(3, len(parts))]
    packages = {name: ModuleType(name) for name in names}
    modules = {module.__name__: module for module in (processors, tokenizers, second)}
    return {**packages, **modules}


class BaseGrammarObject:
    """sglang/srt/constrained/base_grammar_backend.py"""

    def __init__(self) -> None:
        self._finished = False
        self.grammar_stats = None
        self.current_token: int | None = None

    @property
    def finished(self) -> bool:
        return self._finished


class GrammarRow(NamedTuple):
    row: int
    grammar: Any


class InvalidGrammarObject(BaseGrammarObject):
    def __init__(self, error_message: str = "") -> None:
        super().__init__()
        self.error_message = error_message


class BaseGrammarBackend:
    """Finds the method for a kind of grammar, as the real one does in a thread."""

    def __init__(self) -> None:
        self.cache: dict[tuple[str, str], Any] = {}

    def make(self, kind: str, text: str) -> Any:
        return getattr(self, f"dispatch_{kind}")(text)


@dataclass
class ServerArguments:
    grammar_backend: str = "guided"
    constrained_json_disable_any_whitespace: bool = False
    constrained_json_whitespace_pattern: str | None = None


@dataclass
class Registry:
    """What SGLang keeps of backends that were registered."""

    backends: dict[str, Callable[..., Any]] = field(default_factory=dict)
    names: list[str] = field(default_factory=lambda: ["xgrammar", "none"])

    def register(self, name: str, make: Callable[..., Any]) -> None:
        self.backends[name] = make


def sglang_modules(registry: Registry, *, is_new: bool) -> dict[str, ModuleType]:
    """The modules of SGLang from which the adapter imports, by name.

    Args:
        registry: where `register_grammar_backend` writes.
        is_new: whether a grammar that cannot be used has its reason, as since 0.5.9.
    """
    backend = ModuleType("sglang.srt.constrained.base_grammar_backend")
    vars(backend).update(
        BaseGrammarObject=BaseGrammarObject,
        BaseGrammarBackend=BaseGrammarBackend,
        register_grammar_backend=registry.register,
    )
    if is_new:
        vars(backend).update(InvalidGrammarObject=InvalidGrammarObject, GrammarRow=GrammarRow)
    else:
        vars(backend).update(INVALID_GRAMMAR_OBJ=BaseGrammarObject())
    arguments = ModuleType("sglang.srt.server_args")
    vars(arguments).update(
        GRAMMAR_BACKEND_CHOICES=registry.names, add_grammar_backend_choices=registry.names.extend
    )
    constrained = ModuleType("sglang.srt.constrained")
    vars(constrained).update(base_grammar_backend=backend)
    srt = ModuleType("sglang.srt")
    vars(srt).update(constrained=constrained, server_args=arguments)
    modules = (ModuleType("sglang"), srt, constrained, backend, arguments)
    return {module.__name__: module for module in modules}


def imported(
    name: str, modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> Iterator[ModuleType]:
    """An adapter, imported anew on these modules; on those that are installed if there are none."""
    for other, module in modules.items():
        monkeypatch.setitem(sys.modules, other, module)
    monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module(name)
    sys.modules.pop(name, None)


def allowed(logits: Tensor) -> list[list[int]]:
    """The tokens that are left in each row of logits."""
    return [row.isfinite().nonzero().flatten().tolist() for row in logits]


def bits(mask: Tensor, width: int) -> list[list[int]]:
    """The tokens that each row of a mask allows, bit by bit."""
    return [
        [token for token in range(width) if int(row[token // 32]) >> (token % 32) & 1]
        for row in mask.to(torch.int64)
    ]
