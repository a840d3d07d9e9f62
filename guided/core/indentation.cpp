// What indentation does to a parser's stack: lark.indenter.
//
// An environment is the number of open brackets, then the indentations, the outermost (0) first.
#include <algorithm>

#include "automaton.h"
#include "stacks.h"

namespace guided {

uint32_t Machine::brackets(uint32_t stack) const {
    return environments_[frame_of(stack).maximum][0];
}

uint32_t Machine::with_brackets(uint32_t environment, uint32_t count) {
    auto known = environments_[environment];
    if (known[0] == count) return environment;
    std::vector<uint32_t> words(known.begin(), known.end());
    words[0] = count;
    return environments_.intern(words.data(), words.size());
}

std::vector<uint32_t> Machine::environment(uint32_t stack) const {
    auto known = environments_[frame_of(stack).maximum];
    return {known.begin(), known.end()};
}

uint32_t Machine::with_environment(uint32_t stack, const std::vector<uint32_t>& words) {
    auto f = frame_of(stack);
    return trial({f.node, f.minimum, environments_.intern(words.data(), words.size()), f.parent});
}

// The stack once `symbol` was shifted: an opening bracket keeps newlines from it, until it closes.
uint32_t Machine::with_bracket(uint32_t stack, uint32_t symbol) {
    const auto& indentation = lalr(frame_of(stack).node).indentation;
    auto among = [&](const std::vector<uint32_t>& list) {
        return std::find(list.begin(), list.end(), symbol) != list.end();
    };
    bool opens = among(indentation.opening), closes = among(indentation.closing);
    if (!opens && !closes) return stack;
    if (closes && !in_brackets(stack)) return kNone;
    std::vector<uint32_t> words = environment(stack);
    words[0] += opens ? 1 : -1;
    return with_environment(stack, words);
}

// The stacks with the blocks closed that are indented by more than `column`; none where no block is
// indented by just that much.
void Machine::dedent_to(uint32_t stack, uint32_t column, std::vector<uint32_t>& after) {
    std::vector<uint32_t> words = environment(stack);
    if (std::find(words.begin() + 1, words.end(), column) == words.end()) return;
    const uint32_t dedent = lalr(frame_of(stack).node).indentation.dedent;
    std::vector<uint32_t> stacks{stack}, fed;
    for (; words.back() > column; words.pop_back()) {
        fed.clear();
        for (uint32_t one : stacks)
            feed(one, {&dedent, 1}, [&](uint32_t, uint32_t to) { fed.push_back(to); });
        stacks.swap(fed);
    }
    for (uint32_t one : stacks) after.push_back(with_environment(one, words));
}

// One more than the column of the text behind its last line break; 0: there was none. `before`: the
// same of the text before it.
uint32_t Machine::column_after(uint32_t stack, uint32_t before, Indent indent) {
    if (!indent.breaks() && !before) return 0;
    uint32_t column = indent.breaks() ? 1 : before;
    uint32_t one = stack;
    if (!is_trial(one) && conts().is_union(one)) one = conts().members(one)[0];
    return column + indent.blanks() + indent.tabs() * lalr(frame_of(one).node).indentation.tab;
}

uint32_t Machine::feed_newline(uint32_t cont, uint32_t column) {
    uint64_t key = uint64_t{cont} << 32 | column;
    if (auto known = lines_.find(key); known != lines_.end()) return known->second;
    stack_bytes_ += 32;
    Trials trials(trials_);
    std::vector<uint32_t> stacks;
    find_lines(cont, column, stacks);
    return lines_[key] = settle_all(stacks);
}

// The stacks after a newline; `column`: one more than that of the text behind its last line break,
// 0 where it has none, which Lark's Indenter cannot read.
void Machine::find_lines(uint32_t stack, uint32_t column, std::vector<uint32_t>& after) {
    for_each_frame(stack, [&](uint32_t one) {
        if (in_brackets(one)) return after.push_back(one);  // a newline is nothing there
        if (!column) return;
        const uint32_t newline = lalr(frame_of(one).node).indentation.newline;
        std::vector<uint32_t> lines;
        feed(one, {&newline, 1}, [&](uint32_t, uint32_t line) { lines.push_back(line); });
        for (uint32_t line : lines) find_blocks(line, column, after);
    });
}

// The same of a stack that has taken the newline itself.
void Machine::find_blocks(uint32_t stack, uint32_t column, std::vector<uint32_t>& after) {
    std::vector<uint32_t> words = environment(stack);
    if (column - 1 <= words.back()) return dedent_to(stack, column - 1, after);
    words.push_back(column - 1);
    const uint32_t indent = lalr(frame_of(stack).node).indentation.indent;
    feed(stack, {&indent, 1},
         [&](uint32_t, uint32_t block) { after.push_back(with_environment(block, words)); });
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
