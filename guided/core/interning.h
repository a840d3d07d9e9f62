// Small building blocks of the core: hashes, byte sets, a table that numbers equal sequences
// equally, and a vector whose elements never move (so that other threads may read while it grows).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace guided {

inline constexpr uint32_t kNone = 0xffffffffu;

// Ask for memory that is read soon: walks of large tables mostly wait for it.
inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
}

inline uint64_t mix(uint64_t h) {  // the finalizer of MurmurHash3
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ULL;
    h ^= h >> 33;
    return h;
}

inline uint64_t combine(uint64_t seed, uint64_t value) {
    return mix(seed * 0x9e3779b97f4a7c15ULL + value);
}

inline uint64_t hash_words(const uint32_t* data, size_t count,
                           uint64_t seed = 0x2545f4914f6cdd1dULL) {
    uint64_t h = seed ^ (count * 0x9e3779b97f4a7c15ULL);
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        uint64_t word;
        std::memcpy(&word, data + i, 8);
        h = (std::rotl(h, 27) ^ word) * 0x9fb21c651e98df25ULL;
    }
    if (i < count) h = (std::rotl(h, 27) ^ data[i]) * 0x9fb21c651e98df25ULL;
    return mix(h);
}

// A 128-bit structural hash: the same text of a grammar in two arenas, the same hash.
struct Hash128 {
    uint64_t low = 0, high = 0;
    bool operator==(const Hash128&) const = default;
};

struct Hash128Hasher {
    size_t operator()(const Hash128& h) const { return h.low; }
};

inline Hash128 combine(Hash128 seed, Hash128 value) {
    return {combine(seed.low, value.low), combine(seed.high ^ 0xa5a5a5a5a5a5a5a5ULL, value.high)};
}
inline Hash128 combine(Hash128 seed, uint64_t value) {
    return combine(seed, Hash128{value, value ^ 0x5851f42d4c957f2dULL});
}

inline Hash128 hash_bytes(std::string_view bytes) {
    Hash128 h{0x243f6a8885a308d3ULL, 0x13198a2e03707344ULL};
    for (size_t i = 0; i < bytes.size(); i += 8) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, std::min<size_t>(8, bytes.size() - i));
        h = combine(h, word);
    }
    return combine(h, bytes.size());
}

class ByteSet {
  public:
    bool has(uint8_t b) const { return words_[b >> 6] >> (b & 63) & 1; }
    void add(uint8_t b) { words_[b >> 6] |= uint64_t{1} << (b & 63); }
    void add_range(unsigned low, unsigned high) {
        for (unsigned b = low; b <= high; ++b) add(static_cast<uint8_t>(b));
    }
    void remove(uint8_t b) { words_[b >> 6] &= ~(uint64_t{1} << (b & 63)); }
    uint64_t word(size_t i) const { return words_[i]; }  // of the bytes from 64 * i on
    bool empty() const { return !(words_[0] | words_[1] | words_[2] | words_[3]); }
    int count() const {
        int n = 0;
        for (uint64_t w : words_) n += std::popcount(w);
        return n;
    }
    int ascii_count() const { return std::popcount(words_[0]) + std::popcount(words_[1]); }
    ByteSet& operator|=(const ByteSet& o) {
        for (int i = 0; i < 4; ++i) words_[i] |= o.words_[i];
        return *this;
    }
    ByteSet operator&(const ByteSet& o) const {
        ByteSet r;
        for (int i = 0; i < 4; ++i) r.words_[i] = words_[i] & o.words_[i];
        return r;
    }
    bool operator==(const ByteSet&) const = default;
    template <class F>
    void for_each(F&& f) const {
        for (int i = 0; i < 4; ++i)
            for (uint64_t w = words_[i]; w; w &= w - 1)
                f(static_cast<uint8_t>(i * 64 + std::countr_zero(w)));
    }

  private:
    std::array<uint64_t, 4> words_{};
};

