// A terminal's states in one walk over many tokens: numbered as they are met, so that a step taken
// before is one load from a table that stays in the cache.
#pragma once

#include <unordered_map>
#include <vector>

#include "interning.h"
#include "terminals.h"

namespace guided {

class Steps {
  public:
    static constexpr uint32_t kDead = 0;

    // `run`: the terminal is the unit of a repeat, and where it completes it is in its start again.
    Steps(Terminal& terminal, bool run)
        : terminal_(terminal), run_(run), classes_(terminal.class_count()) {
        add(Terminal::kDead);
        start_ = number(Terminal::kStart);
    }

    uint32_t start() const { return start_; }
    uint32_t number(uint32_t state) {
        auto [at, fresh] = numbers_.try_emplace(state, static_cast<uint32_t>(states_.size()));
        if (fresh) add(state);
        return at->second;
    }
    uint32_t state(uint32_t number) const { return states_[number]; }
    uint32_t count() const { return static_cast<uint32_t>(states_.size()); }
    Terminal& terminal() const { return terminal_; }

    // One byte further; `ends`: the terminal completes there.
    uint32_t next(uint32_t number, uint8_t byte, bool& ends) {
        uint32_t step = steps_[number * classes_ + terminal_.byte_class(byte)];
        if (step == kNone) step = find(number, byte);
        ends = step & 1;
        return step >> 1;
    }

  private:
    void add(uint32_t state) {
        numbers_[state] = static_cast<uint32_t>(states_.size());
        states_.push_back(state);
        steps_.resize(states_.size() * classes_, kNone);
    }
    uint32_t find(uint32_t from, uint8_t byte) {
        uint32_t to = terminal_.next(states_[from], byte);
        bool ends = to != Terminal::kDead && terminal_.accepting(to);
        uint32_t step = number(run_ && ends ? Terminal::kStart : to) << 1 | uint32_t{ends};
        return steps_[from * classes_ + terminal_.byte_class(byte)] = step;
    }

    Terminal& terminal_;
    const bool run_;
    const size_t classes_;
    uint32_t start_;
    std::vector<uint32_t> states_;
    std::vector<uint32_t> steps_;  // by number and byte class: twice the target, 1 where it ends
    std::unordered_map<uint32_t, uint32_t> numbers_;
};

}  // namespace guided
