"""The processor for llama-cpp-python, in its own completions of a tiny GGUF file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import guided
from guided.decoding import load
from tests.decoding.tiny_gguf import tiny_network, write_gguf
from tests.decoding.tiny_model import VOCABULARY, tiny_tokenizer
from tests.integrations.languages import OBJECT, PROMPTS, REGEX, is_valid

END = 1

pytestmark = pytest.mark.llama
llama_cpp = pytest.importorskip("llama_cpp", reason="the extra `llama` is not installed")

from guided.integrations.llama_cpp import (  # noqa: E402 (where llama_cpp is not, nothing is tested)
    GuidedLogitsProcessor,
    read_vocabulary,
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_gguf(path, "qwen2", tiny_network("qwen2"))
    return path


@pytest.fixture(scope="module")
def llama(file: Path) -> Iterator[Any]:
    llama = llama_cpp.Llama(str(file), n_ctx=256, verbose=False, n_threads=1)
    yield llama
    llama.close()


@pytest.fixture(scope="module")
def vocabulary(llama: Any) -> guided.Vocabulary:
    return read_vocabulary(llama)


def complete(llama: Any, prompt: str, processor: Any, **options: Any) -> str:
    processors = llama_cpp.LogitsProcessorList([processor])
    options = {"max_tokens": 80, "temperature": 0.0, **options}
    found = llama.create_completion(prompt, logits_processor=processors, **options)
    return str(found["choices"][0]["text"])


@pytest.mark.parametrize("temperature", [0.0, 1.0], ids=["greedy", "sampling"])
def test_completion_after_completion_fits(
    llama: Any, vocabulary: guided.Vocabulary, temperature: float
) -> None:
    regex = GuidedLogitsProcessor(REGEX, vocabulary)
    schema = GuidedLogitsProcessor(OBJECT, vocabulary)
    for prompt in [*PROMPTS, PROMPTS[1], PROMPTS[1] + " and more"]:
        options = {"temperature": temperature, "seed": 3}
        assert is_valid(REGEX, complete(llama, prompt, regex, **options))
        assert is_valid(OBJECT, complete(llama, prompt, schema, **options))


def test_greedy_writes_what_guided_writes(
    llama: Any, vocabulary: guided.Vocabulary, file: Path
) -> None:
    model = load(file)
    for grammar in (REGEX, OBJECT):
        for prompt in PROMPTS:
            ours = guided.generate(model, prompt, grammar=grammar, max_tokens=80).text
            assert complete(llama, prompt, GuidedLogitsProcessor(grammar, vocabulary)) == ours


def test_a_completion_that_is_cut_can_still_be_finished(
    llama: Any, vocabulary: guided.Vocabulary
) -> None:
    whole = complete(llama, PROMPTS[0], GuidedLogitsProcessor(OBJECT, vocabulary))
    cut = complete(llama, PROMPTS[0], GuidedLogitsProcessor(OBJECT, vocabulary), max_tokens=7)
    assert whole.startswith(cut)
    assert 0 < len(cut) < len(whole)


def test_scores_come_back_as_a_copy(vocabulary: guided.Vocabulary) -> None:
    processor = GuidedLogitsProcessor(REGEX, vocabulary)
    fields = np.zeros(VOCABULARY, dtype=[("id", np.intc), ("logit", np.single), ("p", np.single)])
    scores = fields["logit"]  # not contiguous, as llama-cpp-python gives them
    masked = processor(np.array([5, 6], np.intc), scores)
    assert not scores.any()
    allowed = REGEX.compile(vocabulary).matcher().allowed_tokens()
    assert np.flatnonzero(np.isfinite(masked)).tolist() == allowed


def test_what_the_grammar_refuses_may_only_end(vocabulary: guided.Vocabulary) -> None:
    processor = GuidedLogitsProcessor(guided.Grammar.from_choices(["ab"]), vocabulary)
    scores = np.zeros(VOCABULARY, np.single)
    processor(np.array([5, 6], np.intc), scores)
    masked = processor(np.array([5, 6, 7], np.intc), scores)
    assert np.flatnonzero(np.isfinite(masked)).tolist() == [END]


def test_a_part_of_the_output_may_be_there_already(vocabulary: guided.Vocabulary) -> None:
    grammar = guided.Grammar.from_choices(["xyz"])
    x, y, z = tiny_tokenizer()("xyz")["input_ids"]
    scores = np.zeros(VOCABULARY, np.single)
    processor = GuidedLogitsProcessor(grammar, vocabulary, prompt_length=2)
    masked = processor(np.array([5, 6, x, y], np.intc), scores)
    assert np.flatnonzero(np.isfinite(masked)).tolist() == [z]


def test_a_prompt_that_holds_the_last_output_begins_anew(vocabulary: guided.Vocabulary) -> None:
    grammar = guided.Grammar.from_choices(["xyz"])
    x, y, _ = tiny_tokenizer()("xyz")["input_ids"]
    scores = np.zeros(VOCABULARY, np.single)
    processor = GuidedLogitsProcessor(grammar, vocabulary)
    for tokens, wanted in [([5], x), ([5, x], y), ([5, x, y, 7, 8], x), ([5, x, y, 7, 8, x], y)]:
        masked = processor(np.array(tokens, np.intc), scores)
        assert np.flatnonzero(np.isfinite(masked)).tolist() == [wanted]


def test_a_draft_model_is_refused() -> None:
    with pytest.raises(ValueError, match="a draft model and a grammar"):
        read_vocabulary(SimpleNamespace(draft_model=object()))


def test_a_grammar_needs_a_vocabulary() -> None:
    with pytest.raises(TypeError, match="a grammar needs a vocabulary"):
        GuidedLogitsProcessor(REGEX)
