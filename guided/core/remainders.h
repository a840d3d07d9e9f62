// Remainders of tokens, behind the place where something has been matched: kept as tries by their
// first byte.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "interning.h"
#include "trie.h"

namespace guided {

class Remainders {
  public:
    // Which of `bytes` were not asked for before.
    ByteSet missing(const ByteSet& bytes) const;
    // One of `bytes` has more remainders than are kept.
    bool overflows(const ByteSet& bytes) const { return !(too_many_ & bytes).empty(); }
    // The remainders that begin with `byte`; null if there are none.
    const Trie* operator[](uint8_t byte) const { return tries_[byte].get(); }

    // Collects what was missing, then makes it known with `finish`.
    class Collector {
      public:
        Collector(Remainders& target, const ByteSet& wanted) : target_(target), wanted_(wanted) {}
        const ByteSet& wanted() const { return wanted_; }
        // Whatever stands at and below `node`, whose own byte is the first of the remainder, with
        // `count` for each item of it. `count_of(item)`: the number to keep with it, kNone to leave
        // it out.
        template <class CountOf>
        void add_below(const Trie& trie, uint32_t node, CountOf&& count_of);
        void finish();
        // There are too many altogether: none of what was wanted is kept.
        void give_up() { target_.prepared_ |= wanted_, target_.too_many_ |= wanted_; }

      private:
        struct Found {
            size_t start, length;
            uint32_t token, count;
        };
        struct Below {
            uint32_t node;
            size_t start, length;  // of the bytes since the exit, in spelled_
        };
        Remainders& target_;
        const ByteSet wanted_;
        std::string spelled_;
        std::array<std::vector<Found>, 256> found_;
        std::array<size_t, 256> sizes_{};
        std::vector<Below> stack_;
    };

  private:
    // Trie nodes below all exits with one first byte. Above, such a byte both continues what is
    // matched and follows it, nearly everywhere: the plain trie is walked then.
    static constexpr size_t kMost = 200'000;

    ByteSet prepared_, too_many_;
    std::array<std::unique_ptr<Trie>, 256> tries_;
};

template <class CountOf>
void Remainders::Collector::add_below(const Trie& trie, uint32_t node, CountOf&& count_of) {
    uint8_t first = trie[node].byte;
    if (!wanted_.has(first) || sizes_[first] > kMost) return;
    sizes_[first] += trie[node].subtree;
    if (sizes_[first] > kMost) return;
    stack_.push_back({node, spelled_.size(), 1});
    spelled_.push_back(static_cast<char>(first));
    while (!stack_.empty()) {
        Below b = stack_.back();
        stack_.pop_back();
        const Trie::Node& n = trie[b.node];
        for (auto item : trie.items(n))
            if (uint32_t count = count_of(item); count != kNone)
                found_[first].push_back({b.start, b.length, item.token, count});
        for (uint32_t k = n.first_child; k < n.first_child + n.child_count; ++k) {
            size_t start = spelled_.size();
            spelled_.append(spelled_, b.start, b.length);
            spelled_.push_back(static_cast<char>(trie[k].byte));
            stack_.push_back({k, start, b.length + 1});
        }
    }
}

}  // namespace guided
