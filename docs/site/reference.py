"""Makes the page `reference.md` of the public names, for mkdocs: a hook named in `mkdocs.yml`.

What is public is read from `guided.__all__` without importing the package, as the docs are built
without torch; mkdocstrings then takes the docstrings from the sources.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[2] / "guided"
PAGE = "reference.md"
REST = "Further names"

# The home of a name, as `guided/__init__.py` has it, leads to its heading; the longest that fits.
HEADINGS = {
    "guided.results": "Generating",
    "guided.decoding": "Models",
    "guided.decoding.drafts": "Drafts",
    "guided.decoding.models.first_layers": "Drafts",
    "guided.grammar": "The engine",
    "guided.text.tools": "Tools",
    "guided.text.tags": "Tools",
    "guided.vocabulary": "The engine",
    "guided._core": "The engine",
    "guided.masks": "The engine",
    "guided.sampling": "Sampling",
    "guided.errors": "Errors",
}
# What it does for every token comes from the core's own class.
INHERITING = {"Matcher"}
ORDER = ["Generating", "Tools", "Models", "Sampling", "The engine", "Drafts", REST, "Errors"]


def public_names(source: str) -> dict[str, str]:
    """Return the names of `__all__` in the source of the package root, each with its home."""
    tree = ast.parse(source)
    homes = {
        alias.name: node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    values = {
        ast.unparse(node.targets[0]): node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
    }
    homes |= ast.literal_eval(values["_HOME"])
    names: list[str] = ast.literal_eval(values["__all__"])
    return {name: homes[name] for name in names if name != "__version__"}


def heading_of(home: str) -> str:
    """Return the heading that the names of a module stand under."""
    parts = home.split(".")
    known = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((HEADINGS[name] for name in known if name in HEADINGS), REST)


def write_page(names: dict[str, str]) -> str:
    """Return the page: a heading a subject, the names below it in the order of the alphabet."""
    lines = ["# Reference", "", "All public names, `from guided import ...`.", ""]
    for heading in ORDER:
        below = sorted(name for name, home in names.items() if heading_of(home) == heading)
        if below:
            lines += [f"## {heading}", ""]
            for name in below:
                options = ["    options:", "      inherited_members: true"]
                lines += [f"::: guided.{name}", *(options if name in INHERITING else []), ""]
    return "\n".join(lines)


def on_files(files: Any, config: Any) -> Any:
    """Add the page to those of the site; mkdocs calls this."""
    from mkdocs.structure.files import File

    source = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    files.append(File.generated(config, PAGE, content=write_page(public_names(source))))
    return files
