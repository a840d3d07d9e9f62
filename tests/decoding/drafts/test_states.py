"""Counts of what followed each state: within a text, over texts, and over processes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from safetensors.numpy import save_file

from guided.decoding import Job
from guided.decoding.drafts.counts import ANY, CountTable, Followers
from guided.decoding.drafts.states import StatesDrafter
from guided.errors import GuidedError
from guided.grammar import Automaton, Grammar
from guided.vocabulary import Vocabulary
from tests.decoding.drafts.asking import ask, job_of, paths, write
from tests.decoding.tiny_model import VOCABULARY, tiny_tokenizer

TOKENIZER = tiny_tokenizer()
END = 1
LIST = r'\[(\{"a":(true|12),"b":"[a-c]*"\},?)*\]'


def vocabulary() -> Vocabulary:
    return Vocabulary.from_tokenizer(TOKENIZER, size=VOCABULARY)


def automaton_of(pattern: str) -> Automaton:
    return Grammar.from_regex(pattern).compile(vocabulary())


def encode(text: str) -> list[int]:
    return [int(token) for token in TOKENIZER(text)["input_ids"]]


def decode(tokens: list[int]) -> str:
    return str(TOKENIZER.decode([token for token in tokens if token != END]))


def learn(drafter: StatesDrafter, automaton: Automaton, *texts: str, prompt: int = 0) -> Job:
    """Write texts, each by a matcher of its own."""
    for text in texts:
        job = job_of([prompt], automaton.matcher())
        write(drafter, job, [*encode(text), END])
    return job


def guesses(drafter: StatesDrafter, automaton: Automaton, before: str, most: int = 8) -> list[str]:
    """The texts of a draft after a text that is not learned from."""
    job = job_of([0], automaton.matcher())
    write(StatesDrafter(), job, encode(before))
    return [decode(path) for path in paths(ask(drafter, job, most))]


def test_a_text_that_came_before_is_proposed_up_to_its_end() -> None:
    drafter, automaton = StatesDrafter(), automaton_of(LIST)
    text = '[{"a":true,"b":"cab"}]'
    learn(drafter, automaton, text)
    draft = ask(drafter, job_of([0], automaton.matcher()), 64)
    # `}` leads to the state of the list's beginning, but the token before it is another one.
    assert paths(draft) == [encode(text)]


def test_the_prompt_need_not_be_the_same() -> None:
    drafter, automaton = StatesDrafter(), automaton_of(LIST)
    learn(drafter, automaton, '[{"a":12,"b":""}]', prompt=5)
    assert guesses(drafter, automaton, "", 4) == ['[{"a']


def test_states_recur_within_a_text() -> None:
    drafter, automaton = StatesDrafter(), automaton_of(LIST)
    job = job_of([0], automaton.matcher())
    write(drafter, job, encode('[{"a":true,"b":"c"},{'))
    assert decode(ask(drafter, job, 10).tokens) == '"a":true,"b":"c'


@pytest.mark.parametrize(
    ("texts", "before", "expected"),
    [
        pytest.param(["[]"], '[{"a":', [], id="a state that never came"),
        pytest.param(['[{"a":true,"b":"a"}]'], '[{"a":', ["true,"], id="the only one"),
        pytest.param(
            ['[{"a":true,"b":"a"}]', '[{"a":12,"b":"a"}]'],
            '[{"a":',
            ["12", "true"],
            id="both of two",
        ),
        pytest.param(
            [*['[{"a":true,"b":"a"}]'] * 3, '[{"a":12,"b":"a"}]'],
            '[{"a":',
            ["true,"],
            id="not one in four",
        ),
    ],
)
def test_what_is_likely_is_followed(texts: list[str], before: str, expected: list[str]) -> None:
    drafter, automaton = StatesDrafter(), automaton_of(LIST)
    learn(drafter, automaton, *texts)
    assert sorted(guesses(drafter, automaton, before, 2)) == expected


def test_the_token_before_decides_within_one_state() -> None:
    drafter, automaton = StatesDrafter(), automaton_of("[abc]*")
    learn(drafter, automaton, "bcbcbcacacac")  # after b always c; after a, too
    assert guesses(drafter, automaton, "cb", 1) == ["c"]
    drafter = StatesDrafter()
    learn(drafter, automaton, "cbacbacba")
    assert [guesses(drafter, automaton, text, 1) for text in ("c", "b")] == [["b"], ["a"]]


def test_the_class_is_the_share_in_tenths() -> None:
    drafter, automaton = StatesDrafter(), automaton_of("x[yz]")
    learn(drafter, automaton, *["xy"] * 3, "xz")
    draft = ask(drafter, job_of([0], automaton.matcher()), 8)
    # x: (4 + 1/2) / (4 + 1); y: (3 + 1/2) / (4 + 3/2)
    assert (decode(draft.tokens), draft.classes) == ("xy", [9, 6])


def test_the_likeliest_way_goes_first() -> None:
    drafter, automaton = StatesDrafter(floor=0.2), automaton_of("(xa|yb)c")
    learn(drafter, automaton, *["xac"] * 5, *["ybc"] * 3)
    assert paths(ask(drafter, job_of([0], automaton.matcher()), 3)) == [encode("xac")]
    both = paths(ask(drafter, job_of([0], automaton.matcher()), 8))
    assert sorted(both) == [encode("xac"), encode("ybc")]


def shares(came: list[tuple[int, int, int]], state: int, previous: int) -> dict[int, float]:
    """The share of each token in a state after a token, by counting all that came."""
    here = [token for at, before, token in came if (at, before) == (state, previous)]
    here = here or [token for at, _, token in came if at == state]
    kinds = set(here)
    return {
        token: (here.count(token) + 1 / 2) / (len(here) + (len(kinds) + 1) / 2) for token in kinds
    }


@pytest.mark.parametrize("pattern", [LIST, "[ab]*c?", r'(\{"a":(true|12)\})*'])
@pytest.mark.parametrize("floor", [0.1, 0.3, 0.6])
def test_counting_all_that_came_gives_the_same(pattern: str, floor: float) -> None:
    random = Random(pattern)
    drafter, automaton = StatesDrafter(floor), automaton_of(pattern)
    came: list[tuple[int, int, int]] = []
    for _ in range(30):
        job = job_of([random.randrange(2)], automaton.matcher())
        matcher = job.matcher
        assert matcher is not None
        while not matcher.is_terminated and len(job.tokens) < 20:
            draft = ask(drafter, job, 12)
            states = [matcher.state(), *matcher.states_after(draft.tokens, draft.parents)]
            assert min(states) >= 0
            before = [job.history[-1], *draft.tokens]
            for place, parent in enumerate(draft.parents):
                likely = shares(came, states[parent + 1], before[parent + 1])
                assert draft.classes[place] == min(9, int(10 * likely[draft.tokens[place]]))
            if len(draft) < 12:  # nothing is missing
                for place in range(-1, len(draft)):
                    likely = shares(came, states[place + 1], before[place + 1])
                    wanted = {n for n, share in likely.items() if share >= floor and n != END}
                    children = zip(draft.tokens, draft.parents, strict=True)
                    assert {token for token, parent in children if parent == place} == wanted
            token = random.choice(matcher.allowed_tokens())
            came.append((matcher.state(), job.history[-1], token))
            write(drafter, job, [token])


def test_automata_do_not_share_counts() -> None:
    drafter = StatesDrafter()
    learn(drafter, automaton_of("x[yz]"), "xy")
    assert guesses(drafter, automaton_of("x[yw]"), "") == []


def test_a_free_text_has_no_states() -> None:
    drafter = StatesDrafter()
    job = job_of([0])
    write(drafter, job, [3, 4])
    assert len(ask(drafter, job)) == len(drafter) == 0


def test_an_automaton_that_forgets_its_states_is_counted_anew() -> None:
    drafter = StatesDrafter()
    automaton = Grammar.from_regex("[ab]{0,100000}").compile(vocabulary(), max_bytes=1 << 16)
    learn(drafter, automaton, "ab")
    before = len(drafter)
    states = automaton.stats()["states"]
    while automaton.stats()["states"] >= states:  # a text that fills the memory
        states = automaton.stats()["states"]
        matcher = automaton.matcher()
        matcher.accept_all(encode("a") * 50)
        matcher.accept_all(encode("b") * (states % 400))
    assert guesses(drafter, automaton, "") == []
    learn(drafter, automaton, "ab")
    assert len(drafter) == 2 * before
    assert guesses(drafter, automaton, "") == ["ab"]


class TestFollowers:
    @pytest.mark.parametrize(
        ("tokens", "floor", "expected"),
        [
            pytest.param([7], 0.3, [(1.5 / 2, 7)], id="one that came once"),
            pytest.param([7, 7, 7, 8], 0.3, [(3.5 / 5.5, 7)], id="one of two"),
            pytest.param([7, 7, 7, 8], 0.2, [(3.5 / 5.5, 7), (1.5 / 5.5, 8)], id="both of two"),
            pytest.param([1, 2, 3], 0.3, [(1.5 / 5, n) for n in (3, 2, 1)], id="three alike"),
            pytest.param([1, 2, 3, 4], 0.3, [], id="none of four"),
        ],
    )
    def test_half_a_count_is_added(
        self, tokens: list[int], floor: float, expected: list[tuple[float, int]]
    ) -> None:
        followers = Followers()
        for token in tokens:
            followers.add(token)
        assert followers.likely(floor) == expected

    def test_few_tokens_are_counted_and_too_low_by_little(self) -> None:
        random = Random(3)
        followers, true = Followers(), dict.fromkeys(range(100), 0)
        for _ in range(250):
            token = min(int(random.expovariate(0.1)), 99)
            followers.add(token)
            true[token] += 1
            assert len(followers.counts) <= 16
        for token, count in true.items():
            assert count - 250 / 17 <= followers.counts.get(token, 0) <= count

    def test_old_counts_fade(self) -> None:
        followers = Followers()
        for token in [1] * 1000 + [2] * 300:
            followers.add(token)
        assert followers.total < 256
        assert followers.likely(0.5)[0][1] == 2

    def test_counts_of_two_are_added(self) -> None:
        followers = Followers()
        followers.merge(5, {1: 3, 2: 1})
        followers.merge(3, {2: 1, 3: 2})
        assert (followers.total, followers.counts) == (8, {1: 3, 2: 2, 3: 2})
        followers.merge(1000, dict.fromkeys(range(20), 50))
        assert followers.total < 256
        assert len(followers.counts) == 16
        assert sum(followers.counts.values()) <= followers.total


def test_places_are_bounded_and_the_oldest_goes_first() -> None:
    table = CountTable(4)
    for state in (1, 2, 1, 3):
        table.add(0, state, 5, 9)
    assert {(state, previous) for state, previous, _ in table.of(0)} == {
        (state, previous) for state in (1, 3) for previous in (5, ANY)
    }


def test_a_long_stream_is_bounded() -> None:
    random = Random(4)
    drafter, automaton = StatesDrafter(most_states=20), automaton_of("[a-z]{0,3000}")
    job = job_of([0], automaton.matcher())
    for _ in range(500):
        write(drafter, job, encode("".join(random.choices("abcxyz", k=3))))
        ask(drafter, job)
        assert len(drafter) <= 20


TEXTS = ['[{"a":true,"b":"cab"},{"a":12,"b":"cab"}]', '[{"a":12,"b":"cc"}]', "[]"]
BEFORE = ["", '[{"', '[{"a":', '[{"a":12,"b":"', '[{"a":true,"b":"ca', '[{"a":true,"b":"cab"}']


def own_automaton(tag: int) -> Automaton:
    """One that no other test has walked: it is kept by its options, too."""
    return Grammar.from_regex(LIST).compile(vocabulary(), max_bytes=(1 << 28) + tag)


def states_of(automaton: Automaton, text: str) -> list[int]:
    matcher = automaton.matcher()
    return [matcher.state(), *matcher.states_after(encode(text))]


def test_what_was_saved_serves_an_automaton_with_other_numbers(tmp_path: Path) -> None:
    drafter, automaton = StatesDrafter(), own_automaton(1)
    learn(drafter, automaton, *TEXTS)
    drafter.save(tmp_path / "counts", automaton)
    automaton.save(tmp_path / "automaton")
    fresh = own_automaton(2)
    learn(StatesDrafter(), fresh, *TEXTS[::-1])
    assert states_of(fresh, TEXTS[0]) != states_of(automaton, TEXTS[0])
    for target in (fresh, Automaton.load(tmp_path / "automaton", vocabulary())):
        loaded = StatesDrafter()
        loaded.load(tmp_path / "counts", target)
        assert len(loaded) == len(drafter)
        for text in BEFORE:
            assert guesses(loaded, target, text, 20) == guesses(drafter, automaton, text, 20)


def test_loading_adds_to_what_is_there(tmp_path: Path) -> None:
    drafter, automaton = StatesDrafter(), automaton_of("x[yz]")
    learn(drafter, automaton, "xy", "xy")
    drafter.save(tmp_path / "counts", automaton)
    other = StatesDrafter()
    learn(other, automaton, "xz")
    other.load(tmp_path / "counts", automaton)
    assert other._counts.find(0, automaton.matcher().state(), 0).total == 3  # type: ignore[union-attr]
    assert guesses(other, automaton, "x", 1) == ["y"]


def test_what_another_grammar_forbids_is_left_out(tmp_path: Path) -> None:
    drafter, automaton = StatesDrafter(), automaton_of("x(yy|z)")
    learn(drafter, automaton, "xyy")
    drafter.save(tmp_path / "counts", automaton)
    other, loaded = automaton_of("x(z|w)"), StatesDrafter()
    loaded.load(tmp_path / "counts", other)
    assert len(loaded) == 4  # at the start and after x
    assert guesses(loaded, other, "", 1) == ["x"]


@pytest.mark.parametrize("at_once", [True, False], ids=["as one text", "by single tokens"])
def test_what_is_forced_at_the_beginning_need_not_be_counted(at_once: bool, tmp_path: Path) -> None:
    drafter, automaton = StatesDrafter(), automaton_of("xabc(true|12)")
    job = job_of([0], automaton.matcher())
    assert job.matcher is not None
    ahead = encode("xabc") if at_once else encode("x")
    job.matcher.accept_all(ahead)
    job.write(ahead)
    write(drafter, job, [*encode("abc12"[3 * at_once :]), END])
    drafter.save(tmp_path / "counts", automaton)
    loaded = StatesDrafter()
    loaded.load(tmp_path / "counts", automaton)
    assert guesses(loaded, automaton, "xabc") == guesses(drafter, automaton, "xabc") == ["12"]


def test_the_token_before_the_first_one_is_known_though_it_was_not_counted() -> None:
    drafter, automaton = StatesDrafter(), automaton_of("[ab]*")
    for first, then in ("ab", "ba"):
        job = job_of([9], automaton.matcher())
        assert job.matcher is not None
        job.matcher.accept_all(encode(first))
        job.write(encode(first))
        write(drafter, job, [*encode(then), END])
    assert [guesses(drafter, automaton, text, 1) for text in ("a", "b")] == [["b"], ["a"]]


def test_a_way_that_was_forgotten_is_left_out(tmp_path: Path) -> None:
    drafter, automaton = StatesDrafter(most_states=4), automaton_of("[xa][yb][zc][wd]")
    learn(drafter, automaton, "xyzw")
    drafter.save(tmp_path / "counts", automaton)
    loaded = StatesDrafter()
    loaded.load(tmp_path / "counts", automaton)
    assert len(loaded) == 0


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("bytes", "the file holds no counts, or is damaged"),
        ("arrays", "the file holds no counts, or is damaged"),
        ("places", "the file does not hold counts of states of this version"),
        ("vocabulary", "the counts were saved for another vocabulary"),
    ],
)
def test_another_file_is_refused(kind: str, message: str, tmp_path: Path) -> None:
    path, automaton = tmp_path / "counts", automaton_of("x[yz]")
    if kind == "bytes":
        path.write_bytes(b"no counts")
    elif kind == "arrays":
        save_file({"x": np.zeros(3)}, path)
    elif kind == "places":
        none = np.zeros((0, 3), np.int64)
        ways = np.array([[5, 5]], np.int64)
        about = {"format": "guided state counts 1", "vocabulary": vocabulary().fingerprint}
        save_file({"ways": ways, "places": none, "counts": none}, path, about)
    else:
        other = Vocabulary.from_tokens([b"x", b"y", b"z", None], [3])
        StatesDrafter().save(path, Grammar.from_regex("x[yz]").compile(other))
    with pytest.raises(GuidedError, match=message) as caught:
        StatesDrafter().load(path, automaton)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        StatesDrafter().load(tmp_path / "counts", automaton_of("x[yz]"))


@pytest.mark.parametrize("options", [{"floor": 0.0}, {"floor": 1.5}, {"most_states": 1}])
def test_options_have_bounds(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="a floor is above 0"):
        StatesDrafter(**options)  # type: ignore[arg-type]
