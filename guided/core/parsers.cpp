// How a Machine runs the parser of a Lark grammar over its lexemes (lalr.h).
//
// The frame of a parser is (node, state + 1, environment) on the frame of the state below. What may
// come next are the lexemes of the state on top whose symbol the stack takes; a head's continuation
// is the stack after that, so it is found once, ahead of the text. Lexemes of a newline are fed
// where code follows them instead, as the indentation is only known there.
#include <algorithm>
#include <bit>

#include "automaton.h"
#include "errors.h"

namespace guided {

namespace {
constexpr size_t kMaxReductions = 100'000;  // before one lexeme is shifted
}  // namespace

Machine::Parser& Machine::parser(uint32_t node) {
    if (latest_parser_.first == node) return *latest_parser_.second;
    Parser& found = find_parser(node);
    latest_parser_ = {node, &found};
    return found;
}

Machine::Parser& Machine::find_parser(uint32_t node) {
    auto& known = parsers_[node];
    if (known) return *known;
    auto made = std::make_unique<Parser>();
    made->parts = take_lalr_apart(arena_.words(arena_[node]), arena_.size());
    for (const auto& s : made->parts.states) {
        ByteSet first;
        for (const auto& l : s.leaves)
            if (l.node != Arena::kNeverNode)
                first |= leaf(l.node).terminal->allowed(Terminal::kStart);
        made->first.push_back(first);
    }
    made->by_byte.resize(made->parts.states.size());
    return *(parsers_[node] = std::move(made));
}

const std::vector<uint32_t>& Machine::leaves_on(Parser& p, uint32_t state, uint8_t byte) {
    auto& known = p.by_byte[state];
    if (!known) {
        known = std::make_unique<std::array<std::vector<uint32_t>, 256>>();
        const auto& leaves = p.parts.states[state].leaves;
        for (uint32_t i = 0; i < leaves.size(); ++i)
            if (leaves[i].node != Arena::kNeverNode)
                leaf(leaves[i].node).terminal->allowed(Terminal::kStart).for_each([&](uint8_t b) {
                    (*known)[b].push_back(i);
                });
    }
    return (*known)[byte];
}

// `cont` is the top of a parser's stack, or of several ones.
bool Machine::is_stack(uint32_t cont) const {
    auto is_frame = [&](uint32_t one) {
        if (one == Continuations::kEnd) return false;
        auto f = conts().frame(one);
        return f.minimum != 0 && arena_[f.node].kind == Kind::kLalr;
    };
    if (cont == Continuations::kEnd || !conts().is_union(cont)) return is_frame(cont);
    auto members = conts().members(cont);
    return std::all_of(members.begin(), members.end(), is_frame);
}

// The bytes that begin some lexeme of the states on top; more than those that the stacks take.
ByteSet Machine::stack_first(uint32_t cont) {
    ByteSet first;
    for_each_frame(cont, [&](uint32_t one) {
        auto f = conts().frame(one);
        first |= parser(f.node).first[f.minimum - 1];
    });
    if (uint32_t behind = stack_behind(cont); behind != kNone)
        first |= states_[closure(behind)].first;
    return first;
}

// The heads that begin with `byte`.
const std::vector<Head>& Machine::stack_heads(uint32_t cont, uint8_t byte) {
    uint64_t key = uint64_t{cont} << 8 | byte;
    if (auto known = stack_heads_.find(key); known != stack_heads_.end()) return known->second;
    std::vector<Head> heads;
    for_each_frame(cont, [&](uint32_t one) {
        auto f = conts().frame(one);
        Parser& p = parser(f.node);
        std::vector<LalrParts::Leaf> leaves;
        for (uint32_t i : leaves_on(p, f.minimum - 1, byte))
            leaves.push_back(p.parts.states[f.minimum - 1].leaves[i]);
        offer_leaves(one, leaves, heads);
    });
    if (uint32_t behind = stack_behind(cont); behind != kNone) {
        auto more = this->heads(closure(behind));
        heads.insert(heads.end(), more.begin(), more.end());
    }
    normalize(heads, conts());
    stack_bytes_ += 64 + heads.size() * sizeof(Head);
    return stack_heads_[key] = std::move(heads);
}

bool Machine::begin_lalr(uint32_t node, uint32_t& state, uint32_t& environment) {
    state = lalr(node).start + 1;
    environment = kLevel;
    return true;
}

template <class F>
void Machine::for_each_frame(uint32_t cont, F&& f) {
    if (!conts().is_union(cont)) return f(cont);
    auto members = conts().members(cont);
    for (uint32_t one : std::vector<uint32_t>(members.begin(), members.end())) f(one);
}

// The stacks after each of `symbols` (sorted): `shifted(symbol, stack)`, in any order. Those that a
// stack does not take are left out; at the end of the text the stack is what follows the parser.
// Symbols that ask for the same reductions go the way together.
template <class F>
void Machine::feed(uint32_t cont, std::vector<uint32_t> symbols, F&& shifted) {
    std::vector<std::pair<uint32_t, std::vector<uint32_t>>> todo;
    todo.push_back({cont, std::move(symbols)});
    size_t reductions = 0;
    while (!todo.empty()) {
        auto [stack, wanted] = std::move(todo.back());
        todo.pop_back();
        if (conts().is_union(stack)) {
            for_each_frame(stack, [&](uint32_t one) { todo.push_back({one, wanted}); });
            continue;
        }
        auto top = conts().frame(stack);
        const LalrParts& parser = lalr(top.node);
        const LalrParts::State& state = parser.states[top.minimum - 1];
        std::vector<std::pair<uint32_t, std::vector<uint32_t>>> reduced;  // rule, symbols
        for (uint32_t symbol : wanted) {
            const LalrParts::Action* action = state.find(symbol);
            if (!action) continue;
            if (!action->reduces) {
                shifted(symbol, conts().push(top.node, action->target + 1, top.maximum, stack));
                continue;
            }
            auto at = std::find_if(reduced.begin(), reduced.end(),
                                   [&](const auto& r) { return r.first == action->target; });
            if (at == reduced.end()) at = reduced.insert(at, {action->target, {}});
            at->second.push_back(symbol);
        }
        for (auto& [number, symbols_of] : reduced) {
            const LalrParts::Rule& rule = parser.rules[number];
            std::vector<uint32_t> bases{stack}, below;
            for (uint32_t n = rule.length; n; --n) {
                below.clear();
                for (uint32_t base : bases)
                    for_each_frame(conts().frame(base).parent,
                                   [&](uint32_t one) { below.push_back(one); });
                std::sort(below.begin(), below.end());
                below.erase(std::unique(below.begin(), below.end()), below.end());
                bases.swap(below);
            }
            for (uint32_t base : bases) {
                if (++reductions > kMaxReductions)
                    throw LimitExceeded("a lexeme asks for too many reductions", "reductions",
                                        kMaxReductions, "");
                auto f = conts().frame(base);
                const LalrParts::Action* go = parser.states[f.minimum - 1].find(rule.symbol);
                if (!go || go->reduces) continue;
                if (go->target == parser.accept) {
                    if (symbols_of[0] == parser.end) shifted(parser.end, f.parent);
                    if (symbols_of.size() == 1 && symbols_of[0] == parser.end) continue;
                }
                todo.push_back(
                    {conts().push(top.node, go->target + 1, top.maximum, base), symbols_of});
            }
        }
    }
}

uint32_t Machine::feed_one(uint32_t cont, uint32_t symbol) {
    std::vector<uint32_t> stacks;
    feed(cont, {symbol}, [&](uint32_t, uint32_t stack) { stacks.push_back(stack); });
    return stacks.empty() ? kNone : conts().unite(stacks);
}

// What may follow the stack `cont`, one frame: the heads of its lexemes, and the end.
void Machine::pop_lalr(uint32_t cont, std::vector<Head>& heads) {
    auto top = conts().frame(cont);
    const LalrParts& parts = lalr(top.node);
    offer_leaves(cont, parts.states[top.minimum - 1].leaves, heads);
    if (uint32_t behind = stack_behind(cont); behind != kNone) go_behind(behind);
}

// What follows the parser if the text of its own ends here; kNone where it must not.
uint32_t Machine::stack_behind(uint32_t cont) {
    if (auto known = behind_.find(cont); known != behind_.end()) return known->second;
    std::vector<uint32_t> found;
    for_each_frame(cont, [&](uint32_t one) {
        const LalrParts& parts = lalr(conts().frame(one).node);
        if (uint32_t last = parts.indents ? dedent_to(one, 0) : one; last != kNone)
            feed(last, {parts.end}, [&](uint32_t, uint32_t behind) { found.push_back(behind); });
    });
    return behind_[cont] = found.empty() ? kNone : conts().unite(found);
}

// The same of a parser's stack, where it can mostly be told without its closure: text that is
// ignored may always come.
bool Machine::is_dead_end(uint32_t cont, uint32_t guard) {
    if (!guard) return false;
    if (conts().is_union(cont)) return false;  // one of several readings; rare, and it ends later
    auto f = conts().frame(cont);
    Parser& p = parser(f.node);
    const ByteSet& alive = guard_bytes(guard);
    auto [at, fresh] = p.may_ignore.try_emplace(uint64_t{f.minimum} << 32 | guard, false);
    if (fresh)
        for (const auto& l : p.parts.states[f.minimum - 1].leaves)
            if (l.symbol == LalrParts::kIgnored && l.node != Arena::kNeverNode &&
                !(leaf(l.node).terminal->allowed(Terminal::kStart) & alive).empty())
                at->second = true;
    if (at->second) return false;
    bool any = false;
    (alive & stack_first(cont)).for_each([&](uint8_t byte) {
        any = any || !stack_heads(cont, byte).empty();
    });
    if (any) return false;
    return is_hopeless(closure(cont), guard);
}

// Something can follow the lexeme `node` on the stack behind it. A comment up to the end of its
// line must not begin where the line may not end. Only lexemes that leave little room are looked
// at.
bool Machine::may_follow(uint32_t behind, uint32_t node) {
    constexpr int kRoom = 64;  // ASCII bytes that may follow: all but letters and digits, say
    auto room = [](const ByteSet& bytes) {
        return std::popcount(bytes.word(0)) + std::popcount(bytes.word(1));
    };
    const ByteSet after = bytes_after(node);
    if (room(after) >= kRoom || conts().is_union(behind) || stack_behind(behind) != kNone)
        return true;
    auto f = conts().frame(behind);
    Parser& p = parser(f.node);
    const LalrParts& parts = p.parts;
    std::vector<uint32_t> symbols;
    bool found = false;
    after.for_each([&](uint8_t byte) {
        for (uint32_t i : leaves_on(p, f.minimum - 1, byte)) {
            const auto& l = parts.states[f.minimum - 1].leaves[i];
            if (l.symbol == LalrParts::kIgnored)
                found = found || (l.node != node && room(bytes_after(l.node)) >= kRoom);
            else if (parts.indents && l.symbol == parts.indentation.newline)
                found = found || environments_[f.maximum][0] || feed_one(behind, l.symbol) != kNone;
            else symbols.push_back(l.symbol);
        }
    });
    if (found) return true;
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
    feed(behind, symbols, [&](uint32_t, uint32_t) { found = true; });
    return found;
}

// The heads of some leaves of the state on top, as far as the stack takes them.
void Machine::offer_leaves(uint32_t cont, std::span<const LalrParts::Leaf> leaves,
                           std::vector<Head>& heads) {
    auto top = conts().frame(cont);
    const LalrParts& parts = lalr(top.node);
    auto offer = [&](uint32_t node, uint32_t behind) {
        if (!leaf(node).terminal->goes_on(Terminal::kStart)) return;
        Head h = leaf_head(node);
        h.cont = behind;
        heads.push_back(h);
    };
    std::vector<uint32_t> symbols;
    for (const auto& l : leaves) {
        if (l.node == Arena::kNeverNode) continue;
        if (l.symbol == LalrParts::kIgnored) {
            if (may_follow(cont, l.node)) offer(l.node, cont);
        } else if (parts.indents && l.symbol == parts.indentation.newline) {
            if (environments_[top.maximum][0] || feed_one(cont, l.symbol) != kNone)
                offer(newline_leaf(l.node), cont);
        } else {
            symbols.push_back(l.symbol);
        }
    }
    std::sort(symbols.begin(), symbols.end());
    std::vector<std::pair<uint32_t, uint32_t>> fed;
    feed(cont, symbols, [&](uint32_t symbol, uint32_t stack) { fed.push_back({symbol, stack}); });
    std::sort(fed.begin(), fed.end());
    std::vector<uint32_t> stacks;
    for (size_t i = 0; i < fed.size();) {
        uint32_t symbol = fed[i].first;
        stacks.clear();
        for (; i < fed.size() && fed[i].first == symbol; ++i) {
            uint32_t stack = parts.indents ? with_bracket(fed[i].second, symbol) : fed[i].second;
            if (stack != kNone) stacks.push_back(stack);
        }
        if (stacks.empty()) continue;
        uint32_t behind = conts().unite(stacks);
        for (const auto& l : leaves)
            if (l.symbol == symbol && l.node != Arena::kNeverNode && may_follow(behind, l.node))
                offer(l.node, behind);
    }
}

// ---- indentation: lark.indenter ----

// An environment is the number of open brackets, then the indentations, the outermost (0) first.
uint32_t Machine::environment(uint32_t stack) {
    return conts().frame(stack).maximum;
}

uint32_t Machine::with_environment(uint32_t stack, const std::vector<uint32_t>& words) {
    auto f = conts().frame(stack);
    return conts().push(f.node, f.minimum, environments_.intern(words.data(), words.size()),
                        f.parent);
}

// The stack once `symbol` was shifted: an opening bracket keeps newlines from it, until it closes.
uint32_t Machine::with_bracket(uint32_t stack, uint32_t symbol) {
    const auto& indentation = lalr(conts().frame(stack).node).indentation;
    auto among = [&](const std::vector<uint32_t>& list) {
        return std::find(list.begin(), list.end(), symbol) != list.end();
    };
    bool opens = among(indentation.opening), closes = among(indentation.closing);
    if (!opens && !closes) return stack;
    auto known = environments_[environment(stack)];
    std::vector<uint32_t> words(known.begin(), known.end());
    if (closes && !words[0]) return kNone;
    words[0] += opens ? 1 : -1;
    return with_environment(stack, words);
}

// The stack with the blocks closed that are indented by more than `column`; kNone where no block is
// indented by just that much.
uint32_t Machine::dedent_to(uint32_t stack, uint32_t column) {
    auto known = environments_[environment(stack)];
    std::vector<uint32_t> words(known.begin(), known.end());
    const uint32_t dedent = lalr(conts().frame(stack).node).indentation.dedent;
    std::vector<uint32_t> stacks{stack};
    while (words.back() > column) {
        words.pop_back();
        std::vector<uint32_t> after;
        for (uint32_t one : stacks)
            feed(one, {dedent}, [&](uint32_t, uint32_t fed) { after.push_back(fed); });
        stacks.swap(after);
    }
    if (stacks.empty() || words.back() != column) return kNone;
    for (uint32_t& one : stacks) one = with_environment(one, words);
    return conts().unite(stacks);
}

// One more than the column of the text behind its last line break; 0: there was none.
uint32_t Machine::column_after(const Head& newline, Table::Indent indent) {
    if (!indent.breaks() && !newline.other) return 0;
    uint32_t column = indent.breaks() ? 1 : newline.other;
    uint32_t one = conts().is_union(newline.cont) ? conts().members(newline.cont)[0] : newline.cont;
    return column + indent.blanks() + indent.tabs() * lalr(conts().frame(one).node).indentation.tab;
}

// What tells apart the stacks of lines but for how deep a new block is indented.
uint64_t Machine::shape_of(uint32_t stack) {
    if (conts().is_union(stack)) return stack;
    auto f = conts().frame(stack);
    auto words = environments_[f.maximum];
    if (words[0] || words.size() < 3) return stack;
    auto below = conts().frame(f.parent);
    bool opens =
        below.maximum != f.maximum && environments_[below.maximum].size() + 1 == words.size();
    return opens ? uint64_t{1} << 63 | uint64_t{f.minimum} << 32 | f.parent : stack;
}

uint32_t Machine::feed_newline(uint32_t cont, uint32_t column) {
    uint64_t key = uint64_t{cont} << 32 | column;
    if (auto known = lines_.find(key); known != lines_.end()) return known->second;
    stack_bytes_ += 32;
    return lines_[key] = find_lines(cont, column);
}

// The stacks after a newline; `column`: one more than that of the text behind its last line break,
// 0 where it has none, which Lark's Indenter cannot read.
uint32_t Machine::find_lines(uint32_t cont, uint32_t column) {
    std::vector<uint32_t> stacks;
    for_each_frame(cont, [&](uint32_t one) {
        auto known = environments_[environment(one)];
        std::vector<uint32_t> words(known.begin(), known.end());
        if (words[0]) return stacks.push_back(one);  // within brackets it is nothing
        if (!column) return;
        const auto& indentation = lalr(conts().frame(one).node).indentation;
        std::vector<uint32_t> lines;
        feed(one, {indentation.newline}, [&](uint32_t, uint32_t stack) { lines.push_back(stack); });
        for (uint32_t line : lines) {
            if (column - 1 <= words.back()) {
                if (uint32_t stack = dedent_to(line, column - 1); stack != kNone)
                    stacks.push_back(stack);
                continue;
            }
            std::vector<uint32_t> deeper = words;
            deeper.push_back(column - 1);
            feed(line, {indentation.indent}, [&](uint32_t, uint32_t stack) {
                stacks.push_back(with_environment(stack, deeper));
            });
        }
    });
    return stacks.empty() ? kNone : conts().unite(stacks);
}

// The stack behind a newline, which is fed where code follows it.
bool Machine::feed_line(Head& lined) {
    uint32_t stack = feed_newline(lined.state, lined.other);
    if (stack == kNone) return false;
    lined.node = kStacked;
    lined.state = stack;
    lined.other = 0;
    return true;
}

}  // namespace guided
