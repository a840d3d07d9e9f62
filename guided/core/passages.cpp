#include "passages.h"

#include <algorithm>
#include <string>

#include "automaton.h"

namespace guided {

namespace {
constexpr uint32_t kLargeSubtree = 1024;  // trie nodes; larger ones are not copied
}  // namespace

TokenSet::TokenSet(std::vector<uint32_t> tokens, RowPool& pool) {
    if (tokens.size() > kMostListed) row_ = pool.base_of(tokens);
    else listed_ = std::move(tokens);
}

void TokenSet::add_to(std::vector<uint32_t>& words) const {
    for (uint32_t token : listed_) words[token >> 5] |= 1u << (token & 31);
    if (row_)
        for (size_t w = 0; w < words.size(); ++w) words[w] |= row_->words[w];
}

// ---- remainders ----

RemainsTable::RemainsTable(const Trie& vocabulary) {
    ByteSet all;
    all.add_range(0, 255);
    number({&vocabulary, Trie::kRoot, all});
}

uint32_t RemainsTable::number(const Remains& remains) {
    const Trie::Node& n = (*remains.trie)[remains.node];
    ByteSet first;
    Hash128 key{reinterpret_cast<uintptr_t>(remains.trie), remains.node};
    for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c)
        if (remains.first.has((*remains.trie)[c].byte)) first.add((*remains.trie)[c].byte);
    if (first.empty() && !all_.empty()) return kNone;
    for (size_t i = 0; i < 4; ++i) key = combine(key, first.word(i));
    auto [at, fresh] = by_place_.try_emplace(key, static_cast<uint32_t>(all_.size()));
    if (fresh) all_.push_back({remains.trie, remains.node, first});
    return at->second;
}

uint32_t RemainsTable::unite(const std::vector<Remains>& parts, Lines lines) {
    struct Found {
        size_t start, length;
        uint32_t token;
    };
    struct Step {
        uint32_t node;
        size_t depth;
    };
    std::vector<Found> found;
    std::string spelled, path;  // of all that was found, and of the present node
    std::vector<Step> stack;
    for (const Remains& part : parts) {
        const Trie& trie = *part.trie;
        stack.push_back({part.node, 0});
        while (!stack.empty()) {
            auto [node, depth] = stack.back();
            stack.pop_back();
            const Trie::Node& n = trie[node];
            if (depth) {
                path.resize(depth - 1);
                path.push_back(static_cast<char>(n.byte));
            }
            auto is_kept = [&] {
                return lines == Lines::kAll ||
                       (lines == Lines::kMore) == (path.find('\n') != std::string::npos);
            };
            if (depth && n.token_count && is_kept()) {
                for (auto item : trie.items(n))
                    found.push_back({spelled.size(), depth, item.token});
                spelled += path;
            }
            for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c)
                if (depth || part.first.has(trie[c].byte)) stack.push_back({c, depth + 1});
        }
        path.clear();
    }
    if (found.empty()) return kNone;
    std::vector<Trie::Entry> entries;
    entries.reserve(found.size());
    for (const Found& f : found)
        entries.push_back({std::string_view(spelled).substr(f.start, f.length), f.token, 0});
    auto made = std::make_unique<Trie>(std::move(entries));
    auto [at, fresh] = by_content_.try_emplace(made->content(), 0);
    if (fresh) {
        ByteSet all;
        all.add_range(0, 255);
        bytes_ += made->bytes();
        tries_.push_back(std::move(made));
        at->second = number({tries_.back().get(), Trie::kRoot, all});
    }
    return at->second;
}

uint32_t RemainsTable::unite(const std::vector<uint32_t>& numbers, Lines lines) {
    if (numbers.empty()) return kNone;
    if (numbers.size() == 1 && lines == Lines::kAll) return numbers[0];
    auto [at, fresh] = united_.try_emplace({lines, numbers}, kNone);
    if (fresh) {
        std::vector<Remains> parts;
        for (uint32_t number : numbers) parts.push_back(all_[number]);
        at->second = unite(parts, lines);
        bytes_ += 64 + numbers.size() * 4;
    }
    return at->second;
}

