"""Assistants of all kinds: windows, models on their own cache, GGUF files; and long random play."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from guided.decoding import Job, Loop, Model, load
from guided.decoding.drafts import Drafter
from guided.decoding.drafts.assistant import AssistantDrafter
from guided.decoding.models.first_layers import first_layers
from guided.decoding.runners import open_runner
from guided.sampling import Sampler, Sampling
from tests.decoding.drafts.reference import allowed, greedy_draft, new_job, write
from tests.decoding.models.families import tiny_model
from tests.decoding.models.test_first_layers import as_model
from tests.decoding.simple_drafters import EagerPace
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer

PATTERNS = [
    None,
    "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "(yes|no|perhaps) [a-z]{0,30}",
    '("[ab]{1,9}",){1,9}',
]
PAGE_BYTES = 64 * 128


def free_job(prompt: list[int]) -> Job:
    return Job(prompt=prompt, max_tokens=400, sampler=Sampler(Sampling()))


@pytest.mark.parametrize("family", ["mistral", "gemma3_text"])
def test_an_assistant_may_have_windows(family: str) -> None:
    """It cannot go back further than its window and some slack: then it reads anew."""
    assistant = as_model(tiny_model(family, max_position_embeddings=512))
    target = as_model(tiny_model("llama", max_position_embeddings=512))
    drafter = AssistantDrafter(assistant, target, floor=0.0)
    job = free_job([3, 9, 4])
    for most, accepted in ((12, 5), (200, 3), (30, 30), (6, 0)):
        [draft] = drafter.propose([job], [most])
        assert draft.tokens == greedy_draft(assistant, job, most)
        write(job, [*draft.tokens[:accepted], 77, 8])


def test_an_assistant_may_run_on_its_own_cache() -> None:
    assistant, target = as_model(tiny_model("mamba")), as_model(tiny_model("llama"))
    with pytest.warns(RuntimeWarning, match="runs on its own cache"):
        drafter = AssistantDrafter(assistant, target, floor=0.0)
    jobs = [free_job([3, 9, 4]), free_job([8, 8])]
    for _ in range(3):
        for job, draft in zip(jobs, drafter.propose(jobs, [4, 3]), strict=True):
            assert draft.tokens == greedy_draft(assistant, job, 4 - jobs.index(job))
            write(job, [*draft.tokens[:2], 77])


@pytest.mark.llama
def test_an_assistant_may_be_a_file_in_llama_cpp(model: Model, tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="the extra `llama` is not installed")
    from tests.decoding import tiny_gguf

    network = tiny_gguf.tiny_network("qwen2")
    tiny_gguf.write_gguf(tmp_path / "assistant.gguf", "qwen2", network)
    twin = load(network, tiny_tokenizer())
    drafter = AssistantDrafter(load(tmp_path / "assistant.gguf"), model, floor=0.0, max_batch=2)
    jobs = [new_job(model, "Hello", pattern) for pattern in (None, PATTERNS[2], None)]
    for _ in range(3):
        drafts = drafter.propose(jobs[:2], [6, 6])
        for job, draft in zip(jobs, drafts, strict=False):
            assert draft.tokens == greedy_draft(twin, job, 6)
            write(job, draft.tokens[:3])
    drafts = drafter.propose(jobs, [3, 3, 3])
    assert list(map(len, drafts)) == [3, 3, 0]  # no more than two sequences
    assert len(drafter.propose(jobs[2:], [3])[0]) == 3


@pytest.mark.parametrize(
    ("seed", "steps"), [(0, 25), (1, 25), pytest.param(2, 600, marks=pytest.mark.nightly)]
)
@pytest.mark.parametrize("pages", [2, 5, 40])
def test_jobs_come_and_go(model: Model, seed: int, steps: int, pages: int) -> None:
    """Whatever happens, a draft is a beginning of what the assistant would write."""
    chance = random.Random(seed)
    assistant = load(tiny_network(seed=1, num_hidden_layers=1), tiny_tokenizer())
    drafter = AssistantDrafter(
        assistant, model, floor=0.0, chunk=24, memory=(pages + 1) * PAGE_BYTES
    )
    jobs: list[Job] = []
    drafted = 0
    for _ in range(steps):
        while len(jobs) < 4:
            prompt = "".join(chance.choices("ab ", k=chance.randrange(1, 70)))
            jobs.append(new_job(model, prompt, chance.choice(PATTERNS)))
        asked = chance.sample(jobs, chance.randrange(1, 5))
        most = [chance.randrange(1, 8) for _ in asked]
        for job, count, draft in zip(asked, most, drafter.propose(asked, most), strict=True):
            drafted += len(draft)
            assert draft.tokens == greedy_draft(assistant, job, count)[: len(draft)]
            ends = model.vocabulary.eos
            kept = [token for token in draft.tokens if token not in ends]
            write(job, kept[: chance.randrange(len(kept) + 1)])
            others = [token for token in allowed(job.matcher, 300) if token not in ends]
            if others and chance.random() < 0.5:
                write(job, [chance.choice(others)])
            if not others or len(job.tokens) > 40:
                job.finish("stop")
                jobs.remove(job)
                if chance.random() < 0.5:
                    drafter.observe(job, [1], [])
    assert drafted > steps
    for job in jobs:
        job.finish("cancelled")
    drafter.propose([], [])
    stats = drafter.runner.stats()
    assert stats.free + stats.cached == pages


@pytest.mark.nightly
@pytest.mark.model
def test_the_first_layers_of_the_default_model_change_nothing() -> None:
    """And the more of them draft, the more of what they draft is accepted."""
    whole = load()
    wanted = written(whole, ())
    accepted = []
    for count in (10, 28):
        drafter = AssistantDrafter(first_layers(whole, count), whole, name="layers", floor=0.0)
        jobs = written(whole, (drafter,))
        assert [job.tokens for job in jobs] == [job.tokens for job in wanted]
        drafted = sum(job.timings.drafted for job in jobs)
        accepted.append(sum(job.timings.accepted for job in jobs) / drafted)
    assert accepted[0] < accepted[1]


def written(model: Model, drafters: tuple[Drafter, ...]) -> list[Job]:
    """Run two greedy jobs to their ends."""
    loop = Loop(open_runner(model), model.vocabulary, max_batch=2, token_budget=256)
    loop.speculator.pace = EagerPace()
    pattern = r'\{"name": "[A-Z][a-z ]{2,20}", "year": [0-9]{4}\}'
    jobs = [
        new_job(model, f"{name} as JSON: ", pattern) for name in ("Ada Lovelace", "Alan Turing")
    ]
    for job in jobs:
        job.drafters = drafters
        loop.add(job)
    while not loop.is_idle:
        assert loop.step()
    return jobs
