"""Which format a tokenizer's model writes calls in, by its chat template and special tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from guided.text.tools.format import DEFAULT, find_format

# Those with the more telling signs first: several write `<tool_call>`.
_ORDER = (
    "deepseek-v3.2-dsml",
    "deepseek-v3",
    "deepseek-v3.1",
    "minimax-m2",
    "kimi-k2",
    "harmony",
    "phi-4-mini",
    "mistral-v11",
    "mistral-v13",
    "mistral-v3",
    "qwen3-coder-xml",
    "glm-4.5",
    "hermes",
    "llama-pythonic",
    "llama-3.1-json",
    "llama-3.1-function-tag",
)


def recognise_format(tokenizer: object) -> str:
    """Return the name of the format in which a tokenizer's model writes calls.

    Args:
        tokenizer: one with a `chat_template`, as those of transformers.

    Returns:
        the format whose markers the template or the special tokens have; "hermes" if there are
        none, as for templates that know no tools.
    """
    template = template_text(tokenizer)
    # A vocabulary may have tokens of formats to come, so the template is asked first.
    for known in (template, "\n".join([template, *special_tokens(tokenizer)])):
        for name in _ORDER:
            if any(all(sign in known for sign in group) for group in find_format(name).signs):
                return name
    return DEFAULT


def template_text(tokenizer: object) -> str:
    """Return the chat template, or the one for tools where there are several; "" for none."""
    template: Any = getattr(tokenizer, "chat_template", None)
    if isinstance(template, Mapping):
        template = template.get("tool_use", template.get("default"))
    return template if isinstance(template, str) else ""


def special_tokens(tokenizer: object) -> list[str]:
    """Return the texts of special and added tokens."""
    added: Any = getattr(tokenizer, "added_tokens_decoder", None)
    tokens: Iterable[Any] = added.values() if isinstance(added, Mapping) else ()
    return [str(token) for token in tokens]
