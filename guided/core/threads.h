// Work shared by threads of its own, for as long as a call takes.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace guided {

// Call `work(part)` once for each part, on so many threads, of which the caller's is one; fewer do
// it where no more can be had. What a part throws is thrown again once all threads have ended.
template <class Work>
void share_work(size_t parts, size_t threads, const Work& work) {
    std::atomic<size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto run = [&] {
        try {
            for (size_t part; (part = next.fetch_add(1)) < parts;) work(part);
        } catch (...) {
            std::lock_guard lock(failure_mutex);
            failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    try {
        others.reserve(threads - 1);
        for (size_t t = 1; t < threads; ++t) others.emplace_back(run);
    } catch (const std::exception&) {  // the system has none left
    }
    run();
    for (std::thread& other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace guided
