// Masks applied to logits, in place, on the CPU.

#pragma once

#include <cstdint>

namespace guided {

enum class DType { float32, float16, bfloat16 };

// Write minus infinity wherever the mask bit is 0.
//
// logits: batch rows of `width` elements, `stride` elements apart.
// mask: batch rows of `words` words, `mask_stride` words apart; bit j of word w is token 32 w + j.
// Elements beyond words * 32 count as forbidden; bits beyond width are ignored.
// threads: at most that many, 0 for as many as the machine has; small inputs stay on the caller's.
//
// Allowed elements are not touched, forbidden ones are not read for their value, so NaN in a
// forbidden place goes and NaN in an allowed one stays.
void apply_mask(void* logits, DType dtype, int64_t batch, int64_t width, int64_t stride,
                const int32_t* mask, int64_t words, int64_t mask_stride, int threads);

}  // namespace guided
