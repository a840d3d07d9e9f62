"""What stands in a grammar for a value, to nodes of one arena: schemas, files, tokens, spans."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from pathlib import Path

from guided._core import Arena
from guided.errors import GrammarError
from guided.text.gbnf.writer import Writer as GbnfWriter
from guided.text.json_schema.compiler import load_schema
from guided.text.json_schema.document.document import Document
from guided.text.json_schema.reader import Reader
from guided.text.json_schema.values.any_json import any_json
from guided.text.json_schema.writer import Writer
from guided.text.lark.complaints import did_you_mean
from guided.text.lark.dynamic import write_dynamic
from guided.text.lark.extensions import Verbatim
from guided.text.lark.grammar_files import GrammarFiles
from guided.text.lark.reading import Reading
from guided.text.lark.terminals import compile_terminals
from guided.text.lark.verbatim import write_spans


def write_schemas(schemas: Iterable[str]) -> tuple[Arena, dict[str, int]]:
    """Write schemas into a new arena, and return it with the node of each by its text.

    Raises:
        SchemaError, UnsupportedError, LimitError: a schema is at fault, or cannot be enforced.
    """
    nodes: dict[str, int] = {}
    if not schemas:
        return Arena(), nodes
    base = any_json("flexible", "minimal")
    for text in dict.fromkeys(schemas):
        document = Document(load_schema(text), registry=None)
        reader = Reader(document, "refuse", formats="assert")
        writer = Writer(reader, base, property_order="schema")
        nodes[text] = writer.write((document.root,))
        reader.release()
        # The next starts from what is there: numbers of nodes stay valid in a copy.
        base = copy.copy(base)
        base.arena = writer.arena
    return base.arena, nodes


class Embedded:
    """Writes the values of a grammar, and of the files that it embeds.

    A file is a rule, so one that embeds itself, by way of others or not, is as good as any
    recursion.

    Attributes:
        arena: where all is written.
        tokens: rules that are not yet defined, as they stand for tokens.
    """

    def __init__(
        self,
        files: GrammarFiles,
        schemas: Iterable[str],
        texts: Mapping[str, str],
        *,
        complete: bool,
    ) -> None:
        self.arena, self._schemas = write_schemas([*schemas, *files.schemas.values()])
        self.tokens: dict[int, tuple[str | int, bool]] = {}
        self._files = files
        self._texts = texts
        self._complete = complete
        self._spans: dict[Verbatim, int] = {}
        self._rules = {path: self.arena.rule(path.stem) for path in (*files.lark, *files.gbnf)}

    def values(self, reading: Reading) -> dict[str, int]:
        """Return the node of each value of one grammar, by the name that stands for it.

        Raises:
            GrammarError: a text is not given, or is empty.
            LimitError: it is too long.
        """
        extensions = reading.extensions
        nodes = {name: self._schemas[text] for name, text in extensions.schemas.items()}
        for name, token in extensions.tokens.items():
            nodes[name] = self.arena.rule(str(token.named))
            self.tokens[nodes[name]] = (token.named, token.negated)
        for name, span in extensions.spans.items():
            if span not in self._spans:
                text = self._text_of(reading, name, span)
                self._spans[span] = write_spans(self.arena, text, span.unit)
            nodes[name] = self._spans[span]
        for name, path in self._files.of(reading).items():
            nodes[name] = self._file(path)
        return nodes

    def write_files(self) -> None:
        """Define the rules that files are.

        Raises:
            GrammarError, UnsupportedError, LimitError: a file has a part that cannot be written.
        """
        for path, rules in self._files.gbnf.items():
            writer = GbnfWriter(self.arena, rules.rules)
            self.arena.define(self._rules[path], writer.write("root"))
            self.tokens |= writer.tokens
        for path, reading in self._files.lark.items():
            values = self.values(reading)
            terminals = compile_terminals(
                self.arena, reading.source, reading.terminals, reading.extensions
            )
            node = write_dynamic(self.arena, reading, terminals, values, complete=self._complete)
            self.arena.define(self._rules[path], node)

    def _file(self, path: Path) -> int:
        if path in self._files.schemas:
            return self._schemas[self._files.schemas[path]]
        return self._rules[path]

    def _text_of(self, reading: Reading, name: str, span: Verbatim) -> str:
        text = self._texts.get(span.text) if span.is_name else span.text
        fact, mend = "", ""
        if text is None:
            fact = f'no text "{span.text}" is given'
            mend = did_you_mean(span.text, self._texts, f'give texts={{"{span.text}": ...}}')
        elif not text:
            fact, mend = f'the text "{span.text}" is empty: it has no span', "give one that is not"
        elif any("\ud800" <= character <= "\udfff" for character in text):
            fact = f'the text "{span.text}" has a surrogate, which UTF-8 cannot write'
            mend = "write the character itself"
        if text is not None and not fact:
            return text
        error: GrammarError = reading.source.error(
            fact, reading.source.embedded[name], length=len("%verbatim"), mend=mend
        )
        raise error
