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
        const bool fits = each.rows >= 1 && each.cached + each.rows == each.length &&
                          each.kept <= each.low && each.low <= each.cached &&
                          size_t{each.first_row} + each.rows <= rows.size() &&
                          (each.length + page_size - 1) / page_size <= width;
        if (!fits) throw std::invalid_argument("the numbers of a sequence do not fit each other");
        for (size_t row = each.first_row; each.rows > 64 && row < each.first_row + each.rows;
             ++row) {
            if (rows[row].tree) throw std::invalid_argument("a tree has at most 64 rows");
        }
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
constexpr size_t kFewRows = 16;  // rows of a sequence up to which its parts are shared out

// Work for one thread: some queries of a sequence and head, over one part or over all.
struct Item {
    uint32_t sequence, head;
    uint32_t query, count;  // the first, from the first row of the sequence on
    uint32_t part;          // its first token
    uint32_t place;         // in the list of heads
    size_t room;            // of the result: for each query its maximum, its sum, its Dv numbers
    bool is_whole;          // over all parts
};

// The parts of a sequence, for one head.
struct Head {
    uint32_t first, parts;  // items
};

// Whether a part has tokens that are read.
bool is_read(const AttentionSequence& sequence, size_t part) {
    return part < sequence.kept || part + kPart > sequence.low;
}

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
    std::vector<float> queries, scores, found, merged;
    std::vector<Run> runs;
};

