"""How large llama.cpp's cache is made."""

from __future__ import annotations

from guided.errors import GuidedError, LimitError, UnsupportedError

# Bytes of a number in the cache, by the name it has in llama.cpp. Its q8_0 is int8 with a scale for
# every 32 numbers.
CACHE_DTYPES = {None: ("GGML_TYPE_F16", 2.0), "int8": ("GGML_TYPE_Q8_0", 34 / 32)}
MOST_MEMORY = 1 << 30  # that is taken unasked
CONTEXTS = 2  # whole contexts that are held unasked, if this memory allows
MOST_CONTEXTS = 64  # whatever the memory
ROUNDING = 256  # llama.cpp rounds the size of its cache up to a multiple
UNBOUNDED = 1 << 16  # tokens of a cache in which a token takes no memory


def cache_dtype(kv_dtype: str | None) -> tuple[str, float]:
    """Return llama.cpp's name of a type of the cache, and the bytes of a number."""
    if kv_dtype not in CACHE_DTYPES:
        raise UnsupportedError(
            f"llama.cpp keeps keys and values as float16 or as int8, found kv_dtype {kv_dtype!r}",
            keyword=str(kv_dtype),
            page="docs/models.md",
            mend='leave kv_dtype out, or give "int8"',
        )
    return CACHE_DTYPES[kv_dtype]


def count_cells(token_bytes: float, context: int | None, memory: int | None) -> int:
    """Return for how many tokens the cache is made.

    Args:
        token_bytes: memory of a token; 0 for a model that keeps only states.
        context: the most positions of a sequence.
        memory: the most bytes; None: what two whole contexts take, at most 1 GiB.

    Raises:
        LimitError: the memory does not suffice for the least that llama.cpp holds.
    """
    contexts, memory = (CONTEXTS, MOST_MEMORY) if memory is None else (MOST_CONTEXTS, memory)
    most = max(ROUNDING, contexts * (context or UNBOUNDED))
    cells = int(min(memory / token_bytes, most)) if token_bytes else UNBOUNDED
    if cells < ROUNDING:
        least = round(ROUNDING * token_bytes)
        raise LimitError(
            f"llama.cpp keeps at least {ROUNDING} tokens, whose keys and values take {least} bytes",
            limit="bytes",
            value=memory,
            option="memory",
        )
    return cells // ROUNDING * ROUNDING


def check_sequences(sequences: int, most: int) -> None:
    """Raise unless llama.cpp can hold so many."""
    if not 1 <= sequences <= most:
        raise GuidedError(
            f"llama.cpp holds from 1 to {most} sequences of this model at a time,"
            f" {sequences} are asked for",
            mend="lower max_batch",
        )
