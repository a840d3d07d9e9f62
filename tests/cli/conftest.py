"""Each test of the command line runs in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str | bytes], str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(folder: Path) -> Write:
    def write_file(name: str, text: str | bytes) -> str:
        data = text.encode() if isinstance(text, str) else text
        (folder / name).write_bytes(data)
        return name

    return write_file
