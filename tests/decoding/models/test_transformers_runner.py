"""The runner on our pages, beyond the logits of families: prefixes, room, windows, the head."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel

from guided.decoding.batch import Batch
from guided.decoding.models import OutOfPages, Piece
from guided.decoding.models.opening import open_transformers_runner
from guided.decoding.models.paged_layers import NotServed
from guided.decoding.models.transformers_runner import TransformersRunner
from guided.decoding.pages import CacheOptions
from guided.errors import GuidedError, LimitError, UnsupportedError
from tests.decoding.models.families import STOCK, tiny_model
from tests.decoding.models.play import Player

TOKEN_BYTES = 2 * 2 * 2 * 8 * 4  # layers, keys and values, heads, head size, float32


def runner_of(network: PreTrainedModel, pages: int = 40, **options: Any) -> TransformersRunner:
    """A runner with so many pages of four tokens."""
    return TransformersRunner(
        network, CacheOptions(page_size=4, memory=(pages + 1) * 4 * TOKEN_BYTES, **options)
    )


@pytest.fixture(scope="module")
def llama() -> PreTrainedModel:
    return tiny_model("llama")


def player_of(network: PreTrainedModel, runner: TransformersRunner, **options: Any) -> Player:
    return Player(network, runner, random.Random(1), **options)


def test_width_context_device_and_dtype_are_those_of_the_model(llama: PreTrainedModel) -> None:
    runner = runner_of(llama)
    assert (runner.width, runner.context) == (160, 128)
    assert (runner.device, runner.dtype) == (torch.device("cpu"), torch.float32)


def test_the_network_itself_stays_as_it_was(llama: PreTrainedModel) -> None:
    tokens = torch.tensor([[5, 6, 7]])
    before = llama(input_ids=tokens).logits
    runner = runner_of(llama)
    sequence, _ = runner.open()
    runner.run([Piece(sequence, [5, 6, 7])])
    assert torch.equal(llama(input_ids=tokens).logits, before)
    assert llama.config._attn_implementation == "sdpa"
    assert "forward" not in vars(llama.get_output_embeddings())
    generated = llama.generate(tokens, max_new_tokens=3, do_sample=False)  # type: ignore[operator]
    assert generated.shape == (1, 6)


def test_logits_may_be_changed_in_place_and_carry_no_gradient(llama: PreTrainedModel) -> None:
    runner = runner_of(llama)
    values = runner.run([Piece(runner.open()[0], [5, 6])]).values
    assert not values.requires_grad
    values.masked_fill_(values > 0, 0.0)


def test_logits_come_for_the_rows_asked_for_only(llama: PreTrainedModel) -> None:
    runner = runner_of(llama)
    first, second = runner.open()[0], runner.open()[0]
    logits = runner.run([Piece(first, [5, 6, 7], 0), Piece(second, [8, 9], 2)])
    assert logits.values.shape == (2, 160)
    assert runner.run([Piece(first, [5], 0)]).values.shape == (0, 160)


def test_a_prompt_that_was_seen_is_not_run_again(llama: PreTrainedModel) -> None:
    player = player_of(llama, runner_of(llama))
    first, _ = player.open(list(range(11)))
    player.run([Piece(first, list(range(11)))])
    second, found = player.open([*range(10), 99])
    assert found == 8  # the pages that are full
    player.run([Piece(second, [8, 9, 99])])
    player.run([Piece(first, [3, 4], 2), Piece(second, [5], 1)])  # neither sees the other's
    player.free_all()
    third, found = player.open([*range(10), 98])
    assert found == 10  # and the part of a page that nobody writes any more
    player.run([Piece(third, [98])])
    stats = player.runner.stats()
    assert (stats.hits, stats.misses) == (18, 11 + 3 + 1)
    player.finish()


def test_too_little_room_changes_nothing_and_room_is_known_before(llama: PreTrainedModel) -> None:
    runner = runner_of(llama, pages=4)
    player = player_of(llama, runner)
    sequence, other = player.open([1])[0], player.open([2])[0]
    player.run([Piece(sequence, list(range(10)))])
    pieces = [Piece(sequence, [1, 2]), Piece(other, [1, 2, 3, 4, 5])]
    assert (runner.room(), runner.needs(pieces)) == (4, 8)
    with pytest.raises(OutOfPages, match="room for 4 tokens, and 8 are needed"):
        runner.run(pieces)
    assert (runner.room(), runner.length(sequence), runner.length(other)) == (4, 10, 0)
    player.run(pieces[:1])
    runner.free(sequence)
    del player.texts[sequence]
    player.run(pieces[1:])
    player.finish()


def test_after_a_failure_the_same_step_can_be_run_again(llama: PreTrainedModel) -> None:
    runner = runner_of(llama)
    player = player_of(llama, runner)
    sequence, _ = player.open([1])
    player.run([Piece(sequence, [1, 2, 3])])

    def fails() -> list[Tensor | None]:
        raise KeyboardInterrupt

    for piece in (Piece(sequence, [4, 5, 6]), Piece(sequence, [4, 5], 2, (-1, -1))):
        with pytest.raises(KeyboardInterrupt):
            runner.run([piece], fails)
        assert runner.length(sequence) == 3
    assert llama.config._attn_implementation == "sdpa"
    player.run([Piece(sequence, [4, 5, 6], 3)])
    player.finish()


def test_reset_forgets_sequences_and_prefixes(llama: PreTrainedModel) -> None:
    runner = runner_of(llama)
    sequence, _ = runner.open()
    runner.run([Piece(sequence, list(range(9)))])
    runner.reset()
    assert runner.stats().free == runner.stats().pages == 40
    with pytest.raises(KeyError, match="no sequence"):
        runner.length(sequence)
    assert runner.open(list(range(9)))[1] == 0


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [Piece(1, [])],
        [Piece(1, [4], 2)],
        [Piece(1, [4]), Piece(1, [5])],
        [Piece(1, [4, 5], 1, (0, -1))],
        [Piece(1, [4, 5], 1, (-1,))],
    ],
)
def test_unsound_pieces_are_refused(llama: PreTrainedModel, pieces: list[Piece]) -> None:
    runner = runner_of(llama)
    runner.open()
    with pytest.raises(ValueError, match=r"piece|tree"):
        runner.run(pieces)
    assert runner.length(1) == 0


def test_a_tree_of_which_no_path_was_kept_is_not_built_upon(llama: PreTrainedModel) -> None:
    runner = runner_of(llama)
    player = player_of(llama, runner)
    sequence, _ = player.open([1])
    player.run([Piece(sequence, [5, 6])])
    runner.run([Piece(sequence, [7, 8], 2, (-1, -1))])
    with pytest.raises(GuidedError, match="ends in a tree cannot go on"):
        runner.run([Piece(sequence, [9])])
    with pytest.raises(GuidedError, match="cannot be forked"):
        runner.fork(sequence)
    runner.rollback(sequence, 2)  # all of it may be dropped
    player.run([Piece(sequence, [9])])


def test_two_runners_of_one_network_may_run_in_two_threads(llama: PreTrainedModel) -> None:
    def work(seed: int) -> int:
        player = Player(llama, runner_of(llama), random.Random(seed))
        sequence, _ = player.open([1])
        rows = [
            player.runner.run([Piece(sequence, player.random_tokens(1, 3))]).values
            for _ in range(20)
        ]
        return len(rows)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, range(4))) == [20] * 4
    assert llama.config._attn_implementation == "sdpa"


def test_decode_steps_go_through_graphs_where_there_are_some(llama: PreTrainedModel) -> None:
    class Graphs:
        """Runs decode steps of fewer than three rows, as captured ones would be."""

        steps = 0

        def run(self, batch: Batch) -> Tensor | None:
            if batch.most_rows > 1 or batch.size > 2:
                return None
            self.steps += 1
            return runner._run_network(batch)

    runner, graphs = runner_of(llama), Graphs()
    runner._graphs = graphs  # type: ignore[assignment]
    player = player_of(llama, runner)
    sequences = [player.open([place])[0] for place in range(3)]
    player.run([Piece(sequence, [5, 6, 7]) for sequence in sequences])
    player.run([Piece(sequence, [8]) for sequence in sequences[:2]])
    player.run([Piece(sequence, [9]) for sequence in sequences])
    runner.run([Piece(sequences[0], [3])])
    assert graphs.steps == 2


# The head on some columns


def test_only_the_columns_that_may_be_chosen_are_computed() -> None:
    for family, config in (("llama", {"tie_word_embeddings": True}), ("phi", {}), ("gemma2", {})):
        network = tiny_model(family, **config)  # tied; with a bias; with a soft cap
        runner = runner_of(network)
        first, second = runner.open()[0], runner.open()[0]
        pieces = [Piece(first, [5, 6, 7]), Piece(second, [8, 9])]
        full = runner.run(pieces).values
        for piece in pieces:
            runner.rollback(piece.sequence, 1)
        pieces = [Piece(first, [7]), Piece(second, [9])]
        allowed = [torch.tensor([3, 90]), torch.tensor([4, 90, 159])]
        logits = runner.run(pieces, lambda: allowed)  # noqa: B023
        assert logits.tokens is not None
        assert logits.tokens.tolist() == [3, 4, 90, 159]
        torch.testing.assert_close(logits.values, full[:, [3, 4, 90, 159]], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("free", [None, torch.arange(100)])
def test_all_columns_are_computed_where_one_row_may_choose_many(
    llama: PreTrainedModel, free: Tensor | None
) -> None:
    runner = runner_of(llama)
    pieces = [Piece(runner.open()[0], [5]), Piece(runner.open()[0], [6])]
    logits = runner.run(pieces, lambda: [torch.tensor([3]), free])
    assert logits.tokens is None
    assert logits.values.shape == (2, 160)


def test_what_is_allowed_is_asked_for_once_and_after_the_body_of_the_model() -> None:
    network = tiny_model("llama")
    runner = runner_of(network)
    order: list[str] = []
    norm = network.get_decoder().norm
    handle = norm.register_forward_hook(lambda *_: order.append("body"))

    def allowed() -> list[Tensor | None]:
        order.append("allowed")
        return []

    runner.run([Piece(runner.open()[0], [5, 6])], allowed)
    handle.remove()
    assert order == ["body", "allowed"]


# Windows and quantized pages


def windowed(network: PreTrainedModel, text: list[int], window: int, sinks: int) -> Tensor:
    """The stock logits of a text, (T, V), under a mask with a window and sinks."""
    place = torch.arange(len(text))
    seen = place <= place[:, None]
    seen &= (place > place[:, None] - window) | (place < sinks)
    mask = torch.zeros(seen.shape).masked_fill(~seen, torch.finfo(torch.float32).min)
    with torch.no_grad():
        logits: Tensor = network(
            input_ids=torch.tensor([text]), attention_mask=mask[None, None], use_cache=False
        ).logits
    return logits[0]


@pytest.mark.parametrize("kind", ["paged", "contiguous"])
@pytest.mark.parametrize("sinks", [0, 1, 5])
def test_a_window_with_sinks_is_that_mask_and_gives_pages_back(
    llama: PreTrainedModel, sinks: int, kind: str
) -> None:
    options = {"memory": 1 << 20, "window": 6, "sinks": sinks, "slack": 0}
    runner = TransformersRunner(
        llama,
        CacheOptions(kind=kind, page_size=4 if kind == "paged" else 64, **options),  # type: ignore[arg-type]
    )
    generator, text = random.Random(0), list[int]()
    sequence, _ = runner.open()
    for count in (9, 1, 1, 7, 1, 3, 1, 20, 1):
        tokens = [generator.randrange(160) for _ in range(count)]
        text += tokens
        found = runner.run([Piece(sequence, tokens, count)]).values
        wanted = windowed(llama, text, 6, sinks)[-count:]
        torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)
    if kind == "paged":
        stats = runner.stats()
        used = stats.pages - stats.free - stats.cached
        assert used <= 3 + -(-sinks // 4)  # of 11 that it would hold


def test_a_wider_window_than_the_models_own_changes_nothing() -> None:
    network = tiny_model("mistral")
    player = player_of(network, runner_of(network, window=50, sinks=2))
    sequence, _ = player.open([1])
    player.run([Piece(sequence, player.random_tokens(20, 20), 20)])
    player.run([Piece(sequence, [3], 1)])


@pytest.mark.parametrize(("kv_dtype", "tolerance"), [("int8", 0.02), ("fp8", 0.12)])
def test_quantized_pages_change_the_logits_little_and_not_by_how_rows_are_cut(
    llama: PreTrainedModel, kv_dtype: str, tolerance: float
) -> None:
    text = [random.Random(0).randrange(160) for _ in range(20)]
    with torch.no_grad():
        stock = llama(input_ids=torch.tensor([text])).logits[0]
    found = []
    for cuts in ([20], [7, 1, 1, 11]):
        runner = runner_of(llama, kv_dtype=kv_dtype)
        sequence, _ = runner.open()
        rows, begin = [], 0
        for count in cuts:
            piece = Piece(sequence, text[begin : begin + count], count)
            rows.append(runner.run([piece]).values)
            begin += count
        found.append(torch.cat(rows))
        difference = torch.linalg.vector_norm(found[-1] - stock) / torch.linalg.vector_norm(stock)
        assert 0 < difference < tolerance
    torch.testing.assert_close(found[0], found[1], atol=1e-4, rtol=1e-4)


def test_quantized_pages_hold_more_in_the_same_memory(llama: PreTrainedModel) -> None:
    plain = runner_of(llama).stats()
    quantized = runner_of(llama, kv_dtype="int8").stats()
    assert quantized.bytes <= plain.bytes + 4 * TOKEN_BYTES
    assert quantized.pages > 2 * plain.pages


def test_memory_without_a_page_is_refused_with_the_numbers(llama: PreTrainedModel) -> None:
    with pytest.raises(LimitError, match="a page of 64 tokens takes 16384 bytes in all layers"):
        TransformersRunner(llama, CacheOptions(memory=20_000))


# Models that cannot


@pytest.mark.parametrize(
    ("family", "reason"),
    [
        ("bloom", "its forward takes no position_ids"),
        ("falcon", "its forward fails here"),
        ("gpt_neo", "its logits differ by"),
        ("llama4_text", "it attends in chunks"),
        ("mamba", "its forward takes no position_ids"),
        ("mpt", "its forward takes no position_ids"),
    ],
)
def test_a_model_that_cannot_run_on_pages_says_why(family: str, reason: str) -> None:
    assert family in STOCK
    with pytest.raises(NotServed, match=reason):
        runner_of(tiny_model(family))


def test_a_model_that_cannot_runs_on_its_own_cache_with_a_warning() -> None:
    network = tiny_model("bloom")
    with pytest.warns(RuntimeWarning, match="BloomForCausalLM runs on its own cache"):
        runner = open_transformers_runner(network)
    assert not runner.trees


def test_what_needs_pages_is_refused_where_there_are_none() -> None:
    with pytest.raises(UnsupportedError) as caught:
        open_transformers_runner(tiny_model("bloom"), CacheOptions(kv_dtype="int8"))
    assert str(caught.value) == (
        "BloomForCausalLM cannot run on pages: its forward takes no position_ids"
        " (scope: docs/decoding.md)\n  mend: leave out kv_dtype: it runs on its own cache then"
    )


def test_a_model_whose_logits_are_wrong_on_pages_is_found_out() -> None:
    network = tiny_model("llama")
    attention = network.get_decoder().layers[1].self_attn
    project = attention.q_proj.forward

    # A layer that looks at its neighbours in the batch is not what a packed batch allows for.
    attention.q_proj.forward = lambda hidden: project(hidden + hidden.roll(1, 1))
    with pytest.raises(NotServed, match="its logits differ by"):
        runner_of(network)
