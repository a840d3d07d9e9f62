"""The processor in vLLM's own batch, loaded by its loader, before its own sampler."""

from __future__ import annotations

import importlib
import importlib.util
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import guided
from guided.decoding import Model
from guided.grammar import Automaton
from tests.decoding.tiny_model import VOCABULARY

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("vllm") is None, reason="vLLM is not installed (make engines)"
    ),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of its imports
]

NAME = "guided.integrations.vllm:GuidedLogitsProcessor"
END = 1
ROWS, LENGTH = 6, 64
PATTERNS = (r"[0-9]{1,4}", '"[a-c]{0,5}"', "(true|12)+x?!", r"\{(ab?c)*\}", None)


@dataclass
class Life:
    """A request of vLLM, and what it may write by an automaton of its own."""

    state: Any  # CachedRequestState
    automaton: Automaton | None

    def allowed(self) -> list[int]:
        if self.automaton is None:
            return list(range(VOCABULARY))
        matcher = self.automaton.matcher()
        matcher.accept_all(self.state.output_token_ids)
        return matcher.allowed_tokens()


@pytest.fixture
def batch(model: Model, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A batch on the CPU whose processors vLLM makes by their names."""
    ours = importlib.import_module("guided.integrations.vllm")
    monkeypatch.setattr(ours, "read_vocabulary", lambda config: model.vocabulary)
    batches = importlib.import_module("vllm.v1.worker.gpu_input_batch")
    importlib.import_module("vllm.v1.sample.sampler")
    for name, module in list(sys.modules.items()):  # its build for GPUs pins memory everywhere
        if name.startswith("vllm.") and hasattr(module, "PIN_MEMORY"):
            monkeypatch.setattr(module, "PIN_MEMORY", False)
    processors = importlib.import_module("vllm.v1.sample.logits_processor").build_logitsprocs(
        SimpleNamespace(
            model_config=None,
            speculative_config=None,
            scheduler_config=SimpleNamespace(max_num_seqs=ROWS),
        ),
        torch.device("cpu"),
        is_pin_memory=False,
        is_pooling_model=False,
        custom_logitsprocs=[NAME],
    )
    return batches.InputBatch(
        max_num_reqs=ROWS,
        max_model_len=LENGTH,
        max_num_batched_tokens=LENGTH,
        device=torch.device("cpu"),
        vocab_size=VOCABULARY,
        block_sizes=[16],
        max_num_blocks_per_req=[LENGTH // 16],
        logitsprocs=processors,
        logitsprocs_need_output_token_ids=True,
    )


@pytest.fixture
def begin(model: Model) -> Callable[[str, str | None, float], Life]:
    """Make a request with a prompt of three tokens."""
    request = importlib.import_module("vllm.v1.worker.gpu_input_batch").CachedRequestState
    sampling = importlib.import_module("vllm").SamplingParams

    def make(name: str, pattern: str | None, temperature: float) -> Life:
        extra = None if pattern is None else {"guided": {"regex": pattern}}
        state = request(
            req_id=name,
            prompt_token_ids=[5, 6, 7],
            mm_features=[],
            sampling_params=sampling(temperature=temperature, extra_args=extra),
            generator=None,
            block_ids=([0],),
            num_computed_tokens=0,
            output_token_ids=[],
        )
        if pattern is None:
            return Life(state, None)
        return Life(state, guided.Grammar.from_regex(pattern).compile(model.vocabulary))

    return make


def test_requests_come_go_and_change_their_rows(
    batch: Any, begin: Callable[[str, str | None, float], Life]
) -> None:
    """What vLLM samples is what the grammar of each request allows, whatever becomes of its row."""
    sampler = importlib.import_module("vllm.v1.sample.sampler").Sampler()
    source = random.Random(5)
    torch.manual_seed(5)
    here: dict[str, Life] = {}
    waiting: list[Life] = []  # preempted: they come back with what they wrote
    begun = ended = 0
    for _ in range(150):
        for name, life in list(here.items()):
            output = life.state.output_token_ids
            over = END in output or len(output) > 30
            if over or source.random() < 0.05:
                batch.remove_request(name)
                del here[name]
                ended += END in output
                if not over:
                    waiting.append(life)
        while len(here) < ROWS and source.random() < 0.6:
            if waiting and source.random() < 0.5:
                life = waiting.pop()
            else:
                begun += 1
                life = begin(f"{begun}", source.choice(PATTERNS), source.choice([0.0, 1.0]))
            batch.add_request(life.state)
            here[life.state.req_id] = life
        batch.condense()
        if len(here) > 1 and source.random() < 0.3:
            batch.swap_states(*source.sample(range(len(here)), 2))
        batch.refresh_metadata()
        if not here:
            continue
        sampled = sampler(torch.randn(len(here), VOCABULARY), batch.sampling_metadata)
        tokens = sampled.sampled_token_ids.flatten().tolist()
        for name, token in zip(batch.req_ids, tokens, strict=True):
            assert token in here[name].allowed()
            here[name].state.output_token_ids.append(token)
    assert begun > 20
    assert ended > 10


def test_vllm_refuses_a_request_at_fault_with_our_reason() -> None:
    processors = importlib.import_module("vllm.v1.sample.logits_processor")
    parameters = importlib.import_module("vllm").SamplingParams
    check = processors.validate_logits_processors_parameters
    check([NAME], parameters(extra_args={"guided": {"regex": "x+"}}))
    refused = importlib.import_module("vllm.exceptions").VLLMValidationError
    with pytest.raises(refused, match="unbalanced parenthesis"):
        check([NAME], parameters(extra_args={"guided": {"regex": "("}}))
