"""What callers give: a tag, and the checks of a list of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from guided.errors import GrammarError
from guided.text.surrogates import check_text


@dataclass(frozen=True, slots=True)
class Tag:
    """A part of a text: a marker, what fits a grammar, a closing marker.

    At most one of `schema`, `regex` and `grammar` is given; without one the part is any text in
    which no closing marker occurs.

    Attributes:
        begin: the marker that opens it.
        end: the marker that closes it, or several to choose from; "" if nothing does.
        schema: a JSON Schema or a Python type, as for `Grammar.from_json_schema`.
        regex: a pattern for the whole part.
        grammar: a `Grammar`.
    """

    begin: str
    end: str | Sequence[str] = ""
    schema: Any = None
    regex: str | None = None
    grammar: Any = None

    @property
    def ends(self) -> tuple[str, ...]:
        """The closing markers."""
        return (self.end,) if isinstance(self.end, str) else tuple(dict.fromkeys(self.end))


def check_tags(tags: Sequence[Tag], triggers: Sequence[str] | None) -> tuple[str, ...]:
    """Return the texts that open a tag where text is free, checked against the tags.

    Raises:
        TypeError: something is no tag or no text.
        GrammarError: there is no tag, one is open at its beginning or has several bodies, or the
            triggers do not fit the tags.
    """
    if isinstance(tags, Tag | str) or not all(isinstance(tag, Tag) for tag in tags):
        raise TypeError("tags is a list of guided.Tag")
    if not tags:
        raise GrammarError("there is no tag", mend="give at least one guided.Tag(begin, end)")
    for tag in tags:
        _check_tag(tag)
    if isinstance(triggers, str):
        raise TypeError(f"triggers is a list of texts, found the text {triggers!r}")
    chosen = [tag.begin for tag in tags] if triggers is None else list(triggers)
    texts = tuple(dict.fromkeys(chosen))
    for text in texts:
        check_trigger(text, texts)
        if not any(tag.begin.startswith(text) for tag in tags):
            raise GrammarError(
                f"no tag begins with the trigger {text!r}",
                mend="a trigger is the beginning of the marker of a tag",
            )
    for tag in tags:
        if not any(tag.begin.startswith(text) for text in texts):
            raise GrammarError(
                f"no trigger leads to the tag {tag.begin!r}",
                mend="give a trigger that its marker begins with, or leave triggers out",
            )
    return texts


def check_trigger(text: str, texts: Sequence[str]) -> None:
    """Raise GrammarError if a trigger is empty, or can never be the first to occur."""
    if not text:
        raise GrammarError(
            "a trigger is empty, so no text could be free", mend="give a text that opens a tag"
        )
    for other in texts:
        inside = text.find(other)
        if other != text and other and inside >= 0 and inside + len(other) < len(text):
            raise GrammarError(
                f"the trigger {other!r} lies within the trigger {text!r}, which so never comes",
                mend="leave the longer one out, or choose other markers",
            )


def _check_tag(tag: Tag) -> None:
    if not isinstance(tag.begin, str) or not all(isinstance(end, str) for end in tag.ends):
        raise TypeError(f"the markers of a tag are texts, found {tag.begin!r} and {tag.end!r}")
    if not tag.begin:
        raise GrammarError("a tag has no opening marker", mend="give it a begin")
    if not tag.ends:
        raise GrammarError(
            f"the tag {tag.begin!r} has an empty list of closing markers",
            mend='give one, or "" if nothing closes it',
        )
    given = [name for name in ("schema", "regex", "grammar") if getattr(tag, name) is not None]
    if len(given) > 1:
        raise TypeError(f"the tag {tag.begin!r} has both {' and '.join(given)}; give one of them")
    for marker in (tag.begin, *tag.ends):
        check_text(marker, f"the marker {marker!r}")
