// A linear layer for a few rows, on the CPU.
//
// With so few rows all time goes into reading the weights. Libraries of matrices pack them first,
// or take a row at a time, which reads them twice or more often. Here some rows of the weight are
// read once, while the next ones are fetched, and meet all rows of the input.

#pragma once

#include <cstddef>

#include "apply.h"

namespace guided {

// Whether this processor and compiler have the vector units that make it worth while.
bool can_multiply_rows();

// The OpenMP runtime to use: that of torch, so that there is one set of threads. Addresses of
// GOMP_parallel, omp_get_thread_num and omp_get_num_threads; nulls, as at first, for one thread.
void use_openmp(void* parallel, void* thread_number, void* thread_count);

// result = rows * weight^T + bias, in float32, rounded once.
//
// rows: (count, in); weight: (out, in); bias: (out) or null; result: (count, out); all contiguous,
// all float32 or all bfloat16. The sum of an output does not hang on how many rows there are, nor
// on the threads.
void multiply_rows(const void* rows, size_t count, size_t in, const void* weight, size_t out,
                   const void* bias, void* result, DType dtype, int threads);

}  // namespace guided
