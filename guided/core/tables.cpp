#include "tables.h"

#include <algorithm>
#include <bit>

#include "safe.h"
#include "utf8.h"

namespace guided {

namespace {

constexpr size_t kPureExits = 8192;
// Trie nodes below exits where few tokens stay inside: as many are as quickly walked, and further
// down the tables of what follows take over.
constexpr size_t kManyExits = 20'000, kFewInside = 1024;
constexpr size_t kLexemeExits = 20'000;  // trie nodes below exits; more is better walked

std::vector<uint32_t> listed(const std::vector<uint32_t>& words) {
    std::vector<uint32_t> tokens;
    for (uint32_t w = 0; w < words.size(); ++w)
        for (uint32_t bits = words[w]; bits; bits &= bits - 1)
            tokens.push_back(w * 32 + static_cast<uint32_t>(std::countr_zero(bits)));
    return tokens;
}

}  // namespace

void Table::Marks::add(std::span<const Trie::Item> items) {
    count += items.size();
    if (items.size() > kFew) many.push_back(items);
    else set(items);
}

void Table::Marks::set(std::span<const Trie::Item> items) {
    for (auto item : items) words[item.token >> 5] |= 1u << (item.token & 31);
}

void Table::Marks::finish() {
    for (auto items : many) set(items);
    many.clear();
}

Table::Table(Terminal& terminal, Vocabulary& vocabulary, uint32_t trie_node, size_t depth,
             uint32_t state, Mode mode)
    : terminal_(terminal), vocabulary_(vocabulary),
      trie_(trie_node == Trie::kRoot ? vocabulary.parts() : vocabulary.trie()),
      trie_node_(trie_node), depth_(depth), state_(state), run_(mode == kRun),
      recorded_(mode == kRecorded), lexeme_(mode == kLexeme) {
    find_inside();
    find_doubtful();
}

template <class F>
void Table::for_each_part(F&& f) const {
    if (trie_node_ != Trie::kRoot) return f(trie_node_);
    const Trie::Node& root = trie_[Trie::kRoot];
    for (uint32_t p = root.first_child; p < root.first_child + root.child_count; ++p) f(p);
}

Terminal& Table::walked(std::unique_ptr<Terminal>& copy, uint32_t& state) const {
    if (!terminal_.is_vast() || lexeme_) return terminal_;
    copy = terminal_.copy(state);
    return *copy;
}

void Table::find_inside() {
    struct Step {
        uint32_t node, state, completed;
        bool ends;
    };
    std::unique_ptr<Terminal> copy;
    uint32_t start = state_;
    Terminal& terminal = walked(copy, start);
    Steps steps(terminal, run_);
    SafeBytes safe(steps);
    Marks inside(vocabulary_.words()), outside(vocabulary_.words());
    std::vector<Step> stack;
    auto is_safe = [&](uint32_t node, uint32_t state) {
        const Trie::Summary* below = trie_.summary(trie_[node]);
        return below && safe.is_safe(state, *below);
    };
    const uint32_t from = steps.number(start);
    for_each_part([&](uint32_t node) {
        if (node != trie_node_ && is_safe(node, from)) inside.add(trie_.items_below(trie_[node]));
        else stack.push_back({node, from, 0, false});
    });
    while (!stack.empty()) {
        const Step s = stack.back();
        stack.pop_back();
        const Trie::Node& n = trie_[s.node];
        // The last child first, so that the first is on top: memory is gone through forwards.
        for (uint32_t c = n.first_child + n.child_count; c-- > n.first_child;)
            trie_.prefetch_summary(trie_[c]);
        for (uint32_t c = n.first_child + n.child_count; c-- > n.first_child;) {
            const Trie::Node& child = trie_[c];
            bool ends;
            uint32_t to = steps.next(s.state, child.byte, ends);
            if (lexeme_ && s.ends) add_lexeme_exit(c, steps.state(s.state));
            if (to == Steps::kDead) {
                outside.add(trie_.items_below(child));
                if (!s.ends || lexeme_) continue;
                if (pure_exits_.size() < kPureExits) pure_exits_.push_back({c, s.completed});
                else all_pure_exits_ = false;
                continue;
            }
            const bool all = is_safe(c, to);
            auto items = all ? trie_.items_below(child) : trie_.items(child);
            if ((recorded_ || lexeme_) && ends && !terminal.goes_on(steps.state(to))) {
                outside.add(items);
                for (auto item : items) {
                    if (recorded_) ending_.push_back(item.token);
                    else lexeme_ending_.push_back({item.token, steps.state(to)});
                }
            } else {
                inside.add(items);
            }
            if (!all && child.child_count) {
                trie_.prefetch_children(child);
                stack.push_back({c, to, s.completed + ends, ends});
            }
        }
    }
    // All states that a byte of some token leaves were met, those within safe subtrees too.
    for (uint32_t number = 0; !copy && number < steps.count(); ++number) {
        uint32_t state = steps.state(number);
        if (run_ ? state == Terminal::kStart : terminal_.accepting(state))
            ends_in_.push_back(state);
    }
    keep_inside(inside, outside);
}

// Where most of the vocabulary stays inside, the few others are taken away from all.
void Table::keep_inside(Marks& inside, Marks& outside) {
    if (inside.count > outside.count && trie_node_ == Trie::kRoot) {
        outside.finish();
        std::vector<uint32_t> words = vocabulary_.spelling();
        for (size_t w = 0; w < words.size(); ++w) words[w] &= ~outside.words[w];
        inside.words = std::move(words);
    } else {
        inside.finish();
    }
    if (inside.count > kListed) full_ = vocabulary_.rows().base(std::move(inside.words));
    else tokens_ = listed(inside.words);
}

// Tokens that stay inside as well need no second look.
void Table::find_doubtful() {
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

// ---- repetitions ----

Table::Inside Table::inside(uint32_t limit) {
    // Else no token is long enough to begin more.
    const bool bound = run_ && limit < vocabulary_.longest();
    if (!bound) return full_ ? Inside{{}, full_} : Inside{tokens_, nullptr};
    std::lock_guard lock(mutex_);
    auto [at, fresh] = within_.try_emplace(limit);
    if (fresh) at->second = find_within(limit);
    return {at->second.tokens, at->second.row};
}

// In nearly all runs a repetition is a character, and how many of these a token has is known; the
// others are set one by one.
Table::Within Table::find_within(uint32_t limit) {
    if (!counted_) count_repetitions();
    Within found;
    const std::span<const uint32_t> within = vocabulary_.within(before_ + limit);
    auto is_within = [&](uint32_t t) { return within[t >> 5] >> (t & 31) & 1; };
    if (!full_) {
        for (uint32_t t : tokens_) {
            auto odd =
                std::find_if(odd_.begin(), odd_.end(), [&](const Odd& o) { return o.token == t; });
            if (odd == odd_.end() ? is_within(t) : odd->begun <= limit) found.tokens.push_back(t);
        }
        return found;
    }
    std::vector<uint32_t> words = full_->words;
    for (size_t w = 0; w < words.size(); ++w) words[w] &= within[w];
    for (const Odd& odd : odd_) {
        const uint32_t bit = 1u << (odd.token & 31);
        if (odd.begun <= limit) words[odd.token >> 5] |= bit;
        else words[odd.token >> 5] &= ~bit;
    }
    size_t count = 0;
    for (size_t w = 0; w < words.size() && count <= kListed; ++w)
        count += static_cast<size_t>(std::popcount(words[w]));
    if (count > kListed) found.row = vocabulary_.rows().base(std::move(words));
    else found.tokens = listed(words);
    return found;
}

void Table::count_repetitions() {
    struct Step {
        uint32_t node, state, begun, characters;
    };
    counted_ = true;
    const auto below = trie_.items_below(trie_[trie_node_]);
    if (below.empty()) return;
    before_ = static_cast<uint32_t>(
        count_characters(vocabulary_.bytes(below.front().token).substr(0, depth_)));
    Steps steps(terminal_, run_);
    SafeBytes safe(steps);
    const uint32_t start = steps.start();
    const bool regular = safe.repeats_characters(start);
    const uint32_t from = steps.number(state_);
    std::vector<Step> stack;
    for_each_part([&](uint32_t node) {
        const Trie::Summary* summary = trie_.summary(trie_[node]);
        if (!(regular && node != trie_node_ && from == start && summary &&
              safe.is_safe(from, *summary)))
            stack.push_back({node, from, 0, 0});
    });
    while (!stack.empty()) {
        Step s = stack.back();
        stack.pop_back();
        const Trie::Node& n = trie_[s.node];
        const uint32_t begun = s.begun + (s.state == start);
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            const Trie::Node& child = trie_[c];
            bool ends;
            const uint32_t to = steps.next(s.state, child.byte, ends);
            if (to == Steps::kDead) continue;
            const uint32_t characters = s.characters + begins_character(child.byte);
            if (begun != characters)
                for (auto item : trie_.items(child)) odd_.push_back({item.token, begun});
            if (!child.child_count) continue;
            const Trie::Summary* summary = trie_.summary(child);
            if (regular && begun == characters && to == start && summary &&
                safe.is_safe(to, *summary))
                continue;
            stack.push_back({c, to, begun, characters});
        }
    }
}

// ---- exits ----

bool Table::may_go_on(uint8_t byte) const {
    return std::any_of(ends_in_.begin(), ends_in_.end(), [&](uint32_t state) {
        return terminal_.next(state, byte) != Terminal::kDead;
    });
}

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
        return !below || below->has_any(first_bytes);
    };
    // A byte that cannot go on wherever the terminal may end leaves nowhere else.
    if (all_pure_exits_) {
        first_bytes.for_each([&](uint8_t b) {
            if (terminal_.may_take(b) && (terminal_.is_vast() || may_go_on(b))) others.add(b);
        });
        if (others.empty()) return;
    }
    std::unique_ptr<Terminal> copy;
    uint32_t start = state_;
    Steps steps(walked(copy, start), run_);
    std::vector<Step> stack;
    for_each_part([&](uint32_t node) {
        if (occurs(trie_[node])) stack.push_back({node, steps.number(start), 0, false});
    });
    while (!stack.empty()) {
        Step s = stack.back();
        stack.pop_back();
        const Trie::Node& n = trie_[s.node];
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            bool ends;
            uint32_t to = steps.next(s.state, trie_[c].byte, ends);
            if (s.ends && others.has(trie_[c].byte) && (to != Steps::kDead || !all_pure_exits_))
                out.push_back({c, s.completed});
            if (to != Steps::kDead && trie_[c].child_count && occurs(trie_[c]))
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
        size_t size = 0;  // trie nodes below all exits
        for (const Exit& e : found) size += trie_[e.node].subtree;
        auto few_inside = [&] {
            size_t count = 0;
            for (size_t w = 0; full_ && w < full_->words.size(); ++w)
                count += static_cast<size_t>(std::popcount(full_->words[w]));
            return count < kFewInside;
        };
        if (size > kManyExits && few_inside()) {
            collector.give_up();
        } else {
            for (const Exit& e : found)
                collector.add_below(trie_, e.node, [&](Trie::Item) { return e.completed; });
            collector.finish();
        }
    }
    return !exits_.overflows(first_bytes);
}

}  // namespace guided
