// Masks of the states of a parser: a walk of the passages of its lexemes (passages.h), with the
// outcomes of its stacks (outcomes.cpp).
//
// What a head stands in is a passage over all tokens; behind it, and where no lexeme has begun, the
// stack offers lexemes to the remainders that are left, which are passages again. Stacks on the way
// are tried and never settled, so a mask leaves nothing behind but what is true of all stacks.
#include <algorithm>
#include <map>

#include "automaton.h"
#include "stacks.h"

namespace guided {

namespace {
constexpr size_t kFewTokens = 128;
constexpr uint32_t kDeeper = kNone;  // instead of a column: in a new block
}  // namespace

// The heads of a state: those within a lexeme, and a stack that begins one.
void Machine::take_head(Walk& walk, const Head& h) {
    if (h.node == kStacked) return start(walk, h.state, RemainsTable::kTokens, h.guard);
    const Passage& all = passage(h.node, h.state, RemainsTable::kTokens, h.guard);
    walk.tokens.add(all.inside);
    if (leaf(h.node).newline) {
        for_each_frame(h.cont, [&](uint32_t one) {
            if (in_brackets(one)) return take_within(walk, all, one);
            const uint32_t newline = lalr(frame_of(one).node).indentation.newline;
            feed(one, {&newline, 1},
                 [&](uint32_t, uint32_t line) { take_lines(walk, all, line, h.other); });
        });
        return;
    }
    for (const auto& ending : all.endings)
        if (!is_dead_end(h.cont, ending.guard)) walk.tokens.add(ending.tokens);
    for (const auto& exit : all.exits) start(walk, h.cont, exit.remains, exit.guard);
}

// A newline in brackets is nothing: the stack stays as it is, whatever the column.
void Machine::take_within(Walk& walk, const Passage& passage, uint32_t stack) {
    walk.tokens.add(passage.inside);
    for (const auto& ending : passage.endings) walk.tokens.add(ending.tokens);
    std::map<uint32_t, std::vector<uint32_t>> by_guard;
    for (const auto& exit : passage.exits) by_guard[exit.guard].push_back(exit.remains);
    for (const auto& [guard, numbers] : by_guard)
        start(walk, stack, remainders().unite(numbers, RemainsTable::Lines::kAll), guard);
}

// Behind a newline, which the stack has taken, it depends on the column: lines are looked at by the
// columns that can stand there, and those that open a block together. `column`: one more than the
// column that the newline had come to before the token, 0 if it had no line break.
void Machine::take_lines(Walk& walk, const Passage& passage, uint32_t stack, uint32_t column) {
    const std::vector<uint32_t> blocks = environment(stack);  // the first is no column
    std::map<uint32_t, std::vector<Line>> groups;
    auto add = [&](uint32_t indent, Line line) {
        line.column = column_after(stack, column, Indent{indent});
        const uint32_t at = line.column - 1;
        if (!line.column) return;
        if (at > blocks.back()) groups[kDeeper].push_back(line);
        else if (std::find(blocks.begin() + 1, blocks.end(), at) != blocks.end())
            groups[line.column].push_back(line);
    };
    for (const auto& ending : passage.endings) add(ending.indent, {0, &ending, nullptr});
    for (const auto& exit : passage.exits) add(exit.indent, {0, nullptr, &exit});
    for (const auto& [group, lines] : groups) take_alike(walk, stack, lines, group == kDeeper);
}

// Columns that open a block differ in nothing but what later lines say: only tokens with such a
// line are looked at by themselves.
void Machine::take_alike(Walk& walk, uint32_t stack, const std::vector<Line>& lines, bool deeper) {
    using Lines = RemainsTable::Lines;
    std::vector<uint32_t> stacks;
    find_blocks(stack, lines[0].column, stacks);
    if (stacks.empty()) return;
    std::map<uint32_t, std::vector<uint32_t>> by_guard;
    for (const Line& line : lines) {
        if (line.ending) walk.tokens.add(line.ending->tokens);
        else by_guard[line.exit->guard].push_back(line.exit->remains);
    }
    auto start_all = [&](uint32_t remains, uint32_t guard) {
        for (uint32_t one : stacks)
            if (remains != kNone) start(walk, one, remains, guard);
    };
    for (const auto& [guard, numbers] : by_guard)
        start_all(remainders().unite(numbers, deeper ? Lines::kOne : Lines::kAll), guard);
    for (const Line& line : lines) {
        if (!deeper || !line.exit) continue;
        uint32_t more = remainders().unite(std::vector<uint32_t>{line.exit->remains}, Lines::kMore);
        if (more == kNone) continue;
        stacks.clear();
        find_blocks(stack, line.column, stacks);
        start_all(more, line.exit->guard);
    }
}

// The row of a state whose heads are all within a lexeme of the parser, or on its stack; else null.
const Row* Machine::parser_row(uint32_t state) {
    if (arena_[grammar_->start()].kind != Kind::kLalr) return nullptr;
    auto now = heads(state);
    const std::vector<Head> here(now.begin(), now.end());
    for (const Head& h : here)
        if (h.node != kStacked &&
            (is_deferred(h) || leaf(h.node).kind != Leaf::kLexeme || !is_stack(h.cont)))
            return nullptr;
    Trials trials(trials_);
    Walk walk{{}, nullptr, {}, {}};
    for (const Head& h : here) take_head(walk, h);
    finish(walk);
    if (states_[state].complete)
        walk.tokens.listed.insert(walk.tokens.listed.end(), vocabulary_->eos().begin(),
                                  vocabulary_->eos().end());
    RowPool& pool = vocabulary_->rows();
    if (walk.tokens.rows.empty() && walk.tokens.listed.size() <= kFewTokens) {
        rows_.push_back(pool.row(nullptr, walk.tokens.listed));
    } else {
        std::vector<uint32_t> words(vocabulary_->words(), 0);
        walk.tokens.write(words);
        rows_.push_back(pool.row(pool.base(std::move(words))));
    }
    return rows_.back().get();
}

}  // namespace guided
