"""Wheel and sdist, built and installed where neither the tree nor a compiler is in reach."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest

import guided
from tests.release import smoke
from tests.release.test_release import ROOT, in_sdist, in_wheel, tracked

pytestmark = pytest.mark.nightly

HOOK = "import sys, scikit_build_core.build as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"
VERSION = f"guided_decoding-{guided.__version__}"

__all__ = ["tracked"]  # a fixture


def build(what: str, tree: Path, to: Path) -> Path:
    """Call a hook of PEP 517 in `tree` and return the file that it made in `to`."""
    command = [sys.executable, "-c", HOOK, what, str(to)]
    run = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return to / run.stdout.split("\n")[-2]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("build_sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made from what is in the sdist in a folder with blanks in its name."""
    folder = tmp_path_factory.mktemp("made") / "a folder with blanks"
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return build("build_wheel", folder / VERSION, folder)


def test_the_sdist_is_the_checkout(sdist: Path, tracked: list[str]) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.removeprefix(f"{VERSION}/") for name in archive.getnames()}
    assert names == in_sdist(tracked) | {"PKG-INFO"}


def test_the_wheel_has_the_package_the_core_and_the_grammars(
    wheel: Path, tracked: list[str]
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    core = {name for name in names if name.startswith("guided/_core.") and name[-4:] != ".pyi"}
    grammars = {f"guided/{name}" for name in tracked if name.startswith("grammars/")}
    assert len(core) == 1
    assert names - core == in_wheel(tracked) | grammars


def test_the_wheel_is_for_all_versions_from_its_own_on(wheel: Path) -> None:
    own = f"cp3{sys.version_info.minor}"
    stable = sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED")
    tags = "cp312-abi3" if stable else f"{own}-{own}"
    assert wheel.name.startswith(f"{VERSION}-{tags}-")


def test_the_wheel_works_where_nothing_can_be_compiled(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "an environment"
    venv.create(home, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    # What the package depends on is taken from here; `guided` itself is found before it.
    (packages / "below.pth").write_text(str(Path(np.__file__).parents[1]), encoding="utf-8")
    command = [home / "bin" / "python", Path(smoke.__file__)]
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    run = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=alone | {"PATH": "/none"}
    )
    assert run.returncode == 0, run.stderr
    assert f"at {packages / 'guided'}" in run.stdout
