// Vectors of floats of a width that is chosen at compile time, by extensions of gcc and clang.
//
// Functions for them are inlined into functions that are compiled for a processor (`target`).

#pragma once

#if defined(__GNUC__) && defined(__x86_64__)
#define GUIDED_HAS_VECTORS 1

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

// Vectors wider than the baseline are passed between functions that are inlined only.
#pragma GCC diagnostic ignored "-Wpsabi"
#define GUIDED_INLINED __attribute__((always_inline))
#define GUIDED_INLINE inline GUIDED_INLINED
#define GUIDED_FOR_512 __attribute__((target("avx512f,avx512bw,avx512vl,fma")))
#define GUIDED_FOR_256 __attribute__((target("avx2,fma")))

namespace guided {

using Brain = uint16_t;  // the bits of a bfloat16

template <int kLanes>
struct Vector {
    typedef float Floats __attribute__((vector_size(kLanes * 4)));
    typedef int32_t Integers __attribute__((vector_size(kLanes * 4)));
    typedef uint32_t Words __attribute__((vector_size(kLanes * 4)));
    typedef uint16_t Halves __attribute__((vector_size(kLanes * 2)));
    typedef int8_t Bytes __attribute__((vector_size(kLanes)));
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

template <int kLanes>
GUIDED_INLINE typename Vector<kLanes>::Floats load(const int8_t* at) {
    typename Vector<kLanes>::Bytes bytes;
    std::memcpy(&bytes, at, sizeof bytes);
    return __builtin_convertvector(
        __builtin_convertvector(bytes, typename Vector<kLanes>::Integers),
        typename Vector<kLanes>::Floats);
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

// Lanes of `a` where the bit of a lane is not set, of `b` where it is, each with its neighbour
// added.
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
           __builtin_shuffle(a, b,
                             Integers{(kLane & kBit ? kLanes + (kLane ^ kBit) : kLane ^ kBit)...});
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

// e^x for x <= 0, within 2 units of the last place; 0 from -87 on. Source: the polynomial of
// Cephes.
template <int kLanes>
GUIDED_INLINE typename Vector<kLanes>::Floats
exponential(const typename Vector<kLanes>::Floats& of) {
    using Floats = typename Vector<kLanes>::Floats;
    using Integers = typename Vector<kLanes>::Integers;
    const Floats zero{};
    const Integers is_tiny = of < zero - 87.0f;
    Floats x = is_tiny ? zero - 87.0f : of;
    const Integers power = __builtin_convertvector(x * 1.44269504f - 0.5f, Integers);  // to zero
    const Floats whole = __builtin_convertvector(power, Floats);
    x -= whole * 0.693359375f;
    x += whole * 2.12194440e-4f;
    Floats y = zero + 1.9875691500e-4f;
    y = y * x + 1.3981999507e-3f;
    y = y * x + 8.3334519073e-3f;
    y = y * x + 4.1665795894e-2f;
    y = y * x + 1.6666665459e-1f;
    y = y * x + 5.0000001201e-1f;
    y = y * x * x + x + 1.0f;
    const Integers bits = (power + 127) << 23;
    Floats scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return is_tiny ? zero : y * scale;
}

// Write floats, rounded where they are bfloat16 (to the nearest, ties to even).
template <int kLanes>
GUIDED_INLINE void store(const typename Vector<kLanes>::Floats& floats, float* at) {
    std::memcpy(at, &floats, sizeof floats);
}
template <int kLanes>
GUIDED_INLINE void store(const typename Vector<kLanes>::Floats& floats, Brain* at) {
    typename Vector<kLanes>::Words bits;
    std::memcpy(&bits, &floats, sizeof bits);
    const auto rounded = (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
    const auto halves = __builtin_convertvector(floats == floats ? rounded : bits >> 16 | 0x40u,
                                                typename Vector<kLanes>::Halves);
    std::memcpy(at, &halves, sizeof halves);
}

// Which vectors this processor has.
inline bool has_512() {
    static const bool has = __builtin_cpu_supports("avx512f") &&
                            __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vl");
    return has;
}

inline bool has_256() {
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return has;
}

}  // namespace guided

#else  // other processors and compilers

#define GUIDED_INLINE inline

#endif
