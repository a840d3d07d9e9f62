"""`stream`: the same text, in whole characters, and its result at the end."""

from __future__ import annotations

import json
from typing import Literal

import pytest

from guided.decoding import Model
from guided.errors import GuidedError
from guided.results import generate, stream


@pytest.mark.parametrize(
    "pattern", ["[a-z]{1,12}", "(é|ü|日|😀){8}", '\\{"name": "[a-z]{1,5}"\\}', "a?"]
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_pieces_are_the_text(model: Model, pattern: str, seed: int) -> None:
    options = {"temperature": 2.0, "seed": seed}
    running = stream(model, "Go: ", regex=pattern, **options)  # type: ignore[arg-type]
    pieces = list(running)
    assert all(pieces)
    assert "\ufffd" not in "".join(pieces)
    assert "".join(pieces) == running.result.text
    whole = generate(model, "Go: ", regex=pattern, **options)  # type: ignore[call-overload]
    assert running.result.tokens == whole.tokens


def test_free_text_streams_too(model: Model) -> None:
    running = stream(model, "Go: ", max_tokens=30)
    assert "".join(running) == generate(model, "Go: ", max_tokens=30).text


def test_the_pieces_come_while_the_model_runs(model: Model) -> None:
    running = stream(model, "Go: ", regex="[a-z]{20}")
    assert 0 < len(next(running)) < 20
    with pytest.raises(GuidedError, match="the stream has not come to its end"):
        _ = running.result
    rest = "".join(running)
    assert running.result.text.endswith(rest)
    assert next(running, None) is None


def test_a_stream_knows_how_far_it_is(model: Model) -> None:
    running = stream(model, "Go: ", regex="[a-z]{20}", max_tokens=30)
    assert (running.tokens, running.max_tokens) == ([], 30)
    counts = [len(running.tokens) for _ in running]
    assert counts == sorted(set(counts))
    assert running.tokens == running.result.tokens
    # The prompt and the output share a context of 256 tokens.
    prompt = "xy" * 120
    assert stream(model, prompt, regex="a*").max_tokens < 256 - 200


def test_the_result_is_there_with_the_last_piece(model: Model) -> None:
    for piece in (running := stream(model, "Go: ", choices=["one way only"])):
        assert piece == "one way only"
        assert running.result.value == "one way only"


def test_a_character_cut_by_the_room_is_left_out(model: Model) -> None:
    running = stream(model, "Go: ", regex="😀{3}", max_tokens=6)  # four tokens each
    assert "".join(running) == running.result.text == "😀"
    assert running.result.finish_reason == "length"


def test_a_list_of_prompts_is_refused(model: Model) -> None:
    with pytest.raises(TypeError, match="a stream has one prompt"):
        stream(model, ["a", "b"])  # type: ignore[list-item]


def test_errors_in_the_arguments_come_at_once(model: Model) -> None:
    with pytest.raises(TypeError, match="at most one constraint"):
        stream(model, "x", regex="a", choices=["a"])


def test_a_schema_streams_with_its_options_and_ends_in_a_value(model: Model) -> None:
    running = stream(model, "Go: ", schema=list[Literal[1, 2]], whitespace="compact")
    text = "".join(running)
    assert " " not in text
    if running.result.is_complete:
        assert running.result.value == json.loads(text)
