// Terminals: regular nodes as lazy automata over bytes, each with its own small machine.
//
// A terminal depends on its node alone, so a vocabulary keeps it by structural hash and all
// grammars share what was found out about it: its states, and the residual tables of tables.h. Its
// states are sets of heads (machine.h) over six kinds of leaf: a literal with an offset, a
// character class with a UTF-8 state, an automaton given as such with its state, a host name with
// a state of its own (hostnames.h), and the product of two inner terminals, both or minus, with
// their two states. A product state from which no match can be completed is dead and is never
// entered.
//
// A terminal with host names in it is *vast*: what a mask looks at has states without end, so that
// is done in a copy of the terminal which is dropped thereafter.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "arena.h"
#include "hostnames.h"
#include "interning.h"
#include "machine.h"
#include "utf8_automaton.h"

namespace guided {

class Table;
class Vocabulary;

// Bounds the work on terminals that one question of a user may cost: in the scope of a Budget, the
// outermost of its thread, kWork heads may be advanced, some seconds.
class Budget {
  public:
    static constexpr int64_t kWork = 10'000'000;
    Budget() : before_(left_) {
        if (before_ < 0) left_ = kWork;
    }
    ~Budget() {
        if (before_ < 0) left_ = before_;
    }
    Budget(const Budget&) = delete;
    static void charge(size_t steps);  // throws LimitExceeded

  private:
    static thread_local int64_t left_;  // -1: no scope
    const int64_t before_;
};

class Terminal {
  public:
    static constexpr uint32_t kDead = 0, kStart = 1;

    Terminal(const Arena& from, uint32_t node);
    ~Terminal();

    // The state after `byte`; kDead if nothing goes on so. Any thread; may throw LimitExceeded.
    uint32_t next(uint32_t state, uint8_t byte) {
        uint32_t known = states_[state].next[class_of_[byte]].load(std::memory_order_acquire);
        return known != kNone ? known : find_next(state, class_of_[byte]);
    }
    bool accepting(uint32_t state) const { return states_[state].accepting; }
    bool goes_on(uint32_t state) const {
        return states_[state].goes_on;
    }  // some longer text matches too
    const ByteSet& allowed(uint32_t state);  // the bytes with a next state

    // Bytes of one class lead to the same state from everywhere.
    uint8_t byte_class(uint8_t byte) const { return class_of_[byte]; }
    size_t class_count() const { return representative_.size(); }
    uint8_t class_last(uint8_t byte) const {  // a class is a range of bytes: its last one
        size_t after = class_of_[byte] + size_t{1};
        return after < representative_.size() ? static_cast<uint8_t>(representative_[after] - 1)
                                              : 255;
    }

    bool may_take(uint8_t byte) const {
        return taken_.has(byte);
    }  // false: no state goes on with it

    // The texts that go on from `state` spell infinitely many JSON values, or more than will ever
    // be written. May answer false where that takes long to see.
    static constexpr double kPlenty = 1e6;
    bool endless(uint32_t state);
    bool endless_throughout();  // from all states but those where the text must end
    // The allowed bytes that lead where the text must end, or may be about to (not endless).
    const std::vector<uint8_t>& critical(uint32_t state);

    uint32_t distance(uint32_t state);  // bytes to the next match

    // Of a lexeme: what the text that must not match longer makes of `byte` behind a match.
    enum class Past { kFree, kOpen, kOver };  // it is out; may yet match; does
    Past past(uint32_t state, uint8_t byte);
    uint32_t longer_state(uint32_t state) const { return states_[state].longer; }
    Terminal* longer();  // null if this is no lexeme

    bool prefix_free();  // no match is the beginning of another one, and the empty text is none
    bool matches(std::string_view text);
    bool is_void();                    // matches nothing
    bool shortest(std::string& text);  // false if it is void

    // Some text, not empty, that leads to a match as far as host names say; false if they say
    // nothing.
    bool completion(uint32_t state, std::string& text);

