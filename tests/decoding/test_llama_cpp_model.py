"""GGUF files: what is loaded, what their tokens spell, and what is said of a wrong file."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from guided.decoding import Model, load
from guided.decoding.models.llama_cpp import LlamaCppTokenizer, library
from guided.decoding.prompts import encode
from guided.errors import GuidedError
from guided.vocabulary import Vocabulary
from tests.decoding.tiny_gguf import tiny_network, write_gguf
from tests.decoding.tiny_model import VOCABULARY, tiny_tokenizer

MESSAGES = [{"role": "user", "content": "Is it true?"}]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("llama_cpp", reason="the extra `llama` is not installed")
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_gguf(path, "qwen2", tiny_network("qwen2"))
    return path


@pytest.fixture(scope="module")
def gguf_model(file: Path) -> Model:
    return load(file)


@pytest.mark.llama
def test_a_gguf_file_is_loaded_quietly(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for source in (file, str(file)):
        model = load(source)
        assert model.context == 256
        assert model.device == torch.device("cpu")
        assert repr(model).startswith("<guided.Model qwen2 ")
        assert repr(model).endswith(" in llama.cpp>")
    assert capfd.readouterr() == ("", "")


@pytest.mark.llama
def test_tokens_spell_what_they_do_in_transformers(gguf_model: Model) -> None:
    ours, theirs = (
        gguf_model.vocabulary,
        Vocabulary.from_tokenizer(tiny_tokenizer(), size=VOCABULARY),
    )
    assert ours.size == VOCABULARY
    assert [ours.token_bytes(token) for token in range(VOCABULARY)] == [
        theirs.token_bytes(token) for token in range(VOCABULARY)
    ]
    assert ours.special == theirs.special
    assert ours.eos == [1]


@pytest.mark.llama
@pytest.mark.parametrize(
    "text", ["true", 'abc "12": \u00e9\u4f60\n', "", "a" * 5000, "<|end|>", "\0"]
)
def test_text_is_spelled_by_its_tokens(gguf_model: Model, text: str) -> None:
    vocabulary = gguf_model.vocabulary
    assert vocabulary.encode is not None
    spelled = [vocabulary.token_bytes(token) for token in vocabulary.encode(text)]
    assert b"".join(data for data in spelled if data is not None) == text.encode()
    assert None not in spelled


@pytest.mark.llama
def test_special_tokens_are_read_in_a_prompt_and_not_in_output(gguf_model: Model) -> None:
    assert encode(gguf_model, "<|turn|>true") == encode(load_tiny(), "<|turn|>true")
    assert gguf_model.vocabulary.encode is not None
    assert 2 not in gguf_model.vocabulary.encode("<|turn|>true")


@pytest.mark.llama
def test_messages_are_written_by_the_template_of_the_file(gguf_model: Model) -> None:
    written = tiny_tokenizer().apply_chat_template(
        MESSAGES, add_generation_prompt=True, tokenize=False
    )
    assert isinstance(written, str)
    tokenizer = gguf_model.tokenizer
    assert tokenizer.apply_chat_template(MESSAGES, add_generation_prompt=True) == written
    assert encode(gguf_model, MESSAGES) == tokenizer(written)["input_ids"]
    assert encode(gguf_model, None) == [0]


@pytest.mark.llama
def test_a_template_that_refuses_messages_is_a_value_error(gguf_model: Model) -> None:
    tokenizer = LlamaCppTokenizer(network_of(gguf_model))
    tokenizer.chat_template = "{{ raise_exception('only one turn') }}"
    with pytest.raises(ValueError, match="the chat template refuses the messages: only one turn"):
        tokenizer.apply_chat_template(MESSAGES)
    tokenizer.chat_template = None
    with pytest.raises(ValueError, match="the GGUF file has no chat template"):
        tokenizer.apply_chat_template(MESSAGES)


def network_of(model: Model) -> Any:
    return model.network


def load_tiny() -> Model:
    from tests.decoding.tiny_model import tiny_network as llama

    return load(llama(), tiny_tokenizer())


@pytest.mark.llama
def test_a_path_that_is_not_there_is_named(file: Path) -> None:
    with pytest.raises(GuidedError) as caught:
        load("not/there.gguf")
    assert str(caught.value) == (
        "no model can be loaded from 'not/there.gguf': there is no such file\n"
        "  mend: check the path"
    )


@pytest.mark.llama
def test_a_file_of_another_kind_is_refused(file: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"PK\3\4 and more")
    with pytest.raises(GuidedError, match=r"a GGUF file begins with b'GGUF', this one with b'PK"):
        load(wrong)
    wrong.write_bytes(b"")
    with pytest.raises(GuidedError, match=r"this one with b''"):
        load(wrong)


@pytest.mark.llama
@pytest.mark.parametrize("share", [0.001, 0.3, 0.99])
def test_a_file_that_was_cut_short_is_refused(
    file: Path, tmp_path: Path, share: float, capfd: pytest.CaptureFixture[str]
) -> None:
    data = file.read_bytes()
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(data[: max(4, int(share * len(data)))])
    with pytest.raises(GuidedError, match=r"no model can be loaded from .*cut\.gguf': .+"):
        load(cut)
    assert capfd.readouterr() == ("", "")


@pytest.mark.llama
@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (b"qwen2", b"qwenX", "unknown model architecture: 'qwenX'"),
        (b"gpt2", b"gptX", "unknown tokenizer: 'gptX'"),
        (b"blk.1.attn_q.weight", b"blk.1.attn_z.weight", "'blk.1.attn_q.weight' not found"),
    ],
)
def test_what_llama_cpp_cannot_read_is_named(
    file: Path, tmp_path: Path, before: bytes, after: bytes, message: str
) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(file.read_bytes().replace(before, after))
    with pytest.raises(GuidedError) as caught:
        load(other)
    assert caught.value.fact.endswith(message)
    assert "error loading" not in caught.value.fact


@pytest.mark.llama
def test_a_gguf_file_brings_tokenizer_and_dtype(file: Path) -> None:
    with pytest.raises(TypeError, match="a GGUF file holds its own tokenizer: leave it out"):
        load(file, tiny_tokenizer())
    with pytest.raises(TypeError, match="a GGUF file holds its own dtype: leave it out"):
        load(file, dtype=torch.float16)


def test_a_missing_package_is_named_with_the_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> ModuleType:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(library, "import_module", missing)
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    with pytest.raises(GuidedError) as caught:
        load(path)
    assert str(caught.value) == (
        "a GGUF file is run by llama-cpp-python, and there is no module 'llama_cpp'\n"
        "  mend: pip install 'guided-decoding[llama]', which compiles it (some minutes)"
    )


def test_a_library_that_does_not_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> ModuleType:
        raise RuntimeError("Failed to load shared library 'libllama.so'")

    monkeypatch.setattr(library, "import_module", broken)
    with pytest.raises(GuidedError, match=r"does not load: Failed to load .*\n  mend: pip install"):
        library.import_llama()


def test_guided_is_imported_without_llama_cpp() -> None:
    # In a process of its own, as other tests of this run may have imported it.
    import subprocess
    import sys

    program = "import sys, guided; guided.load; print('llama_cpp' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"
    assert importlib.import_module("guided.decoding.models.llama_cpp")
