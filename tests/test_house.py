"""How the house is built: floors, public names, what an import costs, the size of files."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import guided

PACKAGE = Path(guided.__file__).parent
SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE / "core")

# The ground floor first: a package imports from those before it and never from those after.
FLOORS = [
    "errors",
    "_core",
    "text",
    "vocabulary",
    "grammar",
    "masks",
    "sampling",
    "decoding",
    "results",
    "integrations",
    "cli",
]
MAY_IMPORT_TORCH = {"masks", "sampling", "decoding", "results", "integrations", "cli"}
HEAVY = {"torch", "transformers", "tokenizers", "safetensors", "triton"}
MAX_LINES = 450


def floor_of(path: Path) -> str:
    """The floor that a file stands on; the root for the package's own __init__."""
    first = path.relative_to(PACKAGE).parts[0]
    return "root" if first == "__init__.py" else first.removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Each module that a file imports, and whether that is for the type checker only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in for_types
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            module = node.module or ""
            for alias in node.names:
                yield f"{module}.{alias.name}", id(node) in for_types


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_package_imports_from_lower_floors_only(path: Path) -> None:
    floor = floor_of(path)
    if floor == "root":
        return
    allowed = {*FLOORS[: FLOORS.index(floor) + 1], "__version__"}
    for module, _ in imports(path):
        if module == "guided" or module.startswith("guided."):
            assert module.split(".")[1] in allowed, f"{floor} imports {module}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_heavy_packages_stay_on_the_upper_floors(path: Path) -> None:
    if floor_of(path) in MAY_IMPORT_TORCH:
        return
    heavy = {
        module for module, typed in imports(path) if module.split(".")[0] in HEAVY and not typed
    }
    assert not heavy


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_has_one_subject(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def test_there_is_no_drawer_for_odds_and_ends() -> None:
    drawers = {"utils", "util", "helpers", "common", "misc"}
    assert not [path for path in PACKAGE.rglob("*") if path.stem in drawers]


def test_public_names_are_sorted_and_there() -> None:
    assert guided.__all__ == sorted(guided.__all__)
    for name in guided.__all__:
        assert getattr(guided, name) is not None


def test_public_names_are_all_that_the_root_imports() -> None:
    tree = ast.parse(Path(guided.__file__).read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("guided")
        for alias in node.names
    }
    assert imported == set(guided.__all__) - {"__version__"}


def test_each_error_is_public() -> None:
    from guided import errors

    defined = {
        name for name, value in vars(errors).items() if isinstance(value, type) and "_" not in name
    }
    assert {name for name in defined if issubclass(vars(errors)[name], Exception)} <= set(
        guided.__all__
    )


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'guided' has no attribute 'generat'"):
        guided.generat  # noqa: B018


def fresh(code: str) -> str:
    """Run code in a new interpreter and return what it prints."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_importing_guided_is_quick_and_imports_nothing_heavy() -> None:
    code = (
        "import sys, time; start = time.perf_counter(); import guided;"
        " print(time.perf_counter() - start, *sorted({name.split('.')[0] for name in sys.modules}))"
    )
    seconds, *modules = fresh(code).split()
    assert not HEAVY & set(modules)
    assert float(seconds) < 0.3


def test_the_engine_below_the_loop_needs_no_torch() -> None:
    code = (
        "import sys, guided;"
        "v = guided.Vocabulary.from_tokens([b'a', None], eos=[1]);"
        "m = guided.Grammar.from_regex('a+').compile(v).matcher(); m.accept(0);"
        "print(m.is_complete, sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert fresh(code) == "True []"
