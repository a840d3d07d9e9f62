// Masks: which tokens a state allows, found from the heads of the state.
//
// A terminal or a run contributes its residual table (tables.h): an inside row as it is, and its
// exit tries walked by the closure of its continuation. Everything else walks the token trie,
// pruned by the bytes that the heads take; where such a walk comes to a large subtree with a
// terminal in hand, the table of the terminal below that trie node takes over. Sets stay lists
// until the end. Heads inside a part are a fragment (fragments.cpp), found once for all places.
#include <algorithm>

#include "automaton.h"
#include "tables.h"
#include "walk.h"

namespace guided {

namespace {
constexpr uint32_t kLargeSubtree =
    256;  // trie nodes; a smaller one is walked rather than looked up

// Tokens as bits, while in scope; one set of a thread at a time.
class Marked {
  public:
    explicit Marked(uint32_t words) : bits_(bits(words)) {}
    ~Marked() {
        for (auto tokens : added_)
            for (uint32_t t : tokens) bits_[t >> 5] = 0;
    }
    Marked(const Marked&) = delete;
    void add(std::span<const uint32_t> tokens) {
        for (uint32_t t : tokens) bits_[t >> 5] |= 1u << (t & 31);
        added_.push_back(tokens);
    }
    bool has(uint32_t token) const { return bits_[token >> 5] >> (token & 31) & 1; }

  private:
    static uint32_t* bits(uint32_t words) {
        static thread_local std::vector<uint32_t> bits;  // all 0 between scopes
        if (bits.size() < words) bits.resize(words, 0);
        return bits.data();
    }
    uint32_t* const bits_;
    std::vector<std::span<const uint32_t>> added_;
};
}  // namespace

// END is reached at `node` of `trie`: what goes on from there is a remainder.
template <class Keep>
void Machine::add_exits(const Trie& trie, uint32_t node, Keep&& keep, Mask& mask) {
    const Trie::Node& n = trie[node];
    mask.unfit |= on_guess_;
    for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c)
        mask.exits->add_below(trie, c, [&](Trie::Item item) { return keep(item) ? 0 : kNone; });
}

// All tokens below `trie_node` that the heads stack_[begin, end) allow. `depth`: bytes from the
// root of the trie.
void Machine::collect(uint32_t trie_node, size_t depth, size_t begin, size_t end, Mask& mask) {
    size_t open = stack_.size();
    for (size_t i = begin; i < end; ++i) {
        Head h = stack_[i];
        if (is_deferred(h) && !is_walked(h)) expand(h, stack_);
        else stack_.push_back(h);
    }
    size_t top = stack_.size();
    std::vector<uint32_t>
        walked;  // leaves with too many exits here, and so they would be further down
    for (size_t i = open; i < top; ++i) {
        Head h = stack_[i];
        if (is_deferred(h)) {
            stack_.push_back(h);
            continue;
        }
        if (collect_by_table(trie_node, depth, h, mask)) continue;
        stack_.push_back(h);
        if (leaf(h.node).terminal && leaf(h.node).kind != Leaf::kRecorded &&
            leaf(h.node).kind != Leaf::kLexeme)
            walked.push_back(h.node);
    }
    if (stack_.size() > top) {
        const Trie& trie = vocabulary_->trie();
        auto emit = [&](uint32_t node, bool complete) {
            for (auto item : trie.items(trie[node])) mask.add(item.token, on_guess_);
            if (complete && mask.exits)
                add_exits(trie, node, [](Trie::Item) { return true; }, mask);
        };
        auto descend = [&](uint32_t node, size_t below, size_t from, size_t to) {
            if (on_guess_ || trie[node].subtree < kLargeSubtree) return false;
            bool any = false;
            for (size_t i = from; i < to; ++i) {
                const Head& h = stack_[i];
                if (std::find(walked.begin(), walked.end(), h.node) != walked.end()) return false;
                any |= is_deferred(h) ? !is_walked(h) : leaf(h.node).terminal != nullptr;
            }
            if (any) collect(node, below, from, to, mask);
            return any;
        };
        walk(trie, trie_node, depth, top, stack_.size(), emit, descend);
    }
    stack_.resize(open);
}

// The remainders of a table that go on from the state `behind`.
template <class Emit>
void Machine::walk_exits(Table& table, uint32_t behind, Emit&& emit) {
    const size_t top = stack_.size();
    auto heads_behind = heads(behind);
    stack_.insert(stack_.end(), heads_behind.begin(), heads_behind.end());
    const size_t end = stack_.size();
    const ByteSet first = states_[behind].first;
    first.for_each([&](uint8_t byte) {
        const Trie* exits = table.exits(byte);
        if (!exits) return;
        walk(
            *exits, Trie::kRoot, 0, top, end,
            [&](uint32_t node, bool complete) { emit(*exits, node, complete); },
            [](uint32_t, size_t, size_t, size_t) { return false; });
    });
    stack_.resize(top);
}

