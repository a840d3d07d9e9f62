"""Host names: A-labels against the package idna, the Bidi rule, and that nothing leads nowhere."""

from __future__ import annotations

import itertools
import json
import random
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import pytest
from idna import idnadata, ulabel

from guided import Grammar, TokenRejected, Vocabulary
from guided._core import Arena, Automaton, Matcher
from guided.text.json_schema.strings.byte_walk import bytes_vocabulary
from guided.text.json_schema.strings.formats.idna_writer import HEADER, header, unpack
from tests.core.test_tables import make_tokens
from tests.text.json_schema.format_oracles import is_hostname

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"

# What stands where it does not everywhere: joiners, points, digits, marks, and what they go with.
ODD = "\u200c\u200d\u00b7\u0375\u05f3\u05f4\u30fb\u0660\u0661\u06f0\u06f1\u0300\u0301\u0327\u094d"
ODD += "\u05d0\u0627\u0628αあl-1a一ß\u0653\u093c\u0f71"

HEBREW, RUSSIAN, GERMAN = "xn--4dbrk0ce", "xn--p1ai", "xn--mnchen-3ya"
DIGIT_FIRST = "xn--" + "1я".encode("punycode").decode()


class Names:
    """Host names of so many characters at most."""

    def __init__(self, longest: int = 253, escaped: bool = False) -> None:
        arena = Arena()
        self.automaton = Automaton(arena, arena.hostname(longest, escaped), bytes_vocabulary())

    def has(self, text: str) -> bool:
        matcher = self.after(text)
        return matcher is not None and matcher.is_complete

    def after(self, text: str) -> Matcher | None:
        matcher = Matcher(self.automaton)
        try:
            matcher.accept_bytes(text.encode())
        except TokenRejected:
            return None
        return matcher


NAMES = Names()


# The code points of the tables. Those of a newer Unicode are not allowed, and not compared.
TABLE = HEADER.read_text("utf-8").split("struct Composition")[0]
KNOWN = {
    code
    for low, high in re.findall(r"\{(0x[0-9a-f]+), (0x[0-9a-f]+), 0x", TABLE)
    for code in range(int(low, 16), int(high, 16) + 1)
}
ALLOWED = {code for ranges in idnadata.codepoint_classes.values() for code in unpack(ranges)}


def is_compared(label: str) -> bool:
    try:
        decoded = label[4:].lower().encode().decode("punycode")
    except UnicodeError:
        return True
    return all(ord(one) in KNOWN or ord(one) not in ALLOWED for one in decoded)


def is_a_label(label: str) -> bool:
    try:
        return len(label) <= 63 and bool(ulabel(label))
    except UnicodeError:
        return False


def random_labels(draw: random.Random, count: int) -> Iterable[str]:
    """Give A-labels, most of them near valid ones."""
    blocks: dict[int, list[int]] = {}
    for code in sorted(KNOWN):
        blocks.setdefault(code >> 7, []).append(code)
    scripts = list(blocks.values())
    marks = [code for code in sorted(KNOWN) if unicodedata.category(chr(code))[0] == "M"]
    for _ in range(count):
        script = draw.choice(scripts)
        pools = [script, [ord(one) for one in ODD], list(map(ord, LETTERS)), marks]
        weights = [6, 3, 2, 1]
        codes = [draw.choice(*draw.choices(pools, weights)) for _ in range(draw.randint(1, 12))]
        if draw.random() < 0.1:
            codes[draw.randrange(len(codes))] = draw.randrange(0x80, 0x33480)
        text = "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)
        if draw.random() < 0.6:
            text = unicodedata.normalize("NFC", text)
        label = "xn--" + text.encode("punycode").decode()
        if draw.random() < 0.3:
            place = draw.randint(4, len(label))
            label = label[:place] + draw.choice(LETTERS) + label[place + draw.randint(0, 1) :]
        label = label.upper() if draw.random() < 0.1 else label
        if is_compared(label):
            yield label


