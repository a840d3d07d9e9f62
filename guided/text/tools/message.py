"""Calls as the OpenAI API returns them: arguments are JSON within a string of JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from guided._core import Arena
from guided.text.json_schema.strings.spelling import JsonSpelling
from guided.text.tags.transplant import Transplant
from guided.text.tools.tool import Tool

_ESCAPED = {ord('"'): '\\"', ord("\\"): "\\\\"}


class MessageWriter:
    """Writes messages of an assistant that call tools; `id_`: the node of a call's id."""

    def __init__(self, arena: Arena, id_: int) -> None:
        self._arena = arena
        self._id = id_

    def message(self, tools: Sequence[tuple[Tool, int]], *, is_parallel: bool) -> int:
        """Match what follows the key "role" of a message."""
        arena = self._arena
        call = arena.choice([self._call(tool, node) for tool, node in tools])
        more = arena.repeat(arena.sequence([arena.literal(", "), call]))
        content = arena.choice(
            [arena.literal("null"), self._string(JsonSpelling().any_text(arena))]
        )
        return arena.sequence(
            [
                arena.literal(': "assistant", "content": '),
                content,
                arena.literal(', "tool_calls": ['),
                call,
                *([more] if is_parallel else []),
                arena.literal("]}"),
            ]
        )

    def _call(self, tool: Tool, arguments: int) -> int:
        arena = self._arena
        escaped = Escaped(arena).node(arguments)
        return arena.sequence(
            [
                arena.literal('{"id": '),
                self._string(self._id),
                arena.literal(', "type": "function", "function": {"name": '),
                JsonSpelling().string(arena, tool.name),
                arena.literal(', "arguments": '),
                self._string(escaped),
                arena.literal("}}"),
            ]
        )

    def _string(self, content: int) -> int:
        quote = self._arena.literal('"')
        return self._arena.sequence([quote, content, quote])


class Escaped(Transplant):
    """Texts as they stand within the quotes of a JSON string.

    Only quotes and backslashes are escaped: compact JSON has no other characters that must be. Each
    character has one spelling, so intersections and differences of nodes are those of texts. What
    is written is exact but for one thing: keys that a schema does not declare may come twice.
    """

    def __init__(self, arena: Arena) -> None:
        super().__init__(arena.clone(), arena, {})

    def _made(self, number: int, described: tuple[Any, ...]) -> int:
        match described:
            case ("literal", data):
                text = data.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
                return self._target.literal(text)
            case ("class", ranges):
                return self._class(ranges)
            case ("dfa", states):
                return self._target.dfa(escape_automaton(states))
        return super()._made(number, described)

    def _record(self, *parts: Any) -> int:
        layout, slots, members, *rest = parts
        # What is compared as a JSON value is not one any more. That keys which are not declared
        # differ from those that are can be said without; that they differ from each other cannot.
        spelling, excluded = JsonSpelling(), rest[-1]
        names = [name for _, _, name, _, _ in members if name is not None] + list(excluded)
        declared = [spelling.string(self._source, name) for name in names]
        for name in declared:
            self._write(name, [])
        taken = self._target.choice([self._numbers[name] for name in declared])
        whole = {key: self._numbers[key] for _, key, _, is_recorded, _ in members if is_recorded}
        for key, node in whole.items():
            self._numbers[key] = self._target.minus(node, taken)
        apart = [(slot, key, name, False, variants) for slot, key, name, _, variants in members]
        made = super()._record(layout, slots, apart, *rest[:-1], [])
        self._numbers |= whole
        return made

    def _class(self, ranges: Sequence[tuple[int, int]]) -> int:
        target = self._target
        kept = [part for low, high in ranges for part in _without_escaped(low, high)]
        options = [
            target.literal(spelled)
            for code, spelled in _ESCAPED.items()
            if any(low <= code <= high for low, high in ranges)
        ]
        # A line break between two tokens, and the like.
        options += [
            target.literal(json.dumps(chr(code))[1:-1])
            for low, high in ranges
            for code in range(low, min(high, 0x1F) + 1)
        ]
        return target.choice([target.char_class(kept), *options])


def escape_automaton(states: Sequence[Any]) -> list[Any]:
    """Put a backslash before each quote and backslash that an automaton reads."""
    made = [(accepting, list(edges)) for accepting, edges in states]
    for _, edges in made[: len(states)]:
        escaped = []
        for low, high, target in list(edges):
            inside = [code for code in _ESCAPED if low <= code <= high]
            if not inside:
                continue
            edges.remove((low, high, target))
            edges += [(*part, target) for part in _without_escaped(low, high, lowest=0)]
            escaped += [(code, code, target) for code in inside]
        if escaped:
            edges.append((0x5C, 0x5C, len(made)))
            made.append((False, escaped))
    return made


def _without_escaped(low: int, high: int, lowest: int = 0x20) -> list[tuple[int, int]]:
    """Cut quote, backslash and all below `lowest` out of a range."""
    parts = []
    for first, last in ((lowest, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF)):
        if max(first, low) <= min(last, high):
            parts.append((max(first, low), min(last, high)))
    return parts
