#include "arena.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "errors.h"
#include "hostnames.h"
#include "lalr.h"
#include "record.h"
#include "utf8.h"

namespace guided {

namespace {

constexpr uint32_t kMaxLiteral = 0x7fffffff;
constexpr uint32_t kMaxDfaStates = 200'000;

}  // namespace

Arena::Arena(uint32_t max_nodes) : max_nodes_(max_nodes) {
    add({Kind::kEmpty, true, true, true, 0, 0, 0, 0, {1, 2}});
    add({Kind::kNever, true, false, true, 0, 0, 0, 0, {3, 4}});
}

Arena Arena::clone() const {
    Arena copy(max_nodes_);
    copy.nodes_.reserve(nodes_.size() + nodes_.size() / 2);
    copy.words_.reserve(2 * words_.size());
    copy = *this;
    return copy;
}

bool Arena::plainly_matches(uint32_t node) const {
    std::vector<bool> seen(node + 1, false);
    std::vector<uint32_t> todo{node};
    while (!todo.empty()) {
        const uint32_t id = todo.back();
        todo.pop_back();
        if (id > node) return false;  // the body of a rule
        if (seen[id]) continue;
        seen[id] = true;
        const Node& n = nodes_[id];
        switch (n.kind) {
            case Kind::kEmpty:
            case Kind::kLiteral:
            case Kind::kClass: break;
            case Kind::kSequence:
                todo.push_back(n.a);
                todo.push_back(n.b);
                break;
            case Kind::kChoice:
                for (uint32_t child : children(n)) todo.push_back(child);
                break;
            case Kind::kRepeat:
                if (n.b) todo.push_back(n.a);
                break;
            case Kind::kCapture: todo.push_back(n.b); break;
            case Kind::kPart: todo.push_back(n.a); break;
            default: return false;
        }
    }
    return true;
}

uint32_t Arena::check(uint32_t node) const {
    if (node >= nodes_.size())
        throw std::out_of_range("no node has the number " + std::to_string(node));
    return node;
}

const std::string* Arena::origin(uint32_t node) const {
    auto found = origins_.find(node);
    return found == origins_.end() ? nullptr : &found->second;
}

// ---- hash-consing ----

bool Arena::equal(const Node& known, const Node& n, const void* payload) const {
    if (known.kind != n.kind || known.b != n.b || known.c != n.c) return false;
    if (n.kind == Kind::kToken && n.b == 0) return true;  // no payload to compare
    switch (n.kind) {
        case Kind::kLiteral: return !std::memcmp(bytes_.data() + known.a, payload, n.b);
        case Kind::kClass:
            return !std::memcmp(ranges_.data() + known.a, payload, n.b * sizeof(CodeRange));
        case Kind::kChoice:
        case Kind::kDfa:
        case Kind::kRecord:
        case Kind::kLalr:
        case Kind::kToken: return !std::memcmp(words_.data() + known.a, payload, n.b * 4);
        default: return known.a == n.a;
    }
}

void Arena::grow_slots() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, kNone);
    size_t mask = slots_.size() - 1;
    for (uint32_t id = 0; id < nodes_.size(); ++id) {
        size_t i = nodes_[id].hash.low & mask;
        while (slots_[i] != kNone) i = (i + 1) & mask;
        slots_[i] = id;
    }
}

