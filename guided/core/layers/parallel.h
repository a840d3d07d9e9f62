// Work shared by the threads of the OpenMP runtime that torch uses, so that there is one set of
// them.

#pragma once

#include <cstddef>
#include <type_traits>

namespace guided {

// Addresses of GOMP_parallel, omp_get_thread_num and omp_get_num_threads; nulls, as at first, for
// one thread.
void use_openmp(void* parallel, void* thread_number, void* thread_count);

using Work = void (*)(const void* data, size_t part, size_t parts);
void run_in_parallel(Work work, const void* data, int threads);

// Call `part_of(part, parts)` once for each part, on as many threads at most.
template <typename Function>
void in_parallel(int threads, const Function& part_of) {
    const Work work = [](const void* data, size_t part, size_t parts) {
        (*static_cast<const Function*>(data))(part, parts);
    };
    run_in_parallel(work, &part_of, threads);
}

}  // namespace guided
