#include "passages.h"

#include <algorithm>
#include <string>

#include "automaton.h"

namespace guided {

TokenSet::TokenSet(std::vector<uint32_t> tokens, RowPool& pool) {
    if (tokens.size() > kMostListed) rows.push_back(pool.base_of(tokens));
    else listed = std::move(tokens);
    listed.shrink_to_fit();
}

void TokenSet::add(const TokenSet& other) {
    listed.insert(listed.end(), other.listed.begin(), other.listed.end());
    for (const BasePtr& row : other.rows)
        if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
}

void TokenSet::shrink(RowPool& pool) {
    std::sort(listed.begin(), listed.end());
    listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
    std::erase_if(listed, [&](uint32_t token) {
        return std::any_of(rows.begin(), rows.end(),
                           [&](const BasePtr& row) { return row->has(token); });
    });
    if (listed.size() > kMostListed) {
        rows.push_back(pool.base_of(listed));
        listed.clear();
    }
    if (rows.size() > kMostRows) rows = {pool.unite(std::move(rows))};
    listed.shrink_to_fit();
    rows.shrink_to_fit();
}

void TokenSet::write(std::vector<uint32_t>& words) const {
    for (uint32_t token : listed) words[token >> 5] |= 1u << (token & 31);
    for (const BasePtr& row : rows)
        for (size_t w = 0; w < words.size(); ++w) words[w] |= row->words[w];
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

uint32_t RemainsTable::unite(std::span<const Remains> parts) {
    return keep(std::make_unique<Trie>(parts));
}

// Of the remainders those with a line break, or those without.
std::unique_ptr<Trie> RemainsTable::select(std::span<const Remains> parts, bool with_break) {
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
        path.clear();
        stack.push_back({part.node, 0});
        while (!stack.empty()) {
            auto [node, depth] = stack.back();
            stack.pop_back();
            const Trie::Node& n = trie[node];
            if (depth) {
                path.resize(depth - 1);
                path.push_back(static_cast<char>(n.byte));
            }
            if (depth && n.token_count && with_break == (path.find('\n') != std::string::npos)) {
                for (auto item : trie.items(n))
                    found.push_back({spelled.size(), depth, item.token});
                spelled += path;
            }
            for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c)
                if (depth || part.first.has(trie[c].byte)) stack.push_back({c, depth + 1});
        }
    }
    std::vector<Trie::Entry> entries;
    entries.reserve(found.size());
    for (const Found& f : found)
        entries.push_back({std::string_view(spelled).substr(f.start, f.length), f.token, 0});
    return std::make_unique<Trie>(std::move(entries));
}

uint32_t RemainsTable::keep(std::unique_ptr<Trie> trie) {
    if (trie->size() == 1) return kNone;
    auto [at, fresh] = by_content_.try_emplace(trie->content(), 0);
    if (fresh) {
        ByteSet all;
        all.add_range(0, 255);
        bytes_ += trie->bytes();
        tries_.push_back(std::move(trie));
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
        at->second =
            lines == Lines::kAll ? unite(parts) : keep(select(parts, lines == Lines::kMore));
        bytes_ += 64 + numbers.size() * 4;
    }
    return at->second;
}

// ---- passages ----

namespace {
constexpr uint32_t kLargeSubtree = 1024;  // trie nodes; larger ones are not copied

// A walk of remainders by one lexeme.
struct Step {
    uint32_t node, state, guard, behind;  // `behind`: the number of a Behind where the lexeme ends
    Indent indent;
};
using Place = std::pair<uint32_t, uint32_t>;  // guard, indent

// The bytes on which a lexeme stays in the state that it is in: where nothing else stands below a
// node, all of it stays inside. So most words are passed over.
class Loops {
  public:
    explicit Loops(Terminal& lexeme) : lexeme_(lexeme) {}
    // `leaving`: the bytes that may also follow the lexeme here.
    bool hold(const Trie::Summary* below, uint32_t state, const ByteSet& leaving) {
        if (!below || below->high) return false;
        auto [at, fresh] = loops_.try_emplace(state);
        if (fresh) find(state, at->second);
        for (size_t i = 0; i < 2; ++i)
            if (below->ascii[i] & ~(at->second.word(i) & ~leaving.word(i))) return false;
        return true;
    }

  private:
    void find(uint32_t state, ByteSet& loop) {
        lexeme_.allowed(state).for_each([&](uint8_t byte) {
            if (byte < 128 && lexeme_.next(state, byte) == state) loop.add(byte);
        });
    }
    Terminal& lexeme_;
    std::unordered_map<uint32_t, ByteSet> loops_;
};
}  // namespace

