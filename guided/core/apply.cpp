// Floats are handled by their bits: minus infinity is one constant an element size, and no
// arithmetic ever looks at a value, so one template serves the three dtypes.
//
// Word by word: all ones are skipped, all zeros are filled, and what is mixed is blended without a
// branch. The blend compares against constant bit positions instead of shifting by a variable, as
// even the oldest vector units have that, so the compiler vectorises it for any of them.

#include "apply.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <thread>

#include "threads.h"

namespace guided {
namespace {

constexpr uint32_t kMinusInfinity32 = 0xFF800000u;
constexpr uint16_t kMinusInfinity16 = 0xFC00u;
constexpr uint16_t kMinusInfinityBrain = 0xFF80u;

constexpr int64_t kWordBits = 32;
// Starting a thread costs some 20 us; a thread blends about that many bytes in 50 us.
constexpr int64_t kBytesPerThread = int64_t{1} << 20;

// Bit positions as a table: computed from the loop counter they would be 32 bits wide, and 16-bit
// lanes would not be vectorised (10 ms instead of 1 for 64 x 128,256 half floats).
template <typename Element>
constexpr std::array<Element, 16> kBits = [] {
    std::array<Element, 16> bits{};
    for (size_t j = 0; j < bits.size(); ++j) bits[j] = static_cast<Element>(1u << j);
    return bits;
}();

// Keep the elements of one half word whose bit is 1. The conditional is arithmetic, as compilers
// turn a conditional store into a jump an element, and the loop is kept a loop, as gcc otherwise
// unrolls it before it would vectorise it.
template <typename Element>
inline void blend_half(Element* part, Element bits, Element minus_infinity) {
#pragma GCC unroll 1
    for (size_t j = 0; j < 16; ++j) {
        const auto keep = static_cast<Element>((bits & kBits<Element>[j]) != 0 ? ~0u : 0u);
        part[j] = static_cast<Element>((part[j] & keep) | (minus_infinity & ~keep));
    }
}

template <typename Element>
inline void blend_word(Element* part, uint32_t word, Element minus_infinity) {
    blend_half(part, static_cast<Element>(word & 0xFFFFu), minus_infinity);
    blend_half(part + 16, static_cast<Element>(word >> 16), minus_infinity);
}

template <typename Element>
void apply_row(Element* row, int64_t width, const int32_t* mask, int64_t words,
               Element minus_infinity) {
    const int64_t whole = std::min(words, width / kWordBits);
    for (int64_t w = 0; w < whole; ++w) {
        const auto word = static_cast<uint32_t>(mask[w]);
        Element* part = row + w * kWordBits;
        if (word == 0xFFFFFFFFu) continue;
        if (word == 0) {
            std::fill_n(part, kWordBits, minus_infinity);
        } else {
            blend_word(part, word, minus_infinity);
        }
    }
    int64_t next = whole * kWordBits;
    if (whole < words) {  // the last word runs past the row
        const auto word = static_cast<uint32_t>(mask[whole]);
        for (int bit = 0; next < width; ++next, ++bit) {
            if (((word >> bit) & 1u) == 0) row[next] = minus_infinity;
        }
    }
    std::fill(row + next, row + std::max(width, next), minus_infinity);
}

template <typename Element>
void apply_rows(void* logits, int64_t begin, int64_t end, int64_t width, int64_t stride,
                const int32_t* mask, int64_t words, int64_t mask_stride, Element minus_infinity) {
    auto* base = static_cast<Element*>(logits);
    for (int64_t b = begin; b < end; ++b) {
        apply_row(base + b * stride, width, mask + b * mask_stride, words, minus_infinity);
    }
}

int64_t thread_count(int64_t batch, int64_t row_bytes, int threads) {
    const int64_t useful = std::min(batch, batch * row_bytes / kBytesPerThread);
    int64_t most = threads;
    if (most <= 0) most = static_cast<int64_t>(std::thread::hardware_concurrency());
    return std::max<int64_t>(1, std::min(useful, most));
}

}  // namespace

void apply_mask(void* logits, DType dtype, int64_t batch, int64_t width, int64_t stride,
                const int32_t* mask, int64_t words, int64_t mask_stride, int threads) {
    const auto run = [=](int64_t begin, int64_t end) {
        switch (dtype) {
            case DType::float32:
                return apply_rows(logits, begin, end, width, stride, mask, words, mask_stride,
                                  kMinusInfinity32);
            case DType::float16:
                return apply_rows(logits, begin, end, width, stride, mask, words, mask_stride,
                                  kMinusInfinity16);
            case DType::bfloat16:
                return apply_rows(logits, begin, end, width, stride, mask, words, mask_stride,
                                  kMinusInfinityBrain);
        }
    };
    const int64_t element = dtype == DType::float32 ? 4 : 2;
    const int64_t count = thread_count(batch, width * element, threads);
    if (count == 1) return run(0, batch);

    const auto parts = static_cast<size_t>(count);
    share_work(parts, parts, [&](size_t part) {
        const auto t = static_cast<int64_t>(part);
        run(batch * t / count, batch * (t + 1) / count);
    });
}

}  // namespace guided
