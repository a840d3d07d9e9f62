"""Rules that lark would write out as too many alternatives, cut into rules of their own.

`a? b? c?` comes to 8 alternatives, a row of 20 to a million. Such a rule gets a rule for each of
its optional parts. The texts are the same; a LALR parser, which looks one terminal ahead, may be
unable to tell when a part is left out, so its table is then made without letting conflicts pass.
"""

from __future__ import annotations

from typing import Any

from guided.text.lark.sizes import alternatives

MAX_ALTERNATIVES = 2_000
PREFIX = "__part_"


def cut_large_rules(rules: list[tuple[str, Any, Any, Any]]) -> bool:
    """Cut rules, in place, that have more than 2,000 alternatives; return whether any was.

    A template is not cut: a part of it would need its parameters.
    """
    added: list[tuple[str, Any, Any, Any]] = []
    for index, (name, params, tree, options) in enumerate(rules):
        if not params and tree is not None and alternatives(tree) > MAX_ALTERNATIVES:
            rules[index] = (name, params, _cut(tree, added, top=True), options)
    rules += added
    return bool(added)


def _cut(tree: Any, added: list[tuple[str, Any, Any, Any]], *, top: bool = False) -> Any:
    """Replace what has several alternatives, the innermost first, by names of new rules."""
    from lark import Tree
    from lark.grammar import NonTerminal, RuleOptions

    if not hasattr(tree, "data") or tree.data not in (
        "expansions", "expansion", "alias", "maybe", "expr",
    ):  # fmt: skip
        return tree
    children = [_cut(child, added, top=top and tree.data != "expr") for child in tree.children]
    if top and tree.data in ("expansion", "alias"):
        children = [_cut(child, added) for child in tree.children]
    tree = Tree(tree.data, children)
    if top or tree.data in ("expansion", "alias") or alternatives(tree) <= 1:
        return tree
    body = tree if tree.data == "expansions" else _alternative(tree)
    name = f"{PREFIX}{len(added)}"
    added.append((name, (), body, RuleOptions()))
    return Tree("value", [NonTerminal(name)])


def _alternative(tree: Any) -> Any:
    from lark import Tree

    return Tree("expansions", [Tree("expansion", [tree])])
