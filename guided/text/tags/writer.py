"""Tags as one node: free text, a tag, and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from guided._core import Arena
from guided.text.tags.markers import EMPTY, LateNodes, Marker
from guided.text.tags.occurrences import Occurrences
from guided.text.tags.tag import Tag, check_tags


class TaggedText:
    """Writes markers and the free text around them into an arena.

    Attributes:
        late: the rules that a vocabulary is to define.
    """

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.late: LateNodes = {}
        self._rules: dict[Marker, int] = {}
        self._ends: dict[str, Occurrences] = {}
        self._free: dict[int, int] = {}

    def marker(self, text: str, following: int = EMPTY, *, may_end: bool = False) -> int:
        """Match a marker and what follows it."""
        if not text:
            return following
        spelled = self.arena.literal(text)
        return self.rule(Marker(text, EMPTY, spelled, following, may_end))

    def text_before(
        self, marker: str, occurrences: Occurrences, begins: str, following: int = EMPTY
    ) -> int:
        """Match free text up to the first occurrence of `begins`, with which the marker begins."""
        up_to, written = occurrences.first_shared(begins)
        if written < len(begins):
            # A rule keeps what is shared by many markers from being merged with each of them.
            up_to = self._shared(up_to)
        rest = self.arena.literal(marker[written:])
        spelled = self.arena.sequence([up_to, rest])
        return self.rule(Marker(marker, occurrences.without(), spelled, following))

    def _shared(self, node: int) -> int:
        if node not in self._free:
            self._free[node] = self.arena.rule("text before a marker")
            self.arena.define(self._free[node], node)
        return self._free[node]

    def part_before(
        self, marker: str, part: int, following: int = EMPTY, *, may_end: bool = False
    ) -> int:
        """Match a regular part and the first occurrence of a marker, which ends it."""
        occurrences = self._ends.get(marker)
        if occurrences is None:
            occurrences = self._ends[marker] = Occurrences(self.arena, [marker])
        whole = self.arena.sequence([part, self.arena.literal(marker)])
        spelled = self.arena.both(whole, occurrences.first(marker))
        before = self.arena.both(part, occurrences.without())
        return self.rule(Marker(marker, before, spelled, following, may_end))

    def rule(self, marker: Marker) -> int:
        """Return the rule for a marker, the same one for the same marker."""
        if marker not in self._rules:
            rule = self._rules[marker] = self.arena.rule(marker.text)
            self.late[rule] = marker
        return self._rules[marker]


def write_tags(
    text: TaggedText,
    tags: Sequence[Tag],
    body: Callable[[Tag], int | None],
    *,
    triggers: Sequence[str] | None = None,
    at_least_one: bool = False,
    stop_after_first: bool = False,
    free_text: bool = True,
) -> int:
    """Return the node of texts with tags in them; see `Grammar.from_tags`.

    Args:
        text: writes into the arena of the result.
        tags: in any order.
        body: returns the node of what stands in a tag; None for any text.
        triggers, at_least_one, stop_after_first, free_text: as for `Grammar.from_tags`.

    Raises:
        TypeError, GrammarError: tags or triggers are at fault.
    """
    arena = text.arena
    texts = check_tags(tags, triggers)
    occurrences = Occurrences(arena, texts)
    again = EMPTY if stop_after_first else arena.rule("text and tags")
    opened = []
    for tag in tags:
        inside = _inside(text, tag, body(tag), again)
        if free_text:
            begins = [trigger for trigger in texts if tag.begin.startswith(trigger)]
            opened += [
                text.text_before(tag.begin, occurrences, trigger, inside) for trigger in begins
            ]
        else:
            opened.append(text.marker(tag.begin, inside))
    nothing_more = occurrences.without() if free_text else EMPTY
    if not stop_after_first:
        arena.define(again, arena.choice([nothing_more, *opened]))
    return arena.choice(opened if at_least_one else [nothing_more, *opened])


def _inside(text: TaggedText, tag: Tag, body: int | None, again: int) -> int:
    """Return the node of what follows an opening marker."""
    if body is not None:
        ends = [text.marker(end, again, may_end=True) for end in tag.ends]
        return text.arena.sequence([body, text.arena.choice(ends)])
    closing = [end for end in tag.ends if end]
    if not closing:
        return text.arena.any_text()
    occurrences = Occurrences(text.arena, closing)
    ways = [
        text.rule(Marker(end, occurrences.without(), occurrences.first(end), again, True))
        for end in closing
    ]
    return text.arena.choice(ways)


def template_node(
    text: TaggedText, template: Sequence[tuple[str, bool]], values: Mapping[str, int]
) -> int:
    """Return the node of a text cut at placeholders, with nodes in their places."""
    parts = [values[part] if is_name else text.marker(part) for part, is_name in template]
    return text.arena.sequence(parts)
