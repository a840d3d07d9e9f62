"""The text of a grammar to rules and terminals, by lark's own loader.

Templates, imports, `%override`, `%extend`, repetitions, aliases, priorities and flags so are lark's
by construction. What is added: errors with a place, and bounds on what lark would write out.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guided.errors import GrammarError, GuidedError, LimitError
from guided.text.lark.complaints import COMPARE, did_you_mean, explain
from guided.text.lark.extensions import Extensions, read_extensions
from guided.text.lark.files import Files
from guided.text.lark.parts import cut_large_rules
from guided.text.lark.sizes import (
    MAX_PATTERN,
    alternatives,
    check_references,
    check_templates,
    check_terminals,
)
from guided.text.lark.source import Source
from guided.text.lark.syntax_errors import explain_syntax
from guided.text.lark.unordered import write_out
from guided.text.regex.parsing import no_search_for_collisions

if TYPE_CHECKING:
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

MAX_ALTERNATIVES = 50_000
_MAX_DEPTH = 100
NEWLINE, INDENT, DEDENT = "_NEWLINE", "_INDENT", "_DEDENT"


@dataclass(frozen=True, slots=True)
class Reading:
    """A grammar as lark reads it.

    Attributes:
        source: its text.
        start: the rule that texts are made of.
        terminals, rules, ignored: what lark makes of it, for this start.
        declared: terminals that have a name only, by `%declare`, and are used.
        extensions: what is guided's own.
        cut: some rules were cut into parts, so conflicts of a LALR table are not lark's.
        files: the files that it imports.
    """

    source: Source
    start: str
    terminals: list[TerminalDef]
    rules: list[Rule]
    ignored: list[str]
    declared: frozenset[str]
    cut: bool
    files: Files
    extensions: Extensions


def read_grammar(
    text: str,
    *,
    start: str,
    import_paths: Sequence[str | Path] = (),
    path: str | Path | None = None,
    extended: bool = True,
) -> Reading:
    """Read a grammar.

    Args:
        text: the grammar.
        start: the rule that texts are made of.
        import_paths: folders in which `%import` looks for grammars.
        path: the file that the text comes from, for relative imports and for messages.
        extended: whether it may have what guided adds to the language.

    Raises:
        GrammarError: the grammar is at fault; with place and mend.
        LimitError: it is nested too deeply, or too large once written out.
    """
    source = Source.of(text, path)
    _check_language(source)
    check_references(source)
    extensions = read_extensions(source, allowed=extended)
    files = Files(source, import_paths)
    known: list[str] = []
    try:
        with no_search_for_collisions(), warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of `re`, on sets within sets
            return _read(source, start, files, extensions, known)
    except GuidedError:
        raise
    except RecursionError:
        raise LimitError(
            "the grammar is nested too deeply", limit="levels of brackets", value=_MAX_DEPTH
        ) from None
    except Exception as error:  # lark asserts, and evaluates literals: any error is about the text
        raise _explain(source, extensions.text, files, error, known) from None


def _read(
    source: Source, start: str, files: Files, extensions: Extensions, known: list[str]
) -> Reading:
    from lark.load_grammar import GrammarBuilder

    builder = GrammarBuilder(False, [files.load])
    name = source.path or "grammar"
    builder.load_grammar(extensions.text, name)
    definitions = builder._definitions
    known += definitions
    grammar = builder.build()
    _check_start(source, start, definitions)
    check_terminals({name: tree for name, (tree, _) in grammar.term_defs})
    check_templates(grammar.rule_defs)
    cut = cut_large_rules(grammar.rule_defs)
    templates = {name for name, params, _, _ in grammar.rule_defs if params}
    for rule, _, tree, _ in grammar.rule_defs:
        _check_rule(source, rule, tree, templates)
    declared = {name for name, (tree, _) in grammar.term_defs if tree is None}
    kept = {NEWLINE} if {INDENT, DEDENT} <= declared else set()
    terminals, rules, ignored = grammar.compile([start], kept)
    used = {symbol.name for rule in rules for symbol in rule.expansion if symbol.is_term}
    return Reading(
        source,
        start,
        terminals,
        write_out(rules),
        list(dict.fromkeys(ignored)),
        frozenset(declared & used) - extensions.embedded.keys(),
        cut,
        files,
        extensions,
    )


def _check_language(source: Source) -> None:
    """Refuse what is no grammar of Lark at the first look."""
    text = source.text
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise source.error(
            "the grammar has a surrogate, which is no character",
            error.start,
            mend="remove it, or write the character itself",
        ) from None
    if not text.strip():
        raise source.error("the grammar is empty", mend="define a rule, `start: ...`")
    if text.lstrip()[0] in "{[":
        try:
            value = json.loads(text)
        except ValueError:
            return
        what = "a JSON Schema" if isinstance(value, dict) else "JSON"
        raise source.error(
            f"this looks like {what}, not like a Lark grammar",
            len(text) - len(text.lstrip()),
            mend="use Grammar.from_json_schema",
        )


def _check_start(source: Source, start: str, definitions: dict[str, Any]) -> None:
    found = definitions.get(start)
    if found is not None and not found.is_term and not found.params:
        return
    rules = [name for name, each in definitions.items() if not each.is_term and not each.params]
    shown = ", ".join(f'"{name}"' for name in rules if not name.startswith("__"))
    if not rules:
        raise source.error("the grammar has no rules", mend="define one, `start: ...`")
    fact = f'there is no rule "{start}" to start with'
    if found is not None:
        fact = (
            f'"{start}" is a {"terminal" if found.is_term else "template"}, no rule to start with'
        )
    close = did_you_mean(start, rules, "")
    mend = f"{close} " if close else ""
    raise source.error(fact, mend=f"{mend}give start=...; the rules are {shown}")


def _check_rule(source: Source, name: str, tree: Any, templates: set[str]) -> None:
    if tree is None:
        raise source.unsupported(
            f'rule "{name}" is declared and not defined: what it matches is not known',
            "%declare",
            at=name,
            mend=f"define it, `{name}: ...`",
        )
    if alternatives(tree) > MAX_ALTERNATIVES:
        raise LimitError(
            f'rule "{name}" is too large once its optional and repeated parts are written out',
            limit="alternatives",
            value=MAX_ALTERNATIVES,
        )
    for value in tree.find_data("value"):
        used = getattr(value.children[0], "name", None)
        if used in templates:
            raise source.error_at(
                f'template "{used}" is used without arguments',
                str(used),
                mend=f"write it as {used}{{...}}",
            )


def _explain(
    source: Source, text: str, files: Files, error: Exception, known: Sequence[str]
) -> GrammarError | LimitError:
    """Make an error of ours of one of lark's; syntax is looked for in imported files as well."""
    from lark.exceptions import UnexpectedInput, VisitError
    from lark.load_grammar import _get_parser

    parser = _get_parser()  # type: ignore[no-untyped-call]
    for each, read in ((source, text), *((file, file.text) for file in files.read)):
        try:
            parser.parse(read + "\n", "start")
        except UnexpectedInput as failure:
            return explain_syntax(each, failure)
    while isinstance(error, VisitError):
        error = error.orig_exc
    message = str(error.args[0]) if error.args else ""
    if (pattern := _explain_pattern(source)) is not None:
        return pattern
    if isinstance(error, (AssertionError, SyntaxError, ValueError)) or len(error.args) > 1:
        return _explain_undefined_part(source) or _explain_literal(source, message)
    if isinstance(error, (MemoryError, OverflowError)):
        return LimitError("the grammar is too large", limit="characters", value=MAX_PATTERN)
    return explain(source, message, known)


