#include "grammar.h"

#include <algorithm>
#include <atomic>

#include "errors.h"
#include "lalr.h"
#include "record.h"
#include "recorded.h"

namespace guided {

namespace {

// The nodes that a grammar machine may open below `n`; operands of products and lexemes are matched
// by terminals.
template <class F>
void each_child(const Arena& arena, const Arena::Node& n, F&& f) {
    switch (n.kind) {
        case Kind::kSequence:
            f(n.a);
            f(n.b);
            break;
        case Kind::kChoice:
            for (uint32_t child : arena.children(n)) f(child);
            break;
        case Kind::kRepeat:
        case Kind::kPart:
        case Kind::kNonempty: f(n.a); break;
        case Kind::kCapture: f(n.b); break;
        case Kind::kRule: f(arena.rules()[n.a].body); break;
        case Kind::kRecord: for_each_node(arena.words(n), f); break;
        case Kind::kLalr: for_each_lalr_word(arena.words(n), [](uint32_t) {}, f); break;
        default: break;
    }
}

// An endless repeat cannot be used up by a finite set of texts: no need to build the difference to
// know it.
bool surely_matches(const Arena& arena, const Arena::Node& n) {
    if (n.kind != Kind::kMinus) return false;
    const Arena::Node& run = arena[n.a];
    return run.kind == Kind::kRepeat && run.c == kNone && !arena[run.a].nullable &&
           is_finite(arena, n.b) &&
           (arena[run.a].kind == Kind::kClass || arena[run.a].kind == Kind::kLiteral ||
            arena[run.a].kind == Kind::kChoice);
}

}  // namespace

bool is_finite(const Arena& arena, uint32_t node) {
    for (;;) {
        const Arena::Node& n = arena[node];
        switch (n.kind) {
            case Kind::kSequence:
                if (!is_finite(arena, n.a)) return false;
                node = n.b;
                continue;
            case Kind::kChoice:
                for (uint32_t child : arena.children(n))
                    if (!is_finite(arena, child)) return false;
                return true;
            case Kind::kRepeat:
                if (n.c == kNone) return false;
                node = n.a;
                continue;
            case Kind::kCapture: node = n.b; continue;
            case Kind::kPart: node = n.a; continue;
            case Kind::kBoth:
            case Kind::kDfa:
            case Kind::kHostname:
            case Kind::kMinus: return false;
            default: return true;
        }
    }
}

ClosedGrammar::ClosedGrammar(Arena arena, uint32_t start, const Oracle& oracle)
    : arena_(std::move(arena)), start_(arena_.check(start)) {
    for (int round = 0;; ++round) {
        reach();
        mark(oracle);
        if (!productive_[start_]) {
            const auto& n = arena_[start_];
            std::string what = n.kind == Kind::kRule
                                   ? "rule \"" + arena_.rules()[n.a].name + "\" can never end"
                                   : std::string("nothing matches the grammar");
            throw BadGrammar(what, "give it an alternative that does not need itself");
        }
        if (!rewrite_left_recursion()) break;
        if (round > 8)
            throw BadGrammar("left recursion could not be rewritten", "write the rules without it");
    }
    static std::atomic<uint64_t> last{0};
    serial_ = ++last;
    auto sorted = components();
    order_.assign(arena_.rules().size(), 0);
    uint32_t next = 0;
    for (size_t i = sorted.size(); i-- > 0;)
        for (uint32_t rule : sorted[i]) order_[rule] = next++;
}

void ClosedGrammar::reach() {
    reached_mark_.assign(arena_.size(), 0);
    std::vector<uint32_t> todo{start_};
    reached_mark_[start_] = 1;
    while (!todo.empty()) {
        const Arena::Node& n = arena_[todo.back()];
        todo.pop_back();
        if (n.kind == Kind::kRule && arena_.rules()[n.a].body == kNone)
            throw BadGrammar("rule \"" + arena_.rules()[n.a].name + "\" is not defined",
                             "define it, or correct its name");
        each_child(arena_, n, [&](uint32_t child) {
            if (!reached_mark_[child]) {
                reached_mark_[child] = 1;
                todo.push_back(child);
            }
        });
    }
    reached_.clear();
    for (uint32_t id = 0; id < arena_.size(); ++id)
        if (reached_mark_[id]) reached_.push_back(id);
}

// The least set of nodes closed under `holds(node, marks)`: looked at again only where something
// below has changed.
template <class Holds>
void ClosedGrammar::fixpoint(std::vector<uint8_t>& marks, Holds&& holds) {
    marks.assign(arena_.size(), 0);
    bool open = false;
    for (uint32_t id : reached_) marks[id] = holds(id);
    for (uint32_t id : reached_) {
        if (!marks[id] && holds(id)) open = true;  // a rule whose body came later
    }
    if (!open) return;
    std::vector<uint32_t> first(arena_.size() + 1, 0), users;
    for (uint32_t id : reached_)
        each_child(arena_, arena_[id], [&](uint32_t child) { ++first[child + 1]; });
    for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    users.resize(first.back());
    std::vector<uint32_t> at(first.begin(), first.end() - 1);
    for (uint32_t id : reached_)
        each_child(arena_, arena_[id], [&](uint32_t child) { users[at[child]++] = id; });
    std::vector<uint32_t> todo;
    for (uint32_t id : reached_) {
        if (!marks[id] && holds(id)) {
            marks[id] = 1;
            todo.push_back(id);
        }
    }
    while (!todo.empty()) {
        uint32_t id = todo.back();
        todo.pop_back();
        for (uint32_t k = first[id]; k < first[id + 1]; ++k) {
            uint32_t user = users[k];
            if (!marks[user] && holds(user)) {
                marks[user] = 1;
                todo.push_back(user);
            }
        }
    }
}

// Something matches a record, as far as that is known of its parts.
bool ClosedGrammar::is_possible(uint32_t node, const std::vector<uint8_t>& productive,
                                const Oracle& oracle) {
    if (is_plainly_possible(arena_.words(arena_[node]), productive)) return true;
    Record record(arena_, node, [&](uint32_t child) { return productive[child]; });
    if (record.may_run_short())
        record.check_texts([&](uint32_t m, const Progress&, size_t most) {
            return oracle.values(arena_, record.parts().members[m].key, most,
                                 [&](const std::string& value) { return !record.excludes(value); });
        });
    return record.is_possible();
}

void ClosedGrammar::mark(const Oracle& oracle) {
    std::vector<uint8_t> voids(arena_.size(), 0);
    for (uint32_t id : reached_)
        if (arena_[id].kind == Kind::kToken ||
            ((arena_[id].kind == Kind::kBoth || arena_[id].kind == Kind::kMinus) &&
             !surely_matches(arena_, arena_[id])))
            voids[id] = oracle.is_void(arena_, id);
    auto evaluate = [&](uint32_t id, auto& marks, bool leaf, bool all) -> bool {
        const Arena::Node& n = arena_[id];
        switch (n.kind) {
            case Kind::kSequence: return marks[n.a] && marks[n.b];
            case Kind::kChoice:
                for (uint32_t child : arena_.children(n))
                    if (marks[child]) return true;
                return false;
            case Kind::kRepeat: return n.b == 0 || marks[n.a];
            case Kind::kCapture: return marks[n.b];
            case Kind::kPart: return marks[n.a];
            case Kind::kNonempty: return all && marks[n.a];
            case Kind::kRule: return marks[arena_.rules()[n.a].body];
            case Kind::kRecord: return all && is_possible(id, marks, oracle);
            default: return leaf;
        }
    };
    fixpoint(nullable_, [&](uint32_t id) {
        const Arena::Node& n = arena_[id];
        return evaluate(id, nullable_, n.nullable && !voids[id], false);
    });
    fixpoint(productive_, [&](uint32_t id) {
        return evaluate(id, productive_, arena_[id].kind != Kind::kNever && !voids[id], true);
    });
}

// ---- left recursion ----

void ClosedGrammar::left_corners(uint32_t rule, std::vector<uint32_t>& out) {
    std::vector<uint32_t> todo{arena_.rules()[rule].body}, seen;
    std::vector<uint8_t>& mark = reached_mark_;  // 2: seen from this rule
    while (!todo.empty()) {
        uint32_t id = todo.back();
        todo.pop_back();
        if (mark[id] == 2 || !productive_[id]) continue;
        mark[id] = 2;
        seen.push_back(id);
        const Arena::Node& n = arena_[id];
        if (n.kind == Kind::kRule) {
            out.push_back(n.a);
        } else if (n.kind == Kind::kSequence) {
            if (!productive_[n.b]) continue;
            todo.push_back(n.a);
            if (nullable_[n.a]) todo.push_back(n.b);
        } else if (n.kind == Kind::kRecord) {
            todo.push_back(arena_.words(n)[0]);  // never the empty text
        } else if (n.kind != Kind::kLalr) {      // there is no rule in it
            each_child(arena_, n, [&](uint32_t child) { todo.push_back(child); });
        }
    }
    for (uint32_t id : seen) mark[id] = 1;
    std::sort(out.begin(), out.end());
}

// Tarjan's algorithm, with a stack of its own: chains of rules may be long.
std::vector<std::vector<uint32_t>> ClosedGrammar::components() {
    size_t count = arena_.rules().size();
    corners_.assign(count, {});
    std::vector<uint32_t> rules;
    for (uint32_t id : reached_) {
        if (arena_[id].kind != Kind::kRule) continue;
        rules.push_back(arena_[id].a);
        left_corners(arena_[id].a, corners_[arena_[id].a]);
    }
    std::vector<uint32_t> index(count, kNone), low(count, 0), stack;
    std::vector<uint8_t> on_stack(count, 0);
    std::vector<std::vector<uint32_t>> result;
    std::vector<std::pair<uint32_t, size_t>> calls;
    uint32_t next = 0;
    for (uint32_t root : rules) {
        if (index[root] != kNone) continue;
        calls.push_back({root, 0});
        while (!calls.empty()) {
            auto& [rule, at] = calls.back();
            if (at == 0) {
                index[rule] = low[rule] = next++;
                stack.push_back(rule);
                on_stack[rule] = 1;
            }
            if (at < corners_[rule].size()) {
                uint32_t to = corners_[rule][at++];
                if (index[to] == kNone) calls.push_back({to, 0});
                else if (on_stack[to]) low[rule] = std::min(low[rule], index[to]);
                continue;
            }
            uint32_t done = rule;
            calls.pop_back();
            if (!calls.empty())
                low[calls.back().first] = std::min(low[calls.back().first], low[done]);
            if (low[done] != index[done]) continue;
            auto& component = result.emplace_back();
            uint32_t member;
            do {
                member = stack.back();
                stack.pop_back();
                on_stack[member] = 0;
                component.push_back(member);
            } while (member != done);
        }
    }
    return result;
}

bool ClosedGrammar::starts_with_itself(uint32_t rule) const {
    return std::binary_search(corners_[rule].begin(), corners_[rule].end(), rule);
}

bool ClosedGrammar::rewrite_left_recursion() {
    bool any = false;
    for (const auto& component : components()) {
        if (component.size() == 1 && !starts_with_itself(component[0])) continue;
        rewrite(component);
        any = true;
    }
    return any;
}

// Also of nodes that the fixpoint has not seen: those made since, and those it did not reach from
// the start.
bool ClosedGrammar::nullable(uint32_t node) {
    for (;;) {
        if (node < reached_mark_.size() && reached_mark_[node]) return nullable_[node];
        const Arena::Node& n = arena_[node];
        switch (n.kind) {
            case Kind::kSequence:
                if (!nullable(n.a)) return false;
                node = n.b;
                break;
            case Kind::kChoice: {
                auto options = arena_.children(n);
                for (uint32_t child : options.first(options.size() - 1))
                    if (nullable(child)) return true;
                node = options.back();
                break;
            }
            case Kind::kRepeat:
                if (n.b == 0) return true;
                node = n.a;
                break;
            case Kind::kCapture: node = n.b; break;
            case Kind::kPart: node = n.a; break;
            default: return n.nullable;
        }
    }
}

ClosedGrammar::Split ClosedGrammar::split(uint32_t node, const std::vector<uint8_t>& in_component) {
    const Arena::Node n = arena_[node];
    if (node < productive_.size() && !productive_[node]) return {Arena::kNeverNode, {}};
    switch (n.kind) {
        case Kind::kSequence: {
            Split s = split(n.a, in_component);
            s.rest = arena_.sequence(s.rest, n.b);
            for (auto& [rule, tail] : s.calls) tail = arena_.sequence(tail, n.b);
            if (!nullable(n.a)) return s;
            Split t = split(n.b, in_component);
            uint32_t options[] = {s.rest, t.rest};
            s.rest = arena_.choice(options);
            s.calls.insert(s.calls.end(), t.calls.begin(), t.calls.end());
            return s;
        }
        case Kind::kChoice: {
            Split s{Arena::kNeverNode, {}};
            std::vector<uint32_t> options;
            auto span = arena_.children(n);
            for (uint32_t child : std::vector<uint32_t>(span.begin(), span.end())) {
                Split t = split(child, in_component);
                options.push_back(t.rest);
                s.calls.insert(s.calls.end(), t.calls.begin(), t.calls.end());
            }
            s.rest = arena_.choice(options);
            return s;
        }
        case Kind::kRepeat: {
            Split s = split(n.a, in_component);
            uint32_t more = arena_.repeat(n.a, n.b ? n.b - 1 : 0, n.c == kNone ? kNone : n.c - 1);
            s.rest = arena_.sequence(s.rest, more);
            for (auto& [rule, tail] : s.calls) tail = arena_.sequence(tail, more);
            return s;
        }
        case Kind::kCapture: return split(n.b, in_component);
        case Kind::kPart:
        case Kind::kNonempty: return split(n.a, in_component);
        case Kind::kRule:
            if (in_component[n.a]) return {Arena::kNeverNode, {{n.a, Arena::kEmptyNode}}};
            return {arena_.nonempty(node), {}};
        default: return {arena_.nonempty(node), {}};
    }
}

// The left-corner transform (Rosenkrantz and Lewis 1970; Johnson 1998 for its selective form). Let
// a rule B of the component start with A and then x: having matched A one may go on with x and has
// B. So Z is: a start that needs no rule of the component, giving some C, then a chain of such
// tails from C up to Z. For one rule alone the chain is a star: A: A x | y becomes y x*.
void ClosedGrammar::rewrite(const std::vector<uint32_t>& component) {
    std::vector<uint8_t> in_component(arena_.rules().size(), 0);
    for (uint32_t rule : component) in_component[rule] = 1;
    size_t count = component.size();
    std::vector<uint32_t> position(arena_.rules().size(), 0);
    for (uint32_t i = 0; i < count; ++i) position[component[i]] = i;
    struct Tail {
        uint32_t to, node;
    };
    std::vector<std::vector<Tail>> tails(count);  // by the rule just matched
    std::vector<uint32_t> starts(count);
    std::vector<uint8_t> empty(count);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t body = arena_.rules()[component[i]].body;
        Split s = split(body, in_component);
        starts[i] = s.rest;
        empty[i] = nullable(body);
        for (auto [rule, tail] : s.calls) tails[position[rule]].push_back({i, tail});
    }
    auto set_body = [&](uint32_t rule, uint32_t body) { arena_.rules()[rule].body = body; };
    if (count == 1) {
        std::vector<uint32_t> steps;
        for (const Tail& t : tails[0]) steps.push_back(t.node);
        uint32_t body = arena_.sequence(starts[0], arena_.repeat(arena_.choice(steps), 0, kNone));
        uint32_t options[] = {body, Arena::kEmptyNode};
        set_body(component[0], empty[0] ? arena_.choice(options) : body);
        return;
    }
    // Rules reached from i by tails that may be empty count as matched as well.
    std::vector<std::vector<uint32_t>> same(count);
    for (uint32_t i = 0; i < count; ++i) {
        std::vector<uint8_t> seen(count, 0);
        same[i].push_back(i);
        seen[i] = 1;
        for (size_t k = 0; k < same[i].size(); ++k)
            for (const Tail& t : tails[same[i][k]])
                if (!seen[t.to] && nullable(t.node)) {
                    seen[t.to] = 1;
                    same[i].push_back(t.to);
                }
    }
    for (uint32_t z = 0; z < count; ++z) {
        std::vector<uint32_t> chain(count);
        const std::string name = arena_.rules()[component[z]].name;
        for (uint32_t i = 0; i < count; ++i)
            chain[i] = arena_.rule(arena_.rules()[component[i]].name + "..." + name);
        for (uint32_t i = 0; i < count; ++i) {
            std::vector<uint32_t> options;
            for (uint32_t k : same[i]) {
                if (k == z) options.push_back(Arena::kEmptyNode);
                for (const Tail& t : tails[k])
                    options.push_back(arena_.sequence(arena_.nonempty(t.node), chain[t.to]));
            }
            arena_.define(chain[i], arena_.choice(options));
        }
        std::vector<uint32_t> options;
        for (uint32_t i = 0; i < count; ++i)
            options.push_back(arena_.sequence(starts[i], chain[i]));
        if (empty[z]) options.push_back(Arena::kEmptyNode);
        set_body(component[z], arena_.choice(options));
    }
}

}  // namespace guided
