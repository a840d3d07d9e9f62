#include "linear.h"

#if defined(__GNUC__) && defined(__x86_64__)

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

// Vectors wider than the baseline are passed between functions that are inlined only. What is said in
// assembler is so because intrinsics cannot be inlined into templates without a target of their own.
#pragma GCC diagnostic ignored "-Wpsabi"
#define GUIDED_INLINE inline __attribute__((always_inline))

namespace guided {
namespace {

using Brain = uint16_t;  // the bits of a bfloat16

template <int kLanes>
struct Vector {
    typedef float Floats __attribute__((vector_size(kLanes * 4)));
    typedef uint32_t Words __attribute__((vector_size(kLanes * 4)));
    typedef uint16_t Halves __attribute__((vector_size(kLanes * 2)));
};

template <int kLanes>
GUIDED_INLINE typename Vector<kLanes>::Floats load(const float* at) {
    typename Vector<kLanes>::Floats floats;
    std::memcpy(&floats, at, sizeof floats);
    return floats;
}

template <int kLanes>
GUIDED_INLINE typename Vector<kLanes>::Floats load(const Brain* at) {
    typename Vector<kLanes>::Halves halves;
    std::memcpy(&halves, at, sizeof halves);
    const auto words = __builtin_convertvector(halves, typename Vector<kLanes>::Words) << 16;
    typename Vector<kLanes>::Floats floats;
    std::memcpy(&floats, &words, sizeof floats);
    return floats;
}

GUIDED_INLINE float widen(float number) {
    return number;
}
GUIDED_INLINE float widen(Brain number) {
    return std::bit_cast<float>(uint32_t{number} << 16);
}

GUIDED_INLINE void round_to(float number, float* at) {
    *at = number;
}
GUIDED_INLINE void round_to(float number, Brain* at) {  // to the nearest, ties to even
    const auto bits = std::bit_cast<uint32_t>(number);
    const bool is_nan = number != number;
    *at = static_cast<Brain>(is_nan ? bits >> 16 | 0x40u
                                    : (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

template <int kLanes>
GUIDED_INLINE float sum(const typename Vector<kLanes>::Floats& floats) {
    float parts[kLanes];
    std::memcpy(parts, &floats, sizeof floats);
    for (int step = kLanes / 2; step > 0; step /= 2) {
        for (int lane = 0; lane < step; ++lane) parts[lane] += parts[lane + step];
    }
    return parts[0];
}

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
    static GUIDED_INLINE void add(Floats& sums, const Pairs& weights, const Pairs& inputs) {
        asm("vdpbf16ps %2, %1, %0" : "+v"(sums) : "v"(weights), "vm"(inputs));
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

// The most rows that are multiplied at a time; so many sums fit into the registers.
constexpr int kMostRows = 6;

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
    for (int o = 0; o < kOuts; ++o) {
        for (int r = 0; r < kRows; ++r) {
            float total = sum<Products::kLanes>(sums[o][r]);
            for (size_t k = at; k < job.in; ++k) {
                total += widen(weight[o * job.in + k]) * widen(rows[r * job.in + k]);
            }
            if (job.bias) total += widen(job.bias[out + o]);
            round_to(total, job.result + (row + r) * job.out + out + o);
        }
    }
}

// kOuts outputs of all rows.
template <typename Products, int kOuts, typename Element>
GUIDED_INLINE void multiply_outs(const Job<Element, typename Products::Row>& job, size_t out,
                                 bool fetch) {
    const size_t passes = (job.count + kMostRows - 1) / kMostRows;
    size_t row = 0;
    for (size_t pass = 0; pass < passes; ++pass) {
        const size_t rows = (job.count - row + passes - pass - 1) / (passes - pass);
        switch (rows) {
#define GUIDED_TILE(n)                                                                             \
    case n: multiply_tile<Products, kOuts, n>(job, row, out, fetch, pass, passes); break
            GUIDED_TILE(1);
            GUIDED_TILE(2);
            GUIDED_TILE(3);
            GUIDED_TILE(4);
            GUIDED_TILE(5);
            GUIDED_TILE(6);
#undef GUIDED_TILE
        }
        row += rows;
    }
}

template <typename Products, int kOuts, typename Element>
GUIDED_INLINE void multiply_span(const Job<Element, typename Products::Row>& job, size_t begin,
                                 size_t end) {
    size_t out = begin;
    for (; out + kOuts <= end; out += kOuts) {
        multiply_outs<Products, kOuts>(job, out, out + 2 * kOuts <= end);
    }
    for (; out < end; ++out) multiply_outs<Products, 1>(job, out, false);
}

// Registers: kOuts * kMostRows sums, kOuts weights and an input.
#define GUIDED_FOR_512 __attribute__((target("avx512f,avx512bw,avx512vl,fma")))
GUIDED_FOR_512 void multiply_512(const Job<float, float>& job, size_t begin, size_t end) {
    multiply_span<Widened<16>, 4>(job, begin, end);
}
GUIDED_FOR_512 void multiply_512(const Job<Brain, float>& job, size_t begin, size_t end) {
    multiply_span<Widened<16>, 4>(job, begin, end);
}
GUIDED_FOR_512 void multiply_pairs(const Job<Brain, Brain>& job, size_t begin, size_t end) {
    multiply_span<Paired, 4>(job, begin, end);
}
#undef GUIDED_FOR_512
#define GUIDED_FOR_256 __attribute__((target("avx2,fma")))
GUIDED_FOR_256 void multiply_256(const Job<float, float>& job, size_t begin, size_t end) {
    multiply_span<Widened<8>, 2>(job, begin, end);
}
GUIDED_FOR_256 void multiply_256(const Job<Brain, float>& job, size_t begin, size_t end) {
    multiply_span<Widened<8>, 2>(job, begin, end);
}
#undef GUIDED_FOR_256

bool has_512() {
    static const bool has = __builtin_cpu_supports("avx512f") &&
                            __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vl");
    return has;
}

bool has_pairs() {
    static const bool has = has_512() && __builtin_cpu_supports("avx512bf16");
    return has;
}

bool has_256() {
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return has;
}

using Parallel = void (*)(void (*)(void*), void*, unsigned, unsigned);
using Number = int (*)();
Parallel openmp_parallel = nullptr;
Number openmp_thread = nullptr;
Number openmp_threads = nullptr;

template <typename Element>
void multiply_outputs(const Job<Element, float>& job, size_t begin, size_t end) {
    has_512() ? multiply_512(job, begin, end) : multiply_256(job, begin, end);
}
void multiply_outputs(const Job<Brain, Brain>& job, size_t begin, size_t end) {
    multiply_pairs(job, begin, end);
}

template <typename AnyJob>
void multiply_part(const AnyJob& job, size_t part, size_t parts) {
    constexpr size_t kBlock = 16;
    const size_t blocks = (job.out + kBlock - 1) / kBlock;
    const size_t begin = blocks * part / parts * kBlock;
    const size_t end = std::min(job.out, blocks * (part + 1) / parts * kBlock);
    multiply_outputs(job, begin, end);
}

template <typename AnyJob>
void multiply(const AnyJob& job, int threads) {
    if (threads <= 1 || !openmp_parallel) return multiply_part(job, 0, 1);
    const auto work = [](void* data) {
        multiply_part(*static_cast<const AnyJob*>(data), static_cast<size_t>(openmp_thread()),
                      static_cast<size_t>(openmp_threads()));
    };
    openmp_parallel(work, const_cast<AnyJob*>(&job), static_cast<unsigned>(threads), 0);
}

}  // namespace

bool can_multiply_rows() {
    return has_512() || has_256();
}

void use_openmp(void* parallel, void* thread_number, void* thread_count) {
    openmp_parallel = reinterpret_cast<Parallel>(parallel);
    openmp_thread = reinterpret_cast<Number>(thread_number);
    openmp_threads = reinterpret_cast<Number>(thread_count);
}

void multiply_rows(const void* rows, size_t count, size_t in, const void* weight, size_t out,
                   const void* bias, void* result, DType dtype, int threads) {
    if (dtype == DType::float32) {
        using Single = Job<float, float>;
        return multiply(Single{static_cast<const float*>(rows), count, in,
                               static_cast<const float*>(weight), out,
                               static_cast<const float*>(bias), static_cast<float*>(result)},
                        threads);
    }
    const auto* narrow = static_cast<const Brain*>(rows);
    const auto of = [&]<typename Row>(const Row* inputs) {
        return Job<Brain, Row>{inputs, count, in, static_cast<const Brain*>(weight), out,
                               static_cast<const Brain*>(bias), static_cast<Brain*>(result)};
    };
    if (has_pairs()) return multiply(of(narrow), threads);
    thread_local std::vector<float> wide;
    wide.resize(count * in);
    std::transform(narrow, narrow + count * in, wide.begin(), [](Brain b) { return widen(b); });
    multiply(of(wide.data()), threads);
}

}  // namespace guided

#else  // other processors and compilers: torch's own way is taken

namespace guided {

bool can_multiply_rows() {
    return false;
}

void use_openmp(void*, void*, void*) {}

void multiply_rows(const void*, size_t, size_t, const void*, size_t, const void*, void*, DType,
                   int) {}

}  // namespace guided

#endif
