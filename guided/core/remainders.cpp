#include "remainders.h"

namespace guided {

ByteSet Remainders::missing(const ByteSet& bytes) const {
    ByteSet result;
    bytes.for_each([&](uint8_t b) {
        if (!prepared_.has(b)) result.add(b);
    });
    return result;
}

void Remainders::Collector::finish() {
    wanted_.for_each([&](uint8_t byte) {
        target_.prepared_.add(byte);
        if (sizes_[byte] > kMost) {
            target_.too_many_.add(byte);
            return;
        }
        if (found_[byte].empty()) return;
        std::vector<Trie::Entry> entries;
        entries.reserve(found_[byte].size());
        for (const Found& f : found_[byte])
            entries.push_back(
                {std::string_view(spelled_).substr(f.start, f.length), f.token, f.count});
        target_.tries_[byte] = std::make_unique<Trie>(std::move(entries));
    });
}

}  // namespace guided
