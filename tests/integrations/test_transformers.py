"""The processor for `generate` of transformers: each way to generate, and each way to go wrong."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import LogitsProcessor, MaxLengthCriteria, StoppingCriteriaList

import guided
from guided.decoding import Model
from guided.errors import GuidedError, ShapeError, TokenRejected
from guided.integrations.transformers import GuidedLogitsProcessor
from tests.decoding.tiny_model import VOCABULARY, tiny_network
from tests.integrations.languages import OBJECT, PROMPTS, REGEX, is_valid

PAD = 2  # what is no end token, so that what is no text is seen
END = 1
LENGTH = 80

# How `generate` may be called, and how many rows it makes of a prompt.
WAYS: dict[str, dict[str, Any]] = {
    "greedy": {"do_sample": False},
    "sampling": {"do_sample": True},
    "sampling, several": {"do_sample": True, "num_return_sequences": 3},
    "beams": {"num_beams": 4, "do_sample": False},
    "beams, several": {"num_beams": 4, "num_return_sequences": 3, "do_sample": False},
}
# Ways that transformers allows for one prompt only.
LONE_WAYS: dict[str, dict[str, Any]] = {
    "prompt look-up": {"prompt_lookup_num_tokens": 5, "do_sample": False},
    "prompt look-up, sampling": {"prompt_lookup_num_tokens": 5, "do_sample": True},
    "assistant": {"assistant_model": True, "do_sample": False},
    "assistant, sampling": {"assistant_model": True, "do_sample": True},
}


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(7)


def padded(model: Model, prompts: list[str]) -> dict[str, Tensor]:
    """The prompts as a batch that is padded on the left."""
    texts = [model.tokenizer(prompt)["input_ids"] for prompt in prompts]
    width = max(map(len, texts))
    ids = [[PAD] * (width - len(text)) + text for text in texts]
    mask = [[0] * (width - len(text)) + [1] * len(text) for text in texts]
    return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask)}


def generate(
    model: Model, prompts: list[str], processors: list[Any], *, tokens: int = LENGTH, **way: Any
) -> list[list[int]]:
    """The output tokens of each row, up to its end token or padding."""
    if way.get("assistant_model"):
        way["assistant_model"] = tiny_network(seed=1)
    inputs = padded(model, prompts)
    network: Any = model.network
    rows = network.generate(
        **inputs, logits_processor=processors, max_new_tokens=tokens, pad_token_id=PAD, **way
    )
    outputs = [row[inputs["input_ids"].shape[1] :].tolist() for row in rows]
    return [row[: next((n for n, token in enumerate(row) if token < 3), None)] for row in outputs]


def text_of(model: Model, tokens: list[int]) -> str:
    return b"".join(model.vocabulary.token_bytes(token) or b"?" for token in tokens).decode()


@pytest.mark.parametrize("grammar", [REGEX, OBJECT], ids=["regex", "schema"])
@pytest.mark.parametrize("way", WAYS)
def test_each_row_fits_however_it_is_generated(
    model: Model, grammar: guided.Grammar, way: str
) -> None:
    processor = GuidedLogitsProcessor(grammar, model)
    rows = generate(model, PROMPTS, [processor], **WAYS[way])
    assert len(rows) == 2 * WAYS[way].get("num_return_sequences", 1)
    for row in rows:
        assert is_valid(grammar, text_of(model, row))


@pytest.mark.parametrize("grammar", [REGEX, OBJECT], ids=["regex", "schema"])
@pytest.mark.parametrize("way", LONE_WAYS)
def test_drafts_are_checked_and_taken_back(model: Model, grammar: guided.Grammar, way: str) -> None:
    for prompt in [PROMPTS[0], 'abc 12 true "ab12" "abc12" {"a":[true,12],"b":"']:
        processor = GuidedLogitsProcessor(grammar, model)
        (row,) = generate(model, [prompt], [processor], **LONE_WAYS[way])
        assert is_valid(grammar, text_of(model, row))


@pytest.mark.parametrize("grammar", [REGEX, OBJECT], ids=["regex", "schema"])
def test_greedy_writes_what_guided_writes(model: Model, grammar: guided.Grammar) -> None:
    ours = [
        guided.generate(model, prompt, grammar=grammar, max_tokens=LENGTH) for prompt in PROMPTS
    ]
    rows = generate(model, PROMPTS, [GuidedLogitsProcessor(grammar, model)], **WAYS["greedy"])
    assert [text_of(model, row) for row in rows] == [result.text for result in ours]


def check_against_fresh_matchers(
    model: Model, grammar: guided.Grammar, way: str, seed: int
) -> None:
    """Write the same with masks that are made anew, from the beginning of each row."""
    prompts = PROMPTS if way in WAYS else PROMPTS[seed % 2 :][:1]
    length = padded(model, prompts)["input_ids"].shape[1]
    automaton = grammar.compile(model.vocabulary)

    def allowed(_: int, ids: Tensor) -> list[int]:
        matcher = automaton.matcher()
        for token in ids[length:].tolist():
            if matcher.is_terminated:
                break
            matcher.accept(token)
        return [END, PAD] if matcher.is_terminated else matcher.allowed_tokens()

    options = {**WAYS, **LONE_WAYS}[way]
    processor = GuidedLogitsProcessor(grammar, model, pad_token=PAD)
    torch.manual_seed(seed)
    ours = generate(model, prompts, [processor], **options)
    torch.manual_seed(seed)
    assert ours == generate(model, prompts, [], prefix_allowed_tokens_fn=allowed, **options)


@pytest.mark.parametrize("way", [*WAYS, *LONE_WAYS])
def test_the_masks_are_those_of_a_matcher_that_reads_each_row_from_its_beginning(
    model: Model, way: str
) -> None:
    check_against_fresh_matchers(model, OBJECT, way, seed=11)


@pytest.mark.nightly
@pytest.mark.parametrize("grammar", [REGEX, OBJECT], ids=["regex", "schema"])
@pytest.mark.parametrize("way", [*WAYS, *LONE_WAYS])
def test_so_they_are_for_many_seeds(model: Model, grammar: guided.Grammar, way: str) -> None:
    for seed in range(30):
        check_against_fresh_matchers(model, grammar, way, seed)


@pytest.mark.parametrize("way", ["prompt look-up", "assistant"])
def test_drafts_do_not_change_what_greedy_writes(model: Model, way: str) -> None:
    for prompt in PROMPTS:
        processor = GuidedLogitsProcessor(OBJECT, model)
        plain = generate(model, [prompt], [processor], do_sample=False)
        assert generate(model, [prompt], [processor], **LONE_WAYS[way]) == plain


@pytest.mark.parametrize("way", WAYS)
def test_one_processor_serves_call_after_call(model: Model, way: str) -> None:
    processor = GuidedLogitsProcessor(OBJECT, model)
    for prompts in (PROMPTS, PROMPTS[::-1], PROMPTS[:1]):
        for row in generate(model, prompts, [processor], **WAYS[way]):
            assert is_valid(OBJECT, text_of(model, row))


@pytest.mark.parametrize("way", WAYS)
def test_each_prompt_may_have_its_own_grammar(model: Model, way: str) -> None:
    processor = GuidedLogitsProcessor([REGEX, OBJECT], model)
    rows = generate(model, PROMPTS, [processor], **WAYS[way])
    for number, row in enumerate(rows):
        grammar = (REGEX, OBJECT)[number // (len(rows) // 2)]
        assert is_valid(grammar, text_of(model, row))


def test_a_prompt_without_grammar_is_left_alone(model: Model) -> None:
    width = VOCABULARY + 32  # wider than the vocabulary: not even these are touched
    processor = GuidedLogitsProcessor([REGEX, None], model)
    scores = torch.randn(2, width)
    masked = processor(padded(model, PROMPTS)["input_ids"], scores)
    assert torch.equal(masked[1], scores[1])
    allowed = REGEX.compile(model.vocabulary).matcher().allowed_tokens()
    assert masked[0].isfinite().nonzero().flatten().tolist() == allowed


def test_scores_are_not_changed_in_place(model: Model) -> None:
    scores = torch.randn(1, VOCABULARY)
    before = scores.clone()
    GuidedLogitsProcessor(REGEX, model)(torch.tensor([[5, 6]]), scores)
    assert torch.equal(scores, before)


def test_an_output_that_is_cut_can_still_be_finished(model: Model) -> None:
    for tokens in range(1, 12):
        processor = GuidedLogitsProcessor(OBJECT, model)
        (row,) = generate(model, PROMPTS[:1], [processor], tokens=tokens, do_sample=True)
        matcher = OBJECT.compile(model.vocabulary).matcher()
        matcher.accept_all(row)
        assert len(row) == tokens


def test_an_output_that_was_cut_goes_on_where_the_prompt_is_told(model: Model) -> None:
    whole = generate(model, PROMPTS[:1], [GuidedLogitsProcessor(OBJECT, model)], do_sample=False)
    ids = padded(model, PROMPTS[:1])["input_ids"]
    cut = torch.cat([ids, torch.tensor([whole[0][:6]])], dim=1)
    processor = GuidedLogitsProcessor(OBJECT, model, prompt_length=ids.shape[1])
    network: Any = model.network
    rest = network.generate(
        input_ids=cut,
        attention_mask=torch.ones_like(cut),
        logits_processor=[processor],
        max_new_tokens=LENGTH,
        pad_token_id=PAD,
        do_sample=False,
    )
    assert rest[0, ids.shape[1] :].tolist() == [*whole[0], END]


def test_a_longer_prompt_is_a_new_one(model: Model) -> None:
    processor = GuidedLogitsProcessor(REGEX, model)
    first = generate(model, ["abc"], [processor], do_sample=False)
    conversation = "abc" + text_of(model, first[0]) + " and again: "
    (row,) = generate(model, [conversation], [processor], do_sample=False)
    assert is_valid(REGEX, text_of(model, row))


class Force(LogitsProcessor):
    """Chooses a token at some length, whatever was masked."""

    def __init__(self, length: int, token: int) -> None:
        self.length = length
        self.token = token

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        if input_ids.shape[1] == self.length:
            scores = torch.full_like(scores, -torch.inf)
            scores[:, self.token] = 0
        return scores


def test_a_token_that_something_else_chose_is_refused_with_its_place(model: Model) -> None:
    length = padded(model, PROMPTS)["input_ids"].shape[1]
    wrong = model.tokenizer("?")["input_ids"][0]
    processors = [GuidedLogitsProcessor(OBJECT, model), Force(length + 3, wrong)]
    with pytest.raises(TokenRejected, match="is not allowed here") as raised:
        generate(model, PROMPTS, processors, do_sample=False)
    assert raised.value.token == wrong
    assert raised.value.place == "in row 0, at token 3 of the output"
    # The next call is not troubled by it.
    for row in generate(model, PROMPTS, processors[:1], do_sample=False):
        assert is_valid(OBJECT, text_of(model, row))


def test_such_a_row_may_be_ended_instead(model: Model) -> None:
    length = padded(model, PROMPTS)["input_ids"].shape[1]
    wrong = model.tokenizer("?")["input_ids"][0]
    processors = [GuidedLogitsProcessor(OBJECT, model, refused="end"), Force(length + 3, wrong)]
    rows = generate(model, PROMPTS, processors, do_sample=False)
    assert [row[3:] for row in rows] == [[wrong], [wrong]]


def test_sampled_beams_fit_where_refused_rows_end(model: Model) -> None:
    for grammar in (REGEX, OBJECT):
        processor = GuidedLogitsProcessor(grammar, model, refused="end")
        rows = generate(model, PROMPTS, [processor], num_beams=3, do_sample=True)
        for row in rows:
            assert is_valid(grammar, text_of(model, row))


class OneEarly:
    """Stops the first row after some tokens, and not the other."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __call__(self, input_ids: Tensor, scores: Any, **_: Any) -> Tensor:
        stopped = torch.zeros(len(input_ids), dtype=torch.bool)
        stopped[0] = input_ids.shape[1] >= self.length
        return stopped


