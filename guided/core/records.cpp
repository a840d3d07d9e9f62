// How a Machine expands records (record.h) and reads recorded texts (recorded.h).
//
// The frame of a record is (node, progress, phase): its two registers. A recorded text is a head
// of its own kind: a terminal's state as any, and the number of the text so far. Where the terminal
// completes, the text is compared and joins the progress, and only then is it known what follows
// (`complete_recorded`).
//
// A mask must not depend on the text of the tokens it is about, so there what follows is taken with
// the list of values unknown; a token that completes a second recorded text on top of that is
// rare, is noticed (`guessed_`), and read by itself.
#include <algorithm>

#include "automaton.h"
#include "errors.h"

namespace guided {

namespace {

const ByteSet& only_quote() {
    static const ByteSet quote = [] {
        ByteSet bytes;
        bytes.add('"');
        return bytes;
    }();
    return quote;
}

constexpr size_t kMaxScarce = 4096;

// The strings that the terminals spell; false where these are many.
bool list_strings(const std::vector<Terminal*>& terminals, std::vector<std::string>& texts) {
    for (Terminal* terminal : terminals) {
        if (!terminal->allowed(Terminal::kStart).has('"')) continue;
        try {
            auto values = values_after(*terminal, Terminal::kStart, "", kMaxScarce,
                                       [](const std::string&) { return true; });
            if (values.size() == kMaxScarce) return false;
            std::move(values.begin(), values.end(), std::back_inserter(texts));
        } catch (const LimitExceeded&) {  // they are long
            return false;
        }
    }
    return true;
}

// What the second register of a frame says.
enum Phase : uint32_t {
    kOpened = 1,  // behind the opening bracket; 0: not begun
    kAfter,       // behind a member
    kDue,         // where a member must come
    kValue,       // + m: behind the key of member m
};

}  // namespace

const Record& Machine::record(uint32_t node) {
    auto& known = records_[node];
    if (!known) known = make_record(node);
    return *known;
}

std::unique_ptr<Record> Machine::make_record(uint32_t node) {
    auto made =
        std::make_unique<Record>(arena_, node, [&](uint32_t n) { return is_productive(n); });
    std::vector<Terminal*> scarce;
    for (const auto& m : made->parts().members) {
        if (!m.recorded || m.variants.empty()) continue;
        Terminal* key = leaf(recorded_leaf(m.key)).terminal;
        if (!key->endless(Terminal::kStart)) scarce.push_back(key);
    }
    made->set_plentiful(scarce.empty());
    std::vector<std::string> texts;
    if (list_strings(scarce, texts)) made->set_scarce(std::move(texts));
    return made;
}

// Up to `most` texts of member m that were not written.
Record::Texts Machine::texts_of(const Record& r) {
    return [this, &r](uint32_t m, const Progress& p, size_t most) {
        Terminal& key = *leaf(recorded_leaf(r.parts().members[m].key)).terminal;
        return values_after(key, Terminal::kStart, "", most, [&](const std::string& value) {
            return is_unwritten(r, p.chain, value);
        });
    };
}

bool Machine::is_unwritten(const Record& r, uint32_t chain, const std::string& value) const {
    return !r.excludes(value) && !chains_.has(chain, value);
}

uint32_t Machine::intern_progress(const Record& record, const Progress& p) {
    record.write_words(p, progress_words_);
    return progress_.intern(progress_words_.data(), progress_words_.size());
}

bool Machine::begin_record(uint32_t node, uint32_t& begin, uint32_t& progress) {
    const Record& r = record(node);
    if (!r.is_possible()) return false;
    begin = r.parts().begin;
    progress = intern_progress(r, r.fresh());
    return true;
}

void Machine::pop_record(const Continuations::Frame& f, std::vector<Head>& heads) {
    const Record& r = record(f.node);
    const RecordParts& parts = r.parts();
    const Progress p = r.progress(progress_[f.minimum]);
    auto behind = [&](uint32_t phase) { return conts().push(f.node, f.minimum, phase, f.parent); };
    if (f.maximum == kOpened || f.maximum == kAfter) {
        bool first = f.maximum == kOpened;
        if (r.may_end(p)) go(first ? parts.empty : parts.end, f.parent, heads);
        bool more = false;
        if (is_productive(first ? parts.first : parts.between))
            r.for_each_next(p, [&](uint32_t m) { more = more || may_offer(r, p, m); });
        if (more) go(first ? parts.first : parts.between, behind(kDue), heads);
    } else if (f.maximum == kDue) {
        r.for_each_next(p, [&](uint32_t m) {
            if (!may_offer(r, p, m)) return;
            const auto& member = parts.members[m];
            if (!member.recorded) {
                go(member.key, behind(kValue + m), heads);
                return;
            }
            Head h = leaf_head(recorded_leaf(member.key));
            h.cont = behind(kValue + m);
            heads.push_back(h);
        });
    } else {
        Progress after;
        const Record::Texts texts = texts_of(r);
        for (const auto& variant : parts.members[f.maximum - kValue].variants)
            if (r.advance(p, f.maximum - kValue, variant, after, texts))
                go(variant.node, conts().push(f.node, intern_progress(r, after), kAfter, f.parent),
                   heads);
    }
}

// Member m may come, and if its key or item is recorded, there is one that was not written yet.
bool Machine::may_offer(const Record& r, const Progress& p, uint32_t m) {
    if (!r.may_come(p, m, texts_of(r))) return false;
    const auto& member = r.parts().members[m];
    if (!member.recorded || p.chain == Chains::kUnknown) return true;
    Head h = leaf_head(recorded_leaf(member.key));
    if (leaf(h.node).terminal->endless(h.state)) return true;
    Progress alone = p;
    h.cont = conts().push(r.node(), intern_progress(r, alone), kValue + m, Continuations::kEnd);
    return may_finish(h);
}

// ---- recorded texts ----

uint32_t Machine::recorded_leaf(uint32_t key) {
    auto [at, fresh] = recorded_leaves_.try_emplace(key);
    if (fresh) {
        Terminal* terminal = acquire(key);
        // A JSON string ends at a quote that stands nowhere else, so none begins another.
        bool closed = terminal->allowed(Terminal::kStart) == only_quote();
        at->second = add_leaf({.kind = Leaf::kRecorded, .terminal = terminal, .closed = closed});
    }
    return at->second;
}

template <class F>
void Machine::for_each_record(uint32_t cont, F&& f) {
    if (!conts().is_union(cont)) return f(cont);
    auto members = conts().members(cont);
    for (uint32_t one : std::vector<uint32_t>(members.begin(), members.end())) f(one);
}

// Some record behind `cont` has not written `value` and may.
bool Machine::is_new(uint32_t cont, const std::string& value) {
    bool any = false;
    for_each_record(cont, [&](uint32_t one) { any = any || takes(conts().frame(one), value); });
    return any;
}

bool Machine::takes(const Continuations::Frame& f, const std::string& value) {
    const Record& r = record(f.node);
    uint32_t chain = progress_[f.minimum][1];
    // What is not known of a list is a string, and where scarce ones matter, none of these.
    guessed_ |= chains_.is_open(chain) && value.starts_with('"') && !r.is_scarce(value);
    if (!is_unwritten(r, chain, value)) return false;
    if (!r.may_run_short() || chain == Chains::kUnknown) return true;
    Progress p = r.progress(progress_[f.minimum]);
    p.chain = chains_.add(chain, value);
    return r.may_come(p, f.maximum - kValue, texts_of(r));
}

// The continuation behind a recorded text that ends here; kNone where it must not.
uint32_t Machine::complete_recorded(uint32_t cont, uint32_t text) {
    bool unknown = text == Texts::kUnknown;
    std::string value = unknown ? std::string() : canonical_value(texts_.spelled(text));
    Borrowed found(found_);
    for_each_record(cont, [&](uint32_t one) {
        auto f = conts().frame(one);
        const Record& r = record(f.node);
        Progress p = r.progress(progress_[f.minimum]);
        if (unknown) {
            p.chain = r.is_plentiful() ? Chains::kUnknown : chains_.add_unknown(p.chain);
        } else {
            if (!takes(f, value)) return;
            p.chain = chains_.add(p.chain, value);
        }
        found->push_back(conts().push(f.node, intern_progress(r, p), f.maximum, f.parent));
    });
    return found->empty() ? kNone : conts().unite(*found);
}

void Machine::step_recorded(const LeafInfo& info, Head h, uint8_t byte, std::vector<Head>& out) {
    h.state = info.terminal->next(h.state, byte);
    if (h.state == Terminal::kDead) return;
    h.other = texts_.append(h.other, byte);
    if (info.terminal->accepting(h.state))
        if (uint32_t cont = complete_recorded(h.cont, h.other); cont != kNone)
            completed_.push_back({h.guard, cont});
    if (info.terminal->goes_on(h.state) && (info.terminal->endless(h.state) || may_finish(h)))
        out.push_back(h);
}

// Some text that goes on from `h` is new. What must not be written again is finite, so only a
// terminal with finitely many texts left needs a look.
bool Machine::may_finish(const Head& h) {
    if (h.other == Texts::kUnknown) return true;
    auto wanted = [&](const std::string& value) { return is_new(h.cont, value); };
    return !values_after(*leaf(h.node).terminal, h.state, texts_.spelled(h.other), 1, wanted)
                .empty();
}

// The bytes that `h` takes.
ByteSet Machine::recorded_bytes(const Head& h) {
    const LeafInfo& info = leaf(h.node);
    ByteSet bytes = info.terminal->allowed(h.state);
    if (h.other == Texts::kUnknown) return bytes;
    for (uint8_t byte : info.terminal->critical(h.state)) {
        Head after = h;
        after.state = info.terminal->next(h.state, byte);
        after.other = texts_.append(h.other, byte);
        bool ends = info.terminal->accepting(after.state) &&
                    is_new(h.cont, canonical_value(texts_.spelled(after.other)));
        bool goes_on = info.terminal->goes_on(after.state) &&
                       (info.terminal->endless(after.state) || may_finish(after));
        if (!ends && !goes_on) bytes.remove(byte);
    }
    return bytes;
}

// ---- masks ----

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