def test_tables_are_those_of_idna_and_of_the_unicode_that_they_name() -> None:
    version = re.search(r'kIdnaVersion\[\] = "(.*)".*\n.*kUnicodeVersion\[\] = "(.*)"', TABLE)
    assert version is not None
    assert version.groups() == ("18.0.0", "14.0.0")
    if version.groups() == (idnadata.__version__, unicodedata.unidata_version):
        assert HEADER.read_text("utf-8") == header(), "call `make tables`"
    # What is allowed once stays so: a newer version only knows more.
    assert {code for code in KNOWN if code not in ALLOWED} == set()


def test_a_labels_are_those_of_idna() -> None:
    seed = random.randrange(1 << 32)
    found = {True: 0, False: 0}
    for label in random_labels(random.Random(seed), 6_000):
        verdict = is_a_label(label)
        found[verdict] += 1
        assert NAMES.has(label) is verdict, (label, f"seed {seed}")
    assert min(found.values()) > 1_000


def test_all_that_three_characters_make_is_what_idna_has() -> None:
    for length in (1, 2, 3):
        for text in map("".join, itertools.product(LETTERS, repeat=length)):
            label = f"xn--{text}"
            assert NAMES.has(label) is (is_compared(label) and is_a_label(label)), text


def test_a_label_is_found_where_there_is_no_room_for_another_character() -> None:
    seed = random.randrange(1 << 32)
    labels = [label for label in random_labels(random.Random(seed), 2_500) if is_a_label(label)]
    assert len(labels) > 500
    for label in labels:
        assert Names(len(label)).has(label), (label, f"seed {seed}")
        assert not Names(len(label) - 1).has(label), label


@pytest.mark.parametrize("before", ["", f"{HEBREW}.", "1."])
def test_with_six_characters_left_every_text_becomes_a_label(before: str) -> None:
    heads = ["".join(head) for n in range(1, 6) for head in itertools.product("a1-", repeat=n)]
    for head, fill, tail in itertools.product(heads, ("", "a" * 46, "-" * 46), ("", "-", "1")):
        text = f"{before}xn--{head}{fill}{tail}"
        # The search is what tells at five, and no search is made at six.
        assert Names(len(text) + 5).after(text) is not None, text


def test_nothing_that_is_offered_leads_nowhere() -> None:
    seed = random.randrange(1 << 32)
    draw = random.Random(seed)
    beginnings = ["", "xn--", "XN--", "1a.xn--", f"{HEBREW}.xn--", f"{HEBREW}.", "xn--mgb"]
    for _ in range(120):
        longest = draw.choice([253, draw.randint(1, 253), draw.randint(20, 90)])
        escaped = draw.random() < 0.3
        text = draw.choice([one for one in beginnings if len(one) + 5 <= longest] or [""])
        names = Names(longest, escaped)
        matcher = names.after(text)
        assert matcher is not None
        while True:
            allowed = matcher.allowed_bytes()
            if matcher.is_complete and (not allowed or draw.random() < 0.05):
                break
            assert allowed, (text, longest, f"seed {seed}")
            byte = draw.choice(list(allowed))
            if ord("-") in allowed and draw.random() < 0.1:
                byte = ord("-")
            matcher.accept_bytes(bytes([byte]))
            text += chr(byte)
        name = json.loads(f'"{text}"')
        assert len(name) <= longest
        assert is_hostname(name), (text, f"seed {seed}")


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        pytest.param(f"{HEBREW}.a1", True, id="letter first"),
        pytest.param(f"{HEBREW}.1a", False, id="digit first"),
        pytest.param(f"1a.{HEBREW}", False, id="digit first, before"),
        pytest.param(f"1a.{RUSSIAN}.{GERMAN}", True, id="nothing from right to left"),
        pytest.param(f"{HEBREW}.{RUSSIAN}", True, id="another script"),
        pytest.param(f"{HEBREW}.{DIGIT_FIRST}", False, id="Russian, digit first"),
        pytest.param(f"a.{DIGIT_FIRST}", True, id="the same in another name"),
        pytest.param(f"a.{HEBREW}.{HEBREW}", True, id="both"),
    ],
)
def test_the_bidi_rule_holds_in_all_labels_of_a_name(name: str, verdict: bool) -> None:
    assert is_hostname(name) is verdict
    assert NAMES.has(name) is verdict


