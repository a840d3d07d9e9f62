"""Drafts by an assistant: what it writes ahead, what it keeps, and what it lets go of."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from guided.decoding import Job, Loop, Model, load
from guided.decoding.drafts import Draft, Drafter
from guided.decoding.drafts.assistant import AssistantDrafter
from guided.decoding.models import Allowed, Logits, Piece
from guided.decoding.runners import open_runner
from guided.errors import GuidedError
from guided.sampling import Sampling
from guided.vocabulary import Vocabulary
from tests.decoding.drafts.reference import (
    allowed,
    greedy_draft,
    last_logits,
    new_job,
    penalized,
    probabilities,
    write,
)
from tests.decoding.simple_drafters import EagerPace
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer

DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
WORDS = "(yes|no|perhaps) [a-z]{0,30}"
RECORD = r'\{"name": "[a-z]{1,8}", "old": (true|false)\}'
PAGE_BYTES = 64 * 128  # of the assistant: a layer, two heads, keys and values of 8 floats


@pytest.fixture(scope="module")
def assistant(model: Model) -> Model:
    return load(tiny_network(seed=1, num_hidden_layers=1), tiny_tokenizer())


@pytest.fixture
def drafter(model: Model, assistant: Model) -> AssistantDrafter:
    return AssistantDrafter(assistant, model, floor=0.0)


def is_chain(draft: Draft) -> bool:
    return draft.parents == list(range(-1, len(draft) - 1))


def pages_in_use(drafter: AssistantDrafter) -> int:
    stats = drafter.runner.stats()
    return stats.pages - stats.free - stats.cached


# What it writes.


@pytest.mark.parametrize("prompt", ["Hello", "abc abc abc", "1"])
@pytest.mark.parametrize("pattern", [None, DATE, WORDS, RECORD, "[a-f]{3}", "é{3}x?"], ids=str)
@pytest.mark.parametrize("most", [1, 20])
def test_a_greedy_draft_is_what_the_assistant_would_write(
    drafter: AssistantDrafter, model: Model, assistant: Model, prompt: str, pattern: str, most: int
) -> None:
    job = new_job(model, prompt, pattern)
    [draft] = drafter.propose([job], [most])
    assert draft.tokens == greedy_draft(assistant, job, most)
    assert len(draft) > 0
    assert is_chain(draft)
    assert draft.distributions == [None] * len(draft)


def test_a_draft_leaves_the_job_as_it_is(drafter: AssistantDrafter, model: Model) -> None:
    job = new_job(model, "On ", DATE, Sampling(temperature=1.0, seed=1))
    history, torch_state = list(job.history), torch.get_rng_state()
    drafter.propose([job], [6])
    assert job.history == history
    assert job.matcher is not None
    assert job.matcher.tokens == []
    assert job.sampler.stream.counter == 0
    assert torch.equal(torch.get_rng_state(), torch_state)


def test_what_is_forced_costs_no_forward(
    drafter: AssistantDrafter, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = watch(drafter, monkeypatch)
    [draft] = drafter.propose([new_job(model, "As JSON: ", r'\{"name": "[ab]"\}')], [24])
    assert len(draft) > 10
    assert len(rows) == 1  # for the letter


def watch(drafter: AssistantDrafter, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which each forward of the drafter adds its rows."""
    rows: list[int] = []
    run = drafter.runner.run

    def counted(pieces: Sequence[Piece], allowed: Allowed | None = None) -> Logits:
        rows.append(sum(len(piece.tokens) for piece in pieces))
        return run(pieces, allowed)

    monkeypatch.setattr(drafter.runner, "run", counted)
    return rows


def test_an_end_token_ends_a_draft(model: Model, assistant: Model) -> None:
    drafter = AssistantDrafter(assistant, model, floor=0.0)
    seen = 0
    for seed in range(30):
        job = new_job(model, "1", "[0-9]{1,3}", Sampling(temperature=3.0, seed=seed))
        [draft] = drafter.propose([job], [8])
        ended = [token in model.vocabulary.eos for token in draft.tokens]
        assert not any(ended[:-1])
        seen += ended[-1]
    assert 0 < seen < 30


