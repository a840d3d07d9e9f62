"""`stream`: the same as `generate`, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from guided.decoding import Model, Prompt
from guided.decoding.drafts import Speculate
from guided.decoding.prompts import is_batch
from guided.errors import GuidedError
from guided.grammar import Grammar
from guided.results.constraint import choose_constraint
from guided.results.default_engine import default_engine
from guided.results.request import Request
from guided.results.result import Result
from guided.results.run import check_call
from guided.results.tool_use import choose_tools
from guided.sampling import Sampling
from guided.text.json_schema import PropertyOrder, SchemaLike, Whitespace
from guided.text.tools.reading import Event


class Stream(Iterator[str]):
    """The pieces of an output as they come, and the result after the last of them.

    Pieces are never empty and hold whole characters only; joined they are the result's text. Leave
    a stream whenever you like: it runs while a piece of it is asked for, or another output of the
    same model is, and is cancelled when it is dropped.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._pieces = iter(request)

    def __next__(self) -> str:
        return next(self._pieces)

    def __del__(self) -> None:
        self._request.cancel()

    def events(self) -> Iterator[Event]:
        """Iterate over what comes of an output with tools, in place of its text alone.

        Yields pieces of text, and of each call that it began, its arguments so far, and that it is
        whole; see `guided.CallParser`. Without tools there are only pieces of text.
        """
        while not self._pieces.ended:
            piece = self._pieces.take_events()
            yield from piece

    @property
    def tokens(self) -> list[int]:
        """The ids of the tokens that were written so far, the end token left out."""
        return self._request.tokens

    @property
    def max_tokens(self) -> int:
        """How many tokens there can be: what was asked for, or what the model has room for."""
        return self._request.max_tokens

    @property
    def result(self) -> Result:
        """The result, once the last piece has come.

        Raises:
            GuidedError: there are pieces still to come.
        """
        if not self._pieces.ended:
            raise GuidedError(
                "the stream has not come to its end, so it has no result",
                mend="take all pieces first, for example by ''.join(stream)",
            )
        return self._request.result()


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
    tools: Sequence[Any] | None = None,
    tool_choice: str | None = None,
    tool_format: str | None = None,
    parallel_calls: bool | None = None,
    max_tokens: int = 512,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    typical_p: float | None = None,
    seed: int | None = None,
    logit_bias: Mapping[int, float] | None = None,
    repetition_penalty: float | None = None,
    presence_penalty: float | None = None,
    frequency_penalty: float | None = None,
    min_tokens: int | None = None,
    logprobs: bool = False,
    speculate: Speculate | None = None,
    assistant: Model | None = None,
    heal: bool = False,
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
    use = choose_tools(model, tools, tool_choice, tool_format, parallel_calls)
    constraint = choose_constraint(
        schema,
        regex,
        choices,
        grammar,
        whitespace=whitespace,
        property_order=property_order,
        tools=use,
    )
    sampling = Sampling(
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        typical_p=typical_p,
        seed=seed,
        logit_bias=logit_bias,
        repetition_penalty=repetition_penalty,
        presence_penalty=presence_penalty,
        frequency_penalty=frequency_penalty,
        min_tokens=min_tokens,
        logprobs=logprobs,
    )
    sampling.check_length(max_tokens)
    [request] = default_engine(model).submit_all(
        [prompt],
        constraint,
        sampling,
        max_tokens,
        speculate=speculate,
        assistant=assistant,
        heal=heal,
    )
    return Stream(request)
