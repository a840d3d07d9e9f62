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

}  // namespace guided