def test_a_draft_ends_where_it_is_no_longer_likely(model: Model, assistant: Model) -> None:
    job = new_job(model, "Hello", WORDS)
    [whole] = AssistantDrafter(assistant, model, floor=0.0).propose([job], [20])
    [short] = AssistantDrafter(assistant, model, floor=0.3).propose([job], [20])
    assert 0 < len(short) < len(whole)
    assert short.tokens == whole.tokens[: len(short)]
    products = []
    matcher, sure = job.matcher.fork() if job.matcher else None, 1.0
    assert matcher is not None
    for place, token in enumerate(whole.tokens):
        forced = bool(matcher.forced_tokens())
        logits = last_logits(assistant, job.history + whole.tokens[:place])
        chances = probabilities(logits, allowed(matcher, 320), Sampling(temperature=1.0))
        sure *= 1.0 if forced else chances[token]
        products.append(sure)
        matcher.accept(token)
    assert products[len(short) - 1] < 0.3  # the last one is kept, whatever it is
    assert all(product >= 0.3 for product in products[: len(short) - 1])


# What it says of its tokens.

OPTIONS = [
    Sampling(temperature=1.0, seed=3),
    Sampling(temperature=2.0, top_k=5, seed=3),
    Sampling(temperature=1.5, top_p=0.8, seed=3),
    Sampling(temperature=1.5, top_k=40, top_p=0.9, min_p=0.05, seed=3),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("pattern", [None, WORDS, "[a-f0-9]{12}"], ids=str)
def test_tokens_are_drawn_from_the_distribution_that_is_given(
    drafter: AssistantDrafter, model: Model, assistant: Model, options: Sampling, pattern: str
) -> None:
    job = new_job(model, "Hello", pattern, options)
    [draft] = drafter.propose([job], [10])
    matcher = None if job.matcher is None else job.matcher.fork()
    drawn = 0
    for place, token in enumerate(draft.tokens):
        given = draft.distributions[place]
        if given is None:
            assert matcher is not None
            assert matcher.forced_tokens()[0] == token
        else:
            logits = last_logits(assistant, job.history + draft.tokens[:place])
            wanted = probabilities(logits, allowed(matcher, 320), options)
            tokens, chances = given
            assert tokens.tolist() == sorted(wanted)
            assert chances.dtype == torch.float64
            assert chances.tolist() == pytest.approx(list(wanted.values()), rel=1e-4, abs=1e-9)
            assert token in wanted
            drawn += 1
        if matcher is not None:
            matcher.accept(token)
    assert drawn > 2


@pytest.mark.parametrize(
    "options",
    [
        Sampling(temperature=1.5, repetition_penalty=1.6, seed=3),
        Sampling(temperature=1.5, presence_penalty=1.5, frequency_penalty=0.5, seed=3),
    ],
    ids=str,
)
def test_penalties_count_what_was_drafted(
    drafter: AssistantDrafter, model: Model, assistant: Model, options: Sampling
) -> None:
    job = new_job(model, "Hello", "[ab ]{30}", options)
    write(job, model.tokenizer("abba")["input_ids"])
    written, seen = list(job.tokens), list(job.prompt)
    [draft] = drafter.propose([job], [9])
    matcher = job.matcher.fork() if job.matcher else None
    for token, given in zip(draft.tokens, draft.distributions, strict=True):
        logits = last_logits(assistant, seen + written)
        logits = penalized(logits, seen, written, options)
        wanted = probabilities(logits, allowed(matcher, 320), options)
        assert given is not None
        assert given[0].tolist() == sorted(wanted)
        assert given[1].tolist() == pytest.approx(list(wanted.values()), rel=1e-4, abs=1e-9)
        written.append(token)
        assert matcher is not None
        matcher.accept(token)
    assert len(draft) == 9
    assert job.tokens == written[:-9]


def test_a_greedy_draft_heeds_penalties(
    drafter: AssistantDrafter, model: Model, assistant: Model
) -> None:
    options = Sampling(temperature=0.0, presence_penalty=2.0, min_tokens=6)
    job = new_job(model, "Hello", "[a-f]{1,30}", options)
    [draft] = drafter.propose([job], [9])
    written: list[int] = []
    assert job.matcher is not None
    matcher = job.matcher.fork()
    for token in draft.tokens:
        logits = penalized(last_logits(assistant, job.prompt + written), [], written, options)
        tokens = allowed(matcher, 320)
        if len(written) < 6:
            tokens = [other for other in tokens if other != 1]
        assert token == max(tokens, key=lambda other: float(logits[other]))
        matcher.accept(token)
        written.append(token)
    assert len(draft) >= 6
    assert job.sampler.choose(torch.zeros(320)) == 0  # it counts none of them as written


def test_a_draft_follows_the_distribution(drafter: AssistantDrafter, model: Model) -> None:
    """Chi-square with 5 degrees of freedom, or fewer; 20.5 is passed once in a thousand times."""
    job = new_job(model, "Hello", "[a-f]x", Sampling(temperature=2.0, seed=5))
    counts: dict[int, int] = {}
    for _ in range(400):
        [draft] = drafter.propose([job], [1])
        counts[draft.tokens[0]] = counts.get(draft.tokens[0], 0) + 1
    assert draft.distributions[0] is not None
    tokens, chances = draft.distributions[0]
    expected = dict(zip(tokens.tolist(), (400 * chances).tolist(), strict=True))
    assert set(counts) <= set(expected)
    assert sum((counts.get(t, 0) - e) ** 2 / e for t, e in expected.items()) < 20.5
    assert len(counts) > 3


def test_the_class_does_not_tell_what_was_drawn(drafter: AssistantDrafter, model: Model) -> None:
    """Were unlikely tokens left out by their class, the likely ones would come too often."""
    job = new_job(model, "Hello", "[a-f]x", Sampling(temperature=2.0, seed=5))
    drafts = [drafter.propose([job], [1])[0] for _ in range(40)]
    assert len({draft.tokens[0] for draft in drafts}) > 3
    assert len({draft.classes[0] for draft in drafts}) == 1


def test_the_class_is_the_tenth_of_the_largest_probability(
    drafter: AssistantDrafter, model: Model, assistant: Model
) -> None:
    job = new_job(model, "Hello")
    [draft] = drafter.propose([job], [12])
    for place, kind in enumerate(draft.classes):
        logits = last_logits(assistant, job.history + draft.tokens[:place])
        chances = probabilities(logits, list(range(320)), Sampling(temperature=1.0))
        assert kind == int(10 * max(chances.values()))
    assert len(set(draft.classes)) > 1


def test_the_same_seed_gives_the_same_draft(model: Model, assistant: Model) -> None:
    def drawn(seed: int) -> list[list[int]]:
        drafter = AssistantDrafter(assistant, model, floor=0.0)
        job = new_job(model, "Hello", None, Sampling(temperature=2.0, seed=seed))
        return [drafter.propose([job], [6])[0].tokens for _ in range(2)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    first, second = drawn(1)
    assert first != second  # what was drawn once does not come again


# Branches.


def test_branches_stand_side_by_side_at_the_first_place(model: Model, assistant: Model) -> None:
    drafter = AssistantDrafter(assistant, model, floor=0.0, branches=3)
    job = new_job(model, "Hello")
    [draft] = drafter.propose([job], [8])
    logits = last_logits(assistant, job.history)
    best = sorted(range(320), key=lambda token: -logits[token])[:3]
    assert draft.tokens[:3] == best
    assert draft.parents == [-1, -1, -1, 0, 3, 4, 5, 6]
    assert [draft.tokens[0], *draft.tokens[3:]] == greedy_draft(assistant, job, 6)


def test_branches_are_drawn_without_those_before_them(model: Model, assistant: Model) -> None:
    """Pairs, in turn, of the six letters: chi-square with 29 degrees of freedom, at 0.001."""
    drafter = AssistantDrafter(assistant, model, floor=0.0, branches=2)
    options = Sampling(temperature=3.0, top_k=4, seed=5)
    job = new_job(model, "Hello", "[a-f]x", options)
    logits = last_logits(assistant, job.history)
    assert job.matcher is not None
    first = probabilities(logits, allowed(job.matcher, 320), options)
    counts: dict[tuple[int, int], int] = {}
    for _ in range(400):
        [draft] = drafter.propose([job], [2])
        one, other = draft.tokens
        counts[one, other] = counts.get((one, other), 0) + 1
        given = draft.distributions[1]
        assert given is not None
        rest = {token: chance for token, chance in first.items() if token != one}
        assert given[0].tolist() == list(rest)
        wanted = [chance / sum(rest.values()) for chance in rest.values()]
        assert given[1].tolist() == pytest.approx(wanted, rel=1e-4)
    expected = {
        (one, other): 400 * first[one] * first[other] / (1 - first[one])
        for one in first
        for other in first
        if one != other
    }
    assert set(counts) <= set(expected)
    assert sum((counts.get(pair, 0) - e) ** 2 / e for pair, e in expected.items()) < 58.3


def test_branches_are_no_more_than_there_are_tokens(model: Model, assistant: Model) -> None:
    drafter = AssistantDrafter(assistant, model, floor=0.0, branches=4)
    greedy = new_job(model, "Hello", "[ab]x?")
    drawn = new_job(model, "Hello", "[ab]x?", Sampling(temperature=1.0, seed=1))
    for draft in drafter.propose([greedy, drawn], [9, 9]):
        assert draft.parents.count(-1) == 2
        assert len(set(draft.tokens[:2])) == 2
    for draft in drafter.propose([greedy, drawn], [1, 1]):
        assert draft.parents == [-1]


# Several jobs, and what comes of them.


def test_a_batch_is_each_job_alone(model: Model, assistant: Model) -> None:
    def jobs() -> list[Job]:
        return [
            new_job(model, "Hello", WORDS),
            new_job(model, "On the ", DATE, Sampling(temperature=1.0, seed=3)),
            new_job(model, "abc abc abc"),
            new_job(model, "1", None, Sampling(temperature=0.7, top_k=9, seed=4)),
        ]

    most = [9, 4, 1, 12]
    together = AssistantDrafter(assistant, model, floor=0.0).propose(jobs(), most)
    for place, job in enumerate(jobs()):
        alone = AssistantDrafter(assistant, model, floor=0.0).propose(
            [job], most[place : place + 1]
        )
        assert alone[0].tokens == together[place].tokens
        assert alone[0].classes == together[place].classes
        pairs = zip(alone[0].distributions, together[place].distributions, strict=True)
        for one, other in pairs:
            assert (one is None) == (other is None)
            if one is not None and other is not None:
                torch.testing.assert_close(
                    one, other, rtol=1e-5, atol=1e-6
                )  # a batch rounds otherwise


@pytest.mark.parametrize("pattern", [None, WORDS, RECORD], ids=str)
def test_after_rejections_it_goes_on_from_what_was_written(
    drafter: AssistantDrafter, model: Model, assistant: Model, pattern: str | None
) -> None:
    """Accepted: some of the draft; then tokens of somebody else's choice."""
    chance = random.Random(7)
    jobs = [new_job(model, prompt, pattern, max_tokens=99) for prompt in ("Hello", "abc abc")]
    for _ in range(6):
        drafts = drafter.propose(jobs, [5, 5])
        for job, draft in zip(jobs, drafts, strict=True):
            assert draft.tokens == greedy_draft(assistant, job, 5)
            write(job, draft.tokens[: chance.randrange(len(draft) + 1)])
            for _ in range(chance.randrange(3)):
                tokens = [t for t in allowed(job.matcher, 320) if t not in model.vocabulary.eos]
                write(job, [chance.choice(tokens)] if tokens else [])
        jobs = [job for job in jobs if job.matcher is None or job.matcher.allowed_bytes()]


def test_what_was_read_is_not_read_again(
    drafter: AssistantDrafter, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = new_job(model, "Hello, this is long enough")
    [draft] = drafter.propose([job], [5])
    write(job, [*draft.tokens[:2], 77])
    rows = watch(drafter, monkeypatch)
    drafter.propose([job], [3])
    assert rows == [1, 1, 1]
    write(job, drafter.propose([job], [3])[0].tokens)
    rows.clear()
    drafter.propose([job], [1])
    assert rows == [1]  # the last token of a draft is not run before it is accepted


def test_a_long_prompt_is_read_in_chunks(model: Model, assistant: Model) -> None:
    drafter = AssistantDrafter(assistant, model, floor=0.0, chunk=10)
    behind, ready = new_job(model, "abcdefgh" * 4), new_job(model, "Hello")
    length = len(behind.history)
    calls = 0
    while True:
        first, second = drafter.propose([behind, ready], [4, 4])
        assert second.tokens == greedy_draft(assistant, ready, 4)
        calls += 1
        if len(first):
            break
    assert first.tokens == greedy_draft(assistant, behind, 4)
    assert length / 10 < calls < length / 4


def test_the_cost_is_learned_without_prompts(drafter: AssistantDrafter, model: Model) -> None:
    assert drafter.cost == 0.0
    job = new_job(model, "a " * 60)
    drafter.propose([job], [4])
    assert drafter.cost == 0.0
    drafter.propose([job], [4])
    assert 0.0 < drafter.cost < 1.0


# Room.


def test_a_job_that_is_over_holds_nothing(drafter: AssistantDrafter, model: Model) -> None:
    jobs = [new_job(model, "Hello"), new_job(model, "abc"), new_job(model, "1")]
    drafter.propose(jobs, [4, 4, 4])
    assert pages_in_use(drafter) == 3
    jobs[0].finish("stop")
    drafter.observe(jobs[0], [1], [])
    assert pages_in_use(drafter) == 2
    jobs[1].error = ValueError()
    drafter.propose(jobs[2:], [4])
    assert pages_in_use(drafter) == 1


def test_without_room_a_job_has_no_draft(model: Model, assistant: Model) -> None:
    drafter = AssistantDrafter(assistant, model, floor=0.0, memory=2 * PAGE_BYTES)  # a page
    assert drafter.runner.stats().pages == 1
    first, second = new_job(model, "Hello"), new_job(model, "abc")
    drafts = drafter.propose([first, second], [4, 4])
    assert drafts[0].tokens == greedy_draft(assistant, first, 4)
    assert drafts[1].tokens == []
    drafts = drafter.propose([second], [4])  # the first one gives way
    assert drafts[0].tokens == greedy_draft(assistant, second, 4)
    long = new_job(model, "é" * 40)
    assert drafter.propose([long], [4])[0].tokens == []


def test_where_the_room_ends_a_draft_ends(model: Model, assistant: Model) -> None:
    drafter = AssistantDrafter(assistant, model, floor=0.0, memory=3 * PAGE_BYTES)  # two pages
    jobs = [new_job(model, "x" * 60), new_job(model, "y" * 62)]
    drafts = drafter.propose(jobs, [20, 20])
    for job, draft in zip(jobs, drafts, strict=True):
        assert draft.tokens == greedy_draft(assistant, job, 20)[: len(draft)]
    assert sorted(map(len, drafts))[0] >= 3
    assert sorted(map(len, drafts))[1] == 20  # the other gave its page
    for job in jobs:
        write(job, greedy_draft(model, job, 2))
    again = drafter.propose(jobs[:1], [6])
    assert again[0].tokens == greedy_draft(assistant, jobs[0], 6)


def test_a_draft_ends_with_the_context(model: Model) -> None:
    assistant = load(
        tiny_network(seed=1, num_hidden_layers=1, max_position_embeddings=16), tiny_tokenizer()
    )
    drafter = AssistantDrafter(assistant, model, floor=0.0)
    job = new_job(model, "x" * 13)
    assert [len(draft) for draft in drafter.propose([job], [20])] == [4]
    assert [len(draft) for draft in drafter.propose([new_job(model, "x" * 17)], [20])] == [0]


# In the loop.


def run(model: Model, drafters: tuple[Drafter, ...], jobs: list[Job]) -> Loop:
    """Run jobs over a model to their end."""
    loop = Loop(open_runner(model, memory=1 << 24), model.vocabulary, max_batch=8, token_budget=64)
    loop.speculator.pace = EagerPace()
    for job in jobs:
        job.drafters = drafters
        loop.add(job)
    while not loop.is_idle:
        assert loop.step()
    return loop


@pytest.mark.parametrize("branches", [1, 2])
def test_greedy_texts_are_what_they_are_without_drafts(
    model: Model, assistant: Model, branches: int
) -> None:
    def jobs() -> list[Job]:
        prompts = ("Hello", "abc abc", "1")
        return [new_job(model, prompt, pattern) for prompt in prompts for pattern in (None, RECORD)]

    plain, drafted = jobs(), jobs()
    drafter = AssistantDrafter(assistant, model, branches=branches)
    run(model, (), plain)
    run(model, (drafter,), drafted)
    assert [job.tokens for job in drafted] == [job.tokens for job in plain]
    assert [job.finish_reason for job in drafted] == [job.finish_reason for job in plain]
    assert pages_in_use(drafter) <= 1  # the last job may not have been observed to its end


def test_a_good_assistant_saves_forwards(model: Model) -> None:
    """Here one with the weights of the model."""
    twin = load(tiny_network(), tiny_tokenizer())
    drafter = AssistantDrafter(twin, model, floor=0.0)
    [plain, drafted] = [new_job(model, "Hello", "[a-z]{40}") for _ in range(2)]
    steps = run(model, (), [plain]).totals.steps
    assert run(model, (drafter,), [drafted]).totals.steps < steps / 4
    assert drafted.tokens == plain.tokens


@pytest.mark.parametrize("branches", [1, 3])
def test_sampled_texts_have_the_distribution_of_the_model(
    model: Model, assistant: Model, branches: int
) -> None:
    """All texts of a small grammar, by chi-square with 8 degrees of freedom at 0.001."""
    options = Sampling(temperature=4.0)
    first = new_job(model, "Hello", "[def][def]", options)
    assert first.matcher is not None
    expected: dict[tuple[int, ...], float] = {}
    for one in allowed(first.matcher, 320):
        fork = first.matcher.fork()
        fork.accept(one)
        chance = probabilities(
            last_logits(model, first.prompt), allowed(first.matcher, 320), options
        )[one]
        then = probabilities(last_logits(model, [*first.prompt, one]), allowed(fork, 320), options)
        expected |= {(one, other): 300 * chance * then[other] for other in then}
    assert len(expected) == 9
    drafter = AssistantDrafter(assistant, model, branches=branches)
    jobs = [
        new_job(model, "Hello", "[def][def]", replace(options, seed=seed)) for seed in range(300)
    ]
    run(model, (drafter,), jobs)
    counts = Counter(tuple(job.tokens) for job in jobs)
    assert set(counts) <= set(expected)
    assert sum((counts[pair] - e) ** 2 / e for pair, e in expected.items()) < 26.1
    assert sum(job.timings.accepted for job in jobs) > 50


# Who may be an assistant.


def test_a_model_is_not_its_own_assistant(model: Model) -> None:
    with pytest.raises(GuidedError) as error:
        AssistantDrafter(model, model)
    assert str(error.value) == (
        "the assistant is the model itself, which would only be asked twice\n"
        "  mend: take a smaller model with the same tokenizer, or the model's first layers"
    )


def test_an_assistant_has_the_tokens_of_the_model(model: Model, assistant: Model) -> None:
    tokens = [model.vocabulary.token_bytes(token) for token in range(300)]
    tokens[9], tokens[10] = tokens[10], tokens[9]
    other = Model(assistant.network, assistant.tokenizer, Vocabulary.from_tokens(tokens, eos=[1]))
    with pytest.raises(GuidedError) as error:
        AssistantDrafter(other, model)
    assert str(error.value) == (
        "the assistant has other tokens than the model: 300 of them, and the model has 320\n"
        "  mend: take an assistant with the model's tokenizer: a smaller model of its family"
    )


@pytest.mark.parametrize("size", [288, 301, 400])
@pytest.mark.parametrize("pattern", [None, WORDS], ids=str)
def test_the_width_of_the_logits_may_differ(model: Model, size: int, pattern: str) -> None:
    """Models of a family round it differently."""
    network = tiny_network(seed=1, num_hidden_layers=1, vocab_size=size)
    assistant = load(network, tiny_tokenizer())
    assert assistant.vocabulary.size == size
    drafter = AssistantDrafter(assistant, model, floor=0.0)
    job = new_job(model, "Hello", pattern)
    drawn = new_job(model, "Hello", pattern, Sampling(temperature=9.0, seed=1))
    drafts = drafter.propose([job, drawn], [8, 8])
    assert all(token < min(size, 320) for draft in drafts for token in draft.tokens)
    if pattern is not None:
        assert drafts[0].tokens == greedy_draft(assistant, job, 8)


@pytest.mark.parametrize("wrong", [{"branches": 0}, {"floor": 1.0}, {"chunk": 0}], ids=str)
def test_arguments_are_checked(model: Model, assistant: Model, wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="branches and chunk are at least 1"):
        AssistantDrafter(assistant, model, **wrong)  # type: ignore[arg-type]
