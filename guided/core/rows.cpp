#include "rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace guided {

namespace {
constexpr size_t kLongList = 1024;    // tokens; a longer list is kept as a base
constexpr size_t kManyUnions = 4096;  // above, those not in use are dropped
constexpr size_t kFirstSlots = 64;    // of a shelf, a power of two
constexpr size_t kFewTokens = 16;     // as quickly sorted

// As hash_words, of a whole row: four ways at a time, as each waits for what it has multiplied.
uint64_t hash_row(const std::vector<uint32_t>& words) {
    uint64_t lanes[4] = {1, 2, 3, 4};
    size_t i = 0;
    for (; i + 8 <= words.size(); i += 8)
        for (size_t k = 0; k < 4; ++k) {
            uint64_t word;
            std::memcpy(&word, words.data() + i + 2 * k, 8);
            lanes[k] = (std::rotl(lanes[k], 27) ^ word) * 0x9fb21c651e98df25ULL;
        }
    uint64_t hash = hash_words(words.data() + i, words.size() - i);
    for (uint64_t lane : lanes) hash = combine(hash, lane);
    return hash;
}

// Sort by way of bits: a list of some hundred tokens touches few words of a row, and which these
// are is in bits as well.
class Sorter {
  public:
    // Sorted, each token once, without those of `base`.
    void sort(std::vector<uint32_t>& tokens, const Base* base, uint32_t words) {
        if (words_.size() < words) {
            words_.resize(words, 0);
            touched_.resize((words + 63) / 64, 0);
        }
        uint32_t* const bits_of = words_.data();
        uint64_t* const touched = touched_.data();
        for (uint32_t t : tokens) {
            bits_of[t >> 5] |= 1u << (t & 31);
            touched[t >> 11] |= uint64_t{1} << (t >> 5 & 63);
        }
        uint32_t* out = tokens.data();  // no more than there were
        for (uint32_t i = 0, n = static_cast<uint32_t>(touched_.size()); i < n; ++i) {
            for (uint64_t now = touched[i]; now; now &= now - 1) {
                uint32_t w = i * 64 + static_cast<uint32_t>(std::countr_zero(now));
                uint32_t bits = bits_of[w];
                bits_of[w] = 0;
                if (base) bits &= ~base->words[w];
                for (; bits; bits &= bits - 1)
                    *out++ = w * 32 + static_cast<uint32_t>(std::countr_zero(bits));
            }
            touched[i] = 0;
        }
        tokens.resize(static_cast<size_t>(out - tokens.data()));
    }

  private:
    std::vector<uint32_t> words_;    // all 0 between calls
    std::vector<uint64_t> touched_;  // by word
};

}  // namespace

bool Row::has(uint32_t token) const {
    return (base && base->has(token)) || std::binary_search(tokens.begin(), tokens.end(), token);
}

void Row::fill(uint32_t* words, uint32_t count) const {
    if (base) std::memcpy(words, base->words.data(), size_t{count} * 4);
    else std::memset(words, 0, size_t{count} * 4);
    for (uint32_t t : tokens) words[t >> 5] |= 1u << (t & 31);
}

uint32_t Row::count() const {
    uint32_t n = static_cast<uint32_t>(tokens.size());
    if (base)
        for (uint32_t w : base->words) n += std::popcount(w);
    return n;
}

std::vector<uint32_t> Row::list(size_t most) const {
    std::vector<uint32_t> all;
    size_t at = 0;
    auto listed_below = [&](uint32_t token) {
        while (at < tokens.size() && tokens[at] < token && all.size() < most)
            all.push_back(tokens[at++]);
    };
    for (uint32_t w = 0; base && w < base->words.size() && all.size() < most; ++w)
        for (uint32_t bits = base->words[w]; bits && all.size() < most; bits &= bits - 1) {
            uint32_t token = w * 32 + static_cast<uint32_t>(std::countr_zero(bits));
            listed_below(token);
            if (all.size() < most) all.push_back(token);
        }
    listed_below(kNone);
    return all;
}

template <class T>
template <class Equal>
std::shared_ptr<const T> RowPool::Shelf<T>::find(uint64_t hash, Equal&& equal) const {
    if (slots_.empty()) return nullptr;
    const size_t mask = slots_.size() - 1;
    hash = key(hash);
    for (size_t i = hash & mask; slots_[i].hash; i = (i + 1) & mask) {
        if (slots_[i].hash != hash) continue;
        if (auto known = slots_[i].value.lock(); known && equal(*known)) return known;
    }
    return nullptr;
}

template <class T>
void RowPool::Shelf<T>::add(uint64_t hash, const std::shared_ptr<const T>& value) {
    if ((filled_ + 1) * 2 > slots_.size()) grow();
    put({key(hash), value});
}

template <class T>
void RowPool::Shelf<T>::put(Slot slot) {
    const size_t mask = slots_.size() - 1;
    size_t i = slot.hash & mask;
    while (slots_[i].hash) i = (i + 1) & mask;
    slots_[i] = std::move(slot);
    ++filled_;
}

