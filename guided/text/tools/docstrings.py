"""What a docstring says of a function and of its arguments, in the style of Google or Sphinx."""

from __future__ import annotations

import re

_SECTION = re.compile(
    r"(Args|Arguments|Parameters|Params|Returns?|Raises|Yields?|Examples?|Notes?|Cost|Source):\s*"
)
_ARGUMENTS = ("Args", "Arguments", "Parameters", "Params")
# `name: text` and `name (int, optional): text`.
_GOOGLE = re.compile(r"\*{0,2}(?P<name>\w+)\s*(?:\([^)]*\))?\s*:\s*(?P<text>.*)")
# `:param name: text` and `:param int name: text`.
_SPHINX = re.compile(
    r":(?:param|parameter|arg|argument|key)\s+(?:[^:]*\s)?\*{0,2}(?P<name>\w+)\s*:\s*(?P<text>.*)"
)
_SPHINX_OTHER = re.compile(r":\w+[^:]*:")


def read_docstring(docstring: str) -> tuple[str, dict[str, str]]:
    """Return what a docstring says first, and what it says of each argument.

    Args:
        docstring: as `inspect.getdoc` gives it, without the indentation of the code.

    Returns:
        the text before the first section, and by its name each argument's text, in one line.
    """
    summary: list[str] = []
    arguments: dict[str, list[str]] = {}
    section, last, level = "", "", 0
    for line in docstring.splitlines():
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if found := _SECTION.fullmatch(text):
            section, last, level = found[1], "", 0
        elif found := _SPHINX.fullmatch(text):
            section, last = "sphinx", found["name"]
            arguments[last] = [found["text"]]
        elif _SPHINX_OTHER.match(text):
            section, last = "sphinx", ""
        elif not section:
            summary.append(text)
        elif section in _ARGUMENTS and text:
            level = level or indent
            found = _GOOGLE.fullmatch(text)
            if found and indent <= level:
                last = found["name"]
                arguments[last] = [found["text"]]
            elif last:
                arguments[last].append(text)
        elif section == "sphinx" and last and text:
            arguments[last].append(text)
    described = {name: " ".join(filter(None, lines)) for name, lines in arguments.items()}
    return "\n".join(summary).strip(), {name: text for name, text in described.items() if text}