def test_a_row_that_something_else_stopped_is_padded_in_peace(model: Model) -> None:
    inputs = padded(model, PROMPTS)
    length = inputs["input_ids"].shape[1]
    criteria = StoppingCriteriaList([OneEarly(length + 4), MaxLengthCriteria(length + LENGTH)])
    processor = GuidedLogitsProcessor(OBJECT, model, pad_token=PAD)
    rows = generate(model, PROMPTS, [processor], do_sample=False, stopping_criteria=criteria)
    assert len(rows[0]) == 4
    assert is_valid(OBJECT, text_of(model, rows[1]))


def test_a_row_that_is_over_may_only_end_or_be_padded(model: Model) -> None:
    processor = GuidedLogitsProcessor(guided.Grammar.from_choices(["a"]), model, pad_token=PAD)
    prompt, a = [[10, 11]], model.tokenizer("a")["input_ids"][0]
    allowed = []
    for output in ([], [a], [a, END], [a, END, PAD], [a, END, PAD, PAD]):
        ids = torch.tensor([prompt[0] + output])
        masked = processor(ids, torch.zeros(1, VOCABULARY))
        allowed.append(masked[0].isfinite().nonzero().flatten().tolist())
    assert allowed == [[a], [END], [END, PAD], [END, PAD], [END, PAD]]


