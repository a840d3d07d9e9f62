// The arena: all grammar nodes of one grammar, hash-consed and numbered.
//
// A node's children have smaller numbers than the node, so every pass over nodes is one loop in
// order of numbers; only a rule's body may come later than the reference to the rule. Builders
// simplify as they build, never in a way that changes the language. Flags that follow from the
// children (regular, nullable, text) are kept with the node.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interning.h"

namespace guided {

enum class Kind : uint8_t {
    kEmpty,     // the empty text
    kNever,     // no text
    kLiteral,   // a: offset, b: length in bytes
    kClass,     // a: offset, b: number of code point ranges
    kSequence,  // a: first, b: rest (a list that leans right)
    kChoice,    // a: offset, b: number of children
    kRepeat,    // a: body, b: minimum, c: maximum (kNone: no end)
    kRule,      // a: rule
    kBoth,      // a, b: regular operands
    kMinus,     // a without b, both regular
    kToken,     // a: offset, b: number of ids, c: negated
    kLexeme,    // a: body, b: what must not match longer
    kCapture,   // a: name, b: body
    kPart,  // a: body; matched as the body is, and a hint: its masks are worth keeping apart from
            // what follows
    kNonempty,  // a: body; what it matches but the empty text (made by the rewriting of left
                // recursion)
    kDfa,       // a: offset, b: number of words of an automaton over bytes (`DfaState`)
    kRecord,    // a: offset, b: number of words of an object or array (record.h)
    kLalr,      // a: offset, b: number of words of a parser (lalr.h)
    kHostname,  // a: its characters at most, b: 1 if they may be escaped (hostnames.h)
};

using CodeRange = std::pair<uint32_t, uint32_t>;  // inclusive

struct DfaState {
    struct Edge {
        uint8_t low, high;  // inclusive
        uint32_t target;
    };
    bool accepting;
    std::vector<Edge> edges;
};

struct RecordParts;
struct LalrParts;

class Arena {
  public:
    static constexpr uint32_t kEmptyNode = 0, kNeverNode = 1;
    static constexpr uint32_t kMaxDepth = 1000;

    struct Node {
        Node(Kind kind_, bool regular_, bool nullable_, bool text_, uint32_t depth_, uint32_t a_,
             uint32_t b_, uint32_t c_, Hash128 hash_)
            : hash(hash_), depth(depth_), a(a_), b(b_), c(c_), kind(kind_), regular(regular_),
              nullable(nullable_), text(text_) {}
        Hash128 hash;
        uint32_t depth;  // of recursion from the left corner
        uint32_t a, b, c;
        Kind kind;
        bool regular, nullable, text;  // text: matches only whole UTF-8 characters
        bool structural = true;  // holds no rule: equal hashes mean equal languages in any arena
        bool vast = false;       // holds a host name: regular, but with states without end
        bool is_operand() const { return regular && !vast; }  // of both(), minus() and lexeme()
    };
    struct Rule {
        std::string name;
        uint32_t body = kNone;
    };

    explicit Arena(uint32_t max_nodes = 2'000'000);
    Arena clone() const;  // with room for more

    uint32_t literal(std::string_view bytes);
    uint32_t char_class(std::span<const CodeRange> ranges);
    uint32_t sequence(std::span<const uint32_t> nodes);
    uint32_t sequence(uint32_t first, uint32_t rest) {
        uint32_t pair[] = {first, rest};
        return sequence(pair);
    }
    uint32_t choice(std::span<const uint32_t> nodes);
    uint32_t repeat(uint32_t body, uint32_t minimum, uint32_t maximum);
    uint32_t rule(std::string name);
    void define(uint32_t rule_node, uint32_t body);
    uint32_t both(uint32_t a, uint32_t b);
    uint32_t minus(uint32_t a, uint32_t b);
    uint32_t negation(uint32_t a) { return minus(any_text(), a); }
    uint32_t any_text();
    uint32_t token(std::span<const uint32_t> ids, bool negated);
    uint32_t lexeme(uint32_t body, uint32_t longer);
    uint32_t capture(std::string name, uint32_t body);
    uint32_t part(uint32_t body);
    uint32_t nonempty(uint32_t body);
    // A regular node given by its automaton: state 0 is the start.
    uint32_t dfa(std::vector<DfaState> states);
    // A host name, A-labels included, of so many characters at most; 253 are what DNS has room for.
    uint32_t hostname(uint32_t longest, bool escaped);
    uint32_t record(const RecordParts& parts);
    uint32_t lalr(const LalrParts& parts);

