"""Pages from a budget in bytes."""

from __future__ import annotations

import pytest
import torch

from guided.decoding.pages import CacheOptions, LayerLayout
from guided.decoding.pages.memory import count_pages, free_memory, page_bytes
from guided.errors import LimitError

LAYOUT = LayerLayout(2, 8, 8, torch.float32, torch.device("cpu"))  # 128 bytes a token


def test_a_budget_in_bytes_is_not_passed() -> None:
    assert page_bytes([LAYOUT] * 3, 16) == 3 * 128 * 16
    for memory in (3 * 128 * 16 * 2, 3 * 128 * 16 * 5 + 17):
        pages = count_pages([LAYOUT] * 3, 16, memory=memory)
        assert (pages + 1) * 3 * 128 * 16 <= memory < (pages + 2) * 3 * 128 * 16


def test_a_budget_without_a_page_is_refused_with_the_numbers() -> None:
    with pytest.raises(LimitError) as caught:
        count_pages([LAYOUT] * 3, 16, memory=12_287)
    assert str(caught.value) == (
        "a page of 16 tokens takes 6144 bytes in all layers, and the cache needs two:"
        " over the limit of 12287 bytes for the cache\n  mend: raise memory (now 12287)"
    )


def test_unasked_the_cache_holds_eight_contexts_and_at_most_a_quarter_of_the_memory() -> None:
    assert count_pages([LAYOUT], 16, context=100) == 50
    huge = count_pages([LAYOUT], 16, context=1 << 40)
    assert huge * 16 * 128 <= 0.26 * free_memory(torch.device("cpu"))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"kind": "ring"}, "'ring'"),
        ({"kv_dtype": "int4"}, "'int4'"),
        ({"page_size": 0}, "page_size is at least 1"),
        ({"memory": -1}, "memory is at least 1"),
        ({"sinks": 4}, "give window"),
        ({"slack": -1}, "slack is at least 0"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        CacheOptions(**options)  # type: ignore[arg-type]
