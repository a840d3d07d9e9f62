#include "safe.h"

#include <algorithm>
#include <cctype>

#include "utf8_automaton.h"

namespace guided {

namespace {
constexpr size_t kSafeStates = 128;
constexpr size_t kSafeLength = 32;  // of sequences; few tokens are longer
}  // namespace

bool SafeBytes::is_safe(uint32_t number, const Trie::Summary& below) {
    const uint32_t start = AnyCharacter::instance().start;
    if (below.utf8_state == start) return takes_safely(number, below);
    if (!below.clean) return false;
    // Within a character: safe if it is so whichever way the character ends.
    auto [at, fresh] = ends_.try_emplace(uint64_t{number} << 32 | below.utf8_state);
    std::vector<uint32_t>& ends = at->second;
    if (fresh) {
        if (!character_ends(number, below.utf8_state, ends)) ends.clear();
        std::sort(ends.begin(), ends.end());
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    }
    return !ends.empty() && std::all_of(ends.begin(), ends.end(),
                                        [&](uint32_t s) { return takes_safely(s, below); });
}

bool SafeBytes::takes_safely(uint32_t number, const Trie::Summary& below) {
    if (number >= safe_.size()) safe_.resize(steps_.count());
    Safe& safe = safe_[number];
    if (!safe.known) {
        safe.known = true;
        find_safe(number, safe);
    }
    if (below.height > safe.length) return false;
    if (below.ascii[0] & ~safe.ascii[0] || below.ascii[1] & ~safe.ascii[1]) return false;
    if (!below.high) return true;
    if (!below.clean) return false;
    if (!safe.knows_leads) {
        safe.knows_leads = true;
        safe.leads = find_leads(safe);
    }
    return !(below.leads & ~safe.leads);
}

bool SafeBytes::repeats_characters(uint32_t number) {
    if (number >= safe_.size()) safe_.resize(steps_.count());
    Safe safe = safe_[number];
    if (!safe.known) find_safe(number, safe);
    if (safe.states.size() != 1) return false;
    for (uint8_t b = 0; b < 128; ++b) {
        bool ends;
        if (safe.has(b) && (steps_.next(number, b, ends) != number || !ends)) return false;
    }
    return repeats_character(number, number, AnyCharacter::instance().start);
}

// The same of the characters beyond ASCII that are read on from `utf8_state`.
bool SafeBytes::repeats_character(uint32_t start, uint32_t number, uint32_t utf8_state) {
    for (const auto& edge : AnyCharacter::instance().automaton.edges(utf8_state)) {
        if (edge.high < 0x80) continue;
        const bool last = edge.target == Utf8Automaton::kDone;
        uint32_t before = kNone;
        for (unsigned b = edge.low; b <= edge.high; ++b) {
            bool ends;
            uint32_t to = steps_.next(number, static_cast<uint8_t>(b), ends);
            if (to == Steps::kDead || (!last && to == before)) continue;
            before = to;
            if (ends != last || (to == start) != last) return false;
            if (!last && !repeats_character(start, to, edge.target)) return false;
        }
    }
    return true;
}

bool SafeBytes::takes_all(uint32_t number, const Safe& safe) const {
    const ByteSet& allowed = steps_.terminal().allowed(steps_.state(number));
    return !(safe.ascii[0] & ~allowed.word(0) || safe.ascii[1] & ~allowed.word(1));
}

// Start from all bytes that the state takes, and drop those that lead to a state which does not
// take all the others: in a JSON string that is the backslash. Where the states do not end, as
// something is counted, sequences are followed as far as there is room for states.
void SafeBytes::find_safe(uint32_t number, Safe& safe) {
    Terminal& terminal = steps_.terminal();
    if (terminal.is_vast()) {  // the states that sequences lead to are too many
        const Hostnames::Safe known = terminal.safe(steps_.state(number));
        safe.length = known.length;
        for (uint8_t b = 0; known.length && b < 128; ++b)
            if (std::isalnum(b) || (known.hyphens && b == '-'))
                safe.ascii[b >> 6] |= uint64_t{1} << (b & 63);
        return;
    }
    const ByteSet& allowed = steps_.terminal().allowed(steps_.state(number));
    std::vector<uint8_t> bytes;  // one of each class
    for (uint8_t b = 0; b < 128; ++b) {
        if (!allowed.has(b)) continue;
        safe.ascii[b >> 6] |= uint64_t{1} << (b & 63);
        bool known = std::any_of(bytes.begin(), bytes.end(), [&](uint8_t other) {
            return terminal.byte_class(other) == terminal.byte_class(b);
        });
        if (!known) bytes.push_back(b);
    }
    while (!follow(number, bytes, safe)) {
    }
}

// Follow sequences of the bytes left. False: one byte did not do, and its class was dropped.
bool SafeBytes::follow(uint32_t number, std::vector<uint8_t>& bytes, Safe& safe) {
    const Terminal& terminal = steps_.terminal();
    safe.states.assign(1, number);
    seen_.begin();
    seen_.add(number);
    safe.length = kNone;
    size_t layer = 1;  // states from here on are further away
    for (size_t i = 0, length = 1; i < safe.states.size(); ++i) {
        if (i == layer) {
            ++length;
            layer = safe.states.size();
        }
        if (safe.states.size() >= kSafeStates || length > kSafeLength) {
            safe.length = static_cast<uint32_t>(length);
            return true;
        }
        for (size_t k = 0; k < bytes.size(); ++k) {
            bool ends;
            uint32_t to = steps_.next(safe.states[i], bytes[k], ends);
            if (seen_.has(to)) continue;
            if (takes_all(to, safe)) {
                seen_.add(to);
                safe.states.push_back(to);
                continue;
            }
            for (uint8_t b = 0; b < 128; ++b)
                if (terminal.byte_class(b) == terminal.byte_class(bytes[k]))
                    safe.ascii[b >> 6] &= ~(uint64_t{1} << (b & 63));
            bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(k));
            return false;
        }
    }
    return true;
}