uint32_t Arena::add(Node n, const void* payload, size_t payload_bytes) {
    if ((nodes_.size() + 1) * 2 > slots_.size()) grow_slots();
    size_t mask = slots_.size() - 1;
    size_t i = n.hash.low & mask;
    for (; slots_[i] != kNone; i = (i + 1) & mask) {
        const Node& known = nodes_[slots_[i]];
        if (known.hash == n.hash && equal(known, n, payload)) return slots_[i];
    }
    if (nodes_.size() >= max_nodes_)
        throw LimitExceeded("the grammar has too many nodes", "nodes", max_nodes_, "max_nodes");
    if (n.depth > kMaxDepth)
        throw LimitExceeded("the grammar is nested too deeply", "levels", kMaxDepth, "");
    n.structural = n.kind != Kind::kRule && n.kind != Kind::kLalr;  // its tables are not compared
    n.vast = n.kind == Kind::kHostname;
    each_part(n, payload, [&](uint32_t id) {
        n.structural &= nodes_[id].structural;
        n.vast |= nodes_[id].vast;
    });
    switch (n.kind) {
        case Kind::kLiteral:
            n.a = static_cast<uint32_t>(bytes_.size());
            bytes_.append(static_cast<const char*>(payload), payload_bytes);
            break;
        case Kind::kClass: {
            n.a = static_cast<uint32_t>(ranges_.size());
            auto* first = static_cast<const CodeRange*>(payload);
            ranges_.insert(ranges_.end(), first, first + n.b);
            break;
        }
        case Kind::kChoice:
        case Kind::kDfa:
        case Kind::kRecord:
        case Kind::kLalr:
        case Kind::kToken: {
            n.a = static_cast<uint32_t>(words_.size());
            auto* first = static_cast<const uint32_t*>(payload);
            words_.insert(words_.end(), first, first + n.b);
            break;
        }
        default: break;
    }
    uint32_t id = static_cast<uint32_t>(nodes_.size());
    slots_[i] = id;
    nodes_.push_back(n);
    return id;
}

// The nodes that a new one is made of, but for the body of a rule.
template <class F>
void Arena::each_part(const Node& n, const void* payload, F&& f) const {
    auto* words = static_cast<const uint32_t*>(payload);
    switch (n.kind) {
        case Kind::kChoice: std::for_each(words, words + n.b, f); return;
        case Kind::kRecord: for_each_node(std::span(words, n.b), f); return;
        case Kind::kSequence:
        case Kind::kBoth:
        case Kind::kLexeme:
        case Kind::kMinus:
            f(n.a);
            f(n.b);
            return;
        case Kind::kRepeat:
        case Kind::kPart:
        case Kind::kNonempty: f(n.a); return;
        case Kind::kCapture: f(n.b); return;
        default: return;
    }
}

// ---- leaves ----

uint32_t Arena::literal(std::string_view bytes) {
    if (bytes.empty()) return kEmptyNode;
    if (bytes.size() > kMaxLiteral)
        throw LimitExceeded("a literal is too long", "bytes", kMaxLiteral, "");
    Hash128 h = combine(hash_bytes(bytes), 5);
    return add({Kind::kLiteral, true, false, is_utf8(bytes), 0, 0,
                static_cast<uint32_t>(bytes.size()), 0, h},
               bytes.data(), bytes.size());
}

uint32_t Arena::char_class(std::span<const CodeRange> ranges) {
    std::vector<CodeRange> sorted;
    auto keep = [&](uint32_t low, uint32_t high) {
        if (low <= high) sorted.push_back({low, high});
    };
    for (auto [low, high] : ranges) {
        if (low > high || high > 0x10ffff)
            throw std::invalid_argument(
                "a range of code points must run upwards within 0..0x10FFFF");
        keep(low, std::min(high, 0xd7ffu));  // surrogates are no characters
        keep(std::max(low, 0xe000u), high);
    }
    std::sort(sorted.begin(), sorted.end());
    std::vector<CodeRange> merged;
    for (auto r : sorted) {
        if (!merged.empty() && r.first <= merged.back().second + 1)
            merged.back().second = std::max(merged.back().second, r.second);
        else merged.push_back(r);
    }
    if (merged.empty()) return kNeverNode;
    if (merged.size() == 1 && merged[0].first == merged[0].second)
        return literal(encode_utf8(merged[0].first));
    Hash128 h{7, 8};
    for (auto [low, high] : merged) h = combine(h, uint64_t{low} << 32 | high);
    return add({Kind::kClass, true, false, true, 0, 0, static_cast<uint32_t>(merged.size()), 0, h},
               merged.data());
}

