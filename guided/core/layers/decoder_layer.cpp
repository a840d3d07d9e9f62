#include "decoder_layer.h"

#include "linear.h"
#include "parallel.h"
#include "vectors.h"

#ifdef GUIDED_HAS_VECTORS

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

namespace guided {
namespace {

// What `number` is where it is kept.
template <typename Number, int kLanes>
GUIDED_INLINE typename Vector<kLanes>::Floats kept(const typename Vector<kLanes>::Floats& floats) {
    Number numbers[kLanes];
    store<kLanes>(floats, numbers);
    return load<kLanes>(numbers);
}

template <int kLanes, typename Number>
GUIDED_INLINE void normalize(const Number* from, const Number* weight, size_t size, float epsilon,
                             Number* to) {
    typename Vector<kLanes>::Floats squares{};
    for (size_t i = 0; i < size; i += kLanes) {
        const auto numbers = load<kLanes>(from + i);
        squares += numbers * numbers;
    }
    const float factor = 1 / std::sqrt(sum<kLanes>(squares) / static_cast<float>(size) + epsilon);
    for (size_t i = 0; i < size; i += kLanes) {
        const auto normal = kept<Number, kLanes>(load<kLanes>(from + i) * factor);
        store<kLanes>(load<kLanes>(weight + i) * normal, to + i);
    }
}

template <int kLanes, typename Number>
GUIDED_INLINE void rotate(Number* head, const Number* cosines, const Number* sines, size_t size) {
    const auto product = [](const auto& a, const auto& b) { return kept<Number, kLanes>(a * b); };
    const size_t half = size / 2;
    for (size_t i = 0; i < half; i += kLanes) {
        const auto low = load<kLanes>(head + i), high = load<kLanes>(head + half + i);
        store<kLanes>(product(low, load<kLanes>(cosines + i)) -
                          product(high, load<kLanes>(sines + i)),
                      head + i);
        store<kLanes>(product(high, load<kLanes>(cosines + half + i)) +
                          product(low, load<kLanes>(sines + half + i)),
                      head + half + i);
    }
}

// gate = silu(gate) * up
template <int kLanes, typename Number>
GUIDED_INLINE void open_gate(Number* gate, const Number* up, size_t size) {
    for (size_t i = 0; i < size; i += kLanes) {
        const auto x = load<kLanes>(gate + i);
        const typename Vector<kLanes>::Floats zero{};
        const auto small = exponential<kLanes>(x < zero ? x : -x);
        const auto opened = kept<Number, kLanes>(x * (x < zero ? small : zero + 1) / (small + 1));
        store<kLanes>(opened * load<kLanes>(up + i), gate + i);
    }
}

template <int kLanes, typename Number>
GUIDED_INLINE void add(const Number* from, Number* to, size_t size) {
    for (size_t i = 0; i < size; i += kLanes) {
        store<kLanes>(load<kLanes>(from + i) + load<kLanes>(to + i), to + i);
    }
}

struct Step {
    const DecoderLayer& layer;
    const AttentionPlan& plan;
    void *keys, *values;
    const int64_t* slots;
    const void *cosines, *sines, *hidden;
    void* result;
    int threads;
};

// Rows `from` to `to` of each of these.
template <int kLanes, typename Number>
GUIDED_INLINE void normalize_some(const DecoderLayer& layer, const Number* hidden,
                                  const void* weight, size_t from, size_t to, Number* normal) {
    for (size_t row = from; row < to; ++row) {
        const size_t at = row * layer.hidden;
        normalize<kLanes>(hidden + at, static_cast<const Number*>(weight), layer.hidden,
                          layer.epsilon, normal + at);
    }
}

template <typename Number>
struct Placed {
    Number *query, *key;
    const Number* value;
    const int64_t* slots;
    const Number *cosines, *sines;
    Number *keys, *values;
};

template <int kLanes, typename Number>
GUIDED_INLINE void place_some(const DecoderLayer& layer, const Placed<Number>& placed, size_t from,
                              size_t to) {
    const size_t size = layer.head_size, width = layer.heads * size;
    const auto turn = [&](Number* heads, size_t count, const void* norm, size_t row) {
        for (Number* head = heads; head < heads + count * size; head += size) {
            if (norm)
                normalize<kLanes>(head, static_cast<const Number*>(norm), size, layer.epsilon,
                                  head);
            rotate<kLanes>(head, placed.cosines + row * size, placed.sines + row * size, size);
        }
    };
    for (size_t row = from; row < to; ++row) {
        turn(placed.query + row * width * layer.group, layer.heads * layer.group, layer.query_norm,
             row);
        turn(placed.key + row * width, layer.heads, layer.key_norm, row);
        const size_t at = static_cast<size_t>(placed.slots[row]) * width;
        std::memcpy(placed.keys + at, placed.key + row * width, width * sizeof(Number));
        std::memcpy(placed.values + at, placed.value + row * width, width * sizeof(Number));
    }
}

template <typename Number>
struct Room {
    std::vector<Number> normal, query, key, value, attended, gate, up;
};

template <int kLanes, typename Number>
GUIDED_INLINE void run(const Step& step, Room<Number>& room) {
    const auto& layer = step.layer;
    const size_t rows = step.plan.rows.size(), size = layer.head_size;
    const size_t key_width = layer.heads * size, query_width = key_width * layer.group;
    const auto* hidden = static_cast<const Number*>(step.hidden);
    auto* result = static_cast<Number*>(step.result);
    room.normal.resize(rows * layer.hidden);
    room.query.resize(rows * query_width);
    room.key.resize(rows * key_width);
    room.value.resize(rows * key_width);
    room.attended.resize(rows * query_width);
    room.gate.resize(rows * layer.inner);
    room.up.resize(rows * layer.inner);
    const auto multiply = [&](const std::vector<Number>& from, size_t in,
                              std::span<const Product> products) {
        multiply_rows(from.data(), rows, in, products, layer.dtype, step.threads);
    };

    normalize_some<kLanes>(layer, hidden, layer.attention_norm, 0, rows, room.normal.data());
    const Product inputs[] = {
        {layer.query.weight, query_width, layer.query.bias, room.query.data()},
        {layer.key.weight, key_width, layer.key.bias, room.key.data()},
        {layer.value.weight, key_width, layer.value.bias, room.value.data()}};
    multiply(room.normal, layer.hidden, inputs);
    const Placed<Number> placed{room.query.data(),
                                room.key.data(),
                                room.value.data(),
                                step.slots,
                                static_cast<const Number*>(step.cosines),
                                static_cast<const Number*>(step.sines),
                                static_cast<Number*>(step.keys),
                                static_cast<Number*>(step.values)};
    place_some<kLanes>(layer, placed, 0, rows);

    constexpr bool kIsHalf = sizeof(Number) == 2;
    AttentionLayer attention{};
    attention.keys = step.keys;
    attention.values = step.values;
    attention.heads = layer.heads;
    attention.group = layer.group;
    attention.key_size = attention.value_size = size;
    attention.stored = kIsHalf ? Stored::bfloat16 : Stored::float32;
    attention.scale = layer.scale;
    attend_rows(step.plan, attention, room.query.data(), query_width, size, room.attended.data(),
                kIsHalf, step.threads);
    const Product output{layer.output.weight, layer.hidden, layer.output.bias, result};
    multiply(room.attended, query_width, {&output, 1});
    add<kLanes>(hidden, result, rows * layer.hidden);

    normalize_some<kLanes>(layer, static_cast<const Number*>(result), layer.network_norm, 0, rows,
                           room.normal.data());
    const Product gates[] = {{layer.gate.weight, layer.inner, layer.gate.bias, room.gate.data()},
                             {layer.up.weight, layer.inner, layer.up.bias, room.up.data()}};
    multiply(room.normal, layer.hidden, gates);
    open_gate<kLanes>(room.gate.data(), room.up.data(), rows * layer.inner);
    const Product down{layer.down.weight, layer.hidden, layer.down.bias, room.normal.data()};
    multiply(room.gate, layer.inner, {&down, 1});
    add<kLanes>(room.normal.data(), result, rows * layer.hidden);
}

// Call `work` with a tag of the width of vectors and a number of the type that the layer has,
// compiled for this processor.
template <int kLanes, typename Work>
GUIDED_INLINE void call(DType dtype, const Work& work) {
    using Lanes = std::integral_constant<int, kLanes>;
    dtype == DType::float32 ? work(Lanes(), float()) : work(Lanes(), Brain());
}
template <typename Work>
GUIDED_FOR_512 void call_512(DType dtype, const Work& work) {
    call<16>(dtype, work);
}
template <typename Work>
GUIDED_FOR_256 void call_256(DType dtype, const Work& work) {
    call<8>(dtype, work);
}
template <typename Work>
void dispatch(DType dtype, const Work& work) {
    has_512() ? call_512(dtype, work) : call_256(dtype, work);
}

}  // namespace

bool can_run_layer(const DecoderLayer& layer) {
    const size_t lanes = has_512() ? 16 : 8;
    return can_multiply_rows() && can_attend(layer.head_size, layer.head_size) &&
           layer.head_size / 2 % lanes == 0 && layer.hidden % lanes == 0 &&
           layer.inner % lanes == 0 && layer.dtype != DType::float16;
}

void run_layer(const DecoderLayer& layer, const AttentionPlan& plan, void* keys, void* values,
               const int64_t* slots, const void* cosines, const void* sines, const void* hidden,
               void* result, int threads) {
    const Step step{layer, plan, keys, values, slots, cosines, sines, hidden, result, threads};
    dispatch(layer.dtype, [&](auto lanes, auto number) GUIDED_INLINED {
        thread_local Room<decltype(number)> room;
        run<lanes.value>(step, room);
    });
}

void normalize_rows(const DecoderLayer& layer, bool is_network, const void* from, size_t rows,
                    void* to, int threads) {
    const void* weight = is_network ? layer.network_norm : layer.attention_norm;
    in_parallel(threads, [&](size_t part, size_t parts) {
        dispatch(layer.dtype, [&](auto lanes, auto number) GUIDED_INLINED {
            using Number = decltype(number);
            normalize_some<lanes.value>(layer, static_cast<const Number*>(from), weight,
                                        rows * part / parts, rows * (part + 1) / parts,
                                        static_cast<Number*>(to));
        });
    });
}

void place_rows(const DecoderLayer& layer, void* query, void* key, const void* value, size_t rows,
                const int64_t* slots, const void* cosines, const void* sines, void* keys,
                void* values, int threads) {
    in_parallel(threads, [&](size_t part, size_t parts) {
        dispatch(layer.dtype, [&](auto lanes, auto number) GUIDED_INLINED {
            using Number = decltype(number);
            const Placed<Number> placed{
                static_cast<Number*>(query),         static_cast<Number*>(key),
                static_cast<const Number*>(value),   slots,
                static_cast<const Number*>(cosines), static_cast<const Number*>(sines),
                static_cast<Number*>(keys),          static_cast<Number*>(values)};
            place_some<lanes.value>(layer, placed, rows * part / parts, rows * (part + 1) / parts);
        });
    });
}

void gate_rows(const DecoderLayer& layer, void* gate, const void* up, size_t rows, int threads) {
    in_parallel(threads, [&](size_t part, size_t parts) {
        dispatch(layer.dtype, [&](auto lanes, auto number) GUIDED_INLINED {
            using Number = decltype(number);
            const size_t first = rows * part / parts * layer.inner;
            const size_t last = rows * (part + 1) / parts * layer.inner;
            open_gate<lanes.value>(static_cast<Number*>(gate) + first,
                                   static_cast<const Number*>(up) + first, last - first);
        });
    });
}

}  // namespace guided

#else  // other processors and compilers: torch's own way is taken

namespace guided {

bool can_run_layer(const DecoderLayer&) {
    return false;
}

void run_layer(const DecoderLayer&, const AttentionPlan&, void*, void*, const int64_t*, const void*,
               const void*, const void*, void*, int) {}

void normalize_rows(const DecoderLayer&, bool, const void*, size_t, void*, int) {}

void place_rows(const DecoderLayer&, void*, void*, const void*, size_t, const int64_t*, const void*,
                const void*, void*, void*, int) {}

void gate_rows(const DecoderLayer&, void*, const void*, size_t, int) {}

}  // namespace guided

#endif
