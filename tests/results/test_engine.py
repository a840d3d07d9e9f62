"""`Engine`: many requests at a time, from any thread, and each as if it were alone."""

from __future__ import annotations

import asyncio
import gc
import re
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any, Literal

import pytest

from guided.decoding import Model, load
from guided.errors import GrammarError, GuidedError, IncompleteError, LimitError
from guided.grammar import Grammar
from guided.results import Engine, Request, generate, stream
from guided.results.default_engine import default_engine
from guided.sampling import Sampling
from tests.decoding.simple_runner import SimpleRunner, network_of
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer


@pytest.fixture
def engine(model: Model) -> Iterator[Engine]:
    """An engine without a thread of its own."""
    engine = Engine(model, max_batch=4, token_budget=64)
    yield engine
    engine.close()


CASES: list[tuple[str, dict[str, Any]]] = [
    ("When? ", {"regex": r"\d{4}-\d{2}"}),
    ("Well? ", {"choices": ["yes", "no", "yes and no"]}),
    ("As JSON: ", {"schema": list[Literal[1, 2]], "whitespace": "compact"}),
    ("Some words: ", {"grammar": Grammar.from_regex("[a-z]{3,9}( [a-z]{3,9}){2}")}),
    ("Anything", {}),
    ("A longer prompt, so that they are ragged: ", {"regex": "[a-f]{20}"}),
]


def submit_all(engine: Engine) -> list[Request]:
    return [engine.submit(prompt, max_tokens=30, **options) for prompt, options in CASES]


def alone(model: Model) -> list[Any]:
    return [generate(model, prompt, max_tokens=30, **options) for prompt, options in CASES]


def test_each_result_is_the_one_computed_alone(model: Model, engine: Engine) -> None:
    requests = submit_all(engine)
    assert not any(request.done for request in requests)
    engine.run()
    assert all(request.done for request in requests)
    for request, wanted in zip(requests, alone(model), strict=True):
        result = request.result()
        assert result.tokens == wanted.tokens
        assert result.finish_reason == wanted.finish_reason
        if wanted.is_complete:
            assert result.value == wanted.value
    assert max(request.result().stats.batch for request in requests) > 1


def test_a_thread_of_its_own_serves_while_others_wait(model: Model) -> None:
    with Engine(model) as engine:
        tokens = [request.result(timeout=60).tokens for request in submit_all(engine)]
    assert tokens == [result.tokens for result in alone(model)]


def test_any_thread_may_submit_and_wait(model: Model, engine: Engine) -> None:
    """Without a thread of the engine's own too: they take turns."""
    wanted = [result.tokens for result in alone(model)]
    found: dict[int, list[list[int]]] = {}

    def ask(place: int) -> None:
        found[place] = [request.result(timeout=60).tokens for request in submit_all(engine)]

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == dict.fromkeys(range(4), wanted)


def test_a_request_is_iterated_in_pieces(model: Model, engine: Engine) -> None:
    request = engine.submit("Go: ", regex="(é|ü|日|😀){8}")
    other = engine.submit("Go: ", regex="[a-z]{5}")
    pieces = list(request)
    assert all(pieces)
    assert len(pieces) > 1
    assert "".join(pieces) == request.result().text
    assert list(request) == ["".join(pieces)]  # once more, all that is there
    assert re.fullmatch("[a-z]{5}", other.result().text)


def test_a_grammar_at_fault_fails_its_request_alone(model: Model, engine: Engine) -> None:
    good = engine.submit("Go: ", regex="[a-z]{5}")
    bad = engine.submit("Go: ", regex="(a")
    engine.run()
    assert good.result().text == generate(model, "Go: ", regex="[a-z]{5}").text
    with pytest.raises(GrammarError):
        bad.result()
    with pytest.raises(GrammarError):
        list(bad)
    assert bad.done
    assert isinstance(bad.error, GrammarError)
    assert bad.finish_reason is None
    assert (engine.stats().finished, engine.stats().failed) == (1, 1)


def test_a_grammar_over_a_budget_fails_its_request_alone(engine: Engine) -> None:
    good = engine.submit("Go: ", regex="[a-z]{5}")
    deep: dict[str, Any] = {}
    for _ in range(3000):
        deep = {"items": deep}
    bad = engine.submit("Go: ", schema=deep)
    engine.run()
    assert good.result().finish_reason == "stop"
    assert isinstance(bad.error, GuidedError)


