// Masks where recorded texts are read: what may be excluded, and rows for states that differ in
// what was written.
#include <algorithm>

#include "automaton.h"

namespace guided {

// The texts of `h` are compared with those written only.
bool Machine::is_simple_text(const Head& h) {
    bool simple = leaf(h.node).closed;
    for_each_record(h.cont, [&](uint32_t one) {
        simple = simple && record(conts().frame(one).node).is_plentiful();
    });
    return simple;
}

// Tables may be used for `h`: the texts that need another look are listed.
bool Machine::is_tabled_text(const Head& h) {
    bool listed = leaf(h.node).closed;
    for_each_record(h.cont, [&](uint32_t one) {
        const Record& r = record(conts().frame(one).node);
        listed = listed && (r.is_plentiful() ||
                            (r.knows_scarce() && leaf(h.node).terminal->endless_throughout()));
    });
    return listed;
}

// What `h` ends with would be compared with a list that is not all known.
bool Machine::is_guess(const Head& h) {
    bool unknown = false;
    for_each_record(h.cont, [&](uint32_t one) {
        unknown = unknown || chains_.is_open(progress_[conts().frame(one).minimum][1]);
    });
    return unknown && h.other != Texts::kUnknown;
}

// Some text that must not be written begins as the text of `h` does.
bool Machine::may_be_excluded(const Head& h) {
    std::string prefix = canonical_prefix(texts_.spelled(h.other));
    if (prefix.empty()) return true;
    bool any = false;
    for_each_record(h.cont, [&](uint32_t one) {
        auto f = conts().frame(one);
        const auto& excluded = record(f.node).excluded();
        auto at = std::lower_bound(excluded.begin(), excluded.end(), prefix);
        any = any || (at != excluded.end() && at->starts_with(prefix)) ||
              chains_.may_have_prefix(progress_[f.minimum][1], prefix);
    });
    return any;
}

// Of the tokens below `trie_node` those that complete the text of `h` where it must not end, or
// lead where it only could end so: few places, as only tokens along the excluded texts can do so.
// Such a text goes on as one of them does, or with an escape. Along with these, where it ends as a
// scarce text.
// `written_only`: along those that were written, not those that the record excludes for all states.
Machine::Excluded Machine::excluded(uint32_t trie_node, const Head& h, bool written_only) {
    Excluded found;
    if (h.other == Texts::kUnknown) return found;
    struct Step {
        uint32_t node, state;
        size_t length;  // of the text
        // What the text means so far, where it holds an escape; else it means itself.
        std::string value;
        bool escaped, escaping;
    };
    Step start{trie_node, h.state, 0, {}, false, false};
    std::string text = texts_.spelled(h.other);  // of the step at hand, as spelled
    start.length = text.size();
    start.value = canonical_prefix(text, &start.escaping);
    start.escaped = start.value != text;
    if (!excluded_after(h.cont, start.value, written_only).any) return found;
    // Then a text that is not among those at hand is new.
    const bool simple = is_simple_text(h);
    Terminal& terminal = *leaf(h.node).terminal;
    const Trie& trie = vocabulary_->trie();
    std::vector<Step> stack;
    stack.push_back(std::move(start));
    auto add_all = [](std::vector<uint32_t>& tokens, std::span<const Trie::Item> items) {
        for (auto item : items) tokens.push_back(item.token);
    };
    auto visit = [&](const Step& s, uint32_t child, bool is_listed) {
        const uint8_t byte = trie[child].byte;
        uint32_t to = terminal.next(s.state, byte);
        if (to == Terminal::kDead) return;
        text.resize(s.length);
        text.push_back(static_cast<char>(byte));
        auto below = trie.items_below(trie[child]);
        if (terminal.accepting(to)) {  // a closed text: nothing goes on from here
            if (simple && !is_listed) return;
            std::string value = canonical_value(text);
            if (!is_new(h.cont, value)) add_all(found.ended, below);
            else if (is_scarce(h.cont, value)) add_all(found.scarce, below);
            return;
        }
        if (!terminal.endless(to)) {
            Head there = h;
            there.state = to;
            there.other = texts_.intern(text);
            if (!may_finish(there)) {
                add_all(found.dead, below);
                return;
            }
        }
        if (!trie[child].child_count) return;
        Step after{child, to, text.size(), {}, s.escaped, false};
        if (s.escaping || byte == '\\') {
            after.value = canonical_prefix(text, &after.escaping);
            after.escaped = true;
        } else if (s.escaped) {
            after.value = s.value + static_cast<char>(byte);
        }
        stack.push_back(std::move(after));
    };
    while (!stack.empty()) {
        const Step s = std::move(stack.back());
        stack.pop_back();
        // Of the steps that wait, the latest are those that go on from the present text's
        // beginnings.
        const Trie::Node& n = trie[s.node];
        text.resize(s.length);
        if (s.node != trie_node) text.back() = static_cast<char>(n.byte);
        Following listed = excluded_after(h.cont, s.escaped ? s.value : text, written_only);
        if (!listed.any) continue;
        if (s.escaping) {
            for (uint32_t c = n.first_child; c < n.first_child + n.child_count; ++c)
                visit(s, c, true);
            continue;
        }
        listed.bytes.add('\\');
        listed.bytes.add('"');
        listed.bytes.for_each([&](uint8_t byte) {
            if (uint32_t child = trie.child(s.node, byte); child != kNone)
                visit(s, child, listed.ended);
        });
    }
    for (auto* tokens : {&found.dead, &found.scarce}) std::sort(tokens->begin(), tokens->end());
    return found;
}

// What tells apart the masks of recorded texts where no list of values matters; false where one
// does. In an object they come back at each key, only with other names beside them.
bool Machine::recorded_key(uint32_t trie_node, const Head& h, uint32_t behind, Hash128& key) {
    key = combine(Hash128{41, h.node}, uint64_t{trie_node} << 32 | h.state);
    key = combine(key, uint64_t{h.other} << 32 | behind);
    bool simple = true;
    for_each_record(h.cont, [&](uint32_t one) {
        auto f = conts().frame(one);
        uint32_t chain = progress_[f.minimum][1];
        simple = simple && chain <= Chains::kUnknown;
        key = combine(key, uint64_t{f.node} << 1 | (chain == Chains::kUnknown));
    });
    return simple;
}

bool Machine::is_scarce(uint32_t cont, const std::string& value) {
    bool any = false;
    for_each_record(
        cont, [&](uint32_t one) { any = any || record(conts().frame(one).node).is_scarce(value); });
    return any;
}

// What the records behind `cont` must not write and begins with `prefix` (of all lists of values,
// which are more than those of these records).
Machine::Following Machine::excluded_after(uint32_t cont, const std::string& prefix,
                                           bool written_only) {
    Following found;
    bool listed = false;
    auto add = [&](const std::string& text) {
        found.any = true;
        if (text.size() > prefix.size()) found.bytes.add(static_cast<uint8_t>(text[prefix.size()]));
        else found.ended = true;
    };
    for_each_record(cont, [&](uint32_t one) {
        auto f = conts().frame(one);
        if (!written_only) {
            const Record& r = record(f.node);
            for (const auto* names : {&r.excluded(), &r.scarce()})
                for (auto at = std::lower_bound(names->begin(), names->end(), prefix);
                     at != names->end() && at->starts_with(prefix); ++at)
                    add(*at);
        }
        listed |= progress_[f.minimum][1] > Chains::kUnknown;
    });
    if (listed) chains_.for_each_next(prefix, add);
    return found;
}

// ---- masks of states that differ in what was written ----

// The continuation with the lists of all records in it unknown, and whether some list holds
// anything. Records whose texts may run short are left as they are.
Machine::General Machine::general(uint32_t cont) {
    if (cont < general_.size() && general_[cont].cont != kNone) return general_[cont];
    Borrowed borrowed(waiting_);
    std::vector<uint32_t>& todo = *borrowed;
    std::vector<uint32_t> members;
    todo.push_back(cont);
    auto known = [&](uint32_t c) { return c < general_.size() && general_[c].cont != kNone; };
    auto wait_for = [&](uint32_t c) {
        if (known(c)) return false;
        todo.push_back(c);
        return true;
    };
    while (!todo.empty()) {
        uint32_t c = todo.back();
        General made{c, false};
        if (c == Continuations::kEnd || known(c)) {
            todo.pop_back();
        } else if (conts().is_union(c)) {
            auto span = conts().members(c);
            members.assign(span.begin(), span.end());
            bool waits = false;
            for (uint32_t m : members) waits |= wait_for(m);
            if (waits) continue;
            for (uint32_t& m : members) {
                made.is_listed |= general_[m].is_listed;
                m = general_[m].cont;
            }
            made.cont = conts().unite(members);
            todo.pop_back();
        } else {
            auto f = conts().frame(c);
            if (wait_for(f.parent)) continue;
            made = general_[f.parent];
            if (arena_[f.node].kind == Kind::kRecord && f.maximum && generalizes(f.node)) {
                const Record& r = record(f.node);
                Progress p = r.progress(progress_[f.minimum]);
                made.is_listed |= p.chain > Chains::kUnknown;
                p.chain = Chains::kUnknown;
                f.minimum = intern_progress(r, p);
            }
            made.cont = conts().push(f.node, f.minimum, f.maximum, made.cont);
            todo.pop_back();
        }
        if (known(c)) continue;
        if (c >= general_.size())
            general_.resize(conts().size() + conts().size() / 2, {kNone, false});
        general_[c] = made;
    }
    return general_[cont];
}

// The recorded texts of a record are strings, and plenty.
bool Machine::generalizes(uint32_t node) {
    auto [at, fresh] = generalizes_.try_emplace(node, false);
    if (fresh) {
        const Record& r = record(node);
        at->second =
            r.is_plentiful() &&
            std::all_of(r.parts().members.begin(), r.parts().members.end(), [&](const auto& m) {
                return !m.recorded || leaf(recorded_leaf(m.key)).closed;
            });
    }
    return at->second;
}

// A mask hardly depends on the texts that were written: with them unknown, it is one for many
// states. What it lets through on a guess, and what the texts at hand exclude, is read one by one.
const Row* Machine::general_row(uint32_t state) {
    bool differs = false;
    auto now = heads(state);
    Borrowed here(looking_), heads_of(reading_);
    here->assign(now.begin(), now.end());
    heads_of->assign(now.begin(), now.end());
    std::vector<Suspect> suspects;
    for (uint32_t i = 0; i < heads_of->size(); ++i) {
        Head& h = (*heads_of)[i];
        if (is_deferred(h)) return nullptr;
        General g = general(h.cont);
        bool recorded = leaf(h.node).kind == Leaf::kRecorded && h.other != Texts::kUnknown;
        if (recorded && is_simple_text(h) && !may_be_excluded(h)) {
            h.other = Texts::kUnknown;
            differs = true;
        } else if (recorded && g.is_listed && is_simple_text(h)) {
            Excluded out = excluded(Trie::kRoot, h, true);
            for (const auto* tokens : {&out.dead, &out.ended})
                for (uint32_t token : *tokens) suspects.push_back({token, i});
        } else if (recorded && g.is_listed) {
            return nullptr;
        }
        differs |= g.is_listed;
    }
    if (!differs) return nullptr;
    for (Head& h : *heads_of) h.cont = general(h.cont).cont;
    normalize(*heads_of, conts());
    uint32_t known = intern(*heads_of, states_[state].complete);
    if (known == state) return nullptr;
    const Row* row = &row_locked(known, true);
    if (auto guesses = guesses_.find(known); guesses != guesses_.end())
        for (uint32_t token : guesses->second) suspects.push_back({token, kNone});
    std::erase_if(suspects, [&](const Suspect& s) { return !row->has(s.token); });
    std::sort(suspects.begin(), suspects.end());
    std::vector<uint32_t> refused = refused_by(*here, suspects);
    if (refused.empty()) return row;
    rows_.push_back(vocabulary_->rows().without(*row, refused));
    return rows_.back().get();
}

// Of the suspects, which are sorted, those that no head reads. A head is not asked for a token that
// it is known not to read.
std::vector<uint32_t> Machine::refused_by(const std::vector<Head>& heads,
                                          std::span<const Suspect> suspects) {
    std::vector<uint32_t> refused;
    std::vector<Head> others;
    for (size_t i = 0; i < suspects.size();) {
        const uint32_t token = suspects[i].token;
        others = heads;
        for (; i < suspects.size() && suspects[i].token == token; ++i)
            if (suspects[i].head != kNone) others[suspects[i].head].node = kNone;
        std::erase_if(others, [](const Head& h) { return h.node == kNone; });
        if (others.empty() || !reads(others, vocabulary_->bytes(token))) refused.push_back(token);
    }
    return refused;
}

// The heads take all of `bytes`.
bool Machine::reads(std::vector<Head> from, std::string_view bytes) {
    bool complete;
    return run_through(from, bytes, complete);
}

}  // namespace guided
