#include "lalr.h"

#include <algorithm>
#include <stdexcept>

namespace guided {

const LalrParts::Action* LalrParts::State::find(uint32_t symbol) const {
    auto at = std::lower_bound(actions.begin(), actions.end(), symbol,
                               [](const Action& a, uint32_t s) { return a.symbol < s; });
    return at != actions.end() && at->symbol == symbol ? &*at : nullptr;
}

bool LalrParts::accepts_nothing() const {
    std::vector<uint32_t> stack{start};
    constexpr size_t kMost = 10'000;  // reductions; rules for nothing may go round
    for (size_t steps = 0; steps < kMost; ++steps) {
        const Action* action = states[stack.back()].find(end);
        if (!action || !action->reduces) return false;
        const Rule& rule = rules[action->target];
        if (rule.length >= stack.size()) return false;
        stack.resize(stack.size() - rule.length);
        const Action* go = states[stack.back()].find(rule.symbol);
        if (!go || go->reduces) return false;
        if (go->target == accept) return true;
        stack.push_back(go->target);
    }
    return false;
}

std::vector<uint32_t> lalr_words(const LalrParts& p) {
    std::vector<uint32_t> w{p.start, p.accept, p.end, p.indents};
    auto size = [&](const auto& list) { w.push_back(static_cast<uint32_t>(list.size())); };
    if (p.indents) {
        const auto& i = p.indentation;
        w.insert(w.end(), {i.newline, i.indent, i.dedent, i.tab});
        for (const auto* brackets : {&i.opening, &i.closing}) {
            size(*brackets);
            w.insert(w.end(), brackets->begin(), brackets->end());
        }
    }
    size(p.rules);
    for (const auto& r : p.rules) w.insert(w.end(), {r.symbol, r.length});
    size(p.states);
    for (const auto& s : p.states) {
        size(s.actions);
        for (const auto& a : s.actions) w.insert(w.end(), {a.symbol, a.reduces, a.target});
        size(s.leaves);
        for (const auto& l : s.leaves) w.insert(w.end(), {l.symbol, l.node});
    }
    return w;
}

LalrParts take_lalr_apart(std::span<const uint32_t> words, uint32_t nodes) {
    size_t at = 0;
    auto fail = [](bool bad) {
        if (bad) throw std::invalid_argument("these are no tables of an LALR parser");
    };
    auto next = [&](uint64_t below = uint64_t{1} << 32) {
        fail(at >= words.size() || words[at] >= below);
        return words[at++];
    };
    auto size = [&](size_t each) {
        uint32_t n = next();
        fail(n > (words.size() - at) / each);
        return n;
    };
    LalrParts p;
    p.start = next(), p.accept = next(), p.end = next();
    p.indents = next(2);
    if (p.indents) {
        auto& i = p.indentation;
        i.newline = next(), i.indent = next(), i.dedent = next(), i.tab = next(1 << 10);
        for (auto* brackets : {&i.opening, &i.closing})
            for (uint32_t n = size(1); n; --n) brackets->push_back(next());
    }
    for (uint32_t n = size(2); n; --n) {
        uint32_t symbol = next();
        p.rules.push_back({symbol, next()});
    }
    p.states.resize(size(2));
    fail(p.start >= p.states.size());
    for (auto& s : p.states) {
        for (uint32_t n = size(3); n; --n) {
            uint32_t symbol = next();
            bool reduces = next(2);
            s.actions.push_back(
                {symbol, reduces, next(reduces ? p.rules.size() : p.states.size())});
        }
        for (uint32_t n = size(2); n; --n) {
            uint32_t symbol = next();
            s.leaves.push_back({symbol, next(nodes)});
        }
        fail(!std::is_sorted(s.actions.begin(), s.actions.end(),
                             [](const auto& a, const auto& b) { return a.symbol < b.symbol; }));
    }
    fail(at != words.size());
    return p;
}

}  // namespace guided
