#include "trie.h"

#include <algorithm>

#include "utf8.h"

namespace guided {

namespace {
constexpr uint32_t kSummarized = 8;  // nodes of a subtree; smaller ones are as quickly walked

// By their bytes, then by token. Most are told apart by the first eight bytes, as one number.
void sort_entries(std::vector<Trie::Entry>& entries) {
    struct Keyed {
        uint64_t start;
        Trie::Entry entry;
    };
    std::vector<Keyed> keyed;
    keyed.reserve(entries.size());
    for (const Trie::Entry& e : entries) {
        uint64_t start = 0;
        for (size_t i = 0; i < 8; ++i)
            start = start << 8 | (i < e.bytes.size() ? static_cast<uint8_t>(e.bytes[i]) : 0);
        keyed.push_back({start, e});
    }
    std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
        if (a.start != b.start) return a.start < b.start;
        int order = a.entry.bytes.compare(b.entry.bytes);
        return order ? order < 0 : a.entry.token < b.entry.token;
    });
    for (size_t i = 0; i < entries.size(); ++i) entries[i] = keyed[i].entry;
}
}  // namespace

Trie::Trie(std::vector<Entry> entries) {
    std::erase_if(entries, [](const Entry& e) { return e.bytes.empty(); });
    sort_entries(entries);
    nodes_.emplace_back();
    items_.reserve(entries.size());
    struct Task {
        uint32_t node;
        size_t low, high, depth;
    };
    std::vector<Task> stack{{kRoot, 0, entries.size(), 0}};
    while (!stack.empty()) {
        auto [node, low, high, depth] = stack.back();
        stack.pop_back();
        nodes_[node].first_token = static_cast<uint32_t>(items_.size());
        for (; low < high && entries[low].bytes.size() == depth; ++low) {
            items_.push_back({entries[low].token, entries[low].count});
            ++nodes_[node].token_count;
        }
        nodes_[node].first_child = size();
        size_t tasks = stack.size();
        while (low < high) {
            auto byte = static_cast<uint8_t>(entries[low].bytes[depth]);
            size_t end = low + 1;
            while (end < high && static_cast<uint8_t>(entries[end].bytes[depth]) == byte) ++end;
            stack.push_back({size(), low, end, depth + 1});
            nodes_.emplace_back().byte = byte;
            ++nodes_[node].child_count;
            low = end;
        }
        std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(tasks),
                     stack.end());  // the first child's subtree first
    }
    // Children have larger numbers than their parent: sum subtrees from the end.
    for (uint32_t id = size(); id-- > 0;) {
        Node& n = nodes_[id];
        n.subtree_items = n.token_count;
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            n.subtree += nodes_[c].subtree;
            n.subtree_items += nodes_[c].subtree_items;
        }
    }
    summarize();
    nodes_.shrink_to_fit();
}

Hash128 Trie::content() const {
    Hash128 hash{35, nodes_.size()};
    for (const Node& n : nodes_)
        hash = combine(hash, uint64_t{n.token_count} << 32 | uint64_t{n.child_count} << 8 | n.byte);
    for (const Item& item : items_) hash = combine(hash, uint64_t{item.token} << 32 | item.count);
    return hash;
}

void Trie::summarize() {
    const AnyCharacter& any = AnyCharacter::instance();
    std::vector<uint32_t> states(size(), kNone);  // kNone: not the beginning of a text
    states[kRoot] = any.start;
    for (uint32_t id = 0; id < size(); ++id) {
        const Node& n = nodes_[id];
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count && states[id] != kNone;
             ++c) {
            uint32_t to = any.automaton.step(states[id], nodes_[c].byte);
            states[c] = to == Utf8Automaton::kDone ? any.start : to;
        }
    }
    std::vector<bool> clean(size());
    std::vector<uint32_t> heights(size(), 0);
    for (uint32_t id = size(); id-- > 0;) {
        const Node& n = nodes_[id];
        clean[id] = states[id] != kNone;
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            if (!clean[c]) clean[id] = false;
            heights[id] = std::max(heights[id], heights[c] + 1);
        }
    }
    for (uint32_t id = size(); id-- > 0;) {
        Node& n = nodes_[id];
        if (n.subtree < kSummarized) continue;
        Summary s;
        s.clean = clean[id];
        s.utf8_state = states[id];
        s.height = heights[id];
        auto add = [&](uint8_t b) {
            if (b < 128) s.ascii[b >> 6] |= uint64_t{1} << (b & 63);
            else s.high = true;
        };
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            add(nodes_[c].byte);
            if (const Summary* t = summary(nodes_[c])) {
                s.ascii[0] |= t->ascii[0];
                s.ascii[1] |= t->ascii[1];
                s.high |= t->high;
            } else {  // all that is below: one stretch
                uint32_t first = nodes_[c].first_child;
                for (uint32_t k = first; k < first + nodes_[c].subtree - 1; ++k)
                    add(nodes_[k].byte);
            }
        }
        n.summary = static_cast<uint32_t>(summaries_.size());
        summaries_.push_back(s);
    }
}

}  // namespace guided