def test_a_text_that_can_only_end_does_end(model: Model) -> None:
    grammar = guided.Grammar.from_regex("true")
    processor = GuidedLogitsProcessor(grammar, model)
    (row,) = generate(model, PROMPTS[:1], [processor], do_sample=False, min_new_tokens=20)
    assert text_of(model, row) == "true"


def test_what_forbids_all_that_the_grammar_allows_is_an_error(model: Model) -> None:
    processor = GuidedLogitsProcessor(guided.Grammar.from_choices(["yes", "no"]), model)
    letters = [model.tokenizer(letter)["input_ids"][0] for letter in "yn"]
    with pytest.raises(GuidedError, match="all tokens that the grammar allows have been forbidden"):
        generate(model, PROMPTS[:1], [processor], do_sample=False, suppress_tokens=letters)


def test_logits_of_a_narrower_model_are_masked_too(model: Model) -> None:
    processor = GuidedLogitsProcessor(REGEX, model)
    scores = torch.zeros(1, 290)
    masked = processor(torch.tensor([[5]]), scores)
    allowed = REGEX.compile(model.vocabulary).matcher().allowed_tokens()
    assert masked[0].isfinite().nonzero().flatten().tolist() == allowed


@pytest.mark.parametrize(
    ("constraint", "vocabulary", "message"),
    [
        pytest.param(REGEX, None, "a grammar needs a vocabulary", id="no vocabulary"),
        pytest.param([None], None, "without any constraint", id="no constraint"),
        pytest.param("a+", "model", "found str", id="text"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    model: Model, constraint: Any, vocabulary: str | None, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        GuidedLogitsProcessor(constraint, model if vocabulary else None)


def test_automata_bring_their_vocabulary_and_must_share_it(model: Model) -> None:
    automaton = OBJECT.compile(model.vocabulary)
    other = OBJECT.compile(guided.Vocabulary.from_tokens([b"{", b"}", None], eos=[2]))
    rows = generate(model, PROMPTS, [GuidedLogitsProcessor(automaton)], do_sample=False)
    assert all(is_valid(OBJECT, text_of(model, row)) for row in rows)
    with pytest.raises(ValueError, match="over one vocabulary"):
        GuidedLogitsProcessor([automaton, other])


def test_a_tokenizer_will_do(model: Model) -> None:
    processor = GuidedLogitsProcessor(
        OBJECT, model.tokenizer, generation_config=model.network.generation_config
    )
    for row in generate(model, PROMPTS, [processor], do_sample=True):
        assert is_valid(OBJECT, text_of(model, row))


def test_rows_must_be_a_multiple_of_the_constraints(model: Model) -> None:
    processor = GuidedLogitsProcessor([REGEX, OBJECT], model)
    with pytest.raises(ShapeError, match="a multiple of 2 rows"):
        processor(torch.zeros(3, 4, dtype=torch.int64), torch.zeros(3, VOCABULARY))
