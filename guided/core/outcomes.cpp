// Outcomes: what a parser's stack makes of lexemes, told by its top frame alone.
//
// A mask feeds many lexemes to one stack, and stacks that differ only far down do the same things
// to them. So lexemes are fed in bundles, and the state on top decides what becomes of a bundle:
// what is shifted adds its tokens, with all that follows above this frame; what asks for a
// reduction waits, as a smaller bundle, for the frame that the reduction leaves on top. That much
// is found once for each bundle and state, and a mask looks up one outcome for each frame that its
// reductions uncover.
//
// An outcome is found by the same steps, on a stack of one frame with nothing known beneath. What
// cannot be told so, as it asks for the indentation or for what may follow, is kept for later, with
// the frames above, and done on the real stack.
#include <algorithm>
#include <array>
#include <map>

#include "automaton.h"
#include "errors.h"
#include "stacks.h"

namespace guided {

namespace {
constexpr size_t kMostSteps = 1'000'000;  // of one mask, as reductions may go round
constexpr uint32_t kMostLexemes = 2'000;
}  // namespace

Machine::Deeper::Deeper(uint32_t& now) : depth(now) {
    if (depth == kMostLexemes)
        throw LimitExceeded("a token spells too many lexemes", "lexemes in a token", kMostLexemes,
                            "");
    ++depth;
}

// ---- bundles ----

uint32_t Machine::bundle(std::vector<Element>& elements) {
    std::sort(elements.begin(), elements.end());
    elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
    return bundles_.intern(reinterpret_cast<const uint32_t*>(elements.data()),
                           elements.size() * kElementWords);
}

void Machine::add_elements(uint32_t bundle, std::vector<Element>& elements) const {
    auto words = bundles_[bundle];
    auto* first = reinterpret_cast<const Element*>(words.data());
    elements.insert(elements.end(), first, first + words.size() / kElementWords);
}

// The lexemes of the state on top for some remainders.
uint32_t Machine::junction(uint32_t stack, uint32_t remains, uint32_t guard) {
    auto f = frame_of(stack);
    Parser& p = parser(f.node);
    uint32_t key[] = {f.node, p.scanner[f.minimum - 1], remains, guard};
    uint32_t number = junction_keys_.intern(key, 4);
    if (number == junctions_.size()) junctions_.push_back(nullptr);
    if (!junctions_[number]) {
        auto made = std::make_unique<Junction>();
        made->remains = remains;
        made->guard = guard;
        made->offers =
            make_offers(p, f.minimum - 1, remainders()[remains].first & guard_bytes(guard));
        const Offers& all = made->offers;
        made->passages.resize(all.leaves.size());
        std::vector<Element> elements;
        for (size_t s = 0; s < all.symbols.size(); ++s)
            for (uint32_t i = all.begins[s]; i < all.begins[s + 1]; ++i)
                elements.push_back({all.symbols[s], number, i});
        made->within = bundle(elements);
        for (uint32_t i = all.newlines; i < all.fed; ++i)
            elements.push_back({p.parts.indentation.newline, number, i});
        made->outside = bundle(elements);
        stack_bytes_ += sizeof(Junction) + made->passages.size() * 32;
        junctions_[number] = std::move(made);
    }
    return number;
}

const Passage& Machine::passage_of(uint32_t junction, uint32_t number) {
    Junction& j = *junctions_[junction];
    const Passage*& known = j.passages[number];
    if (!known) known = &passage(j.offers.leaves[number], Terminal::kStart, j.remains, j.guard);
    return *known;
}

// ---- walks ----

// Let the stack read some remainders.
void Machine::start(Walk& walk, uint32_t stack, uint32_t remains, uint32_t guard) {
    Deeper deeper(depth_);
    for_each_frame(stack, [&](uint32_t one) {
        const uint32_t number = junction(one, remains, guard);
        const Junction& j = *junctions_[number];
        const bool within = in_brackets(one);
        for (uint32_t i = 0; i < j.offers.newlines; ++i) {
            if (is_narrow(j.offers.leaves[i])) do_later(walk, one, {Later::kNarrow, number, i, {}});
            else take(walk, number, i, one);
        }
        for (uint32_t i = j.offers.newlines; within && i < j.offers.fed; ++i)
            take_within(walk, passage_of(number, i), one);
        if (uint32_t lexemes = within ? j.within : j.outside)
            add_work(walk, frame_of(one), lexemes);
    });
}

// A lexeme of a junction, and the stack behind it.
void Machine::take(Walk& walk, uint32_t junction, uint32_t number, uint32_t behind) {
    const Passage& passage = passage_of(junction, number);
    walk.tokens.add(passage.inside);
    for (uint32_t i = 0; i < passage.endings.size(); ++i) {
        if (may_ignore(behind, passage.endings[i].guard))
            walk.tokens.add(passage.endings[i].tokens);
        else do_later(walk, behind, {Later::kEnding, junction, number, {}, i});
    }
    for (const auto& exit : passage.exits) start(walk, behind, exit.remains, exit.guard);
}

// The element's symbol was shifted.
void Machine::take_shifted(Walk& walk, const Element& element, uint32_t behind) {
    const Offers& all = junctions_[element.junction]->offers;
    if (element.number < all.fed) {
        const Passage& newline = passage_of(element.junction, element.number);
        walk.tokens.add(newline.inside);
        if (!newline.endings.empty() || !newline.exits.empty())
            do_later(walk, behind, {Later::kLines, element.junction, element.number, {}});
    } else if (is_narrow(all.leaves[element.number])) {
        do_later(walk, behind, {Later::kNarrow, element.junction, element.number, {}});
    } else {
        take(walk, element.junction, element.number, behind);
    }
}

// On a stack that is not known to its end: keep it for one that is.
void Machine::do_later(Walk& walk, uint32_t stack, Later later) {
    const Passage& passage = passage_of(later.junction, later.number);
    if (walk.outcome) {
        for (; stack != kBeneath; stack = frame_of(stack).parent)
            later.frames.push_back({frame_of(stack).minimum, brackets(stack)});
        walk.outcome->later.push_back(std::move(later));
    } else if (later.kind == Later::kLines) {
        take_lines(walk, passage, stack, 0);
    } else if (later.kind == Later::kEnding) {
        const auto& ending = passage.endings[later.ending];
        if (!is_dead_end(stack, ending.guard)) walk.tokens.add(ending.tokens);
    } else if (may_follow(stack, junctions_[later.junction]->offers.leaves[later.number])) {
        take(walk, later.junction, later.number, stack);
    }
}

// Feed what is to be fed, until all is shifted, or asks for what is beneath. What waits for one
// frame goes on together: frames above have greater numbers than those below, so they are done
// first.
void Machine::finish(Walk& walk) {
    std::vector<uint32_t> together;
    for (size_t steps = 0; !walk.todo.empty();) {
        if (++steps > kMostSteps)
            throw LimitExceeded("a lexeme asks for too many reductions", "reductions", kMostSteps,
                                "");
        const Continuations::Frame top = walk.todo.front().top;
        together.clear();
        while (!walk.todo.empty() && walk.todo.front().top == top) {
            together.push_back(walk.todo.front().bundle);
            std::pop_heap(walk.todo.begin(), walk.todo.end());
            walk.todo.pop_back();
        }
        apply(walk, outcome(unite_bundles(together), top), top);
    }
}

void Machine::add_work(Walk& walk, const Continuations::Frame& top, uint32_t bundle) {
    walk.todo.push_back({top, bundle});
    std::push_heap(walk.todo.begin(), walk.todo.end());
}

uint32_t Machine::unite_bundles(std::vector<uint32_t>& bundles) {
    if (bundles.size() == 1) return bundles[0];
    std::sort(bundles.begin(), bundles.end());
    bundles.erase(std::unique(bundles.begin(), bundles.end()), bundles.end());
    if (bundles.size() == 1) return bundles[0];
    const uint32_t number = unions_.intern(bundles.data(), bundles.size());
    if (number == united_bundles_.size()) {
        std::vector<Element> elements;
        for (uint32_t one : bundles) add_elements(one, elements);
        united_bundles_.push_back(bundle(elements));
    }
    return united_bundles_[number];
}

// Do to a stack what its top frame does to a bundle.
void Machine::apply(Walk& walk, const Outcome& outcome, const Continuations::Frame& top) {
    walk.tokens.add(outcome.tokens);
    for (const Reduced& r : outcome.reduced) pop(walk, r, top);
    for (Later later : outcome.later) {
        uint32_t at = top.parent;
        for (size_t i = later.frames.size(); i-- > 0;)
            at = trial({top.node, later.frames[i].state,
                        with_brackets(top.maximum, later.frames[i].brackets), at});
        later.frames.clear();
        do_later(walk, at, std::move(later));
    }
}

void Machine::pop(Walk& walk, const Reduced& r, const Continuations::Frame& top) {
    if (!r.pops) return go_to(walk, r, top, trial(top));
    uint32_t base = top.parent;
    for (uint32_t left = r.pops - 1;; --left) {
        if (base == kBeneath) {
            walk.reduced.push_back({left + 1, r.symbol, r.brackets, r.bundle});
            return;
        }
        if (!is_trial(base) && conts().is_union(base)) {
            for (uint32_t one : bases_below(base, left)) go_to(walk, r, top, one);
            return;
        }
        if (!left) return go_to(walk, r, top, base);
        base = frame_of(base).parent;
    }
}

void Machine::go_to(Walk& walk, const Reduced& r, const Continuations::Frame& top, uint32_t base) {
    const uint32_t action = parser(top.node).action(frame_of(base).minimum - 1, r.symbol);
    if (action == kNone || action & 1) return;
    add_work(walk, {top.node, (action >> 1) + 1, with_brackets(top.maximum, r.brackets), base},
             r.bundle);
}

// ---- outcomes ----

const Machine::Outcome& Machine::outcome(uint32_t bundle, const Continuations::Frame& top) {
    const uint32_t brackets = environments_[top.maximum][0];
    uint32_t key[] = {bundle, top.node, top.minimum, brackets};
    const uint32_t number = outcome_keys_.intern(key, 4);
    if (number >= outcomes_.size()) outcomes_.resize(number + 1);
    if (!outcomes_[number]) {
        auto found = find_outcome(bundle, top, brackets);
        outcomes_[number] = std::move(found);
    }
    return *outcomes_[number];
}

std::unique_ptr<Machine::Outcome>
Machine::find_outcome(uint32_t bundle_number, Continuations::Frame top, uint32_t brackets) {
    Deeper deeper(depth_);
    Trials trials(trials_);
    const Parser& p = parser(top.node);
    auto found = std::make_unique<Outcome>();
    Walk walk{{}, found.get(), {}, {}};
    uint32_t words[] = {brackets, 0};
    top.maximum = environments_.intern(words, 2);
    top.parent = kBeneath;
    const uint32_t stack = trial(top);
    std::vector<Element> elements;
    add_elements(bundle_number, elements);
    std::map<uint32_t, std::vector<Element>> by_rule;
    for (const Element& e : elements) {
        const uint32_t action = p.action(top.minimum - 1, e.symbol);
        if (action == kNone) continue;
        if (action & 1) {
            by_rule[action >> 1].push_back(e);
            continue;
        }
        uint32_t after = trial({top.node, (action >> 1) + 1, top.maximum, stack});
        bool is_newline = e.number < junctions_[e.junction]->offers.fed;
        if (p.parts.indents && !is_newline) after = with_bracket(after, e.symbol);
        if (after != kNone) take_shifted(walk, e, after);
    }
    for (auto& [rule, wanted] : by_rule) {
        const LalrParts::Rule& r = p.parts.rules[rule];
        walk.reduced.push_back({r.length, r.symbol, brackets, bundle(wanted)});
    }
    finish(walk);
    merge(walk.reduced, found->reduced);
    walk.tokens.shrink(vocabulary_->rows());
    found->tokens = std::move(walk.tokens);
    stack_bytes_ += sizeof(Outcome) + 64 + found->tokens.bytes() +
                    found->reduced.size() * sizeof(Reduced) + found->later.size() * sizeof(Later);
    return found;
}

// Bundles that wait for the same frame are one.
void Machine::merge(const std::vector<Reduced>& all, std::vector<Reduced>& merged) {
    std::map<std::array<uint32_t, 3>, std::vector<Element>> elements;
    for (const Reduced& r : all) add_elements(r.bundle, elements[{r.pops, r.symbol, r.brackets}]);
    for (auto& [key, wanted] : elements) merged.push_back({key[0], key[1], key[2], bundle(wanted)});
}

}  // namespace guided
