// LALR(1) tables with a contextual lexer, as lark makes them.
//
// The node is a parser: a stack of states, and in the state on top the lexemes that may come next.
// A lexeme that was read is fed to the stack: reductions, then a shift. The stack stands in the
// continuation, one frame a state (parsers.cpp), so that equal stacks are one and several readings
// of a text share what they have in common.
//
// With Lark's Indenter a stack also carries an environment: the open brackets and the indentations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arena.h"

namespace guided {

// As Arena::lalr takes them; _core.pyi says what they mean.
struct LalrParts {
    static constexpr uint32_t kIgnored = kNone;  // as a leaf's symbol

    struct Action {
        uint32_t symbol;
        bool reduces;
        uint32_t target;  // a state, or a rule
    };
    struct Leaf {
        uint32_t symbol, node;
    };
    struct Rule {
        uint32_t symbol, length;
    };
    struct State {
        std::vector<Action> actions;  // sorted by symbol
        std::vector<Leaf> leaves;
        const Action* find(uint32_t symbol) const;
    };
    struct Indentation {
        uint32_t newline = kNone, indent = kNone, dedent = kNone, tab = 8;
        std::vector<uint32_t> opening, closing;
    };
    std::vector<State> states;
    std::vector<Rule> rules;
    uint32_t start = 0, accept = 0, end = 0;
    bool indents = false;
    Indentation indentation;

    bool accepts_nothing() const;  // the empty text is accepted
};

std::vector<uint32_t> lalr_words(const LalrParts& parts);
// Throws std::invalid_argument if these are no words of tables over fewer than `nodes` nodes.
LalrParts take_lalr_apart(std::span<const uint32_t> words, uint32_t nodes);

// Visit the words in their order: `word` for those that are no nodes.
template <class Word, class Node>
void for_each_lalr_word(std::span<const uint32_t> w, Word&& word, Node&& node) {
    size_t at = 0;
    auto plain = [&] {
        word(w[at]);
        return w[at++];
    };
    for (int i = 0; i < 3; ++i) plain();
    if (plain()) {
        for (int i = 0; i < 4; ++i) plain();
        for (int i = 0; i < 2; ++i)
            for (uint32_t n = plain(); n; --n) plain();
    }
    for (uint32_t n = 2 * plain(); n; --n) plain();
    for (uint32_t states = plain(); states; --states) {
        for (uint32_t n = 3 * plain(); n; --n) plain();
        for (uint32_t n = plain(); n; --n) {
            plain();
            node(w[at++]);
        }
    }
}

}  // namespace guided