// The tokens that leave a recorded text and go on from `behind`, and whether on a guess.
const std::vector<std::pair<uint32_t, bool>>&
Machine::exits_behind(uint32_t trie_node, const Head& h, uint32_t behind, Table& table) {
    const Hash128 key = combine(Hash128{43, h.node}, combine(Hash128{trie_node, h.state}, behind));
    if (auto known = exits_behind_.find(key); known != exits_behind_.end()) return known->second;
    std::vector<std::pair<uint32_t, bool>> found;
    walk_exits(table, behind, [&](const Trie& exits, uint32_t node, bool) {
        for (auto item : exits.items(exits[node])) found.push_back({item.token, on_guess_});
    });
    exits_behind_bytes_ += 64 + found.size() * sizeof(found[0]);
    return exits_behind_[key] = std::move(found);
}

bool Machine::collect_by_table(uint32_t trie_node, size_t depth, const Head& h, Mask& mask) {
    const LeafInfo info = leaf(h.node);
    if (!info.terminal || h.guard) return false;
    if (info.kind == Leaf::kLexeme) return collect_lexeme(trie_node, depth, h, mask);
    bool recorded = info.kind == Leaf::kRecorded;
    if (recorded && !is_tabled_text(h)) return false;
    // A text that begins within a token is compared with nothing where the list is unknown.
    bool guess = recorded && depth > 0 && is_guess(h);
    if (guess && !info.terminal->endless_throughout()) return false;
    bool run = info.kind == Leaf::kRun || info.kind == Leaf::kRunMinus;
    Table& table = info.terminal->table(*vocabulary_, trie_node, depth, h.state,
                                        run        ? Table::kRun
                                        : recorded ? Table::kRecorded
                                                   : Table::kPlain);
    uint32_t behind = closure(recorded ? complete_recorded(h.cont, Texts::kUnknown) : h.cont);
    const ByteSet first = states_[behind].first;
    bool ends = mask.exits && states_[behind].complete;
    ByteSet wanted = first;
    if (ends) wanted |= mask.exits->wanted();
    if (!table.prepare_exits(wanted)) return false;
    if (mask.exits && (info.removed || guess)) mask.unfit = true;
    Hash128 key;
    bool keep = recorded && !mask.exits && recorded_key(trie_node, h, behind, key);
    if (keep) {
        if (auto known = recorded_masks_.find(key); known != recorded_masks_.end()) {
            const Mask& m = known->second;
            mask.tokens.insert(mask.tokens.end(), m.tokens.begin(), m.tokens.end());
            mask.guesses.insert(mask.guesses.end(), m.guesses.begin(), m.guesses.end());
            mask.bases.insert(mask.bases.end(), m.bases.begin(), m.bases.end());
            return true;
        }
    }
    const size_t tokens_before = mask.tokens.size(), guesses_before = mask.guesses.size();
    uint32_t limit = !run || h.maximum == kNone    ? kNone
                     : h.state == Terminal::kStart ? h.maximum
                                                   : h.maximum - 1;
    Table::Inside inside = table.inside(limit);
    Excluded out;
    if (recorded) out = excluded(trie_node, h, false);
    const bool any_out = !out.dead.empty() || !out.ended.empty();
    Marked marked(any_out ? vocabulary_->words() : 0);
    if (any_out) {
        marked.add(out.dead);
        marked.add(out.ended);
    }
    auto is_out = [&](uint32_t token) { return any_out && marked.has(token); };
    auto is_doubtful = [&](uint32_t token) {
        return guess || (!out.scarce.empty() &&
                         std::binary_search(out.scarce.begin(), out.scarce.end(), token));
    };
    if (mask.exits && !out.scarce.empty()) mask.unfit = true;
    if (!out.dead.empty()) inside = without(inside, out.dead, mask);
    mask.tokens.insert(mask.tokens.end(), inside.tokens.begin(), inside.tokens.end());
    if (inside.row) mask.bases.push_back(inside.row);
    size_t before = mask.tokens.size();
    if (recorded) {
        for (uint32_t token : table.ending())
            if (!is_out(token)) mask.add(token, is_doubtful(token));
    }
    auto fits = [&](Trie::Item item) {
        if (recorded) return !is_out(item.token);
        return !run || (item.count >= h.minimum && item.count <= h.maximum);
    };
    if (recorded && !mask.exits) {
        // What follows is the same for all texts: found once, then filtered.
        for (auto [token, on_guess] : exits_behind(trie_node, h, behind, table))
            if (!is_out(token)) mask.add(token, on_guess || is_doubtful(token));
    } else {
        walk_exits(table, behind, [&](const Trie& exits, uint32_t node, bool complete) {
            for (auto item : exits.items(exits[node]))
                if (fits(item)) mask.add(item.token, on_guess_ || is_doubtful(item.token));
            if (complete && mask.exits) add_exits(exits, node, fits, mask);
        });
    }
    if (ends)
        mask.exits->wanted().for_each([&](uint8_t byte) {
            const Trie* exits = table.exits(byte);
            if (exits) add_exits(*exits, Trie::kRoot, fits, mask);  // the root has this one child
        });
    if (info.removed && h.other != Terminal::kDead && mask.tokens.size() > before) {
        std::vector<uint32_t> exits(mask.tokens.begin() + static_cast<std::ptrdiff_t>(before),
                                    mask.tokens.end());
        mask.tokens.resize(before);
        drop_removed(trie_node, depth, h, first, exits);
        mask.tokens.insert(mask.tokens.end(), exits.begin(), exits.end());
    }
    if (keep) {
        auto from = [](const std::vector<uint32_t>& all, size_t first) {
            return std::vector<uint32_t>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                         all.end());
        };
        Mask& m = recorded_masks_[key];
        m.tokens = from(mask.tokens, tokens_before);
        m.guesses = from(mask.guesses, guesses_before);
        if (inside.row) m.bases.push_back(inside.row);
    }
    return true;
}

