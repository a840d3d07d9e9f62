#include "matcher.h"

#include <algorithm>
#include <functional>
#include <thread>

#include "errors.h"
#include "threads.h"

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

std::vector<uint32_t> Matcher::states_of(const Draft& draft) {
    std::vector<uint32_t> states;
    for (size_t i = 0; i < draft.tokens.size(); ++i) {
        int64_t parent = draft.parents[i];
        uint32_t at = parent < 0 ? state() : states[static_cast<size_t>(parent)];
        states.push_back(at == kNone ? kNone : machine_->next(at, draft.tokens[i]));
    }
    return states;
}

namespace {

struct Place {  // what a row of masks is for
    Machine* machine;
    uint32_t state;  // kNone: nothing is allowed
};

void fill_places(std::span<const Place> places, uint32_t* mask, size_t stride, int threads) {
    // Rows that are known are a copy of a few kilobytes: threads are worth their start only for
    // those that must be made.
    auto fill = [&](size_t i) {
        Machine& m = *places[i].machine;
        m.row(places[i].state).fill(mask + i * stride, m.vocabulary().words());
    };
    std::vector<size_t> unknown;
    for (size_t i = 0; i < places.size(); ++i) {
        const Machine& m = *places[i].machine;
        if (places[i].state == kNone) std::fill_n(mask + i * stride, m.vocabulary().words(), 0u);
        else if (m.knows_row(places[i].state)) fill(i);
        else unknown.push_back(i);
    }
    size_t workers =
        threads > 0 ? static_cast<size_t>(threads) : std::thread::hardware_concurrency();
    // Rows of one automaton are made under its lock, so only different automata share the work.
    std::vector<const Machine*> machines;
    for (size_t i : unknown) machines.push_back(places[i].machine);
    std::sort(machines.begin(), machines.end());
    size_t different =
        static_cast<size_t>(std::unique(machines.begin(), machines.end()) - machines.begin());
    workers = std::min({workers, different, unknown.size() / 4});
    if (workers < 2) {
        for (size_t i : unknown) fill(i);
        return;
    }
    share_work(unknown.size(), workers, [&](size_t k) { fill(unknown[k]); });
}

}  // namespace

bool fill_masks(std::span<Matcher* const> matchers, std::span<const Draft> drafts, uint32_t* mask,
                size_t stride, int threads, bool only_known) {
    std::vector<Place> places;
    for (size_t i = 0; i < matchers.size(); ++i) {
        Machine* machine = &matchers[i]->machine();
        places.push_back({machine, matchers[i]->state()});
        if (drafts.empty()) continue;
        for (uint32_t state : matchers[i]->states_of(drafts[i])) places.push_back({machine, state});
    }
    if (only_known)
        for (const Place& p : places)
            if (p.state != kNone && !p.machine->knows_row(p.state)) return false;
    fill_places(places, mask, stride, threads);
    return true;
}

}  // namespace guided
