#include "trie.h"

#include <algorithm>

namespace guided {

Trie::Trie(std::vector<Entry> entries) {
    std::erase_if(entries, [](const Entry& e) { return e.bytes.empty(); });
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        int order = a.bytes.compare(b.bytes);
        return order ? order < 0 : a.token < b.token;
    });
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
        std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(tasks), stack.end());  // the first child's subtree first
    }
    // Children have larger numbers than their parent: sum subtrees from the end.
    for (uint32_t id = size(); id-- > 0;) {
        Node& n = nodes_[id];
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) n.subtree += nodes_[c].subtree;
    }
    nodes_.shrink_to_fit();
}

}  // namespace guided
