#include "tables.h"

#include <algorithm>

namespace guided {

namespace {
// Trie nodes below all exits with one first byte. Above, the plain trie is walked: such a byte both continues the terminal and follows
// it, nearly everywhere.
constexpr size_t kMaxExits = 200'000;
}

// Visit all trie nodes below the table's node that the terminal can reach: visit(node, state, begun, completed).
// A run is "between repetitions" in kStart: there `completed` may be followed by an exit.
template <class Visit>
void Table::walk(Visit&& visit) const {
    struct Step {
        uint32_t node, state, begun, completed;
    };
    std::vector<Step> stack{{trie_node_, state_, 0, 0}};
    while (!stack.empty()) {
        Step s = stack.back();
        stack.pop_back();
        const Trie::Node& n = trie_[s.node];
        uint32_t begun = s.begun + (run_ && s.state == Terminal::kStart);
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            Step to{c, terminal_.next(s.state, trie_[c].byte), begun, s.completed};
            if (to.state == Terminal::kDead) continue;
            bool ends = terminal_.accepting(to.state);
            if (run_ && ends) {
                to.state = Terminal::kStart;
                ++to.completed;
            }
            visit(to.node, begun, to.completed, ends);
            if (trie_[c].child_count) stack.push_back(to);
        }
    }
}

Table::Table(Terminal& terminal, const Trie& trie, uint32_t trie_node, uint32_t state, bool run, RowPool& rows)
    : terminal_(terminal), trie_(trie), trie_node_(trie_node), state_(state), run_(run), rows_(rows) {
    std::vector<std::pair<uint32_t, uint32_t>> found;  // begun, token
    uint32_t most = 0;
    walk([&](uint32_t node, uint32_t begun, uint32_t, bool) {
        for (auto item : trie_.items(trie_[node])) found.push_back({begun, item.token});
        most = std::max(most, begun);
    });
    up_to_.assign(most + 1, 0);
    for (auto [begun, token] : found) ++up_to_[begun];
    for (uint32_t k = 1; k <= most; ++k) up_to_[k] += up_to_[k - 1];
    std::vector<uint32_t> at(most + 1, 0);
    for (uint32_t k = 1; k <= most; ++k) at[k] = up_to_[k - 1];
    tokens_.resize(found.size());
    for (auto [begun, token] : found) tokens_[at[begun]++] = token;
    bytes_ += tokens_.capacity() * 4 + up_to_.capacity() * 4 + 4096;
}

std::span<const uint32_t> Table::inside(uint32_t limit) const {
    return {tokens_.data(), up_to_[std::min<size_t>(limit, up_to_.size() - 1)]};
}

BasePtr Table::inside_row(uint32_t limit) {
    auto tokens = inside(limit);
    uint32_t count = static_cast<uint32_t>(tokens.size());
    std::lock_guard lock(mutex_);
    BasePtr& row = rows_by_size_[count];
    if (row) return row;
    BasePtr& full = rows_by_size_[static_cast<uint32_t>(tokens_.size())];
    if (!full) full = rows_.base_of(tokens_);
    if (count == tokens_.size()) return full;
    if (tokens_.size() - count < count) {  // fewer to take away than to put in
        std::vector<uint32_t> words = full->words;
        for (size_t i = count; i < tokens_.size(); ++i) words[tokens_[i] >> 5] &= ~(1u << (tokens_[i] & 31));
        for (uint32_t t : tokens) words[t >> 5] |= 1u << (t & 31);
        return rows_by_size_[count] = rows_.base(std::move(words));
    }
    return rows_by_size_[count] = rows_.base_of(tokens);
}

// Visit the nodes at which a remainder begins: visit(node of its first byte, repetitions completed before it).
template <class Visit>
void Table::each_exit(const ByteSet& first_bytes, Visit&& visit) const {
    walk([&](uint32_t node, uint32_t, uint32_t completed, bool ends) {
        if (!ends) return;
        const Trie::Node& n = trie_[node];
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c)
            if (first_bytes.has(trie_[c].byte)) visit(c, completed);
    });
}

const Trie* Table::exits(uint8_t byte) const { return exits_[byte].get(); }

bool Table::prepare_exits(const ByteSet& first_bytes) {
    std::lock_guard lock(mutex_);
    ByteSet missing;
    bool fits = true;
    first_bytes.for_each([&](uint8_t b) {
        if (!prepared_.has(b)) missing.add(b);
        fits &= !too_many_.has(b);
    });
    if (missing.empty() || !fits) return fits;
    std::array<size_t, 256> sizes{};
    each_exit(missing, [&](uint32_t node, uint32_t) { sizes[trie_[node].byte] += trie_[node].subtree; });
    ByteSet wanted;
    missing.for_each([&](uint8_t b) {
        prepared_.add(b);
        if (sizes[b] > kMaxExits)
            too_many_.add(b), fits = false;
        else if (sizes[b])
            wanted.add(b);
    });
    struct Found {
        size_t start, length;
        uint32_t token, count;
    };
    std::string spelled;
    std::array<std::vector<Found>, 256> found;
    struct Below {
        uint32_t node;
        size_t start, length;  // of its bytes since the exit, in `spelled`
    };
    std::vector<Below> stack;
    if (!wanted.empty())
        each_exit(wanted, [&](uint32_t node, uint32_t completed) {
            uint8_t first = trie_[node].byte;
            stack.push_back({node, spelled.size(), 1});
            spelled.push_back(static_cast<char>(first));
            while (!stack.empty()) {
                Below b = stack.back();
                stack.pop_back();
                const Trie::Node& n = trie_[b.node];
                for (auto item : trie_.items(n)) found[first].push_back({b.start, b.length, item.token, completed});
                for (uint32_t k = n.first_child; k < n.first_child + n.child_count; ++k) {
                    size_t start = spelled.size();
                    spelled.append(spelled, b.start, b.length);
                    spelled.push_back(static_cast<char>(trie_[k].byte));
                    stack.push_back({k, start, b.length + 1});
                }
            }
        });
    wanted.for_each([&](uint8_t byte) {
        std::vector<Trie::Entry> entries;
        for (const Found& f : found[byte])
            entries.push_back({std::string_view(spelled).substr(f.start, f.length), f.token, f.count});
        exits_[byte] = std::make_unique<Trie>(std::move(entries));
    });
    return fits;
}

}  // namespace guided