uint32_t Arena::token(std::span<const uint32_t> ids, bool negated) {
    std::vector<uint32_t> sorted(ids.begin(), ids.end());
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    if (sorted.empty() && !negated) return kNeverNode;
    Hash128 h = combine(Hash128{9, 10}, negated);
    for (uint32_t id : sorted) h = combine(h, id);
    return add(
        {Kind::kToken, false, false, true, 0, 0, static_cast<uint32_t>(sorted.size()), negated, h},
        sorted.data());
}

// States from which no text is accepted are cut off, so that a terminal never enters one.
uint32_t Arena::dfa(std::vector<DfaState> states) {
    if (states.empty()) return kNeverNode;
    if (states.size() > kMaxDfaStates)
        throw LimitExceeded("an automaton is too large", "states", kMaxDfaStates, "");
    std::vector<std::vector<uint32_t>> sources(states.size());
    std::vector<uint8_t> alive(states.size(), 0);
    std::vector<uint32_t> todo;
    for (uint32_t s = 0; s < states.size(); ++s) {
        auto& edges = states[s].edges;
        std::sort(edges.begin(), edges.end(),
                  [](const auto& x, const auto& y) { return x.low < y.low; });
        for (size_t i = 0; i < edges.size(); ++i) {
            if (edges[i].low > edges[i].high || edges[i].target >= states.size() ||
                (i && edges[i].low <= edges[i - 1].high))
                throw std::invalid_argument("edges of a state must be disjoint and lead to states");
            sources[edges[i].target].push_back(s);
        }
        if (states[s].accepting) alive[s] = 1, todo.push_back(s);
    }
    while (!todo.empty()) {
        uint32_t s = todo.back();
        todo.pop_back();
        for (uint32_t from : sources[s])
            if (!alive[from]) alive[from] = 1, todo.push_back(from);
    }
    if (!alive[0]) return kNeverNode;
    // Numbered as met from the start, so that equal automata are equal words.
    std::vector<uint32_t> number(states.size(), kNone), order{0}, words;
    number[0] = 0;
    for (size_t i = 0; i < order.size(); ++i) {
        const DfaState& s = states[order[i]];
        size_t head = words.size();
        words.insert(words.end(), {s.accepting, 0});
        for (const auto& e : s.edges) {
            if (!alive[e.target]) continue;
            if (number[e.target] == kNone) {
                number[e.target] = static_cast<uint32_t>(order.size());
                order.push_back(e.target);
            }
            ++words[head + 1];
            words.insert(words.end(), {uint32_t{e.low} << 8 | e.high, number[e.target]});
        }
    }
    if (order.size() == 1 && words[1] == 0) return kEmptyNode;
    return add_dfa(words);
}

uint32_t Arena::add_dfa(std::span<const uint32_t> words) {
    bool ascii = true;
    for (size_t i = 0; i < words.size(); i += 2 + 2 * words[i + 1])
        for (size_t k = 0; k < words[i + 1]; ++k) ascii &= (words[i + 2 + 2 * k] & 0xff) < 0x80;
    Hash128 h{37, 38};
    for (uint32_t word : words) h = combine(h, word);
    return add(
        {Kind::kDfa, true, words[0] != 0, ascii, 0, 0, static_cast<uint32_t>(words.size()), 0, h},
        words.data());
}

uint32_t Arena::hostname(uint32_t longest, bool escaped) {
    if (longest > Hostnames::kLongest)
        throw std::invalid_argument("a host name has at most 253 characters");
    if (longest == 0) return kNeverNode;
    Hash128 h = combine(Hash128{43, 44}, uint64_t{longest} << 1 | escaped);
    return add({Kind::kHostname, true, false, true, 0, longest, escaped, 0, h});
}

// ---- records ----

uint32_t Arena::add_text(std::string_view text) {
    auto [at, fresh] =
        text_numbers_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
    if (fresh) texts_.emplace_back(text);
    return at->second;
}

