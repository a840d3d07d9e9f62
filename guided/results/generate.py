"""`generate`: a model, a prompt and a constraint to a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

from guided.decoding import Messages, Model, Prompt
from guided.decoding.drafts import Speculate
from guided.decoding.prompts import is_batch
from guided.grammar import Grammar
from guided.results.constraint import choose_constraint
from guided.results.default_engine import default_engine
from guided.results.result import Result
from guided.results.run import check_call
from guided.results.tool_use import choose_tools
from guided.sampling import Sampling
from guided.text.json_schema import PropertyOrder, SchemaLike, Whitespace


@overload
def generate(
    model: Model,
    prompt: str | list[Mapping[str, Any]] | list[dict[str, Any]] | None = None,
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
) -> Result: ...


@overload
def generate(
    model: Model,
    prompt: list[str] | list[Messages] | list[Prompt],
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
) -> list[Result]: ...


def generate(
    model: Model,
    prompt: Any = None,
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
) -> Result | list[Result]:
    """Write text with a model, so that it fits the constraint.

    Args:
        model: from `guided.load`.
        prompt: text; a list of chat messages, written by the model's template; None for the
            beginning of a text; or a list of prompts, which run as a batch.
        schema: a JSON Schema as a value or as text; or a Python type: a pydantic model, a
            dataclass, a TypedDict, an Enum, `Literal["a", "b"]`, `list[int]`, a union ...
        regex: a pattern for the whole output.
        choices: the texts to choose from.
        grammar: a grammar. At most one of these four; with none the text is free.
        whitespace, property_order: options of the schema; `Grammar.from_json_schema` tells them and
            has more of them, and what it returns goes here as `grammar`.
        tools: what the model may call: functions, pydantic models, dictionaries as the OpenAI API
            has them. Then the constraint is that of an output without calls, and `result.calls` are
            the calls; docs/tools.md.
        tool_choice: "auto", the model chooses; "required", it calls; "none", it does not; or the
            name of the tool to call.
        tool_format: how the model writes calls; None: as its chat template says.
        parallel_calls: whether there may be several calls; they may if it is not given.
        max_tokens: at most so many tokens; the model's context bounds them too.
        temperature, top_k, top_p, min_p, typical_p, seed: see `Sampling`; greedy if none is given.
            In a batch each sequence has its own seed, counted up from `seed`.
        logit_bias, repetition_penalty, presence_penalty, frequency_penalty, min_tokens, logprobs:
            see `Sampling`.
        speculate, assistant: where guesses of the next tokens come from; see `Engine`. They change
            how fast the text comes, and nothing else.
        heal: take the end of a prompt that is text back, and let the model write it again, in
            tokens that may reach beyond it; `result.text` has what comes after. docs/sampling.md.

    Returns:
        a Result, or a list of them for a list of prompts.

    Raises:
        SourceError, UnsupportedError: the constraint is at fault, or cannot be enforced exactly.
        LimitError: a prompt leaves no room in the model's context or its cache.
        TypeError, ValueError: an argument is not what it should be.
    """
    check_call(model, max_tokens)
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
    prompts = list(prompt) if is_batch(prompt) else [prompt]
    engine = default_engine(model)
    requests = engine.submit_all(
        prompts,
        constraint,
        sampling,
        max_tokens,
        speculate=speculate,
        assistant=assistant,
        heal=heal,
    )
    try:
        engine.wait(requests)
        results = [request.result() for request in requests if request.done]
    finally:
        for request in requests:
            request.cancel()
    return results if is_batch(prompt) else results[0]
