// Attention of packed rows over pages, on the CPU: flash decoding with split keys.
//
// Keys and values are read where they lie, once for all query heads of a group and all rows of the
// sequence. A sequence is cut at fixed places; the parts are worked off by all threads and merged
// by log-sum-exp in the order of the text, so that a result does not hang on the other rows, nor on
// the threads. Of many rows, as in a prompt, the threads take some each with all parts instead.
// Source: Dao et al., "Flash-Decoding for long-context inference", 2023.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace guided {

// Rows of one sequence, those of a batch from `first_row` on.
struct AttentionSequence {
    uint32_t first_row, rows;
    uint32_t cached, length;  // tokens before these rows, and with them
    uint32_t kept, low;       // read are the tokens below `kept` and those from `low` on
};

// What one row sees, beside the sinks: the tokens from `begin` up to itself; in a tree, of at most
// 64 rows, those from `begin` on that were cached, and the new ones with a bit.
struct AttentionRow {
    uint32_t begin;
    uint64_t tree;  // 0: no tree
};

// Who sees what in a step; the same for all layers of a kind.
struct AttentionPlan {
    uint32_t page_size;  // a multiple of 4
    uint32_t sinks;
    std::vector<AttentionSequence> sequences;
    std::vector<AttentionRow> rows;
    std::vector<uint32_t> tables;  // `width` pages for each sequence
    size_t width;

    // Throws std::invalid_argument where the parts do not fit each other.
    void check() const;
};

enum class Stored : uint8_t { float32, bfloat16, int8 };

struct AttentionLayer {
    const void *keys, *values;               // (P, S, H, D) and (P, S, H, Dv)
    const float *key_scales, *value_scales;  // (P, S, H) for int8
    size_t heads, group;                     // H, query heads a head
    size_t key_size, value_size;             // D, Dv
    Stored stored;
    float scale, soft_cap;     // 0: no cap
    const float* sink_logits;  // (H * group), or null
};

// Whether this processor and compiler have the vector units, and the sizes fill them.
bool can_attend(size_t key_size, size_t value_size);

// result = softmax(scale * query * keys^T) * values, in float32, rounded once; a row that sees
// nothing is 0.
//
// query: (T, H * group, D), a row and a head that many numbers apart; result: the same with Dv,
// contiguous; both float32, or both bfloat16 if `is_half`.
void attend_rows(const AttentionPlan& plan, const AttentionLayer& layer, const void* query,
                 size_t row_stride, size_t head_stride, void* result, bool is_half, int threads);

}  // namespace guided
