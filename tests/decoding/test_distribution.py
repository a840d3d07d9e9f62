"""Drafts of every kind keep the distribution: all texts of a grammar counted, and their chances."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import pytest
import torch

from guided.decoding import Job, Loop
from guided.decoding.drafts import Drafter
from guided.decoding.drafts.forced import ForcedDrafter
from guided.decoding.drafts.lookahead import LookaheadDrafter
from guided.decoding.drafts.prompt import PromptDrafter
from guided.decoding.drafts.states import StatesDrafter
from guided.grammar import Automaton, Grammar
from guided.sampling import Sampler, Sampling
from tests.decoding.simple_drafters import Drawing, EagerPace, Scripted
from tests.decoding.table_runner import TableRunner, letters

VOCABULARY = letters()
GRAMMARS = {"choices": "(ab|c){1,2}a?", "free parts": "[abc]{1,3}", "forced parts": "(ab|ca)abc?"}
SAMPLINGS = {
    "warm": Sampling(temperature=1.2),
    "top-k": Sampling(temperature=0.9, top_k=2),
    "top-p": Sampling(top_p=0.75),
    "min-p": Sampling(temperature=1.4, min_p=0.2),
}


def drafters(name: str, seed: int) -> tuple[Drafter, ...]:
    other = TableRunner(VOCABULARY.size, seed + 100, reach=2)
    ends = set(VOCABULARY.eos)
    kinds: dict[str, tuple[Drafter, ...]] = {
        "forced": (ForcedDrafter(),),
        "prompt": (PromptDrafter(),),
        "states": (StatesDrafter(),),
        "lookahead": (LookaheadDrafter(size=3, width=3),),
        "guesses in trees": (Scripted(VOCABULARY.size, 8),),
        "drawn chain": (Drawing(other, depth=3, ends=ends),),
        "drawn tree": (Drawing(other, depth=2, siblings=3, ends=ends),),
        "all": (
            ForcedDrafter(),
            Scripted(VOCABULARY.size, 5),
            Drawing(other, depth=2, siblings=2, ends=ends),
            StatesDrafter(),
        ),
    }
    return kinds[name]


KINDS = ["forced", "prompt", "states", "lookahead", "guesses in trees", "drawn chain"]
KINDS += ["drawn tree", "all"]


def chances(
    runner: TableRunner, automaton: Automaton, sampling: Sampling, prompt: Sequence[int]
) -> dict[bytes, float]:
    """The chance of each text, by going through all of them; the warpers written out."""
    found: dict[bytes, float] = {}
    open_texts = [(list(prompt), automaton.matcher(), 1.0)]
    while open_texts:
        text, matcher, chance = open_texts.pop()
        logits = runner.logits(text).double()
        for token, share in shares(logits, matcher.allowed_tokens(), sampling).items():
            after = matcher.fork()
            after.accept(token)
            if after.is_terminated:
                spelled = [VOCABULARY.token_bytes(each) or b"" for each in text[len(prompt) :]]
                whole = b"".join(spelled)
                found[whole] = found.get(whole, 0.0) + chance * share
            else:
                open_texts.append(([*text, token], after, chance * share))
    return found


def shares(logits: torch.Tensor, allowed: list[int], sampling: Sampling) -> dict[int, float]:
    """What a token is drawn from."""
    scores = {token: float(logits[token]) / sampling.effective_temperature for token in allowed}
    order = sorted(scores, key=lambda token: -scores[token])[: sampling.top_k or None]
    weights = {token: float(torch.tensor(scores[token]).double().exp()) for token in order}
    total = sum(weights.values())
    kept: dict[int, float] = {}
    mass = 0.0
    for token in order:
        if mass < (sampling.top_p or 1.0):
            kept[token] = weights[token]
        mass += weights[token] / total
    least = (sampling.min_p or 0.0) * max(kept.values())
    kept = {token: weight for token, weight in kept.items() if weight >= least}
    total = sum(kept.values())
    return {token: weight / total for token, weight in kept.items()}


def draw(
    count: int,
    runner: TableRunner,
    automaton: Automaton,
    sampling: Sampling,
    sources: tuple[Drafter, ...],
    prompt: Sequence[int],
) -> Counter[bytes]:
    """How often each text is written."""
    loop = Loop(runner, VOCABULARY, max_batch=32, token_budget=512)
    loop.speculator.pace = EagerPace()
    torch.manual_seed(7)
    jobs = [
        Job(list(prompt), 20, Sampler(sampling), automaton.matcher(), drafters=sources)
        for _ in range(count)
    ]
    for job in jobs:
        loop.add(job)
    while not loop.is_idle:
        loop.step()
    assert all(job.finish_reason == "stop" for job in jobs)
    spelled = [[VOCABULARY.token_bytes(token) or b"" for token in job.tokens] for job in jobs]
    return Counter(b"".join(pieces) for pieces in spelled)


def check(count: int, kind: str, sampling: Sampling, grammar: str, trees: bool, seed: int) -> None:
    automaton = Grammar.from_regex(grammar).compile(VOCABULARY)
    runner = TableRunner(VOCABULARY.size, seed)
    prompt = [0, 1, 0]
    wanted = chances(runner, automaton, sampling, prompt)
    runner.trees = trees
    counted = draw(count, runner, automaton, sampling, drafters(kind, seed), prompt)
    assert set(counted) <= set(wanted)
    # Texts that come less than five times are put together, as the test wants it.
    common = [text for text, chance in wanted.items() if chance * count >= 5]
    observed: list[int] = [counted[text] for text in common]
    expected = [wanted[text] * count for text in common]
    rest = float(count) - sum(expected)
    if rest >= 5:
        observed.append(count - sum(observed))
        expected.append(rest)
    if len(expected) > 1:
        assert chi_square(observed, expected) < chi_square_bound(len(expected) - 1)


def chi_square(observed: Sequence[int], expected: Sequence[float]) -> float:
    scale = sum(observed) / sum(expected)
    wanted = [scale * each for each in expected]
    return sum((a - b) ** 2 / b for a, b in zip(observed, wanted, strict=True))


def chi_square_bound(freedom: int) -> float:
    """What chance passes once in 30,000 times (Wilson and Hilferty 1931: 4 standard deviations)."""
    spread = 2 / (9 * freedom)
    return freedom * (1 - spread + 4 * math.sqrt(spread)) ** 3


def test_a_wrong_distribution_is_seen() -> None:
    automaton = Grammar.from_regex(GRAMMARS["choices"]).compile(VOCABULARY)
    sampling = SAMPLINGS["warm"]
    wanted = chances(TableRunner(VOCABULARY.size, 0), automaton, sampling, [0])
    counted = draw(400, TableRunner(VOCABULARY.size, 1), automaton, sampling, (), [0])
    common = [text for text, chance in wanted.items() if chance * 400 >= 5]
    observed, expected = [counted[text] for text in common], [400 * wanted[text] for text in common]
    assert chi_square(observed, expected) > chi_square_bound(len(common) - 1)


@pytest.mark.parametrize("trees", [True, False], ids=["trees", "chains"])
@pytest.mark.parametrize("kind", KINDS)
def test_drafts_keep_the_distribution(kind: str, trees: bool) -> None:
    for place, (sampling, grammar) in enumerate(
        zip(SAMPLINGS.values(), [*GRAMMARS.values(), GRAMMARS["choices"]], strict=True)
    ):
        check(250, kind, sampling, grammar, trees, seed=place)


@pytest.mark.nightly
@pytest.mark.parametrize("trees", [True, False], ids=["trees", "chains"])
@pytest.mark.parametrize("kind", KINDS)
def test_two_hundred_thousand_texts_are_distributed_so(kind: str, trees: bool) -> None:
    for place, sampling in enumerate(SAMPLINGS.values()):
        check(50_000, kind, sampling, GRAMMARS["choices"], trees, seed=place)
