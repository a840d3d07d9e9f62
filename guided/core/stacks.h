// Feeding a parser's stack and asking what it takes, for parsers.cpp, indentation.cpp and
// passage_masks.cpp.
#pragma once

#include <algorithm>

#include "automaton.h"

namespace guided {

template <class F>
void Machine::for_each_frame(uint32_t stack, F&& f) {
    if (is_trial(stack) || !conts().is_union(stack)) return f(stack);
    auto members = conts().members(stack);
    for (uint32_t one : std::vector<uint32_t>(members.begin(), members.end())) f(one);
}

// The stacks after each of `symbols`: `shifted(symbol, stack)`, in any order. Those that the stack
// does not take are left out; at the end of the text the stack is what follows the parser. Symbols
// that ask for the same reduction go the way together. Needs a `Trials` of the caller.
template <class F>
void Machine::feed(uint32_t stack, std::span<const uint32_t> symbols, F&& shifted) {
    Truncate wanted(wanted_);
    const size_t begin = wanted_.size();
    wanted_.insert(wanted_.end(), symbols.begin(), symbols.end());
    std::vector<Fed> others;  // rarely any
    for (size_t reductions = 0;;) {
        uint32_t rule = shift(stack, begin, others, shifted);
        if (rule != kNone) stack = reduce(stack, rule, begin, others, shifted);
        if (rule == kNone || stack == kNone) {
            if (others.empty()) return;
            stack = others.back().stack;
            wanted_.resize(begin);
            wanted_.insert(wanted_.end(), others.back().symbols.begin(),
                           others.back().symbols.end());
            others.pop_back();
        }
        check_reductions(++reductions);
    }
}

// Shift those of wanted_[begin, end) that the state on top shifts. What is left in wanted_ asks for
// the reduction that is returned, kNone if nothing is left.
template <class F>
uint32_t Machine::shift(uint32_t stack, size_t begin, std::vector<Fed>& others, F& shifted) {
    if (!is_trial(stack) && conts().is_union(stack)) {
        for_each_frame(stack, [&](uint32_t one) { add_other(one, begin, others); });
        return kNone;
    }
    const auto top = frame_of(stack);
    const Parser& p = parser(top.node);
    const size_t end = wanted_.size();
    size_t left = begin;
    uint32_t rule = kNone;
    for (size_t i = begin; i < end; ++i) {
        const uint32_t symbol = wanted_[i], action = p.action(top.minimum - 1, symbol);
        if (action == kNone) continue;
        if (!(action & 1)) {
            shifted(symbol, trial({top.node, (action >> 1) + 1, top.maximum, stack}));
        } else if (rule == kNone || rule == action >> 1) {
            rule = action >> 1;
            wanted_[left++] = symbol;
        } else {
            add_to_other(stack, symbol, action >> 1, others);
        }
    }
    wanted_.resize(left);
    return rule;
}

// The stack once the rule is reduced; where there are several, the rest goes to `others`.
template <class F>
uint32_t Machine::reduce(uint32_t stack, uint32_t rule, size_t begin, std::vector<Fed>& others,
                         F& shifted) {
    const auto top = frame_of(stack);
    const Parser& p = parser(top.node);
    const LalrParts::Rule& r = p.parts.rules[rule];
    uint32_t found = kNone;
    auto go_on = [&](uint32_t base) {
        const auto f = frame_of(base);
        const uint32_t go = p.action(f.minimum - 1, r.symbol);
        if (go == kNone || go & 1) return;
        if (go >> 1 == p.parts.accept) {
            auto at = std::find(wanted_.begin() + static_cast<std::ptrdiff_t>(begin), wanted_.end(),
                                p.parts.end);
            if (at != wanted_.end()) shifted(p.parts.end, f.parent);
            if (at != wanted_.end() && wanted_.size() == begin + 1) return;
        }
        uint32_t after = trial({top.node, (go >> 1) + 1, top.maximum, base});
        if (found == kNone) found = after;
        else add_other(after, begin, others);
    };
    for (uint32_t n = r.length; n; --n) {
        stack = frame_of(stack).parent;
        if (!is_trial(stack) && conts().is_union(stack)) {
            for (uint32_t base : bases_below(stack, n - 1)) go_on(base);
            return found;
        }
    }
    go_on(stack);
    return found;
}

// The leaves among `all` that the stack, one frame, takes: `offered(number in all, stack behind)`.
template <class F>
void Machine::offer(uint32_t stack, const Offers& all, F&& offered) {
    for (uint32_t i = 0; i < all.newlines; ++i)
        if (may_follow(stack, all.leaves[i])) offered(i, stack);
    if (all.newlines < all.fed &&
        (in_brackets(stack) || takes(stack, lalr(frame_of(stack).node).indentation.newline)))
        for (uint32_t i = all.newlines; i < all.fed; ++i) offered(i, stack);
    const bool indents = lalr(frame_of(stack).node).indents;
    feed(stack, all.symbols, [&](uint32_t symbol, uint32_t after) {
        if (indents && (after = with_bracket(after, symbol)) == kNone) return;
        auto at =
            std::lower_bound(all.symbols.begin(), all.symbols.end(), symbol) - all.symbols.begin();
        for (uint32_t i = all.begins[at]; i < all.begins[at + 1]; ++i)
            if (may_follow(after, all.leaves[i])) offered(i, after);
    });
}

}  // namespace guided
