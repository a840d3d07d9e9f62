"""Regular expressions, in the dialects of Python and ECMA-262, to nodes.

tables       pattern -> tree              by what lark makes of python.lark or ecma.lark
reader       tree -> syntax tree
writer       syntax tree -> nodes
lookaround   the same for what looks around
"""

from guided.text.regex.compile import compile_regex

__all__ = ["compile_regex"]
