"""How to mend, in words of the command line where the library speaks of its own arguments."""

from __future__ import annotations

import re

_WORDS = {
    'compile with unsupported="ignore"': "add --lenient",
    "name the rule to start with by start=...": "name the rule to start with by --start",
    'did you mean start="': 'did you mean --start "',
    "give start=...": "give --start",
    "use Grammar.from_json_schema, or the option schema=": "name it .json, or say --kind schema",
    "use Grammar.from_json_schema": "name it .json, or say --kind schema",
    "use Grammar.from_lark": "name it .lark, or say --kind lark",
    "use Grammar.from_gbnf": "name it .gbnf, or say --kind gbnf",
    'lexer="dynamic"': "--lexer dynamic",
    'lexer="contextual" or "basic"': "--lexer contextual or basic",
    "give the folder of it as import_paths=[...]": "give the folder of it by --import-path",
    "give import_paths=[folder], or read the grammar by Grammar.from_file": "give the folder of it"
    " by --import-path",
    "which Grammar.from_file tells, or to a folder of import_paths=[...]": "or to a folder given by"
    " --import-path",
    "raise max_tokens, or read .text": "raise --max-tokens",
}


def reword(mend: str) -> str:
    """Return how to mend, said for the command line."""
    for written, meant in _WORDS.items():
        mend = mend.replace(written, meant)
    return re.sub(r'give texts=\{"(.+)": \.\.\.\}', r"give --text \1=FILE", mend)
