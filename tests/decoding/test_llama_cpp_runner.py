"""The runner over llama.cpp, against transformers' forward over the whole sequence.

The files are in float32 and the cache in float16, so logits agree to some hundredths.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel

from guided.decoding.models import OutOfPages, Piece
from guided.decoding.models.llama_cpp import LlamaCppNetwork
from guided.decoding.models.llama_cpp.sizes import count_cells
from guided.decoding.models.llama_cpp_runner import LlamaCppRunner, common_length
from guided.errors import GuidedError, LimitError, UnsupportedError
from tests.decoding.tiny_gguf import FAMILIES, WINDOW, tiny_network, write_gguf
from tests.decoding.tiny_model import VOCABULARY

pytestmark = pytest.mark.llama
TOLERANCE = 0.1  # of logits that reach from -20 to 20
TOKEN_BYTES = 128  # of keys and values


@dataclass(frozen=True)
class Pair:
    """One model twice: as a file in llama.cpp, and in transformers."""

    file: LlamaCppNetwork
    stock: PreTrainedModel

    def after(self, tokens: Sequence[int], rows: int = 1) -> Tensor:
        """The stock logits after the last rows, (rows, V)."""
        with torch.no_grad():
            logits: Tensor = self.stock(torch.tensor([list(tokens)]), use_cache=False).logits
        return logits[0, -rows:]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    pytest.importorskip("llama_cpp", reason="the extra `llama` is not installed")
    made = {}
    networks = {family: tiny_network(family) for family in FAMILIES}
    networks["wide"] = tiny_network("qwen2", hidden_size=128)  # heads of 32
    for name, stock in networks.items():
        path = tmp_path_factory.mktemp("gguf") / f"{name}.gguf"
        write_gguf(path, stock.config.model_type, stock)
        made[name] = Pair(LlamaCppNetwork(path), stock)
    return made


@pytest.fixture(params=FAMILIES)
def pair(request: pytest.FixtureRequest, pairs: dict[str, Pair]) -> Pair:
    return pairs[request.param]


@pytest.fixture
def runner(pair: Pair) -> LlamaCppRunner:
    return make_runner(pair)


def make_runner(pair: Pair, **options: Any) -> LlamaCppRunner:
    return LlamaCppRunner(pair.file, threads=1, **{"memory": 1024 * TOKEN_BYTES, **options})


def some(count: int, seed: int = 0) -> list[int]:
    """Random tokens."""
    return random.Random(seed).choices(range(3, VOCABULARY), k=count)


def append(runner: LlamaCppRunner, sequence: int, tokens: Sequence[int], logits: int = 1) -> Tensor:
    return runner.run([Piece(sequence, tokens, logits)]).values


def assert_close(found: Tensor, wanted: Tensor) -> None:
    assert found.shape == wanted.shape
    torch.testing.assert_close(found, wanted, atol=TOLERANCE, rtol=0)


def test_logits_are_those_of_the_stock_forward(pair: Pair, runner: LlamaCppRunner) -> None:
    tokens = some(40)
    sequence, cached = runner.open(tokens)
    assert cached == 0
    assert_close(append(runner, sequence, tokens), pair.after(tokens))
    assert runner.length(sequence) == 40
    for token in some(3, seed=1):
        tokens.append(token)
        assert_close(append(runner, sequence, [token]), pair.after(tokens))


def test_logits_come_for_as_many_rows_as_asked(pair: Pair, runner: LlamaCppRunner) -> None:
    tokens = some(30)
    sequence, _ = runner.open()
    assert append(runner, sequence, tokens[:10], logits=0).shape == (0, VOCABULARY)
    assert_close(append(runner, sequence, tokens[10:], logits=7), pair.after(tokens, rows=7))


def test_sequences_of_one_batch_do_not_see_each_other(pair: Pair, runner: LlamaCppRunner) -> None:
    texts = [some(length, seed=length) for length in (3, 25, 1, 12)]
    handles = [runner.open(text)[0] for text in texts]
    wanted = [1, 2, 1, 0]
    pieces = [Piece(*parts) for parts in zip(handles, texts, wanted, strict=True)]
    rows = [pair.after(text, count) for text, count in zip(texts, wanted, strict=True) if count]
    assert_close(runner.run(pieces).values, torch.cat(rows))
    # One goes on with a single token, one with several, and a new one joins.
    texts[0].append(5)
    texts[1] += some(4)
    texts.append(some(9, seed=9))
    pieces = [
        Piece(handles[0], [5]),
        Piece(handles[1], some(4), 2),
        Piece(runner.open()[0], texts[4]),
    ]
    rows = [pair.after(texts[0]), pair.after(texts[1], 2), pair.after(texts[4])]
    assert_close(runner.run(pieces).values, torch.cat(rows))


def test_more_rows_than_one_call_takes(pair: Pair, runner: LlamaCppRunner) -> None:
    texts = [some(220, seed=seed) for seed in range(3)]
    handles = [runner.open()[0] for _ in texts]
    pieces = [Piece(handle, text, 100) for handle, text in zip(handles, texts, strict=True)]
    # 660 rows and 300 of them with logits; a call takes 512 and 128.
    found = runner.run(pieces).values
    assert_close(found, torch.cat([pair.after(text, 100) for text in texts]))


def test_all_columns_are_there_whatever_is_allowed(pair: Pair, runner: LlamaCppRunner) -> None:
    def allowed() -> list[Tensor | None]:
        raise AssertionError("no columns can be left out, so nobody need ask")

    sequence, _ = runner.open()
    logits = runner.run([Piece(sequence, some(8))], allowed)
    assert logits.tokens is None
    assert_close(logits.values, pair.after(some(8)))


@pytest.mark.parametrize("count", [1, WINDOW - 1, 3 * WINDOW, 40])
def test_rollback_leaves_no_trace(pair: Pair, count: int) -> None:
    runner = make_runner(pair, memory=256 * TOKEN_BYTES)
    # llama.cpp fills its cells in order. Of a single sequence it would also take those that have
    # left the window: so some are freed that come before, and then more are needed than these.
    earlier, _ = runner.open()
    append(runner, earlier, some(100, seed=7), logits=0)
    tokens = some(40)
    sequence, _ = runner.open()
    append(runner, sequence, tokens)
    runner.free(earlier)
    append(runner, runner.open()[0], some(120, seed=8), logits=0)
    runner.rollback(sequence, count)
    assert runner.length(sequence) == 40 - count
    tokens = [*tokens[: 40 - count], *some(5, seed=2)]
    assert_close(append(runner, sequence, tokens[40 - count :]), pair.after(tokens))


def test_keep_drops_the_end_of_the_last_piece(pair: Pair, runner: LlamaCppRunner) -> None:
    tokens = some(30)
    sequence, _ = runner.open()
    append(runner, sequence, tokens[:20])
    append(runner, sequence, tokens[20:], logits=10)
    runner.keep(sequence, [0, 1, 2])
    assert runner.length(sequence) == 23
    assert_close(append(runner, sequence, [9]), pair.after([*tokens[:23], 9]))
    with pytest.raises(ValueError, match="the last piece was a chain"):
        runner.keep(sequence, [1])
    with pytest.raises(ValueError, match="the last piece had 1 tokens, found a path of 2"):
        runner.keep(sequence, [0, 1])


def test_a_fork_goes_its_own_way(pair: Pair, runner: LlamaCppRunner) -> None:
    tokens = some(30)
    sequence, _ = runner.open()
    append(runner, sequence, tokens)
    room = runner.room()
    twin = runner.fork(sequence)
    assert runner.room() == room  # it shares all cells
    pieces = [Piece(sequence, [7, 8]), Piece(twin, [9])]
    rows = [pair.after([*tokens, 7, 8]), pair.after([*tokens, 9])]
    assert_close(runner.run(pieces).values, torch.cat(rows))
    runner.free(sequence)
    assert_close(append(runner, twin, [4]), pair.after([*tokens, 9, 4]))


def test_a_prompt_that_begins_like_another_finds_that_cached(pairs: dict[str, Pair]) -> None:
    for family in ("qwen2", "gemma2"):
        pair = pairs[family]
        runner = make_runner(pair)
        tokens = some(30)
        sequence, _ = runner.open(tokens)
        append(runner, sequence, tokens)
        other = [*tokens[:20], *some(6, seed=3)]
        second, cached = runner.open(other)
        assert cached == 20
        assert_close(append(runner, second, other[20:]), pair.after(other))
        runner.free(sequence)
        third, cached = runner.open(tokens)  # the last is run for its logits
        assert cached == 29
        assert_close(append(runner, third, tokens[29:]), pair.after(tokens))
        stats = runner.stats()
        assert (stats.hits, stats.misses) == (49, 37)
        assert stats.shared == 20


def test_a_state_is_found_by_what_continues_it(pairs: dict[str, Pair]) -> None:
    pair = pairs["mamba"]
    runner = make_runner(pair)
    tokens = some(30)
    sequence, _ = runner.open(tokens)
    append(runner, sequence, tokens)
    assert runner.open([*tokens[:20], 4])[1] == 0
    assert runner.open(tokens)[1] == 0
    longer = [*tokens, 4, 5]
    second, cached = runner.open(longer)
    assert cached == 30
    assert_close(append(runner, second, [4, 5]), pair.after(longer))


def test_without_room_nothing_changes(pairs: dict[str, Pair]) -> None:
    pair = pairs["qwen2"]
    runner = make_runner(pair, memory=256 * TOKEN_BYTES)
    assert runner.room() == 256
    first, second = runner.open()[0], runner.open()[0]
    tokens = some(200)
    append(runner, first, tokens)
    with pytest.raises(OutOfPages) as caught:
        runner.run([Piece(first, [5]), Piece(second, some(56))])
    assert (caught.value.needed, caught.value.room) == (57, 56)
    assert (runner.length(first), runner.length(second), runner.room()) == (200, 0, 56)
    assert runner.needs([Piece(first, [5]), Piece(second, some(55))]) == 56
    append(runner, second, some(55))
    assert_close(append(runner, first, [5]), pair.after([*tokens, 5]))
    assert runner.room() == 0
    runner.free(second)
    assert runner.room() == 55
    assert runner.stats().cached == 55
    append(runner, first, some(20, seed=6))  # takes the place of what was kept of the other
    assert_close(append(runner, first, [5]), pair.after([*tokens, 5, *some(20, seed=6), 5]))


def test_room_is_what_llama_cpp_itself_has(pairs: dict[str, Pair]) -> None:
    for family in ("qwen2", "gemma2"):
        runner = make_runner(pairs[family], memory=256 * TOKEN_BYTES)
        sequence, _ = runner.open()
        append(runner, sequence, some(200), logits=0)
        twin = runner.fork(sequence)
        runner.rollback(twin, 150)
        append(runner, twin, some(56), logits=0)  # to the last cell
        assert runner.room() == 0
        runner.free(sequence)
        append(runner, twin, some(150), logits=0)
        assert runner.room() == 0


def test_a_forward_that_fails_changes_nothing(
    pair: Pair, runner: LlamaCppRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = some(30)
    sequence, _ = runner.open()
    append(runner, sequence, tokens)
    real = pair.file.llama.llama_decode
    answers = iter([real, lambda *_: -3])
    with monkeypatch.context() as patch:
        patch.setattr(pair.file.llama, "llama_decode", lambda *given: next(answers)(*given))
        with pytest.raises(GuidedError, match=r"llama\.cpp cannot run 88 tokens .*: status -3"):
            append(runner, sequence, some(600, seed=1)[:600])
    assert runner.length(sequence) == 30
    assert_close(append(runner, sequence, [5]), pair.after([*tokens, 5]))


def test_a_reset_forgets_everything(pair: Pair, runner: LlamaCppRunner) -> None:
    tokens = some(30)
    for _ in range(2):
        sequence, cached = runner.open(tokens)
        assert cached == 0
        assert_close(append(runner, sequence, tokens), pair.after(tokens))
        runner.reset()
        stats = runner.stats()
        assert (stats.free, stats.hits, stats.misses) == (stats.pages, 0, 0)


def test_keys_and_values_may_be_int8(pairs: dict[str, Pair]) -> None:
    pair = pairs["wide"]
    runner, small = make_runner(pair), make_runner(pair, kv_dtype="int8")
    assert small.stats().bytes == pytest.approx(runner.stats().bytes * 17 / 32)
    tokens = some(60)
    sequence, _ = small.open()
    error = append(small, sequence, tokens) - pair.after(tokens)
    assert 0 < error.abs().max() < 1


def test_heads_that_int8_does_not_fit_are_refused(pairs: dict[str, Pair]) -> None:
    with pytest.raises(
        GuidedError, match=r"llama.cpp makes no cache of 1792 tokens .* block size 32"
    ):
        make_runner(pairs["qwen2"], kv_dtype="int8")


def test_fp8_is_refused(pairs: dict[str, Pair]) -> None:
    with pytest.raises(UnsupportedError, match="as float16 or as int8, found kv_dtype 'fp8'"):
        make_runner(pairs["qwen2"], kv_dtype="fp8")


def test_memory_becomes_cells() -> None:
    assert count_cells(100, 8192, None) == 16384
    assert count_cells(1 << 17, 1 << 20, None) == 8192  # 1 GiB
    assert count_cells(100, 8192, 100_000) == 768
    assert count_cells(0, None, None) == 1 << 16
    with pytest.raises(LimitError) as caught:
        count_cells(100, 8192, 25_000)
    assert str(caught.value) == (
        "llama.cpp keeps at least 256 tokens, whose keys and values take 25600 bytes:"
        " over the limit of 25000 bytes\n"
        "  mend: raise memory (now 25000)"
    )


def test_sequences_are_used_again_and_run_out_with_a_number(pair: Pair) -> None:
    runner = make_runner(pair, sequences=20)
    for _ in range(60):
        sequence, _ = runner.open()
        append(runner, sequence, [5])
        runner.free(sequence)
    for _ in range(20):
        runner.open()
    with pytest.raises(GuidedError, match=r"holds no more than 20 sequences of .* at a time"):
        runner.open()


def test_more_sequences_than_llama_cpp_holds_are_refused(pairs: dict[str, Pair]) -> None:
    for family, most in (("qwen2", 256), ("gemma2", 128)):
        make_runner(pairs[family], sequences=most)
        with pytest.raises(
            GuidedError, match=f"from 1 to {most} sequences .* {most + 1} are asked"
        ):
            make_runner(pairs[family], sequences=most + 1)


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        ({"tokens": []}, "a piece has at least one token"),
        ({"tokens": [5], "logits": 2}, "a piece has at least one token and logits for some"),
        ({"tokens": [VOCABULARY]}, "tokens are from 0 to 319"),
        ({"tokens": [-1]}, "tokens are from 0 to 319"),
        ({"tokens": [5, 6], "parents": [-1, -1]}, "pieces are chains here"),
    ],
)
def test_a_piece_that_cannot_be_run_is_refused(
    pairs: dict[str, Pair], piece: dict[str, Any], message: str
) -> None:
    runner = make_runner(pairs["qwen2"])
    sequence, _ = runner.open()
    with pytest.raises(ValueError, match=message):
        runner.run([Piece(sequence, **piece)])
    assert runner.length(sequence) == 0
    chain = Piece(sequence, [5, 6], parents=[-1, 0])
    assert_close(runner.run([chain]).values, pairs["qwen2"].after([5, 6]))


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_done_logits_are_those_of_the_tokens(pair: Pair, seed: int) -> None:
    chance = random.Random(seed)
    runner = make_runner(pair)
    held: dict[int, list[int]] = {}
    for _ in range(60):
        action = chance.choice(["open", "run", "run", "run", "rollback", "fork", "free", "keep"])
        known = list(held)
        if action == "open" and len(held) < 6:
            prompt = chance.choice([some(12), some(5), [*some(8), 5, 6]])
            sequence, cached = runner.open(prompt)
            held[sequence] = prompt[:cached]
        elif action in ("run", "keep") and known:
            chosen = chance.sample(known, chance.randint(1, len(known)))
            pieces = [
                Piece(sequence, chance.choices(range(VOCABULARY), k=chance.randint(1, 12)), 1)
                for sequence in chosen
            ]
            values = runner.run(pieces).values
            for piece, row in zip(pieces, values, strict=True):
                held[piece.sequence] += piece.tokens
                assert_close(row[None], pair.after(held[piece.sequence]))
            if action == "keep":
                kept = chance.randint(0, len(pieces[0].tokens))
                runner.keep(chosen[0], range(kept))
                del held[chosen[0]][len(held[chosen[0]]) - len(pieces[0].tokens) + kept :]
        elif action == "rollback" and known:
            sequence = chance.choice(known)
            count = chance.randint(0, len(held[sequence]))
            runner.rollback(sequence, count)
            del held[sequence][len(held[sequence]) - count :]
        elif action == "fork" and known and len(held) < 6:
            sequence = chance.choice(known)
            held[runner.fork(sequence)] = list(held[sequence])
        elif action == "free" and known:
            sequence = chance.choice(known)
            runner.free(sequence)
            del held[sequence]
        for sequence, tokens in held.items():
            assert runner.length(sequence) == len(tokens)
    for sequence in held:
        runner.free(sequence)
    assert runner.room() == runner.stats().pages


def test_common_beginnings_are_counted() -> None:
    tokens = some(300)
    for length in (0, 1, 63, 64, 65, 128, 299, 300):
        assert common_length(tokens, [*tokens[:length], -1]) == length
        assert common_length(tokens[:length], tokens) == length


def test_a_file_can_be_used_by_two_runners(pairs: dict[str, Pair], tmp_path: Path) -> None:
    pair = pairs["qwen2"]
    first, second = make_runner(pair), make_runner(pair)
    one, two = first.open()[0], second.open()[0]
    append(first, one, some(5))
    append(second, two, some(9, seed=1))
    assert_close(append(first, one, [7]), pair.after([*some(5), 7]))
    del first
    assert_close(append(second, two, [7]), pair.after([*some(9, seed=1), 7]))
