#include "trie.h"

#include <algorithm>

#include "utf8_automaton.h"

namespace guided {

namespace {
constexpr uint32_t kSummarized = 8;  // nodes of a subtree; smaller ones are as quickly walked
}  // namespace

Trie::Trie(std::vector<Entry> entries) {
    std::erase_if(entries, [](const Entry& e) { return e.bytes.empty(); });
    auto less = [](const Entry& a, const Entry& b) {
        int order = a.bytes.compare(b.bytes);
        return order ? order < 0 : a.token < b.token;
    };
    if (!std::is_sorted(entries.begin(), entries.end(), less))
        std::sort(entries.begin(), entries.end(), less);
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
    sum_up();
}

// The same from parts of other tries, whose nodes of one path become one.
Trie::Trie(std::span<const Below> parts) {
    struct Source {
        const Trie* trie;
        uint32_t node;
    };
    struct Task {
        uint32_t node;
        size_t low, high;  // of `sources`
    };
    std::vector<Source> sources;
    std::vector<std::pair<uint8_t, Source>> children;  // of the present node
    std::vector<Task> stack;
    auto add_children = [&](uint32_t node) {
        std::sort(children.begin(), children.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        nodes_[node].first_child = size();
        size_t tasks = stack.size();
        for (const auto& [byte, source] : children) {
            bool fresh = !nodes_[node].child_count || nodes_.back().byte != byte;
            if (fresh) {
                stack.push_back({size(), sources.size(), sources.size()});
                nodes_.emplace_back().byte = byte;
                ++nodes_[node].child_count;
            }
            sources.push_back(source);
            ++stack.back().high;
        }
        std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(tasks), stack.end());
        children.clear();
    };
    auto gather = [&](const Trie& trie, uint32_t node, const ByteSet* first) {
        const Node& n = trie[node];
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c)
            if (!first || first->has(trie[c].byte)) children.push_back({trie[c].byte, {&trie, c}});
    };
    nodes_.emplace_back();
    for (const Below& part : parts) gather(*part.trie, part.node, &part.first);
    add_children(kRoot);
    while (!stack.empty()) {
        const Task task = stack.back();
        stack.pop_back();
        const size_t before = items_.size();
        for (size_t i = task.low; i < task.high; ++i) {
            const Source from = sources[i];
            for (auto item : from.trie->items((*from.trie)[from.node]))
                items_.push_back({item.token, 0});
            gather(*from.trie, from.node, nullptr);
        }
        std::sort(items_.begin() + static_cast<std::ptrdiff_t>(before), items_.end(),
                  [](const Item& a, const Item& b) { return a.token < b.token; });
        nodes_[task.node].first_token = static_cast<uint32_t>(before);
        nodes_[task.node].token_count = static_cast<uint32_t>(items_.size() - before);
        add_children(task.node);
    }
    sum_up();
}

void Trie::sum_up() {
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
            if (b >= 0xc0) s.leads |= uint64_t{1} << (b & 63);
        };
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            add(nodes_[c].byte);
            if (const Summary* t = summary(nodes_[c])) {
                s.ascii[0] |= t->ascii[0];
                s.ascii[1] |= t->ascii[1];
                s.high |= t->high;
                s.leads |= t->leads;
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
