"""What goes into wheel and sdist, told from tracked files and pyproject.toml, without a build.

test_wheel.py builds them.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import guided
from tests.release import smoke

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BUILD = PROJECT["tool"]["scikit-build"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.split("\0") if name]


def excluded(name: str, patterns: list[str]) -> bool:
    """Whether a pattern names the file, or a folder that it is in."""
    parts = name.split("/")
    paths = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return any(fnmatch(path, pattern) for path in paths for pattern in patterns)


def in_sdist(tracked: list[str]) -> set[str]:
    return {name for name in tracked if not excluded(name, BUILD["sdist"]["exclude"])}


def in_wheel(tracked: list[str]) -> set[str]:
    packages = tuple(f"{package}/" for package in BUILD["wheel"]["packages"])
    inside = {name for name in tracked if name.startswith(packages)}
    return {name for name in inside if not excluded(name, BUILD["wheel"]["exclude"])}


@pytest.mark.parametrize(
    "name",
    [
        "CHANGELOG.md",
        "CMakeLists.txt",
        "CONTRIBUTING.md",
        "LICENSE",
        "Makefile",
        "README.md",
        "constraints.txt",
        "docs/index.md",
        "examples/demo.py",
        "grammars/sql.lark",
        "guided/core/bindings/module.cpp",
        "guided/core/layers/attention.h",
        "guided/core/machine.h",
        "guided/_core.pyi",
        "guided/py.typed",
        "mkdocs.yml",
        "pyproject.toml",
        "tests/conftest.py",
        "tests/fuzz/fuzz_core.cpp",
    ],
)
def test_the_sdist_has_what_building_and_testing_take(tracked: list[str], name: str) -> None:
    assert name in in_sdist(tracked)


def test_whatever_tests_import_is_in_the_sdist_too(tracked: list[str]) -> None:
    files = in_sdist(tracked)
    for name in files:
        if name.startswith("tests/") and name.endswith(".py"):
            source = (ROOT / name).read_text(encoding="utf-8")
            for module in re.findall(r"^ *from ((?:tests|examples)[\w.]*) import", source, re.M):
                path = module.replace(".", "/")
                assert {f"{path}.py", f"{path}/__init__.py"} & files, f"{name} imports {module}"


def test_the_wheel_has_all_of_the_package_but_the_sources_of_the_core(tracked: list[str]) -> None:
    left_out = {name for name in tracked if name.startswith("guided/")} - in_wheel(tracked)
    assert left_out
    assert {Path(name).suffix for name in left_out} == {".cpp", ".h"}
    assert {"guided/py.typed", "guided/_core.pyi", "guided/text/gbnf/gbnf.lark"} <= in_wheel(
        tracked
    )


def test_cmake_installs_the_core_and_the_shipped_grammars_into_the_package() -> None:
    script = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert "install(TARGETS _core LIBRARY DESTINATION guided)" in script
    assert "install(DIRECTORY grammars DESTINATION guided)" in script


def test_the_core_keeps_to_the_stable_abi() -> None:
    # Macros of CPython that read the inside of an object have names of this form.
    sources = sorted((ROOT / "guided" / "core" / "bindings").iterdir())
    assert len(sources) > 10
    for path in sources:
        macros = re.findall(r"\bPy[A-Za-z]+(?:_[A-Z]{2,})+\(", path.read_text("utf-8"))
        assert not macros, f"{path.name} uses {macros}"
    assert BUILD["wheel"]["py-api"] == "cp312"
    assert "nanobind_add_module(_core STABLE_ABI " in (ROOT / "CMakeLists.txt").read_text("utf-8")


def test_nothing_compiled_and_nothing_large_is_tracked(tracked: list[str]) -> None:
    suffixes = {".so", ".pyd", ".o", ".pyc", ".whl", ".gguf", ".safetensors", ".bin"}
    assert not [name for name in tracked if Path(name).suffix in suffixes]
    sizes = {name: (ROOT / name).stat().st_size for name in tracked if (ROOT / name).is_file()}
    assert max(sizes.values()) < 1 << 20


def test_there_are_wheels_from_the_oldest_version_on() -> None:
    built = PROJECT["tool"]["cibuildwheel"]["build"]
    assert PROJECT["project"]["requires-python"] == ">=3.11"
    assert built == [f"cp3{minor}-*" for minor in range(11, 11 + len(built))]


def test_the_version_is_that_of_the_package_and_can_be_told() -> None:
    assert BUILD["metadata"]["version"]["input"] == "guided/__init__.py"
    assert Version(guided.__version__).public == guided.__version__


def requirements() -> list[Requirement]:
    project = PROJECT["project"]
    named = [*project["dependencies"], *PROJECT["build-system"]["requires"]]
    for extra in project["optional-dependencies"].values():
        named += extra
    return [Requirement(each) for each in named]


def test_pinned_versions_are_allowed_by_the_ranges() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    for requirement in requirements():
        if requirement.name in pinned:
            assert requirement.specifier.contains(pinned[requirement.name]), requirement
    docs = [Requirement(each) for each in PROJECT["project"]["optional-dependencies"]["docs"]]
    assert {each.name for each in docs} <= set(pinned)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_read_only_and_publish_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.search(r"^permissions:\n  contents: read$", text, re.M)
    assert not re.search(r"secrets\.|: write|gh-action-pypi-publish|twine|id-token", text)


def test_what_the_wheels_are_tried_with_works_here(capsys: pytest.CaptureFixture[str]) -> None:
    smoke.main()
    assert capsys.readouterr().out.endswith("masks of regex, schema, gbnf, lark\n")
    command = PROJECT["tool"]["cibuildwheel"]["test-command"]
    assert (ROOT / command.split("{project}/")[1]).samefile(smoke.__file__)
