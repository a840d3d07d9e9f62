"""Attention of a few query rows to a long context, cut into splits that run side by side.

One program takes one sequence, one KV head, one block of query rows and one split of the context.
The rows of a block are the pairs (query row, query head of the group), so that a page is read once
for all heads that share it. Softmax is kept online (running maximum and sum, base 2), and what a
program leaves is its own normalised result and the logarithm of its sum: `merge.py` joins them.

Index in a sequence = absolute position. A row at index i sees j <= i, and with a window only
j > i - window or j < sinks. The blocks between the sinks and the window are stepped over, not
masked: programs count along the context without this gap.

Source: Dao et al., "Flash-Decoding for long-context inference", 2023, for the splits; Kwon et al.,
"Efficient memory management for large language model serving with PagedAttention", 2023, for the
pages.
"""

from __future__ import annotations

import triton
import triton.language as tl

PLAIN = tl.constexpr(0)  # pages in the dtype of the query
INT8 = tl.constexpr(1)  # int8 and a scale for each token and head
FP8 = tl.constexpr(2)  # the bits of e4m3 as uint8, and a scale likewise

# e4m3 has a bias of 7 and float16 one of 15: bits that are moved, not converted, are 2^8 too small.
FP8_FACTOR = tl.constexpr(256.0)


@triton.jit
def tanh(x):
    """Hyperbolic tangent to a few units in the last place.

    1 - 2 / (exp(2x) + 1) loses the digits of a small x, and soft caps multiply that by 50. The
    coefficients are those of Eigen's rational approximation for float32.
    """
    x = tl.minimum(tl.maximum(x, -7.90531110763549805), 7.90531110763549805)
    s = x * x
    p = -2.76076847742355e-16
    p = p * s + 2.00018790482477e-13
    p = p * s + -8.60467152213735e-11
    p = p * s + 5.12229709037114e-08
    p = p * s + 1.48572235717979e-05
    p = p * s + 6.37261928875436e-04
    p = p * s + 4.89352455891786e-03
    q = 1.19825839466702e-06
    q = q * s + 1.18534705686654e-04
    q = q * s + 2.26843463243900e-03
    q = q * s + 4.89352518554385e-03
    return x * p / q


@triton.jit
def widen(stored, FORMAT: tl.constexpr, dtype: tl.constexpr):
    """Convert what a page holds to a floating dtype, exactly; scales are left to the caller.

    e4m3 is taken apart by hand, as GPUs before compute capability 8.9 cannot convert it.
    """
    if FORMAT == PLAIN:
        return stored.to(dtype)
    elif FORMAT == INT8:
        return stored.to(tl.float32).to(dtype)
    else:
        bits = stored.to(tl.uint16)
        half = ((bits & 0x80) << 8) | ((bits & 0x7F) << 7)
        return half.to(tl.float16, bitcast=True).to(tl.float32).to(dtype)


@triton.jit
def narrow(x, dtype: tl.constexpr, INTERPRETED: tl.constexpr):
    """Round float32 to a dtype, to the nearest; the interpreter cuts bfloat16 off instead."""
    if INTERPRETED and dtype == tl.bfloat16:
        bits = x.to(tl.uint32, bitcast=True)
        bits += 0x7FFF + ((bits >> 16) & 1)
        x = (bits & 0xFFFF0000).to(tl.float32, bitcast=True)
    return x.to(dtype)


@triton.jit
def multiply(left, right, INTERPRETED: tl.constexpr):
    """Matrix product with float32 sums.

    Two matrices of float32 are taken as sums of two of tf32 each, which keeps their digits. Where
    the rows of `left` are so long that this does not fit the registers, plain products serve. The
    interpreter has no bfloat16 product; one of float32 is the same.
    """
    if INTERPRETED:
        return tl.dot(left.to(tl.float32), right.to(tl.float32))
    elif left.shape[1] > 128:
        return tl.dot(left, right, input_precision="ieee")
    else:
        return tl.dot(left, right, input_precision="tf32x3")


@triton.jit
def first_token(counted, sink_span, gap, WINDOW: tl.constexpr):
    """Return the index of a tile's first token, which is counted without the gap."""
    if WINDOW:
        return tl.where(counted < sink_span, counted, counted + gap)
    else:
        return counted