// ---- passages ----

// What the tokens of `remains` do from `state` of a lexeme on, under a guard.
const Passage& Machine::passage(uint32_t leaf_number, uint32_t state, uint32_t remains,
                                uint32_t guard) {
    uint32_t key[] = {leaf_number, state, remains, guard};
    uint32_t number = passage_keys_.intern(key, 4);
    if (number == passages_.size()) passages_.push_back(nullptr);
    if (!passages_[number])
        passages_[number] = make_passage(leaf_number, state, remains_[remains], guard);
    return *passages_[number];
}

std::unique_ptr<Passage> Machine::make_passage(uint32_t leaf_number, uint32_t state,
                                               const Remains& remains, uint32_t guard) {
    const LeafInfo info = leaf(leaf_number);
    Terminal& lexeme = *info.terminal;
    const Trie& trie = *remains.trie;
    struct Step {
        uint32_t node, state, guard;
        bool ends;
        uint32_t behind;  // the guard behind the lexeme, where it ends
        Table::Indent indent;
    };
    using Place = std::pair<uint32_t, uint32_t>;  // guard, indent
    std::vector<uint32_t> inside;
    std::map<Place, std::vector<uint32_t>> endings;
    std::map<Place, std::vector<Remains>> exits;
    std::vector<Step> stack{{remains.node, state, guard, false, 0, {}}};
    while (!stack.empty()) {
        const Step s = stack.back();
        stack.pop_back();
        const Trie::Node& n = trie[s.node];
        ByteSet free,
            open;  // the bytes that may follow the lexeme: the longer texts are out, or not yet
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            const uint8_t byte = trie[c].byte;
            if (s.node == remains.node && !remains.first.has(byte)) continue;
            if (s.ends) {
                uint32_t after = s.behind ? advance_guard(s.behind, byte) : 0;
                if (after != kNone) (after ? open : free).add(byte);
            }
            Step to = s;
            if (s.guard && (to.guard = advance_guard(s.guard, byte)) == kNone) continue;
            to.state = lexeme.next(s.state, byte);
            if (to.state == Terminal::kDead) continue;
            to.node = c;
            if (info.newline) to.indent = s.indent.after(byte);
            to.ends = lexeme.accepting(to.state);
            to.behind = to.ends ? guard_behind(to.guard, leaf_number, to.state) : 0;
            auto& reached =
                lexeme.goes_on(to.state) ? inside : endings[{to.behind, to.indent.packed}];
            for (auto item : trie.items(trie[c])) reached.push_back(item.token);
            if (trie[c].child_count) stack.push_back(to);
        }
        if (!free.empty()) exits[{0, s.indent.packed}].push_back({&trie, s.node, free});
        if (!open.empty()) exits[{s.behind, s.indent.packed}].push_back({&trie, s.node, open});
    }
    auto made = std::make_unique<Passage>();
    RowPool& pool = vocabulary_->rows();
    made->inside = TokenSet(std::move(inside), pool);
    for (auto& [place, tokens] : endings)
        if (!tokens.empty())
            made->endings.push_back({place.first, place.second, TokenSet(std::move(tokens), pool)});
    for (auto& [place, parts] : exits) {
        auto add = [&, &place = place](uint32_t number) {
            if (number != kNone) made->exits.push_back({place.first, place.second, number});
        };
        auto large = std::partition(parts.begin(), parts.end(), [&](const Remains& part) {
            return trie[part.node].subtree < kLargeSubtree;
        });
        for (auto at = large; at != parts.end(); ++at) add(remains_.number(*at));
        parts.erase(large, parts.end());
        if (parts.size() == 1) add(remains_.number(parts[0]));
        else if (!parts.empty()) add(remains_.unite(parts));
    }
    stack_bytes_ += sizeof(Passage) + 64 + made->inside.bytes() +
                    made->endings.size() * sizeof(Passage::Ending) +
                    made->exits.size() * sizeof(Passage::Exit);
    return made;
}

}  // namespace guided
