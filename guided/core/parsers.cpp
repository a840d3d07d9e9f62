// How a Machine runs the parser of a Lark grammar over its lexemes (lalr.h).
//
// The frame of a parser is (node, state + 1, environment) on the frame of the state below. What may
// come next are the lexemes of the state on top whose symbol the stack takes; a head's continuation
// is the stack after that, so it is found once, ahead of the text. Lexemes of a newline are fed
// where code follows them instead, as the indentation is only known there.
//
// Most stacks are only tried: they live in trials_ until one of them is settled as a continuation.
#include <algorithm>
#include <bit>
#include <map>

#include "automaton.h"
#include "errors.h"
#include "stacks.h"

namespace guided {

namespace {
constexpr size_t kMaxReductions = 100'000;     // before one lexeme is shifted
constexpr size_t kMaxTable = size_t{1} << 22;  // actions of a table by state and symbol
constexpr uint32_t kAllLeaves = kNone;         // as the key of some offers
}  // namespace

// ---- tables ----

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
    const LalrParts& parts = made->parts;
    std::map<std::vector<std::pair<uint32_t, uint32_t>>, uint32_t> numbers;
    for (const auto& s : parts.states) {
        ByteSet first;
        std::vector<std::pair<uint32_t, uint32_t>> leaves;
        for (const auto& l : s.leaves) {
            if (l.node == Arena::kNeverNode) continue;
            first |= leaf(l.node).terminal->allowed(Terminal::kStart);
            leaves.push_back({l.symbol, l.node});
        }
        made->first.push_back(first);
        made->scanner.push_back(
            numbers.try_emplace(std::move(leaves), static_cast<uint32_t>(numbers.size()))
                .first->second);
    }
    made->fill_table();
    return *(parsers_[node] = std::move(made));
}

void Machine::Parser::fill_table() {
    for (const auto& s : parts.states)
        if (!s.actions.empty())
            width = std::max<size_t>(width, s.actions.back().symbol + size_t{1});
    if (width > kMaxTable / parts.states.size()) width = 0;
    table.assign(width * parts.states.size(), kNone);
    for (size_t state = 0; width && state < parts.states.size(); ++state)
        for (const auto& a : parts.states[state].actions)
            table[state * width + a.symbol] = a.target << 1 | a.reduces;
}

uint32_t Machine::Parser::action(uint32_t state, uint32_t symbol) const {
    if (symbol < width) return table[state * width + symbol];
    const LalrParts::Action* found = width ? nullptr : parts.states[state].find(symbol);
    return found ? found->target << 1 | found->reduces : kNone;
}

// The leaves of a state that begin with one of `bytes`, remembered by `key`.
template <class Bytes>
const Machine::Offers& Machine::offers(Parser& p, uint32_t state, uint32_t key, Bytes&& bytes) {
    auto [at, fresh] = p.offers.try_emplace(uint64_t{p.scanner[state]} << 32 | key);
    if (fresh) at->second = make_offers(p, state, bytes());
    return at->second;
}

const Machine::Offers& Machine::offers_on(Parser& p, uint32_t state, uint8_t byte) {
    return offers(p, state, byte, [&] {
        ByteSet one;
        one.add(byte);
        return one;
    });
}

Machine::Offers Machine::make_offers(const Parser& p, uint32_t state, const ByteSet& bytes) {
    Offers made;
    std::vector<LalrParts::Leaf> fed;
    std::vector<uint32_t> newlines;
    for (const auto& l : p.parts.states[state].leaves) {
        if (l.node == Arena::kNeverNode) continue;
        Terminal& lexeme = *leaf(l.node).terminal;
        if (!lexeme.goes_on(Terminal::kStart) || (lexeme.allowed(Terminal::kStart) & bytes).empty())
            continue;
        if (l.symbol == LalrParts::kIgnored) made.leaves.push_back(l.node);
        else if (p.parts.indents && l.symbol == p.parts.indentation.newline)
            newlines.push_back(newline_leaf(l.node));
        else fed.push_back(l);
    }
    made.newlines = static_cast<uint32_t>(made.leaves.size());
    made.leaves.insert(made.leaves.end(), newlines.begin(), newlines.end());
    made.fed = static_cast<uint32_t>(made.leaves.size());
    std::stable_sort(fed.begin(), fed.end(),
                     [](const auto& a, const auto& b) { return a.symbol < b.symbol; });
    for (const auto& l : fed) {
        if (made.symbols.empty() || made.symbols.back() != l.symbol) {
            made.symbols.push_back(l.symbol);
            made.begins.push_back(static_cast<uint32_t>(made.leaves.size()));
        }
        made.leaves.push_back(l.node);
    }
    made.begins.push_back(static_cast<uint32_t>(made.leaves.size()));
    return made;
}

