// A closed grammar: what can be matched at all, what can be empty, and no left recursion.
//
// Closing a grammar marks unproductive nodes (a viable prefix can then always be finished) and
// nullable ones, rewrites left recursion of all three kinds (direct, indirect, hidden behind
// nullable parts), and numbers the rules so that a rule comes before those it can start with.
#pragma once

#include <functional>
#include <vector>

#include "arena.h"
#include "recorded.h"

namespace guided {

// True if a regular node surely matches finitely many texts.
bool is_finite(const Arena& arena, uint32_t node);

class ClosedGrammar {
  public:
    // What is asked about regular nodes and tokens, which others can match.
    struct Oracle {
        // A product of regular nodes, or a token node, matches nothing.
        std::function<bool(const Arena&, uint32_t)> is_void;
        // Up to `most` JSON values that a regular node spells and that are `wanted` (recorded.h).
        std::function<std::vector<std::string>(const Arena&, uint32_t node, size_t most,
                                               const WantedValue& wanted)>
            values;
    };
    // Throws BadGrammar.
    ClosedGrammar(Arena arena, uint32_t start, const Oracle& oracle);

    const Arena& arena() const { return arena_; }
    uint32_t start() const { return start_; }
    std::span<const uint8_t> nullable() const { return nullable_; }
    std::span<const uint8_t> productive() const { return productive_; }
    std::span<const uint32_t> order() const { return order_; }
    uint64_t serial() const { return serial_; }  // no other grammar of the process has it

  private:
    void reach();
    template <class Holds>
    void fixpoint(std::vector<uint8_t>& marks, Holds&& holds);
    void mark(const Oracle& oracle);
    bool is_possible(uint32_t record, const std::vector<uint8_t>& productive, const Oracle& oracle);
    std::vector<std::vector<uint32_t>> components();  // of rules by "can start with", callees first
    bool starts_with_itself(uint32_t rule) const;
    void left_corners(uint32_t rule, std::vector<uint32_t>& out);
    bool rewrite_left_recursion();
    void rewrite(const std::vector<uint32_t>& component);

    struct Split {  // nonempty matches: those that start with a rule of the component, and the rest
        uint32_t rest;
        std::vector<std::pair<uint32_t, uint32_t>> calls;  // rule, what follows it
    };
    Split split(uint32_t node, const std::vector<uint8_t>& in_component);
    bool nullable(uint32_t node);  // of nodes made while rewriting too

    Arena arena_;
    uint32_t start_;
    std::vector<uint32_t> reached_;  // nodes, in order of numbers
    std::vector<uint8_t> reached_mark_, nullable_, productive_;
    std::vector<uint32_t> order_;
    std::vector<std::vector<uint32_t>> corners_;  // by rule: the rules it can start with
    uint64_t serial_;
};

}  // namespace guided