// The tokens that a lexeme takes; false where so many leave it that they are better walked.
bool Machine::collect_lexeme(uint32_t trie_node, size_t depth, const Head& h, Mask& mask) {
    const LeafInfo info = leaf(h.node);
    if (mask.exits || info.newline) return false;
    Table& table = info.terminal->table(*vocabulary_, trie_node, depth, h.state, Table::kLexeme);
    if (table.has_many_exits()) return false;
    auto add_read = [&](uint32_t token) {  // if it is read to its end
        if (reads({h}, vocabulary_->bytes(token).substr(depth))) mask.add(token, on_guess_);
    };
    Table::Inside inside = table.inside(kNone);
    mask.tokens.insert(mask.tokens.end(), inside.tokens.begin(), inside.tokens.end());
    if (inside.row) mask.bases.push_back(inside.row);
    const bool stacked = is_stack(h.cont);
    uint32_t behind = stacked ? h.cont : closure(h.cont);
    const ByteSet first = stacked ? stack_first(behind) : states_[behind].first;
    for (auto [token, state] : table.lexeme_ending()) {
        uint32_t guard = guard_behind(0, h.node, state);
        if (!(stacked ? is_dead_end(behind, guard) : is_hopeless(behind, guard)))
            mask.add(token, on_guess_);
    }
    for (auto [token, byte] : table.doubtful())
        if (first.has(byte)) add_read(token);
    return collect_exits({.node = stacked ? kStacked : kDeferred, .state = behind}, first, table,
                         mask);
}

// Of the exits of a table the tokens that `deferred` reads to their end.
bool Machine::collect_exits(const Head& deferred, const ByteSet& first, Table& table, Mask& mask) {
    if (!table.prepare_exits(first)) return false;
    size_t top = stack_.size();
    stack_.push_back(deferred);
    first.for_each([&](uint8_t byte) {
        const Trie* exits = table.exits(byte);
        if (!exits) return;
        auto emit = [&](uint32_t node, bool) {
            for (auto item : exits->items((*exits)[node])) mask.add(item.token, on_guess_);
        };
        walk(*exits, Trie::kRoot, 0, top, top + 1, emit,
             [](uint32_t, size_t, size_t, size_t) { return false; });
    });
    stack_.resize(top);
    return true;
}

// What stays inside, without some tokens.
Table::Inside Machine::without(Table::Inside inside, std::span<const uint32_t> excluded,
                               Mask& mask) {
    for (uint32_t token : inside.tokens)
        if (!std::binary_search(excluded.begin(), excluded.end(), token))
            mask.tokens.push_back(token);
    if (!inside.row || std::none_of(excluded.begin(), excluded.end(),
                                    [&](uint32_t token) { return inside.row->has(token); }))
        return {{}, inside.row};
    std::vector<uint32_t> words = inside.row->words;
    for (uint32_t token : excluded) words[token >> 5] &= ~(1u << (token & 31));
    return {{}, vocabulary_->rows().base(std::move(words))};
}