def _explain_pattern(source: Source) -> GrammarError | None:
    """Make the error for a pattern that `re` cannot read, if there is one."""
    for name in source.names():
        if name.text.startswith("/"):
            inner, _, flags = name.text[1:].rpartition("/")
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FutureWarning)
                    re.compile(f"(?{flags}:{inner})" if flags else inner)
            except (re.error, RecursionError, OverflowError) as error:
                return source.error(
                    f"the pattern {name.text} is invalid: {getattr(error, 'msg', error)}",
                    name.index,
                    length=len(name.text),
                    mend="mend it as a pattern of Python's re",
                )
    return None


def _explain_undefined_part(source: Source) -> GrammarError | None:
    """Make the error for a terminal with a part that has no pattern: one declared, or a token."""
    names = source.names()
    declared = {name.text for name in names if name.declares}
    places = [(index, "a token, schema, file or text") for index in source.embedded.values()]
    places += [
        (each.index, f'"{each.text}", which is declared and not defined,')
        for each in names
        if each.text in declared and not each.declares
    ]
    for index, what in places:
        defined = [name for name in names if name.defines and name.index < index]
        if defined and defined[-1].text.isupper():
            return source.error(
                f'terminal "{defined[-1].text}" has a part without a pattern: {what} stands in it',
                index,
                mend=f'write "{defined[-1].text}" in lower case, as a rule',
            )
    return None


def _explain_literal(source: Source, message: str) -> GrammarError:
    """Make the error for a literal: a range of texts, or an escape that is none."""
    for name in source.names():
        after = name.index + len(name.text)
        if name.text.startswith('"') and source.text[after : after + 2] == "..":
            end = next((each for each in source.names() if each.index >= after), name)
            if (len(name.text) > 3 and name.text[1] != "\\") or len(end.text) > 3:
                return source.error(
                    "a range goes from one character to another",
                    name.index,
                    length=end.index + len(end.text) - name.index,
                    mend='write one character on either side, as in "a".."z"',
                )
        if message and message in name.text and name.text[0] in '"/':
            return source.error(
                "a literal has an escape that is none",
                name.index,
                length=len(name.text),
                mend="write \\\\ for a backslash; the escapes are those of Python",
            )
    fact = f"lark cannot read the grammar{': ' if message else ''}{message}"
    return source.error(fact, mend=COMPARE)
