"""Writes guided/core/idna_tables.h, what IDNA says of code points: `make tables`.

From the package `idna` come the classes of RFC 5892, joining types and scripts, from Python's
`unicodedata` all else. The two may be of different versions of Unicode: a code point that is
unknown to either is not allowed, which is narrower and never wider.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

HEADER = Path(__file__).parents[4] / "core" / "idna_tables.h"

# The order of `Direction` in idna.h, and of `Joining`, and of `Script`.
DIRECTIONS = ("L", "R", "AL", "AN", "EN", "ES", "CS", "ET", "ON", "BN", "NSM")
JOININGS = ("", "T", "L", "R", "D")
SCRIPTS = (("Greek",), ("Hebrew",), ("Hiragana", "Katakana", "Han"))

# The code points with rules of their own, which idna.cpp has (RFC 5892, appendix A).
CONTEXTUAL = {0x200C, 0x200D, 0xB7, 0x375, 0x5F3, 0x5F4, 0x30FB}
CONTEXTUAL |= {*range(0x660, 0x66A), *range(0x6F0, 0x6FA)}

_START = """\
// What IDNA says of code points. Made of the package idna and Python's unicodedata by `make tables`
// (guided/text/json_schema/strings/formats/idna_writer.py): not to be edited.
//
// clang-format off
#pragma once

#include <cstdint>

namespace guided::idna_tables {

"""


def unpack(ranges: Iterable[int]) -> Iterator[int]:
    """Give the code points of ranges as `idna` packs them, their ends excluded."""
    for packed in ranges:
        yield from range(packed >> 32, packed & 0xFFFFFFFF)


def properties() -> dict[int, int]:
    """Return the bits of each code point that IDNA allows, as idna.h reads them."""
    from idna import idnadata

    classes = {name: set(unpack(idnadata.codepoint_classes[name])) for name in
               ("PVALID", "CONTEXTJ", "CONTEXTO")}  # fmt: skip
    assert classes["CONTEXTJ"] | classes["CONTEXTO"] == CONTEXTUAL
    joining = {
        code: number
        for number, name in enumerate(JOININGS)
        for code in unpack(idnadata.joining_types.get(name, ()))
    }
    script = {
        code: number
        for number, names in enumerate(SCRIPTS, start=1)
        for name in names
        for code in unpack(idnadata.scripts[name])
    }
    second = {pair[1] for pair in compositions()}
    found = {}
    for code in sorted(set().union(*classes.values())):
        text = chr(code)
        if unicodedata.category(text) == "Cn":
            continue
        assert unicodedata.normalize("NFC", text) == text
        found[code] = (
            1
            | DIRECTIONS.index(unicodedata.bidirectional(text)) << 1
            | joining.get(code, 0) << 5
            | script.get(code, 0) << 8
            | (unicodedata.category(text)[0] == "M") << 10
            | (code in second) << 11
            | unicodedata.combining(text) << 16
        )
    return found


def compositions() -> list[tuple[int, int, int]]:
    """Return all (first, second, composed) of canonical composition, but those of Hangul.

    Syllables of Hangul are allowed, the letters that they are composed of are not.
    """
    found = []
    for code in range(sys.maxunicode + 1):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            first, second = (int(part, 16) for part in parts)
            if unicodedata.normalize("NFC", chr(first) + chr(second)) == chr(code):
                found.append((first, second, code))
    return found


def used_compositions(allowed: dict[int, int]) -> list[tuple[int, int, int]]:
    """Return those that may occur where allowed code points are decomposed and composed again."""
    every = compositions()
    reached = set(allowed)
    count = 0
    while count != len(reached):
        count = len(reached)
        for first, second, code in every:
            if code in reached:
                reached |= {first, second}
            elif first in reached and second in reached:
                reached.add(code)
    used = [each for each in every if each[2] in reached]
    # What the parts are is read from the properties: they must be there.
    assert all(second in allowed for _, second, _ in used)
    assert all(first in allowed or not unicodedata.combining(chr(first)) for first, _, _ in used)
    return used


def header() -> str:
    """Return the text of the header."""
    import idna.idnadata

    allowed = properties()
    runs: list[list[int]] = []
    for code, bits in allowed.items():
        if runs and runs[-1][1] == code - 1 and runs[-1][2] == bits:
            runs[-1][1] = code
        else:
            runs.append([code, code, bits])
    lines = [
        f'inline constexpr char kIdnaVersion[] = "{idna.idnadata.__version__}";',
        f'inline constexpr char kUnicodeVersion[] = "{unicodedata.unidata_version}";',
        "",
        "struct Run {",
        "    uint32_t first, last, bits;",
        "};",
        f"inline constexpr Run kRuns[{len(runs)}] = {{",
        *_rows([f"{{{low:#x}, {high:#x}, {bits:#x}}}" for low, high, bits in runs]),
        "};",
        "",
        "struct Composition {",
        "    uint32_t first, second, composed;",
        "};",
    ]
    used = sorted(used_compositions(allowed), key=lambda each: each[2])
    lines += [
        f"inline constexpr Composition kCompositions[{len(used)}] = {{",
        *_rows([f"{{{a:#x}, {b:#x}, {c:#x}}}" for a, b, c in used]),
        "};",
    ]
    return _START + "\n".join(lines) + "\n\n}  // namespace guided::idna_tables\n"


def _rows(items: list[str]) -> list[str]:
    return ["    " + ", ".join(items[at : at + 4]) + "," for at in range(0, len(items), 4)]


def main() -> None:
    """Write the header."""
    HEADER.write_text(header(), encoding="utf-8")


if __name__ == "__main__":
    main()
