// Which nodes of a grammar are leaves, and of what kind: Machine's answer to `is_leaf`.
//
// Regular parts are best matched as one terminal, since its states and tables are shared by all
// grammars; but a sequence such as
// '"' characters '"' is better left apart, so that the run in the middle is the same for all
// strings, whatever their length.
#include "automaton.h"
#include "utf8.h"

namespace guided {

namespace {
constexpr size_t kWideChoice = 64;  // options; above, a regular choice is one terminal
constexpr uint32_t kLongCount =
    8;                           // of a repeat; above, a terminal would have a state for each count
constexpr int kWideOverlap = 2;  // bytes that may both continue a counted repeat and follow it;
                                 // above, the two are one terminal
}  // namespace

const Machine::LeafInfo& Machine::find_leaf(uint32_t node) {
    leaves_.push_back(classify(node));
    leaf_of_[node] = &leaves_.back();
    return leaves_.back();
}

uint32_t Machine::add_leaf(const LeafInfo& info) {
    leaves_.push_back(info);
    leaf_of_.push_back(&leaves_.back());
    return static_cast<uint32_t>(leaf_of_.size() - 1);
}

Terminal* Machine::acquire(uint32_t node) {
    terminals_.push_back(vocabulary_->terminal(arena_, node));
    return terminals_.back().get();
}

Machine::LeafInfo Machine::whole_terminal(uint32_t node) {
    return {Leaf::kTerminal, acquire(node), nullptr, 0};
}

bool Machine::is_run(uint32_t node) {
    const Arena::Node& n = arena_[node];
    return n.kind == Kind::kRepeat && n.regular && !arena_[n.a].nullable &&
           leaf(node).kind == Leaf::kRun;
}

ByteSet Machine::first_bytes(uint32_t node) {
    if (const ByteSet* known = first_bytes_.find(node)) return *known;
    ByteSet found;
    const Arena::Node& n = arena_[node];
    switch (n.kind) {
        case Kind::kLiteral: found.add(static_cast<uint8_t>(arena_.bytes(n)[0])); break;
        case Kind::kClass:
            for (auto [low, high] : arena_.ranges(n))
                found.add_range(static_cast<uint8_t>(encode_utf8(low)[0]),
                                static_cast<uint8_t>(encode_utf8(high)[0]));
            break;
        case Kind::kSequence:
            found = first_bytes(n.a);
            if (arena_[n.a].nullable) found |= first_bytes(n.b);
            break;
        case Kind::kChoice:
            for (uint32_t child : arena_.children(n)) found |= first_bytes(child);
            break;
        case Kind::kRepeat:
        case Kind::kMinus: found = first_bytes(n.a); break;
        case Kind::kCapture: found = first_bytes(n.b); break;
        case Kind::kPart: found = first_bytes(n.a); break;
        case Kind::kBoth: found = first_bytes(n.a) & first_bytes(n.b); break;
        case Kind::kDfa: found = dfa_bytes(n, false); break;
        case Kind::kHostname: found = hostname_bytes(n, false); break;
        default: break;
    }
    return first_bytes_.add(node, found, arena_.size());
}

// The bytes that leave the start of an automaton, or (`tail`) any state that accepts.
ByteSet Machine::dfa_bytes(const Arena::Node& n, bool tail) const {
    ByteSet found;
    auto words = arena_.words(n);
    for (size_t at = 0; at < words.size(); at += 2 + 2 * words[at + 1]) {
        if (at && !tail) break;
        for (size_t k = 0; k < words[at + 1] && (!tail || words[at]); ++k)
            found.add_range(words[at + 2 + 2 * k] >> 8, words[at + 2 + 2 * k] & 0xff);
    }
    return found;
}

ByteSet Machine::hostname_bytes(const Arena::Node& n, bool tail) {
    ByteSet found;
    found.add_range('0', '9');
    found.add_range('A', 'Z');
    found.add_range('a', 'z');
    if (tail) found.add_range('-', '.');
    if (n.b) found.add('\\');
    return found;
}

// The bytes that may go on with the node where it could also end.
ByteSet Machine::tail_bytes(uint32_t node) {
    if (const ByteSet* known = tail_bytes_.find(node)) return *known;
    ByteSet found;
    const Arena::Node& n = arena_[node];
    switch (n.kind) {
        case Kind::kSequence:
            found = tail_bytes(n.b);
            if (arena_[n.b].nullable) {
                found |= tail_bytes(n.a);
                found |= first_bytes(n.b);
            }
            break;
        case Kind::kChoice:
            for (uint32_t child : arena_.children(n)) found |= tail_bytes(child);
            break;
        case Kind::kRepeat:
            found = tail_bytes(n.a);
            if (n.b != n.c) found |= first_bytes(n.a);
            break;
        case Kind::kBoth: found = tail_bytes(n.a) & tail_bytes(n.b); break;
        case Kind::kMinus: found = tail_bytes(n.a); break;
        case Kind::kCapture: found = tail_bytes(n.b); break;
        case Kind::kPart: found = tail_bytes(n.a); break;
        case Kind::kDfa: found = dfa_bytes(n, true); break;
        case Kind::kHostname: found = hostname_bytes(n, true); break;
        default: break;
    }
    return tail_bytes_.add(node, found, arena_.size());
}

Machine::Group Machine::group(uint32_t sequence) {
    if (group_of_.empty()) group_of_.resize(arena_.size(), 0);
    if (!group_of_[sequence]) {
        groups_.push_back(find_group(sequence));
        group_of_[sequence] = static_cast<uint32_t>(groups_.size());
    }
    return groups_[group_of_[sequence] - 1];
}

// The least number of first parts whose end and what follows can be told apart by the next byte.
// One part alone needs no group.
Machine::Group Machine::find_group(uint32_t sequence) {
    std::vector<uint32_t> parts;
    ByteSet tail;
    uint32_t node = sequence;
    bool nullable = true;
    int bearable =
        0;  // where nothing is counted, one terminal is best as soon as the next byte does not tell
    for (;;) {
        const Arena::Node& n = arena_[node];
        bool last = n.kind != Kind::kSequence;
        uint32_t part = last ? node : n.a;
        if (!arena_[part].regular) break;
        // Parts come together because an earlier one may have gone on where a later one began, so
        // it may go on still.
        tail |= tail_bytes(part);
        if (arena_[part].nullable) tail |= first_bytes(part);
        const Arena::Node& p = arena_[part];
        if (p.kind == Kind::kRepeat && p.c != kNone && p.c > kLongCount) bearable = kWideOverlap;
        parts.push_back(part);
        nullable &= arena_[part].nullable;
        node = last ? Arena::kEmptyNode : n.b;
        // What follows is not known where the rest may be empty or is no regular node: then the
        // next byte is taken to tell.
        if (last || (tail & first_bytes(node)).count() <= bearable) break;
    }
    if (parts.size() < 2) return {};
    Arena scratch;
    std::vector<uint32_t> copies;
    for (uint32_t part : parts) copies.push_back(scratch.import(arena_, part));
    terminals_.push_back(vocabulary_->terminal(scratch, scratch.sequence(copies)));
    return {add_leaf({Leaf::kTerminal, terminals_.back().get(), nullptr, 0}), node, nullable};
}

Machine::LeafInfo Machine::classify(uint32_t node) {
    const Arena::Node& n = arena_[node];
    const LeafInfo none{Leaf::kNone, nullptr, nullptr, 0};
    if (n.kind == Kind::kToken) return {Leaf::kToken, nullptr, nullptr, 0};
    if (n.kind == Kind::kLexeme) {
        Terminal* lexeme = acquire(node);
        return {Leaf::kLexeme, lexeme, lexeme->longer(), node};
    }
    if (!n.regular) return none;
    switch (n.kind) {
        case Kind::kLiteral: return {.kind = Leaf::kLiteral, .text = arena_.bytes(n)};
        case Kind::kClass:
        case Kind::kDfa:
        case Kind::kHostname:
        case Kind::kBoth: return whole_terminal(node);
        case Kind::kMinus:
            // An endless run cannot be used up by a finite set of texts, so no state of the
            // difference is dead.
            if (is_run(n.a) && arena_[n.a].c == kNone && is_finite(arena_, n.b))
                return {Leaf::kRunMinus, leaf(n.a).terminal, acquire(n.b), n.a};
            return whole_terminal(node);
        case Kind::kRepeat:
            if (!arena_[n.a].nullable &&
                tail_bytes(n.a).empty()) {  // else a longer match is at hand
                Terminal* unit = acquire(n.a);
                if (unit->prefix_free()) return {Leaf::kRun, unit, nullptr, 0};
                terminals_.pop_back();
            }
            if (n.c == 1 || (tail_bytes(n.a) & first_bytes(n.a)).count() <= kWideOverlap)
                return none;
            return whole_terminal(node);
        case Kind::kChoice:
            return arena_.children(n).size() > kWideChoice ? whole_terminal(node) : none;
        default: return none;
    }
}

Head Machine::leaf_head(uint32_t node) {
    const LeafInfo& info = leaf(node);
    Head h{.node = node};
    switch (info.kind) {
        case Leaf::kRun:
        case Leaf::kRunMinus: {
            const Arena::Node& run = arena_[info.kind == Leaf::kRun ? node : info.run];
            h.state = Terminal::kStart;
            h.minimum =
                run.b ? run.b : 1;  // a head is a nonempty match: none owed is as good as one
            h.maximum = run.c;
            h.other = info.kind == Leaf::kRunMinus ? Terminal::kStart : 0;
            break;
        }
        case Leaf::kTerminal:
        case Leaf::kRecorded:
        case Leaf::kLexeme: h.state = Terminal::kStart; break;
        default: break;
    }
    return h;
}

}  // namespace guided