uint32_t Arena::record(const RecordParts& parts) {
    auto bytes_first = [&](uint32_t node) {
        if (!nodes_[check(node)].regular || nodes_[node].nullable)
            throw std::invalid_argument(
                "the ends of a record are regular and never the empty text");
    };
    for (uint32_t node : {parts.begin, parts.end, parts.empty}) bytes_first(node);
    check(parts.first), check(parts.between);
    for (const auto& m : parts.members) {
        if (m.slot >= parts.slots.size()) throw std::invalid_argument("a member has no slot");
        check(m.key);
        if (m.key != kEmptyNode || m.recorded) bytes_first(m.key);
        for (const auto& v : m.variants) check(v.node);
    }
    for (const auto& s : parts.slots)
        for (uint32_t other : s.owes)
            if (other >= parts.slots.size() || parts.order == RecordParts::kEach)
                throw std::invalid_argument("a slot owes no slot that may come in some order");
    if (parts.minimum > parts.maximum || parts.begin == kNeverNode) return kNeverNode;
    return add_record(record_words(parts, [&](std::string_view text) { return add_text(text); }));
}

uint32_t Arena::add_record(std::span<const uint32_t> words) {
    Hash128 h{35, 36};
    uint32_t depth = 0;
    for_each_word(
        words, [&](uint32_t word) { h = combine(h, word); },
        [&](uint32_t node) {
            h = combine(h, nodes_[node].hash);
            depth = std::max(depth, nodes_[node].depth);
        },
        [&](uint32_t text) { h = combine(h, hash_bytes(texts_[text])); });
    return add({Kind::kRecord, false, false, true, depth + 1, 0,
                static_cast<uint32_t>(words.size()), 0, h},
               words.data());
}

// ---- nodes as they are, unsimplified ----

uint32_t Arena::add_sequence(uint32_t first, uint32_t rest) {
    const Node &x = nodes_[first], &r = nodes_[rest];
    uint32_t depth = std::max(x.depth + 1, x.nullable ? r.depth : 0);
    Hash128 h = combine(combine(combine(Hash128{11, 12}, x.hash), r.hash), 1);
    return add({Kind::kSequence, x.regular && r.regular, x.nullable && r.nullable, x.text && r.text,
                depth, first, rest, 0, h});
}

uint32_t Arena::add_choice(std::span<const uint32_t> options) {
    Node n{Kind::kChoice, true, false, true, 0, 0, static_cast<uint32_t>(options.size()), 0, {}};
    Hash128
        sum{};  // the order of options is that of their numbers, which another arena may not share
    for (size_t i = 0; i < options.size(); ++i) {
        const Node& o = nodes_[options[i]];
        n.regular &= o.regular;
        n.nullable |= o.nullable;
        n.text &= o.text;
        n.depth = std::max(n.depth, i + 1 == options.size() ? o.depth : o.depth + 1);
        sum.low += mix(o.hash.low);
        sum.high += mix(o.hash.high);
    }
    n.hash = combine(combine(Hash128{13, 14}, sum), options.size());
    return add(n, options.data());
}

uint32_t Arena::add_rule(uint32_t index) {
    return add({Kind::kRule, false, false, true, 0, index, 0, 0, combine(Hash128{17, 18}, index)});
}

uint32_t Arena::add_lexeme(uint32_t body, uint32_t longer) {
    const Node &x = nodes_[body], &y = nodes_[longer];
    Hash128 h = combine(combine(combine(Hash128{23, 24}, x.hash), y.hash), 4);
    return add(
        {Kind::kLexeme, false, false, x.text, std::max(x.depth, y.depth) + 1, body, longer, 0, h});
}

// ---- rules, parsers, wrappers ----

uint32_t Arena::rule(std::string name) {
    uint32_t index = static_cast<uint32_t>(rules_.size());
    rules_.push_back({std::move(name), kNone});
    return add_rule(index);
}

void Arena::define(uint32_t rule_node, uint32_t body) {
    check(body);
    if (nodes_[check(rule_node)].kind != Kind::kRule)
        throw std::invalid_argument("only a rule can be defined");
    Rule& r = rules_[nodes_[rule_node].a];
    if (r.body != kNone) throw std::invalid_argument("rule \"" + r.name + "\" is defined twice");
    r.body = body;
}

