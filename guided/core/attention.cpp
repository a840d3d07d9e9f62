#include "attention.h"

#include <stdexcept>

#include "parallel.h"
#include "vectors.h"

namespace guided {

void AttentionPlan::check() const {
    if (page_size == 0 || page_size % 4 != 0)
        throw std::invalid_argument("a page holds a multiple of 4 tokens");
    if (tables.size() != width * sequences.size())
        throw std::invalid_argument("there is a row of pages for each sequence");
    for (const auto& each : sequences) {
        const bool fits = each.rows >= 1 && each.rows <= 64 && each.cached + each.rows == each.length &&
                          each.kept <= each.low && each.low <= each.cached &&
                          size_t{each.first_row} + each.rows <= rows.size() &&
                          (each.length + page_size - 1) / page_size <= width;
        if (!fits) throw std::invalid_argument("the numbers of a sequence do not fit each other");
    }
}

}  // namespace guided

#ifdef GUIDED_HAS_VECTORS

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace guided {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();
// Tokens of a part of a sequence. A part begins at a multiple of it.
constexpr size_t kPart = 128;
constexpr size_t kSlots = 4;     // keys that meet some queries at a time
constexpr size_t kQueries = 16;  // queries whose scores are kept at a time

// Lanes of `a` where the bit of a lane is not set, of `b` where it is, each with its neighbour added.
template <int kLanes, size_t kBit, size_t... kLane>
GUIDED_INLINE typename Vector<kLanes>::Floats fold(const typename Vector<kLanes>::Floats& a,
                                                   const typename Vector<kLanes>::Floats& b,
                                                   std::index_sequence<kLane...>) {
#ifdef __clang__
    return __builtin_shufflevector(a, b, (kLane & kBit ? kLanes + kLane : kLane)...) +
           __builtin_shufflevector(a, b,
                                   (kLane & kBit ? kLanes + (kLane ^ kBit) : kLane ^ kBit)...);
#else
    using Integers = typename Vector<kLanes>::Integers;
    return __builtin_shuffle(a, b, Integers{(kLane & kBit ? kLanes + kLane : kLane)...}) +
           __builtin_shuffle(
               a, b, Integers{(kLane & kBit ? kLanes + (kLane ^ kBit) : kLane ^ kBit)...});
#endif
}

// The sum of each of kLanes vectors, in the lane of its number.
template <int kLanes, size_t kBit = 1>
GUIDED_INLINE typename Vector<kLanes>::Floats sums_of(const typename Vector<kLanes>::Floats* each) {
    if constexpr (kBit == kLanes) {
        return each[0];
    } else {
        constexpr size_t kCount = kLanes / kBit / 2;
        typename Vector<kLanes>::Floats folded[kCount];
        for (size_t i = 0; i < kCount; ++i) {
            folded[i] = fold<kLanes, kBit>(each[2 * i], each[2 * i + 1],
                                           std::make_index_sequence<kLanes>());
        }
        return sums_of<kLanes, 2 * kBit>(folded);
    }
}

// A part of a sequence, for one head.
struct Item {
    uint32_t sequence, head;
    uint32_t first;  // token
    uint32_t place;  // in the list of heads
    size_t room;     // of its result: for each query its maximum, its sum, its Dv numbers
};

// The parts of a sequence, for one head.
struct Head {
    uint32_t first, parts;  // items
};

// Tokens that lie next to each other in a page; `slot` is the place of the first.
struct Run {
    size_t first, last;  // from the beginning of the part
    size_t slot;
};

struct Call {
    const AttentionPlan& plan;
    const AttentionLayer& layer;
    const void* query;
    size_t row_stride, head_stride;
    void* result;
    bool is_half;
    std::vector<Item> items;
    std::unique_ptr<float[]> room;
};

struct Workspace {
    std::vector<float> queries, scores, sums;
    std::vector<Run> runs;
};

// The runs of what is read of a part.
void find_runs(const AttentionPlan& plan, const Item& item, std::vector<Run>& runs) {
    runs.clear();
    const auto& sequence = plan.sequences[item.sequence];
    const uint32_t* table = plan.tables.data() + item.sequence * plan.width;
    const size_t size = plan.page_size, part = item.first;
    const auto add = [&](size_t first, size_t last) {
        first = std::max(first, part);
        last = std::min(last, part + kPart);
        while (first < last) {
            const size_t stop = std::min(last, (first / size + 1) * size);
            runs.push_back({first - part, stop - part, table[first / size] * size + first % size});
            first = stop;
        }
    };
    add(0, sequence.kept);
    add(sequence.low, sequence.length);
}

template <int kLanes>
GUIDED_INLINE void read_queries(const Call& call, const Item& item, size_t count, float* queries) {
    const auto& layer = call.layer;
    const size_t size = layer.key_size;
    const auto copy = [&](const auto* all) {
        for (size_t q = 0; q < count; ++q) {
            const size_t row = call.plan.sequences[item.sequence].first_row + q / layer.group;
            const size_t head = item.head * layer.group + q % layer.group;
            const auto* from = all + row * call.row_stride + head * call.head_stride;
            for (size_t k = 0; k < size; k += kLanes) {
                const auto scaled = load<kLanes>(from + k) * layer.scale;
                std::memcpy(queries + q * size + k, &scaled, sizeof scaled);
            }
        }
    };
    call.is_half ? copy(static_cast<const Brain*>(call.query))
                 : copy(static_cast<const float*>(call.query));
}

// Scores of kLanes / kSlots queries with kSlots keys.
template <int kLanes, typename Number>
GUIDED_INLINE void score_tile(const float* queries, size_t size, const Number* keys, size_t stride,
                              float* scores) {
    constexpr size_t kTile = kLanes / kSlots;
    typename Vector<kLanes>::Floats sums[kLanes] = {};
    for (size_t k = 0; k < size; k += kLanes) {
        typename Vector<kLanes>::Floats key[kSlots];
        for (size_t s = 0; s < kSlots; ++s) key[s] = load<kLanes>(keys + s * stride + k);
        for (size_t q = 0; q < kTile; ++q) {
            const auto query = load<kLanes>(queries + q * size + k);
            for (size_t s = 0; s < kSlots; ++s) sums[q * kSlots + s] += query * key[s];
        }
    }
    const auto total = sums_of<kLanes>(sums);
    float parts[kLanes];
    std::memcpy(parts, &total, sizeof parts);
    for (size_t q = 0; q < kTile; ++q) {
        std::memcpy(scores + q * kPart, parts + q * kSlots, kSlots * sizeof(float));
    }
}

// Take away the scores of what a row does not see.
void hide(const AttentionPlan& plan, const Item& item, const AttentionRow& row, size_t used,
          float* scores) {
    const auto& sequence = plan.sequences[item.sequence];
    const size_t part = item.first;
    const auto clear = [&](size_t first, size_t last) {  // tokens
        first = std::max(first, part);
        last = std::min(last, part + used);
        for (; first < last; ++first) scores[first - part] = kNothing;
    };
    clear(plan.sinks, row.begin);
    for (size_t token = std::max<size_t>(sequence.cached, part);
         token < std::min<size_t>(sequence.length, part + used); ++token) {
        if (!(row.seen >> (token - sequence.cached) & 1)) scores[token - part] = kNothing;
    }
    clear(sequence.length, part + used);
    // What is not read is neither a sink nor in the window of any row, but it shares a tile.
    clear(sequence.kept, sequence.low);
}

// sums[q] = weights[q] * values, for kTile queries and kVectors vectors of numbers.
template <int kLanes, size_t kTile, size_t kVectors, typename Number>
GUIDED_INLINE void weigh_tile(const float* weights, const Number* values, size_t stride,
                              const std::vector<Run>& runs, float* sums, size_t sum_stride) {
    typename Vector<kLanes>::Floats sum[kTile][kVectors] = {};
    for (const Run& run : runs) {
        const Number* value = values + run.slot * stride;
        for (size_t token = run.first; token < run.last; ++token, value += stride) {
            typename Vector<kLanes>::Floats numbers[kVectors];
            for (size_t v = 0; v < kVectors; ++v) numbers[v] = load<kLanes>(value + v * kLanes);
            for (size_t q = 0; q < kTile; ++q) {
                const float weight = weights[q * kPart + token];
                for (size_t v = 0; v < kVectors; ++v) sum[q][v] += weight * numbers[v];
            }
        }
    }
    for (size_t q = 0; q < kTile; ++q) {
        std::memcpy(sums + q * sum_stride, sum[q], sizeof sum[q]);
    }
}

template <int kLanes, size_t kTile, typename Number>
GUIDED_INLINE void weigh(const float* weights, const Number* values, size_t stride, size_t size,
                         const std::vector<Run>& runs, float* sums, size_t sum_stride) {
    size_t at = 0;
    for (; at + 4 * kLanes <= size; at += 4 * kLanes) {
        weigh_tile<kLanes, kTile, 4>(weights, values + at, stride, runs, sums + at, sum_stride);
    }
    for (; at < size; at += kLanes) {
        weigh_tile<kLanes, kTile, 1>(weights, values + at, stride, runs, sums + at, sum_stride);
    }
}

// Multiply what stands for each token by the scale of its token and head.
inline void scale_by(const Call& call, const Item& item, const std::vector<Run>& runs,
                     const float* all, size_t count, float* scores) {
    const size_t heads = call.layer.heads;
    for (const Run& run : runs) {
        const float* scale = all + run.slot * heads + item.head;
        for (size_t token = run.first; token < run.last; ++token, scale += heads) {
            for (size_t q = 0; q < count; ++q) scores[q * kPart + token] *= *scale;
        }
    }
}

// The scores of `count` queries, from the `from`-th of the item on, made weights: e^(score - maximum).
template <int kLanes, typename Number>
GUIDED_INLINE void find_weights(const Call& call, const Item& item, size_t from, size_t count,
                                size_t used, const float* queries, Workspace& work, float* result,
                                size_t result_stride) {
    constexpr size_t kTile = kLanes / kSlots;
    const auto& layer = call.layer;
    const auto& sequence = call.plan.sequences[item.sequence];
    const size_t stride = layer.heads * layer.key_size;
    const auto* keys = static_cast<const Number*>(layer.keys) + item.head * layer.key_size;
    float* scores = work.scores.data();
    for (const Run& run : work.runs) {
        const size_t before = run.first % kSlots;  // a page begins at a multiple of kSlots
        for (size_t token = run.first - before; token < run.last; token += kSlots) {
            const Number* key = keys + (run.slot - run.first + token) * stride;
            for (size_t q = 0; q < count; q += kTile) {
                score_tile<kLanes>(queries + (from + q) * layer.key_size, layer.key_size, key, stride,
                                   scores + q * kPart + token);
            }
        }
    }
    if (layer.key_scales) scale_by(call, item, work.runs, layer.key_scales, count, scores);
    for (size_t q = 0; q < count; ++q) {
        float* own = scores + q * kPart;
        const auto& row = call.plan.rows[sequence.first_row + (from + q) / layer.group];
        if (layer.soft_cap != 0) {
            for (size_t i = 0; i < used; ++i) {
                own[i] = layer.soft_cap * std::tanh(own[i] / layer.soft_cap);
            }
        }
        hide(call.plan, item, row, used, own);
        float most = kNothing;
        for (size_t i = 0; i < used; ++i) most = std::max(most, own[i]);
        const float shift = most == kNothing ? 0.0f : most;
        typename Vector<kLanes>::Floats total{};
        for (size_t i = 0; i < used; i += kLanes) {
            const auto weights = exponential<kLanes>(load<kLanes>(own + i) - shift);
            total += weights;
            std::memcpy(own + i, &weights, sizeof weights);
        }
        float* out = result + (from + q) * result_stride;
        out[0] = most;
        out[1] = sum<kLanes>(total);
    }
    if (layer.value_scales) scale_by(call, item, work.runs, layer.value_scales, count, scores);
}

// The maximum, sum and weighted values of each query over a part.
template <int kLanes, typename Number>
GUIDED_INLINE void attend_part(Call& call, const Item& item, Workspace& work) {
    constexpr size_t kTile = kLanes / kSlots;
    const auto& layer = call.layer;
    const size_t count = call.plan.sequences[item.sequence].rows * layer.group;
    const size_t padded = (count + kQueries - 1) / kQueries * kQueries;
    work.queries.resize(std::max(work.queries.size(), padded * layer.key_size));
    work.scores.resize(kQueries * kPart);
    find_runs(call.plan, item, work.runs);
    float* queries = work.queries.data();
    read_queries<kLanes>(call, item, count, queries);
    std::fill(queries + count * layer.key_size, queries + padded * layer.key_size, 0.0f);
    const size_t last = work.runs.back().last;
    const size_t used = (last + kLanes - 1) / kLanes * kLanes;
    const size_t stride = layer.heads * layer.value_size, result_stride = layer.value_size + 2;
    const auto* values = static_cast<const Number*>(layer.values) + item.head * layer.value_size;
    float* result = call.room.get() + item.room;
    for (size_t from = 0; from < count; from += kQueries) {
        const size_t some = std::min(kQueries, count - from);
        find_weights<kLanes, Number>(call, item, from, some, used, queries, work, result,
                                     result_stride);
        for (size_t q = 0; q < some; q += kTile) {
            const float* weights = work.scores.data() + q * kPart;
            float* sums = result + (from + q) * result_stride + 2;
            switch (std::min(kTile, some - q)) {
#define GUIDED_WEIGH(n)                                                                            \
    case n:                                                                                        \
        weigh<kLanes, n>(weights, values, stride, layer.value_size, work.runs, sums,               \
                         result_stride);                                                           \
        break
                GUIDED_WEIGH(1);
                GUIDED_WEIGH(2);
                GUIDED_WEIGH(3);
                GUIDED_WEIGH(4);
#undef GUIDED_WEIGH
            }
        }
    }
}

template <int kLanes>
GUIDED_INLINE void attend_any(Call& call, const Item& item, Workspace& work) {
    switch (call.layer.stored) {
        case Stored::float32: return attend_part<kLanes, float>(call, item, work);
        case Stored::bfloat16: return attend_part<kLanes, Brain>(call, item, work);
        case Stored::int8: return attend_part<kLanes, int8_t>(call, item, work);
    }
}

GUIDED_FOR_512 void attend_512(Call& call, const Item& item, Workspace& work) {
    attend_any<16>(call, item, work);
}
GUIDED_FOR_256 void attend_256(Call& call, const Item& item, Workspace& work) {
    attend_any<8>(call, item, work);
}

// Merge the results of the parts of a sequence, for one head; they lie in order.
template <int kLanes, typename Number>
GUIDED_INLINE void merge(const Call& call, const Head& of, Workspace& work, Number* result) {
    const auto& layer = call.layer;
    const Item* items = call.items.data() + of.first;
    const auto& sequence = call.plan.sequences[items->sequence];
    const size_t size = layer.value_size, stride = size + 2;
    const size_t query_heads = layer.heads * layer.group;
    work.sums.resize(size);
    for (size_t q = 0; q < sequence.rows * layer.group; ++q) {
        const size_t head = items->head * layer.group + q % layer.group;
        float most = layer.sink_logits ? layer.sink_logits[head] : kNothing;
        const auto part_of = [&](size_t part) {
            return call.room.get() + items[part].room + q * stride;
        };
        for (size_t part = 0; part < of.parts; ++part) most = std::max(most, part_of(part)[0]);
        float total = layer.sink_logits ? std::exp(layer.sink_logits[head] - most) : 0.0f;
        std::fill(work.sums.begin(), work.sums.end(), 0.0f);
        for (size_t part = 0; part < of.parts; ++part) {
            const float* found = part_of(part);
            if (found[0] == kNothing) continue;
            const float weight = std::exp(found[0] - most);
            total += weight * found[1];
            for (size_t v = 0; v < size; v += kLanes) {
                float* sum = work.sums.data() + v;
                store<kLanes>(load<kLanes>(sum) + weight * load<kLanes>(found + 2 + v), sum);
            }
        }
        const float factor = total > 0 ? 1 / total : total == 0 ? 0 : total;  // NaN stays
        Number* out =
            result + ((sequence.first_row + q / layer.group) * query_heads + head) * size;
        for (size_t v = 0; v < size; v += kLanes) {
            store<kLanes>(load<kLanes>(work.sums.data() + v) * factor, out + v);
        }
    }
}

template <int kLanes>
GUIDED_INLINE void merge_any(const Call& call, const Head& head, Workspace& work) {
    call.is_half ? merge<kLanes>(call, head, work, static_cast<Brain*>(call.result))
                 : merge<kLanes>(call, head, work, static_cast<float*>(call.result));
}

GUIDED_FOR_512 void merge_512(const Call& call, const Head& head, Workspace& work) {
    merge_any<16>(call, head, work);
}
GUIDED_FOR_256 void merge_256(const Call& call, const Head& head, Workspace& work) {
    merge_any<8>(call, head, work);
}

}  // namespace

