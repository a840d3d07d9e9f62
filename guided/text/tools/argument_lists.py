"""Arguments one after the other, each between markers or by its name: in the order declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from guided._core import Arena
from guided.errors import LimitError
from guided.text.tags import TaggedText
from guided.text.tags.markers import EMPTY
from guided.text.tags.writer import template_node
from guided.text.tools.arguments import Argument
from guided.text.tools.format import Template, ToolFormat

# What may come before, by the arguments that are to come and those that must.
_State = tuple[int, frozenset[str], frozenset[str], bool]
MAX_ARGUMENTS = 200


def write_list(
    arena: Arena,
    arguments: Sequence[Argument],
    written: Callable[[Argument], int],
    separator: int = EMPTY,
) -> int:
    """Return the node of those arguments that are given, in their order.

    Args:
        arena: where it goes.
        arguments: all of them.
        written: returns the node of one.
        separator: what stands between two.

    Raises:
        LimitError: there are too many.
    """
    _check_number(arguments)
    nodes = [written(argument) for argument in arguments]
    known: dict[_State, int] = {}
    names = [argument.name for argument in arguments]
    # Of what was given before only that matters which a later argument asks for.
    asked = {other for argument in arguments for other in argument.owes}

    def rest(place: int, given: frozenset[str], owed: frozenset[str], is_first: bool) -> int:
        if place == len(arguments):
            return EMPTY
        state = (place, given, owed, is_first)
        if state not in known:
            one = arguments[place]
            ways = []
            if not one.is_required and one.name not in owed:
                ways.append(rest(place + 1, given, owed, is_first))
            behind = set(one.owes) & set(names[:place])
            ahead = set(one.owes) & set(names[place + 1 :])
            if behind <= given and behind | ahead | {one.name} >= set(one.owes):
                before = given | ({one.name} & asked)
                after = rest(place + 1, before, owed - {one.name} | ahead, False)
                node = nodes[place] if is_first else arena.sequence([separator, nodes[place]])
                ways.append(arena.sequence([node, after]))
            known[state] = arena.choice(ways)
        return known[state]

    return rest(0, frozenset(), frozenset(), True)


def _check_number(arguments: Sequence[Argument]) -> None:
    if len(arguments) > MAX_ARGUMENTS:
        raise LimitError(
            f"a tool has {len(arguments)} arguments", limit="arguments", value=MAX_ARGUMENTS
        )


def write_parameters(text: TaggedText, form: ToolFormat, arguments: Sequence[Argument]) -> int:
    """Return the node of arguments between markers: strings as they are, all else as JSON."""
    arena = text.arena
    after = arena.choice([arena.literal(each) for each in form.parameter_after] or [EMPTY])

    def written(argument: Argument) -> int:
        ways = []
        if argument.text is not None:
            value = text.part_before(form.parameter_end, argument.text)
            ways += [_begin(text, each, argument, "true", value) for each in form.parameter_begin]
        if argument.other is not None:
            value = arena.sequence([argument.other, text.marker(form.parameter_end)])
            ways += [_begin(text, each, argument, "false", value) for each in form.parameter_begin]
        return arena.sequence([arena.choice(ways), after])

    return write_list(arena, arguments, written)


def write_python(text: TaggedText, arguments: Sequence[Argument], gap: int) -> int:
    """Return the node of arguments as `name=value, name=value`."""
    arena = text.arena
    comma = arena.sequence([arena.literal(","), gap])

    def written(argument: Argument) -> int:
        assert argument.other is not None
        return arena.sequence([arena.literal(f"{argument.name}="), argument.other])

    return write_list(arena, arguments, written, comma)


def _begin(
    text: TaggedText, template: Template, argument: Argument, is_string: str, value: int
) -> int:
    values = {
        "key": text.arena.literal(argument.name),
        "is_string": text.arena.literal(is_string),
    }
    return text.arena.sequence([template_node(text, template, values), value])
