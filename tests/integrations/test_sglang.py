"""The grammar backend for SGLang: what it makes, masks, rolls back, jumps over and refuses."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch

from guided.decoding import Model
from tests.decoding.tiny_model import VOCABULARY
from tests.integrations import stand_ins
from tests.integrations.stand_ins import GrammarRow, Registry, ServerArguments, allowed, bits

INSTALLED = importlib.util.find_spec("sglang") is not None
END = 1


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.fixture(
    params=["restated", "restated, older", *(["installed"] if INSTALLED else [])],
)
def adapter(
    request: pytest.FixtureRequest, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ModuleType]:
    """The module, on classes that are restated here, or on those of SGLang."""
    modules = {}
    if request.param != "installed":
        modules = stand_ins.sglang_modules(registry, is_new=request.param == "restated")
    yield from stand_ins.imported("guided.integrations.sglang", modules, monkeypatch)


@pytest.fixture
def backend(adapter: ModuleType, model: Model) -> Any:
    return adapter.GuidedGrammarBackend.create(ServerArguments(), model.tokenizer, VOCABULARY, {1})


def ids(model: Model, text: str) -> list[int]:
    return list(model.tokenizer(text)["input_ids"])


def mask_of(grammar: Any) -> list[int]:
    mask = grammar.allocate_vocab_mask(VOCABULARY, 1, "cpu")
    grammar.fill_vocab_mask(mask, 0)
    return bits(mask, VOCABULARY)[0]


@pytest.mark.parametrize(
    ("kind", "source", "text"),
    [
        ("json", '{"type": "integer"}', "17"),
        ("json", "$$ANY$$", '{"a": [1, null]}'),
        ("regex", "a{3}", "aaa"),
        ("ebnf", 'root ::= "x" | "y" root', "yyx"),
    ],
)
def test_grammars_of_each_kind(
    backend: Any, model: Model, kind: str, source: str, text: str
) -> None:
    grammar = getattr(backend, f"dispatch_{kind}")(source)
    for token in ids(model, text):
        assert token in mask_of(grammar)
        grammar.accept_token(token)
    assert END in mask_of(grammar)
    assert not grammar.is_terminated()
    grammar.accept_token(END)
    assert grammar.is_terminated()


def test_a_token_that_is_refused_is_an_error_that_sglang_catches(
    backend: Any, model: Model
) -> None:
    grammar = backend.dispatch_regex("xy")
    with pytest.raises(ValueError, match="is not allowed here"):
        grammar.accept_token(ids(model, "y")[0])
    grammar.accept_token(ids(model, "x")[0])  # nothing had changed


def test_rollback_goes_back_across_the_end(backend: Any, model: Model) -> None:
    grammar = backend.dispatch_regex("xy")
    for token in [*ids(model, "xy"), END]:
        grammar.accept_token(token)
    grammar.rollback(2)
    assert not grammar.is_terminated()
    assert mask_of(grammar) == ids(model, "y")


def test_tokens_after_the_end_change_nothing(backend: Any, model: Model) -> None:
    grammar = backend.dispatch_regex("x")
    for token in [*ids(model, "x"), END, END, 7]:
        grammar.accept_token(token)
    grammar.rollback(1)
    assert mask_of(grammar) == [END]


def test_a_copy_begins_anew(backend: Any, model: Model) -> None:
    grammar = backend.dispatch_regex("xy")
    grammar.accept_token(ids(model, "x")[0])
    assert mask_of(grammar.copy()) == ids(model, "x")
    assert mask_of(grammar) == ids(model, "y")


def test_rows_that_are_not_filled_allow_everything(backend: Any, model: Model) -> None:
    grammar = backend.dispatch_regex("x")
    mask = grammar.allocate_vocab_mask(VOCABULARY, 3, "cpu")
    grammar.fill_vocab_mask(mask, 1)
    logits = torch.zeros(3, VOCABULARY)
    grammar.apply_vocab_mask(logits=logits, vocab_mask=grammar.move_vocab_mask(mask, "cpu"))
    everything = list(range(VOCABULARY))
    assert stand_ins.allowed(logits) == [everything, ids(model, "x"), everything]
    grammar.reset_vocab_mask(mask)
    assert bits(mask, VOCABULARY) == [everything] * 3


def test_a_batch_is_filled_as_its_rows_are(backend: Any) -> None:
    grammars = [backend.dispatch_regex(pattern) for pattern in ("a+", "[0-9]", "x|y", "(true)?")]
    one_by_one = grammars[0].allocate_vocab_mask(VOCABULARY, 6, "cpu")
    together = one_by_one.clone()
    entries = [
        GrammarRow(row, grammar) for row, grammar in zip((5, 0, 3, 2), grammars, strict=True)
    ]
    for entry in entries:
        entry.grammar.fill_vocab_mask(one_by_one, entry.row)
    grammars[0].fill_vocab_mask_batched(entries, together)
    assert torch.equal(one_by_one, together)
    grammars[0].fill_vocab_mask_batched([], together)
    assert torch.equal(one_by_one, together)


def test_forced_text_is_jumped_over(backend: Any, model: Model) -> None:
    grammar = backend.dispatch_regex("a(bc)(true)[01]")
    old = ids(model, "a")
    grammar.accept_token(old[0])
    helper = grammar.try_jump_forward(model.tokenizer)
    text, state = grammar.jump_forward_str_state(helper)
    assert text == "bctrue"
    new = ids(model, "a" + text)  # "abc" is one token: the old one is taken back
    assert new[0] != old[0]
    grammar.jump_and_retokenize(old, new, state)
    assert mask_of(grammar) == sorted(ids(model, "01"))
    assert grammar.try_jump_forward(model.tokenizer) is None


def test_half_a_character_is_not_jumped_over(backend: Any, model: Model) -> None:
    grammar = backend.dispatch_regex("a[\u00e4\u00f6]")  # both begin with the same byte
    helper = grammar.try_jump_forward(model.tokenizer)
    assert helper == ([], "a")


@pytest.mark.parametrize(
    ("kind", "source", "reason"),
    [
        ("json", '{"type": "strng"}', "/type"),
        ("json", "{", "JSON"),
        ("regex", "[a-z", "line 1, column"),
        ("ebnf", "root ::= (", "line 1"),
        ("structural_tag", "{}", "structural tags"),
    ],
)
def test_a_grammar_at_fault_is_refused_with_its_reason(
    adapter: ModuleType,
    backend: Any,
    caplog: pytest.LogCaptureFixture,
    kind: str,
    source: str,
    reason: str,
) -> None:
    refused = getattr(backend, f"dispatch_{kind}")(source)
    assert not isinstance(refused, adapter.GuidedGrammar)
    assert reason in getattr(refused, "error_message", caplog.text)
    assert reason in caplog.text


@pytest.mark.parametrize(
    ("arguments", "accepted", "refused"),
    [
        (ServerArguments(), "[ 1]", "x"),
        (ServerArguments(constrained_json_disable_any_whitespace=True), "[1]", "[ 1]"),
        (ServerArguments(constrained_json_whitespace_pattern=" ?"), "[ 1]", "[  1]"),
    ],
    ids=["any", "none", "a pattern"],
)
def test_the_servers_options_for_white_space_count(
    adapter: ModuleType, model: Model, arguments: ServerArguments, accepted: str, refused: str
) -> None:
    backend = adapter.GuidedGrammarBackend.create(arguments, model.tokenizer, VOCABULARY)
    grammar = backend.dispatch_json('{"type": "array", "items": {"const": 1}}')
    grammar.matcher.accept_bytes(accepted.encode())
    grammar = grammar.copy()
    assert grammar.matcher.accepted_prefix(ids(model, refused)) < len(ids(model, refused))


def test_the_end_tokens_of_the_model_count_too(adapter: ModuleType, model: Model) -> None:
    backend = adapter.GuidedGrammarBackend(model.tokenizer, VOCABULARY, {1, 2})
    grammar = backend.dispatch_regex("x")
    grammar.accept_token(ids(model, "x")[0])
    assert mask_of(grammar) == [1, 2]


def test_registering_makes_the_name_known_once(adapter: ModuleType, registry: Registry) -> None:
    adapter.register()
    adapter.register()
    if registry.backends:  # not on the classes of SGLang itself
        assert registry.names == ["xgrammar", "none", "guided"]
    backends = registry.backends or adapter.base_grammar_backend.GRAMMAR_BACKEND_REGISTRY
    assert backends["guided"] == adapter.GuidedGrammarBackend.create


@pytest.mark.skipif(not INSTALLED, reason="SGLang is not installed (make engines)")
def test_a_request_goes_its_way_through_sglang(model: Model) -> None:
    """Compiled in its thread, kept, copied for the next request, and applied by its mask."""
    theirs: Any = importlib.import_module("sglang.srt.constrained.base_grammar_backend")
    importlib.import_module("guided.integrations.sglang").register()
    make = theirs.GRAMMAR_BACKEND_REGISTRY["guided"]
    backend = make(ServerArguments(), model.tokenizer, VOCABULARY, {1})
    key = ("regex", "x[yz]")
    future, is_known = backend.get_cached_or_future_value(key, False)
    assert not is_known
    first = future.result()
    backend.set_cache(key, first)
    second, is_known = backend.get_cached_or_future_value(key, False)
    assert is_known
    x, y, z = (ids(model, letter)[0] for letter in "xyz")
    second.accept_token(x)
    mask = first.allocate_vocab_mask(VOCABULARY, 3, "cpu")
    rows = [theirs.GrammarRow(row=0, grammar=first), theirs.GrammarRow(row=2, grammar=second)]
    first.fill_vocab_mask_batched(rows, mask)
    logits = torch.zeros(3, VOCABULARY)
    theirs.GrammarMask(first, first.move_vocab_mask(mask, "cpu")).apply(logits)
    assert allowed(logits) == [[x], list(range(VOCABULARY)), sorted([y, z])]
    refused, _ = backend.get_cached_or_future_value(("regex", "("), False)
    assert "unbalanced parenthesis" in refused.result().error_message


@pytest.mark.skipif(not INSTALLED, reason="SGLang is not installed (make engines)")
def test_all_that_sglang_asks_of_a_grammar_is_there() -> None:
    theirs: Any = importlib.import_module("sglang.srt.constrained.base_grammar_backend")
    ours: Any = importlib.import_module("guided.integrations.sglang").GuidedGrammar
    raising = {name for name, value in vars(theirs.BaseGrammarObject).items() if callable(value)}
    assert raising - {"__init__"} <= set(vars(ours)) | {"maybe_init_reasoning", "copy"}
