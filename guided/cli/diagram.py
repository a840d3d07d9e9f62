"""Rules as railroad diagrams, one below the other in one SVG."""

from __future__ import annotations

import re
from typing import Any

from guided.errors import LimitError
from guided.text.checks.analysis import reachable
from guided.text.checks.outline import (
    Choice,
    Opaque,
    Outline,
    Part,
    Reference,
    Repeat,
    Rule,
    Sequence,
    Text,
    Unordered,
)
from guided.text.checks.spelled import quoted

_TITLE = 24  # height of the name above a diagram
_GAP = 16
# That of the library has colours that only browsers know, and is black elsewhere.
_STYLE = """
    svg { background-color: #f5f2f0; }
    text { font: bold 14px monospace; text-anchor: middle; }
    text.name { font: bold 16px sans-serif; text-anchor: start; }
    text.label { text-anchor: start; }
    text.comment { font: italic 12px monospace; }
    path { stroke-width: 3; stroke: black; fill: none; }
    rect { stroke-width: 3; stroke: black; fill: #ccffcc; }
    g.non-terminal rect { fill: #ffffff; }
    path.diagram-text { fill: #ffffff; }
"""
# What does not fit on a line of a page is cut.
_LONGEST = 60


def draw_rules(outline: Outline, names: list[str]) -> str:
    """Draw rules as one SVG.

    Args:
        outline: where they are.
        names: which of them. None of them: those that the start leads to, else all.

    Raises:
        LimitError: they are nested too deeply.
    """
    try:
        return _draw([outline.rules[name] for name in names or _in_order(outline)])
    except RecursionError:
        raise LimitError(
            "the rules are nested too deeply to be drawn", limit="groups within groups", value=50
        ) from None


def _in_order(outline: Outline) -> list[str]:
    """Return the rules that the start leads to, in the order of the file, the start first."""
    used = reachable(outline) or outline.rules.keys()
    return sorted((name for name in outline.rules if name in used), key=outline.start.__ne__)


def _draw(rules: list[Rule]) -> str:
    from railroad import Diagram

    written: list[str] = []
    top, width = float(_GAP), 0.0
    for rule in rules:
        diagram = Diagram(*_items(rule), type="complex").format(10)
        written.append(f'<g id="{rule.name}"><text class="name" x="{_GAP}" y="{top + 14}">')
        written.append(f"{rule.name}</text>\n")
        diagram.attrs |= {"x": str(_GAP), "y": str(top + _TITLE)}
        diagram.writeSvg(written.append)
        written.append("</g>\n")
        top += _TITLE + float(diagram.attrs["height"]) + _GAP
        width = max(width, float(diagram.attrs["width"]))
    size = f'width="{width + 2 * _GAP}" height="{top}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f" {size}>\n<style>{_STYLE}</style>\n{''.join(written)}</svg>\n"
    )


def _items(rule: Rule) -> list[Any]:
    """Return what a rule is drawn as: its body, how that is matched, and what ends it."""
    import railroad

    items = [_item(rule.body)]
    if rule.is_lazy:
        items.append(railroad.Comment("the shortest"))
    if rule.stop:
        items.append(railroad.Terminal(_written(Text(rule.stop, quoted(rule.stop)))))
    return items


def _item(part: Part) -> Any:
    """Return a part as the library draws it."""
    import railroad

    if isinstance(part, Reference):
        inside = ", ".join(map(_written, part.arguments))
        name = f"{part.name}{{{inside}}}" if inside else part.name
        return railroad.NonTerminal(name, href=f"#{part.name}")
    if isinstance(part, Sequence):
        items = [_item(each) for each in part.parts]
        return railroad.Sequence(*items) if items else railroad.Skip()
    if isinstance(part, Choice):
        return railroad.Choice(0, *(_item(each) for each in part.parts))
    if isinstance(part, Unordered):
        return railroad.MultipleChoice(0, "all", *(_item(each) for each in part.parts))
    if isinstance(part, Repeat):
        return _repeat(part)
    if isinstance(part, Opaque) and part.is_nullable:
        return railroad.Comment(part.written)
    return railroad.Terminal(_written(part))


def _repeat(part: Repeat) -> Any:
    import railroad

    inner = _item(part.part)
    if (part.minimum, part.maximum) == (0, 1):
        return railroad.Optional(inner)
    if part.maximum is None and part.minimum < 2:
        loop = railroad.OneOrMore(inner)
        return loop if part.minimum else railroad.Optional(loop)
    least, most = part.minimum, part.maximum
    if most is None:
        counts = f"{least} or more times"
    else:
        counts = f"{least} times" if least == most else f"{least} to {most} times"
    return railroad.OneOrMore(inner, railroad.Comment(counts))


def _written(part: Part) -> str:
    written = getattr(part, "written", "") or getattr(part, "name", "...")
    written = re.sub(r"\s*\n\s*", " ", written)
    written = "".join(each if each.isprintable() else f"\\x{ord(each):02X}" for each in written)
    return written if len(written) <= _LONGEST else f"{written[: _LONGEST - 3]}..."
