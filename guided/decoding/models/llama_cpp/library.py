"""llama-cpp-python: found or missed, and quiet while it loads something."""

from __future__ import annotations

import ctypes
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from guided.errors import GuidedError

# llama.cpp's own levels of a message, as its log callback gets them.
ERROR, CONTINUED = 4, 5
STAGES = re.compile(r"^(\w+: )?(error loading model[a-z ]*: )*")


def import_llama() -> ModuleType:
    """Return the module `llama_cpp`, which then prints only its errors.

    Raises:
        GuidedError: it is not installed, or its library does not load.
    """
    logger = logging.getLogger("llama-cpp-python")
    if logger.level == logging.NOTSET:  # a level that the user has set stays
        logger.setLevel(logging.ERROR)
    try:
        llama = import_module("llama_cpp")
    except ModuleNotFoundError as error:
        raise GuidedError(
            f"a GGUF file is run by llama-cpp-python, and there is no module {error.name!r}",
            mend="pip install 'guided-decoding[llama]', which compiles it (some minutes)",
        ) from error
    except (OSError, RuntimeError) as error:  # its shared library
        raise GuidedError(
            f"llama-cpp-python is installed, but does not load: {error}",
            mend="pip install --force-reinstall --no-binary llama-cpp-python llama-cpp-python",
        ) from error
    llama.llama_backend_init()
    return llama


@contextmanager
def collect_errors(llama: ModuleType) -> Iterator[list[str]]:
    """Keep what llama.cpp logs from the terminal, and collect its errors, line by line."""
    errors: list[str] = []
    before = ERROR

    def note(level: int, text: bytes, data: object) -> None:
        nonlocal before
        level = before if level == CONTINUED else level
        before = level
        if level == ERROR and (line := text.decode(errors="replace").strip()):
            errors.append(line)

    callback = llama.llama_log_callback(note)
    llama.llama_log_set(callback, ctypes.c_void_p(0))
    try:
        yield errors
    finally:
        own = import_module("llama_cpp._logger").llama_log_callback
        llama.llama_log_set(own, ctypes.c_void_p(0))


def reason(errors: list[str]) -> str:
    """Return the first error, without the names of functions and stages before the fact."""
    return STAGES.sub("", errors[0]) if errors else "llama.cpp gives no reason"
