"""The layers of the package, as its docstring lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from guided.text import json_schema
from tests.test_house import imports

PACKAGE = Path(str(json_schema.__file__)).parent
ROOT = "guided.text.json_schema."
LAYERS = [
    re.findall(r"`(\w+)`", line.split(":")[0])
    for line in str(json_schema.__doc__).splitlines()
    if line.startswith("- ")
]
LEVELS = {name: level for level, names in enumerate(LAYERS) for name in names}


def sources(name: str) -> Iterator[Path]:
    """The files of a module or package."""
    module = PACKAGE / f"{name}.py"
    yield from [module] if module.exists() else (PACKAGE / name).rglob("*.py")


def test_each_module_and_package_has_a_layer() -> None:
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert there - {"__init__", "__pycache__"} == set(LEVELS)


@pytest.mark.parametrize("name", LEVELS)
def test_a_layer_imports_from_those_above_it_only(name: str) -> None:
    for path in sources(name):
        for module, is_for_types in imports(path):
            if module.startswith(ROOT) and not is_for_types:
                other = module.removeprefix(ROOT).split(".")[0]
                assert other == name or LEVELS[other] < LEVELS[name], f"{path} imports {module}"
