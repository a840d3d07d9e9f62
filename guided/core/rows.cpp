#include "rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace guided {

namespace {
constexpr size_t kLongList = 1024;  // tokens; a longer list is kept as a base
constexpr size_t kSweepEvery = 4096;
constexpr size_t kFewTokens = 16;  // as quickly sorted

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
        for (uint32_t t : tokens) {
            words_[t >> 5] |= 1u << (t & 31);
            touched_[t >> 11] |= uint64_t{1} << (t >> 5 & 63);
        }
        tokens.clear();
        for (uint32_t i = 0; i < touched_.size(); ++i) {
            for (uint64_t now = touched_[i]; now; now &= now - 1) {
                uint32_t w = i * 64 + static_cast<uint32_t>(std::countr_zero(now));
                uint32_t bits = words_[w];
                words_[w] = 0;
                if (base) bits &= ~base->words[w];
                for (; bits; bits &= bits - 1)
                    tokens.push_back(w * 32 + static_cast<uint32_t>(std::countr_zero(bits)));
            }
            touched_[i] = 0;
        }
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
std::shared_ptr<const T> RowPool::Shelf<T>::find(uint64_t hash, Equal&& equal) {
    auto at = by_hash.find(hash);
    if (at == by_hash.end()) return nullptr;
    for (auto& weak : at->second)
        if (auto known = weak.lock(); known && equal(*known)) return known;
    return nullptr;
}

template <class T>
void RowPool::Shelf<T>::add(uint64_t hash, const std::shared_ptr<const T>& value) {
    by_hash[hash].push_back(value);
    if (++added % kSweepEvery == 0) sweep();
}

template <class T>
void RowPool::Shelf<T>::sweep() {
    for (auto at = by_hash.begin(); at != by_hash.end();) {
        std::erase_if(at->second, [](const auto& weak) { return weak.expired(); });
        at = at->second.empty() ? by_hash.erase(at) : std::next(at);
    }
}

RowPtr RowPool::row(BasePtr base, std::vector<uint32_t> tokens) {
    if (tokens.size() > kFewTokens) {
        static thread_local Sorter sorter;
        sorter.sort(tokens, base.get(), words_);
    } else {
        std::sort(tokens.begin(), tokens.end());
        tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
        if (base) std::erase_if(tokens, [&](uint32_t t) { return base->has(t); });
    }
    if (tokens.size() > kLongList) {
        BasePtr own = base_of(tokens);
        base = base ? unite({base, own}) : own;
        tokens.clear();
    }
    uint64_t hash = hash_words(tokens.data(), tokens.size(), base ? base->id : 0);
    std::lock_guard lock(mutex_);
    auto known =
        rows_.find(hash, [&](const Row& r) { return r.base == base && r.tokens == tokens; });
    if (known) return known;
    tokens.shrink_to_fit();
    auto made = std::make_shared<const Row>(Row{std::move(base), std::move(tokens), next_id_++});
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
    if (unions_.size() > kSweepEvery)
        std::erase_if(unions_, [](const auto& entry) { return entry.second.second.expired(); });
    latest_unions_[unions_made_++ % latest_unions_.size()] = united;
    unions_[hash] = {std::move(ids), united};
    return united;
}

size_t RowPool::size() {
    std::lock_guard lock(mutex_);
    size_t n = 0;
    for (auto& [hash, list] : rows_.by_hash)
        for (auto& weak : list) n += !weak.expired();
    return n;
}

size_t RowPool::bytes() {
    std::lock_guard lock(mutex_);
    size_t n = 0;
    for (auto& [hash, list] : rows_.by_hash)
        for (auto& weak : list)
            if (auto row = weak.lock()) n += sizeof(Row) + row->tokens.capacity() * 4;
    for (auto& [hash, list] : bases_.by_hash)
        for (auto& weak : list)
            if (auto base = weak.lock()) n += sizeof(Base) + base->words.size() * 4;
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
    return row(std::move(dense), std::move(listed));
}

}  // namespace guided
