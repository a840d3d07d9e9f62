"""The command line as a whole: its help, its version, how soon it is there."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import guided
from tests.cli.running import run

COMMANDS = ["check", "explain", "draw", "generate", "convert"]


def test_without_a_command_the_help_is_shown() -> None:
    ran = run()
    assert all(command in ran.out + ran.err for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_examples_in_its_help(command: str) -> None:
    for flag in ("--help", "-h"):
        ran = run(command, flag)
        assert ran.status == 0
        assert f"guided {command}" in ran.out.partition("Examples")[2]


def test_the_version_is_that_of_the_package() -> None:
    assert run("--version").out == f"guided {guided.__version__}\n"


def test_the_script_is_declared() -> None:
    project = Path(__file__).parents[2] / "pyproject.toml"
    scripts = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts == {"guided": "guided.cli.main:main"}


def test_the_help_needs_nothing_heavy() -> None:
    code = (
        "import sys; from guided.cli.main import app;"
        " app(['check', '--help'], standalone_mode=False);"
        " print(sorted({'torch', 'transformers', 'lark', 'numpy'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_a_check_needs_no_torch() -> None:
    code = (
        "import sys; from guided.cli.main import app;"
        " app(['check', '-', '--kind', 'gbnf', '--accept', 'a'], standalone_mode=False);"
        " print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input='root ::= "a"',
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "[]"


def test_it_runs_as_a_module_too() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "guided.cli", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == f"guided {guided.__version__}\n"
