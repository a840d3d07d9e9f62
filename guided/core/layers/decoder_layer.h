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

}  // namespace guided
