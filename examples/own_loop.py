"""A loop of your own: transformers gives logits, a matcher says which tokens may come next.

    python examples/own_loop.py

This is all there is to constrained decoding: fill the mask, forbid, choose, accept. The rest of
guided (batches, drafts, sampling) only makes it faster or richer.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from transformers import DynamicCache

import guided


def decode(
    network: Any,
    tokenizer: Any,
    vocabulary: guided.Vocabulary,
    prompt: str,
    grammar: guided.Grammar,
    *,
    max_tokens: int = 60,
) -> str:
    """Write the most likely text that fits the grammar, one token a forward.

    Args:
        network, tokenizer: any causal language model of transformers.
        vocabulary: of the tokenizer, as wide as the logits.
    """
    matcher = grammar.compile(vocabulary).matcher()
    mask = guided.allocate_mask(1, vocabulary)  # (1, W) int32
    cache = DynamicCache(config=network.config)  # keys and values; the network fills it
    tokens = tokenizer(prompt, return_tensors="pt").input_ids  # (1, T)
    for _ in range(max_tokens):
        with torch.inference_mode():
            logits = network(tokens, cache=cache, use_cache=True).logits[:, -1]  # (1, V)
        matcher.fill_mask(mask[0])
        guided.apply_mask(logits, mask)  # in place
        token = int(logits.argmax())
        matcher.accept(token)  # a masked choice is never rejected
        if matcher.is_terminated:
            break
        tokens = torch.tensor([[token]])  # (1, 1)
    spelled = (vocabulary.token_bytes(token) for token in matcher.tokens)
    return b"".join(spelling or b"" for spelling in spelled).decode(errors="ignore")


def main() -> int:
    """Write a date, then JSON."""
    model = guided.load()
    parts = (model.network, model.tokenizer, model.vocabulary)
    date = guided.Grammar.from_regex(r"\d{4}-\d{2}-\d{2}")
    print(decode(*parts, "Born on 1815-12-10. The date of birth: ", date))
    point = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    pair = guided.Grammar.from_json_schema(point, whitespace="compact")
    known = "Coordinates x=12, y=40. JSON: [12,40]\n"
    print(decode(*parts, f"{known}Coordinates x=3, y=7. JSON: ", pair))
    return 0


if __name__ == "__main__":
    sys.exit(main())
