// Sets of code points as automata over UTF-8 bytes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "arena.h"

namespace guided {

// One automaton for all classes of an arena: equal remainders are one state. State 0 is "done".
class Utf8Automaton {
  public:
    static constexpr uint32_t kDone = 0;

    struct Edge {
        uint8_t low, high;
        uint32_t target;
    };

    Utf8Automaton() { states_.emplace_back(); }

    // The state from which exactly the characters in `ranges` (sorted, disjoint) are matched.
    uint32_t start(std::span<const CodeRange> ranges);

    std::span<const Edge> edges(uint32_t state) const { return states_[state]; }

    // The state after `byte`; kNone if no character goes on so.
    uint32_t step(uint32_t state, uint8_t byte) const {
        for (const Edge& e : states_[state])
            if (byte <= e.high) return byte >= e.low ? e.target : kNone;
        return kNone;
    }

  private:
    struct Sequence {  // of byte ranges, one to four
        uint8_t length;
        uint8_t low[4], high[4];
    };
    static void split(uint32_t low, uint32_t high, std::vector<Sequence>& out);
    uint32_t build(std::span<const Sequence> sequences, int depth);
    uint32_t intern(std::vector<Edge> edges);

    std::vector<std::vector<Edge>> states_;
    std::map<std::vector<uint32_t>, uint32_t> known_;
};

// The automaton of any one character.
struct AnyCharacter {
    Utf8Automaton automaton;
    uint32_t start;
    static const AnyCharacter& instance();
};

}  // namespace guided
