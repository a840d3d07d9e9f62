#include "tables.h"

#include <algorithm>
#include <bit>

#include "safe.h"

namespace guided {

namespace {

constexpr size_t kPureExits = 8192;
constexpr size_t kLexemeExits = 20'000;  // trie nodes below exits; more is better walked
constexpr size_t kFewLong = 2048;        // tokens that are counted one by one rather than by a walk
constexpr uint16_t kOutside = 0xffff;    // as a count of repetitions; tokens are shorter than that

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
    : terminal_(terminal), vocabulary_(vocabulary), trie_(vocabulary.trie()), trie_node_(trie_node),
      depth_(depth), state_(state), run_(mode == kRun), recorded_(mode == kRecorded),
      lexeme_(mode == kLexeme) {
    find_inside();
    find_doubtful();
}

void Table::find_inside() {
    struct Step {
        uint32_t node, state, completed;
        bool ends;
    };
    Steps steps(terminal_, run_);
    SafeBytes safe(steps);
    Marks inside(vocabulary_.words()), outside(vocabulary_.words());
    // Breadth first, so that what comes next can be on its way from memory meanwhile.
    std::vector<Step> queue{{trie_node_, steps.number(state_), 0, false}};
    for (size_t at = 0; at < queue.size(); ++at) {
        const Step s = queue[at];
        const Trie::Node& n = trie_[s.node];
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c)
            trie_.prefetch_summary(trie_[c]);
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
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
            const Trie::Summary* below = trie_.summary(child);
            bool all = below && safe.is_safe(to, *below);
            auto items = all ? trie_.items_below(child) : trie_.items(child);
            if ((recorded_ || lexeme_) && ends && !terminal_.goes_on(steps.state(to))) {
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
                queue.push_back({c, to, s.completed + ends, ends});
            }
        }
    }
    // All states that a byte of some token leaves were met, those within safe subtrees too.
    for (uint32_t number = 0; number < steps.count(); ++number) {
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
    bool bound =
        run_ &&
        !vocabulary_.longer_than(limit).empty();  // else no token is long enough to begin more
    if (!bound) return full_ ? Inside{{}, full_} : Inside{tokens_, nullptr};
    std::lock_guard lock(mutex_);
    if (full_ && vocabulary_.longer_than(limit).size() <= kFewLong) return {{}, row_within(limit)};
    auto [at, fresh] = within_.try_emplace(limit);
    if (fresh) {
        if (begun_.empty()) count_repetitions();
        const uint32_t most = std::min<uint32_t>(limit, kOutside - 1);
        std::vector<uint32_t> words(vocabulary_.words());
        size_t count = 0;
        for (size_t w = 0; w < words.size(); ++w) {
            uint32_t bits = 0;
            for (size_t j = 0; j < 32; ++j) bits |= uint32_t{begun_[w * 32 + j] <= most} << j;
            words[w] = bits;
            count += static_cast<size_t>(std::popcount(bits));
        }
        if (count > kListed) at->second.row = vocabulary_.rows().base(std::move(words));
        else at->second.tokens = listed(words);
    }
    return {at->second.tokens, at->second.row};
}

uint32_t Table::begun(Steps& steps, uint32_t token) const {
    uint32_t state = steps.number(state_), count = 0;
    for (char c : vocabulary_.bytes(token).substr(depth_)) {
        bool ends;
        count += state == steps.start();
        state = steps.next(state, static_cast<uint8_t>(c), ends);
    }
    return count;
}

BasePtr Table::row_within(uint32_t limit) {
    BasePtr& row = within_[limit].row;
    if (row) return row;
    std::vector<uint32_t> words = full_->words;
    Steps steps(terminal_, run_);
    for (uint32_t t : vocabulary_.longer_than(limit))
        if (full_->has(t) && begun(steps, t) > limit) words[t >> 5] &= ~(1u << (t & 31));
    row = vocabulary_.rows().base(std::move(words));
    return row;
}

void Table::count_repetitions() {
    struct Step {
        uint32_t node, state, begun;
    };
    Steps steps(terminal_, run_);
    begun_.assign(size_t{vocabulary_.words()} * 32, kOutside);
    std::vector<Step> stack{{trie_node_, steps.number(state_), 0}};
    while (!stack.empty()) {
        Step s = stack.back();
        stack.pop_back();
        const Trie::Node& n = trie_[s.node];
        uint32_t begun = s.begun + (s.state == steps.start());
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            bool ends;
            uint32_t to = steps.next(s.state, trie_[c].byte, ends);
            if (to == Steps::kDead) continue;
            for (auto item : trie_.items(trie_[c]))
                begun_[item.token] = static_cast<uint16_t>(begun);
            if (trie_[c].child_count) stack.push_back({c, to, begun});
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
            if (terminal_.may_take(b) && may_go_on(b)) others.add(b);
        });
        if (others.empty()) return;
    }
    Steps steps(terminal_, run_);
    std::vector<Step> stack{{trie_node_, steps.number(state_), 0, false}};
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
        for (const Exit& e : found)
            collector.add_below(trie_, e.node, [&](Trie::Item) { return e.completed; });
        collector.finish();
    }
    return !exits_.overflows(first_bytes);
}

}  // namespace guided
