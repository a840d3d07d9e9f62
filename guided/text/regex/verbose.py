"""Verbose mode and comments of Python patterns: what is ignored is blotted out, in place.

A quantifier must not run across a blank (`a+ +` is no possessive `a++`), and places in errors must
stay true. So what is ignored becomes a lone surrogate, which no pattern holds, and the grammar
skips that between its tokens.
"""

from __future__ import annotations

import re

BLOT = "\udc00"
_TOKEN = re.compile(
    r"""
    \\.                                        # an escape
  | \[\^?\]?(?:\\.|[^\]\\])*\]                 # a class
  | (?P<comment>\(\?\#[^)]*\))
  | \(\?(?P<on>[A-Za-z]*)(?:-(?P<off>[A-Za-z]*))?(?P<end>[:)])
  | (?P<open>\()
  | (?P<close>\))
  | (?P<blank>[ \t\n\r\v\f]+|\#[^\n]*)
    """,
    re.VERBOSE | re.DOTALL,
)


def blot_ignored(pattern: str, verbose: bool) -> str:
    """Replace comments, and where verbose mode is on also blanks, by as many `BLOT`."""
    if not verbose and "(?#" not in pattern and not re.search(r"\(\?[A-Za-z]*x", pattern):
        return pattern
    parts = []
    modes = [verbose or _is_verbose_from_start(pattern)]
    at = 0
    for token in _TOKEN.finditer(pattern):
        if token["comment"] or (token["blank"] and modes[-1]):
            parts += [pattern[at : token.start()], BLOT * len(token[0])]
            at = token.end()
        elif token["end"] == ":":
            on = "x" in token["on"] or modes[-1]
            modes.append(on and "x" not in (token["off"] or ""))
        elif token["open"]:
            modes.append(modes[-1])
        elif token["close"] and len(modes) > 1:
            modes.pop()
    parts.append(pattern[at:])
    return "".join(parts)


def _is_verbose_from_start(pattern: str) -> bool:
    """Return True if the global flags, which stand at the start only, hold an `x`."""
    head = re.match(
        r"(?:\s|\#[^\n]*\n|\(\?\#[^)]*\)|\(\?[A-WYZa-wyz]+\))*\(\?[A-Za-z]*x[A-Za-z]*\)", pattern
    )
    return head is not None
