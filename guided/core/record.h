// Records: objects and arrays, matched member by member, with a memory of what was written.
//
// A record node is `begin first member (between member)* end`. Which members may come next, and
// whether the record may end, follows from its progress: the slots used, the number of members, the
// counts, and the texts that must not come again. The progress stands in the frame (machine.h) as
// one number, so a state knows it like any other register, and records in the same place with the
// same progress are one state.
//
// Here are the node's parts and the arithmetic of progress: what a member does to it, and whether a
// record can still be finished from it (`Record::feasible`). Expansion into heads is Machine's
// (records.cpp); texts and their comparison are in recorded.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arena.h"

namespace guided {

// As Arena::record takes them; _core.pyi says what they mean.
struct RecordParts {
    enum Order : uint32_t { kEach, kLater, kAny };
    struct Slot {
        bool required = false, many = false;
        std::vector<uint32_t> owes;
    };
    struct Variant {
        uint32_t bits, node;
    };
    struct Member {
        uint32_t slot = 0, key = 0;
        bool recorded = false, named = false;
        std::string name;
        std::vector<Variant> variants;
    };
    struct Count {
        uint32_t minimum, maximum;
    };
    uint32_t begin = 0, first = 0, between = 0, end = 0, empty = 0;
    Order order = kAny;
    uint32_t minimum = 0, maximum = kNone;
    std::vector<Slot> slots;
    std::vector<Member> members;
    std::vector<Count> counts;
    std::vector<std::string> excluded;
};

RecordParts take_apart(const Arena& arena, uint32_t node);

// The words of a node:
//   begin first between end empty, order, minimum, maximum,
//   number of counts, (minimum, maximum) each, number of excluded texts, each,
//   number of slots, (required + 2 many, number owed, each) each,
//   number of members, (slot, key, recorded, text + 1 or 0, number of variants, (bits, node) each)
//   each.
template <class Text>
std::vector<uint32_t> record_words(const RecordParts& p, Text&& text) {
    std::vector<uint32_t> w{p.begin, p.first, p.between, p.end,
                            p.empty, p.order, p.minimum, p.maximum};
    auto size = [&](const auto& list) { w.push_back(static_cast<uint32_t>(list.size())); };
    size(p.counts);
    for (auto c : p.counts) w.insert(w.end(), {c.minimum, c.maximum});
    size(p.excluded);
    for (const auto& e : p.excluded) w.push_back(text(e));
    size(p.slots);
    for (const auto& s : p.slots) {
        w.push_back(uint32_t{s.required} + 2 * uint32_t{s.many});
        size(s.owes);
        w.insert(w.end(), s.owes.begin(), s.owes.end());
    }
    size(p.members);
    for (const auto& m : p.members) {
        w.insert(w.end(), {m.slot, m.key, m.recorded, m.named ? text(m.name) + 1 : 0});
        size(m.variants);
        for (auto v : m.variants) w.insert(w.end(), {v.bits, v.node});
    }
    return w;
}

// Visit all words in their order, those that are nodes or texts as such.
template <class Word, class Node, class Text>
void for_each_word(std::span<const uint32_t> w, Word&& word, Node&& node, Text&& text) {
    size_t at = 0;
    auto plain = [&] {
        word(w[at]);
        return w[at++];
    };
    for (int i = 0; i < 5; ++i) node(w[at++]);
    for (int i = 0; i < 3; ++i) plain();
    for (uint32_t n = 2 * plain(); n; --n) plain();
    for (uint32_t n = plain(); n; --n) text(w[at++]);
    for (uint32_t n = plain(); n; --n) {
        plain();
        for (uint32_t k = plain(); k; --k) plain();
    }
    for (uint32_t n = plain(); n; --n) {
        plain();
        node(w[at++]);
        plain();
        if (uint32_t name = w[at++]) text(name - 1);
        else word(0);
        for (uint32_t k = plain(); k; --k) {
            plain();
            node(w[at++]);
        }
    }
}

template <class F>
void for_each_node(std::span<const uint32_t> words, F&& f) {
    for_each_word(words, [](uint32_t) {}, f, [](uint32_t) {});
}

// It takes no more than a look at the words to see that something matches a record: nothing is
// counted or owed, and something matches each of its nodes. What false means is for Record to say.
bool is_plainly_possible(std::span<const uint32_t> words, const std::vector<uint8_t>& productive);

// What was written so far. As words (they are interned): node, chain, members, next slot, counts,
// used slots as bits.
struct Progress {
    uint32_t chain = 0;    // of recorded texts (recorded.h)
    uint32_t members = 0;  // counted only as far as it matters
    uint32_t slot = 0;     // in an order: the first slot that may be used now
    std::vector<uint32_t> counts;
    std::vector<uint32_t> used;  // bits; empty where the order says it all

    bool operator==(const Progress&) const = default;
};

// A record node taken apart, as a machine uses it.
class Record {
  public:
    // Up to `most` values of texts that member m may have and that were not written yet.
    using Texts =
        std::function<std::vector<std::string>(uint32_t member, const Progress& p, size_t most)>;

