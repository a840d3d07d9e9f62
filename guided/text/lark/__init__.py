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

from guided.text.lark.captures import Captures
from guided.text.lark.compiler import (
    CompiledGrammar,
    DialectName,
    LexerName,
    check_dialect,
    check_lexer,
    compile_lark,
)

__all__ = [
    "Captures",
    "CompiledGrammar",
    "DialectName",
    "LexerName",
    "check_dialect",
    "check_lexer",
    "compile_lark",
]
