#include "linear.h"

#include "parallel.h"
#include "vectors.h"

#ifdef GUIDED_HAS_VECTORS

#include <algorithm>
#include <vector>

namespace guided {
namespace {

// How products are taken: in float32, whatever the weights are.
template <int kWidth>
struct Widened {
    using Row = float;
    static constexpr int kLanes = kWidth, kStep = kWidth;
    using Floats = typename Vector<kLanes>::Floats;
    template <typename Element>
    static GUIDED_INLINE Floats load(const Element* at) {
        return guided::load<kLanes>(at);
    }
    static GUIDED_INLINE void add(Floats& sums, const Floats& weights, const Floats& inputs) {
        sums += weights * inputs;
    }
};

template <typename Element, typename Row>
struct Job {
    const Row* rows;
    size_t count, in;
    const Element* weight;
    size_t out;
    const Element* bias;
    Element* result;
};

// A tile of kOuts outputs of kRows rows, from `row` and `out` on. Beside it the `share`-th of
// `shares` parts of the weights for the next outputs is fetched.
template <typename Products, int kOuts, int kRows, typename Element>
GUIDED_INLINE void multiply_tile(const Job<Element, typename Products::Row>& job, size_t row,
                                 size_t out, bool fetch, size_t share, size_t shares) {
    constexpr int kStep = Products::kStep;
    typename Products::Floats sums[kOuts][kRows];
    for (auto& of_out : sums) {
        for (auto& one : of_out) one = typename Products::Floats{};
    }
    const Element* weight = job.weight + out * job.in;
    const auto* rows = job.rows + row * job.in;
    const size_t first = kOuts + kOuts * share / shares;
    const size_t last = fetch ? kOuts + kOuts * (share + 1) / shares : first;
    size_t at = 0;
    for (; at + kStep <= job.in; at += kStep) {
        for (size_t next = first; next < last; ++next) {
            __builtin_prefetch(weight + next * job.in + at);
        }
        decltype(Products::load(weight)) weights[kOuts];
        for (int o = 0; o < kOuts; ++o) weights[o] = Products::load(weight + o * job.in + at);
        for (int r = 0; r < kRows; ++r) {
            const auto inputs = Products::load(rows + r * job.in + at);
            for (int o = 0; o < kOuts; ++o) Products::add(sums[o][r], weights[o], inputs);
        }
    }
    constexpr int kLanes = Products::kLanes, kGroups = (kOuts * kRows + kLanes - 1) / kLanes;
    float totals[kGroups * kLanes];  // as `sums`
    for (int group = 0; group < kGroups; ++group) {
        typename Products::Floats some[kLanes] = {};
        for (int i = 0; i < kLanes && group * kLanes + i < kOuts * kRows; ++i) {
            some[i] = sums[(group * kLanes + i) / kRows][(group * kLanes + i) % kRows];
        }
        store<kLanes>(sums_of<kLanes>(some), totals + group * kLanes);
    }
    for (int o = 0; o < kOuts; ++o) {
        for (int r = 0; r < kRows; ++r) {
            float total = totals[o * kRows + r];
            for (size_t k = at; k < job.in; ++k) {
                total += widen(weight[o * job.in + k]) * widen(rows[r * job.in + k]);
            }
            if (job.bias) total += widen(job.bias[out + o]);
            round_to(total, job.result + (row + r) * job.out + out + o);
        }
    }
}

// kOuts outputs of all rows.
template <typename Products, int kOuts, int kMostRows, typename Element>
GUIDED_INLINE void multiply_outs(const Job<Element, typename Products::Row>& job, size_t out,
                                 bool fetch) {
    const size_t passes = (job.count + kMostRows - 1) / kMostRows;
    size_t row = 0;
    for (size_t pass = 0; pass < passes; ++pass) {
        const size_t rows = (job.count - row + passes - pass - 1) / (passes - pass);
        switch (rows) {
#define GUIDED_TILE(n)                                                                             \
    case n:                                                                                        \
        if constexpr (n <= kMostRows) {                                                            \
            multiply_tile<Products, kOuts, n>(job, row, out, fetch, pass, passes);                 \
        }                                                                                          \
        break
            GUIDED_TILE(1);
            GUIDED_TILE(2);
            GUIDED_TILE(3);
            GUIDED_TILE(4);
            GUIDED_TILE(5);
            GUIDED_TILE(6);
            GUIDED_TILE(7);
            GUIDED_TILE(8);
#undef GUIDED_TILE
        }
        row += rows;
    }
}

// At most kMostRows rows are multiplied at a time, as many as have room for their sums in
// registers.
template <typename Products, int kOuts, int kMostRows, typename Element>
GUIDED_INLINE void multiply_span(const Job<Element, typename Products::Row>& job, size_t begin,
                                 size_t end) {
    size_t out = begin;
    for (; out + kOuts <= end; out += kOuts) {
        multiply_outs<Products, kOuts, kMostRows>(job, out, out + 2 * kOuts <= end);
    }
    for (; out < end; ++out) multiply_outs<Products, 1, kMostRows>(job, out, false);
}

// Registers: kOuts * kMostRows sums, kOuts weights and an input.
GUIDED_FOR_512 void multiply_512(const Job<float, float>& job, size_t begin, size_t end) {
    multiply_span<Widened<16>, 3, 8>(job, begin, end);
}
GUIDED_FOR_512 void multiply_512(const Job<Brain, float>& job, size_t begin, size_t end) {
    multiply_span<Widened<16>, 3, 8>(job, begin, end);
}
GUIDED_FOR_256 void multiply_256(const Job<float, float>& job, size_t begin, size_t end) {
    multiply_span<Widened<8>, 2, 6>(job, begin, end);
}
GUIDED_FOR_256 void multiply_256(const Job<Brain, float>& job, size_t begin, size_t end) {
    multiply_span<Widened<8>, 2, 6>(job, begin, end);
}

#ifdef __clang__  // it takes no such instruction outside of functions that are compiled for it
constexpr bool kHasPairs = false;
void multiply_pairs(const Job<Brain, Brain>&, size_t, size_t) {}
#else
constexpr bool kHasPairs = true;

// Two neighbours at a time, of bfloat16, added in float32 (AVX512-BF16).
struct Paired {
    using Row = Brain;
    static constexpr int kLanes = 16, kStep = 32;
    using Floats = Vector<kLanes>::Floats;
    using Pairs = Vector<kStep>::Halves;
    static GUIDED_INLINE Pairs load(const Brain* at) {
        Pairs pairs;
        std::memcpy(&pairs, at, sizeof pairs);
        return pairs;
    }
    // Intrinsics cannot be inlined into templates that have no target of their own.
    static GUIDED_INLINE void add(Floats& sums, const Pairs& weights, const Pairs& inputs) {
        asm("vdpbf16ps %2, %1, %0" : "+v"(sums) : "v"(weights), "vm"(inputs));
    }
};

GUIDED_FOR_512 void multiply_pairs(const Job<Brain, Brain>& job, size_t begin, size_t end) {
    multiply_span<Paired, 3, 8>(job, begin, end);
}
#endif

bool has_pairs() {
    static const bool has = kHasPairs && has_512() && __builtin_cpu_supports("avx512bf16");
    return has;
}

template <typename Element>
void multiply_outputs(const Job<Element, float>& job, size_t begin, size_t end) {
    has_512() ? multiply_512(job, begin, end) : multiply_256(job, begin, end);
}
void multiply_outputs(const Job<Brain, Brain>& job, size_t begin, size_t end) {
    multiply_pairs(job, begin, end);
}

template <typename AnyJob>
void multiply_part(const AnyJob& job, size_t part, size_t parts) {
    constexpr size_t kBlock = 12;
    const size_t blocks = (job.out + kBlock - 1) / kBlock;
    const size_t begin = blocks * part / parts * kBlock;
    const size_t end = std::min(job.out, blocks * (part + 1) / parts * kBlock);
    multiply_outputs(job, begin, end);
}

template <typename Element, typename Row>
void multiply(const Row* rows, size_t count, size_t in, std::span<const Product> products,
              int threads) {
    in_parallel(threads, [&](size_t part, size_t parts) {
        for (const Product& each : products) {
            const Job<Element, Row> job{rows,
                                        count,
                                        in,
                                        static_cast<const Element*>(each.weight),
                                        each.out,
                                        static_cast<const Element*>(each.bias),
                                        static_cast<Element*>(each.result)};
            multiply_part(job, part, parts);
        }
    });
}

}  // namespace

bool can_multiply_rows() {
    return has_512() || has_256();
}

void multiply_rows(const void* rows, size_t count, size_t in, std::span<const Product> products,
                   DType dtype, int threads) {
    if (dtype == DType::float32) {
        return multiply<float>(static_cast<const float*>(rows), count, in, products, threads);
    }
    const auto* narrow = static_cast<const Brain*>(rows);
    if (has_pairs()) return multiply<Brain>(narrow, count, in, products, threads);
    thread_local std::vector<float> wide;
    wide.resize(count * in);
    std::transform(narrow, narrow + count * in, wide.begin(), [](Brain b) { return widen(b); });
    multiply<Brain>(static_cast<const float*>(wide.data()), count, in, products, threads);
}

}  // namespace guided

#else  // other processors and compilers: torch's own way is taken

namespace guided {

bool can_multiply_rows() {
    return false;
}

void multiply_rows(const void*, size_t, size_t, std::span<const Product>, DType, int) {}

}  // namespace guided

#endif
