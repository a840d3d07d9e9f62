"""`stream`: the same as `generate`, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from guided.decoding import Model, Prompt, Request, decode
from guided.decoding.prompts import is_batch
from guided.errors import GuidedError
from guided.grammar import Grammar
from guided.results.constraint import Constraint, choose_constraint
from guided.results.result import Result
from guided.results.run import check_call, make_requests, make_result
from guided.results.text import TextReader
from guided.sampling import Sampling
from guided.text.json_schema import PropertyOrder, SchemaLike, Whitespace


class Stream(Iterator[str]):
    """The pieces of an output as they come, and the result after the last of them.

    Pieces are never empty and hold whole characters only; joined they are the result's text. Leave
    a stream whenever you like: nothing runs unless the next piece is asked for.
    """

    def __init__(
        self, model: Model, request: Request, constraint: Constraint, compile_seconds: float
    ) -> None:
        self._model = model
        self._request = request
        self._constraint = constraint
        self._compile_seconds = compile_seconds
        self._pieces = self._read()
        self._result: Result | None = None

    def __next__(self) -> str:
        return next(self._pieces)

    @property
    def result(self) -> Result:
        """The result, once the last piece has come.

        Raises:
            GuidedError: there are pieces still to come.
        """
        if self._result is None:
            raise GuidedError(
                "the stream has not come to its end, so it has no result",
                mend="take all pieces first, for example by ''.join(stream)",
            )
        return self._result

    def _read(self) -> Iterator[str]:
        reader, read = TextReader(self._model.vocabulary), 0
        for _ in decode(self._model, [self._request]):
            piece = reader.read(self._request.tokens[read:])
            read = len(self._request.tokens)
            if self._request.finish_reason is not None:
                self._finish()  # so that the result is there with the last piece
            if piece:
                yield piece

    def _finish(self) -> None:
        self._result = make_result(
            self._model, self._request, self._constraint, self._compile_seconds, batch=1
        )


def stream(
    model: Model,
    prompt: Prompt = None,
    *,
    schema: SchemaLike | None = None,
    regex: str | None = None,
    choices: Sequence[str] | None = None,
    grammar: Grammar | None = None,
    whitespace: Whitespace | None = None,
    property_order: PropertyOrder | None = None,
    max_tokens: int = 512,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    seed: int | None = None,
) -> Stream:
    """Write text as `generate` does, and hand it out while it comes.

    Arguments and errors are those of `generate`, except that the prompt is a single one. Errors in
    the arguments are raised here, not with the first piece.

    Returns:
        a Stream: an iterator over pieces of text, with the Result in its `.result` after the last.
    """
    check_call(model, max_tokens)
    if is_batch(prompt):
        raise TypeError("a stream has one prompt; for a list of prompts call guided.generate")
    constraint = choose_constraint(
        schema, regex, choices, grammar, whitespace=whitespace, property_order=property_order
    )
    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, seed=seed)
    requests, seconds = make_requests(model, [prompt], constraint, max_tokens, sampling)
    return Stream(model, requests[0], constraint, seconds)