    bool is_vast() const { return vast_; }
    // Where the state is within a host name: what it says.
    Hostnames::Safe safe(uint32_t state);
    // Of a vast terminal: a new one, and in `state` the state that is the same there.
    std::unique_ptr<Terminal> copy(uint32_t& state);
    // Vast, and its states are half used up: a new one is better asked for.
    bool is_worn() const;

    uint64_t serial() const { return serial_; }  // no other terminal of the process has it
    size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    uint32_t state_count() const { return states_.size(); }

    // The residual table of `state` below `trie_node` of the vocabulary's trie, `depth` bytes from
    // its root; `mode`: a Table::Mode.
    Table& table(Vocabulary& vocabulary, uint32_t trie_node, size_t depth, uint32_t state,
                 uint8_t mode);

  private:
    struct State {
        std::unique_ptr<std::atomic<uint32_t>[]> next;  // by byte class; kNone: not asked yet
        bool accepting = false, goes_on = false;
        uint32_t longer = kDead;  // of a lexeme: the state of what must not match longer
        std::atomic<bool> has_allowed{false};
        ByteSet allowed;
    };
    class Machine;
    struct Products;

    uint32_t find_next(uint32_t state, uint8_t byte_class);
    uint32_t intern(std::vector<Head>& heads, bool accepting, uint32_t longer);
    void step(const Head& head, uint8_t byte, std::vector<Head>& out, bool& accepting);
    void append_closure(uint32_t cont, std::vector<Head>& out, bool& accepting);
    void find_byte_classes();
    bool product_accepts(const Arena::Node& n, uint32_t a, uint32_t b);
    bool product_extends(uint32_t node, uint32_t a, uint32_t b);
    uint32_t search(uint32_t from, bool (*found)(const Terminal&, uint32_t), std::string* path);

    Hostnames hostnames(uint32_t node) const { return {arena_[node].a, arena_[node].b != 0}; }
    std::vector<Head> heads_of(uint32_t state) const;
    // What `f` says where the state is within a host name.
    template <class F>
    auto at_hostname(uint32_t state, F&& f);
    bool search_product(uint32_t node, uint32_t a, uint32_t b);
    bool tells_apart(uint32_t from, size_t byte_class);
    static uint64_t next_serial();

    const uint64_t serial_ = next_serial();
    Arena arena_;
    uint32_t root_;
    std::vector<uint8_t> nullable_, productive_;
    std::unique_ptr<Machine> machine_;
    Utf8Automaton utf8_;
    std::unordered_map<uint32_t, uint32_t> class_start_;                // by node
    std::unordered_map<uint32_t, std::vector<uint32_t>> dfa_offsets_;   // of states, by node
    std::unordered_map<uint32_t, std::unique_ptr<Terminal>> operands_;  // of products, by node
    std::unique_ptr<Products> products_;
    std::array<uint8_t, 256> class_of_{};
    std::vector<uint8_t> representative_;  // one byte of each class
    ByteSet taken_;                        // by a literal or class anywhere
    bool vast_ = false;

    std::mutex mutex_;  // guards all that follows, and the machine
    StableVector<State> states_;
    SequenceTable heads_;      // of states, by number
    SequenceTable hostnames_;  // states of host names; the first is their start
    std::vector<std::pair<uint32_t, uint8_t>> origins_;  // where vast: a state before, and the byte
    std::unordered_map<uint32_t, std::pair<std::vector<Head>, bool>> closure_memo_;
    std::vector<Head> from_, to_;  // work of one step
    std::vector<uint32_t> key_;
    std::atomic<int> prefix_free_{-1}, endless_throughout_{-1};
    std::unordered_map<uint32_t, bool> endless_;
    std::unordered_map<uint32_t, uint32_t> distances_;
    std::unordered_map<uint32_t, std::vector<uint8_t>> critical_;
    std::atomic<size_t> bytes_{0};

    std::mutex tables_mutex_;
    std::unordered_map<uint64_t, std::unique_ptr<Table>> tables_;
};

}  // namespace guided
