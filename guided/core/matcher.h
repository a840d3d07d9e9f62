// One sequence under an automaton: a history of states. Rolling back truncates it, forking copies
// it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "automaton.h"

namespace guided {

// A tree of tokens that may follow: each after the token at `parents`, which comes before it, or
// after the text so far (-1).
struct Draft {
    std::vector<uint32_t> tokens;
    std::vector<int64_t> parents;  // as many
};

class Matcher {
  public:
    static constexpr int32_t kBytes = -1;  // in `tokens`: a piece that was given as bytes

    explicit Matcher(Automaton& automaton)
        : machine_(automaton.machine()), states_{machine_->start()} {}

    bool accept(uint32_t token);  // false, and nothing changed, if it is not allowed
    bool accept_bytes(std::string_view bytes);
    bool can_accept(uint32_t token) { return machine_->next(state(), token) != kNone; }
    size_t accepted_prefix(std::span<const uint32_t> tokens);
    std::vector<uint32_t> states_of(const Draft& draft);  // kNone for what is not allowed
    void rollback(int64_t count);                         // throws BadRollback

    const Row& row() { return machine_->row(state()); }
    bool knows_row() const { return machine_->knows_row(state()); }
    bool is_complete() const { return machine_->complete(state()); }
    bool is_terminated() const { return state() == Machine::kEnded; }
    ByteSet allowed_bytes() const { return machine_->first(state()); }
    std::string forced_bytes();

    uint32_t state() const { return states_.back(); }
    const std::vector<int32_t>& tokens() const { return tokens_; }
    Machine& machine() const { return *machine_; }

  private:
    std::shared_ptr<Machine> machine_;
    std::vector<uint32_t> states_;  // one more than tokens
    std::vector<int32_t> tokens_;
};

// Fill row b of `mask` from matchers[b] and, where there are drafts, after it the rows that follow
// the tokens of drafts[b], 0 where such a token is not allowed; in up to `threads` threads (0: as
// many as are worth it). Different matchers, please: each is used by one thread.
// With `only_known` nothing happens, and the answer is false, if a row would have to be made.
bool fill_masks(std::span<Matcher* const> matchers, std::span<const Draft> drafts, uint32_t* mask,
                size_t stride, int threads, bool only_known = false);

}  // namespace guided