bool can_attend(size_t key_size, size_t value_size) {
    const size_t lanes = has_512() ? 16 : has_256() ? 8 : 0;
    return lanes && key_size % lanes == 0 && value_size % lanes == 0;
}

void attend_rows(const AttentionPlan& plan, const AttentionLayer& layer, const void* query,
                 size_t row_stride, size_t head_stride, void* result, bool is_half, int threads) {
    Call call{plan, layer, query, row_stride, head_stride, result, is_half, {}, {}};
    std::vector<Head> heads;
    size_t room = 0;
    for (size_t number = 0; number < plan.sequences.size(); ++number) {
        const auto& sequence = plan.sequences[number];
        for (size_t head = 0; head < layer.heads; ++head) {
            const auto first = static_cast<uint32_t>(call.items.size());
            for (size_t part = 0; part < sequence.length; part += kPart) {
                if (part >= sequence.kept && part + kPart <= sequence.low) continue;
                call.items.push_back({static_cast<uint32_t>(number), static_cast<uint32_t>(head),
                                      static_cast<uint32_t>(part),
                                      static_cast<uint32_t>(heads.size()), room});
                room += sequence.rows * layer.group * (layer.value_size + 2);
            }
            heads.push_back({first, static_cast<uint32_t>(call.items.size()) - first});
        }
    }
    call.room = std::make_unique_for_overwrite<float[]>(room);
    const auto left = std::make_unique<std::atomic<uint32_t>[]>(heads.size());
    for (size_t i = 0; i < heads.size(); ++i) left[i] = heads[i].parts;
    std::atomic<size_t> next = 0;
    in_parallel(threads, [&](size_t, size_t) {
        thread_local Workspace work;
        for (size_t i; (i = next.fetch_add(1)) < call.items.size();) {
            const Item& item = call.items[i];
            has_512() ? attend_512(call, item, work) : attend_256(call, item, work);
            // Whoever ends the last part of a head merges them.
            if (left[item.place].fetch_sub(1) > 1) continue;
            const Head& head = heads[item.place];
            has_512() ? merge_512(call, head, work) : merge_256(call, head, work);
        }
    });
}

}  // namespace guided

#else  // other processors and compilers: torch's own way is taken

namespace guided {

bool can_attend(size_t, size_t) {
    return false;
}

void attend_rows(const AttentionPlan&, const AttentionLayer&, const void*, size_t, size_t, void*,
                 bool, int) {}

}  // namespace guided

#endif
