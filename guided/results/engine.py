"""`Engine`: many requests over one model, which join and leave between steps."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from types import TracebackType
from typing import Any, TypedDict, Unpack

from guided.decoding import Job, Loop, Model, Prompt
from guided.decoding.drafts import Drafter, Speculate
from guided.decoding.drafts.choice import Drafters
from guided.decoding.healing import spelled, taken_back
from guided.decoding.models import Runner
from guided.decoding.prompts import is_batch
from guided.decoding.runners import CacheDtype, CacheKind, open_runner
from guided.grammar import Grammar, Matcher
from guided.grammar.healing import compile_behind
from guided.results.constraint import Constraint, check_constraint, choose_constraint
from guided.results.driver import Driver, deadline
from guided.results.engine_statistics import EngineStatistics, engine_statistics
from guided.results.request import Reading, Request
from guided.results.result import Result
from guided.results.run import bounded, check_count, check_model
from guided.results.tool_use import ToolUse, choose_tools, encode_with_tools
from guided.sampling import Sampler, Sampling
from guided.text.json_schema import PropertyOrder, SchemaLike, Whitespace

MAX_BATCH = 64
# Tokens of one forward. A longer one keeps those that write waiting; a shorter one does not fill
# the device.
TOKEN_BUDGET = {"cpu": 512, "cuda": 2048}
# Threads that make grammars: a slow one shall not keep all others waiting.
COMPILERS = 4


class Options(TypedDict, total=False):
    """The keyword arguments of `Engine.submit`."""

    schema: SchemaLike | None
    regex: str | None
    choices: Sequence[str] | None
    grammar: Grammar | None
    whitespace: Whitespace | None
    property_order: PropertyOrder | None
    tools: Sequence[Any] | None
    tool_choice: str | None
    tool_format: str | None
    parallel_calls: bool | None
    sampling: Sampling | None
    max_tokens: int
    priority: int
    timeout: float | None
    speculate: Speculate | None
    assistant: Model | None
    heal: bool


class Engine:
    """Runs requests over one model by continuous batching, each under its own grammar or none.

    ```python
    with guided.Engine(model) as engine:        # a thread of its own
        requests = [engine.submit(prompt, schema=Person) for prompt in prompts]
        people = [request.result().value for request in requests]
    ```
    Without `start` or `with` nothing runs by itself: `run()`, a request's `result()` and iterating
    a request run the engine in the calling thread. Any thread may submit, wait and cancel.

    Args:
        model: from `guided.load`.
        max_batch: the most requests that run at a time; others wait.
        token_budget: the most tokens of one forward, at least `max_batch`; longer prompts run in
            chunks beside the requests that write. None: 512 on a CPU, 2,048 on a GPU.
        memory: bytes for keys and values. None: what the model's context and the device suggest.
        cache: "paged", which shares the beginnings of prompts, or "contiguous".
        kv_dtype: "int8" or "fp8" keep keys and values in half the memory or less, with a scale for
            each token and head. None: in the dtype of the model.
        runner: another way to run the model, in place of the three above.
        speculate: where guesses of the next tokens come from, several of which the model checks in
            one forward; what is written stays the same, docs/speculation.md. "auto": all sources
            that cost next to nothing, and the assistant, as far as they pay; "off"; or a list of
            "forced", "prompt", "states", "lookahead", "assistant", "layers" and of drafters.
        assistant: a smaller model with the same vocabulary, from `guided.load`, that guesses.

    Raises:
        TypeError, ValueError: an argument is not what it should be.
        GuidedError: the memory does not suffice for a single page.
    """

    def __init__(
        self,
        model: Model,
        *,
        max_batch: int = MAX_BATCH,
        token_budget: int | None = None,
        memory: int | None = None,
        cache: CacheKind = "paged",
        kv_dtype: CacheDtype | None = None,
        runner: Runner | None = None,
        speculate: Speculate = "auto",
        assistant: Model | None = None,
    ) -> None:
        check_model(model)
        check_count("max_batch", max_batch)
        if memory is not None:
            check_count("memory", memory)
        if runner is None:
            runner = open_runner(
                model, memory=memory, cache=cache, kv_dtype=kv_dtype, max_batch=max_batch
            )
        if token_budget is None:
            usual = TOKEN_BUDGET.get(runner.device.type, TOKEN_BUDGET["cuda"])
            token_budget = max(usual, max_batch)
        check_count("token_budget", token_budget)
        if token_budget < max_batch:
            raise ValueError(
                f"token_budget must be at least max_batch ({max_batch}), found {token_budget}"
            )
        self.model = model
        self._sources = Drafters(model)
        self._drafters = self._sources.choose(speculate, assistant)
        self._driver = Driver(
            Loop(runner, model.vocabulary, max_batch=max_batch, token_budget=token_budget)
        )
        self._compilers = ThreadPoolExecutor(COMPILERS, thread_name_prefix="guided-compile")
        self._tokenizer = threading.Lock()  # fast tokenizers refuse two threads at once

    def submit(
        self,
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
        sampling: Sampling | None = None,
        max_tokens: int = 512,
        priority: int = 0,
        timeout: float | None = None,
        speculate: Speculate | None = None,
        assistant: Model | None = None,
        heal: bool = False,
    ) -> Request:
        """Hand in a request, and return at once.

        Its grammar is made in another thread, while the prompt is run. A grammar at fault fails
        this request alone: its `result()` raises.

        Args:
            prompt: as for `generate`, a single one.
            schema, regex, choices, grammar, whitespace, property_order: as for `generate`.
            tools, tool_choice, tool_format, parallel_calls: as for `generate`.
            sampling: how to choose; greedy if not given.
            max_tokens: at most so many tokens; the model's context and the cache bound them too.
            priority: the higher goes first, and takes the place of a lower one if need be; requests
                of one priority go in the order they came.
            timeout: seconds from now after which it is given up, `finish_reason` "timeout".
            speculate, assistant: as for the engine, whose own are taken if neither is given.
            heal: as for `generate`.

        Raises:
            LimitError: the prompt does not fit into the model's context or the cache.
            GuidedError: the engine is closed.
            TypeError, ValueError: an argument is not what it should be.
        """
        use = choose_tools(self.model, tools, tool_choice, tool_format, parallel_calls)
        is_constrained = check_constraint(
            schema, regex, choices, grammar, whitespace=whitespace, property_order=property_order
        )

        def make() -> Constraint:
            return choose_constraint(
                schema,
                regex,
                choices,
                grammar,
                whitespace=whitespace,
                property_order=property_order,
                tools=use,
            )

        drafters = self._choose_drafters(speculate, assistant)
        if sampling is not None:
            sampling.check_length(max_tokens)
        sampler = Sampler(Sampling() if sampling is None else sampling)
        job = self._make_job(
            prompt, sampler, max_tokens, tools=use, priority=priority, timeout=timeout, heal=heal
        )
        job.drafters = drafters
        reading = Reading()
        if is_constrained or use is not None:
            job.compiling = self._compilers.submit(self._compile, make, job, reading)
            job.compiling.add_done_callback(lambda _: self._driver.touch())
        else:
            job.matcher = self._matcher(reading.constraint, job)
        return self._enqueue(job, reading)

    def submit_all(
        self,
        prompts: Sequence[Prompt],
        constraint: Constraint,
        sampling: Sampling,
        max_tokens: int,
        *,
        speculate: Speculate | None = None,
        assistant: Model | None = None,
        heal: bool = False,
    ) -> list[Request]:
        """Hand in a batch under one constraint, which is compiled now; see `generate`.

        Raises:
            SourceError, UnsupportedError: the constraint is at fault.
            LimitError: a prompt does not fit; then none is handed in.
        """
        drafters = self._choose_drafters(speculate, assistant)
        jobs = []
        for index, prompt in enumerate(prompts):
            sampler = Sampler(sampling, index)
            job = self._make_job(prompt, sampler, max_tokens, tools=constraint.tools, heal=heal)
            job.drafters = drafters
            job.matcher = self._matcher(constraint, job)
            jobs.append(job)
        return [self._enqueue(job, Reading(constraint)) for job in jobs]

    def run(self) -> None:
        """Run in this thread until no request is left; with `start`, wait for that."""
        self._driver.run()

    def wait(self, requests: Sequence[Request]) -> None:
        """Run, or wait, until all of these are done or one has failed."""
        self._driver.drive(
            lambda: (
                any(request.error is not None for request in requests)
                or all(request.done for request in requests)
            )
        )

    def start(self) -> None:
        """Run in a thread of its own from now on, until `close`."""
        self._driver.start()

    def close(self) -> None:
        """Cancel all requests and forget what is cached; closing twice does nothing.

        The memory of the cache goes with the engine.
        """
        self._driver.close()
        self._compilers.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Engine:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def generate(self, prompt: Prompt = None, **options: Unpack[Options]) -> Result:
        """Submit a request and await its result; a cancelled await cancels the request.

        The engine runs in a thread of its own, which is started if need be. Arguments and errors
        are those of `submit` and of `Request.result`.
        """
        self.start()
        request = self.submit(prompt, **options)
        signal = Signal(request)
        try:
            while not request.done:
                await signal.wait()
        finally:
            request.cancel()
        return request.result()

    async def stream(self, prompt: Prompt = None, **options: Unpack[Options]) -> AsyncIterator[str]:
        """Submit a request and iterate over its text; leaving the iteration cancels it."""
        self.start()
        request = self.submit(prompt, **options)
        signal, pieces = Signal(request), iter(request)
        try:
            while not pieces.ended:
                if piece := pieces.take():
                    yield piece
                if not pieces.ended:
                    await signal.wait()
        finally:
            request.cancel()
        if request.error is not None:
            raise request.error

    def stats(self) -> EngineStatistics:
        """Return what the engine has done so far, and how full it is."""
        return engine_statistics(self._driver.loop)

    def __repr__(self) -> str:
        scheduler = self._driver.loop.scheduler
        return (
            f"<guided.Engine over {self.model!r}:"
            f" {len(scheduler.running)} running, {len(scheduler.waiting)} waiting>"
        )

    def _make_job(
        self,
        prompt: Prompt,
        sampler: Sampler,
        max_tokens: int,
        *,
        tools: ToolUse | None = None,
        priority: int = 0,
        timeout: float | None = None,
        heal: bool = False,
    ) -> Job:
        """Check what belongs to a single request, and encode its prompt."""
        check_count("max_tokens", max_tokens)
        check_order(priority, timeout)
        if is_batch(prompt):
            raise TypeError("a request has one prompt; submit each prompt of a list")
        submitted = perf_counter()
        with self._tokenizer:
            tokens = encode_with_tools(self.model, prompt, tools)
        vocabulary = self.model.vocabulary
        # A template ends as the model was taught it, and begins the answer on a seam.
        count = taken_back(tokens, vocabulary) if heal and isinstance(prompt, str) else 0
        kept = len(tokens) - count
        job = Job(
            prompt=tokens[:kept],
            # What is taken back is written on top of what was asked for.
            max_tokens=bounded(max_tokens, tokens, self.model.context) + count,
            sampler=sampler,
            healed=spelled(tokens[kept:], vocabulary),
            taken_back=count,
            priority=priority,
            deadline=deadline(timeout),
        )
        job.timings.submitted = submitted
        return job

    def _choose_drafters(
        self, speculate: Speculate | None, assistant: Model | None
    ) -> tuple[Drafter, ...]:
        if speculate is None and assistant is None:
            return self._drafters
        return self._sources.choose("auto" if speculate is None else speculate, assistant)

    def _enqueue(self, job: Job, reading: Reading) -> Request:
        self._driver.add(job)
        return Request(self._driver, job, reading)

    def _compile(
        self, make: Callable[[], Constraint], job: Job, reading: Reading
    ) -> Matcher | None:
        """Make the grammar of a job, in a thread of the compilers."""
        if job.is_over:  # it was cancelled while it waited for this
            return None
        start = perf_counter()
        reading.constraint = make()
        matcher = self._matcher(reading.constraint, job)
        job.timings.compile = perf_counter() - start
        return matcher

    def _matcher(self, constraint: Constraint, job: Job) -> Matcher | None:
        """Compile a constraint; return a matcher, or None if a job may write anything."""
        grammar, vocabulary = constraint.grammar, self.model.vocabulary
        start = perf_counter()
        if job.healed:
            job.is_free = grammar is None
            automaton = compile_behind(job.healed, grammar, vocabulary)
        elif grammar is not None:
            automaton = grammar.compile(vocabulary)
        else:
            return None
        matcher = automaton.matcher()
        job.timings.compile = perf_counter() - start
        return matcher


class Signal:
    """Tells a coroutine, from the engine's thread, that something has come for a request."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        request.notify(self._tell)

    async def wait(self) -> None:
        """Return when something has come since the last call, or since the beginning."""
        await self._event.wait()
        self._event.clear()

    def _tell(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._event.set)
        except RuntimeError:  # the event loop is closed, so nobody waits
            self._request.cancel()


def check_order(priority: object, timeout: object) -> None:
    """Raise unless these are an int, and a positive number or None."""
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise TypeError(f"priority must be an int, found {priority!r}")
    if timeout is None:
        return
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"timeout must be a number of seconds, found {timeout!r}")
    if not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, found {timeout!r}")
