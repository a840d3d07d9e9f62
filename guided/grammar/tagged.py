"""Grammars of texts with parts in them: tags, and calls of tools."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from guided import _core
from guided.grammar.composed import ComposedGrammars
from guided.grammar.kept import Kept
from guided.text.json_schema import Whitespace
from guided.text.tags import Tag, TaggedText, transplant, write_tags
from guided.text.tools import (
    DEFAULT,
    Reasoning,
    Tool,
    Turn,
    compile_tools,
    find_format,
    read_tools,
)

if TYPE_CHECKING:
    from guided.grammar.grammar import Grammar

KEPT = 64
_grammars: Kept[Hashable, Grammar] = Kept(KEPT)


class TaggedGrammars:
    """The ways to make a `Grammar` that are about tags."""

    __slots__ = ()

    @classmethod
    def from_tags(
        cls,
        tags: Sequence[Tag],
        *,
        triggers: Sequence[str] | None = None,
        at_least_one: bool = False,
        stop_after_first: bool = False,
        free_text: bool = True,
    ) -> Grammar:
        """Make a grammar of free text with tags in it, each of which fits a grammar of its own.

        Where a trigger has been written, a tag must follow that begins with it. A marker, or a
        part of one, that the vocabulary has as a special token is written by that token alone.

        Args:
            tags: the tags.
            triggers: the texts that open a tag; those that the tags begin with, if not given. The
                tags that begin with a shorter trigger are told apart by what comes after it.
            at_least_one: a text without a tag does not fit.
            stop_after_first: the text ends with the first tag.
            free_text: whether there may be text outside of tags.

        Raises:
            TypeError, GrammarError: tags or triggers are at fault.
            SourceError, UnsupportedError, LimitError: the schema, the pattern or the grammar of a
                tag is, or cannot be enforced exactly within a text.
        """
        from guided.grammar.grammar import Grammar

        text = TaggedText(_core.Arena())

        def body(tag: Tag) -> int | None:
            grammar = grammar_of(tag)
            if grammar is None:
                return None
            nodes = grammar._nodes
            node, late = transplant(nodes.arena, nodes.start, text.arena, nodes.late)
            text.late |= late
            return node

        start = write_tags(
            text,
            tags,
            body,
            triggers=triggers,
            at_least_one=at_least_one,
            stop_after_first=stop_after_first,
            free_text=free_text,
        )
        return Grammar(text.arena, start, kind="tags", tokens=text.late)

    @classmethod
    def from_tools(
        cls,
        tools: Sequence[Any],
        *,
        format: str = DEFAULT,
        tool_choice: str = "auto",
        parallel: bool = True,
        answer: Grammar | None = None,
        reasoning: Reasoning = "none",
        whitespace: Whitespace = "flexible",
    ) -> Grammar:
        """Make a grammar of what a model writes that may call tools.

        Args:
            tools: functions, pydantic models, dictionaries as the OpenAI API has them.
            format: how calls are written; `guided.tool_formats()` lists the names.
            tool_choice: "auto" leaves to the model whether it calls; "required" asks for calls and
                nothing else; "none" forbids them; the name of a tool asks for one call of it.
            parallel: there may be several calls.
            answer: what an output without calls must fit; free text if not given.
            reasoning: "optional" lets the model think first, between `<think>` and `</think>`,
                where nothing is a call; "open" is for a prompt that has begun to do so.
            whitespace: the blanks within JSON, as for `from_json_schema`.

        Raises:
            TypeError: something is no tool.
            SchemaError, UnsupportedError, LimitError: a tool is at fault, which is named.
            GuidedError: there is no such format.
            ValueError: there is no such tool as `tool_choice` names.

        Cost: some 0.5 ms for each tool, microseconds for tools that were read before.
        """
        from guided.grammar.grammar import Grammar

        read, turn = choose_tools(read_tools(tools), tool_choice, parallel, reasoning, whitespace)
        form = find_format(format)

        def make() -> Grammar:
            nodes = None if answer is None else answer._nodes
            given = None if nodes is None else (nodes.arena, nodes.start, nodes.late)
            compiled = compile_tools(read, form, turn, given)
            return Grammar(compiled.arena, compiled.start, kind="tools", tokens=compiled.late)

        parts: list[Hashable] = []

        def written(value: object) -> int:
            if not isinstance(value, ComposedGrammars):
                raise TypeError
            parts.append(value._part)
            return len(parts)

        content = [(tool.name, tool.description, dict(tool.parameters)) for tool in read]
        try:
            declared = json.dumps(content, default=written)
        except (TypeError, ValueError):  # numbers that are not JSON's
            return make()
        return _grammars.get((declared, tuple(parts), form.name, turn, answer), make)


def grammar_of(tag: Tag) -> Grammar | None:
    """Return the grammar of what stands in a tag; None if that is any text."""
    from guided.grammar.grammar import Grammar

    given: Any = tag.grammar
    if tag.schema is not None:
        return Grammar.from_json_schema(tag.schema)
    if tag.regex is not None:
        return Grammar.from_regex(tag.regex)
    if given is not None and not isinstance(given, Grammar):
        raise TypeError(f"the grammar of a tag is a guided.Grammar, found {type(given).__name__}")
    return given


def choose_tools(
    tools: list[Tool], choice: str, parallel: bool, reasoning: Reasoning, whitespace: Whitespace
) -> tuple[list[Tool], Turn]:
    """Return the tools that may be called, and what else may come.

    Raises:
        ValueError: there is no tool of that name, or none at all; or no such reasoning.
    """
    if reasoning not in ("none", "optional", "open"):
        raise ValueError(f'reasoning must be "none", "optional" or "open", not {reasoning!r}')
    if not tools:
        raise ValueError("there are no tools; give at least one, or leave tools out")
    named = [tool for tool in tools if tool.name == choice]
    if choice not in ("auto", "required", "none") and not named:
        known = ", ".join(tool.name for tool in tools)
        raise ValueError(
            f'tool_choice must be "auto", "required", "none" or the name of a tool, not {choice!r};'
            f" the tools are {known}"
        )
    # A tool may be called "auto": then the word means what it always does.
    is_named = choice not in ("auto", "required", "none")
    turn = Turn(
        may_call=choice != "none",
        must_call=is_named or choice == "required",
        is_parallel=parallel and not is_named,
        reasoning=reasoning,
        whitespace=whitespace,
    )
    return (named if is_named else tools), turn
