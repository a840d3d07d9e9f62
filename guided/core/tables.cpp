#include "tables.h"

#include <algorithm>

namespace guided {

namespace {

constexpr size_t kPureExits = 8192;
constexpr size_t kLexemeExits = 20'000;  // trie nodes below exits; more is better walked
constexpr size_t kSafeStates = 48;
constexpr size_t kFewLong = 2048;  // tokens that are counted one by one rather than by a walk

}  // namespace

// One byte further; where a run completes its unit it is between repetitions again, in kStart.
uint32_t Table::next(uint32_t state, uint8_t byte, bool& ends) const {
    uint32_t to = terminal_.next(state, byte);
    ends = to != Terminal::kDead && terminal_.accepting(to);
    return run_ && ends ? Terminal::kStart : to;
}

Table::Table(Terminal& terminal, Vocabulary& vocabulary, uint32_t trie_node, size_t depth,
             uint32_t state, Mode mode)
    : terminal_(terminal), vocabulary_(vocabulary), trie_(vocabulary.trie()), trie_node_(trie_node),
      depth_(depth), state_(state), run_(mode == kRun), recorded_(mode == kRecorded),
      lexeme_(mode == kLexeme) {
    find_inside();
    find_doubtful();
    safe_.clear();
    ends_.clear();
}

void Table::find_inside() {
    struct Step {
        uint32_t node, state, completed;
        bool ends;
    };
    std::vector<std::span<const Trie::Item>> inside;
    size_t count = 0;
    std::vector<Step> stack{{trie_node_, state_, 0, false}};
    while (!stack.empty()) {
        Step s = stack.back();
        stack.pop_back();
        const Trie::Node& n = trie_[s.node];
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            const Trie::Node& child = trie_[c];
            bool ends;
            uint32_t to = next(s.state, child.byte, ends);
            if (lexeme_ && s.ends) add_lexeme_exit(c, s.state);
            if (to == Terminal::kDead) {
                if (!s.ends || lexeme_) continue;
                if (pure_exits_.size() < kPureExits) pure_exits_.push_back({c, s.completed});
                else all_pure_exits_ = false;
                continue;
            }
            const Trie::Summary* below = trie_.summary(child);
            bool all = below && is_safe(to, *below);
            auto items = all ? trie_.items_below(child) : trie_.items(child);
            if (recorded_ && ends && !terminal_.goes_on(to)) {
                for (auto item : items) ending_.push_back(item.token);
            } else if (lexeme_ && ends && !terminal_.goes_on(to)) {
                for (auto item : items) lexeme_ending_.push_back({item.token, to});
            } else {
                if (!items.empty()) inside.push_back(items);
                count += items.size();
            }
            if (!all && child.child_count) stack.push_back({c, to, s.completed + ends, ends});
        }
    }
    if (count <= kListed) {
        for (auto items : inside)
            for (auto item : items) tokens_.push_back(item.token);
        return;
    }
    std::vector<uint32_t> words(vocabulary_.words(), 0);
    for (auto items : inside)
        for (auto item : items) words[item.token >> 5] |= 1u << (item.token & 31);
    full_ = vocabulary_.rows().base(std::move(words));
}

// Tokens that stay inside as well need no second look.
void Table::find_doubtful() {
    std::sort(tokens_.begin(), tokens_.end());
    for (uint32_t node : doubtful_nodes_)
        for (auto item : trie_.items_below(trie_[node]))
            if (!(full_ ? full_->has(item.token)
                        : std::binary_search(tokens_.begin(), tokens_.end(), item.token)))
                doubtful_.push_back({item.token, trie_[node].byte});
    std::sort(doubtful_.begin(), doubtful_.end());
    doubtful_.erase(std::unique(doubtful_.begin(), doubtful_.end()), doubtful_.end());
    doubtful_nodes_ = {};
}

// The lexeme has ended in `state` before the byte of `node`.
void Table::add_lexeme_exit(uint32_t node, uint32_t state) {
    switch (terminal_.past(state, trie_[node].byte)) {
        case Terminal::Past::kOver: return;
        case Terminal::Past::kOpen: doubtful_nodes_.push_back(node); return;
        case Terminal::Past::kFree:
            lexeme_exits_ += trie_[node].subtree;
            if (lexeme_exits_ > kLexemeExits) all_pure_exits_ = false;
            else pure_exits_.push_back({node, 0});
    }
}

// Nothing below can die from `state` on, so nothing leaves there either, but on bytes that could as
// well go on.
bool Table::is_safe(uint32_t state, const Trie::Summary& below) {
    uint32_t start = AnyCharacter::instance().start;
    if (below.utf8_state == start) return takes_safely(state, below);
    if (!below.clean) return false;
    // Within a character: safe if it is so whichever way the character ends.
    auto [at, fresh] = ends_.try_emplace(uint64_t{state} << 32 | below.utf8_state);
    std::vector<uint32_t>& ends = at->second;
    if (fresh) {
        if (!character_ends(state, below.utf8_state, ends)) ends.clear();
        std::sort(ends.begin(), ends.end());
        ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    }
    return !ends.empty() && std::all_of(ends.begin(), ends.end(),
                                        [&](uint32_t s) { return takes_safely(s, below); });
}

