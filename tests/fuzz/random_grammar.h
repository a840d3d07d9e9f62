// Random grammars, vocabularies and choices for the fuzz programs, the same for the same seed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arena.h"
#include "vocabulary.h"

namespace fuzz {

class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() {  // splitmix64
        uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    uint32_t below(uint32_t bound) { return static_cast<uint32_t>(next() % bound); }
    bool one_in(uint32_t n) { return below(n) == 0; }
    template <class T>
    const T& pick(const std::vector<T>& from) {
        return from[below(static_cast<uint32_t>(from.size()))];
    }

  private:
    uint64_t state_;
};

inline const std::vector<std::string>& pieces() {
    static const std::vector<std::string> all = {
        "a",  "b",    "c",    "ab",       "ba",       "é",        "ê",   "€",
        "😀", "\xc3", "\xa9", "\xe2\x82", "\xf0\x9f", "\x98\x80", "\xff"};
    return all;
}

// Nodes of all kinds; later ones are made of earlier ones, and rules refer to any.
class GrammarMaker {
  public:
    GrammarMaker(guided::Arena& arena, Random& random, bool lexemes)
        : arena_(arena), random_(random), lexemes_(lexemes) {}

    uint32_t make() {
        uint32_t rule_count = random_.below(5);
        for (uint32_t i = 0; i < rule_count; ++i)
            nodes_.push_back(rules_.emplace_back(arena_.rule("r")));
        nodes_.push_back(guided::Arena::kEmptyNode);
        nodes_.push_back(literal());
        for (uint32_t i = 3 + random_.below(25); i > 0; --i) {
            uint32_t node = one();
            nodes_.push_back(node);
            if (arena_[node].regular) regular_.push_back(node);
        }
        for (uint32_t rule : rules_) {
            uint32_t options[] = {recent(), literal()};
            arena_.define(rule, random_.one_in(4) ? recent() : arena_.choice(options));
        }
        return rules_.empty() || random_.one_in(3) ? recent() : random_.pick(rules_);
    }

  private:
    uint32_t recent() {  // big ones more often
        uint32_t span = random_.one_in(2) ? 5 : static_cast<uint32_t>(nodes_.size());
        span = std::min(span, static_cast<uint32_t>(nodes_.size()));
        return nodes_[nodes_.size() - 1 - random_.below(span)];
    }
    uint32_t regular() { return regular_.empty() ? literal() : random_.pick(regular_); }
    uint32_t literal() {
        std::string text;
        for (uint32_t i = random_.below(4); i > 0; --i) text += random_.pick(pieces());
        return arena_.literal(text.empty() ? "a" : text);
    }
    uint32_t char_class() {
        std::vector<guided::CodeRange> ranges;
        const std::vector<uint32_t> edges = {0,      'a',    'b',     'c',     0x7f,   0x80,
                                             0xe9,   0xea,   0x7ff,   0x800,   0x20ac, 0xd7ff,
                                             0xe000, 0xffff, 0x1f600, 0x10ffff};
        for (uint32_t i = 1 + random_.below(3); i > 0; --i) {
            uint32_t low = random_.pick(edges), high = random_.pick(edges);
            ranges.push_back({std::min(low, high), std::max(low, high)});
        }
        return arena_.char_class(ranges);
    }
    uint32_t repeat(uint32_t body) {
        uint32_t minimum = random_.below(5);
        if (random_.one_in(2)) return arena_.repeat(body, minimum, guided::kNone);
        uint32_t extra = random_.one_in(8) ? 200 : random_.below(4);
        return arena_.repeat(body, minimum, minimum + extra);
    }
    uint32_t token() {
        std::vector<uint32_t> ids;
        for (uint32_t i = random_.below(4); i > 0; --i) ids.push_back(random_.below(12));
        return arena_.token(ids, random_.one_in(3));
    }
    std::vector<uint32_t> several() {
        std::vector<uint32_t> parts(random_.below(4));
        for (uint32_t& part : parts) part = recent();
        return parts;
    }
    uint32_t one() {
        switch (random_.below(lexemes_ ? 17 : 15)) {
            case 0:
            case 1: return literal();
            case 2: return char_class();
            case 3:
            case 4:
            case 5: return arena_.sequence(several());
            case 6:
            case 7: return arena_.choice(several());
            case 8:
            case 9: return repeat(random_.one_in(2) ? recent() : regular());
            case 10: return arena_.both(regular(), regular());
            case 11:
                return arena_.minus(random_.one_in(3) ? arena_.any_text() : regular(), regular());
            case 12:
                return random_.one_in(2) ? arena_.capture("c", recent()) : arena_.part(recent());
            case 13: return token();
            case 14: return random_.one_in(2) ? arena_.any_text() : wide_choice();
            default: {
                uint32_t body = regular();
                return arena_[body].nullable ? body : arena_.lexeme(body, regular());
            }
        }
    }
    uint32_t wide_choice() {
        std::vector<uint32_t> options;
        for (uint32_t i = 60 + random_.below(20); i > 0; --i) options.push_back(literal());
        return arena_.choice(options);
    }

    guided::Arena& arena_;
    Random& random_;
    const bool lexemes_;
    std::vector<uint32_t> nodes_, regular_, rules_;
};

// All single bytes or only those of the pieces, tokens of some pieces, duplicates, gaps, several
// end tokens.
inline std::shared_ptr<guided::Vocabulary> make_vocabulary(Random& random) {
    std::vector<std::string> texts(4);  // these spell nothing
    uint32_t longer = random.one_in(4) ? 600 : random.below(30);
    for (uint32_t i = 0; i < longer; ++i) {
        std::string text;
        for (uint32_t k = 1 + random.below(4); k > 0; --k) text += random.pick(pieces());
        texts.push_back(random.one_in(10) ? "" : text);
    }
    bool all_bytes = random.one_in(2);
    std::string used;
    for (const std::string& piece : pieces()) used += piece;
    for (int byte = 0; byte < 256; ++byte)
        if (all_bytes || used.find(static_cast<char>(byte)) != std::string::npos)
            texts.push_back(std::string(1, static_cast<char>(byte)));
    std::vector<std::optional<std::string_view>> tokens;
    for (const std::string& text : texts)
        tokens.push_back(text.empty() ? std::nullopt : std::optional<std::string_view>(text));
    std::vector<uint32_t> eos = {3};
    if (random.one_in(3)) eos.push_back(random.below(static_cast<uint32_t>(tokens.size())));
    auto size = static_cast<uint32_t>(tokens.size()) + random.below(70);
    return std::make_shared<guided::Vocabulary>(tokens, eos, size);
}

}  // namespace fuzz