// The runs of what is read of a part.
void find_runs(const AttentionPlan& plan, const Item& item, std::vector<Run>& runs) {
    runs.clear();
    const auto& sequence = plan.sequences[item.sequence];
    const uint32_t* table = plan.tables.data() + item.sequence * plan.width;
    const size_t size = plan.page_size, part = item.part;
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
GUIDED_INLINE void read_queries(const Call& call, const Item& item, float* queries) {
    const auto& layer = call.layer;
    const size_t size = layer.key_size;
    const auto copy = [&](const auto* all) {
        for (size_t i = 0; i < item.count; ++i) {
            const size_t q = item.query + i;
            const size_t row = call.plan.sequences[item.sequence].first_row + q / layer.group;
            const size_t head = item.head * layer.group + q % layer.group;
            const auto* from = all + row * call.row_stride + head * call.head_stride;
            for (size_t k = 0; k < size; k += kLanes) {
                const auto scaled = load<kLanes>(from + k) * layer.scale;
                store<kLanes>(scaled, queries + i * size + k);
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
void hide(const AttentionPlan& plan, const Item& item, size_t number, size_t used, float* scores) {
    const auto& sequence = plan.sequences[item.sequence];
    const AttentionRow& row = plan.rows[sequence.first_row + number];
    const size_t part = item.part;
    const auto clear = [&](size_t first, size_t last) {  // tokens
        first = std::max(first, part);
        last = std::min(last, part + used);
        for (; first < last; ++first) scores[first - part] = kNothing;
    };
    clear(plan.sinks, row.begin);
    if (row.tree) {
        for (size_t token = std::max<size_t>(sequence.cached, part);
             token < std::min<size_t>(sequence.length, part + used); ++token) {
            if (!(row.tree >> (token - sequence.cached) & 1)) scores[token - part] = kNothing;
        }
        clear(sequence.length, part + used);
    } else {
        clear(sequence.cached + number + 1, part + used);
    }
    // What is not read is neither a sink nor in the window of any row, but it shares a tile.
    clear(sequence.kept, sequence.low);
}

// The greatest of some scores, NaN apart.
template <int kLanes>
GUIDED_INLINE float greatest(const float* scores, size_t count) {
    typename Vector<kLanes>::Floats most = typename Vector<kLanes>::Floats{} + kNothing;
    for (size_t i = 0; i < count; i += kLanes) {
        const auto some = load<kLanes>(scores + i);
        most = some > most ? some : most;
    }
    float lanes[kLanes];
    store<kLanes>(most, lanes);
    for (int step = kLanes / 2; step > 0; step /= 2) {
        for (int lane = 0; lane < step; ++lane) {
            lanes[lane] = std::max(lanes[lane], lanes[lane + step]);
        }
    }
    return lanes[0];
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
template <int kLanes>
GUIDED_INLINE void scale_by(const Call& call, const Item& item, const std::vector<Run>& runs,
                            const float* all, size_t count, size_t used, float* scores) {
    const size_t heads = call.layer.heads;
    float scales[kPart] = {};
    for (const Run& run : runs) {
        const float* scale = all + run.slot * heads + item.head;
        for (size_t token = run.first; token < run.last; ++token, scale += heads) {
            scales[token] = *scale;
        }
    }
    for (size_t q = 0; q < count; ++q) {
        float* own = scores + q * kPart;
        for (size_t i = 0; i < used; i += kLanes) {
            store<kLanes>(load<kLanes>(own + i) * load<kLanes>(scales + i), own + i);
        }
    }
}

// The scores of `count` queries, from the `from`-th of the item on, made weights: e^(score -
// maximum). The maximum and the sum of each go to `result`.
template <int kLanes, typename Number>
GUIDED_INLINE void find_weights(const Call& call, const Item& item, size_t from, size_t count,
                                size_t used, const float* queries, Workspace& work, float* result,
                                size_t result_stride) {
    constexpr size_t kTile = kLanes / kSlots;
    const auto& layer = call.layer;
    const size_t stride = layer.heads * layer.key_size;
    const auto* keys = static_cast<const Number*>(layer.keys) + item.head * layer.key_size;
    float* scores = work.scores.data();
    for (const Run& run : work.runs) {
        const size_t before = run.first % kSlots;  // a page begins at a multiple of kSlots
        for (size_t token = run.first - before; token < run.last; token += kSlots) {
            const Number* key = keys + (run.slot - run.first + token) * stride;
            for (size_t q = 0; q < count; q += kTile) {
                score_tile<kLanes>(queries + (from + q) * layer.key_size, layer.key_size, key,
                                   stride, scores + q * kPart + token);
            }
        }
    }
    if (layer.key_scales) {
        scale_by<kLanes>(call, item, work.runs, layer.key_scales, count, used, scores);
    }
    for (size_t q = 0; q < count; ++q) {
        float* own = scores + q * kPart;
        if (layer.soft_cap != 0) {
            for (size_t i = 0; i < used; ++i) {
                own[i] = layer.soft_cap * std::tanh(own[i] / layer.soft_cap);
            }
        }
        hide(call.plan, item, (item.query + from + q) / layer.group, used, own);
        const float most = greatest<kLanes>(own, used);
        const float shift = most == kNothing ? 0.0f : most;
        typename Vector<kLanes>::Floats total{};
        for (size_t i = 0; i < used; i += kLanes) {
            const auto weights = exponential<kLanes>(load<kLanes>(own + i) - shift);
            total += weights;
            std::memcpy(own + i, &weights, sizeof weights);
        }
        float* out = result + (from + q) * result_stride;
        out[1] = sum<kLanes>(total);
        out[0] = out[1] == out[1] ? most : out[1];  // NaN is not passed over
    }
    if (layer.value_scales) {
        scale_by<kLanes>(call, item, work.runs, layer.value_scales, count, used, scores);
    }
}

// The maximum, sum and weighted values of each query of an item over its part; `work` has the
// queries.
template <int kLanes, typename Number>
GUIDED_INLINE void attend_part(const Call& call, const Item& item, Workspace& work, float* result) {
    constexpr size_t kTile = kLanes / kSlots;
    const auto& layer = call.layer;
    const auto& sequence = call.plan.sequences[item.sequence];
    find_runs(call.plan, item, work.runs);
    const size_t used = (work.runs.back().last + kLanes - 1) / kLanes * kLanes;
    const size_t stride = layer.heads * layer.value_size, result_stride = layer.value_size + 2;
    const auto* values = static_cast<const Number*>(layer.values) + item.head * layer.value_size;
    for (size_t from = 0; from < item.count; from += kQueries) {
        const size_t some = std::min<size_t>(kQueries, item.count - from);
        const size_t last = (item.query + from + some - 1) / layer.group;  // row
        if (sequence.cached + last < item.part && !call.plan.rows[sequence.first_row].tree) {
            for (size_t q = from; q < from + some; ++q) result[q * result_stride] = kNothing;
            continue;
        }
        find_weights<kLanes, Number>(call, item, from, some, used, work.queries.data(), work,
                                     result, result_stride);
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

// Merge what was found over a part into what was found over those before.
template <int kLanes>
GUIDED_INLINE void absorb(const float* found, size_t size, float* merged) {
    if (found[0] == kNothing) return;
    const float most = std::max(merged[0], found[0]);
    const float before = std::exp(merged[0] - most), weight = std::exp(found[0] - most);
    merged[0] = most;
    merged[1] = merged[1] * before + found[1] * weight;
    for (size_t v = 2; v < size + 2; v += kLanes) {
        store<kLanes>(load<kLanes>(merged + v) * before + load<kLanes>(found + v) * weight,
                      merged + v);
    }
}

// What a query begins with: its sink.
inline void begin(const Call& call, const Item& item, size_t query, float* merged) {
    const auto& layer = call.layer;
    std::fill(merged, merged + layer.value_size + 2, 0.0f);
    merged[0] = kNothing;
    if (!layer.sink_logits) return;
    merged[0] = layer.sink_logits[item.head * layer.group + query % layer.group];
    merged[1] = 1;
}

template <int kLanes>
GUIDED_INLINE void write(const Call& call, const Item& item, size_t query, const float* merged) {
    const auto& layer = call.layer;
    const size_t size = layer.value_size, group = layer.group;
    const size_t row = call.plan.sequences[item.sequence].first_row + query / group;
    const size_t at = ((row * layer.heads + item.head) * group + query % group) * size;
    const float total = merged[1];
    const float factor = total > 0 ? 1 / total : total == 0 ? 0 : total;  // NaN stays
    for (size_t v = 0; v < size; v += kLanes) {
        const auto numbers = load<kLanes>(merged + 2 + v) * factor;
        call.is_half ? store<kLanes>(numbers, static_cast<Brain*>(call.result) + at + v)
                     : store<kLanes>(numbers, static_cast<float*>(call.result) + at + v);
    }
}

template <int kLanes, typename Number>
GUIDED_INLINE void attend_item(const Call& call, Item item, Workspace& work) {
    const auto& layer = call.layer;
    const size_t stride = layer.value_size + 2, size = layer.key_size;
    const size_t padded = (item.count + kQueries - 1) / kQueries * kQueries;
    work.queries.resize(std::max(work.queries.size(), padded * size));
    work.scores.resize(kQueries * kPart);
    read_queries<kLanes>(call, item, work.queries.data());
    std::fill(work.queries.data() + item.count * size, work.queries.data() + padded * size, 0.0f);
    if (!item.is_whole) {
        return attend_part<kLanes, Number>(call, item, work, call.room.get() + item.room);
    }
    work.found.resize(item.count * stride);
    work.merged.resize(item.count * stride);
    float *found = work.found.data(), *merged = work.merged.data();
    for (size_t q = 0; q < item.count; ++q) begin(call, item, item.query + q, merged + q * stride);
    const auto& sequence = call.plan.sequences[item.sequence];
    for (size_t part = 0; part < sequence.length; part += kPart) {
        if (!is_read(sequence, part)) continue;
        item.part = static_cast<uint32_t>(part);
        attend_part<kLanes, Number>(call, item, work, found);
        for (size_t q = 0; q < item.count; ++q) {
            absorb<kLanes>(found + q * stride, layer.value_size, merged + q * stride);
        }
    }
    for (size_t q = 0; q < item.count; ++q) {
        write<kLanes>(call, item, item.query + q, merged + q * stride);
    }
}

// Merge the results of the parts of a sequence, for one head; they lie in order.
template <int kLanes>
GUIDED_INLINE void merge(const Call& call, const Head& head, Workspace& work) {
    const Item* items = call.items.data() + head.first;
    const size_t stride = call.layer.value_size + 2;
    work.merged.resize(std::max(work.merged.size(), stride));
    for (size_t q = 0; q < items->count; ++q) {
        begin(call, *items, q, work.merged.data());
        for (size_t part = 0; part < head.parts; ++part) {
            absorb<kLanes>(call.room.get() + items[part].room + q * stride, call.layer.value_size,
                           work.merged.data());
        }
        write<kLanes>(call, *items, q, work.merged.data());
    }
}

template <int kLanes>
GUIDED_INLINE void attend_any(const Call& call, const Item& item, Workspace& work) {
    switch (call.layer.stored) {
        case Stored::float32: return attend_item<kLanes, float>(call, item, work);
        case Stored::bfloat16: return attend_item<kLanes, Brain>(call, item, work);
        case Stored::int8: return attend_item<kLanes, int8_t>(call, item, work);
    }
}

GUIDED_FOR_512 void attend_512(const Call& call, const Item& item, Workspace& work) {
    attend_any<16>(call, item, work);
}
GUIDED_FOR_256 void attend_256(const Call& call, const Item& item, Workspace& work) {
    attend_any<8>(call, item, work);
}
GUIDED_FOR_512 void merge_512(const Call& call, const Head& head, Workspace& work) {
    merge<16>(call, head, work);
}
GUIDED_FOR_256 void merge_256(const Call& call, const Head& head, Workspace& work) {
    merge<8>(call, head, work);
}

// Share the work: few rows by parts, many by rows.
void share(Call& call, std::vector<Head>& heads) {
    const auto& layer = call.layer;
    size_t room = 0;
    for (size_t number = 0; number < call.plan.sequences.size(); ++number) {
        const auto& sequence = call.plan.sequences[number];
        const size_t queries = sequence.rows * layer.group;
        for (size_t head = 0; head < layer.heads; ++head) {
            Item item{};
            item.sequence = static_cast<uint32_t>(number);
            item.head = static_cast<uint32_t>(head);
            item.is_whole = sequence.rows > kFewRows;
            if (item.is_whole) {
                const size_t most = kFewRows * layer.group;
                for (size_t query = 0; query < queries; query += most) {
                    item.query = static_cast<uint32_t>(query);
                    item.count = static_cast<uint32_t>(std::min(most, queries - query));
                    call.items.push_back(item);
                }
                continue;
            }
            item.count = static_cast<uint32_t>(queries);
            item.place = static_cast<uint32_t>(heads.size());
            const auto first = static_cast<uint32_t>(call.items.size());
            for (size_t part = 0; part < sequence.length; part += kPart) {
                if (!is_read(sequence, part)) continue;
                item.part = static_cast<uint32_t>(part);
                item.room = room;
                call.items.push_back(item);
                room += queries * (layer.value_size + 2);
            }
            heads.push_back({first, static_cast<uint32_t>(call.items.size()) - first});
        }
    }
    call.room.reset(new float[room]);
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
    share(call, heads);
    const auto left = std::make_unique<std::atomic<uint32_t>[]>(heads.size());
    for (size_t i = 0; i < heads.size(); ++i) left[i] = heads[i].parts;
    std::atomic<size_t> next = 0;
    in_parallel(threads, [&](size_t, size_t) {
        thread_local Workspace work;
        for (size_t i; (i = next.fetch_add(1)) < call.items.size();) {
            const Item& item = call.items[i];
            has_512() ? attend_512(call, item, work) : attend_256(call, item, work);
            // Whoever ends the last part of a head merges them.
            if (item.is_whole || left[item.place].fetch_sub(1) > 1) continue;
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