// ---- stacks ----

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

uint32_t Machine::settle(uint32_t stack) {
    std::vector<Continuations::Frame> tried;
    for (; is_trial(stack); stack = tried.back().parent) tried.push_back(frame_of(stack));
    for (; !tried.empty(); tried.pop_back()) {
        const auto& f = tried.back();
        stack = conts().push(f.node, f.minimum, f.maximum, stack);
    }
    return stack;
}

uint32_t Machine::settle_all(const std::vector<uint32_t>& stacks) {
    if (stacks.empty()) return kNone;
    std::vector<uint32_t> settled;
    for (uint32_t stack : stacks) settled.push_back(settle(stack));
    return conts().unite(settled);
}

void Machine::check_reductions(size_t count) {
    if (count > kMaxReductions)
        throw LimitExceeded("a lexeme asks for too many reductions", "reductions", kMaxReductions,
                            "");
}

void Machine::add_other(uint32_t stack, size_t begin, std::vector<Fed>& others) const {
    others.push_back(
        {stack, kNone, {wanted_.begin() + static_cast<std::ptrdiff_t>(begin), wanted_.end()}});
}

void Machine::add_to_other(uint32_t stack, uint32_t symbol, uint32_t rule,
                           std::vector<Fed>& others) {
    auto at = std::find_if(others.begin(), others.end(),
                           [&](const Fed& f) { return f.stack == stack && f.rule == rule; });
    if (at == others.end()) at = others.insert(at, {stack, rule, {}});
    at->symbols.push_back(symbol);
}

// The frames so many further down than a stack of several readings.
std::vector<uint32_t> Machine::bases_below(uint32_t stack, uint32_t count) {
    std::vector<uint32_t> bases, below{stack};
    for (++count; count; --count) {
        bases.clear();
        for (uint32_t one : below)
            for_each_frame(one, [&](uint32_t base) { bases.push_back(base); });
        std::sort(bases.begin(), bases.end());
        bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
        below.clear();
        if (count > 1)
            for (uint32_t base : bases) below.push_back(frame_of(base).parent);
    }
    return bases;
}

bool Machine::takes(uint32_t stack, uint32_t symbol) {
    bool found = false;
    feed(stack, {&symbol, 1}, [&](uint32_t, uint32_t) { found = true; });
    return found;
}

// What follows the parser if the text of its own ends here; kNone where it must not.
uint32_t Machine::stack_behind(uint32_t stack) {
    const bool known_by_number = !is_trial(stack);
    if (auto known = known_by_number ? behind_.find(stack) : behind_.end(); known != behind_.end())
        return known->second;
    Trials trials(trials_);
    std::vector<uint32_t> ends, found;
    for_each_frame(stack, [&](uint32_t one) {
        if (lalr(frame_of(one).node).indents) dedent_to(one, 0, ends);
        else ends.push_back(one);
    });
    for (uint32_t end : ends) {
        const uint32_t symbol = lalr(frame_of(end).node).end;
        feed(end, {&symbol, 1}, [&](uint32_t, uint32_t behind) { found.push_back(behind); });
    }
    uint32_t behind = found.empty() ? kNone : conts().unite(found);
    if (known_by_number) behind_[stack] = behind;
    return behind;
}

// ---- what may come next ----

void Machine::offer_heads(uint32_t stack, const Offers& all, std::vector<Head>& heads) {
    Trials trials(trials_);
    offer(stack, all, [&](uint32_t number, uint32_t behind) {
        Head h = leaf_head(all.leaves[number]);
        h.cont = settle(behind);
        heads.push_back(h);
    });
}

bool Machine::begin_lalr(uint32_t node, uint32_t& state, uint32_t& environment) {
    state = lalr(node).start + 1;
    environment = kLevel;
    return true;
}