def test_lengths_are_those_of_labels_and_names() -> None:
    label = "xn--" + ("a" * 52 + "éééé").encode("punycode").decode()
    assert len(label) == 63
    assert NAMES.has(label)
    assert NAMES.has(".".join([label] * 3 + ["a" * 61]))
    assert not NAMES.has(".".join([label] * 3 + ["a" * 62]))
    assert not NAMES.has("xn--" + ("a" * 53 + "éééé").encode("punycode").decode())
    arena = Arena()
    assert arena.hostname(0) == 1
    with pytest.raises(ValueError, match="at most 253 characters"):
        arena.hostname(254)


def test_a_name_is_a_node_among_others_and_no_operand() -> None:
    arena = Arena()
    name = arena.hostname()
    assert arena.hostname() == name != arena.hostname(60)
    assert arena.node(arena.hostname(60, escaped=True)) == ("hostname", 60, True)
    assert arena.matches(name, RUSSIAN.upper())
    assert arena.shortest(name) is not None
    quote = arena.literal('"')
    quoted = arena.sequence([quote, name, quote])
    assert arena.matches(quoted, f'"{RUSSIAN}.de"')
    letters = arena.repeat(arena.char_class([(97, 122), (45, 46)]))
    for node in (name, quoted, arena.choice([letters, name]), arena.repeat(quoted)):
        assert arena.is_regular(node)
        assert not arena.is_operand(node)
        for operation in (arena.both, arena.minus, arena.lexeme):
            for operands in ((node, letters), (letters, node)):
                with pytest.raises(ValueError, match="no rules, tokens, lexemes or host names"):
                    operation(*operands)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({}, id="alone"),
        pytest.param({"maxLength": 60}, id="short"),
    ],
)
def test_masks_are_what_bytes_say(tmp_path: Path, more: dict[str, object]) -> None:
    seed = random.randrange(1 << 32)
    draw = random.Random(seed)
    tokens = make_tokens(seed)
    words = ["xn--", "xn--mgb", "-p1ai", ".com", '.com"', 'ai"', "p1ai", "abc-", "--", '"xn--']
    tokens = [*dict.fromkeys([*tokens, *(word.encode() for word in words)])]
    vocabulary = Vocabulary.from_tokens([*tokens, None], eos=[len(tokens)])
    grammar = Grammar.from_json_schema({"type": "string", "format": "hostname", **more})
    automaton = grammar.compile(vocabulary)
    for beginning in ('"', f'"{RUSSIAN}', '"xn--mgb' + "a" * 45, '"xn--' + "abc-" * 13):
        matcher = automaton.matcher()
        matcher.accept_bytes(beginning.encode())
        for _ in range(8):
            allowed = set(matcher.allowed_tokens())
            assert allowed, f"seed {seed}"
            for token in draw.sample(range(len(tokens)), 500):
                spelled = tokens[token]
                plain = matcher.fork()
                try:
                    plain.accept_bytes(spelled)
                except TokenRejected:
                    assert token not in allowed, (spelled, f"seed {seed}")
                else:
                    assert token in allowed, (spelled, f"seed {seed}")
            if matcher.is_complete:
                break
            matcher.accept(draw.choice(sorted(allowed)))
    automaton.save(tmp_path / "automaton")
    loaded = type(automaton).load(tmp_path / "automaton", vocabulary)
    matcher = loaded.matcher()
    matcher.accept_bytes(f'"{RUSSIAN}.{"a" * 51}"'.encode())
    assert matcher.is_complete
