// A linear layer for a few rows, on the CPU.
//
// With so few rows all time goes into reading the weights. Libraries of matrices pack them first,
// or take a row at a time, which reads them twice or more often. Here some rows of the weight are
// read once, while the next ones are fetched, and meet all rows of the input.

#pragma once

#include <cstddef>
#include <span>

#include "../apply.h"

namespace guided {

// Whether this processor and compiler have the vector units that make it worth while.
bool can_multiply_rows();

// A linear layer and where its result goes.
struct Product {
    const void* weight;  // (out, in)
    size_t out;
    const void* bias;  // (out), or null
    void* result;      // (count, out)
};

// result = rows * weight^T + bias for each of some layers, in float32, rounded once.
//
// rows: (count, in); all contiguous, all float32 or all bfloat16. The sum of an output does not
// hang on how many rows there are, nor on the threads.
void multiply_rows(const void* rows, size_t count, size_t in, std::span<const Product> products,
                   DType dtype, int threads);

}  // namespace guided
