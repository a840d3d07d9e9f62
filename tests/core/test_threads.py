"""Many threads on automata that share a vocabulary see what one thread sees."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from guided import _core

TOKENS: list[bytes | None] = [bytes([byte]) for byte in range(128)]
TOKENS += [f"{a}{b}".encode() for a in 'ab0" {}:,' for b in 'ab0" {}:,é']
TOKENS += [b"\xc3", b"\xa9", None]
END = len(TOKENS) - 1
THREADS = 8


@pytest.fixture(autouse=True)
def _frequent_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def vocabulary() -> _core.Vocabulary:
    return _core.Vocabulary(TOKENS, [END])


def automata(shared: _core.Vocabulary) -> list[_core.Automaton]:
    arena = _core.Arena()
    quote, any_character = arena.literal('"'), arena.char_class([(0x20, 0x21), (0x23, 0x10FFFF)])
    blank = arena.repeat(arena.literal(" "), 0, 3)
    string = arena.sequence([quote, arena.repeat(any_character, 0, 40), quote])
    value, pair = arena.rule("value"), arena.rule("pair")
    arena.define(pair, arena.sequence([string, blank, arena.literal(":"), blank, value]))
    pairs = arena.sequence([pair, arena.repeat(arena.sequence([arena.literal(","), pair]))])
    number = arena.repeat(arena.char_class([(0x30, 0x39)]), 1, 9)
    table = arena.sequence([arena.literal("{"), arena.repeat(pairs, 0, 1), arena.literal("}")])
    arena.define(value, arena.choice([string, number, table]))
    words = arena.minus(arena.repeat(any_character, 1), arena.literal("abba"))
    return [_core.Automaton(arena, node, shared) for node in (value, string, table, words)]


Path_ = tuple[int, list[int], list[list[int]]]


def random_paths(seed: int) -> list[Path_]:
    chosen = random.Random(seed)
    paths: list[Path_] = []
    alone = automata(vocabulary())
    for index in range(40):
        which = index % len(alone)
        matcher = _core.Matcher(alone[which])
        masks: list[list[int]] = []
        for _ in range(chosen.randrange(2, 30)):
            masks.append(matcher.allowed_tokens())
            if not masks[-1]:
                break
            matcher.accept(chosen.choice(masks[-1]))
        paths.append((which, matcher.tokens, masks))
    return paths


def follow(path: Path_, shared: list[_core.Automaton], rounds: int) -> None:
    which, tokens, masks = path
    row = np.zeros(shared[which].vocabulary.words, np.int32)
    for round_ in range(rounds):
        matcher = _core.Matcher(shared[which])
        for token, allowed in zip(tokens, masks, strict=False):
            matcher.fill_mask(row)
            bits = np.unpackbits(row.view(np.uint8), bitorder="little")
            assert np.flatnonzero(bits).tolist() == allowed
            matcher.accept(token)
        assert matcher.accepted_prefix(tokens) <= len(tokens)
        matcher.rollback(round_ % (len(tokens) + 1))
        matcher.forced_bytes()


@pytest.mark.parametrize("seed", range(3))
def test_threads_see_what_one_thread_sees(seed: int) -> None:
    paths = random_paths(seed)
    shared = automata(vocabulary())
    with ThreadPoolExecutor(THREADS) as pool:
        work = [pool.submit(follow, path, shared, 3) for path in paths + paths[::-1]]
        for done in work:
            done.result()


def test_threads_that_compile_save_and_fill_do_not_meet(tmp_path: Path) -> None:
    paths = random_paths(9)
    common = vocabulary()
    shared = automata(common)

    def others(number: int) -> None:
        own = automata(common)
        own[number % 4].precompute(30)
        path = str(tmp_path / f"{number}")
        shared[number % 4].save(path)
        loaded = _core.Automaton.load(path, common)
        matchers = [_core.Matcher(automaton) for automaton in (*own, *shared, loaded)]
        mask = np.zeros((len(matchers), common.words), np.int32)
        for _ in range(5):
            _core.fill_masks(matchers, mask, 3)
            for matcher in matchers:
                matcher.accept(matcher.allowed_tokens()[0])
            shared[0].stats(), common.stats()

    with ThreadPoolExecutor(THREADS) as pool:
        work = [pool.submit(follow, path, shared, 2) for path in paths]
        work += [pool.submit(others, number) for number in range(8)]
        for done in work:
            done.result()


def test_threads_survive_automata_that_are_full() -> None:
    arena = _core.Arena()
    rule = arena.rule("nested")
    options = [arena.sequence([arena.literal(c), rule, arena.literal(c)]) for c in "ab0"]
    arena.define(rule, arena.choice([*options, arena.literal(":")]))
    automaton = _core.Automaton(arena, rule, vocabulary(), max_bytes=1_500_000)

    def nest(seed: int) -> None:
        chosen = random.Random(seed)
        for _ in range(15):
            opening = [chosen.choice([97, 98, 48]) for _ in range(60)]
            matcher = _core.Matcher(automaton)
            matcher.accept_all([*opening, 58, *opening[::-1]])
            assert matcher.allowed_tokens() == [END]

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(nest, seed) for seed in range(THREADS * 2)]:
            done.result()
    # The last generation is smaller than all that was walked.
    assert automaton.stats()["bytes"] < 2 * 1_500_000


STARVED = """
import threading
import numpy as np
from guided import _core

try:
    threading.Thread(target=print).start()
except RuntimeError:
    pass
else:
    raise SystemExit("threads can be had here")

vocabulary = _core.Vocabulary([bytes([byte]) for byte in range(128)] + [None], [128])
matchers = []
for byte in b"abcdefgh":
    arena = _core.Arena()
    matchers.append(_core.Matcher(_core.Automaton(arena, arena.literal(bytes([byte])), vocabulary)))
mask = np.zeros((8, 5), np.int32)
_core.fill_masks(matchers, mask, 2)
assert mask.any(axis=1).all()

logits = np.zeros((4, 1 << 20), np.float32)
none = np.zeros((4, 1 << 15), np.int32)
_core.apply_mask_cpu(
    logits.ctypes.data, "float32", 4, 1 << 20, 1 << 20, none.ctypes.data, 1 << 15, 1 << 15, 4
)
assert (logits == -np.inf).all()
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks for stacks that Linux has no room for")
def test_where_no_thread_can_be_had_the_caller_does_the_work() -> None:
    import resource

    def starve() -> None:
        _, most = resource.getrlimit(resource.RLIMIT_STACK)
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 46, most))

    found = subprocess.run(
        [sys.executable, "-c", STARVED],
        preexec_fn=starve,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # numpy wants threads of its own
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.stdout, found.returncode) == ("done\n", 0), found.stderr