bool Table::takes_safely(uint32_t state, const Trie::Summary& below) {
    auto [at, fresh] = safe_.try_emplace(state);
    Safe& safe = at->second;
    if (fresh) find_safe(state, safe);
    if (below.height > safe.length) return false;
    if (below.ascii[0] & ~safe.ascii[0] || below.ascii[1] & ~safe.ascii[1]) return false;
    if (!below.high) return true;
    if (!below.clean) return false;
    if (safe.others < 0) safe.others = find_others(safe);
    return safe.others;
}

bool Table::takes_all(uint32_t state, const Safe& safe) const {
    const ByteSet& allowed = terminal_.allowed(state);
    return !(safe.ascii[0] & ~allowed.word(0) || safe.ascii[1] & ~allowed.word(1));
}

// Start from all bytes that the state takes, and drop those that lead to a state which does not
// take all the others: in a JSON string that is the backslash. Where the states do not end, as
// something is counted, sequences are followed as far as there is room for states.
void Table::find_safe(uint32_t state, Safe& safe) const {
    const ByteSet& allowed = terminal_.allowed(state);
    std::vector<uint8_t> bytes;  // one of each class
    for (uint8_t b = 0; b < 128; ++b) {
        if (!allowed.has(b)) continue;
        safe.ascii[b >> 6] |= uint64_t{1} << (b & 63);
        bool known = std::any_of(bytes.begin(), bytes.end(), [&](uint8_t other) {
            return terminal_.byte_class(other) == terminal_.byte_class(b);
        });
        if (!known) bytes.push_back(b);
    }
    while (!follow(state, bytes, safe)) {
    }
}

// Follow sequences of the bytes left. False: one byte did not do, and its class was dropped.
bool Table::follow(uint32_t state, std::vector<uint8_t>& bytes, Safe& safe) const {
    safe.states.assign(1, state);
    safe.length = kNone;
    size_t layer = 1;  // states from here on are further away
    for (size_t i = 0, length = 1; i < safe.states.size(); ++i) {
        if (i == layer) {
            ++length;
            layer = safe.states.size();
        }
        if (safe.states.size() >= kSafeStates) {
            safe.length = static_cast<uint32_t>(length);
            return true;
        }
        for (size_t k = 0; k < bytes.size(); ++k) {
            bool ends;
            uint32_t to = next(safe.states[i], bytes[k], ends);
            if (std::find(safe.states.begin(), safe.states.end(), to) != safe.states.end())
                continue;
            if (takes_all(to, safe)) {
                safe.states.push_back(to);
                continue;
            }
            for (uint8_t b = 0; b < 128; ++b)
                if (terminal_.byte_class(b) == terminal_.byte_class(bytes[k]))
                    safe.ascii[b >> 6] &= ~(uint64_t{1} << (b & 63));
            bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(k));
            return false;
        }
    }
    return true;
}

bool Table::find_others(Safe& safe) const {
    if (safe.length != kNone) return false;
    const uint32_t start = AnyCharacter::instance().start;
    std::vector<uint32_t> states = safe.states, ends;
    for (size_t i = 0; i < states.size(); ++i) {
        ends.clear();
        if (!character_ends(states[i], start, ends)) return false;
        bool unused;
        for (uint8_t b = 0; b < 128; ++b)
            if (safe.has(b)) ends.push_back(next(states[i], b, unused));
        for (uint32_t to : ends) {
            if (std::find(states.begin(), states.end(), to) != states.end()) continue;
            if (states.size() >= kSafeStates || !takes_all(to, safe)) return false;
            states.push_back(to);
        }
    }
    return true;
}

// The states that the characters beyond ASCII, read on from `utf8_state`, lead to; false if one of
// them cannot be read.
bool Table::character_ends(uint32_t state, uint32_t utf8_state, std::vector<uint32_t>& ends) const {
    for (const auto& edge : AnyCharacter::instance().automaton.edges(utf8_state)) {
        if (edge.high < 0x80) continue;
        uint32_t before = kNone;
        for (unsigned b = edge.low; b <= edge.high; ++b) {
            bool unused;
            uint32_t to = next(state, static_cast<uint8_t>(b), unused);
            if (to == before) continue;
            if (to == Terminal::kDead) return false;
            before = to;
            if (edge.target == Utf8Automaton::kDone) ends.push_back(to);
            else if (!character_ends(to, edge.target, ends)) return false;
        }
    }
    return true;
}

// ---- repetitions ----