// Those no longer in use are dropped on the way.
template <class T>
void RowPool::Shelf<T>::grow() {
    std::vector<Slot> old;
    old.swap(slots_);
    std::erase_if(old, [](const Slot& slot) { return slot.value.expired(); });
    slots_.resize(std::max(kFirstSlots, std::bit_ceil((old.size() + 1) * 4)));
    filled_ = 0;
    for (Slot& slot : old) put(std::move(slot));
}

template <class T>
template <class F>
void RowPool::Shelf<T>::for_each(F&& f) const {
    for (const Slot& slot : slots_)
        if (auto value = slot.value.lock()) f(*value);
}

RowPtr RowPool::row(BasePtr base, std::vector<uint32_t>& tokens) {
    if (tokens.size() > kFewTokens) {
        static thread_local Sorter sorter;
        Sorter& of_thread = sorter;  // else its address is asked for at each token
        of_thread.sort(tokens, base.get(), words_);
    } else {
        std::sort(tokens.begin(), tokens.end());
        tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
        if (base) std::erase_if(tokens, [&](uint32_t t) { return base->has(t); });
    }
    if (tokens.size() > kLongList) {
        base = base ? unite({base}, tokens) : base_of(tokens);
        tokens.clear();
    }
    uint64_t hash = hash_words(tokens.data(), tokens.size(), base ? base->id : 0);
    std::lock_guard lock(mutex_);
    auto known =
        rows_.find(hash, [&](const Row& r) { return r.base == base && r.tokens == tokens; });
    if (known) return known;
    auto made = std::make_shared<const Row>(Row{std::move(base), tokens, next_id_++});
    rows_.add(hash, made);
    return made;
}

BasePtr RowPool::base(std::vector<uint32_t> words) {
    uint64_t hash = hash_row(words);
    std::lock_guard lock(mutex_);
    auto known = bases_.find(hash, [&](const Base& b) { return b.words == words; });
    if (known) return known;
    auto made = std::make_shared<const Base>(Base{std::move(words), next_id_++});
    bases_.add(hash, made);
    return made;
}

BasePtr RowPool::base_of(std::span<const uint32_t> tokens) {
    std::vector<uint32_t> words(words_, 0);
    for (uint32_t t : tokens) words[t >> 5] |= 1u << (t & 31);
    return base(std::move(words));
}

BasePtr RowPool::unite(std::vector<BasePtr> bases) {
    std::sort(bases.begin(), bases.end(),
              [](const BasePtr& a, const BasePtr& b) { return a->id < b->id; });
    bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
    if (bases.size() == 1) return bases[0];
    std::vector<uint64_t> ids;
    uint64_t hash = 7;
    for (const auto& b : bases) ids.push_back(b->id), hash = combine(hash, b->id);
    {
        std::lock_guard lock(mutex_);
        auto at = unions_.find(hash);
        if (at != unions_.end() && at->second.first == ids)
            if (auto known = at->second.second.lock()) return known;
    }
    std::vector<uint32_t> words = bases[0]->words;
    for (size_t i = 1; i < bases.size(); ++i)
        for (uint32_t w = 0; w < words_; ++w) words[w] |= bases[i]->words[w];
    BasePtr united = base(std::move(words));
    std::lock_guard lock(mutex_);
    if (unions_.size() > kManyUnions)
        std::erase_if(unions_, [](const auto& entry) { return entry.second.second.expired(); });
    latest_unions_[unions_made_++ % latest_unions_.size()] = united;
    unions_[hash] = {std::move(ids), united};
    return united;
}

BasePtr RowPool::unite(std::vector<BasePtr> bases, std::span<const uint32_t> tokens) {
    if (bases.empty()) return base_of(tokens);
    BasePtr united = unite(std::move(bases));
    if (std::all_of(tokens.begin(), tokens.end(), [&](uint32_t t) { return united->has(t); }))
        return united;
    std::vector<uint32_t> words = united->words;
    for (uint32_t t : tokens) words[t >> 5] |= 1u << (t & 31);
    return base(std::move(words));
}

size_t RowPool::size() {
    std::lock_guard lock(mutex_);
    size_t n = 0;
    rows_.for_each([&](const Row&) { ++n; });
    return n;
}

size_t RowPool::bytes() {
    std::lock_guard lock(mutex_);
    size_t n = 0;
    rows_.for_each([&](const Row& r) { n += sizeof(Row) + r.tokens.capacity() * 4; });
    bases_.for_each([&](const Base& b) { n += sizeof(Base) + b.words.size() * 4; });
    return n;
}

RowPtr RowPool::without(const Row& from, std::span<const uint32_t> tokens) {
    std::vector<uint32_t> listed;
    std::set_difference(from.tokens.begin(), from.tokens.end(), tokens.begin(), tokens.end(),
                        std::back_inserter(listed));
    BasePtr dense = from.base;
    if (dense &&
        std::any_of(tokens.begin(), tokens.end(), [&](uint32_t t) { return dense->has(t); })) {
        std::vector<uint32_t> words = dense->words;
        for (uint32_t t : tokens) words[t >> 5] &= ~(1u << (t & 31));
        dense = base(std::move(words));
    }
    return row(std::move(dense), listed);
}

}  // namespace guided
