// Which subtrees of a trie stay inside a terminal whatever they spell.
//
// Nearly all tokens are plain words, and in most terminals a plain word may stand in many places.
// So for a state the bytes are found of which any sequence stays inside; a subtree that has no
// others, as its summary tells, need not be walked.
#pragma once

#include <unordered_map>
#include <vector>

#include "steps.h"
#include "trie.h"

namespace guided {

class SafeBytes {
  public:
    explicit SafeBytes(Steps& steps) : steps_(steps) {}

    // Nothing below can die from a state on (by its number), so nothing leaves there either, but on
    // bytes that could as well go on.
    bool is_safe(uint32_t number, const Trie::Summary& below);

    // Each character that is safe from a state on is one repetition, and nothing else begins one.
    bool repeats_characters(uint32_t number);

  private:
    struct Safe {  // bytes of which any sequence, from a state on, stays inside
        uint64_t ascii[2] = {0, 0};
        uint32_t length = kNone;       // of a sequence, at most; kNone: any
        std::vector<uint32_t> states;  // all that such sequences lead to, by their numbers
        uint64_t leads = 0;            // bytes that begin characters beyond ASCII, safe too
        bool known = false, knows_leads = false;
        bool has(uint8_t b) const { return ascii[b >> 6] >> (b & 63) & 1; }
    };

    class Seen {  // numbers met in one search
      public:
        void begin() { ++stamp_; }
        bool has(uint32_t number) const {
            return number < stamps_.size() && stamps_[number] == stamp_;
        }
        void add(uint32_t number) {
            if (number >= stamps_.size()) stamps_.resize(number + number / 2 + 64, 0);
            stamps_[number] = stamp_;
        }

      private:
        uint32_t stamp_ = 0;
        std::vector<uint32_t> stamps_;
    };

    bool takes_safely(uint32_t number, const Trie::Summary& below);
    void find_safe(uint32_t number, Safe& safe);
    bool follow(uint32_t number, std::vector<uint8_t>& bytes, Safe& safe);
    uint64_t find_leads(const Safe& safe);
    bool takes_all(uint32_t number, const Safe& safe) const;
    bool repeats_character(uint32_t start, uint32_t number, uint32_t utf8_state);
    bool character_ends(uint32_t number, uint32_t utf8_state, std::vector<uint32_t>& ends);

    Steps& steps_;
    Seen seen_;
    std::vector<Safe> safe_;  // by number
    // By number and UTF-8 state, where a character that has begun may end; empty: not safely.
    std::unordered_map<uint64_t, std::vector<uint32_t>> ends_;
};

}  // namespace guided
