"""Lark grammars to nodes, with the meaning that Lark gives them.

reading      text -> rules and terminals      by lark itself, so that its language is lark's
extensions   what guided adds to the language, taken out before
attributes, unordered, verbatim, grammar_files, embedding     the several kinds of it
syntax_errors, complaints     what lark says is wrong -> a GrammarError with place and mend
sizes        what would take too long to write out, found before lark does so
parts        rules that are too large once written out are cut into several
terminals    a terminal -> the regular node of its texts
scanners     which terminal a lexer takes where several match
lalr         rules -> an LALR(1) parser with the states of lark's
tables       lexer="contextual" and "basic": such a parser, with a scanner for each state
captures     what named rules spelled in a text, found by such a parser
dynamic      lexer="dynamic" and "dynamic_complete": context-free rules
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guided.text.lark.captures import Captures
    from guided.text.lark.compiler import (
        CompiledGrammar,
        DialectName,
        LexerName,
        check_dialect,
        check_lexer,
        compile_lark,
    )

# Imported at first use: whoever takes one module of this package does not want all of them.
_HOME = {
    "Captures": "captures",
    "CompiledGrammar": "compiler",
    "DialectName": "compiler",
    "LexerName": "compiler",
    "check_dialect": "compiler",
    "check_lexer": "compiler",
    "compile_lark": "compiler",
}

__all__ = [
    "Captures",
    "CompiledGrammar",
    "DialectName",
    "LexerName",
    "check_dialect",
    "check_lexer",
    "compile_lark",
]


def __getattr__(name: str) -> object:
    if (home := _HOME.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return value