Table::Inside Table::inside(uint32_t limit) {
    bool bound =
        run_ &&
        !vocabulary_.longer_than(limit).empty();  // else no token is long enough to begin more
    if (!bound) return full_ ? Inside{{}, full_} : Inside{tokens_, nullptr};
    std::lock_guard lock(mutex_);
    if (full_ && vocabulary_.longer_than(limit).size() <= kFewLong) return {{}, row_within(limit)};
    if (up_to_.empty()) count_repetitions();
    auto tokens = std::span(counted_).first(up_to_[std::min<size_t>(limit, up_to_.size() - 1)]);
    if (tokens.size() <= kListed) return {tokens, nullptr};
    BasePtr& row = rows_by_limit_[limit];
    if (!row) {
        std::vector<uint32_t> words(vocabulary_.words(), 0);
        for (uint32_t t : tokens) words[t >> 5] |= 1u << (t & 31);
        row = vocabulary_.rows().base(std::move(words));
    }
    return {{}, row};
}

uint32_t Table::begun(uint32_t token) const {
    uint32_t state = state_, count = 0;
    for (char c : vocabulary_.bytes(token).substr(depth_)) {
        bool ends;
        count += state == Terminal::kStart;
        state = next(state, static_cast<uint8_t>(c), ends);
    }
    return count;
}

BasePtr Table::row_within(uint32_t limit) {
    BasePtr& row = rows_by_limit_[limit];
    if (row) return row;
    std::vector<uint32_t> words = full_->words;
    for (uint32_t t : vocabulary_.longer_than(limit))
        if (full_->has(t) && begun(t) > limit) words[t >> 5] &= ~(1u << (t & 31));
    row = vocabulary_.rows().base(std::move(words));
    return row;
}

void Table::count_repetitions() {
    struct Step {
        uint32_t node, state, begun;
    };
    std::vector<std::pair<uint32_t, uint32_t>> found;  // begun, token
    std::vector<Step> stack{{trie_node_, state_, 0}};
    uint32_t most = 0;
    while (!stack.empty()) {
        Step s = stack.back();
        stack.pop_back();
        const Trie::Node& n = trie_[s.node];
        uint32_t begun = s.begun + (s.state == Terminal::kStart);
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            bool ends;
            uint32_t to = next(s.state, trie_[c].byte, ends);
            if (to == Terminal::kDead) continue;
            for (auto item : trie_.items(trie_[c])) found.push_back({begun, item.token});
            most = std::max(most, begun);
            if (trie_[c].child_count) stack.push_back({c, to, begun});
        }
    }
    up_to_.assign(most + 1, 0);
    for (auto [begun, token] : found) ++up_to_[begun];
    for (uint32_t k = 1; k <= most; ++k) up_to_[k] += up_to_[k - 1];
    std::vector<uint32_t> at(most + 1, 0);
    for (uint32_t k = 1; k <= most; ++k) at[k] = up_to_[k - 1];
    counted_.resize(found.size());
    for (auto [begun, token] : found) counted_[at[begun]++] = token;
}

// ---- exits ----

// Bytes that cannot go on inside leave at the places noted before; for others the trie is walked
// again, where they occur at all.
void Table::collect_exits(const ByteSet& first_bytes, std::vector<Exit>& out) const {
    ByteSet others;
    if (all_pure_exits_) {
        for (const Exit& e : pure_exits_)
            if (first_bytes.has(trie_[e.node].byte)) out.push_back(e);
        if (lexeme_) return;
    } else {
        others = first_bytes;
    }
    struct Step {
        uint32_t node, state, completed;
        bool ends;
    };
    auto occurs = [&](const Trie::Node& n) {
        const Trie::Summary* below = trie_.summary(n);
        if (!below) return true;
        bool any = false;
        first_bytes.for_each([&](uint8_t b) { any |= below->has(b); });
        return any;
    };
    // A byte that no state of the terminal takes leaves nowhere else.
    if (all_pure_exits_) {
        first_bytes.for_each([&](uint8_t b) {
            if (terminal_.may_take(b)) others.add(b);
        });
        if (others.empty()) return;
    }
    std::vector<Step> stack{{trie_node_, state_, 0, false}};
    while (!stack.empty()) {
        Step s = stack.back();
        stack.pop_back();
        const Trie::Node& n = trie_[s.node];
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            bool ends;
            uint32_t to = next(s.state, trie_[c].byte, ends);
            if (s.ends && others.has(trie_[c].byte) && (to != Terminal::kDead || !all_pure_exits_))
                out.push_back({c, s.completed});
            if (to != Terminal::kDead && trie_[c].child_count && occurs(trie_[c]))
                stack.push_back({c, to, s.completed + ends, ends});
        }
    }
}

bool Table::prepare_exits(const ByteSet& first_bytes) {
    std::lock_guard lock(mutex_);
    ByteSet missing = exits_.missing(first_bytes);
    if (!missing.empty()) {
        std::vector<Exit> found;
        collect_exits(missing, found);
        Remainders::Collector collector(exits_, missing);
        for (const Exit& e : found)
            collector.add_below(trie_, e.node, [&](Trie::Item) { return e.completed; });
        collector.finish();
    }
    return !exits_.overflows(first_bytes);
}

}  // namespace guided
