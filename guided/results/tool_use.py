"""The tools of a call: the prompt that tells of them, the grammar, and the reading of calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guided.decoding import Model, Prompt
from guided.decoding.prompts import check_messages, encode, is_batch
from guided.errors import LimitError
from guided.grammar import Grammar
from guided.text.tools import DEFAULT, Reasoning, Tool, find_format, read_tools
from guided.text.tools.reading import CallParser
from guided.text.tools.recognition import recognise_format, template_text
from guided.text.tools.rendering import render_calls

# For templates that know no tools: what the system message says of them.
INSTRUCTIONS = (
    "You can call functions. Each line between <tools> and </tools> describes one of them.\n"
    "<tools>\n{tools}\n</tools>\n"
    "To call a function, write its name and its arguments in exactly this way:\n"
    "{example}"
)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The tools of a call, and how they may be called.

    Attributes:
        tools: the tools.
        format: the name of the wire format.
        choice, is_parallel, reasoning: as for `Grammar.from_tools`.
    """

    tools: tuple[Tool, ...]
    format: str
    choice: str
    is_parallel: bool
    reasoning: Reasoning

    def grammar(self, answer: Grammar | None) -> Grammar:
        """Return the grammar of a turn; `answer`: what an output without calls must fit."""
        return Grammar.from_tools(
            self.tools,
            format=self.format,
            tool_choice=self.choice,
            parallel=self.is_parallel,
            answer=answer,
            reasoning=self.reasoning,
        )

    def parser(self) -> CallParser:
        """Return a new parser of a turn."""
        return CallParser(self.format, tools=self.tools, reasoning=self.reasoning)


def choose_tools(
    model: Model,
    tools: Sequence[Any] | None,
    tool_choice: str | None,
    tool_format: str | None,
    parallel_calls: bool | None,
) -> ToolUse | None:
    """Return the tools of a call, None if there are none.

    Raises:
        TypeError: something is no tool, or an option of tools is given without any.
        SourceError: a tool is at fault.
        GuidedError: there is no such format.
    """
    if tools is None:
        options = {
            "tool_choice": tool_choice,
            "tool_format": tool_format,
            "parallel_calls": parallel_calls,
        }
        for name, value in options.items():
            if value is not None:
                raise TypeError(f"{name} goes with tools; give tools, or leave it out")
        return None
    name = recognise_format(model.tokenizer) if tool_format is None else tool_format
    return ToolUse(
        tools=tuple(read_tools(tools)),
        format=find_format(name).name,
        choice="auto" if tool_choice is None else tool_choice,
        is_parallel=True if parallel_calls is None else parallel_calls,
        reasoning=reasoning_of(model, name),
    )


def reasoning_of(model: Model, format_name: str = DEFAULT) -> Reasoning:
    """Tell from the chat template whether the model thinks first, or the prompt begins that."""
    begin, _ = find_format(format_name).reasoning
    template = template_text(model.tokenizer)
    if begin not in template:
        return "none"
    text = model.tokenizer.apply_chat_template(
        [{"role": "user", "content": ""}], add_generation_prompt=True, tokenize=False
    )
    return "open" if str(text).rstrip().endswith(begin) else "optional"


def encode_with_tools(model: Model, prompt: Prompt, use: ToolUse | None) -> list[int]:
    """Turn a prompt into tokens, messages with what they must say of the tools.

    The chat template is given the tools where it takes them, else a system message tells of them.
    A prompt that is text stays as it is.

    Raises:
        TypeError, ValueError, LimitError: as for `decoding.prompts.encode`.
    """
    if use is None or prompt is None or isinstance(prompt, str) or is_batch(prompt):
        return encode(model, prompt)
    check_messages(prompt)
    if not model.tokenizer.chat_template:
        return encode(model, prompt)
    messages: list[dict[str, Any]] = [dict(message) for message in prompt]
    options: dict[str, Any] = {}
    if "tools" in template_text(model.tokenizer):
        options["tools"] = [tool.declaration for tool in use.tools]
    else:
        messages = with_instructions(messages, use)
    text = model.tokenizer.apply_chat_template(
        messages, add_generation_prompt=True, tokenize=False, **options
    )
    # The template has written every special token itself.
    found: Any = model.tokenizer(str(text), add_special_tokens=False, verbose=False)["input_ids"]
    tokens = [int(token) for token in found]
    if model.context is not None and len(tokens) >= model.context:
        raise LimitError(
            f"the prompt has {len(tokens)} tokens and leaves no room for output",
            limit="tokens of context",
            value=model.context,
        )
    return tokens


def with_instructions(messages: Sequence[Mapping[str, Any]], use: ToolUse) -> list[dict[str, Any]]:
    """Return messages whose first one, of the system, tells of the tools."""
    form = find_format(use.format)
    lines = [json.dumps(tool.declaration["function"], ensure_ascii=False) for tool in use.tools]
    example = render_calls([("name_of_function", {"name_of_argument": "value"}, None)], form)
    text = INSTRUCTIONS.format(tools="\n".join(lines), example=example)
    first, *rest = map(dict, messages)
    if first["role"] == "system":
        return [{**first, "content": f"{first.get('content') or ''}\n\n{text}".strip()}, *rest]
    return [{"role": "system", "content": text}, first, *rest]
