"""Many tools: what comes before the first call costs the same for five of them and for fifty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import guided
from guided.text.json_schema.writer import Writer
from tests.test_house import fresh

TOKENS = [*(bytes([byte]) for byte in range(256)), b"<tool", b"[tool", b' {"na', None]


def tools(number: int) -> list[dict[str, Any]]:
    return [
        {
            "name": f"tool_{each}",
            "parameters": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    f"count_{each}": {"type": "integer", "minimum": 0},
                },
                "required": ["text"],
            },
        }
        for each in range(number)
    ]


def counts_at_the_start(number: int, form: str) -> tuple[int, int]:
    """States and terminals that the first mask of some tools has made."""
    vocabulary = guided.Vocabulary.from_tokens(TOKENS, eos=[len(TOKENS) - 1])
    automaton = guided.Grammar.from_tools(tools(number), format=form).compile(vocabulary)
    automaton.matcher().fill_mask(np.zeros(vocabulary.words, np.int32))
    return automaton.core.stats()["states"], vocabulary.core.stats()["terminals"]


@pytest.mark.parametrize("form", guided.tool_formats())
def test_the_first_mask_costs_what_it_does_for_few_tools(form: str) -> None:
    assert counts_at_the_start(50, form) == counts_at_the_start(5, form)


def test_each_schema_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    write = Writer.write

    def counted(self: Writer, child: Any) -> int:
        compiled.append(child)
        return write(self, child)

    monkeypatch.setattr(Writer, "write", counted)
    many = [{**tool, "description": "of this test"} for tool in tools(50)]
    guided.Grammar.from_tools(many, format="hermes")
    assert len(compiled) == 50
    guided.Grammar.from_tools(many, format="hermes")
    assert len(compiled) == 50


def test_a_pattern_among_them_takes_no_reader_of_grammars() -> None:
    # Lark would have to be imported, and would make a parser of its own grammars first: 60 ms.
    code = (
        "import sys, guided;"
        "guided.Grammar.from_tools([{'name': 'book', 'parameters': {'type': 'object',"
        " 'properties': {'code': {'type': 'string', 'pattern': '^[A-Z]{2}[0-9]+$'}}}}]);"
        "readers = {'lark', 'guided.text.gbnf', 'guided.text.lark.compiler'};"
        "print(sorted(readers & set(sys.modules)))"
    )
    assert fresh(code) == "[]"