// Numbers sequences of words: equal sequences, equal numbers, from 0 up.
class SequenceTable {
  public:
    uint32_t intern(const uint32_t* data, size_t count) {
        if ((starts_.size() + 1) * 2 > slots_.size()) grow();
        uint64_t h = hash_words(data, count);
        size_t mask = slots_.size() - 1;
        for (size_t i = h & mask;; i = (i + 1) & mask) {
            uint32_t id = slots_[i];
            if (id == kNone) {
                id = static_cast<uint32_t>(starts_.size());
                slots_[i] = id;
                hashes_.push_back(h);
                starts_.push_back(pool_.size());
                pool_.insert(pool_.end(), data, data + count);
                return id;
            }
            if (hashes_[id] == h) {
                auto known = (*this)[id];
                if (known.size() == count &&
                    (count == 0 || !std::memcmp(known.data(), data, count * 4)))
                    return id;
            }
        }
    }
    std::span<const uint32_t> operator[](uint32_t id) const {
        size_t start = starts_[id];
        size_t end = id + 1 < starts_.size() ? starts_[id + 1] : pool_.size();
        return {pool_.data() + start, end - start};
    }
    uint32_t size() const { return static_cast<uint32_t>(starts_.size()); }
    size_t bytes() const {
        return pool_.capacity() * 4 + starts_.capacity() * 16 + slots_.capacity() * 4;
    }

  private:
    void grow() {
        slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, kNone);
        size_t mask = slots_.size() - 1;
        for (uint32_t id = 0; id < starts_.size(); ++id) {
            size_t i = hashes_[id] & mask;
            while (slots_[i] != kNone) i = (i + 1) & mask;
            slots_[i] = id;
        }
    }
    std::vector<uint32_t> pool_, slots_;
    std::vector<size_t> starts_;
    std::vector<uint64_t> hashes_;
};

// A map from a structural hash to a 32-bit value, for one thread (or under a lock).
class HashMap {
  public:
    uint32_t find(const Hash128& key) const {
        if (slots_.empty()) return kNone;
        size_t mask = slots_.size() - 1;
        for (size_t i = key.low & mask; slots_[i].value != kNone; i = (i + 1) & mask)
            if (slots_[i].key == key) return slots_[i].value;
        return kNone;
    }
    void insert(const Hash128& key, uint32_t value) {
        if ((count_ + 1) * 2 > slots_.size()) grow();
        put(key, value);
        ++count_;
    }
    void clear() {
        slots_.clear();
        count_ = 0;
    }
    size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

  private:
    struct Slot {
        Hash128 key;
        uint32_t value = kNone;
    };
    void put(const Hash128& key, uint32_t value) {
        size_t mask = slots_.size() - 1;
        size_t i = key.low & mask;
        while (slots_[i].value != kNone) i = (i + 1) & mask;
        slots_[i] = {key, value};
    }
    void grow() {
        std::vector<Slot> old(slots_.empty() ? 32 : slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& s : old)
            if (s.value != kNone) put(s.key, s.value);
    }
    std::vector<Slot> slots_;
    size_t count_ = 0;
};

// Borrows the memory of a list, or of what is cleared as one, while in scope. Who asks for it
// meanwhile begins with none.
template <class T>
class Borrowed {
  public:
    explicit Borrowed(T& owner) : owner_(owner), own_(std::move(owner)) { own_.clear(); }
    Borrowed(const Borrowed&) = delete;
    ~Borrowed() { owner_ = std::move(own_); }
    T& operator*() { return own_; }
    T* operator->() { return &own_; }

  private:
    T& owner_;
    T own_;
};

// Elements stay where they are while the vector grows. One writer at a time (a lock of the owner);
// a reader needs no lock for an index that it was handed after the element was made.
template <class T>
class StableVector {
  public:
    StableVector() = default;
    StableVector(const StableVector&) = delete;
    StableVector& operator=(const StableVector&) = delete;
    ~StableVector() {
        for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
    }
    T& operator[](uint32_t i) const {
        uint32_t shifted = i + kFirst;
        int chunk = std::bit_width(shifted) - 1 - kFirstBits;
        return chunks_[chunk].load(std::memory_order_acquire)[shifted - (kFirst << chunk)];
    }
    T& emplace_back() {
        uint32_t index = size();
        uint32_t shifted = index + kFirst;
        int chunk = std::bit_width(shifted) - 1 - kFirstBits;
        if (!chunks_[chunk].load(std::memory_order_relaxed))
            chunks_[chunk].store(new T[size_t{kFirst} << chunk](), std::memory_order_release);
        size_.store(index + 1, std::memory_order_release);
        return (*this)[index];
    }
    uint32_t size() const { return size_.load(std::memory_order_acquire); }

  private:
    static constexpr int kFirstBits = 4;
    static constexpr uint32_t kFirst = 1u << kFirstBits;
    std::array<std::atomic<T*>, 28> chunks_{};
    std::atomic<uint32_t> size_{0};
};

}  // namespace guided
