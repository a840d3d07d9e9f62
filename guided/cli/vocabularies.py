"""A vocabulary from a folder, without loading what reading a tokenizer does not take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from guided.vocabulary import Vocabulary


def load_vocabulary(path: Path) -> Vocabulary:
    """Read the tokenizer in a folder, or its tokenizer.json.

    Raises:
        GuidedError: there is none, or it cannot be used.

    Cost: some 0.5 s for 128,000 tokens; another 5 s where it takes transformers to read it.
    """
    folder = path if path.is_dir() else path.parent
    ends = _end_tokens(folder)
    if (folder / "tokenizer.json").is_file() and ends:
        return _from_json(folder, ends)
    from guided.decoding.loading import load_tokenizer
    from guided.vocabulary import Vocabulary

    return Vocabulary.from_tokenizer(load_tokenizer(str(folder)))


def _from_json(folder: Path, ends: list[str | int]) -> Vocabulary:
    from tokenizers import Tokenizer

    from guided.errors import VocabularyError
    from guided.vocabulary import Vocabulary

    file = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library has no class of its own for it
        raise VocabularyError(
            f"{file} is no tokenizer: {error}", mend="give a folder as save_pretrained writes it"
        ) from None
    numbers = [tokenizer.token_to_id(end) if isinstance(end, str) else end for end in ends]
    known = [number for number in numbers if number is not None]
    return Vocabulary.from_tokenizer(tokenizer, eos=list(dict.fromkeys(known)))


def _end_tokens(folder: Path) -> list[str | int]:
    """Return the end tokens that the files beside a tokenizer declare, by name or number."""
    ends: list[str | int] = []
    end = _read(folder / "tokenizer_config.json").get("eos_token")
    if isinstance(end, dict):
        end = end.get("content")
    if isinstance(end, str):
        ends.append(end)
    declared = _read(folder / "generation_config.json").get("eos_token_id")
    for number in declared if isinstance(declared, list) else [declared]:
        if isinstance(number, int):
            ends.append(number)
    return ends


def _read(path: Path) -> dict[str, Any]:
    """Return what a JSON file holds; nothing if it is not there, or holds something else."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
