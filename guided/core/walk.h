// The walk of a trie by heads, for masks.cpp and fragments.cpp.
#pragma once

#include "automaton.h"

namespace guided {

// So many are tried as they are: what the heads take is longer to find.
inline constexpr uint32_t kFewChildren = 2;

// Walk `trie` below `node` with the heads stack_[begin, end). `emit(node, complete)`: its items are
// reached; END is among what may follow. `descend(node, depth, begin, end)`: true
// if the caller has dealt with what is below. `depth`: bytes from the root.
template <class Emit, class Descend>
void Machine::walk(const Trie& trie, uint32_t node, size_t depth, size_t begin, size_t end,
                   Emit&& emit, Descend&& descend) {
    if (end - begin == 1) {
        // One literal alone, and most walks come to that: down the trie along it.
        Head h = stack_[begin];
        if (!h.guard && !is_deferred(h) && leaf(h.node).kind == Leaf::kLiteral) {
            const std::string_view text = leaf(h.node).text;
            const uint32_t from = h.state;
            for (; h.state + 1 < text.size(); ++h.state, ++depth) {
                node = trie.child(node, static_cast<uint8_t>(text[h.state]));
                if (node == kNone) return;
                emit(node, false);
            }
            if (h.state != from) {
                const size_t top = stack_.size();
                stack_.push_back(h);
                walk(trie, node, depth, top, top + 1, emit, descend);
                stack_.resize(top);
                return;
            }
        }
    }
    const Trie::Node& n = trie[node];
    auto visit = [&](uint32_t child, uint8_t byte) {
        size_t top = stack_.size();
        bool complete = false, guess = on_guess_;
        guessed_ = false;
        step_all(begin, end, byte, stack_, complete);
        on_guess_ |= guessed_;
        size_t made = stack_.size() - top;
        if (made || complete) {
            emit(child, complete);
            if (made && trie[child].child_count && !descend(child, depth + 1, top, stack_.size()))
                walk(trie, child, depth + 1, top, stack_.size(), emit, descend);
        }
        stack_.resize(top);
        on_guess_ = guess;
    };
    if (n.child_count <= kFewChildren) {
        for (uint32_t child = n.first_child; child < n.first_child + n.child_count; ++child)
            visit(child, trie[child].byte);
        return;
    }
    ByteSet bytes;
    for (size_t i = begin; i < end; ++i) add_first(stack_[i], bytes);
    if (bytes.count() < n.child_count) {
        bytes.for_each([&](uint8_t byte) {
            if (uint32_t child = trie.child(node, byte); child != kNone) visit(child, byte);
        });
    } else {
        for (uint32_t child = n.first_child; child < n.first_child + n.child_count; ++child)
            if (bytes.has(trie[child].byte)) visit(child, trie[child].byte);
    }
}

}  // namespace guided