// What may follow the stack `cont`, one frame: the heads of its lexemes, and the end.
void Machine::pop_lalr(uint32_t cont, std::vector<Head>& heads) {
    auto top = conts().frame(cont);
    const Offers& all = offers(parser(top.node), top.minimum - 1, kAllLeaves, [] {
        ByteSet any;
        any.add_range(0, 255);
        return any;
    });
    offer_heads(cont, all, heads);
    if (uint32_t behind = stack_behind(cont); behind != kNone) go_behind(behind);
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
        offer_heads(one, offers_on(parser(f.node), f.minimum - 1, byte), heads);
    });
    if (uint32_t behind = stack_behind(cont); behind != kNone) {
        auto more = this->heads(closure(behind));
        heads.insert(heads.end(), more.begin(), more.end());
    }
    normalize(heads, conts());
    stack_bytes_ += 64 + heads.size() * sizeof(Head);
    return stack_heads_[key] = std::move(heads);
}

// Nothing can follow the lexeme that ended so, under the guard behind it: whatever may come makes a
// longer match. Mostly that is told by the state on top: text that is ignored may always come.
bool Machine::is_dead_end(uint32_t stack, uint32_t guard) {
    if (!guard) return false;
    bool dead = true;
    for_each_frame(stack, [&](uint32_t one) { dead = dead && is_dead_frame(one, guard); });
    return dead;
}

bool Machine::is_dead_frame(uint32_t stack, uint32_t guard) {
    if (may_ignore(stack, guard)) return false;
    auto f = frame_of(stack);
    Parser& p = parser(f.node);
    const uint32_t state = f.minimum - 1;
    const ByteSet alive = guard_bytes(guard);
    Trials trials(trials_);
    bool any = false;
    (alive & p.first[state]).for_each([&](uint8_t byte) {
        if (!any) offer(stack, offers_on(p, state, byte), [&](uint32_t, uint32_t) { any = true; });
    });
    if (any) return false;
    uint32_t behind = stack_behind(stack);
    return behind == kNone || is_hopeless(closure(behind), guard);
}

// Text that is ignored may come under this guard: told by the state on top of the stack, one frame.
bool Machine::may_ignore(uint32_t stack, uint32_t guard) {
    if (!guard) return true;
    auto f = frame_of(stack);
    Parser& p = parser(f.node);
    auto [at, fresh] = p.may_ignore.try_emplace(uint64_t{p.scanner[f.minimum - 1]} << 32 | guard);
    if (fresh) at->second = make_offers(p, f.minimum - 1, guard_bytes(guard)).newlines != 0;
    return at->second;
}

// The lexeme leaves little room for what follows it.
bool Machine::is_narrow(uint32_t node) {
    constexpr int kRoom = 64;  // ASCII bytes that may follow: all but letters and digits, say
    auto [at, fresh] = narrow_.try_emplace(node, false);
    if (fresh) at->second = find_bytes_after(node, kRoom).ascii_count() < kRoom;
    return at->second;
}

// Something can follow the lexeme `node` on the stack behind it. A comment up to the end of its
// line must not begin where the line may not end. Only narrow lexemes are looked at.
bool Machine::may_follow(uint32_t behind, uint32_t node) {
    if (!is_narrow(node)) return true;
    Trials trials(trials_);
    bool found = false;
    for_each_frame(behind, [&](uint32_t one) {
        found = found || may_follow_frame(one, node) || stack_behind(one) != kNone;
    });
    return found;
}

bool Machine::may_follow_frame(uint32_t behind, uint32_t node) {
    auto f = frame_of(behind);
    Parser& p = parser(f.node);
    const Offers& next = offers(p, f.minimum - 1, node + 256, [&] { return bytes_after(node); });
    for (uint32_t i = 0; i < next.newlines; ++i)
        if (next.leaves[i] != node && !is_narrow(next.leaves[i])) return true;
    if (next.newlines < next.fed &&
        (in_brackets(behind) || takes(behind, p.parts.indentation.newline)))
        return true;
    bool found = false;
    feed(behind, next.symbols, [&](uint32_t, uint32_t) { found = true; });
    return found;
}

}  // namespace guided
