"""The Triton kernel that samples on a GPU, a token a row; see `sample_rows`. It needs Triton.

Nothing is sorted. Logits, as integers of the same order ("keys"), are searched by bisection for the
border that top-k and top-p draw; a pass over the row says how many tokens, or how much of the mass,
reach a key. What a token weighs is float64, so what is kept is what `warp` keeps.

In all functions `row` is (logits, mask, width, words, is_free): pointers to the row, V, W, and
whether the row has no constraint; `scale` is (top, base, temperature): the largest logit, what is
subtracted from logits, and by what the rest is divided.

Source: the search: FlashInfer, "Sorting-free GPU kernels for LLM sampling", 2025.
"""

from __future__ import annotations

import triton
import triton.language as tl

FORBIDDEN = tl.constexpr(-2147483648)  # the key of a token that is not allowed, below all others
IMPOSSIBLE = tl.constexpr(-2139095041)  # the key of minus infinity
HIGHEST = tl.constexpr(0x7FFFFFFF)


@triton.jit
def read_tokens(row, first, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    """Read a block: ids, logits in float32 with NaN as minus infinity, and what is allowed."""
    logits, mask, width, words, is_free = row
    token = first + tl.arange(0, BLOCK)
    allowed = token < width
    value = tl.load(logits + token, mask=allowed, other=-float("inf")).to(tl.float32)
    value = tl.where(value != value, -float("inf"), value)
    value = tl.where(value == 0.0, 0.0, value)  # minus zero is zero
    if MASKED:
        place = token // 32
        word = tl.load(mask + place, mask=(place < words) & (is_free == 0), other=0)
        allowed = allowed & ((((word >> (token % 32)) & 1) != 0) | (is_free != 0))
    return token, value, allowed


@triton.jit
def keys_of(value, allowed):
    """Turn float32 into int32 of the same order."""
    bits = value.to(tl.int32, bitcast=True)
    return tl.where(allowed, tl.where(bits >= 0, bits, bits ^ HIGHEST), FORBIDDEN)


@triton.jit
def value_of(key):
    """Turn a key back into float32."""
    return tl.where(key >= 0, key, key ^ HIGHEST).to(tl.float32, bitcast=True)


@triton.jit
def weights_of(value, scale):
    """Return float64 in proportion to the probability; 1 for the most likely.

    Forbidden tokens may lie above that; they get 1 too, so that nothing overflows.
    """
    _, base, temperature = scale
    return tl.exp(tl.minimum((value.to(tl.float64) - base) / temperature, 0.0))


@triton.jit
def read_keys(row, scale, first, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    """Read a block: ids, logits without infinities on top, and their keys.

    Plus infinity stands alone, as 0; where nothing is possible all that is allowed is 0.
    """
    top, _, _ = scale
    token, value, allowed = read_tokens(row, first, MASKED, BLOCK)
    alone = tl.where(value == float("inf"), 0.0, -float("inf"))
    value = tl.where(top == float("inf"), alone, value)
    value = tl.where(top == -float("inf"), 0.0, value)
    return token, value, keys_of(value, allowed)


@triton.jit
def find_best(row, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    """Return the largest key, FORBIDDEN if nothing is allowed, and the lowest id that has it."""
    best = tl.full((BLOCK,), FORBIDDEN, tl.int64) << 32
    for first in range(0, row[2], BLOCK):
        token, value, allowed = read_tokens(row, first, MASKED, BLOCK)
        packed = (keys_of(value, allowed).to(tl.int64) << 32) + (token * -1 + HIGHEST).to(tl.int64)
        best = tl.maximum(best, packed)
    winner = tl.max(best, 0)
    return (winner >> 32).to(tl.int32), (winner & HIGHEST) * -1 + HIGHEST


@triton.jit
def find_kth(row, scale, high, top_k, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    """Return the largest key that at least `top_k` tokens reach; IMPOSSIBLE if there is none.

    `high` is the largest key of all. Both ends of the search are moved to keys that occur, so it
    takes no more passes than there are bits in a logit.
    """
    low = tl.full((), IMPOSSIBLE, tl.int64)
    while low < high:
        middle = low + (high - low + 1) // 2
        reached = tl.zeros((BLOCK,), tl.int32)
        above = tl.full((BLOCK,), HIGHEST, tl.int32)
        below = tl.full((BLOCK,), FORBIDDEN, tl.int32)
        for first in range(0, row[2], BLOCK):
            _, _, key = read_keys(row, scale, first, MASKED, BLOCK)
            reaches = key >= middle
            reached += reaches.to(tl.int32)
            above = tl.minimum(above, tl.where(reaches, key, HIGHEST))
            below = tl.maximum(below, tl.where(reaches, FORBIDDEN, key))
        if tl.sum(reached, 0) >= top_k:
            low = tl.min(above, 0).to(tl.int64)
        else:
            high = tl.maximum(tl.max(below, 0).to(tl.int64), low)
    return low


@triton.jit
def sum_weights(row, scale, border, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    """Return the mass of what reaches the border."""
    mass = tl.zeros((BLOCK,), tl.float64)
    for first in range(0, row[2], BLOCK):
        _, value, key = read_keys(row, scale, first, MASKED, BLOCK)
        mass += tl.where(key >= border, weights_of(value, scale), 0.0)
    return tl.sum(mass, 0)


@triton.jit
def find_mass(row, scale, low, high, target, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    """Return the largest key that a mass of `target` reaches, and the mass above that key.

    `low` is a key that it reaches, `high` the largest key of all.
    """
    mass_above = tl.full((), 0.0, tl.float64)  # of keys above `high`
    while low < high:
        middle = low + (high - low + 1) // 2
        mass = tl.zeros((BLOCK,), tl.float64)
        above = tl.full((BLOCK,), HIGHEST, tl.int32)
        below = tl.full((BLOCK,), FORBIDDEN, tl.int32)
        for first in range(0, row[2], BLOCK):
            _, value, key = read_keys(row, scale, first, MASKED, BLOCK)
            reaches = key >= middle
            above = tl.minimum(above, tl.where(reaches, key, HIGHEST))
            below = tl.maximum(below, tl.where(reaches, FORBIDDEN, key))
            counted = reaches & (key <= high)
            # Exponentials cost the most, and soon few blocks have a key in question.
            if tl.max(counted.to(tl.int32), 0) > 0:
                mass += tl.where(counted, weights_of(value, scale), 0.0)
        part = tl.sum(mass, 0)
        if mass_above + part >= target:
            low = tl.min(above, 0).to(tl.int64)
        else:
            mass_above += part
            high = tl.maximum(tl.max(below, 0).to(tl.int64), low)
    return low, mass_above


@triton.jit
def count_at_border(row, scale, border, missing, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    """Return how many tokens at the border make up the mass `missing`: from 1 to all of them."""
    equals = tl.zeros((BLOCK,), tl.int32)
    for first in range(0, row[2], BLOCK):
        _, _, key = read_keys(row, scale, first, MASKED, BLOCK)
        equals += (key == border).to(tl.int32)
    equal = tl.sum(equals, 0)
    weight = weights_of(value_of(border.to(tl.int32)), scale)
    wanted = equal.to(tl.float64)
    if weight > 0.0:
        wanted = tl.minimum(tl.maximum(tl.ceil(missing / weight), 1.0), wanted)
    return wanted.to(tl.int32)


@triton.jit
def read_kept(row, scale, kept, first, passed, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    """Read a block: ids, and weights, 0 where the token is dropped.

    `kept` is (border, wanted, min_p): of the tokens at the border so many are wanted, the lowest
    ids. `passed` counts them in the blocks before, and is returned with those of this block.
    """
    border, wanted, min_p = kept
    token, value, key = read_keys(row, scale, first, MASKED, BLOCK)
    equals = (key == border).to(tl.int32)
    early = passed + tl.cumsum(equals, 0) <= wanted
    weight = weights_of(value, scale)
    stays = ((key > border) | ((key == border) & early)) & (weight >= min_p)
    return token, tl.where(stays, weight, 0.0), passed + tl.sum(equals, 0)


@triton.jit
def sum_kept(row, scale, kept, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    """Return the mass of what is kept, and the last id of it."""
    total = tl.full((), 0.0, tl.float64)
    last = tl.full((), -1, tl.int32)
    passed = tl.full((), 0, tl.int32)
    for first in range(0, row[2], BLOCK):
        token, weight, passed = read_kept(row, scale, kept, first, passed, MASKED, BLOCK)
        total += tl.sum(weight, 0)  # block by block, as `draw` does
        last = tl.maximum(last, tl.max(tl.where(weight > 0.0, token, -1), 0))
    return total, last


@triton.jit
def draw(row, scale, kept, point, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    """Return the first id whose cumulative mass is above the point, -1 if there is none."""
    chosen = tl.full((), -1, tl.int32)
    total = tl.full((), 0.0, tl.float64)
    passed = tl.full((), 0, tl.int32)
    for first in range(0, row[2], BLOCK):
        if chosen < 0:
            token, weight, passed = read_kept(row, scale, kept, first, passed, MASKED, BLOCK)
            cumulative = total + tl.cumsum(weight, 0)
            total += tl.sum(weight, 0)
            if total > point:
                hits = (weight > 0.0) & (cumulative > point)
                hit = tl.min(tl.where(hits, token, HIGHEST), 0)
                # Should rounding let no place of the block pass the point, its last one is meant.
                final = tl.max(tl.where(weight > 0.0, token, -1), 0)
                chosen = tl.where(hit < HIGHEST, hit, final)
    return chosen


@triton.jit
def uniform(seed, counter):
    """Make a float64 in [0, 1) as `random_stream.uniform` does."""
    first, second, _, _ = tl.randint4x(seed, counter)
    upper = (first.to(tl.uint32, bitcast=True) >> 5).to(tl.int64)
    lower = (second.to(tl.uint32, bitcast=True) >> 6).to(tl.int64)
    return (upper * 67108864 + lower).to(tl.float64) * 1.1102230246251565e-16  # 2**-53


@triton.jit(do_not_specialize=["width", "words"])
def sample(
    logits,  # (R, V), rows logits_row apart
    masks,  # (R, W) int32 or a pool of rows, rows masks_row apart
    numbers,  # (R,) the row of `masks` for each row, or a negative number
    levels,  # (3, R) float64: temperature, top-p, min-p
    counts,  # (3, R) int64: top-k, seed, counter
    tokens,  # (R,) int64, the result
    width,  # V
    words,  # W
    logits_row,
    masks_row,
    MASKED: tl.constexpr,
    NUMBERED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Write the token of a row, or -1 if none is allowed; grid (R,)."""
    place = tl.program_id(0).to(tl.int64)
    rows = tl.num_programs(0)
    number = place
    if NUMBERED:
        number = tl.load(numbers + place).to(tl.int64)
    is_free = (number < 0).to(tl.int32)
    mask = tokens  # not read
    if MASKED:
        mask = masks + tl.maximum(number, 0) * masks_row
    row = (logits + place * logits_row, mask, width, words, is_free)
    top_key, best = find_best(row, MASKED, BLOCK)
    temperature = tl.load(levels + place)
    if top_key == FORBIDDEN:
        tl.store(tokens + place, -1)
        return
    if temperature <= 0.0:
        tl.store(tokens + place, best)
        return
    top = value_of(top_key)
    is_number = (top > -float("inf")) & (top < float("inf"))
    scale = (top, tl.where(is_number, top, 0.0).to(tl.float64), temperature)
    high = tl.where(is_number, top_key, 0).to(tl.int64)
    border = tl.full((), IMPOSSIBLE, tl.int64)
    wanted = tl.full((), HIGHEST, tl.int32)
    top_k = tl.load(counts + place)
    if top_k > 0:
        border = find_kth(row, scale, high, top_k, MASKED, BLOCK)
    top_p = tl.load(levels + rows + place)
    if top_p < 1.0:
        target = top_p * sum_weights(row, scale, border, MASKED, BLOCK)
        border, above = find_mass(row, scale, border, high, target, MASKED, BLOCK)
        wanted = count_at_border(row, scale, border, target - above, MASKED, BLOCK)
    kept = (border, wanted, tl.load(levels + 2 * rows + place))
    total, last = sum_kept(row, scale, kept, MASKED, BLOCK)
    point = total * uniform(tl.load(counts + rows + place), tl.load(counts + 2 * rows + place))
    chosen = draw(row, scale, kept, point, MASKED, BLOCK)
    # Should the point be rounded up to the total, the last one is meant.
    tl.store(tokens + place, tl.where(chosen < 0, last, chosen).to(tl.int64))