    // `productive(node)`: something matches it.
    Record(const Arena& arena, uint32_t node, const std::function<bool(uint32_t)>& productive);

    // Recorded texts must come, so that it is worth asking whether they can run short.
    static bool is_obliged(const RecordParts& parts);
    void check_texts(const Texts& texts);  // is_possible() with them in view
    // Each recorded member has more texts than will ever be written, or not.
    void set_plentiful(bool plentiful) {
        plentiful_ = plentiful;
        obliged_ = obliged_ && !plentiful;
    }
    bool is_plentiful() const { return plentiful_; }
    // The strings that a member with few texts may be, sorted, as `canonical_value` has them: what
    // comes behind another member may depend on whether it took one of these, and on no other text.
    void set_scarce(std::vector<std::string> texts) {
        scarce_ = std::move(texts);
        std::sort(scarce_.begin(), scarce_.end());
        knows_scarce_ = true;
    }
    bool knows_scarce() const { return knows_scarce_; }
    const std::vector<std::string>& scarce() const { return scarce_; }
    bool is_scarce(const std::string& value) const {
        return std::binary_search(scarce_.begin(), scarce_.end(), value);
    }

    uint32_t node() const { return node_; }
    const RecordParts& parts() const { return parts_; }
    bool is_possible() const { return possible_; }  // something matches the record
    // The texts that no recorded key may spell, sorted, as `canonical_value` (recorded.h) has them.
    const std::vector<std::string>& excluded() const { return excluded_; }
    bool excludes(const std::string& value) const {
        return std::binary_search(excluded_.begin(), excluded_.end(), value);
    }

    Progress fresh() const;
    void write_words(const Progress& p, std::vector<uint32_t>& words) const;
    Progress progress(std::span<const uint32_t> words) const;

    bool may_end(const Progress& p) const;
    // Member m with one of its variants may come next.
    bool may_come(const Progress& p, uint32_t member, const Texts& texts) const;
    // The progress after member m in this variant; false if the record could not be finished then.
    bool advance(const Progress& p, uint32_t member, const RecordParts::Variant& variant,
                 Progress& after, const Texts& texts) const;
    // Recorded texts may run short: some that must come have finitely many to choose from.
    bool may_run_short() const { return obliged_; }
    // The members that may come next, in order of slots, as far as slots go.
    template <class F>
    void for_each_next(const Progress& p, F&& f) const;

  private:
    using Counters = std::vector<uint32_t>;

    struct Outlook {
        Progress of;
        uint64_t least = 0, most = 0;
    };
    Outlook look_ahead(const Progress& p) const;
    bool counts_by_one(uint32_t slot) const;
    bool is_used(const Progress& p, uint32_t slot) const {
        return p.used[slot >> 5] >> (slot & 31) & 1;
    }
    bool is_open(const Progress& p, uint32_t slot) const;
    // A slot that is not written yet, and must be.
    bool is_required(const Progress& p, uint32_t slot) const;
    bool feasible(const Progress& p) const;
    bool match(const Progress& p, std::span<const uint32_t> places, uint32_t rest,
               const Texts& texts) const;
    bool has_texts(const Progress& p, const Texts& texts) const;
    bool feasible_in_turn(const Progress& p) const;
    std::vector<uint32_t> needed_slots(const Progress& p) const;
    bool can_fill(const Progress& p, uint32_t slot) const;
    bool feasible_by_choice(const Progress& p) const;
    bool reaches(const Progress& p, std::span<const uint32_t> needed,
                 std::span<const uint32_t> optional, std::span<const uint32_t> many) const;
    bool add_bits(Counters& counters, uint32_t bits) const;
    bool satisfied(const Counters& counters) const;
    template <class F>
    void each_addition(const Counters& counters, uint32_t slot, F&& f) const;

    uint32_t node_;
    RecordParts parts_;
    std::vector<std::vector<uint32_t>> members_of_;  // by slot
    std::vector<uint8_t> fillable_;                  // by slot: a member of it has a variant
    std::vector<std::vector<uint32_t>> owed_by_;     // by slot: those that owe it
    std::vector<uint64_t> most_from_;  // by slot: members that it and later ones can give in order
    std::vector<std::string> excluded_, scarce_;
    mutable Outlook outlook_{{kNone, 0, 0, {}, {}}, 0, 0};  // the last one asked for
    bool counted_ = false;                                  // members are counted
    bool owing_ = false;
    bool plain_ = false;  // slots and their order are all there is
    bool possible_ = false;
    bool obliged_ = false;
    bool plentiful_ = true;
    bool knows_scarce_ = false;
    uint32_t members_cap_ = 0;
};

template <class F>
void Record::for_each_next(const Progress& p, F&& f) const {
    uint32_t slots = static_cast<uint32_t>(parts_.slots.size());
    uint32_t from = parts_.order == RecordParts::kAny ? 0 : p.slot;
    for (uint32_t s = from; s < slots; ++s) {
        if (is_open(p, s))
            for (uint32_t m : members_of_[s]) f(m);
        if (parts_.order == RecordParts::kEach) return;
        if (parts_.order == RecordParts::kLater && is_required(p, s)) return;
    }
}

}  // namespace guided
