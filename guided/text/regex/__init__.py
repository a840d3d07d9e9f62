"""Regular expressions, in the dialects of Python and ECMA-262, to nodes.

reader       pattern -> syntax tree       by lark, with python.lark or ecma.lark
writer       syntax tree -> nodes
lookaround   the same for what looks around
"""

from guided.text.regex.compile import compile_regex

__all__ = ["compile_regex"]
