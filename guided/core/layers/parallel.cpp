#include "parallel.h"

namespace guided {
namespace {

using Parallel = void (*)(void (*)(void*), void*, unsigned, unsigned);
using Number = int (*)();
Parallel openmp_parallel = nullptr;
Number openmp_thread = nullptr;
Number openmp_threads = nullptr;

struct Call {
    Work work;
    const void* data;
};

}  // namespace

void use_openmp(void* parallel, void* thread_number, void* thread_count) {
    openmp_parallel = reinterpret_cast<Parallel>(parallel);
    openmp_thread = reinterpret_cast<Number>(thread_number);
    openmp_threads = reinterpret_cast<Number>(thread_count);
}

void run_in_parallel(Work work, const void* data, int threads) {
    if (threads <= 1 || !openmp_parallel) return work(data, 0, 1);
    Call call{work, data};
    const auto one = [](void* at) {
        const auto& made = *static_cast<const Call*>(at);
        made.work(made.data, static_cast<size_t>(openmp_thread()),
                  static_cast<size_t>(openmp_threads()));
    };
    openmp_parallel(one, &call, static_cast<unsigned>(threads), 0);
}

}  // namespace guided
