"""Whether an installed wheel works: `python tests/release/smoke.py`, without torch.

Run where the tree is not on the path, it uses the compiled core, a front end that reads a file of
the package, and a grammar that is shipped.
"""

from __future__ import annotations

import numpy as np

import guided

TOKENS = [bytes([b]) for b in range(256)] + [b"SELECT ", b"[1", None]


def allowed(grammar: guided.Grammar) -> list[int]:
    """Return the tokens that may come first, as the mask has them."""
    vocabulary = guided.Vocabulary.from_tokens(TOKENS, eos=[len(TOKENS) - 1])
    row = np.zeros(vocabulary.words, np.int32)  # (W,)
    grammar.compile(vocabulary).matcher().fill_mask(row)
    return [t for t in range(len(TOKENS)) if row[t // 32] >> (t % 32) & 1]


def main() -> None:
    """Raise unless masks are right for one grammar of each language."""
    array = guided.Grammar.from_json_schema({"type": "array"})
    found = {
        "regex": (allowed(guided.Grammar.from_regex("[ab]c")), [ord("a"), ord("b")]),
        "schema": (allowed(array), [ord("["), 257]),
        "gbnf": (allowed(guided.Grammar.from_gbnf('root ::= "x"')), [ord("x")]),
        "lark": (256 in allowed(guided.Grammar.from_file("sql")), True),
    }
    wrong = {name: seen for name, (seen, wanted) in found.items() if seen != wanted}
    if wrong:
        raise SystemExit(f"guided {guided.__version__} masks wrongly: {wrong}")
    print(f"guided {guided.__version__} at {guided.__file__}: masks of {', '.join(found)}")


if __name__ == "__main__":
    main()
