"""What a measurement must be read with: commit, hardware, versions."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import guided

ROOT = Path(__file__).parents[2]


def about(benchmark: str, packages: Iterable[str]) -> dict[str, object]:
    """Return what the results of a benchmark begin with."""
    return {
        "benchmark": benchmark,
        "commit": commit(),
        "hardware": hardware(),
        "versions": versions(packages),
    }


def commit() -> str:
    """Return the commit of this tree, with `-dirty` where it was changed since."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def hardware() -> dict[str, object]:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": next(models, platform.machine()),
        "processors": os.cpu_count(),
        "memory_gb": round(pages * size / 2**30),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python, of guided, and of those packages that are installed."""
    found = {"python": platform.python_version(), "guided": guided.__version__}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
