#include "automaton.h"

#include <algorithm>
#include <cstring>

#include "errors.h"

namespace guided {

Machine::Machine(std::shared_ptr<const ClosedGrammar> grammar,
                 std::shared_ptr<Vocabulary> vocabulary, Limits limits)
    : Expander(grammar->arena(), grammar->nullable(), grammar->productive(), grammar->order(),
               limits.max_heads),
      grammar_(std::move(grammar)), vocabulary_(std::move(vocabulary)), limits_(limits) {
    leaf_of_.resize(arena_.size());
    for (uint32_t id = 0; id < arena_.size() && !lexemes_; ++id)
        lexemes_ = arena_[id].kind == Kind::kLexeme;
    std::vector<Head> none;
    intern(none, false);  // kEnded
    guards_.intern(nullptr, 0);
    bundles_.intern(nullptr, 0);
    uint32_t level[] = {0, 0};  // no open bracket, no indentation
    environments_.intern(level, 2);
    start_ = closure(frame(grammar_->start(), Continuations::kEnd));
}

std::span<const Head> Machine::heads(uint32_t state) const {
    auto words = state_heads_[state].subspan(1);
    return {reinterpret_cast<const Head*>(words.data()), words.size() / kHeadWords};
}

uint32_t Machine::intern(std::vector<Head>& heads, bool complete) {
    key_.assign(1, complete);
    auto* words = reinterpret_cast<const uint32_t*>(heads.data());
    key_.insert(key_.end(), words, words + heads.size() * kHeadWords);
    uint32_t id = state_heads_.intern(key_.data(), key_.size());
    if (id < states_.size()) return id;
    if (heads.size() > limits_.max_heads)
        throw LimitExceeded("the grammar is too ambiguous here", "heads in one state",
                            limits_.max_heads, "max_heads");
    check_memory();
    heads_max_ = std::max(heads_max_, heads.size());
    ByteSet first;
    bool token_heads = false;
    for (const Head& h : heads) {
        add_first(h, first);
        token_heads |= !is_deferred(h) && leaf(h.node).kind == Leaf::kToken;
    }
    State& s = states_.emplace_back();
    s.complete = complete;
    s.token_heads = token_heads;
    s.first = first;
    return id;
}

void Machine::add_first(const Head& h, ByteSet& bytes) {
    if (h.guard) {
        Head alone = h;
        alone.guard = 0;
        ByteSet found;
        add_first(alone, found);
        bytes |= found & guard_bytes(h.guard);
        return;
    }
    if (h.node == kDeferred) {
        bytes |= states_[h.state].first;
        return;
    }
    if (h.node == kLined) {
        bytes.add_range(0, 255);
        return;
    }
    if (h.node == kStacked) {
        bytes |= stack_first(h.state);
        return;
    }
    const LeafInfo& info = leaf(h.node);
    if (info.kind == Leaf::kLiteral) bytes.add(static_cast<uint8_t>(info.text[h.state]));
    else if (info.kind == Leaf::kRecorded) bytes |= recorded_bytes(h);
    else if (info.terminal) bytes |= info.terminal->allowed(h.state);
}

uint32_t Machine::find_closure(uint32_t cont) {
    Borrowed heads(closing_);
    bool complete;
    close(cont, *heads, complete);
    uint32_t state = intern(*heads, complete);
    if (cont >= closures_.size()) closures_.resize(conts().size() + conts().size() / 2, kNone);
    return closures_[cont] = state;
}

// What completes at one byte is closed together, with the union of the continuations: closed one by
// one they would double with every byte of an ambiguous text.
void Machine::close_completed(std::vector<Head>& out, bool& complete) {
    if (completed_.size() > 1) std::sort(completed_.begin(), completed_.end());
    for (size_t i = 0; i < completed_.size();) {
        uint32_t guard = completed_[i].first;
        united_.clear();
        for (; i < completed_.size() && completed_[i].first == guard; ++i)
            if (united_.empty() || united_.back() != completed_[i].second)
                united_.push_back(completed_[i].second);
        uint32_t cont = conts().unite(united_);
        if (is_stack(cont)) {
            if (!is_dead_end(cont, guard))
                out.push_back({.node = kStacked, .state = cont, .guard = guard});
            continue;
        }
        uint32_t state = closure(cont);
        complete |= states_[state].complete;
        if (!heads(state).empty() && !is_hopeless(state, guard))
            out.push_back({.node = kDeferred, .state = state, .guard = guard});
    }
    completed_.clear();
}

void Machine::expand(const Head& deferred, std::vector<Head>& out) {
    Head now = deferred;
    if (now.node == kLined && !feed_line(now)) return;
    auto more = heads(now.node == kStacked ? closure(now.state) : now.state);
    out.insert(out.end(), more.begin(), more.end());
    if (deferred.guard)
        for (size_t i = out.size() - more.size(); i < out.size(); ++i)
            out[i].guard = deferred.guard;
}

void Machine::step(const Head& head, uint8_t byte, std::vector<Head>& out) {
    if (head.node == kStacked || head.node == kLined) {
        uint32_t guard = head.guard;
        if (guard && (guard = advance_guard(guard, byte)) == kNone) return;
        Head now = head;
        if (now.node == kLined && !feed_line(now)) return;
        uint32_t stack = now.state;
        opened_ = true;
        for (Head h : stack_heads(stack, byte)) {
            h.guard = guard;
            step_leaf(h, byte, out);
        }
        return;
    }
    if (head.node == kDeferred) {
        if (!states_[head.state].first.has(byte)) return;
        opened_ = true;
        uint32_t state = head.state, guard = head.guard;  // `head` may move with `out`
        if (guard && (guard = advance_guard(guard, byte)) == kNone) return;
        for (size_t i = 0, n = heads(state).size(); i < n; ++i) {
            const Head& known = heads(state)[i];
            if (is_other(known, byte)) continue;
            Head h = known;
            h.guard = guard;
            step_leaf(h, byte, out);
        }
        return;
    }
    Head h = head;
    if (h.guard && (h.guard = advance_guard(h.guard, byte)) == kNone) return;
    step_leaf(h, byte, out);
}

// The guard has read the byte.
void Machine::step_leaf(const Head& head, uint8_t byte, std::vector<Head>& out) {
    if (is_other(head, byte)) return;
    const LeafInfo& info = leaf(head.node);
    Head h = head;
    switch (info.kind) {
        case Leaf::kLiteral:
            if (++h.state < info.text.size()) out.push_back(h);
            else completed_.push_back({h.guard, h.cont});
            return;
        case Leaf::kTerminal:
            h.state = info.terminal->next(h.state, byte);
            if (h.state == Terminal::kDead) return;
            if (info.terminal->accepting(h.state)) completed_.push_back({h.guard, h.cont});
            if (info.terminal->goes_on(h.state)) out.push_back(h);
            return;
        case Leaf::kRun:
        case Leaf::kRunMinus: {
            h.state = info.terminal->next(h.state, byte);
            if (h.state == Terminal::kDead) return;
            bool removed = false;
            if (info.removed) {
                h.other = info.removed->next(h.other, byte);
                removed = info.removed->accepting(h.other);
                if (h.other == Terminal::kDead) {  // no removed text any more: a plain run
                    h.node = info.run;
                    h.other = 0;
                }
            }
            if (info.terminal->accepting(h.state)) {
                h.state = Terminal::kStart;
                h.minimum -= 1;
                if (h.maximum != kNone) h.maximum -= 1;
                if (h.minimum == 0) {
                    if (!removed) completed_.push_back({h.guard, h.cont});
                    h.minimum = 1;
                }
                if (h.maximum == 0) return;
            }
            out.push_back(h);
            return;
        }
        case Leaf::kRecorded: return step_recorded(info, h, byte, out);
        case Leaf::kLexeme: return step_lexeme(h, byte, out);
        default:  // a token is no byte
            return;
    }
}

// Advance heads[begin, end) by `byte`; the result is appended to `heads`.
void Machine::step_all(size_t begin, size_t end, uint8_t byte, std::vector<Head>& heads,
                       bool& complete) {
    size_t top = heads.size();
    opened_ = false;
    completed_.clear();
    for (size_t i = begin; i < end; ++i) {
        const bool as_it_is = !heads[i].guard && !is_deferred(heads[i]);
        if (as_it_is && is_other(heads[i], byte)) continue;
        const Head h = heads[i];  // it may move with `heads`
        if (as_it_is) step_leaf(h, byte, heads);
        else step(h, byte, heads);
    }
    size_t made = heads.size() - top;
    if (made > limits_.max_heads)
        throw LimitExceeded("the grammar is too ambiguous here", "heads in one state",
                            limits_.max_heads, "max_heads");
    if (made > 1 && opened_) {
        merged_.assign(heads.begin() + static_cast<std::ptrdiff_t>(top), heads.end());
        normalize(merged_, conts());
        heads.resize(top);
        heads.insert(heads.end(), merged_.begin(), merged_.end());
    }
    if (!completed_.empty()) close_completed(heads, complete);
}

// Advance `heads` by all bytes. False if nothing is left.
bool Machine::run_through(std::vector<Head>& heads, std::string_view bytes, bool& complete) {
    std::vector<Head>& work = buffer_;
    work.swap(heads);
    size_t begin = 0, end = work.size();
    for (size_t i = 0; i < bytes.size(); ++i) {
        complete = false;
        step_all(begin, end, static_cast<uint8_t>(bytes[i]), work, complete);
        begin = end;
        end = work.size();
        if (begin == end && !(complete && i + 1 == bytes.size())) {
            work.clear();
            return false;
        }
    }
    heads.clear();
    for (size_t i = begin; i < end; ++i) {
        Head last = work[i];
        if (last.node == kLined && !feed_line(last)) continue;
        if (last.node == kStacked) {
            // The lexemes of its top state are many: they are offered byte by byte.
            heads.push_back(last);
            uint32_t behind = stack_behind(last.state);
            if (behind == kNone) continue;
            last = {.node = kDeferred, .state = closure(behind), .guard = last.guard};
            complete |= states_[last.state].complete;
        }
        if (is_deferred(last)) expand(last, heads);
        else heads.push_back(last);
    }
    work.clear();
    normalize(heads, conts());
    return complete || !heads.empty();
}

uint32_t Machine::next_bytes(uint32_t state, std::string_view bytes) {
    if (bytes.empty()) return state;
    Budget budget;
    std::lock_guard lock(mutex_);
    auto now = heads(state);
    std::vector<Head> work(now.begin(), now.end());
    bool complete = false;
    return run_through(work, bytes, complete) ? intern(work, complete) : kNone;
}

uint32_t Machine::find_next(uint32_t state, uint32_t token) {
    if (state == kEnded || token >= vocabulary_->size()) return kNone;
    Budget budget;
    std::lock_guard lock(mutex_);
    if (uint32_t known = transitions_.find(state, token); known != kNone) return known;
    Borrowed work(reading_);
    std::vector<Head> by_id;
    completed_.clear();
    bool complete = false;
    auto now = heads(state);
    bool ordinary = token < vocabulary_->count() &&
                    !vocabulary_->is_eos(token);  // an end token does nothing but end
    if (ordinary && states_[state].token_heads) work->assign(now.begin(), now.end());
    for (const Head& h : *work) {
        if (is_deferred(h) || leaf(h.node).kind != Leaf::kToken) continue;
        const Arena::Node& n = arena_[h.node];
        auto ids = arena_.ids(n);
        if (std::binary_search(ids.begin(), ids.end(), token) == !n.c)
            completed_.push_back({0, h.cont});  // no lexeme goes on across a token
    }
    close_completed(by_id, complete);
    work->clear();
    bool by_bytes = false;
    if (vocabulary_->spells(token)) {
        auto again = heads(state);
        work->assign(again.begin(), again.end());
        bool ends = false;
        by_bytes = run_through(*work, vocabulary_->bytes(token), ends);
        if (by_bytes) complete |= ends;
        else work->clear();
    }
    uint32_t to = kNone;
    if (by_bytes || complete || !by_id.empty()) {
        for (const Head& h : by_id) expand(h, *work);
        normalize(*work, conts());
        to = intern(*work, complete);
    } else if (vocabulary_->is_eos(token) && states_[state].complete) {
        to = kEnded;
    }
    if (to != kNone) transitions_.insert(state, token, to);
    return to;
}

// ---- memory and reports ----

size_t Machine::bytes() const {
    return state_heads_.bytes() + conts().bytes() + guards_.bytes() + transitions_.bytes() +
           environments_.bytes() + stack_bytes_ + (remains_ ? remains_->bytes() : 0) +
           bundles_.bytes() + outcome_keys_.bytes() + guard_steps_.size() * 32 + progress_.bytes() +
           texts_.bytes() + chains_.bytes() + states_.size() * sizeof(State) +
           closures_.capacity() * 4 + rows_.size() * 256 + exits_behind_bytes_;
}

void Machine::check_memory() {
    size_t now = bytes();
    const bool worn = std::any_of(terminals_.begin(), terminals_.end(),
                                  [](const auto& terminal) { return terminal->is_worn(); });
    if (worn) is_worn_.store(true, std::memory_order_relaxed);
    bytes_.store(now, std::memory_order_relaxed);
    if (now > limits_.max_bytes * 2)
        throw LimitExceeded("the sequences under way have filled the automaton", "bytes of states",
                            limits_.max_bytes, "max_bytes");
}

Machine::Stats Machine::stats() {
    std::lock_guard lock(mutex_);
    return {states_.size(), rows_.size(), transitions_.size(), conts().size(), heads_max_, bytes()};
}

std::vector<std::string> Machine::describe(uint32_t state) {
    std::lock_guard lock(mutex_);
    std::vector<std::string> lines;
    if (states_[state].complete) lines.push_back("end");
    auto now = heads(state);
    std::vector<Head> all;
    for (const Head& h : std::vector<Head>(now.begin(), now.end())) {
        if (is_deferred(h)) expand(h, all);
        else all.push_back(h);
    }
    for (const Head& h : all) {
        const LeafInfo& info = leaf(h.node);
        std::string line;
        switch (info.kind) {
            case Leaf::kLiteral:
                line = "literal " + std::string(arena_.bytes(arena_[h.node]).substr(h.state));
                break;
            case Leaf::kRun:
            case Leaf::kRunMinus:
                line = "run " + std::to_string(h.minimum) + ".." +
                       (h.maximum == kNone ? std::string("") : std::to_string(h.maximum)) +
                       " state " + std::to_string(h.state) +
                       (info.removed ? " minus state " + std::to_string(h.other) : "");
                break;
            case Leaf::kToken: line = "token"; break;
            case Leaf::kRecorded: line = "recorded " + texts_.spelled(h.other); break;
            default:
                line = (info.kind == Leaf::kLexeme ? "lexeme state " : "terminal state ") +
                       std::to_string(h.state);
        }
        line += " node " + std::to_string(h.node) + " then " + std::to_string(h.cont);
        if (h.guard) line += " guard " + std::to_string(h.guard);
        if (auto* place = h.node < arena_.size() ? arena_.origin(h.node) : nullptr)
            line += " from " + *place;
        lines.push_back(std::move(line));
    }
    return lines;
}

uint32_t Machine::precompute(uint32_t max_states) {
    std::vector<uint32_t> queue{start_};
    std::vector<bool> seen;
    auto mark = [&](uint32_t s) {
        if (s >= seen.size()) seen.resize(s + s / 2 + 64, false);
        bool fresh = !seen[s];
        seen[s] = true;
        return fresh;
    };
    mark(kEnded);
    mark(start_);
    for (size_t at = 0; at < queue.size() && at < max_states; ++at) {
        uint32_t state = queue[at];
        for (uint32_t token : row(state).list()) {
            if (queue.size() >= max_states && known_next(state, token) != kNone) continue;
            uint32_t to = next(state, token);
            if (to != kNone && queue.size() < max_states && mark(to)) queue.push_back(to);
            if (full()) return static_cast<uint32_t>(queue.size());
        }
    }
    return static_cast<uint32_t>(queue.size());
}

std::vector<Machine::Known> Machine::known_states() {
    std::lock_guard lock(mutex_);
    std::vector<std::vector<std::pair<uint32_t, uint32_t>>> from(states_.size());  // token, state
    transitions_.for_each(
        [&](uint32_t state, uint32_t token, uint32_t to) { from[state].push_back({token, to}); });
    std::vector<Known> known{{0, 0, knows_row(start_)}};
    std::vector<uint32_t> states{start_};
    std::vector<bool> seen(states_.size(), false);
    seen[start_] = true;
    for (size_t at = 0; at < states.size(); ++at) {
        auto& edges = from[states[at]];
        std::sort(edges.begin(), edges.end());
        for (auto [token, to] : edges) {
            if (seen[to]) continue;
            seen[to] = true;
            states.push_back(to);
            known.push_back({static_cast<uint32_t>(at), token, knows_row(to)});
        }
    }
    return known;
}

}  // namespace guided
