"""Reads schemas into shapes, each when it is first asked for.

`KeywordReader` reads the keywords of one schema that constrain a value at once; those that give
unions are combined with that here. Parts that must fit several schemas, or not fit one, are read
here as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Literal

from guided.errors import GuidedError, UnsupportedError
from guided.text.json_schema.algebra.budget import TooManyError
from guided.text.json_schema.algebra.emptiness import Emptiness
from guided.text.json_schema.algebra.exclusion import without
from guided.text.json_schema.algebra.intersection import intersect
from guided.text.json_schema.algebra.negation import Failures, InexactError
from guided.text.json_schema.algebra.sharing import Sharing
from guided.text.json_schema.algebra.union import unite
from guided.text.json_schema.document.document import Document
from guided.text.json_schema.document.places import Subschema, describe
from guided.text.json_schema.document.references import DOCUMENTATION
from guided.text.json_schema.keywords.combinations import COMBINATIONS
from guided.text.json_schema.keywords.keyword_reader import (
    READING,
    KeywordReader,
    Split,
    circular,
    only_schema,
    type_alone,
)
from guided.text.json_schema.keywords.known import (
    ANNOTATIONS,
)
from guided.text.json_schema.keywords.one_of_negation import parts_of_one_of, without_one_of
from guided.text.json_schema.shapes.children import place
from guided.text.json_schema.shapes.shape import (
    ANYTHING,
    Child,
    Either,
    Negated,
    Reason,
    Shape,
    is_nothing,
)
from guided.text.json_schema.strings.plain_texts import Texts

_REFERENCE_ONLY = ANNOTATIONS | {"$ref"}
_NOT_ONLY = ANNOTATIONS | {"not"}

# Those that tell alternatives apart come first.
_ORDER = ("anyOf", "oneOf", "dependentSchemas", "dependencies", "if", "not")


class Reader:
    """Reads the subschemas of one document.

    Attributes:
        asserts_formats: `format` is a constraint, not an annotation.
        not_enforced: pointers to the keywords passed over by `unsupported="ignore"`.
        unknown: pointers to keywords that are not in the standard.
    """

    def __init__(
        self,
        document: Document,
        unsupported: Literal["refuse", "ignore"],
        *,
        formats: Literal["assert", "annotate"] = "assert",
    ) -> None:
        self.document = document
        self.is_lenient = unsupported == "ignore"
        self.asserts_formats = formats == "assert"
        self.not_enforced: dict[str, None] = {}
        self.unknown: dict[str, None] = {}
        self._joined: dict[Child, Shape] = {}
        self._keywords = KeywordReader(self)
        document.refuse = self.refuse
        if document.is_foreign:
            uri = describe(document.root.value["$schema"])
            self.refuse(document.root, "$schema", f"the dialect {uri} is not supported")

    @cached_property
    def emptiness(self) -> Emptiness:
        """What can be told of where nothing fits."""
        return Emptiness(self)

    @cached_property
    def sharing(self) -> Sharing:
        """Finds children that come to the same."""
        return Sharing(self)

    @cached_property
    def texts(self) -> Texts:
        """What can be told of patterns."""
        return Texts()

    @cached_property
    def failures(self) -> Failures:
        """The ways not to fit an alternative."""
        return Failures()

    def release(self) -> None:
        """Let go of what refers back to here: all is freed at once, and the collector has no work.

        Nothing can be read after that.
        """
        self.document.release()
        for name in ("emptiness", "sharing", "_keywords"):
            self.__dict__.pop(name, None)

    def glance(self, schema: Subschema) -> Shape | None:
        """Return what fits a schema, if it was read or says no more than a type."""
        known: Shape | None = schema.shape
        if known is None:
            known = schema.shape = type_alone(schema.value)
        return known

    def shape(self, child: Child) -> Shape:
        """Return what fits all the terms of a child."""
        if len(child) == 1:
            term = child[0]
            if type(term) is Subschema:
                known = self.glance(term)
                return self._close(term, False) if known is None or known is READING else known
        elif not child:
            return ANYTHING
        shape = self._joined.get(child)
        if shape is None:
            shape = self._joined[child] = self.sharing.shape(self._join(child))
        return shape

    def in_place(self, child: Child, tracks: bool) -> Shape:
        """Return what fits a child of one schema, with what that has seen if `tracks`."""
        if not tracks:
            return self.shape(child)
        schema = only_schema(child)
        shape = self._keywords.known(schema, True)
        return self._close(schema, True) if shape is None or shape is READING else shape

    def without(self, shape: Shape, schema: Subschema) -> Shape:
        """Return what fits a shape and does not fit a schema.

        Raises:
            InexactError, TooManyError: that cannot be said.
        """
        value = schema.value
        if isinstance(value, dict) and "not" in value and not value.keys() - _NOT_ONLY:
            inner = self.document.subschema(value["not"], schema, ("not",))
            return self.meet(shape, self.shape(self.resolve((inner,))), schema, ("not",))
        if isinstance(value, dict) and ("oneOf" in value or "$ref" in value):
            target = self.resolve((schema,))
            parts = parts_of_one_of(self, target)
            if parts is not None:
                return without_one_of(self, shape, *parts, schema)
        return without(self, shape, self.shape(self.resolve((schema,))), schema)

    def meet(self, a: Shape, b: Shape, at: Subschema, tokens: tuple[str | int, ...]) -> Shape:
        """Return what two shapes both allow, see `algebra.intersect`."""
        return intersect(a, b, at, tokens, self.emptiness)

    def is_void(self, child: Child) -> bool:
        """Return True if it is proven that nothing fits a child."""
        return self.emptiness.child(child)

    def resolve(self, child: Child) -> Child:
        """Replace a reference without siblings by its target, so that both are one child."""
        schema = child[0] if len(child) == 1 else None
        if type(schema) is not Subschema or not isinstance(schema.value, dict):
            return child
        if "$ref" not in schema.value:
            return child
        seen = {schema}
        while (target := self._sole_target(schema)) is not None:
            if target in seen:
                raise circular(target)
            seen.add(target)
            schema = target
        return (schema,)

    def target(self, schema: Subschema, keyword: str = "$ref") -> Subschema | None:
        """Return what a reference leads to, None if it is passed over."""
        try:
            return self.document.target(schema, keyword)
        except UnsupportedError:
            if not self.is_lenient:
                raise
            self.not_enforced[schema.pointer(keyword)] = None
            return None

    def refuse(
        self,
        schema: Subschema,
        keyword: str | None,
        fact: str | None = None,
        mend: str | None = None,
    ) -> None:
        """Raise the error for a keyword that cannot be enforced, or note it down if lenient.

        Without a keyword it is the schema itself, in whose place a grammar stands.
        """
        pointer = schema.pointer() if keyword is None else schema.pointer(keyword)
        if self.is_lenient:
            self.not_enforced[pointer] = None
            return
        raise UnsupportedError(
            fact or f'the keyword "{keyword}" is not supported',
            keyword=keyword or "grammar",
            place=f"at {pointer or 'the top of the schema'}",
            page=DOCUMENTATION,
            mend=f'{mend or "take it out"}, or compile with unsupported="ignore" to go without it',
        )

    def refuse_combination(
        self, schema: Subschema, keyword: str, error: InexactError | TooManyError
    ) -> None:
        """Refuse a keyword that gives a union which cannot be said."""
        if isinstance(error, TooManyError):
            fact = f'"{keyword}" leads to too many alternatives: {error.fact}'
        else:
            pointer = error.at.pointer(error.keyword)
            fact = f'"{keyword}" needs what does not fit {pointer}, and that cannot be compiled'
        self.refuse(schema, keyword, fact)

    def _sole_target(self, schema: Subschema) -> Subschema | None:
        """Return the target of a schema that is nothing but a reference."""
        value = schema.value
        if not isinstance(value, dict) or "$ref" not in value:
            return None
        # Up to draft 7 a reference overrides all that stands beside it.
        if schema.draft > 7 and value.keys() - _REFERENCE_ONLY:
            return None
        return self.target(schema)

    def _join(self, child: Child) -> Shape:
        """Read a child of several terms, or of another one than a schema."""
        at = place(child) or self.document.root
        known = self._joined.get(child[:-1]) if len(child) > 2 else None
        shape, terms = (ANYTHING, child) if known is None else (known, child[-1:])
        splits: list[Split] = []
        try:
            for term in terms:
                if type(term) is Subschema:
                    other, more = self._keywords.open(term, False)
                    shape = self.meet(shape, other, at, ())
                    splits += more
            shape = self.combine(shape, splits)
            for term in terms:
                if type(term) is Either:
                    shape = self.meet(shape, unite([*map(self.shape, term.children)]), at, ())
            for term in terms:
                if type(term) is Negated:
                    shape = self._outside(shape, term.schema)
        except InexactError as error:
            fact = f'what does not fit "{error.keyword}" is needed, and that cannot be compiled'
            self.refuse(error.at, error.keyword, fact)
        except TooManyError as error:
            self.refuse_combination(at, _union_of(at), error)
        return shape

    def _outside(self, shape: Shape, schema: Subschema) -> Shape:
        outside = self.without(shape, schema)
        if not is_nothing(outside) or is_nothing(shape):
            return outside
        fact = "a value must not fit a schema, and all that may stand there fits it"
        mend = "allow other values there, or let the schema say more"
        return Shape(reason=Reason(fact, schema, (), mend))

    def combine(self, shape: Shape, splits: Iterable[Split]) -> Shape:
        """Combine what is known with the keywords that give unions."""
        for schema, keyword, tracks in sorted(splits, key=_rank):
            content = schema.value[keyword]
            try:
                shape = COMBINATIONS[keyword](self, schema, content, tracks, shape)
            except (InexactError, TooManyError) as error:
                self.refuse_combination(schema, keyword, error)
        return shape

    def _close(self, schema: Subschema, tracks: bool) -> Shape:
        """Read a schema, all keywords combined."""
        shape, splits = self._keywords.open(schema, tracks)
        if not splits:
            return shape
        self._keywords.enter(schema, tracks)
        try:
            shape = self.combine(shape, splits)
        except GuidedError:
            # It may be asked for again: what is only looked at on the way may fail.
            self._keywords.keep(schema, None, tracks)
            raise
        finally:
            self._keywords.leave()
        self._keywords.keep(schema, shape, tracks)
        return shape


def _rank(split: Split) -> int:
    return _ORDER.index(split.keyword)


def _union_of(schema: Subschema) -> str:
    """Return a keyword that gives a union, to name where a child of several terms is too much."""
    value = schema.value if isinstance(schema.value, dict) else {}
    return next((keyword for keyword in (*_ORDER, *value) if keyword in value), "allOf")
