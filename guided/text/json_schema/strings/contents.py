"""The texts of string shapes as nodes, without the quotes.

The same in two spellings: as they stand in JSON, to be written into a grammar, and as plain text,
to find out what a schema means (`plain_texts`). All constraints speak of the text, so what holds in
one spelling holds in the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Protocol

from guided._core import Arena
from guided.errors import GrammarError, LimitError, SchemaError, UnsupportedError
from guided.text.json_schema.document.places import Subschema, describe
from guided.text.json_schema.shapes.shape import Fitting, Format, Pattern, StringShape
from guided.text.json_schema.strings.byte_walk import ByteWalk
from guided.text.json_schema.strings.lengths import MeasuredSpelling, within_lengths
from guided.text.json_schema.strings.spelling import NEVER, is_spellable
from guided.text.nodes import GrammarValue, Nodes, nodes_of

# Below, an automaton for a list of texts costs more than it spares.
_FEW = 8

# From the least to the greatest length; None: no bound.
_Span = tuple[int, int | None]


class TextSpelling(MeasuredSpelling, Protocol):
    """A way to spell whole texts."""

    def one_of(self, arena: Arena, texts: Iterable[str]) -> int:
        """Return a node for one of some texts; those that cannot be spelled are passed over."""
        ...

    def escape(self, text: str) -> str:
        """Return a spelling of a text."""
        ...

    def grammar(self, arena: Arena, grammar: Nodes) -> int:
        """Return a node for the texts of a grammar."""
        ...


class Refuse(Protocol):
    """What is called where a constraint cannot be enforced."""

    def __call__(
        self, schema: Subschema, keyword: str | None, fact: str, mend: str | None = None, /
    ) -> object:
        """Raise, or pass it over; `keyword` is None for a grammar that stands for the schema."""
        ...


class Contents:
    """Writes the texts of string shapes into one arena.

    Args:
        refuse: if it does not raise, the constraint is passed over: what is written is then wider
            than the shape, never narrower.
    """

    def __init__(self, arena: Arena, spelling: TextSpelling, refuse: Refuse) -> None:
        self.arena = arena
        self.spelling = spelling
        self._refuse = refuse
        self._contents: dict[tuple[StringShape, bool], int] = {}
        self._patterns: dict[str, int] = {}
        self._formats: dict[tuple[str, int, bool], int] = {}
        self._grammars: dict[GrammarValue, int] = {}

    def content(self, shape: StringShape) -> int:
        """Return the node for the texts of a shape; it may be void without being `never`.

        It is regular and has few states (`format_node`, plain): strings are told apart by it.
        """
        node = self._content(shape, plain=True)[0]
        if self.arena.is_operand(node):
            return node
        self._refuse_grammar(shape, "and so cannot be told from other strings")
        return self.spelling.any_text(self.arena)

    def value(self, shape: StringShape) -> int:
        """Return the same for a string that is a value and no more, which need not be regular."""
        return self._content(shape)[0]

    def is_void(self, node: int) -> bool:
        """Return True if it is proven that a node matches nothing."""
        if node == NEVER:
            return True
        try:
            return self.arena.is_regular(node) and self.arena.is_void(node)
        except LimitError:
            # Too large to look through.
            return False

    def fits(self, shape: StringShape, text: str) -> bool | None:
        """Return True if a text fits a shape, None if that hangs on what was passed over."""
        return self.verdicts(shape, [text])[0]

    def verdicts(self, shape: StringShape, texts: Sequence[str]) -> list[bool | None]:
        """Return for each text what `fits` says of it."""
        least = 0 if shape.minimum is None else shape.minimum.value
        most = float("inf") if shape.maximum is None else shape.maximum.value
        listed = None if shape.values is None else set(shape.values.members)
        verdicts: list[bool | None] = [
            least <= len(text) <= most and (listed is None or text in listed) and is_spellable(text)
            for text in texts
        ]
        for node in self._constraints(shape):
            _narrow(verdicts, partial(self._matching, node), texts)
        for other in shape.excluded:
            _narrow(verdicts, partial(self._opposites, other), texts)
        return verdicts

    def fitting(self, shape: StringShape) -> list[str]:
        """Return the listed texts of a shape that fit the rest of it, as far as can be told."""
        return self._fitting(shape)[0]

    def pattern(self, pattern: Pattern) -> int | None:
        """Return the node for texts with a match in them, None if the pattern is passed over.

        Raises:
            SchemaError: it is no regular expression.
        """
        node = self._patterns.get(pattern.text)
        if node is not None:
            return node
        try:
            node = self._patterns[pattern.text] = self._compile(pattern.text)
        except UnsupportedError as error:
            # The page that `refuse` names is enough.
            why = error.fact.removesuffix(f" (scope: {error.page})")
            fact = f"the pattern {describe(pattern.text)} is not supported: {why}"
            self._refuse(pattern.at, _place(pattern)[0], fact)
        except GrammarError as error:
            raise SchemaError(
                f"the pattern {describe(pattern.text)} is not a regular expression: {error.fact}",
                pointer=pattern.at.pointer(*_place(pattern)),
                mend=error.mend or "write it as ECMA-262 has it",
            ) from error
        return node

    def _compile(self, pattern: str) -> int:
        from guided.text.regex import compile_regex

        return compile_regex(
            self.arena, pattern, dialect="ecma", search=True, spelling=self.spelling
        )

    def _format(self, one: Format, plain: bool) -> int | None:
        """Return the node for a format, which may differ between drafts; see `format_node`."""
        key = one.name, one.at.draft, plain
        node = self._formats.get(key)
        if node is None:
            from guided.text.json_schema.strings.formats import format_node

            node = format_node(self.arena, self.spelling, *key[:2], plain=plain)
            if node is None:
                fact = f"the format {describe(one.name)} is not supported"
                self._refuse(one.at, "format", fact)
            else:
                self._formats[key] = node
        return node

    def _is_narrow(self, shape: StringShape) -> bool:
        """Return True if the complement of a shape would hold too much, and is passed over."""
        if not shape.formats:
            return False
        from guided.text.json_schema.strings.formats import is_narrow

        for one in shape.formats:
            if is_narrow(one.name, one.at.draft):
                name = describe(one.name)
                fact = f"which strings do not have the format {name} is not known exactly"
                self._refuse(one.at, "format", fact)
                return True
        return False

    def _constraints(self, shape: StringShape, plain: bool = False) -> list[int | None]:
        """Return the nodes of patterns and formats; None for one that is passed over."""
        nodes = [self.pattern(pattern) for pattern in shape.patterns]
        nodes += [self._format(one, plain) for one in shape.formats]
        return nodes + [self._grammar(one) for one in shape.grammars]

    def _grammar(self, one: Fitting) -> int | None:
        """Return the node for a grammar, None if it is passed over."""
        node = self._grammars.get(one.value)
        if node is None:
            try:
                nodes = nodes_of(one.value)
                node = self.spelling.grammar(self.arena, nodes)
            except UnsupportedError as error:
                fact = error.fact.removesuffix(f" (scope: {error.page})")
                self._refuse(one.at, None, fact, error.mend)
                return None
            if not self.arena.is_regular(node) and ByteWalk(nodes.arena, nodes.start).is_void:
                node = NEVER
            self._grammars[one.value] = node
        return node

    def _refuse_grammar(self, shape: StringShape, why: str) -> None:
        """Refuse the first grammar of a shape that is no operand."""
        waiting = [shape]
        for each in waiting:
            for one in each.grammars:
                node = self._grammar(one) or NEVER
                if self.arena.is_operand(node):
                    continue
                fact = "has host names" if self.arena.is_regular(node) else "is not regular"
                self._refuse(one.at, None, f"the grammar {fact}, {why}")
                return
            waiting += each.excluded

    def _content(self, shape: StringShape, plain: bool = False) -> tuple[int, bool]:
        """Return the node for a shape, and whether nothing of it was passed over."""
        known = self._contents.get((shape, plain))
        if known is not None:
            return known, True
        if shape.values is None:
            node, is_whole = self._meet(shape, plain)
        else:
            texts, is_whole = self._fitting(shape)
            node = self.spelling.one_of(self.arena, texts)
        # What is passed over is not kept: each place is listed.
        if is_whole:
            self._contents[shape, plain] = node
        return node, is_whole

    def _fitting(self, shape: StringShape) -> tuple[list[str], bool]:
        assert shape.values is not None
        members = shape.values.members
        if _is_list(shape):
            return list(members), True
        verdicts = self.verdicts(shape, members)
        both = zip(members, verdicts, strict=True)
        return [text for text, verdict in both if verdict is not False], None not in verdicts

    def _meet(self, shape: StringShape, plain: bool) -> tuple[int, bool]:
        """Write what fits all constraints of a shape that lists no values."""
        arena = self.arena
        spans, excluded = _spans(shape)
        alone = len(shape.patterns) + len(shape.formats) + len(shape.grammars) == 1
        alone = alone and not excluded and len(spans) == 1 and spans[0][0] <= 1
        nodes = self._constraints(shape, plain or not alone)
        is_whole = None not in nodes
        removed = []
        listed: dict[str, None] = {}  # of all lists: one trie
        for other in excluded:
            if other.values is not None and _is_list(other):
                listed.update(dict.fromkeys(other.values.members))
                continue
            if _is_complement(other):
                # Not what is not: they must hold.
                parts = [self._content(one, plain=True) for one in other.excluded]
                is_known = all(whole for _, whole in parts)
                nodes.append(arena.choice([node for node, _ in parts]) if is_known else None)
            elif self._is_narrow(other):
                is_known = False
            else:
                node, is_known = self._content(other, plain=True)
                if is_known:
                    removed.append(node)
            is_whole = is_whole and is_known
        known = [node for node in nodes if node is not None]
        if not all(map(arena.is_operand, [*known, *removed])):
            if len(known) == 1 and spans == [(0, None)] and not (removed or listed):
                return known[0], is_whole
            self._refuse_grammar(shape, "and so nothing else can be asked of the same string")
            known = list(filter(arena.is_operand, known))
            removed = list(filter(arena.is_operand, removed))
            is_whole = False
        if listed and not known and not removed:
            return arena.choice([self._but(span, list(listed)) for span in spans]), is_whole
        if listed:
            removed.append(self.spelling.one_of(arena, listed))
        return self._without(spans, known, removed), is_whole

    def _but(self, span: _Span, texts: list[str]) -> int:
        """Write the texts of some lengths, but not those that are listed."""
        arena, (low, high) = self.arena, span
        character, listed = self.spelling.any_character(arena), self.spelling.one_of(arena, texts)
        longest = max(map(len, texts))
        if high is None or high <= longest:
            return arena.minus(arena.repeat(character, low, high), listed)
        # Where none of them can be, a run needs no look at them.
        longer = arena.repeat(character, max(low, longest + 1), high)
        if low > longest:
            return longer
        return arena.choice([longer, arena.minus(arena.repeat(character, low, longest), listed)])

    def _without(self, spans: list[_Span], nodes: list[int], removed: list[int]) -> int:
        """Write what is in all of some nodes and none of others, with a length in some span."""
        arena, spelling = self.arena, self.spelling
        any_text = spelling.any_text(arena)
        content = nodes[0] if nodes else any_text
        for node in nodes[1:]:
            content = arena.both(content, node)
        if removed:
            content = arena.minus(content, arena.choice(removed))
        if spans == [(0, None)]:
            return content
        if content == any_text:
            character = spelling.any_character(arena)
            return arena.choice([arena.repeat(character, *span) for span in spans])
        # As a part, for the arena would move the lengths into what something is removed from, where
        # each length would have to be looked at to see that all is removed.
        content = arena.part(content) if removed else content
        return arena.choice([within_lengths(arena, spelling, content, *span) for span in spans])

    def _matching(self, node: int | None, texts: Sequence[str]) -> list[bool | None]:
        """Return which texts a node matches."""
        if node is None:
            return [None] * len(texts)
        spelled = [self.spelling.escape(text) for text in texts]
        if len(texts) < _FEW and self.arena.is_regular(node):
            return [self.arena.matches(node, text) for text in spelled]
        walk = ByteWalk(self.arena, node)
        return [walk.matches(text) for text in spelled]

    def _opposites(self, shape: StringShape, texts: Sequence[str]) -> list[bool | None]:
        """Return which texts do not fit a shape."""
        verdicts = self.verdicts(shape, texts)
        return [None if verdict is None else not verdict for verdict in verdicts]


def _narrow(
    verdicts: list[bool | None],
    decide: Callable[[list[str]], list[bool | None]],
    texts: Sequence[str],
) -> None:
    """Let a further constraint decide on the texts that are not out yet."""
    left = [index for index, verdict in enumerate(verdicts) if verdict is not False]
    if not left:
        return
    for index, verdict in zip(left, decide([texts[index] for index in left]), strict=True):
        if verdict is not True:
            verdicts[index] = verdict


def _place(pattern: Pattern) -> tuple[str, ...]:
    """Return the tokens that lead from its schema to a pattern."""
    if pattern.text in pattern.at.value.get("patternProperties", ()):
        return ("patternProperties", pattern.text)
    return ("pattern",)


def _is_list(shape: StringShape) -> bool:
    """Return True if a shape says nothing but which values there are."""
    return shape[:3] == (None, None, ()) and shape[4:] == ((), (), ())


def _is_complement(shape: StringShape) -> bool:
    """Return True if a shape says nothing but what is excluded."""
    return bool(shape.excluded) and shape[:-1] == (None, None, (), None, (), ())


def _spans(shape: StringShape) -> tuple[list[_Span], list[StringShape]]:
    """Return the lengths allowed, and of what is excluded that which is no matter of lengths."""
    spans: list[_Span] = [
        (
            0 if shape.minimum is None else shape.minimum.value,
            None if shape.maximum is None else shape.maximum.value,
        )
    ]
    others = []
    for other in shape.excluded:
        if other[2:] != ((), None, (), (), ()):
            others.append(other)
            continue
        low = 0 if other.minimum is None else other.minimum.value
        spans = [(least, _lower(most, low - 1)) for least, most in spans] + [
            (max(least, other.maximum.value + 1), most)
            for least, most in spans
            if other.maximum is not None
        ]
    return [(least, most) for least, most in spans if most is None or least <= most], others


def _lower(a: int | None, b: int) -> int:
    return b if a is None else min(a, b)
