"""The docs as a site: every page has its place, every public name its reference."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import guided

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs/site/reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_page_is_in_the_navigation_once(hook: ModuleType) -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^ +- [^:\n]+: ([a-z-]+\.md)$", text.split("\nnav:\n")[1], re.M)
    pages = [path.name for path in (ROOT / "docs").glob("*.md")]
    assert Counter(listed) == Counter([*pages, hook.PAGE])


def test_the_reference_has_all_public_names(hook: ModuleType) -> None:
    source = Path(guided.__file__).read_text(encoding="utf-8")
    page = hook.write_page(hook.public_names(source))
    names = re.findall(r"^::: guided\.(\w+)$", page, re.M)
    assert Counter(names) == Counter(set(guided.__all__) - {"__version__"})


def test_a_name_stands_under_the_heading_of_its_home(hook: ModuleType) -> None:
    assert hook.heading_of("guided.decoding.drafts.forced") == "Drafts"
    assert hook.heading_of("guided.decoding.loading") == "Models"
    assert hook.heading_of("guided.elsewhere") == hook.REST


def test_a_page_that_starts_from_nothing_leads_to_every_other() -> None:
    start = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([a-z-]+\.md)", start))
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages <= linked


def test_what_the_guide_for_contributors_names_is_there() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", guide)
    named = re.findall(r"`((?:[\w.-]+/)+(?:[\w.-]+\.(?:py|h|cpp|sh))?)`", guide)
    assert len(links) > 3
    assert len(named) > 25
    for name in (*links, *named):
        assert any((ROOT / folder / name).exists() for folder in ("", "guided", "tests")), name