def test_a_cancelled_request_keeps_its_text(model: Model, engine: Engine) -> None:
    request = engine.submit("Go: ", regex="[a-z]{20}")
    first = next(iter(request))
    request.cancel()
    result = request.result()
    assert result.finish_reason == "cancelled"
    assert result.text.startswith(first)
    whole = generate(model, "Go: ", regex="[a-z]{20}").tokens
    assert result.tokens == whole[: len(result.tokens)]
    assert len(result.tokens) < len(whole)
    with pytest.raises(IncompleteError, match="'cancelled'"):
        _ = result.value


def test_a_request_that_takes_too_long_is_given_up(engine: Engine) -> None:
    request = engine.submit("Go: ", regex="[a-z]{200}", timeout=1e-3)
    other = engine.submit("Go: ", regex="[a-z]{5}")
    time.sleep(2e-3)
    engine.run()
    assert request.result().finish_reason == "timeout"
    assert other.result().finish_reason == "stop"


def test_a_request_that_waits_for_its_grammar_is_given_up_in_time(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else moves the engine then."""
    blocked = threading.Event()
    monkeypatch.setattr("guided.results.engine.choose_constraint", lambda *_, **__: blocked.wait())
    request = engine.submit("Go: ", regex="[a-z]{5}", timeout=0.05)
    try:
        assert request.result(timeout=30).finish_reason == "timeout"
        assert request.result().stats.forwards == 1  # the prompt was run meanwhile
    finally:
        blocked.set()


def test_waiting_for_a_result_may_have_an_end(engine: Engine) -> None:
    request = engine.submit("Go: ", regex="[a-z]{100}")
    with pytest.raises(TimeoutError, match=r"is not done after 0\.0 seconds"):
        request.result(timeout=0.0)
    assert request.result().finish_reason == "stop"


def test_the_higher_priority_is_served_first(model: Model) -> None:
    engine = Engine(model, max_batch=1)
    low = engine.submit("Go: ", regex="[a-z]{5}")
    high = engine.submit("Go: ", regex="[a-z]{5}", priority=1)
    high.result()
    assert not low.done
    assert low.result().tokens == high.result().tokens
    engine.close()


def test_sampling_is_each_request_s_own(model: Model, engine: Engine) -> None:
    options: list[dict[str, Any]] = [{"temperature": 3.0, "seed": 1}, {"seed": 2}, {}]
    requests = [
        engine.submit("x", regex="[a-z]{20}", sampling=Sampling(**option)) for option in options
    ]
    engine.run()
    for request, option in zip(requests, options, strict=True):
        assert request.result().tokens == generate(model, "x", regex="[a-z]{20}", **option).tokens


def test_close_cancels_and_refuses_what_comes_after(model: Model) -> None:
    engine = Engine(model)
    request = engine.submit("Go: ", regex="[a-z]{20}")
    engine.close()
    engine.close()
    assert request.result().finish_reason == "cancelled"
    with pytest.raises(GuidedError, match="the engine is closed"):
        engine.submit("Go: ")
    with pytest.raises(GuidedError, match="the engine is closed"):
        engine.start()


def test_close_lets_go_of_those_who_wait(model: Model) -> None:
    engine = Engine(model)
    engine.start()
    request = engine.submit("Go: ", regex="[a-z]{200}")
    reasons: list[str] = []
    waiter = threading.Thread(target=lambda: reasons.append(request.result().finish_reason))
    waiter.start()
    engine.close()
    waiter.join(timeout=30)
    assert reasons == ["cancelled"] or reasons == ["stop"]


def test_a_loop_that_breaks_keeps_nobody_waiting(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = engine.submit("Go: ")

    def fail() -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(engine._driver.loop.scheduler, "plan", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        request.result(timeout=30)
    monkeypatch.undo()
    assert engine.submit("Go: ", regex="[a-z]{5}").result().finish_reason == "stop"


def test_statistics_of_the_engine(engine: Engine) -> None:
    requests = submit_all(engine)
    waiting = engine.stats()
    assert (waiting.running, waiting.waiting, waiting.finished) == (0, len(CASES), 0)
    engine.run()
    stats = engine.stats()
    results = [request.result() for request in requests]
    assert (stats.running, stats.waiting, stats.finished) == (0, 0, len(CASES))
    assert stats.output_tokens == sum(len(result.tokens) for result in results)
    assert stats.prompt_tokens == sum(result.stats.prompt_tokens for result in results)
    assert stats.free_pages == stats.pages > 0
    assert stats.tokens_per_second == pytest.approx(stats.output_tokens / stats.step_seconds)
    assert f"{len(CASES)} finished, 0 failed" in str(stats)
    for result in results:
        assert result.stats.first_token_seconds > 0
        assert result.stats.queue_seconds >= 0


def test_the_beginning_of_a_prompt_is_shared(model: Model, engine: Engine) -> None:
    prefix = "The same long beginning. " * 6
    first = engine.submit(prefix + "One: ", regex="[a-z]{5}").result()
    second = engine.submit(prefix + "Two: ", regex="[a-z]{5}").result()
    assert first.stats.cached_tokens == 0
    assert 64 <= second.stats.cached_tokens < second.stats.prompt_tokens
    assert second.tokens == generate(model, prefix + "Two: ", regex="[a-z]{5}").tokens
    assert engine.stats().cached_tokens == second.stats.cached_tokens


def test_a_cache_that_is_too_small_changes_no_result(model: Model) -> None:
    page = 64 * 2 * 2 * 2 * 8 * 4  # tokens, layers, keys and values, heads, size, bytes
    engine = Engine(model, memory=5 * page)
    assert engine.stats().pages == 4
    requests = [engine.submit(f"{place} ", regex="[d-q]{90}") for place in range(4)]
    engine.run()
    for place, request in enumerate(requests):
        wanted = generate(model, f"{place} ", regex="[d-q]{90}")
        assert request.result().tokens == wanted.tokens
    assert engine.stats().preemptions > 0
    assert engine.stats().free_pages == 4
    with pytest.raises(LimitError, match="and can never fit: over the limit of 64 tokens"):
        Engine(model, memory=2 * page).submit("x" * 100)


@pytest.mark.parametrize("options", [{"kv_dtype": "int8"}, {"cache": "contiguous"}], ids=str)
def test_other_caches_serve_too(model: Model, options: dict[str, Any]) -> None:
    engine = Engine(model, **options)
    request = engine.submit("Go: ", regex="[a-z]{20}")
    assert re.fullmatch("[a-z]{20}", request.result().text)
    if "cache" in options:
        assert request.result().tokens == generate(model, "Go: ", regex="[a-z]{20}").tokens
    engine.close()


async def gather(engine: Engine) -> list[Any]:
    return await asyncio.gather(
        *(engine.generate(prompt, max_tokens=30, **options) for prompt, options in CASES)
    )


def test_results_are_awaited(model: Model, engine: Engine) -> None:
    found = asyncio.run(gather(engine))
    assert [result.tokens for result in found] == [result.tokens for result in alone(model)]
    assert engine.stats().finished == len(CASES)


def test_pieces_are_awaited(engine: Engine) -> None:
    async def read() -> tuple[list[str], str]:
        pieces = [piece async for piece in engine.stream("Go: ", regex="(é|ü|日|😀){8}")]
        return pieces, (await engine.generate("Go: ", regex="(é|ü|日|😀){8}")).text

    pieces, text = asyncio.run(read())
    assert all(pieces)
    assert "".join(pieces) == text


def test_errors_are_awaited_too(engine: Engine) -> None:
    async def read() -> None:
        with pytest.raises(GrammarError):
            await engine.generate("Go: ", regex="(a")
        with pytest.raises(GrammarError):
            async for _ in engine.stream("Go: ", regex="(a"):
                pass
        with pytest.raises(TypeError, match="at most one constraint"):
            await engine.generate("Go: ", regex="a", choices=["a"])

    asyncio.run(read())


def test_an_await_that_is_cancelled_cancels_its_request(engine: Engine) -> None:
    async def leave() -> None:
        waiting = asyncio.create_task(engine.generate("Go: ", regex="[a-z]{200}"))
        while engine.stats().steps == 0:
            await asyncio.sleep(1e-3)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async for _ in engine.stream("Go: ", regex="[a-z]{200}"):
            break

    asyncio.run(leave())
    engine.run()
    assert engine.stats().cancelled == 2
    assert engine.stats().running == 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_batch": 0}, ValueError, "max_batch must be at least 1, found 0"),
        ({"max_batch": 2.0}, TypeError, "max_batch must be an int, found 2.0"),
        (
            {"max_batch": 8, "token_budget": 4},
            ValueError,
            "token_budget must be at least max_batch (8), found 4",
        ),
        ({"memory": 10}, LimitError, "over the limit of 10 bytes for the cache"),
        ({"memory": -1}, ValueError, "memory must be at least 1, found -1"),
        ({"cache": "round"}, ValueError, "a cache is 'paged' or 'contiguous', found 'round'"),
        ({"kv_dtype": "int4"}, ValueError, "kv_dtype is None, 'int8' or 'fp8', found 'int4'"),
    ],
)
def test_an_engine_that_makes_no_sense_is_refused(
    model: Model, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        Engine(model, **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("prompt", "options", "error", "message"),
    [
        ("x", {"regex": "a", "choices": ["a"]}, TypeError, "at most one constraint can be given"),
        ("x", {"whitespace": 2}, TypeError, "whitespace goes with schema"),
        ("x", {"max_tokens": 0}, ValueError, "max_tokens must be at least 1, found 0"),
        ("x", {"priority": 0.5}, TypeError, "priority must be an int, found 0.5"),
        ("x", {"timeout": 0}, ValueError, "timeout must be more than 0 seconds, found 0"),
        ("x", {"timeout": "1"}, TypeError, "timeout must be a number of seconds, found '1'"),
        ("x" * 300, {}, LimitError, "the prompt has 300 tokens and leaves no room for output"),
        (["x", "y"], {}, TypeError, "a request has one prompt; submit each prompt of a list"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_at_once(
    engine: Engine, prompt: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        engine.submit(prompt, **options)
    assert message in str(caught.value)
    assert engine.stats().waiting == 0


def test_a_model_keeps_one_engine_and_takes_it_with_it() -> None:
    model = load(tiny_network(), tiny_tokenizer())
    engine = default_engine(model)
    assert default_engine(model) is engine
    gone = weakref.ref(engine)
    del engine, model
    gc.collect()
    assert gone() is None


def test_changed_weights_are_not_read_with_the_keys_of_the_old_ones() -> None:
    model = load(tiny_network(), tiny_tokenizer())
    prompt = "A prompt that is longer than a page of the cache. " * 3
    generate(model, prompt, regex="[a-z]{20}")
    network_of(model).load_state_dict(tiny_network(seed=1).state_dict())
    fresh = load(tiny_network(seed=1), tiny_tokenizer())
    wanted = generate(fresh, prompt, regex="[a-z]{20}").tokens
    assert generate(model, prompt, regex="[a-z]{20}").tokens == wanted


def test_a_stream_that_is_dropped_gives_its_pages_back(model: Model) -> None:
    engine = default_engine(model)
    running = stream(model, "Go: ", regex="[a-z]{50}")
    next(running)
    assert engine.stats().running == 1
    del running
    generate(model, "Go: ", regex="[a-z]{2}")
    assert engine.stats().running == 0
    assert engine.stats().free_pages == engine.stats().pages


def test_a_stream_that_pauses_is_not_disturbed_by_other_calls(model: Model) -> None:
    wanted = generate(model, "Go: ", regex="[a-z]{30}").text
    running = stream(model, "Go: ", regex="[a-z]{30}")
    first = next(running)
    other = generate(model, "Other: ", regex="[0-9]{20}")
    assert re.fullmatch("[0-9]{20}", other.text)
    assert first + "".join(running) == wanted == running.result.text


def test_an_interrupt_of_generate_leaves_nothing_behind(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = generate(model, "Go: ", regex="[a-z]{10}").tokens
    engine = default_engine(model)
    runner = engine._driver.loop.runner
    with monkeypatch.context() as patched:

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(runner, "run", interrupt)
        with pytest.raises(KeyboardInterrupt):
            generate(model, ["Go: ", "Go on: "], regex="[a-z]{10}")
    assert generate(model, "Go: ", regex="[a-z]{10}").tokens == wanted
    assert (engine.stats().running, engine.stats().waiting) == (0, 0)


def test_a_batch_whose_model_fails_raises_and_the_next_call_works(model: Model) -> None:
    runner = SimpleRunner(model)
    engine = Engine(model, runner=runner)

    def fail(pieces: object) -> None:
        raise RuntimeError("the device is gone")

    runner.hook = fail
    with pytest.raises(RuntimeError, match="the device is gone"):
        engine.submit("Go: ").result()
    runner.hook = lambda pieces: None
    assert engine.submit("Go: ", regex="[a-z]{5}").result().finish_reason == "stop"
