// Residual tables: what the tokens of a vocabulary do inside one state of a terminal.
//
// A token either stays inside (all of it continues the terminal) or leaves: some beginning of it
// completes the terminal and the remainder is for what follows. Both are found by a walk of the
// trie and kept, shared by all grammars and continuations:
// - the inside tokens as a row, and, where a run may be near its maximum, by the repetitions they
//   begin, so that "at most k more" is a row of its own;
// - exits: for each first byte of a remainder a small trie of remainders, made when a continuation
//   can start with that byte.
// The mask of a head is then its inside row and a walk of its exit tries by the continuation:
// hundreds of nodes, not 100,000.
//
// The walk itself passes over most of the trie: where no byte of a subtree can end what is matched
// (the inside of a string, on plain words), the whole subtree stays inside.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "remainders.h"
#include "rows.h"
#include "terminals.h"
#include "vocabulary.h"

namespace guided {

class Table {
  public:
    // kRun: the terminal is the unit of a repeat, and matching starts over where it completes.
    // kRecorded: tokens that end with the terminal, where that cannot go on, are `ending`, not
    // inside.
    // kLexeme: the same, and exits are only where no longer match can be.
    enum Mode : uint8_t { kPlain, kRun, kRecorded, kLexeme };

    Table(Terminal& terminal, Vocabulary& vocabulary, uint32_t trie_node, size_t depth,
          uint32_t state, Mode mode);

    struct Inside {  // few tokens are listed, many are a row
        std::span<const uint32_t> tokens;
        BasePtr row;
    };
    // The inside tokens that begin at most `limit` further repetitions.
    Inside inside(uint32_t limit);

    std::span<const uint32_t> ending() const { return ending_; }

    // kLexeme: tokens that end with the lexeme, by the state they lead to; and those that leave it
    // where a longer match may yet come, by their first byte behind it.
    struct Ending {
        uint32_t token, state;
    };
    struct Doubtful {
        uint32_t token;
        uint8_t byte;
        auto operator<=>(const Doubtful&) const = default;
    };
    std::span<const Ending> lexeme_ending() const { return lexeme_ending_; }
    std::span<const Doubtful> doubtful() const { return doubtful_; }
    bool has_many_exits() const { return !all_pure_exits_; }
    // Make the exit tries for these first bytes. False: one has too many exits, and the caller
    // walks the plain trie.
    bool prepare_exits(const ByteSet& first_bytes);
    // The remainders that begin with `byte` (items: token, repetitions completed before it); null
    // if none.
    const Trie* exits(uint8_t byte) const { return exits_[byte]; }

    size_t bytes() const {
        return sizeof(Table) + tokens_.capacity() * 4 + pure_exits_.capacity() * 8 +
               (full_ ? full_->words.size() * 4 : 0);
    }

  private:
    struct Exit {
        uint32_t node, completed;  // of the remainder's first byte; repetitions before it
    };
    struct Safe {  // bytes of which any sequence, from a state on, stays inside
        uint64_t ascii[2] = {0, 0};
        uint32_t length = kNone;       // of a sequence, at most; kNone: any
        std::vector<uint32_t> states;  // all that such sequences lead to
        int others = -1;               // characters beyond ASCII are safe too; -1: not asked yet
        bool has(uint8_t b) const { return ascii[b >> 6] >> (b & 63) & 1; }
    };

    uint32_t next(uint32_t state, uint8_t byte, bool& ends) const;
    void find_inside();
    void find_doubtful();
    void add_lexeme_exit(uint32_t node, uint32_t state);
    bool is_safe(uint32_t state, const Trie::Summary& below);
    bool takes_safely(uint32_t state, const Trie::Summary& below);
    void find_safe(uint32_t state, Safe& safe) const;
    bool follow(uint32_t state, std::vector<uint8_t>& bytes, Safe& safe) const;
    bool find_others(Safe& safe) const;
    bool takes_all(uint32_t state, const Safe& safe) const;
    bool character_ends(uint32_t state, uint32_t utf8_state, std::vector<uint32_t>& ends) const;
    void count_repetitions();
    uint32_t begun(uint32_t token) const;
    BasePtr row_within(uint32_t limit);
    void collect_exits(const ByteSet& first_bytes, std::vector<Exit>& out) const;

    Terminal& terminal_;
    Vocabulary& vocabulary_;
    const Trie& trie_;
    const uint32_t trie_node_;
    const size_t depth_;
    const uint32_t state_;
    const bool run_, recorded_, lexeme_;

    std::vector<uint32_t> tokens_;  // inside, where few; never changed once the table is made
    BasePtr full_;                  // null where few
    std::vector<uint32_t> ending_;
    std::vector<Ending> lexeme_ending_;
    std::vector<uint32_t> doubtful_nodes_;
    std::vector<Doubtful> doubtful_;
    std::vector<Exit> pure_exits_;  // at bytes that cannot go on inside
    bool all_pure_exits_ = true;    // false: they were too many to keep
    size_t lexeme_exits_ = 0;       // trie nodes below them

    std::mutex mutex_;
    std::vector<uint32_t> counted_;  // inside, by repetitions begun; made once, when asked for
    std::vector<uint32_t> up_to_;    // [k]: how many of them begin at most k; empty: not counted
    std::map<uint32_t, BasePtr> rows_by_limit_;
    std::unordered_map<uint32_t, Safe> safe_;  // while the table is made
    std::unordered_map<uint64_t, std::vector<uint32_t>>
        ends_;  // by state and UTF-8 state, likewise
    Remainders exits_;
};

}  // namespace guided
