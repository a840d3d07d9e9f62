// What tokens do to states, as far as that is known.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "interning.h"

namespace guided {

// next[state, token], read without a lock while one writer adds.
class Transitions {
  public:
    Transitions() { grow(); }
    uint32_t find(uint32_t state, uint32_t token) const;  // kNone: not known
    void insert(uint32_t state, uint32_t token, uint32_t to);
    size_t size() const { return count_; }
    size_t bytes() const { return bytes_; }
    template <class F>
    void for_each(F&& f) const {
        const Table* t = current_.load(std::memory_order_acquire);
        for (size_t i = 0; i <= t->mask; ++i)
            if (uint64_t key = t->slots[i].key.load(std::memory_order_acquire))
                f(static_cast<uint32_t>(key >> 32) - 1, static_cast<uint32_t>(key),
                  t->slots[i].value.load());
    }

  private:
    struct Slot {
        std::atomic<uint64_t> key{0};
        std::atomic<uint32_t> value{0};
    };
    struct Table {
        size_t mask;
        std::unique_ptr<Slot[]> slots;
    };
    static uint64_t key_of(uint32_t state, uint32_t token) {
        return (uint64_t{state} + 1) << 32 | token;
    }
    void grow();
    std::atomic<Table*> current_{nullptr};
    std::vector<std::unique_ptr<Table>> all_;  // a reader may still be in an older one
    size_t count_ = 0, bytes_ = 0;
};

inline uint32_t Transitions::find(uint32_t state, uint32_t token) const {
    const Table* t = current_.load(std::memory_order_acquire);
    uint64_t key = key_of(state, token);
    for (size_t i = mix(key) & t->mask;; i = (i + 1) & t->mask) {
        uint64_t known = t->slots[i].key.load(std::memory_order_acquire);
        if (known == key) return t->slots[i].value.load(std::memory_order_relaxed);
        if (known == 0) return kNone;
    }
}

}  // namespace guided