    void set_origin(uint32_t node, std::string place) {
        origins_.try_emplace(check(node), std::move(place));
    }
    const std::string* origin(uint32_t node) const;

    uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
    const Node& operator[](uint32_t node) const { return nodes_[node]; }
    uint32_t check(uint32_t node) const;  // throws std::out_of_range
    // The parts of a regular node tell that something matches it: there is no intersection or
    // difference in it, nor anything else that may come to nothing.
    bool plainly_matches(uint32_t node) const;
    std::string_view bytes(const Node& n) const { return {bytes_.data() + n.a, n.b}; }
    std::span<const CodeRange> ranges(const Node& n) const { return {ranges_.data() + n.a, n.b}; }
    std::span<const uint32_t> children(const Node& n) const { return {words_.data() + n.a, n.b}; }
    std::span<const uint32_t> ids(const Node& n) const { return {words_.data() + n.a, n.b}; }
    std::span<const uint32_t> words(const Node& n) const { return {words_.data() + n.a, n.b}; }
    const std::string& name(const Node& capture) const { return names_[capture.a]; }
    const std::string& text(uint32_t number) const { return texts_[number]; }  // of a record
    std::vector<Rule>& rules() { return rules_; }
    const std::vector<Rule>& rules() const { return rules_; }

    // Copy a regular node from another arena.
    uint32_t import(const Arena& other, uint32_t node);

    std::string serialize() const;
    static Arena deserialize(std::string_view data);  // throws std::invalid_argument

  private:
    uint32_t add(Node n, const void* payload = nullptr, size_t payload_bytes = 0);
    bool equal(const Node& known, const Node& n, const void* payload) const;
    void grow_slots();
    uint32_t add_sequence(uint32_t first, uint32_t rest);
    uint32_t add_choice(std::span<const uint32_t> options);
    uint32_t add_rule(uint32_t index);
    uint32_t add_dfa(std::span<const uint32_t> words);
    uint32_t add_record(std::span<const uint32_t> words);
    uint32_t add_lexeme(uint32_t body, uint32_t longer);
    uint32_t add_lalr(std::span<const uint32_t> words, bool nullable);
    bool covers(uint32_t longer, uint32_t body) const;
    uint32_t add_text(std::string_view text);
    template <class F>
    void each_part(const Node& n, const void* payload, F&& f) const;
    void check_operand(uint32_t node) const;  // throws std::invalid_argument
    uint32_t cons(uint32_t first, uint32_t rest);
    void flatten_choice(std::span<const uint32_t> nodes, std::vector<uint32_t>& out) const;
    void merge_classes(std::vector<uint32_t>& options);
    void share_literals(std::vector<uint32_t>& options);
    bool leading_literal(uint32_t node, std::string_view& bytes, uint32_t& rest) const;
    bool single_character(uint32_t node, CodeRange& range) const;

    std::vector<Node> nodes_;
    std::vector<uint32_t> slots_;
    std::string bytes_;
    std::vector<CodeRange> ranges_;
    std::vector<uint32_t> words_;
    std::vector<std::string> names_;
    std::vector<std::string> texts_;
    std::unordered_map<std::string, uint32_t> text_numbers_;
    std::vector<Rule> rules_;
    std::unordered_map<uint32_t, std::string> origins_;
    uint32_t max_nodes_;
};

}  // namespace guided