// Where the lexeme ended in `state` under `guard`: the bytes on which the texts that must not match
// longer are out (`free`), or may yet match (`open`).
uint32_t Machine::Ends::number(Machine& machine, uint32_t leaf, uint32_t guard, uint32_t state) {
    if (guard == 0 && state < plain.size() && plain[state] != kNone) return plain[state];
    auto [at, fresh] =
        known.try_emplace(uint64_t{guard} << 32 | state, static_cast<uint32_t>(all.size()));
    if (guard == 0) {
        if (state >= plain.size()) plain.resize(state + state / 2 + 1, kNone);
        plain[state] = at->second;
    }
    if (!fresh) return at->second;
    Behind b;
    b.guard = machine.guard_behind(guard, leaf, state);
    for (unsigned byte = 0; byte < 256; ++byte) {
        auto one = static_cast<uint8_t>(byte);
        uint32_t after = b.guard ? machine.advance_guard(b.guard, one) : 0;
        if (after != kNone) (after ? b.open : b.free).add(one);
    }
    all.push_back(b);
    return at->second;
}

// What the tokens of `remains` do from `state` of a lexeme on, under a guard.
const Passage& Machine::passage(uint32_t leaf_number, uint32_t state, uint32_t remains,
                                uint32_t guard) {
    uint32_t key[] = {leaf_number, state, remains, guard};
    uint32_t number = passage_keys_.intern(key, 4);
    if (number == passages_.size()) passages_.push_back(nullptr);
    if (!passages_[number])
        passages_[number] = make_passage(leaf_number, state, remainders()[remains], guard);
    return *passages_[number];
}

RemainsTable& Machine::remainders() {
    if (!remains_) remains_ = std::make_unique<RemainsTable>(vocabulary_->trie());
    return *remains_;
}

std::unique_ptr<Passage> Machine::make_passage(uint32_t leaf_number, uint32_t state,
                                               const Remains& remains, uint32_t guard) {
    const LeafInfo info = leaf(leaf_number);
    Terminal& lexeme = *info.terminal;
    const Trie& trie = *remains.trie;
    Ends ends;
    Loops loops(lexeme);
    std::vector<uint32_t> inside;
    std::map<Place, std::vector<uint32_t>> endings;
    std::map<Place, std::vector<Remains>> exits;
    std::vector<Step> stack{{remains.node, state, guard, kNone, {}}};
    while (!stack.empty()) {
        const Step s = stack.back();
        stack.pop_back();
        const Trie::Node& n = trie[s.node];
        ByteSet present;
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            const uint8_t byte = trie[c].byte;
            if (s.node == remains.node && !remains.first.has(byte)) continue;
            present.add(byte);
            Step to{c, 0, 0, kNone, s.indent};
            if (s.guard && (to.guard = advance_guard(s.guard, byte)) == kNone) continue;
            to.state = lexeme.next(s.state, byte);
            if (to.state == Terminal::kDead) continue;
            if (info.newline) to.indent = s.indent.after(byte);
            if (lexeme.accepting(to.state))
                to.behind = ends.number(*this, leaf_number, to.guard, to.state);
            ByteSet leaving;
            if (to.behind != kNone)
                (leaving = ends.all[to.behind].free) |= ends.all[to.behind].open;
            if (!to.guard && loops.hold(trie.summary(trie[c]), to.state, leaving)) {
                for (auto item : trie.items_below(trie[c])) inside.push_back(item.token);
                continue;
            }
            if (trie[c].child_count) stack.push_back(to);
            if (!trie[c].token_count) continue;
            auto& reached = lexeme.goes_on(to.state)
                                ? inside
                                : endings[{ends.all[to.behind].guard, to.indent.packed}];
            for (auto item : trie.items(trie[c])) reached.push_back(item.token);
        }
        if (s.behind == kNone) continue;
        const Behind& b = ends.all[s.behind];
        if (ByteSet free = present & b.free; !free.empty())
            exits[{0, s.indent.packed}].push_back({&trie, s.node, free});
        if (ByteSet open = present & b.open; !open.empty())
            exits[{b.guard, s.indent.packed}].push_back({&trie, s.node, open});
    }
    auto made = std::make_unique<Passage>();
    RowPool& pool = vocabulary_->rows();
    made->inside = TokenSet(std::move(inside), pool);
    for (auto& [place, tokens] : endings)
        made->endings.push_back({place.first, place.second, TokenSet(std::move(tokens), pool)});
    for (auto& [place, parts] : exits) add_remains(*made, place.first, place.second, parts);
    stack_bytes_ += sizeof(Passage) + 64 + made->inside.bytes() +
                    made->endings.size() * sizeof(Passage::Ending) +
                    made->exits.size() * sizeof(Passage::Exit);
    return made;
}

// Small remainders of many places become one trie; the large ones stay where they are.
void Machine::add_remains(Passage& passage, uint32_t guard, uint32_t indent,
                          std::vector<Remains>& parts) {
    auto add = [&](uint32_t number) {
        if (number != kNone) passage.exits.push_back({guard, indent, number});
    };
    auto large = std::partition(parts.begin(), parts.end(), [](const Remains& part) {
        return (*part.trie)[part.node].subtree < kLargeSubtree;
    });
    for (auto at = large; at != parts.end(); ++at) add(remainders().number(*at));
    parts.erase(large, parts.end());
    if (parts.size() == 1) add(remainders().number(parts[0]));
    else if (!parts.empty()) add(remainders().unite(parts));
}

}  // namespace guided
