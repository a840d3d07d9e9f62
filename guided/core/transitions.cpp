#include "transitions.h"

namespace guided {

void Transitions::grow() {
    const Table* old = current_.load(std::memory_order_relaxed);
    size_t size = old ? (old->mask + 1) * 2 : 64;
    auto made = std::make_unique<Table>(Table{size - 1, std::make_unique<Slot[]>(size)});
    bytes_ += size * sizeof(Slot);
    for (size_t i = 0; old && i <= old->mask; ++i) {
        uint64_t key = old->slots[i].key.load(std::memory_order_relaxed);
        if (!key) continue;
        size_t k = mix(key) & made->mask;
        while (made->slots[k].key.load(std::memory_order_relaxed)) k = (k + 1) & made->mask;
        made->slots[k].value.store(old->slots[i].value.load(std::memory_order_relaxed),
                                   std::memory_order_relaxed);
        made->slots[k].key.store(key, std::memory_order_relaxed);
    }
    current_.store(made.get(), std::memory_order_release);
    all_.push_back(std::move(made));
}

void Transitions::insert(uint32_t state, uint32_t token, uint32_t to) {
    if ((count_ + 1) * 2 > current_.load(std::memory_order_relaxed)->mask) grow();
    Table* t = current_.load(std::memory_order_relaxed);
    uint64_t key = key_of(state, token);
    size_t i = mix(key) & t->mask;
    while (uint64_t known = t->slots[i].key.load(std::memory_order_relaxed)) {
        if (known == key) return;
        i = (i + 1) & t->mask;
    }
    t->slots[i].value.store(to, std::memory_order_relaxed);
    t->slots[i].key.store(key, std::memory_order_release);
    ++count_;
}

}  // namespace guided
