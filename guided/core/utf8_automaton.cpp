#include "utf8_automaton.h"

#include <algorithm>

#include "utf8.h"

namespace guided {

// Cut a range of code points where the length of the encoding changes and where a continuation byte
// does not run over all of 80..BF; what remains is a product of byte ranges (the method of RE2 and
// of Rust's utf8-ranges).
void Utf8Automaton::split(uint32_t low, uint32_t high, std::vector<Sequence>& out) {
    for (uint32_t last : {0x7fu, 0x7ffu, 0xffffu}) {
        if (low <= last && last < high) {
            split(low, last, out);
            split(last + 1, high, out);
            return;
        }
    }
    for (int bits : {6, 12, 18}) {
        uint32_t mask = (1u << bits) - 1;
        if (high < 0x80 || (low & ~mask) == (high & ~mask)) continue;
        if (low & mask) {
            split(low, low | mask, out);
            split((low | mask) + 1, high, out);
            return;
        }
        if ((high & mask) != mask) {
            split(low, (high & ~mask) - 1, out);
            split(high & ~mask, high, out);
            return;
        }
    }
    std::string first = encode_utf8(low), last = encode_utf8(high);
    Sequence s{static_cast<uint8_t>(first.size()), {}, {}};
    for (size_t i = 0; i < first.size(); ++i) {
        s.low[i] = static_cast<uint8_t>(first[i]);
        s.high[i] = static_cast<uint8_t>(last[i]);
    }
    out.push_back(s);
}

uint32_t Utf8Automaton::intern(std::vector<Edge> edges) {
    std::vector<uint32_t> key;
    for (const Edge& e : edges) {
        key.push_back(uint32_t{e.low} << 8 | e.high);
        key.push_back(e.target);
    }
    auto [at, fresh] = known_.try_emplace(std::move(key), static_cast<uint32_t>(states_.size()));
    if (fresh) states_.push_back(std::move(edges));
    return at->second;
}

// Sequences come in order of code points, so those that share a byte at `depth` stand together.
uint32_t Utf8Automaton::build(std::span<const Sequence> sequences, int depth) {
    if (depth > 3) return kDone;  // no character is longer
    std::vector<Edge> edges;
    for (size_t i = 0; i < sequences.size();) {
        const Sequence& s = sequences[i];
        size_t end = i + 1;
        while (end < sequences.size() && sequences[end].low[depth] == s.low[depth] &&
               sequences[end].high[depth] == s.high[depth])
            ++end;
        uint32_t target =
            depth + 1 >= s.length ? kDone : build(sequences.subspan(i, end - i), depth + 1);
        if (!edges.empty() && edges.back().target == target &&
            edges.back().high + 1 == s.low[depth])
            edges.back().high = s.high[depth];
        else edges.push_back({s.low[depth], s.high[depth], target});
        i = end;
    }
    return intern(std::move(edges));
}

const AnyCharacter& AnyCharacter::instance() {
    static const AnyCharacter made = [] {
        AnyCharacter any;
        const CodeRange all[] = {{0, 0xd7ff}, {0xe000, 0x10ffff}};  // surrogates are no characters
        any.start = any.automaton.start(all);
        return any;
    }();
    return made;
}

uint32_t Utf8Automaton::start(std::span<const CodeRange> ranges) {
    std::vector<Sequence> sequences;
    for (auto [low, high] : ranges) split(low, high, sequences);
    return build(sequences, 0);
}

}  // namespace guided
