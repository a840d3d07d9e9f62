// Floats are compared as integers: with all bits but the sign turned over where that is set, their
// bits are in the order of the numbers. NaNs are then beyond the infinities, on either side, so one
// pass for the largest and the smallest finds these too; and loops over integers are vectorised
// where the order of float operations would have to be kept.

#include "greedy.h"

#include <algorithm>
#include <limits>

#include "layers/parallel.h"
#include "layers/vectors.h"

namespace guided {
namespace {

// Elements that are looked through again for the largest one.
constexpr int64_t kBlock = 512;
// Waking a thread that sleeps takes as long as some 50 us of work.
constexpr int64_t kElementsPerThread = int64_t{1} << 19;

template <typename Key>
GUIDED_INLINE Key key_of(Key bits) {
    constexpr Key kSign = std::numeric_limits<Key>::min(), kRest = std::numeric_limits<Key>::max();
    if (bits == kSign) bits = 0;  // minus zero
    return static_cast<Key>(bits < 0 ? bits ^ kRest : bits);
}

template <typename Key>
GUIDED_INLINE int64_t find_in_row(const Key* row, int64_t width, Key infinity) {
    Key largest = std::numeric_limits<Key>::min(), smallest = std::numeric_limits<Key>::max();
    int64_t block = 0;
    for (int64_t at = 0; at < width; at += kBlock) {
        const int64_t end = std::min(at + kBlock, width);
        Key high = std::numeric_limits<Key>::min(), low = std::numeric_limits<Key>::max();
        for (int64_t i = at; i < end; ++i) {
            const Key key = key_of(row[i]);
            high = std::max(high, key);
            low = std::min(low, key);
        }
        smallest = std::min(smallest, low);
        if (high > largest) {
            largest = high;
            block = at;
        }
    }
    const Key minus_infinity = key_of(static_cast<Key>(infinity | std::numeric_limits<Key>::min()));
    if (largest >= infinity || largest <= minus_infinity || smallest < minus_infinity) return -1;
    while (key_of(row[block]) != largest) ++block;
    return block;
}

struct Rows {
    const void* logits;
    DType dtype;
    int64_t width, stride;
    int64_t* places;
};

template <typename Key>
GUIDED_INLINE void find_in_rows(const Rows& rows, Key infinity, int64_t begin, int64_t end) {
    const auto* logits = static_cast<const Key*>(rows.logits);
    for (int64_t row = begin; row < end; ++row)
        rows.places[row] = find_in_row(logits + row * rows.stride, rows.width, infinity);
}

GUIDED_INLINE void find(const Rows& rows, int64_t begin, int64_t end) {
    switch (rows.dtype) {
        case DType::float32: return find_in_rows<int32_t>(rows, 0x7F800000, begin, end);
        case DType::float16: return find_in_rows<int16_t>(rows, 0x7C00, begin, end);
        case DType::bfloat16: return find_in_rows<int16_t>(rows, 0x7F80, begin, end);
    }
}

#ifdef GUIDED_HAS_VECTORS
GUIDED_FOR_512 void find_512(const Rows& rows, int64_t begin, int64_t end) {
    find(rows, begin, end);
}
GUIDED_FOR_256 void find_256(const Rows& rows, int64_t begin, int64_t end) {
    find(rows, begin, end);
}
#endif

void find_any(const Rows& rows, int64_t begin, int64_t end) {
#ifdef GUIDED_HAS_VECTORS
    if (has_512()) return find_512(rows, begin, end);
    if (has_256()) return find_256(rows, begin, end);
#endif
    find(rows, begin, end);
}

}  // namespace

void find_largest(const void* logits, DType dtype, int64_t batch, int64_t width, int64_t stride,
                  int64_t* places, int threads) {
    const Rows rows{logits, dtype, width, stride, places};
    const int64_t useful = std::min(batch, 1 + batch * width / kElementsPerThread);
    in_parallel(static_cast<int>(std::min<int64_t>(threads, useful)),
                [&](size_t part, size_t parts) {
                    const auto share = [&](size_t n) {
                        return batch * static_cast<int64_t>(n) / static_cast<int64_t>(parts);
                    };
                    find_any(rows, share(part), share(part + 1));
                });
}

}  // namespace guided
