// The most likely token of rows of logits, on the CPU.

#pragma once

#include <cstdint>

#include "apply.h"

namespace guided {

// Write for each row the first of its largest elements, or -1 where the row has a NaN or its
// largest element is not finite.
//
// logits: `batch` rows of `width` elements, `stride` elements apart.
// places: `batch` numbers.
// threads: at most that many, each for some of the rows.
void find_largest(const void* logits, DType dtype, int64_t batch, int64_t width, int64_t stride,
                  int64_t* places, int threads);

}  // namespace guided
