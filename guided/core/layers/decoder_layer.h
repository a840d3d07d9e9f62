// A layer of a decoder in one call, for a few rows on the CPU.
//
// The layer of Llama and its kin: norm by the root of the mean square, attention with rotary
// positions and grouped queries, the same norm, a gated SiLU network, each added to what came in.
// With few rows, what lies between its matrices costs as much as they do where each operation is a
// call of its own. Numbers are rounded where transformers' own layers round them.

#pragma once

#include <cstddef>
#include <cstdint>

#include "../apply.h"
#include "attention.h"

namespace guided {

struct Weights {
    const void* weight;
    const void* bias = nullptr;  // or null
};

struct DecoderLayer {
    DType dtype;  // float32 or bfloat16, of all its numbers
    size_t hidden, inner, heads, group, head_size;
    float epsilon, scale;  // of the norms, of the scores
    const void *attention_norm, *network_norm;
    const void *query_norm, *key_norm;  // of each head, or null
    Weights query, key, value, output, gate, up, down;
};

// Whether this processor has the vector units, and the sizes of a layer fill them.
bool can_run_layer(const DecoderLayer& layer);

// result = the layer of `hidden`, (T, hidden), whose new keys and values are written to `slots`,
// (T).
//
// keys, values: of the cache, (slots, heads, head_size); cosines, sines: (T, head_size).
void run_layer(const DecoderLayer& layer, const AttentionPlan& plan, void* keys, void* values,
               const int64_t* slots, const void* cosines, const void* sines, const void* hidden,
               void* result, int threads);

// What lies between the matrices of the layer, for many rows, whose matrices a library multiplies.
// All rows are contiguous.

// to = the norm before attention, or before the network, of (rows, hidden)
void normalize_rows(const DecoderLayer& layer, bool is_network, const void* from, size_t rows,
                    void* to, int threads);

// Turn queries (rows, heads * group * head_size) and keys (rows, heads * head_size) to their
// positions in place, after the norms of heads, and write keys and values to their slots.
void place_rows(const DecoderLayer& layer, void* query, void* key, const void* value, size_t rows,
                const int64_t* slots, const void* cosines, const void* sines, void* keys,
                void* values, int threads);

// gate = silu(gate) * up, of (rows, inner)
void gate_rows(const DecoderLayer& layer, void* gate, const void* up, size_t rows, int threads);

}  // namespace guided