uint32_t Arena::lalr(const LalrParts& parts) {
    std::vector<uint32_t> words = lalr_words(parts);
    LalrParts read = take_lalr_apart(words, size());
    for (const auto& s : read.states)
        for (const auto& l : s.leaves)
            if (nodes_[l.node].kind != Kind::kLexeme && l.node != kNeverNode)
                throw std::invalid_argument("the leaves of a parser are lexemes");
    return add_lalr(words, read.accepts_nothing());
}

uint32_t Arena::add_lalr(std::span<const uint32_t> words, bool nullable) {
    Hash128 h{41, 42};
    for_each_lalr_word(
        words, [&](uint32_t word) { h = combine(h, word); },
        [&](uint32_t node) { h = combine(h, nodes_[node].hash); });
    return add(
        {Kind::kLalr, false, nullable, true, 1, 0, static_cast<uint32_t>(words.size()), 0, h},
        words.data());
}

uint32_t Arena::capture(std::string name, uint32_t body) {
    Node x = nodes_[check(body)];
    uint32_t index = 0;
    while (index < names_.size() && names_[index] != name) ++index;
    if (index == names_.size()) names_.push_back(std::move(name));
    Hash128 h = combine(combine(combine(Hash128{25, 26}, x.hash), hash_bytes(names_[index])), 1);
    return add({Kind::kCapture, x.regular, x.nullable, x.text, x.depth + 1, index, body, 0, h});
}

uint32_t Arena::part(uint32_t body) {
    const Node& x = nodes_[check(body)];
    if (x.kind == Kind::kEmpty || x.kind == Kind::kNever || x.kind == Kind::kPart) return body;
    Hash128 h = combine(combine(Hash128{29, 30}, x.hash), 1);
    return add({Kind::kPart, x.regular, x.nullable, x.text, x.depth + 1, body, 0, 0, h});
}

uint32_t Arena::nonempty(uint32_t body) {
    const Node& x = nodes_[body];
    if (x.kind == Kind::kEmpty) return kNeverNode;
    if (x.kind == Kind::kNonempty || (!x.nullable && x.regular)) return body;
    Hash128 h = combine(combine(Hash128{27, 28}, x.hash), 1);
    return add({Kind::kNonempty, false, false, x.text, x.depth + 1, body, 0, 0, h});
}

// ---- copies ----

uint32_t Arena::import(const Arena& other, uint32_t root) {
    std::vector<uint32_t> to(root + 1, kNone);
    std::vector<bool> wanted(root + 1, false);
    wanted[root] = true;
    for (uint32_t id = root + 1; id-- > 0;) {
        if (!wanted[id]) continue;
        const Node& n = other[id];
        const bool is_list = n.kind == Kind::kChoice || n.kind == Kind::kRecord;
        other.each_part(n, is_list ? other.words(n).data() : nullptr,
                        [&](uint32_t child) { wanted[child] = true; });
    }
    std::vector<uint32_t> options;
    for (uint32_t id = 0; id <= root; ++id) {
        if (!wanted[id]) continue;
        Node n = other[id];
        switch (n.kind) {
            case Kind::kEmpty:
            case Kind::kNever: to[id] = id; continue;
            case Kind::kLiteral: to[id] = add(n, other.bytes(n).data(), n.b); continue;
            case Kind::kClass: to[id] = add(n, other.ranges(n).data()); continue;
            case Kind::kDfa: to[id] = add(n, other.words(n).data()); continue;
            case Kind::kHostname: to[id] = add(n); continue;
            case Kind::kChoice:
                options.clear();
                for (uint32_t child : other.children(n)) options.push_back(to[child]);
                to[id] = add(n, options.data());
                continue;
            case Kind::kCapture:  // a name changes nothing where only the text counts
                to[id] = to[n.b];
                continue;
            case Kind::kPart: to[id] = to[n.a]; continue;
            case Kind::kSequence:
            case Kind::kBoth:
            case Kind::kLexeme:
            case Kind::kMinus: n.b = to[n.b]; [[fallthrough]];
            case Kind::kRepeat:
                n.a = to[n.a];
                to[id] = add(n);
                continue;
            default: throw std::invalid_argument("only regular nodes can be copied");
        }
    }
    return to[root];
}

}  // namespace guided