// Start from all bytes that begin a character, and drop those of which one cannot be read or leads
// to a state that does not take all the others.
uint64_t SafeBytes::find_leads(const Safe& safe) {
    if (safe.length != kNone) return 0;
    const auto edges = AnyCharacter::instance().automaton.edges(AnyCharacter::instance().start);
    const Terminal& terminal = steps_.terminal();
    std::vector<uint32_t> states = safe.states, ends;
    seen_.begin();
    for (uint32_t state : states) seen_.add(state);
    auto keep = [&](uint32_t to) {
        if (seen_.has(to)) return true;
        if (states.size() >= kSafeStates || !takes_all(to, safe)) return false;
        seen_.add(to);
        states.push_back(to);
        return true;
    };
    uint64_t leads = ~uint64_t{0};
    for (size_t i = 0; i < states.size(); ++i) {
        const uint32_t from = states[i];
        bool unused;
        // From the first ones such bytes were followed already.
        for (unsigned b = 0; b < 128 && i >= safe.states.size(); ++b)
            if (safe.has(static_cast<uint8_t>(b)) &&
                !keep(steps_.next(from, static_cast<uint8_t>(b), unused)))
                return 0;
        for (const auto& edge : edges) {
            if (edge.high < 0x80) continue;
            uint32_t before = kNone;
            bool good = false;  // of `before`
            for (unsigned b = edge.low, last; b <= edge.high; b = last + 1) {
                last = std::min<unsigned>(edge.high, terminal.class_last(static_cast<uint8_t>(b)));
                uint64_t bits = 0;
                for (unsigned k = b; k <= last; ++k) bits |= uint64_t{1} << (k & 63);
                if (!(leads & bits)) continue;
                uint32_t to = steps_.next(from, static_cast<uint8_t>(b), unused);
                if (to != before) {
                    before = to;
                    ends.clear();
                    good = to != Steps::kDead && character_ends(to, edge.target, ends) &&
                           std::all_of(ends.begin(), ends.end(), keep);
                }
                if (!good) leads &= ~bits;
            }
        }
    }
    return leads;
}

// The states that the characters beyond ASCII, read on from `utf8_state`, lead to; false if one of
// them cannot be read.
bool SafeBytes::character_ends(uint32_t number, uint32_t utf8_state, std::vector<uint32_t>& ends) {
    for (const auto& edge : AnyCharacter::instance().automaton.edges(utf8_state)) {
        if (edge.high < 0x80) continue;
        uint32_t before = kNone;
        for (unsigned b = edge.low; b <= edge.high;
             b = steps_.terminal().class_last(static_cast<uint8_t>(b)) + 1) {
            bool unused;
            uint32_t to = steps_.next(number, static_cast<uint8_t>(b), unused);
            if (to == before) continue;
            if (to == Steps::kDead) return false;
            before = to;
            if (edge.target == Utf8Automaton::kDone) ends.push_back(to);
            else if (!character_ends(to, edge.target, ends)) return false;
        }
    }
    return true;
}

}  // namespace guided
