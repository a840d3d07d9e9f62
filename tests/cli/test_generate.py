"""`guided generate`: the text to standard output, all else to standard error."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Write
from tests.cli.running import run
from tests.decoding.tiny_model import tiny_network, tiny_tokenizer

SCHEMA = '{"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3}'


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("model")
    tiny_network().save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return str(folder)


def test_a_schema_gives_its_json(model: str, write: Write) -> None:
    ran = run("generate", "a", "-m", model, "--schema", write("s.json", SCHEMA))
    assert (ran.status, ran.err) == (0, "")
    assert 1 <= len(json.loads(ran.out)) <= 3
    assert ran.out.endswith("]\n")


def test_a_grammar_gives_a_text_of_it(model: str, write: Write) -> None:
    ran = run("generate", "-m", model, "-g", write("g.gbnf", 'root ::= "a" [0-9]{2,4} "."'))
    assert re.fullmatch(r"a[0-9]{2,4}\.\n", ran.out)


def test_a_pattern_gives_a_match(model: str) -> None:
    ran = run("generate", "x", "-m", model, "--regex", "[ab]{3}c", "-t", "2", "--seed", "3")
    assert re.fullmatch(r"[ab]{3}c\n", ran.out)
    again = run("generate", "x", "-m", model, "--regex", "[ab]{3}c", "-t", "2", "--seed", "3")
    assert again.out == ran.out


def test_choices_give_one_of_them(model: str) -> None:
    ran = run("generate", "x", "-m", model, "--choice", "yes", "--choice", "no")
    assert ran.out in ("yes\n", "no\n")


def test_the_prompt_may_come_from_standard_input(model: str) -> None:
    ran = run("generate", "-", "-m", model, "--regex", "[ab]{8}", stdin="abc")
    assert ran.out == run("generate", "abc", "-m", model, "--regex", "[ab]{8}").out


def test_a_chat_message_goes_through_the_template(model: str) -> None:
    assert run("generate", "hi", "-m", model, "--chat", "--choice", "a").out == "a\n"


def test_statistics_go_to_standard_error(model: str) -> None:
    ran = run("generate", "x", "-m", model, "--choice", "a", "--stats")
    assert ran.out == "a\n"
    assert "tokens/s" in ran.err


def test_an_output_that_is_cut_short_keeps_its_text_and_fails(model: str) -> None:
    ran = run("generate", "x", "-m", model, "--regex", "a{50}", "--max-tokens", "5")
    assert ran.status == 1
    assert set(ran.out) == {"a", "\n"}
    assert ran.err.startswith("error: the output is incomplete (finish_reason 'length')")


def test_tokens_may_reach_across_the_end_of_the_prompt(model: str) -> None:
    bias = "--logit-bias", f"{tiny_tokenizer().convert_tokens_to_ids('true')}=1000"
    healed = run("generate", "it is tr", "-m", model, "--heal", "--regex", "(ue|x){2}", *bias)
    plain = run("generate", "it is tr", "-m", model, "--regex", "(ue|x){2}", *bias)
    assert re.fullmatch("(ue|x){2}\n", plain.out)
    assert healed.out.startswith("ue")


def test_free_text_may_be_cut_short(model: str) -> None:
    assert run("generate", "x", "-m", model, "--max-tokens", "5").status == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--regex", "a", "--choice", "b"], "at most one of"),
        (["--regex", "a", "-t", "-1"], "temperature"),
        (["--max-tokens", "0"], "--max-tokens"),
        (["--min-tokens", "9", "--max-tokens", "8"], "min_tokens must be at most max_tokens, 8"),
        (["--repetition-penalty", "0"], "repetition_penalty must be finite and above 0"),
        (["--logit-bias", "a=1"], "--logit-bias takes a token and a number"),
        (["--logit-bias", "5"], "--logit-bias takes a token and a number"),
        (["--logit-bias", "5=inf"], "logit_bias of token 5 must be finite, or -inf to ban it"),
    ],
)
def test_a_wrong_call_is_told(arguments: list[str], told: str, model: str) -> None:
    ran = run("generate", "x", "-m", model, *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert told in " ".join(ran.err.replace("│", "").split())


def test_a_bias_decides_between_choices(model: str) -> None:
    ids = [tiny_tokenizer().convert_tokens_to_ids(text) for text in "pq"]
    for banned, left in [(ids[0], "q"), (ids[1], "p")]:
        arguments = ["--regex", "[pq]", "-t", "1", "--typical-p", "1", "--presence-penalty", "0.1"]
        ran = run("generate", "x", "-m", model, *arguments, "--logit-bias", f"{banned}=-inf")
        assert ran.out == f"{left}\n"


def test_a_grammar_at_fault_is_told_before_a_model_is_loaded(write: Write, folder: Path) -> None:
    ran = run("generate", "x", "-m", str(folder / "nowhere"), "--regex", "(a")
    assert ran.status == 1
    assert ran.err.startswith('error: unbalanced parenthesis: "(" without ")"')


def test_a_model_that_is_not_there_is_told(folder: Path) -> None:
    ran = run("generate", "x", "-m", str(folder / "nowhere"))
    assert (ran.status, ran.out) == (1, "")
    assert "there is no such folder" in ran.err


def test_a_progress_bar_stays_off_standard_output(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # what rich takes for a terminal
    ran = run("generate", "x", "-m", model, "--regex", "[ab]{30}")
    assert re.fullmatch(r"[ab]{30}\n", ran.out)
    assert "tokens" in ran.err


def test_a_progress_bar_is_full_when_no_more_tokens_can_come(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    full = run("generate", "x", "-m", model, "--regex", "a{4}", "--max-tokens", "4").err
    assert "4 of at most 4 tokens" in full
    assert filled(full) == 40
    half = run("generate", "x", "-m", model, "--regex", "[ab][cd]", "--max-tokens", "4").err
    assert "2 of at most 4 tokens" in half
    assert filled(half) == 20


def filled(written: str) -> int:
    """Return how much of the 40 columns of the last bar is in the colour of what is done."""
    last = written.rpartition(" of at most ")[2]
    done = re.search("\x1b\\[32m(━+)", last)
    return len(done[1]) if done else 0
