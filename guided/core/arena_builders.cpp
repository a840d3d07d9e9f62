// Sequences, choices, repeats and products: simplified as they are built, never in a way that
// changes the language.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "arena.h"
#include "errors.h"
#include "utf8.h"

namespace guided {

namespace {

constexpr uint32_t kMaxCount = 0x7fffffff;

uint32_t multiply(uint32_t a, uint32_t b) {
    if (a == 0 || b == 0) return 0;
    if (a == kNone || b == kNone) return kNone;
    uint64_t product = uint64_t{a} * b;
    if (product > kMaxCount)
        throw LimitExceeded("a counted repeat is too large", "repetitions", kMaxCount, "");
    return static_cast<uint32_t>(product);
}

}  // namespace

// ---- sequences ----

uint32_t Arena::sequence(std::span<const uint32_t> nodes) {
    for (uint32_t n : nodes) check(n);
    uint32_t result = kEmptyNode;
    std::string run;  // literals next to each other become one, in one copy
    for (size_t i = nodes.size(); i-- > 0;) {
        if (nodes_[nodes[i]].kind != Kind::kLiteral) {
            result = cons(nodes[i], result);
            continue;
        }
        size_t first = i;
        while (first > 0 && nodes_[nodes[first - 1]].kind == Kind::kLiteral) --first;
        if (first == i) {
            result = cons(nodes[i], result);
            continue;
        }
        run.clear();
        for (size_t k = first; k <= i; ++k) run += bytes(nodes_[nodes[k]]);
        result = cons(literal(run), result);
        i = first;
    }
    return result;
}

uint32_t Arena::cons(uint32_t first, uint32_t rest) {
    if (first == kNeverNode || rest == kNeverNode) return kNeverNode;
    if (first == kEmptyNode) return rest;
    if (rest == kEmptyNode) return first;
    if (nodes_[first].kind == Kind::kSequence) {  // lean right, without recursion
        std::vector<uint32_t> spine;
        uint32_t n = first;
        for (; nodes_[n].kind == Kind::kSequence; n = nodes_[n].b) spine.push_back(nodes_[n].a);
        rest = cons(n, rest);
        while (!spine.empty()) {
            rest = cons(spine.back(), rest);
            spine.pop_back();
        }
        return rest;
    }
    const Node& x = nodes_[first];
    uint32_t head = nodes_[rest].kind == Kind::kSequence ? nodes_[rest].a : rest;
    uint32_t tail = nodes_[rest].kind == Kind::kSequence ? nodes_[rest].b : kEmptyNode;
    const Node& y = nodes_[head];
    if (x.kind == Kind::kLiteral && y.kind == Kind::kLiteral) {
        std::string merged(bytes(x));
        merged += bytes(y);
        return cons(literal(merged), tail);
    }
    // x x{a,b} is x{a+1,b+1}, and x{a,b} x{c,d} is x{a+c,b+d}: fewer ways to say one text.
    auto as_repeat = [&](uint32_t id) {
        const Node& n = nodes_[id];
        return n.kind == Kind::kRepeat ? std::array{n.a, n.b, n.c} : std::array{id, 1u, 1u};
    };
    if (x.kind == Kind::kRepeat || y.kind == Kind::kRepeat) {
        auto [body_x, low_x, high_x] = as_repeat(first);
        auto [body_y, low_y, high_y] = as_repeat(head);
        if (body_x == body_y && low_x + low_y <= kMaxCount) {
            bool endless = high_x == kNone || high_y == kNone;
            if (endless || high_x + high_y <= kMaxCount)
                return cons(repeat(body_x, low_x + low_y, endless ? kNone : high_x + high_y), tail);
        }
    }
    return add_sequence(first, rest);
}

// ---- choices ----

uint32_t Arena::choice(std::span<const uint32_t> nodes) {
    for (uint32_t n : nodes) check(n);
    std::vector<uint32_t> options;
    flatten_choice(nodes, options);
    if (options.size() > 1) merge_classes(options);
    if (options.size() > 1) share_literals(options);
    std::sort(options.begin(), options.end());
    options.erase(std::unique(options.begin(), options.end()), options.end());
    if (!options.empty() && options[0] == kEmptyNode &&
        std::any_of(options.begin() + 1, options.end(),
                    [&](uint32_t n) { return nodes_[n].nullable; }))
        options.erase(options.begin());
    if (options.empty()) return kNeverNode;
    if (options.size() == 1) return options[0];
    // A nested choice goes last: it is opened by a loop, so a chain of them nests without depth.
    std::stable_partition(options.begin(), options.end(),
                          [&](uint32_t n) { return nodes_[n].kind != Kind::kChoice; });
    return add_choice(options);
}

void Arena::flatten_choice(std::span<const uint32_t> nodes, std::vector<uint32_t>& out) const {
    constexpr uint32_t kSmall =
        8;  // a longer one stays whole: chains of choices would cost the square of their length
    for (uint32_t id : nodes) {
        const Node& n = nodes_[id];
        if (id == kNeverNode) continue;
        if (n.kind == Kind::kChoice &&
            (nodes.size() == 1 || (n.b <= kSmall && nodes.size() <= kSmall)))
            for (uint32_t child : children(n)) out.push_back(child);
        else out.push_back(id);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
}

bool Arena::single_character(uint32_t node, CodeRange& range) const {
    const Node& n = nodes_[node];
    if (n.kind != Kind::kLiteral || n.b > 4) return false;
    uint32_t code = decode_one(bytes(n));
    range = {code, code};
    return code != kNone;
}

void Arena::merge_classes(std::vector<uint32_t>& options) {
    bool any = std::any_of(options.begin(), options.end(),
                           [&](uint32_t n) { return nodes_[n].kind == Kind::kClass; });
    if (!any) return;
    std::vector<CodeRange> all;
    std::vector<uint32_t> others;
    for (uint32_t id : options) {
        CodeRange one;
        if (nodes_[id].kind == Kind::kClass) {
            auto known = ranges(nodes_[id]);
            all.insert(all.end(), known.begin(), known.end());
        } else if (single_character(id, one)) {
            all.push_back(one);
        } else {
            others.push_back(id);
        }
    }
    others.push_back(char_class(all));
    options.swap(others);
}

bool Arena::leading_literal(uint32_t node, std::string_view& lead, uint32_t& rest) const {
    const Node& n = nodes_[node];
    uint32_t first = n.kind == Kind::kSequence ? n.a : node;
    if (nodes_[first].kind != Kind::kLiteral) return false;
    lead = bytes(nodes_[first]);
    rest = n.kind == Kind::kSequence ? n.b : kEmptyNode;
    return true;
}

// Options that begin alike share the beginning, as in a trie: a choice of 20,000 words is then a
// walk, not a scan.
void Arena::share_literals(std::vector<uint32_t>& options) {
    struct Entry {
        std::string lead;
        uint32_t rest;
    };
    std::vector<Entry> entries;
    std::vector<uint32_t> result;
    for (uint32_t id : options) {
        std::string_view lead;
        uint32_t rest;
        if (leading_literal(id, lead, rest)) entries.push_back({std::string(lead), rest});
        else result.push_back(id);
    }
    if (entries.size() < 2) return;
    std::sort(entries.begin(), entries.end(),
              [](const Entry& x, const Entry& y) { return x.lead < y.lead; });
    // Bottom-up over a stack of open beginnings, as when a trie is built from sorted words: no
    // recursion.
    struct Open {
        size_t depth;                 // bytes from the root
        std::vector<uint32_t> nodes;  // what may follow them
    };
    std::vector<Open> stack;
    stack.push_back({0, {}});
    std::string path;  // of the top of the stack
    auto close_to = [&](size_t depth) {
        while (stack.back().depth > depth) {
            Open top = std::move(stack.back());
            stack.pop_back();
            size_t up = std::max(depth, stack.back().depth);
            std::sort(top.nodes.begin(), top.nodes.end());
            top.nodes.erase(std::unique(top.nodes.begin(), top.nodes.end()), top.nodes.end());
            uint32_t below = top.nodes.size() == 1 ? top.nodes[0] : choice(top.nodes);
            uint32_t edge = cons(literal(std::string_view(path).substr(up, top.depth - up)), below);
            if (stack.back().depth < up) stack.push_back({up, {}});
            stack.back().nodes.push_back(edge);
            path.resize(up);
        }
    };
    for (Entry& e : entries) {
        size_t common =
            std::mismatch(path.begin(), path.end(), e.lead.begin(), e.lead.end()).first -
            path.begin();
        close_to(common);
        if (e.lead.size() > stack.back().depth) {
            path = e.lead;
            stack.push_back({e.lead.size(), {}});
        }
        stack.back().nodes.push_back(e.rest);
    }
    close_to(0);
    result.insert(result.end(), stack[0].nodes.begin(), stack[0].nodes.end());
    options.swap(result);
}

// ---- repeats ----

uint32_t Arena::repeat(uint32_t body, uint32_t minimum, uint32_t maximum) {
    check(body);
    if (minimum > kMaxCount || (maximum > kMaxCount && maximum != kNone))
        throw LimitExceeded("a counted repeat is too large", "repetitions", kMaxCount, "");
    if (minimum > maximum)
        throw std::invalid_argument("a repeat cannot have a minimum above its maximum");
    if (body == kEmptyNode || maximum == 0) return kEmptyNode;
    if (body == kNeverNode) return minimum == 0 ? kEmptyNode : kNeverNode;
    if (nodes_[body].nullable) minimum = 0;
    if (minimum == 1 && maximum == 1) return body;
    if (nodes_[body].kind == Kind::kChoice && nodes_[body].nullable &&
        children(nodes_[body])[0] == kEmptyNode) {
        auto all = children(nodes_[body]);
        std::vector<uint32_t> others(all.begin() + 1, all.end());
        return repeat(choice(others), 0, maximum);
    }
    if (nodes_[body].kind == Kind::kRepeat) {
        // x{a,b}{c,d} is x{ac,bd} where the counts n*a..n*b leave no gap: (n+1)a <= nb+1 at the
        // least n.
        auto [inner, low, high] = std::array{nodes_[body].a, nodes_[body].b, nodes_[body].c};
        bool gapless = minimum == maximum || high == kNone ||
                       (uint64_t{minimum} + 1) * low <= uint64_t{minimum} * high + 1;
        if (minimum == 0 && low > 1) gapless = false;
        if (gapless) return repeat(inner, multiply(low, minimum), multiply(high, maximum));
    }
    const Node& x = nodes_[body];
    Hash128 h = combine(combine(Hash128{15, 16}, x.hash), uint64_t{minimum} << 32 | maximum);
    return add(
        {Kind::kRepeat, x.regular, minimum == 0, x.text, x.depth + 1, body, minimum, maximum, h});
}

uint32_t Arena::any_text() {
    CodeRange all{0, 0x10ffff};
    return repeat(char_class({&all, 1}), 0, kNone);
}

// ---- products ----

void Arena::check_operand(uint32_t node) const {
    if (!nodes_[check(node)].is_operand())
        throw std::invalid_argument(
            "both(), minus() and lexeme() take regular operands: no rules, tokens, lexemes or host"
            " names");
}

uint32_t Arena::both(uint32_t a, uint32_t b) {
    check_operand(a);
    check_operand(b);
    if (a > b) std::swap(a, b);
    if (a == kNeverNode || b == kNeverNode) return kNeverNode;
    if (a == b) return a;
    if (a == kEmptyNode) return nodes_[b].nullable ? kEmptyNode : kNeverNode;
    uint32_t everything = any_text();
    if (a == everything && nodes_[b].text) return b;
    if (b == everything && nodes_[a].text) return a;
    if (nodes_[a].kind == Kind::kMinus) return minus(both(nodes_[a].a, b), nodes_[a].b);
    if (nodes_[b].kind == Kind::kMinus) return minus(both(a, nodes_[b].a), nodes_[b].b);
    if (nodes_[a].kind == Kind::kLiteral && nodes_[b].kind == Kind::kLiteral) return kNeverNode;
    const Node &x = nodes_[a], &y = nodes_[b];
    Hash128 sum{mix(x.hash.low) + mix(y.hash.low), mix(x.hash.high) + mix(y.hash.high)};
    Hash128 h = combine(Hash128{19, 20}, sum);
    return add({Kind::kBoth, true, x.nullable && y.nullable, x.text || y.text,
                std::max(x.depth, y.depth) + 1, a, b, 0, h});
}

uint32_t Arena::minus(uint32_t a, uint32_t b) {
    check_operand(a);
    check_operand(b);
    if (a == kNeverNode || a == b) return kNeverNode;
    if (b == kNeverNode) return a;
    if (a == kEmptyNode) return nodes_[b].nullable ? kNeverNode : kEmptyNode;
    if (nodes_[a].kind == Kind::kMinus) {  // a - b - c is a - (b | c)
        uint32_t removed[] = {nodes_[a].b, b};
        return minus(nodes_[a].a, choice(removed));
    }
    const Node &x = nodes_[a], &y = nodes_[b];
    Hash128 h = combine(combine(combine(Hash128{21, 22}, x.hash), y.hash), 3);
    return add({Kind::kMinus, true, x.nullable && !y.nullable, x.text,
                std::max(x.depth, y.depth) + 1, a, b, 0, h});
}

uint32_t Arena::lexeme(uint32_t body, uint32_t longer) {
    check_operand(body);
    check_operand(longer);
    if (nodes_[body].nullable) throw std::invalid_argument("a lexeme is never the empty text");
    if (body == kNeverNode) return kNeverNode;
    if (!covers(longer, body)) {
        uint32_t both[] = {body, longer};
        longer = choice(both);
    }
    return add_lexeme(body, longer);
}

// `longer` is seen to match all that `body` does.
bool Arena::covers(uint32_t longer, uint32_t body) const {
    if (longer == body) return true;
    const Node &x = nodes_[body], &y = nodes_[longer];
    if (y.kind == Kind::kChoice) {
        auto options = children(y);
        if (std::any_of(options.begin(), options.end(),
                        [&](uint32_t option) { return covers(option, body); }))
            return true;
    }
    if (x.kind == Kind::kMinus) return covers(longer, x.a);
    if (x.kind == Kind::kChoice) {
        auto options = children(x);
        return std::all_of(options.begin(), options.end(),
                           [&](uint32_t option) { return covers(longer, option); });
    }
    return false;
}

}  // namespace guided
