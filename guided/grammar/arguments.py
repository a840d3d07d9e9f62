"""What is given to make a grammar of: checked, and known again by its content."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Hashable, Iterable

from guided.errors import GrammarError, LimitError
from guided.grammar.composed import ComposedGrammars
from guided.grammar.files import GrammarFile
from guided.grammar.kept import Identity
from guided.text.json_schema import is_python_type
from guided.text.surrogates import check_text


def refuse_options(file: GrammarFile, **options: object) -> None:
    """Refuse options that would say nothing about a file.

    Raises:
        TypeError: one is given.
    """
    for name, value in options.items():
        if value is not None:
            language = "a JSON Schema" if file.kind == "json" else file.kind.upper()
            raise TypeError(f"{name} says nothing about {file.path}, which is {language}")


def content_of(schema: object) -> Hashable:
    """Return what tells one schema from another; None if it cannot be told.

    Raises:
        LimitError: it is nested deeper than Python can follow.
    """
    if isinstance(schema, (str, bytes)):
        return "text", schema
    if is_python_type(schema):
        return Identity(schema)
    try:
        # Exact where JSON is not (a tuple is no list, 1 no 1.0 and no True), with keys in their
        # order, which is the order in which properties are written; and linear, though parts may
        # be shared or hold themselves.
        return pickle.dumps(schema, pickle.HIGHEST_PROTOCOL)
    except RecursionError:
        raise LimitError(
            "the schema is nested too deeply", limit="levels", value=sys.getrecursionlimit()
        ) from None
    except Exception:  # it holds some object, and what its class does about that, who knows
        return _content_with_grammars(schema)


class _Pickler(pickle.Pickler):
    """Writes the numbers of grammars in the places where they stand."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.grammars: list[ComposedGrammars] = []

    def persistent_id(self, value: object) -> int | None:
        if not isinstance(value, ComposedGrammars):
            return None
        self.grammars.append(value)
        return len(self.grammars)


def _content_with_grammars(schema: object) -> Hashable:
    file = io.BytesIO()
    pickler = _Pickler(file)
    try:
        pickler.dump(schema)
    except Exception:
        return None
    return file.getvalue(), tuple(each._part for each in pickler.grammars)


def check_choices(choices: Iterable[str]) -> tuple[str, ...]:
    """Return the texts, once each, in their order.

    Raises:
        TypeError: it is no list of texts.
        GrammarError: there are none, or one has a surrogate, which UTF-8 cannot write.
    """
    if isinstance(choices, str):
        raise TypeError(f"choices must be a list of strings, found the string {choices!r}")
    texts = tuple(dict.fromkeys(choices))
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"a choice must be a str, found {text!r}")
        check_text(text, f"the choice {text!r}")
    if not texts:
        raise GrammarError(
            "there is nothing to choose from", mend="give at least one text, which may be empty"
        )
    return texts
