// Passages: what the tokens of a vocabulary do from some point of a lexeme on.
//
// A token that is read from there stays inside the lexeme, ends with it, or goes on behind it. What
// goes on is a remainder, which the lexemes that may follow read in their turn, so the passages of
// a scanner's lexemes make a tree: its edges are the lexemes that tokens spell, one after the
// other. The tree knows nothing of the parser's stack. It grows where a stack is the first to ask,
// and a mask is a walk of it that goes only where the stack takes the lexeme (passage_masks.cpp).
// Published as the subterminal trees of DOMINO (Beurer-Kellner, Fischer, Vechev: "Guiding LLMs The
// Right Way", 2024). Here a remainder carries the guard of the lexeme before it (automaton.h), so
// that the longest match is exact across lexemes, and equal remainders of different tokens are one.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "interning.h"
#include "rows.h"
#include "trie.h"

namespace guided {

// Few tokens are listed, many are rows, which are shared.
struct TokenSet {
    static constexpr size_t kMostListed = 512;  // as long to set one by one as to unite rows
    static constexpr size_t kMostRows = 4;

    std::vector<uint32_t> listed;
    std::vector<BasePtr> rows;

    TokenSet() = default;
    TokenSet(std::vector<uint32_t> tokens, RowPool& pool);
    void add(const TokenSet& other);
    void shrink(RowPool& pool);                      // to what is worth keeping
    void write(std::vector<uint32_t>& words) const;  // set the bits
    size_t bytes() const { return listed.capacity() * 4 + rows.capacity() * sizeof(BasePtr); }
};

// Remainders of tokens.
using Remains = Trie::Below;

// What a newline does to the column.
struct Indent {
    uint32_t packed = 0;
    bool breaks() const { return packed >> 31; }  // there is a line break, and behind it:
    uint32_t blanks() const { return packed & 0x7fff; }
    uint32_t tabs() const { return packed >> 15 & 0xffff; }
    Indent after(uint8_t byte) const {
        if (byte == '\n') return {1u << 31};
        if (byte == ' ') return {packed + (blanks() < 0x7fff)};
        if (byte == '\t') return {packed + (tabs() < 0xffff ? 1u << 15 : 0)};
        return *this;
    }
};

struct Passage {
    struct Ending {
        uint32_t guard, indent;  // behind the lexeme; `indent`: of a newline, packed
        TokenSet tokens;
    };
    struct Exit {
        uint32_t guard, indent;
        uint32_t remains;  // the number of a Remains
    };
    TokenSet inside;
    std::vector<Ending> endings;
    std::vector<Exit> exits;
};

// The remainders that occur, numbered. Those of many places become a trie of their own.
class RemainsTable {
  public:
    enum class Lines { kAll, kOne, kMore };  // those without a line break, with one

    explicit RemainsTable(const Trie& vocabulary);
    static constexpr uint32_t kTokens = 0;  // all tokens, whole

    Remains operator[](uint32_t number) const { return all_[number]; }
    // kNone if there are none.
    uint32_t number(const Remains& remains);
    uint32_t unite(std::span<const Remains> parts);
    // Of numbered ones; remembered.
    uint32_t unite(const std::vector<uint32_t>& numbers, Lines lines);
    size_t bytes() const { return bytes_; }

  private:
    uint32_t keep(std::unique_ptr<Trie> trie);
    static std::unique_ptr<Trie> select(std::span<const Remains> parts, bool with_break);
    std::vector<Remains> all_;
    std::vector<std::unique_ptr<Trie>> tries_;
    std::unordered_map<Hash128, uint32_t, Hash128Hasher> by_place_, by_content_;
    std::map<std::pair<Lines, std::vector<uint32_t>>, uint32_t> united_;
    size_t bytes_ = 0;
};

}  // namespace guided
