// Masks of the states of a parser: a walk of the passages of its lexemes (passages.h).
//
// What a head stands in is a passage over all tokens; behind it, and where no lexeme has begun, the
// stack offers lexemes to the remainders that are left, which are passages again. Stacks on the way
// are tried and never settled, so a mask leaves nothing behind but what is true of all stacks.
#include <algorithm>
#include <bit>
#include <map>

#include "automaton.h"
#include "stacks.h"

namespace guided {

namespace {
constexpr uint32_t kFewTokens = 128;
constexpr uint32_t kWithin = 0,
                   kDeeper = kNone;  // instead of a column: in brackets, in a new block
}  // namespace

// The lexemes of a scanner for some remainders.
Machine::Junction& Machine::junction(uint32_t stack, uint32_t remains, uint32_t guard) {
    auto f = frame_of(stack);
    Parser& p = parser(f.node);
    uint32_t key[] = {f.node, p.scanner[f.minimum - 1], remains, guard};
    uint32_t number = junction_keys_.intern(key, 4);
    if (number == junctions_.size()) junctions_.push_back(nullptr);
    if (!junctions_[number]) {
        auto made = std::make_unique<Junction>();
        made->offers = make_offers(p, f.minimum - 1, remains_[remains].first & guard_bytes(guard));
        made->passages.resize(made->offers.leaves.size());
        stack_bytes_ += sizeof(Junction) + made->passages.size() * 32;
        junctions_[number] = std::move(made);
    }
    return *junctions_[number];
}

// Add the tokens whose remainders the stack takes.
void Machine::spell(uint32_t stack, uint32_t remains, uint32_t guard) {
    Trials trials(trials_);
    for_each_frame(stack, [&](uint32_t one) {
        Junction& j = junction(one, remains, guard);
        if (j.passages.empty()) return;
        offer(one, j.offers, [&](uint32_t number, uint32_t behind) {
            const uint32_t lexeme = j.offers.leaves[number];
            const Passage*& known = j.passages[number];
            if (!known) known = &passage(lexeme, Terminal::kStart, remains, guard);
            take(lexeme, *known, behind, 0);
        });
    });
}

// Add the tokens of a passage; `behind`: the stack that follows it. Of a newline, the stack before
// it, and in `column` one more than the column that it has come to, 0 if there was no line break.
void Machine::take(uint32_t lexeme, const Passage& passage, uint32_t behind, uint32_t column) {
    passage.inside.add_to(spelled_);
    if (leaf(lexeme).newline) {
        for_each_frame(behind, [&](uint32_t one) { take_lines(passage, one, column); });
        return;
    }
    for (const auto& ending : passage.endings)
        if (!is_dead_end(behind, ending.guard)) ending.tokens.add_to(spelled_);
    for (const auto& exit : passage.exits) spell(behind, exit.remains, exit.guard);
}

// Behind a newline the stack depends on the column: lines are looked at by the columns that can
// stand there, and those that open a block together.
void Machine::take_lines(const Passage& passage, uint32_t stack, uint32_t column) {
    const bool within = in_brackets(stack);
    const std::vector<uint32_t> blocks = environment(stack);  // the first is no column
    std::map<uint32_t, std::vector<Line>> groups;
    auto add = [&](uint32_t indent, Line line) {
        line.column = column_after(stack, column, Table::Indent{indent});
        const uint32_t at = line.column - 1;
        if (within) groups[kWithin].push_back(line);
        else if (!line.column) return;
        else if (at > blocks.back()) groups[kDeeper].push_back(line);
        else if (std::find(blocks.begin() + 1, blocks.end(), at) != blocks.end())
            groups[line.column].push_back(line);
    };
    for (const auto& ending : passage.endings) add(ending.indent, {0, &ending, nullptr});
    for (const auto& exit : passage.exits) add(exit.indent, {0, nullptr, &exit});
    for (const auto& [group, lines] : groups) take_alike(stack, lines, group == kDeeper);
}

// Columns that open a block differ in nothing but what later lines say: only tokens with such a
// line are looked at by themselves.
void Machine::take_alike(uint32_t stack, const std::vector<Line>& lines, bool deeper) {
    using Lines = RemainsTable::Lines;
    std::vector<uint32_t> stacks;
    find_lines(stack, lines[0].column, stacks);
    if (stacks.empty()) return;
    std::map<uint32_t, std::vector<uint32_t>> by_guard;
    for (const Line& line : lines) {
        if (line.ending) line.ending->tokens.add_to(spelled_);
        else by_guard[line.exit->guard].push_back(line.exit->remains);
    }
    auto spell_all = [&](uint32_t remains, uint32_t guard) {
        for (uint32_t one : stacks)
            if (remains != kNone) spell(one, remains, guard);
    };
    for (const auto& [guard, numbers] : by_guard)
        spell_all(remains_.unite(numbers, deeper ? Lines::kOne : Lines::kAll), guard);
    for (const Line& line : lines) {
        if (!deeper || !line.exit) continue;
        uint32_t more = remains_.unite(std::vector<uint32_t>{line.exit->remains}, Lines::kMore);
        if (more == kNone) continue;
        stacks.clear();
        find_lines(stack, line.column, stacks);
        spell_all(more, line.exit->guard);
    }
}

// All heads are within a lexeme of the parser, or on its stack: then the row of the state, else
// null.
const Row* Machine::spelled_row(uint32_t state) {
    if (arena_[grammar_->start()].kind != Kind::kLalr) return nullptr;
    auto now = heads(state);
    const std::vector<Head> here(now.begin(), now.end());
    for (const Head& h : here)
        if (h.node != kStacked &&
            (is_deferred(h) || leaf(h.node).kind != Leaf::kLexeme || !is_stack(h.cont)))
            return nullptr;
    Trials trials(trials_);
    spelled_.assign(vocabulary_->words(), 0);
    for (const Head& h : here) {
        if (h.node == kStacked) spell(h.state, RemainsTable::kTokens, h.guard);
        else
            take(h.node, passage(h.node, h.state, RemainsTable::kTokens, h.guard), h.cont, h.other);
    }
    if (states_[state].complete)
        for (uint32_t id : vocabulary_->eos()) spelled_[id >> 5] |= 1u << (id & 31);
    size_t count = 0;
    for (uint32_t word : spelled_) count += static_cast<size_t>(std::popcount(word));
    RowPool& pool = vocabulary_->rows();
    if (count > kFewTokens) {
        rows_.push_back(pool.row(pool.base(spelled_), {}));
    } else {
        std::vector<uint32_t> tokens;
        for (uint32_t w = 0; w < spelled_.size(); ++w)
            for (uint32_t word = spelled_[w]; word; word &= word - 1)
                tokens.push_back(32 * w + static_cast<uint32_t>(std::countr_zero(word)));
        rows_.push_back(pool.row(nullptr, std::move(tokens)));
    }
    return rows_.back().get();
}

}  // namespace guided
