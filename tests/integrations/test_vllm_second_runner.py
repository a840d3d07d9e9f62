"""The processor for vLLM's second model runner: rows in any order, drafts, slots used again."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import random
from collections.abc import Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import guided
from guided.decoding import Model
from tests.decoding.tiny_model import VOCABULARY
from tests.integrations import stand_ins
from tests.integrations.stand_ins import allowed

RUNNER = "vllm.v1.worker.gpu.sample.logits_processor.interface"
INSTALLED = importlib.util.find_spec("vllm") is not None
END = 1
EVERYTHING = list(range(VOCABULARY))
SLOTS, LENGTH = 6, 64


@pytest.fixture
def adapter(
    vllm_modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> Iterator[ModuleType]:
    """The module, on classes that are restated here, or on those of vLLM."""
    yield from stand_ins.imported(
        "guided.integrations.vllm_second_runner", vllm_modules, monkeypatch
    )


class Runner:
    """Slots with prompts and outputs as vLLM keeps them, and the layout of a step."""

    def __init__(self, adapter: ModuleType) -> None:
        self.names: Any = importlib.import_module(RUNNER)
        self.tokens = torch.full((SLOTS, LENGTH), 9)  # (slots, T)
        self.prompts = np.zeros(SLOTS, np.int32)
        self.written: dict[int, list[int]] = {}
        states = self.names.LogitsProcRequestState(
            device=self.tokens.device,
            max_num_reqs=SLOTS,
            vocab_size=VOCABULARY,
            all_token_ids=SimpleNamespace(gpu=self.tokens),
            prompt_len=SimpleNamespace(np=self.prompts),
            prefill_len=None,
            total_len=None,
        )
        self.processor: Any = adapter.GuidedLogitsProcessor(
            SimpleNamespace(model_config=None), states
        )

    def add(self, slot: int, constraint: object, prompt: int, output: Sequence[int] = ()) -> bool:
        self.prompts[slot] = prompt
        self.tokens[slot] = 9
        self.written[slot] = []
        self.write(slot, output)
        extra = None if constraint is None else {"guided": constraint}
        parameters = SimpleNamespace(extra_args=extra)
        return bool(self.processor.add_request(slot, parameters))

    def write(self, slot: int, tokens: Sequence[int]) -> None:
        begin = self.prompts[slot] + len(self.written[slot])
        self.tokens[slot, begin : begin + len(tokens)] = torch.tensor(tokens, dtype=torch.int64)
        self.written[slot] += tokens

    def step(self, drafts: dict[int, list[int]]) -> dict[int, list[list[int]]]:
        """What each slot may write at each of its rows; slots in the order of `drafts`."""
        rows = [
            (slot, offset, token, int(self.prompts[slot]) + len(self.written[slot]) - 1 + offset)
            for slot, draft in drafts.items()
            for offset, token in enumerate([self.last(slot), *draft])
        ]
        slots, offsets, tokens, positions = (
            torch.tensor(column, dtype=torch.int32) for column in zip(*rows, strict=True)
        )
        context = self.names.LogitsContext(
            expanded_idx_mapping=slots,
            idx_mapping=torch.tensor(list(drafts), dtype=torch.int32),
            expanded_local_pos=offsets,
            input_ids=tokens,
            pos=positions.long(),
            idx_mapping_np=np.array(list(drafts), np.int32),
            seq_lens_upper_bound_np=None,
        )
        logits = torch.zeros(len(rows), VOCABULARY)
        assert self.processor.apply(logits, context) is logits
        found: dict[int, list[list[int]]] = {slot: [] for slot in drafts}
        for (slot, *_), row in zip(rows, allowed(logits), strict=True):
            found[slot].append(row)
        return found

    def last(self, slot: int) -> int:
        return int(self.tokens[slot, self.prompts[slot] + len(self.written[slot]) - 1])


@pytest.fixture
def runner(adapter: ModuleType, model: Model, monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.setattr(adapter, "read_vocabulary", lambda config: model.vocabulary)
    return Runner(adapter)


def ids(model: Model, text: str) -> list[int]:
    return list(model.tokenizer(text)["input_ids"])


def test_rows_are_masked_in_whatever_order_they_come(runner: Runner, model: Model) -> None:
    assert runner.add(4, {"regex": "xy"}, 3)
    assert not runner.add(1, None, 5)
    assert runner.add(0, {"regex": "[0-9]x"}, 2)
    x, y = ids(model, "x"), ids(model, "y")
    digits = sorted(token for digit in "0123456789" for token in ids(model, digit))
    assert runner.step({4: [], 1: [], 0: []}) == {4: [x], 1: [EVERYTHING], 0: [digits]}
    runner.write(4, x)
    runner.write(1, x)
    runner.write(0, ids(model, "7"))
    assert runner.step({0: [], 4: []}) == {0: [x], 4: [y]}


def test_each_token_of_a_draft_has_its_mask(runner: Runner, model: Model) -> None:
    runner.add(2, {"regex": "a[xy]z"}, 3)
    a, x, y, z = (ids(model, letter) for letter in "axyz")
    xy = sorted(x + y)
    assert runner.step({2: [*a, *x, *z]}) == {2: [a, xy, z, [END]]}
    # A token that is not allowed: what stands after it does not matter, but is not empty.
    assert runner.step({2: [*a, *z, *z]}) == {2: [a, xy, [END], [END]]}
    # Nothing of a draft counts before it is written.
    assert runner.step({2: []}) == {2: [a]}
    runner.write(2, [*a, *y])
    assert runner.step({2: [*z, END]}) == {2: [z, [END], [END]]}


def test_a_slot_that_is_used_again_begins_anew(runner: Runner, model: Model) -> None:
    runner.add(3, {"regex": "xy"}, 3)
    runner.write(3, ids(model, "x"))
    assert runner.step({3: []}) == {3: [ids(model, "y")]}
    runner.add(3, None, 4)
    assert runner.step({3: []}) == {3: [EVERYTHING]}
    runner.add(3, {"regex": "z"}, 2)
    assert runner.step({3: []}) == {3: [ids(model, "z")]}


def test_a_request_that_comes_back_brings_its_output(runner: Runner, model: Model) -> None:
    runner.add(5, {"regex": "xyz"}, 3, output=ids(model, "xy"))
    assert runner.step({5: []}) == {5: [ids(model, "z")]}


def test_a_grammar_that_fails_late_ends_its_request_alone(runner: Runner, model: Model) -> None:
    runner.add(0, {"regex": "("}, 3)
    runner.add(1, {"regex": "x"}, 3)
    assert runner.step({0: [9], 1: []}) == {0: [[END], [END]], 1: [ids(model, "x")]}


def test_many_steps_with_drafts_that_stand_or_fall(runner: Runner, model: Model) -> None:
    """Against a matcher that reads each output from its beginning."""
    pattern = "(ab?c|(true|12)+x?|[yz]{1,3})+!"
    automaton = guided.Grammar.from_regex(pattern).compile(model.vocabulary)
    source = random.Random(3)
    for slot in range(4):
        runner.add(slot, {"regex": pattern}, 2 + slot)
    ended = 0
    for _ in range(60):
        drafts: dict[int, list[int]] = {}
        for slot in source.sample(range(4), 3):
            matcher = automaton.matcher()
            matcher.accept_all(runner.written[slot])
            drafts[slot] = []
            for _ in range(source.randrange(4)):
                known = matcher.allowed_tokens()
                token = source.choice(known or EVERYTHING)
                if source.random() < 0.2:
                    token = source.randrange(VOCABULARY)
                drafts[slot].append(token)
                if not matcher.can_accept(token):
                    break
                matcher.accept(token)
        for slot, rows in runner.step(drafts).items():
            matcher = automaton.matcher()
            matcher.accept_all(runner.written[slot])
            taken: list[int] = []
            for row, drafted in zip(rows, [*drafts[slot], None], strict=True):
                assert row == (matcher.allowed_tokens() or [END])
                if drafted is None or not matcher.can_accept(drafted) or source.random() < 0.3:
                    taken.append(source.choice(row))  # verification writes one of its own
                    break
                matcher.accept(drafted)
                taken.append(drafted)
                if drafted == END:
                    break
            runner.write(slot, taken)
            if END in taken or len(runner.written[slot]) > 40:
                ended += 1
                runner.add(slot, {"regex": pattern}, 2 + slot)
    assert ended > 5


@pytest.mark.skipif(not INSTALLED, reason="vLLM is not installed (make engines)")
def test_vllm_finds_the_processor_by_its_name_and_asks_for_nothing_else() -> None:
    loader: Any = importlib.import_module("vllm.v1.worker.gpu.sample.logits_processor.loader")
    name = "guided.integrations.vllm_second_runner:GuidedLogitsProcessor"
    (found,) = loader._load_v2_logitsprocs([name])
    assert not inspect.isabstract(found)
