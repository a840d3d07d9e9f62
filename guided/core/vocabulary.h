// The tokens of a model: what each spells, their trie, and what all grammars share about them.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "arena.h"
#include "remainders.h"
#include "rows.h"
#include "terminals.h"
#include "trie.h"

namespace guided {

// What tokens do from some heads inside a part (arena.h) on, whatever follows the part: found by a
// Machine, shared by all grammars.
struct Fragment {
    std::mutex mutex;
    bool known = false, unfit = false;
    std::vector<uint32_t>
        tokens;  // that stay inside, or end with the part: few are listed, many are a row
    BasePtr row;
    Remainders exits;
};

class Vocabulary {
  public:
    // `tokens`: bytes of each token, nullopt where a token spells nothing. Throws
    // std::invalid_argument.
    Vocabulary(const std::vector<std::optional<std::string_view>>& tokens,
               std::vector<uint32_t> eos, uint32_t size);

    uint32_t size() const { return size_; }  // V, the width of the logits
    uint32_t count() const {
        return static_cast<uint32_t>(starts_.size() - 1);
    }  // tokens, at most V
    uint32_t words() const { return (size_ + 31) / 32; }
    const std::vector<uint32_t>& eos() const { return eos_; }
    bool is_eos(uint32_t token) const;
    bool spells(uint32_t token) const {
        return token < count() && starts_[token + 1] > starts_[token];
    }
    std::string_view bytes(uint32_t token) const {
        return std::string_view(bytes_).substr(starts_[token], starts_[token + 1] - starts_[token]);
    }
    const Hash128& fingerprint() const { return fingerprint_; }
    const Trie& trie() const { return trie_; }
    // The same in parts, which are the children of the root: tokens of letters and digits, of other
    // characters that mean themselves in a JSON string, and the rest. Where the larger parts stay
    // inside a terminal as they are, only the rest need be walked.
    const Trie& parts() const { return parts_; }
    RowPool& rows() { return rows_; }
    // W words: the tokens that spell something.
    const std::vector<uint32_t>& spelling() const { return spelling_; }
    size_t longest() const { return longest_; }  // bytes that a token spells
    // Characters that begin within the token.
    uint32_t characters(uint32_t token) const { return characters_[token]; }
    // W words: the tokens that spell something and begin at most `count` characters.
    std::span<const uint32_t> within(uint32_t count);

    // The terminal of a regular node, shared by all grammars over this vocabulary.
    std::shared_ptr<Terminal> terminal(const Arena& arena, uint32_t node);

    // Null for a key that is asked for the first time: it may not come again.
    std::shared_ptr<Fragment> fragment(const Hash128& key);

    size_t terminal_count();
    size_t terminal_bytes();

  private:
    void make_parts();
    struct Kept {
        std::shared_ptr<Terminal> terminal;
        std::list<Hash128>::iterator age;
    };
    void evict();

    std::string bytes_;
    std::vector<uint32_t> starts_;
    std::vector<uint32_t> eos_;
    uint32_t size_;
    Hash128 fingerprint_;
    Trie trie_, parts_;
    std::vector<uint32_t> spelling_;
    std::vector<uint16_t> characters_;     // by token
    std::vector<uint32_t> by_characters_;  // the tokens that spell something, the longest first
    size_t longest_ = 0;
    RowPool rows_;

    std::mutex mutex_;
    std::unordered_map<Hash128, Kept, Hash128Hasher> terminals_;
    std::list<Hash128> ages_;  // least recently asked for first
    uint32_t asked_ = 0;
    HashMap fragment_numbers_;
    std::vector<std::shared_ptr<Fragment>> fragments_;                  // null: asked for once
    std::vector<std::unique_ptr<const std::vector<uint32_t>>> within_;  // by count
};

}  // namespace guided
