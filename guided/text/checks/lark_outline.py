"""The outline of a Lark grammar: the rules of the file itself, read by lark's own parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guided.errors import GrammarError, GuidedError
from guided.text.checks.outline import (
    Characters,
    Choice,
    Opaque,
    Outline,
    Part,
    Pattern,
    Reference,
    Repeat,
    Rule,
    Sequence,
    Text,
    Unordered,
)
from guided.text.checks.regex_outline import pattern_parts
from guided.text.lark.attributes import Attributes
from guided.text.lark.extensions import PREFIX, read_extensions
from guided.text.lark.source import Source
from guided.text.lark.unordered import is_template
from guided.text.regex.parsing import no_search_for_collisions

if TYPE_CHECKING:
    from lark import Token, Tree

_COUNTS = {"?": (0, 1), "*": (0, None), "+": (1, None)}


def outline_lark(text: str, *, start: str = "start") -> Outline:
    """Return the rules and terminals of a Lark grammar; what it imports or declares is external.

    What guided adds to the language has no parts to look at, other than `unordered{...}`.

    Raises:
        GrammarError: it cannot be parsed; with the place.
    """
    from lark import load_grammar
    from lark.exceptions import UnexpectedInput

    source = Source.of(text)
    extensions = read_extensions(source, allowed=True)
    loader: Any = load_grammar  # its parts have no types
    with no_search_for_collisions():
        parser = loader._get_parser()
    try:
        tree = parser.parse(f"{extensions.text}\n", "start")
    except UnexpectedInput as error:
        place = source.place_of(min(error.pos_in_stream or 0, len(extensions.text)))
        raise GrammarError(
            "the grammar cannot be read here", text=source.text, index=place, mend="mend it there"
        ) from None
    reader = _Reader(source, extensions.attributes)
    for statement in tree.children:
        reader.statement(statement)
    return Outline(
        source.text,
        start,
        reader.rules,
        external=frozenset(reader.external),
        ignored=tuple(reader.ignored),
    )


class _Reader:
    """Collects what the statements of a grammar say."""

    def __init__(self, source: Source, attributes: Attributes) -> None:
        self.source = source
        self.attributes = attributes
        self.rules: dict[str, Rule] = {}
        self.external: set[str] = set()
        self.ignored: list[Part] = []

    def statement(self, tree: Tree[Any]) -> None:
        kind = tree.data
        children: list[Any] = tree.children
        if kind == "rule":
            name, parameters, body = children[1], children[2], children[4]
            if not is_template(name):
                self._define(name, body, tuple(map(str, parameters.children)))
        elif kind == "term":
            self._define(children[0], children[-1])
        elif kind in ("override", "extend"):
            # What it replaces or adds to came from elsewhere, and may use what is there.
            self.statement(children[0])
        elif kind == "ignore":
            self.ignored.append(self._part(children[0]))
        elif kind == "declare":
            names = (str(token) for token in _tokens(tree))
            self.external.update(name for name in names if not name.startswith(PREFIX))
        elif kind == "import":
            self._import(children)

    def _define(self, name: Token, body: Tree[Any], parameters: tuple[str, ...] = ()) -> None:
        known = self.rules.get(name)
        part = self._part(body)
        if known is not None:  # %extend, or a mistake that the loader tells
            part = Choice((known.body, part), index=known.index)
        index = self.source.place_of(name.start_pos or 0)
        self.rules[str(name)] = Rule(
            str(name),
            part,
            index,
            parameters,
            is_terminal=name.type == "TERMINAL",
            is_lazy=name in self.attributes.lazy,
            stop=self.attributes.stops.get(name, ""),
        )

    def _import(self, children: list[Any]) -> None:
        """Note the names that `%import` brings: a list, the last of the path, or an alias."""
        if len(children) == 1:
            self.external.add(str(children[0].children[-1]))
        elif getattr(children[1], "data", "") == "name_list":
            self.external.update(map(str, children[1].children))
        else:
            self.external.add(str(children[1]))

    def _part(self, tree: Tree[Any]) -> Part:
        kind, children = tree.data, tree.children
        if kind == "expansions":
            parts = tuple(map(self._part, children))
            return parts[0] if len(parts) == 1 else Choice(parts, index=parts[0].index)
        if kind == "expansion":
            parts = tuple(map(self._part, children))
            index = parts[0].index if parts else 0
            return parts[0] if len(parts) == 1 else Sequence(parts, index=index)
        if kind in ("alias", "value"):
            return self._part(children[0])
        if kind == "maybe":
            inner = self._part(children[0])
            return Repeat(inner, 0, 1, index=inner.index, length=inner.length)
        if kind == "expr":
            return self._repeat(children)
        return self._atom(tree)

    def _repeat(self, children: list[Any]) -> Part:
        inner = self._part(children[0])
        if children[1].type == "OP":
            minimum, maximum = _COUNTS[children[1]]
        else:
            counts = [int(str(token)) for token in children[2:]]
            minimum, maximum = counts[0], counts[-1]
        return Repeat(inner, minimum, maximum, index=inner.index, length=inner.length)

    def _atom(self, tree: Tree[Any]) -> Part:
        tokens = list(_tokens(tree))
        first = tokens[0]
        if first.startswith(PREFIX):
            return self._embedded(first)
        index = self.source.place_of(first.start_pos or 0)
        length = self.source.place_of(tokens[-1].end_pos or 0) - index
        if tree.data in ("nonterminal", "terminal"):
            return Reference(str(first), index=index, length=length)
        if tree.data == "template_usage":
            arguments = tuple(map(self._part, tree.children[1:]))
            if is_template(first):
                return Unordered(arguments, index=index, length=len("unordered"))
            return Reference(str(first), arguments, index=index, length=len(first))
        if tree.data == "range":
            low, high = (_unquote(token) for token in tokens)
            written = f"{first}..{tokens[1]}"
            if len(low) == len(high) == 1:
                ranges = ((ord(low), ord(high)),)
                return Characters(ranges, written, index=index, length=length)
            return Opaque(written, index=index, length=length)
        if first.type == "STRING":
            return Text(_unquote(first), str(first), index=index, length=length)
        return _pattern(first, index, length)

    def _embedded(self, name: Token) -> Part:
        """Return what stands for a value in the grammar: a token, a schema, a file, a text."""
        start, end = self.source.extension_at(name.start_pos or 0)
        return Opaque(self.source.text[start:end], index=start, length=end - start)


def _pattern(token: Token, index: int, length: int) -> Part:
    from lark.exceptions import GrammarError as LarkError

    try:
        pattern = _literal(token)
        body = pattern_parts(pattern.value, "".join(pattern.flags))
    except (GuidedError, LarkError):  # an error of its own, or outside of what can be looked into
        return Opaque(str(token), index=index, length=length)
    return Pattern(body, str(token), index=index, length=length)


def _unquote(token: Token) -> str:
    from lark.exceptions import GrammarError as LarkError

    try:
        value: str = _literal(token).value
    except LarkError:  # it is empty
        return ""
    return value


def _literal(token: Token) -> Any:
    """Return lark's pattern of a string or regular expression, its escapes resolved."""
    from lark import load_grammar

    loader: Any = load_grammar
    return loader._literal_to_pattern(token)


def _tokens(tree: Tree[Any]) -> list[Token]:
    return [each for each in tree.scan_values(lambda _: True)]