@triton.jit
def load_pages(
    table,
    counted,
    end,
    sink_span,
    gap,
    WINDOW: tl.constexpr,
    PAGE: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """Return the page of a tile, or of each of its tokens where a tile takes several pages.

    Behind the end it is page 0, which is there but of which nothing is read.
    """
    first = first_token(counted, sink_span, gap, WINDOW)
    if PAGE % BLOCK_N == 0:
        return tl.load(table + first // PAGE, mask=counted < end, other=0)
    else:
        n = tl.arange(0, BLOCK_N)
        return tl.load(table + (first + n) // PAGE, mask=counted + n < end, other=0)


# Not compiled anew for each of their values: they change from step to step.
@triton.jit(
    do_not_specialize=[
        "window",
        "sinks",
        "least_chunk",
        "most_rows",
        "row_blocks",
        "table_row",
        "visible_row",
    ]
)
def split_attention(
    query,  # (T, Hq, D)
    keys,  # (P, S, Hkv, D)
    values,  # (P, S, Hkv, DV)
    key_scales,  # (P, S, Hkv)
    value_scales,  # (P, S, Hkv)
    starts,  # (B + 1,) int32
    lengths,  # (B,) int32
    tables,  # (B, N) int32
    positions,  # (T,) int64, read in trees only
    visible,  # (T, M) bool, read in trees only
    sink_logits,  # (Hq,)
    partial,  # (splits, B, most rows, Hq, DV) float32
    logsums,  # (splits, B, most rows, Hq) float32, base 2
    output,  # (T, Hq, DV), written where there is one split
    scale,
    soft_cap,
    window,
    sinks,
    least_chunk,  # tokens of a split, a multiple of BLOCK_N; more where the splits are too few
    most_rows,  # sequences with more rows are left alone
    row_blocks,  # of the sequence with the most rows that is not left alone
    query_row,  # strides, in elements
    query_head,
    key_page,
    key_token,
    key_head,
    value_page,
    value_token,
    value_head,
    scale_page,
    scale_token,
    scale_head,
    table_row,
    visible_row,
    output_row,
    output_head,
    HEADS: tl.constexpr,
    GROUP: tl.constexpr,
    D: tl.constexpr,
    DV: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_DV: tl.constexpr,
    PAGE: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    FORMAT: tl.constexpr,
    WINDOW: tl.constexpr,
    TREE: tl.constexpr,
    SOFT_CAP: tl.constexpr,
    SINK_LOGITS: tl.constexpr,
    SPLIT: tl.constexpr,
    INTERPRETED: tl.constexpr,
):
    """Attend to one split; grid (splits, Hkv * row blocks, B)."""
    split = tl.program_id(0)
    kv_head = tl.program_id(1) // row_blocks
    row_block = tl.program_id(1) % row_blocks
    sequence = tl.program_id(2)

    # Which query rows: pair m is row m // GROUP of the sequence and head m % GROUP of the group.
    first_row = tl.load(starts + sequence)
    rows = tl.load(starts + sequence + 1) - first_row
    length = tl.load(lengths + sequence)
    pairs = rows * GROUP
    first_pair = row_block * BLOCK_M
    if (rows > most_rows) | (first_pair >= pairs):
        return
    m = first_pair + tl.arange(0, BLOCK_M)
    row = m // GROUP
    head = kv_head * GROUP + m % GROUP
    real = m < pairs
    token = (first_row + row).to(tl.int64)
    d = tl.arange(0, BLOCK_D)
    dv = tl.arange(0, BLOCK_DV)
    q_mask = real[:, None]
    if BLOCK_D != D:
        q_mask = q_mask & (d < D)[None, :]
    q = tl.load(
        query + token[:, None] * query_row + head[:, None] * query_head + d[None, :],
        mask=q_mask,
        other=0.0,
    )  # (BLOCK_M, BLOCK_D)

    # Which part of the context: [0, stop) without the gap, and of this the split's share.
    before = length - rows  # tokens cached before this step
    stop = length
    if not TREE:
        last_row = tl.minimum(first_pair + BLOCK_M - 1, pairs - 1) // GROUP
        stop = before + last_row + 1
    oldest = 0
    sink_span = 0
    gap = 0
    if WINDOW:
        first_index = before
        if not TREE:
            first_index = before + first_pair // GROUP
        oldest = tl.maximum(first_index - window + 1, 0)
        sink_span = (sinks + BLOCK_N - 1) // BLOCK_N * BLOCK_N
        gap = tl.maximum(oldest // BLOCK_N * BLOCK_N - sink_span, 0)
    begin = 0
    end = stop - gap
    if SPLIT:
        share = tl.cdiv(tl.cdiv(end, tl.num_programs(0)), BLOCK_N) * BLOCK_N
        chunk = tl.maximum(share, least_chunk)
        begin = split * chunk
        end = tl.minimum(end, begin + chunk)

    index = before + row
    position = index
    if TREE:
        position = tl.load(positions + token, mask=real, other=0).to(tl.int32)
    value_dtype = q.dtype if FORMAT == PLAIN else tl.float16  # holds int8 and e4m3 exactly
    top = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    result = tl.zeros((BLOCK_M, BLOCK_DV), tl.float32)
    n_range = tl.arange(0, BLOCK_N)
    table = tables + sequence * table_row
    # Pages are looked up a tile ahead: K and V wait for nothing then, and Triton can have several
    # tiles of them under way.
    next_page = load_pages(table, begin, end, sink_span, gap, WINDOW, PAGE, BLOCK_N)

    for counted in range(begin, end, BLOCK_N):
        first = first_token(counted, sink_span, gap, WINDOW)
        n = first + n_range
        # Only what is held may be read: beyond it, and in pages that left every window, lies
        # anything, and 0 * NaN is NaN.
        held = n < stop
        if WINDOW:
            held = held & ((n >= oldest) | (n < sinks))
        page = next_page.to(tl.int64)
        inside = first % PAGE + n_range if PAGE % BLOCK_N == 0 else n % PAGE
        k_place = page * key_page + inside * key_token + kv_head * key_head
        v_place = page * value_page + inside * value_token + kv_head * value_head
        k_mask = held[None, :]
        v_mask = held[:, None]
        if BLOCK_D != D:
            k_mask = k_mask & (d < D)[:, None]
        if BLOCK_DV != DV:
            v_mask = v_mask & (dv < DV)[None, :]
        k = tl.load(keys + k_place[None, :] + d[:, None], mask=k_mask, other=0)
        v = tl.load(values + v_place[:, None] + dv[None, :], mask=v_mask, other=0)

        s = multiply(q, widen(k, FORMAT, q.dtype), INTERPRETED) * scale  # (BLOCK_M, BLOCK_N)
        if FORMAT != PLAIN:
            s_place = page * scale_page + inside * scale_token + kv_head * scale_head
            k_scale = tl.load(key_scales + s_place, mask=held, other=0).to(tl.float32)
            v_scale = tl.load(value_scales + s_place, mask=held, other=0).to(tl.float32)
            if FORMAT == FP8:
                k_scale *= FP8_FACTOR
                v_scale *= FP8_FACTOR
            largest = tl.max(v_scale, 0)  # p * v_scale / largest fits float16, as p does
            s *= k_scale[None, :]
        if SOFT_CAP:
            s = soft_cap * tanh(s / soft_cap)

        seen = held[None, :] & real[:, None]
        if TREE:
            new = n - before
            is_new = (new >= 0) & (new < rows)
            bits = tl.load(
                visible + token[:, None] * visible_row + new[None, :],
                mask=seen & is_new[None, :],
                other=0,
            )
            seen = seen & ((n < before)[None, :] | (bits != 0))
            place = n
            if WINDOW:
                at = tl.load(positions + first_row + new, mask=is_new & held, other=0)
                place = tl.where(is_new, at.to(tl.int32), n)
        else:
            seen = seen & (n[None, :] <= index[:, None])
            place = n
        if WINDOW:
            near = place[None, :] > position[:, None] - window
            seen = seen & (near | (place < sinks)[None, :])
        s = tl.where(seen, s * 1.4426950408889634, -float("inf"))  # to base 2

        higher = tl.maximum(top, tl.max(s, 1))
        safe = tl.where(higher == -float("inf"), 0.0, higher)  # a row that has seen nothing yet
        p = tl.exp2(s - safe[:, None])
        decay = tl.exp2(top - safe)
        total = total * decay + tl.sum(p, 1)
        if FORMAT != PLAIN:
            p *= (v_scale / tl.where(largest == 0.0, 1.0, largest))[None, :]
        v = widen(v, FORMAT, value_dtype)
        # p is rounded to 16 bits in two halves, so it loses 2^-17 (bfloat16) or 2^-22 and not 2^-9
        # or 2^-11. The second product costs nothing where memory sets the pace.
        high = narrow(p, value_dtype, INTERPRETED)
        product = multiply(high, v, INTERPRETED)
        if value_dtype != tl.float32:
            low = narrow(p - high.to(tl.float32), value_dtype, INTERPRETED)
            product += multiply(low, v, INTERPRETED)
        if FORMAT != PLAIN:
            product *= largest
        result = result * decay[:, None] + product
        top = higher
        next_page = load_pages(table, counted + BLOCK_N, end, sink_span, gap, WINDOW, PAGE, BLOCK_N)

    o_mask = real[:, None]
    if BLOCK_DV != DV:
        o_mask = o_mask & (dv < DV)[None, :]
    if SPLIT:
        sequences = split.to(tl.int64) * tl.num_programs(2) + sequence
        place = (sequences * most_rows + row) * HEADS + head
        none = total == 0.0
        result = tl.where(none[:, None], 0.0, result / tl.where(none, 1.0, total)[:, None])
        logsum = tl.where(none, -float("inf"), top + tl.log2(tl.where(none, 1.0, total)))
        tl.store(partial + place[:, None] * DV + dv[None, :], result, mask=o_mask)
        tl.store(logsums + place, logsum, mask=real)
    else:
        if SINK_LOGITS:
            sink = tl.load(sink_logits + head, mask=real, other=0.0).to(tl.float32)
            sink *= 1.4426950408889634
            higher = tl.maximum(top, sink)
            safe = tl.where(higher == -float("inf"), 0.0, higher)
            decay = tl.exp2(top - safe)
            total = total * decay + tl.exp2(sink - safe)
            result *= decay[:, None]
        none = total == 0.0
        result = tl.where(none[:, None], 0.0, result / tl.where(none, 1.0, total)[:, None])
        tl.store(
            output + token[:, None] * output_row + head[:, None] * output_head + dv[None, :],
            narrow(result, output.dtype.element_ty, INTERPRETED),
            mask=o_mask,
        )
