#include "vocabulary.h"

#include <algorithm>
#include <stdexcept>

#include "utf8.h"
#include "utf8_automaton.h"

namespace guided {

namespace {
constexpr size_t kTerminalBytes =
    size_t{512} << 20;  // kept for all grammars together; above, the oldest unused ones go
constexpr size_t kFragments = 4096;
constexpr size_t kLongestToken = 8192;  // walks of the trie recur once a byte
constexpr size_t kOneTerminal =
    size_t{128} << 20;  // a terminal that has grown larger is made anew when next asked for

bool usable(const Terminal& t) {
    return t.bytes() < kOneTerminal && !t.is_worn();
}
}  // namespace

Vocabulary::Vocabulary(const std::vector<std::optional<std::string_view>>& tokens,
                       std::vector<uint32_t> eos, uint32_t size)
    : eos_(std::move(eos)), size_(size), rows_((size + 31) / 32) {
    if (size < tokens.size())
        throw std::invalid_argument("size is smaller than the number of tokens");
    if (eos_.empty()) throw std::invalid_argument("a vocabulary needs at least one end token");
    std::sort(eos_.begin(), eos_.end());
    eos_.erase(std::unique(eos_.begin(), eos_.end()), eos_.end());
    if (eos_.back() >= size)
        throw std::invalid_argument("an end token lies outside the vocabulary");
    size_t total = 0;
    for (const auto& t : tokens) {
        total += t ? t->size() : 0;
        if (t && t->size() > kLongestToken)
            throw std::invalid_argument("a token spells more than 8,192 bytes");
    }
    if (total >= kNone) throw std::invalid_argument("the tokens spell more than 4 GB");
    bytes_.reserve(total);
    starts_.reserve(tokens.size() + 1);
    Hash128 h = combine(Hash128{size, tokens.size()}, total);
    for (uint32_t t = 0; t < tokens.size(); ++t) {
        starts_.push_back(static_cast<uint32_t>(bytes_.size()));
        bool ends = std::binary_search(eos_.begin(), eos_.end(),
                                       t);  // an end token spells nothing, whatever it looks like
        if (tokens[t] && !ends) bytes_.append(*tokens[t]);
        h = tokens[t] ? combine(h, hash_bytes(*tokens[t])) : combine(h, 1);
    }
    starts_.push_back(static_cast<uint32_t>(bytes_.size()));
    for (uint32_t t : eos_) h = combine(h, t);
    fingerprint_ = h;
    std::vector<Trie::Entry> entries;
    entries.reserve(tokens.size());
    for (uint32_t t = 0; t < tokens.size(); ++t)
        if (spells(t)) entries.push_back({bytes(t), t, 0});
    spelling_.resize(words(), 0);
    characters_.resize(tokens.size(), 0);
    by_characters_.reserve(entries.size());
    for (const auto& e : entries) {
        spelling_[e.token >> 5] |= 1u << (e.token & 31);
        characters_[e.token] = static_cast<uint16_t>(count_characters(e.bytes));
        longest_ = std::max(longest_, e.bytes.size());
        by_characters_.push_back(e.token);
    }
    std::stable_sort(by_characters_.begin(), by_characters_.end(),
                     [&](uint32_t a, uint32_t b) { return characters_[a] > characters_[b]; });
    trie_ = Trie(std::move(entries));
    make_parts();
}

void Vocabulary::make_parts() {
    const AnyCharacter& any = AnyCharacter::instance();
    auto part_of = [&](std::string_view text) {
        char part = 0;
        uint32_t state = any.start;
        for (char c : text) {
            auto byte = static_cast<uint8_t>(c);
            state = any.automaton.step(state, byte);
            if (state == kNone || byte < 0x20 || byte == '"' || byte == '\\') return char{2};
            if (state == Utf8Automaton::kDone) state = any.start;
            const bool word = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                              (byte >= 'a' && byte <= 'z');
            if (!word) part = 1;
        }
        return part;
    };
    const auto all = trie_.items_below(trie_[Trie::kRoot]);
    std::vector<char> parts;
    parts.reserve(all.size());
    for (auto item : all) parts.push_back(part_of(bytes(item.token)));
    std::string spelled;  // the number of the part, and the token
    spelled.reserve(bytes_.size() + all.size());
    std::vector<Trie::Entry> entries;
    entries.reserve(all.size());
    for (char part = 0; part < 3; ++part)
        for (size_t i = 0; i < all.size(); ++i) {
            if (parts[i] != part) continue;
            const size_t start = spelled.size();
            spelled.push_back(part);
            spelled.append(bytes(all[i].token));
            entries.push_back({std::string_view(spelled).substr(start), all[i].token, 0});
        }
    parts_ = Trie(std::move(entries));
}

std::span<const uint32_t> Vocabulary::within(uint32_t count) {
    if (count >= longest_) return spelling_;
    std::lock_guard lock(mutex_);
    if (count >= within_.size()) within_.resize(count + 1);
    if (!within_[count]) {
        // The tokens that are longer are few, or those that are not.
        const auto first = std::partition_point(by_characters_.begin(), by_characters_.end(),
                                                [&](uint32_t t) { return characters_[t] > count; });
        const bool most = first - by_characters_.begin() < by_characters_.end() - first;
        std::vector<uint32_t> tokens = most ? spelling_ : std::vector<uint32_t>(words(), 0);
        for (auto at = most ? by_characters_.begin() : first;
             at != (most ? first : by_characters_.end()); ++at)
            tokens[*at >> 5] ^= 1u << (*at & 31);
        within_[count] = std::make_unique<const std::vector<uint32_t>>(std::move(tokens));
    }
    return *within_[count];
}

bool Vocabulary::is_eos(uint32_t token) const {
    return std::binary_search(eos_.begin(), eos_.end(), token);
}

std::shared_ptr<Terminal> Vocabulary::terminal(const Arena& arena, uint32_t node) {
    const Hash128& key = arena[node].hash;
    {
        std::lock_guard lock(mutex_);
        auto at = terminals_.find(key);
        if (at != terminals_.end() && usable(*at->second.terminal)) {
            ages_.splice(ages_.end(), ages_, at->second.age);
            return at->second.terminal;
        }
    }
    auto made = std::make_shared<Terminal>(arena, node);
    std::lock_guard lock(mutex_);
    auto at = terminals_.find(key);
    if (at != terminals_.end()) {
        if (usable(*at->second.terminal)) return at->second.terminal;
        at->second.terminal = made;
        return made;
    }
    terminals_[key] = {made, ages_.insert(ages_.end(), key)};
    if (++asked_ % 64 == 0) evict();
    return made;
}

void Vocabulary::evict() {
    size_t total = 0;
    for (auto& [key, kept] : terminals_) total += kept.terminal->bytes() + 4096;
    for (auto at = ages_.begin(); at != ages_.end() && total > kTerminalBytes;) {
        auto entry = terminals_.find(*at);
        if (entry->second.terminal.use_count() > 1) {
            ++at;
            continue;
        }
        total -= entry->second.terminal->bytes() + 4096;
        terminals_.erase(entry);
        at = ages_.erase(at);
    }
}

std::shared_ptr<Fragment> Vocabulary::fragment(const Hash128& key) {
    std::lock_guard lock(mutex_);
    if (uint32_t known = fragment_numbers_.find(key); known != kNone) {
        auto& fragment = fragments_[known];
        if (!fragment) fragment = std::make_shared<Fragment>();
        return fragment;
    }
    if (fragments_.size() > kFragments) {
        fragments_.clear();
        fragment_numbers_.clear();
    }
    fragment_numbers_.insert(key, static_cast<uint32_t>(fragments_.size()));
    fragments_.emplace_back();
    return nullptr;
}

size_t Vocabulary::terminal_count() {
    std::lock_guard lock(mutex_);
    return terminals_.size();
}

size_t Vocabulary::terminal_bytes() {
    std::lock_guard lock(mutex_);
    size_t total = 0;
    for (auto& [key, kept] : terminals_) total += kept.terminal->bytes();
    return total;
}

}  // namespace guided
