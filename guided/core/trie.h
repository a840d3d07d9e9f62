// Tokens by their bytes. Children of a node stand together in order of bytes; subtrees follow, so a
// walk goes forward in memory, and the nodes below a node, and the items of a subtree, are one
// stretch each. Larger subtrees carry a summary of the bytes in them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "interning.h"

namespace guided {

class Trie {
  public:
    static constexpr uint32_t kRoot = 0;

    struct Entry {
        std::string_view bytes;
        uint32_t token;
        uint32_t count;  // free for the user (exits of a run: repetitions completed)
    };
    struct Node {
        uint32_t first_child = 0, first_token = 0, token_count = 0;
        uint32_t subtree = 1, subtree_items = 0;  // nodes and items, its own included
        uint32_t summary = kNone;
        uint16_t child_count = 0;
        uint8_t byte = 0;
    };
    struct Item {
        uint32_t token, count;
    };
    struct Summary {  // of the bytes below a node
        uint64_t ascii[2] = {0, 0};
        uint64_t leads = 0;       // those from 0xc0 on, which begin a character
        bool high = false;        // some are 0x80 or above
        bool clean = false;       // all from the root on are whole UTF-8 characters, the last one
                                  // perhaps cut short
        uint32_t utf8_state = 0;  // of AnyCharacter, at the node itself
        uint32_t height = 0;      // bytes on the longest way down
        bool has_any(const ByteSet& bytes) const {
            return (ascii[0] & bytes.word(0)) | (ascii[1] & bytes.word(1)) ||
                   (high && (bytes.word(2) | bytes.word(3)));
        }
    };

    struct Below {  // what stands below a node and begins with one of `first`
        const Trie* trie;
        uint32_t node;
        ByteSet first;
    };

    Trie() { nodes_.emplace_back(); }
    explicit Trie(std::vector<Entry> entries);    // entries with empty bytes are dropped
    explicit Trie(std::span<const Below> parts);  // all that stands there, with no counts

    const Node& operator[](uint32_t node) const { return nodes_[node]; }
    std::span<const Item> items(const Node& n) const {
        return {items_.data() + n.first_token, n.token_count};
    }
    std::span<const Item> items_below(const Node& n) const {
        return {items_.data() + n.first_token, n.subtree_items};
    }
    const Summary* summary(const Node& n) const {
        return n.summary == kNone ? nullptr : &summaries_[n.summary];
    }
    // Before a walk comes to the node's children, or looks at its summary.
    void prefetch_children(const Node& n) const { prefetch(nodes_.data() + n.first_child); }
    void prefetch_summary(const Node& n) const {
        if (n.summary != kNone) prefetch(summaries_.data() + n.summary);
    }
    uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
    // Equal for tries of the same entries.
    Hash128 content() const;
    size_t bytes() const {
        return nodes_.capacity() * sizeof(Node) + items_.capacity() * sizeof(Item);
    }

    // The child of `node` on `byte`, kNone if there is none.
    uint32_t child(uint32_t node, uint8_t byte) const {
        const Node& n = nodes_[node];
        uint32_t low = n.first_child, high = low + n.child_count;
        if (n.child_count == 256) return low + byte;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (nodes_[middle].byte < byte) low = middle + 1;
            else high = middle;
        }
        return low < n.first_child + n.child_count && nodes_[low].byte == byte ? low : kNone;
    }

  private:
    void sum_up();
    void summarize();

    std::vector<Node> nodes_;
    std::vector<Item> items_;
    std::vector<Summary> summaries_;
};

}  // namespace guided
