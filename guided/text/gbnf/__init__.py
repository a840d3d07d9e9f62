"""GBNF, the grammar notation of llama.cpp, to nodes.

reader       text -> rules, syntax trees       by lark, with gbnf.lark; collects errors
checks       what is wrong with the rules as a whole
writer       rules -> nodes
"""

from guided.text.gbnf.compile import Compiled, compile_gbnf, find_errors
from guided.text.gbnf.reader import read

__all__ = ["Compiled", "compile_gbnf", "find_errors", "read"]
