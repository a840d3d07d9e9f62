// Residual tables: what the tokens of a vocabulary do inside one state of a terminal.
//
// A token either stays inside (all of it continues the terminal) or leaves: some beginning of it completes the terminal and the
// remainder is for what follows. Both are found by one walk of the trie and kept, shared by all grammars and continuations:
// - inside tokens, ordered by the repetitions they begin, so that "at most k more" is a prefix of the list and a row of its own;
// - exits: for each first byte of a remainder a small trie of remainders, made when a continuation can start with that byte.
// The mask of a head is then its inside row and a walk of its exit tries by the continuation: hundreds of nodes, not 100,000.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "rows.h"
#include "terminals.h"
#include "trie.h"

namespace guided {

class Table {
public:
    static constexpr size_t kShortList = 128;  // inside tokens that are listed rather than kept as a row

    Table(Terminal& terminal, const Trie& trie, uint32_t trie_node, uint32_t state, bool run, RowPool& rows);

    // The inside tokens that begin at most `limit` further repetitions.
    std::span<const uint32_t> inside(uint32_t limit) const;
    BasePtr inside_row(uint32_t limit);

    // Make the exit tries for these first bytes. False: one has too many exits, and the caller walks the plain trie.
    bool prepare_exits(const ByteSet& first_bytes);
    // The remainders that begin with `byte` (items: token, repetitions completed before it); null if none.
    const Trie* exits(uint8_t byte) const;

    size_t bytes() const { return bytes_; }

private:
    template <class Visit>
    void walk(Visit&& visit) const;
    template <class Visit>
    void each_exit(const ByteSet& first_bytes, Visit&& visit) const;

    Terminal& terminal_;
    const Trie& trie_;
    const uint32_t trie_node_, state_;
    const bool run_;
    RowPool& rows_;
    size_t bytes_ = sizeof(Table);
    std::vector<uint32_t> tokens_;  // inside, by repetitions begun
    std::vector<uint32_t> up_to_;   // [k]: how many of them begin at most k

    std::mutex mutex_;
    std::map<uint32_t, BasePtr> rows_by_size_;
    ByteSet prepared_;
    ByteSet too_many_;  // first bytes with so many exits that they are not kept
    std::array<std::unique_ptr<Trie>, 256> exits_;
};

}  // namespace guided
