#include "decoder_layer.h"

#include "linear.h"
#include "vectors.h"

#ifdef GUIDED_HAS_VECTORS

#include <cmath>
#include <cstring>
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
    const auto normalize_rows = [&](const Number* from, const void* weight, size_t count,
                                    size_t width, Number* to) {
        for (size_t row = 0; row < count; ++row) {
            normalize<kLanes>(from + row * width, static_cast<const Number*>(weight), width,
                              layer.epsilon, to + row * width);
        }
    };
    const auto multiply = [&](const std::vector<Number>& from, size_t in,
                              std::span<const Product> products) {
        multiply_rows(from.data(), rows, in, products, layer.dtype, step.threads);
    };

    normalize_rows(hidden, layer.attention_norm, rows, layer.hidden, room.normal.data());
    const Product inputs[] = {
        {layer.query.weight, query_width, layer.query.bias, room.query.data()},
        {layer.key.weight, key_width, layer.key.bias, room.key.data()},
        {layer.value.weight, key_width, layer.value.bias, room.value.data()}};
    multiply(room.normal, layer.hidden, inputs);
    if (layer.query_norm) {
        const size_t heads = rows * layer.heads;
        normalize_rows(room.query.data(), layer.query_norm, heads * layer.group, size,
                       room.query.data());
        normalize_rows(room.key.data(), layer.key_norm, heads, size, room.key.data());
    }
    for (size_t row = 0; row < rows; ++row) {
        const Number* cosines = static_cast<const Number*>(step.cosines) + row * size;
        const Number* sines = static_cast<const Number*>(step.sines) + row * size;
        for (size_t head = 0; head < layer.heads * layer.group; ++head) {
            rotate<kLanes>(room.query.data() + row * query_width + head * size, cosines, sines,
                           size);
        }
        Number* key = room.key.data() + row * key_width;
        for (size_t head = 0; head < layer.heads; ++head) {
            rotate<kLanes>(key + head * size, cosines, sines, size);
        }
        const size_t at = static_cast<size_t>(step.slots[row]) * key_width;
        std::memcpy(static_cast<Number*>(step.keys) + at, key, key_width * sizeof(Number));
        std::memcpy(static_cast<Number*>(step.values) + at, room.value.data() + row * key_width,
                    key_width * sizeof(Number));
    }

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

    normalize_rows(result, layer.network_norm, rows, layer.hidden, room.normal.data());
    const Product gates[] = {{layer.gate.weight, layer.inner, layer.gate.bias, room.gate.data()},
                             {layer.up.weight, layer.inner, layer.up.bias, room.up.data()}};
    multiply(room.normal, layer.hidden, gates);
    open_gate<kLanes>(room.gate.data(), room.up.data(), rows * layer.inner);
    const Product down{layer.down.weight, layer.hidden, layer.down.bias, room.normal.data()};
    multiply(room.gate, layer.inner, {&down, 1});
    add<kLanes>(room.normal.data(), result, rows * layer.hidden);
}

template <int kLanes>
GUIDED_INLINE void run_any(const Step& step) {
    if (step.layer.dtype == DType::float32) {
        thread_local Room<float> room;
        return run<kLanes>(step, room);
    }
    thread_local Room<Brain> room;
    run<kLanes>(step, room);
}

GUIDED_FOR_512 void run_512(const Step& step) {
    run_any<16>(step);
}
GUIDED_FOR_256 void run_256(const Step& step) {
    run_any<8>(step);
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
    has_512() ? run_512(step) : run_256(step);
}

}  // namespace guided

#else  // other processors and compilers: torch's own way is taken

namespace guided {

bool can_run_layer(const DecoderLayer&) {
    return false;
}

void run_layer(const DecoderLayer&, const AttentionPlan&, void*, void*, const int64_t*, const void*,
               const void*, const void*, void*, int) {}

}  // namespace guided

#endif
