// Mask rows: which tokens are allowed, as bits to be written.
//
// A row is a dense base (shared: all tokens that stay inside a string, say) plus a short list of
// tokens, or the list alone. Both kinds are kept by content in one pool of the vocabulary, so that
// equal masks of different states and grammars are one row.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "interning.h"

namespace guided {

// Tokens of a partial result that are listed; more are a base, which is shared and never sorted.
inline constexpr size_t kListed = 24;

struct Base {  // W words, bit j of word w is token 32 w + j
    std::vector<uint32_t> words;
    uint64_t id;
    bool has(uint32_t token) const { return words[token >> 5] >> (token & 31) & 1; }
};
using BasePtr = std::shared_ptr<const Base>;

struct Row {
    BasePtr base;                  // may be null
    std::vector<uint32_t> tokens;  // sorted, none of them in the base
    uint64_t id;
    bool has(uint32_t token) const;
    void fill(uint32_t* words, uint32_t count) const;
    uint32_t count() const;                                    // allowed tokens
    std::vector<uint32_t> list(size_t most = SIZE_MAX) const;  // the smallest ones, sorted
};
using RowPtr = std::shared_ptr<const Row>;

// All rows of a vocabulary in use. Thread-safe.
class RowPool {
  public:
    explicit RowPool(uint32_t words) : words_(words) {}

    // `tokens` need not be sorted, and are afterwards; a long list becomes a base of its own.
    RowPtr row(BasePtr base, std::vector<uint32_t>& tokens);
    RowPtr row(BasePtr base) {
        std::vector<uint32_t> none;
        return row(std::move(base), none);
    }
    BasePtr base(std::vector<uint32_t> words);
    BasePtr base_of(std::span<const uint32_t> tokens);
    RowPtr without(const Row& row, std::span<const uint32_t> tokens);  // `tokens` are sorted
    BasePtr unite(std::vector<BasePtr> bases);  // remembered: the same few meet again and again
    BasePtr unite(std::vector<BasePtr> bases, std::span<const uint32_t> tokens);

    uint32_t words() const { return words_; }
    size_t size();   // rows alive
    size_t bytes();  // of rows and bases alive

  private:
    // By content, as long as they are in use. One stretch of memory, as each look-up is likely to
    // wait for it.
    template <class T>
    class Shelf {
      public:
        template <class Equal>
        std::shared_ptr<const T> find(uint64_t hash, Equal&& equal) const;
        void add(uint64_t hash, const std::shared_ptr<const T>& value);
        template <class F>
        void for_each(F&& f) const;  // those in use

      private:
        struct Slot {
            uint64_t hash = 0;  // 0: empty
            std::weak_ptr<const T> value;
        };
        static uint64_t key(uint64_t hash) { return hash ? hash : 1; }
        void put(Slot slot);
        void grow();
        std::vector<Slot> slots_;
        size_t filled_ = 0;
    };
    const uint32_t words_;
    std::mutex mutex_;
    Shelf<Row> rows_;
    Shelf<Base> bases_;
    std::unordered_map<uint64_t, std::pair<std::vector<uint64_t>, std::weak_ptr<const Base>>>
        unions_;
    std::array<BasePtr, 64> latest_unions_;  // kept alive: those of one schema come back in another
    size_t unions_made_ = 0;
    uint64_t next_id_ = 1;
};

}  // namespace guided
