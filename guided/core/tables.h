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
// (the inside of a string, on plain words), the whole subtree stays inside (safe.h). From the root
// it goes through the parts of the vocabulary, so that nearly all tokens are one such subtree.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "remainders.h"
#include "rows.h"
#include "steps.h"
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
    struct Marks {  // tokens that a walk comes to
        static constexpr size_t kFew = 16;
        std::vector<uint32_t> words;
        std::vector<std::span<const Trie::Item>> many;  // larger subtrees, not among words yet
        size_t count = 0;
        explicit Marks(size_t size) : words(size, 0) {}
        void add(std::span<const Trie::Item> items);
        void set(std::span<const Trie::Item> items);
        void finish();
    };
    struct Within {  // few are listed, many are a row
        std::vector<uint32_t> tokens;
        BasePtr row;
    };

    // Where walks begin: the parts, or the node.
    template <class F>
    void for_each_part(F&& f) const;
    // A vast terminal is walked in a copy, from the state that is this one there.
    Terminal& walked(std::unique_ptr<Terminal>& copy, uint32_t& state) const;
    void find_inside();
    void keep_inside(Marks& inside, Marks& outside);
    void find_doubtful();
    void add_lexeme_exit(uint32_t node, uint32_t state);
    void count_repetitions();
    Within find_within(uint32_t limit);
    bool may_go_on(uint8_t byte) const;
    void collect_exits(const ByteSet& first_bytes, std::vector<Exit>& out) const;

    Terminal& terminal_;
    Vocabulary& vocabulary_;
    const Trie& trie_;  // where the node is the root, the one in parts
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
    std::vector<uint32_t> ends_in_;  // states where the terminal may end within a token
    std::vector<Exit> pure_exits_;   // at bytes that cannot go on inside
    bool all_pure_exits_ = true;     // false: they were too many to keep
    size_t lexeme_exits_ = 0;        // trie nodes below them

    std::mutex mutex_;
    struct Odd {
        uint32_t token, begun;
    };
    bool counted_ = false;
    uint32_t before_ = 0;   // characters that begin above the table
    std::vector<Odd> odd_;  // inside tokens that begin not as many repetitions as characters
    std::map<uint32_t, Within> within_;  // by limit
    Remainders exits_;
};

}  // namespace guided