// The exits were found as if no text were removed. Those that leave where a removed text ends are
// looked at one by one: few, as only tokens along the removed texts can do so.
void Machine::drop_removed(uint32_t trie_node, size_t depth, const Head& h, const ByteSet& first,
                           std::vector<uint32_t>& tokens) {
    const LeafInfo info = leaf(h.node);
    const Trie& trie = vocabulary_->trie();
    std::vector<uint32_t> suspects;
    struct Step {
        uint32_t node, state, other;
    };
    std::vector<Step> stack{{trie_node, h.state, h.other}};
    while (!stack.empty()) {
        Step s = stack.back();
        stack.pop_back();
        const Trie::Node& n = trie[s.node];
        for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c) {
            Step to{c, info.terminal->next(s.state, trie[c].byte),
                    info.removed->next(s.other, trie[c].byte)};
            if (to.state == Terminal::kDead || to.other == Terminal::kDead) continue;
            if (info.terminal->accepting(to.state)) {
                to.state = Terminal::kStart;
                if (info.removed->accepting(to.other))
                    for (uint32_t k = trie[c].first_child;
                         k < trie[c].first_child + trie[c].child_count; ++k)
                        if (first.has(trie[k].byte))
                            for (auto item : trie.items_below(trie[k]))
                                suspects.push_back(item.token);
            }
            stack.push_back(to);
        }
    }
    std::sort(suspects.begin(), suspects.end());
    std::erase_if(tokens, [&](uint32_t token) {
        if (!std::binary_search(suspects.begin(), suspects.end(), token)) return false;
        return !reads({h}, vocabulary_->bytes(token).substr(depth));
    });
}

void Machine::add_token_heads(const Head& h, Mask& mask) {
    const Arena::Node& n = arena_[h.node];
    auto ids = arena_.ids(n);
    if (!n.c) {
        for (uint32_t id : ids)
            if (id < vocabulary_->count() && !vocabulary_->is_eos(id)) mask.tokens.push_back(id);
        return;
    }
    std::vector<uint32_t> words(vocabulary_->words(), 0);
    for (uint32_t id = 0; id < vocabulary_->count(); ++id)
        if (!vocabulary_->is_eos(id) && !std::binary_search(ids.begin(), ids.end(), id))
            words[id >> 5] |= 1u << (id & 31);
    mask.bases.push_back(vocabulary_->rows().base(std::move(words)));
}

const Row& Machine::find_row(uint32_t state) {
    Budget budget;
    std::lock_guard lock(mutex_);
    return row_locked(state, false);
}

// `general`: what the mask lets through on a guess is kept with the state, for those who ask.
const Row& Machine::row_locked(uint32_t state, bool general) {
    if (const Row* known = states_[state].row.load(std::memory_order_relaxed)) return *known;
    if (const Row* row = general ? nullptr : general_row(state)) {
        states_[state].row.store(row, std::memory_order_release);
        return *row;
    }
    if (const Row* row = lexemes_ ? parser_row(state) : nullptr) {
        states_[state].row.store(row, std::memory_order_release);
        return *row;
    }
    Borrowed borrowed(mask_);
    Mask& mask = *borrowed;
    Borrowed here(looking_), others(reading_);
    auto now = heads(state);
    here->assign(now.begin(), now.end());
    stack_.clear();
    std::vector<PartHeads> groups;
    for (const Head& h : *here) {
        if (is_deferred(h)) {
            others->push_back(h);
        } else if (leaf(h.node).kind == Leaf::kToken) {
            add_token_heads(h, mask);
        } else if (uint32_t mark = mark_of(h)) {
            auto at = std::find_if(groups.begin(), groups.end(),
                                   [&](const PartHeads& g) { return g.mark == mark; });
            if (at == groups.end()) at = groups.insert(at, {mark, {}});
            at->heads.push_back(h);
        } else {
            others->push_back(h);
        }
    }
    for (const PartHeads& group : groups)
        if (!collect_fragment(group, mask))
            others->insert(others->end(), group.heads.begin(), group.heads.end());
    stack_.assign(others->begin(), others->end());
    if (!stack_.empty()) collect(Trie::kRoot, 0, 0, stack_.size(), mask);
    stack_.clear();
    if (states_[state].complete)
        for (uint32_t id : vocabulary_->eos()) mask.tokens.push_back(id);
    if (!mask.guesses.empty() && general) {
        guesses_[state] = std::move(mask.guesses);
    } else if (!mask.guesses.empty()) {
        std::erase_if(mask.guesses,
                      [&](uint32_t token) { return reads(*here, vocabulary_->bytes(token)); });
        std::sort(mask.guesses.begin(), mask.guesses.end());
        std::erase_if(mask.tokens, [&](uint32_t token) {
            return std::binary_search(mask.guesses.begin(), mask.guesses.end(), token);
        });
    }
    RowPool& pool = vocabulary_->rows();
    BasePtr base = mask.bases.empty() ? nullptr : pool.unite(std::move(mask.bases));
    rows_.push_back(pool.row(std::move(base), mask.tokens));
    states_[state].row.store(rows_.back().get(), std::memory_order_release);
    return *rows_.back();
}

}  // namespace guided
