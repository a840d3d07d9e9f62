// How a Machine reads lexemes.
//
// A lexeme is a head with a terminal of its own kind, whose states know two things: how far the
// lexeme has come, and how far the texts that must not match longer. Where the lexeme completes and
// such a text may yet match, what follows carries a guard: pairs of leaf and state. The guard reads
// the bytes along; when it matches, the lexeme was longer than this reading of it, which dies.
#include <algorithm>

#include "automaton.h"

namespace guided {

// ---- guards ----

// The guard after `byte`; kNone if something in it matches. What cannot go on leaves it.
uint32_t Machine::advance_guard(uint32_t guard, uint8_t byte) {
    auto [at, fresh] = guard_steps_.try_emplace(uint64_t{guard} << 8 | byte, 0);
    if (!fresh) return at->second;
    std::vector<uint32_t> pairs;
    auto known = guards_[guard];
    for (size_t i = 0; i < known.size(); i += 2) {
        Terminal& longer = *leaf(known[i]).removed;
        uint32_t state = longer.next(known[i + 1], byte);
        if (longer.accepting(state)) return guard_steps_[uint64_t{guard} << 8 | byte] = kNone;
        if (longer.goes_on(state)) pairs.insert(pairs.end(), {known[i], state});
    }
    uint32_t after = guards_.intern(pairs.data(), pairs.size());
    return guard_steps_[uint64_t{guard} << 8 | byte] = after;
}

// The bytes that do not kill.
const ByteSet& Machine::guard_bytes(uint32_t guard) {
    auto [at, fresh] = guard_bytes_.try_emplace(guard);
    if (fresh) {
        ByteSet bytes;
        for (unsigned b = 0; b < 256; ++b)
            if (advance_guard(guard, static_cast<uint8_t>(b)) != kNone)
                bytes.add(static_cast<uint8_t>(b));
        guard_bytes_[guard] = bytes;
        return guard_bytes_[guard];
    }
    return at->second;
}

// `guard`, and what must not match longer than the lexeme `node` that has ended in `state`.
uint32_t Machine::guard_behind(uint32_t guard, uint32_t node, uint32_t state) {
    if (!guard) {
        auto [at, fresh] = first_guards_.try_emplace(uint64_t{node} << 32 | state, 0);
        if (!fresh) return at->second;
        return first_guards_[uint64_t{node} << 32 | state] = find_guard(0, node, state);
    }
    return find_guard(guard, node, state);
}

uint32_t Machine::find_guard(uint32_t guard, uint32_t node, uint32_t state) {
    const LeafInfo& info = leaf(node);
    uint32_t longer = info.terminal->longer_state(state);
    if (longer == Terminal::kDead || !info.removed->goes_on(longer)) return guard;
    std::vector<std::pair<uint32_t, uint32_t>> sorted{{info.run, longer}};
    auto known = guards_[guard];
    for (size_t i = 0; i < known.size(); i += 2) sorted.push_back({known[i], known[i + 1]});
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::vector<uint32_t> pairs;
    for (auto [leaf_node, leaf_state] : sorted) pairs.insert(pairs.end(), {leaf_node, leaf_state});
    return guards_.intern(pairs.data(), pairs.size());
}

// Nothing can follow the lexeme that ended so: whatever may come makes a longer match.
bool Machine::is_hopeless(uint32_t behind, uint32_t guard) {
    return guard && !states_[behind].complete && !states_[behind].token_heads &&
           (states_[behind].first & guard_bytes(guard)).empty();
}

// The bytes that can follow some text of a lexeme without making it longer.
const ByteSet& Machine::bytes_after(uint32_t node) {
    auto [at, fresh] = bytes_after_.try_emplace(node);
    if (fresh) at->second = find_bytes_after(node, 128);
    return at->second;
}

// The same, until there are more than enough of them in ASCII.
ByteSet Machine::find_bytes_after(uint32_t node, int enough) {
    constexpr size_t kMost = 2'000;  // states looked at; above, any byte is taken to do
    ByteSet after;
    Terminal& lexeme = *leaf(node).terminal;
    std::vector<uint32_t> reached{Terminal::kStart};
    std::vector<bool> seen(2, true);
    for (size_t i = 0; i < reached.size() && after.ascii_count() <= enough; ++i) {
        if (reached.size() > kMost) after.add_range(0, 255);
        if (lexeme.accepting(reached[i])) after |= guard_bytes(guard_behind(0, node, reached[i]));
        lexeme.allowed(reached[i]).for_each([&](uint8_t byte) {
            uint32_t to = lexeme.next(reached[i], byte);
            if (to >= seen.size()) seen.resize(to + to / 2 + 1, false);
            if (!seen[to]) reached.push_back(to);
            seen[to] = true;
        });
    }
    return after;
}

// ---- lexemes ----

// The guard of `h` has read the byte.
void Machine::step_lexeme(Head h, uint8_t byte, std::vector<Head>& out) {
    const LeafInfo& info = leaf(h.node);
    h.state = info.terminal->next(h.state, byte);
    if (h.state == Terminal::kDead) return;
    if (info.newline) h.other = column_after(h.cont, h.other, Indent{}.after(byte));
    if (info.terminal->accepting(h.state)) {
        uint32_t behind = guard_behind(h.guard, h.node, h.state);
        if (!info.newline) completed_.push_back({behind, h.cont});
        // Only where code follows, what it follows is looked at: mostly blanks do.
        else out.push_back({.node = kLined, .state = h.cont, .other = h.other, .guard = behind});
    }
    if (info.terminal->goes_on(h.state)) out.push_back(h);
}

// A lexeme leaf of its own number, with the newline's own way of completing.
uint32_t Machine::newline_leaf(uint32_t node) {
    auto [at, fresh] = newline_leaves_.try_emplace(node);
    if (fresh) {
        LeafInfo info = leaf(node);
        info.newline = true;
        at->second = add_leaf(info);
    }
    return at->second;
}

// Where there are lexemes a byte is tried: behind one that ends there may be nothing.
ByteSet Machine::first(uint32_t state) {
    if (!lexemes_) return states_[state].first;
    std::lock_guard lock(mutex_);
    ByteSet bytes;
    const ByteSet offered = states_[state].first;
    auto now = heads(state);
    const std::vector<Head> here(now.begin(), now.end());
    offered.for_each([&](uint8_t byte) {
        std::vector<Head> work = here;
        bool complete = false;
        char text = static_cast<char>(byte);
        if (run_through(work, {&text, 1}, complete)) bytes.add(byte);
    });
    return bytes;
}

}  // namespace guided
