// The continuation machine: what must still be matched, and where it may start.
//
// Simple telling. A continuation is a stack: END, or a frame (a node with its registers) on top of
// a parent. To see what may come next, pop the top node and expand it: a sequence opens its first
// part with the rest pushed, a choice opens each option, a rule opens its body, until only leaves
// remain. A leaf with its progress and the continuation behind it is a head. The heads of a
// continuation are its closure.
//
// What that leaves out:
// - Opening means a nonempty match. Where a node may be empty, whoever opens it goes on behind it
//   as well, so nothing is popped in the closure that pushed it, and nullable loops end (`open`).
// - A repeat keeps its remaining counts in the frame: {0,100000} costs no nodes (`frame`).
// - All calls of one rule in one closure are opened once, with the union of their continuations.
//   Rules are opened in an order in which a rule comes before those it can start with; that order
//   exists because left recursion was rewritten away (grammar.h).
// - A record (record.h) is one frame from its opening bracket to its closing one; what may come
// next
//   follows from its registers (`pop_record`).
// - A parser (lalr.h) is one frame for each state on its stack (`pop_lalr`).
// - A part (arena.h) leaves a mark on the stack where it ends, so that its heads can be told from
//   what follows (`is_mark`).
// - A call in tail position pushes nothing, and a starred node is not pushed onto itself.
// Which nodes are leaves is for the user of the class: bytes and characters in a terminal, whole
// terminals in a grammar.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "arena.h"
#include "interning.h"

namespace guided {

// A leaf, how far it has come, and what follows. Which fields a kind of leaf uses stands where it
// is stepped.
struct Head {
    uint32_t node = 0;
    uint32_t state = 0;  // of the leaf's own machine, or the offset in a literal
    uint32_t other = 0;  // second state, for a difference or a product
    uint32_t minimum = 0,
             maximum =
                 0;  // repetitions of a run still owed and still allowed, the present one included
    uint32_t guard = 0;  // lexemes that must not match longer (automaton.h)
    uint32_t cont = 0;

    bool operator==(const Head&) const = default;
    bool same_leaf(const Head& o) const {
        return node == o.node && state == o.state && other == o.other && minimum == o.minimum &&
               maximum == o.maximum && guard == o.guard;
    }
};
inline constexpr size_t kHeadWords = sizeof(Head) / 4;

class Continuations {
  public:
    static constexpr uint32_t kEnd = 0;

    struct Frame {
        uint32_t node, minimum, maximum, parent;
        bool operator==(const Frame&) const = default;
    };

    explicit Continuations(const Arena& arena) : arena_(arena) { table_.intern(nullptr, 0); }

    // `minimum`, `maximum`: registers of a repeat, 0 for other nodes.
    uint32_t push(uint32_t node, uint32_t minimum, uint32_t maximum, uint32_t parent) {
        uint32_t words[] = {node, minimum, maximum, parent};
        return table_.intern(words, 4);
    }
    uint32_t unite(std::vector<uint32_t>& members, uint32_t depth = 0);
    bool is_union(uint32_t cont) const { return cont != kEnd && table_[cont][0] == kNone; }
    std::span<const uint32_t> members(uint32_t cont) const { return table_[cont].subspan(1); }
    Frame frame(uint32_t cont) const {
        auto w = table_[cont];
        return {w[0], w[1], w[2], w[3]};
    }
    uint32_t size() const { return table_.size(); }
    size_t bytes() const { return table_.bytes(); }

  private:
    static constexpr uint32_t kUniteDepth = 64;  // of stacks merged from the top
    void drop_covered(std::vector<uint32_t>& members) const;
    const Arena& arena_;
    SequenceTable table_;
    std::unordered_map<uint32_t, uint32_t> united_;  // union as given, union with frames merged
};

// Sort heads, and let equal leaves with different continuations be one head with their union.
void normalize(std::vector<Head>& heads, Continuations& conts);

class Expander {
  public:
    // `nullable`, `productive` by node, `order` by rule: a rule comes before those that it can
    // start with.
    Expander(const Arena& arena, std::span<const uint8_t> nullable,
             std::span<const uint8_t> productive, std::span<const uint32_t> order,
             uint32_t max_heads)
        : arena_(arena), nullable_(nullable), productive_(productive), order_(order),
          max_heads_(max_heads), conts_(arena) {}
    virtual ~Expander() = default;

    // The heads behind `cont`, normalized; `complete`: the text may end there.
    void close(uint32_t cont, std::vector<Head>& heads, bool& complete);

    // The continuation "node, then parent".
    uint32_t frame(uint32_t node, uint32_t parent);

    // The end of a part: popped as if it were not there.
    bool is_mark(const Continuations::Frame& f) const {
        return f.minimum == 1 && arena_[f.node].kind == Kind::kPart;
    }

    Continuations& conts() { return conts_; }
    const Continuations& conts() const { return conts_; }

  protected:
    virtual bool is_leaf(uint32_t node) = 0;
    virtual Head
    leaf_head(uint32_t node) = 0;  // at its beginning; the continuation is filled in by the caller

    // The first parts of a sequence that are one leaf together, if there are any.
    struct Group {
        uint32_t leaf = kNone;  // a number for `leaf_head`, above those of all nodes
        uint32_t rest = 0;      // the node that follows
        bool nullable = false;
    };
    virtual Group group(uint32_t /*sequence*/) { return {}; }

    // Records are expanded by the user of the class: their beginning with their first register, and
    // what may come from a frame of one on.
    static constexpr uint32_t kRecordOpened = 1;  // the second register; 0: not yet
    virtual bool begin_record(uint32_t /*node*/, uint32_t& /*begin*/, uint32_t& /*progress*/) {
        return false;
    }
    virtual void pop_record(const Continuations::Frame&, std::vector<Head>&) {}
    // So are parsers (lalr.h): the registers of the frame at the bottom of their stack, and what
    // may follow a stack. The first register of a frame that is on a stack is never 0.
    virtual bool begin_lalr(uint32_t /*node*/, uint32_t& /*state*/, uint32_t& /*environment*/) {
        return false;
    }
    virtual void pop_lalr(uint32_t /*stack*/, std::vector<Head>&) {}

    bool is_productive(uint32_t node) const { return productive_[node]; }
    // Go on with `node` and then `parent`, in a closure that is under way.
    void go(uint32_t node, uint32_t parent, std::vector<Head>& heads) {
        if (nullable_[node]) pops_.push_back(parent);
        open(node, parent, heads);
    }

    // Go on with what stands behind: something has ended.
    void go_behind(uint32_t parent) { pops_.push_back(parent); }

    const Arena& arena_;

  private:
    uint32_t frame(uint32_t node, uint32_t minimum, uint32_t maximum, uint32_t parent);
    void pop(uint32_t cont, std::vector<Head>& heads, bool& complete);
    void open(uint32_t node, uint32_t parent, std::vector<Head>& heads);

    std::span<const uint8_t> nullable_, productive_;
    std::span<const uint32_t> order_;
    uint32_t max_heads_;
    Continuations conts_;

    struct Call {
        uint32_t order, rule, parent;
        bool operator>(const Call& o) const { return order > o.order; }
    };
    std::vector<Call> calls_;  // a heap; the work of one closure
    std::vector<uint32_t> pops_, parents_;
    std::vector<uint32_t> visited_;  // by continuation: the stamp of the closure that popped it
    uint32_t stamp_ = 0;
};

}  // namespace guided
