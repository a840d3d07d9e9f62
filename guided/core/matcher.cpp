#include "matcher.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <thread>

#include "errors.h"

namespace guided {

namespace {
constexpr size_t kForcedLimit =
    1 << 16;  // bytes; a grammar may force without end only if it never ends
}

bool Matcher::accept(uint32_t token) {
    uint32_t next = machine_->next(state(), token);
    if (next == kNone) return false;
    states_.push_back(next);
    tokens_.push_back(static_cast<int32_t>(token));
    return true;
}

bool Matcher::accept_bytes(std::string_view bytes) {
    uint32_t next = machine_->next_bytes(state(), bytes);
    if (next == kNone || is_terminated()) return false;
    states_.push_back(next);
    tokens_.push_back(kBytes);
    return true;
}

size_t Matcher::accepted_prefix(std::span<const uint32_t> tokens) {
    uint32_t at = state();
    for (size_t i = 0; i < tokens.size(); ++i)
        if ((at = machine_->next(at, tokens[i])) == kNone) return i;
    return tokens.size();
}

void Matcher::rollback(int64_t count) {
    if (count < 0 || static_cast<uint64_t>(count) > tokens_.size())
        throw BadRollback(count, tokens_.size());
    states_.resize(states_.size() - static_cast<size_t>(count));
    tokens_.resize(tokens_.size() - static_cast<size_t>(count));
}

std::string Matcher::forced_bytes() {
    std::string forced;
    uint32_t at = state();
    while (!machine_->complete(at) && forced.size() < kForcedLimit) {
        if (machine_->has_token_heads(at)) break;
        ByteSet first = machine_->first(at);
        if (first.count() != 1) break;
        char byte = 0;
        first.for_each([&](uint8_t b) { byte = static_cast<char>(b); });
        at = machine_->next_bytes(at, {&byte, 1});
        forced.push_back(byte);
    }
    return forced;
}

void fill_masks(std::span<Matcher* const> matchers, uint32_t* mask, size_t stride, int threads) {
    // Rows that are known are a copy of a few kilobytes: threads are worth their start only for
    // those that must be made.
    std::vector<size_t> unknown;
    for (size_t i = 0; i < matchers.size(); ++i) {
        Machine& m = matchers[i]->machine();
        if (m.knows_row(matchers[i]->state()))
            m.row(matchers[i]->state()).fill(mask + i * stride, m.vocabulary().words());
        else unknown.push_back(i);
    }
    auto fill = [&](size_t i) {
        Machine& m = matchers[i]->machine();
        matchers[i]->row().fill(mask + i * stride, m.vocabulary().words());
    };
    size_t workers =
        threads > 0 ? static_cast<size_t>(threads) : std::thread::hardware_concurrency();
    // Rows of one automaton are made under its lock, so only different automata share the work.
    std::vector<const Machine*> machines;
    for (size_t i : unknown) machines.push_back(&matchers[i]->machine());
    std::sort(machines.begin(), machines.end());
    size_t different =
        static_cast<size_t>(std::unique(machines.begin(), machines.end()) - machines.begin());
    workers = std::min({workers, different, unknown.size() / 4});
    if (workers < 2) {
        for (size_t i : unknown) fill(i);
        return;
    }
    std::atomic<size_t> at{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    auto work = [&] {
        try {
            for (size_t k; (k = at.fetch_add(1)) < unknown.size();) fill(unknown[k]);
        } catch (...) {
            std::lock_guard lock(failure_mutex);
            failure = std::current_exception();
        }
    };
    std::vector<std::thread> pool;
    for (size_t w = 1; w < workers; ++w) pool.emplace_back(work);
    work();
    for (auto& t : pool) t.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace guided
