// Whether a record can be finished: with its counts, its slots that are due, and texts for them.
#include <algorithm>
#include <map>
#include <set>

#include "errors.h"
#include "record.h"

namespace guided {

namespace {

constexpr size_t kMaxCounters = 20'000;  // sets of counts that are looked at together
constexpr size_t kMaxCounted = 4096;     // members counted beside other counts
constexpr size_t kMaxTied = 12;          // slots that owe each other, beside counts

}  // namespace

bool Record::add_bits(Counters& counters, uint32_t bits) const {
    for (size_t i = 0; i < parts_.counts.size(); ++i) {
        if (!(bits >> i & 1)) continue;
        auto [minimum, maximum] = parts_.counts[i];
        if (maximum != kNone && counters[i] == maximum) return false;
        if (counters[i] < (maximum != kNone ? maximum : minimum)) ++counters[i];
    }
    return true;
}

bool Record::satisfied(const Counters& counters) const {
    for (size_t i = 0; i < counters.size(); ++i)
        if (counters[i] < parts_.counts[i].minimum) return false;
    return true;
}

template <class F>
void Record::each_addition(const Counters& counters, uint32_t slot, F&& f) const {
    for (uint32_t m : members_of_[slot])
        for (const auto& v : parts_.members[m].variants) {
            Counters after = counters;
            if (add_bits(after, v.bits)) f(std::move(after));
        }
}

bool Record::feasible(const Progress& p) const {
    return parts_.order == RecordParts::kEach ? feasible_in_turn(p) : feasible_by_choice(p);
}

// The slot may come again and again, and can raise each count by itself, or none.
bool Record::counts_by_one(uint32_t slot) const {
    if (!parts_.slots[slot].many) return false;
    std::set<uint32_t> bits;
    for (uint32_t m : members_of_[slot])
        for (const auto& v : parts_.members[m].variants) bits.insert(v.bits);
    for (size_t i = 0; i < parts_.counts.size(); ++i)
        if (!bits.contains(1u << i)) return false;
    return bits.contains(0);
}

// Slot by slot, all counts that can be reached. In the last one, which may come again, that set
// settles: counts only grow.
bool Record::feasible_in_turn(const Progress& p) const {
    uint32_t needed = 0;  // slots that must be filled
    for (uint32_t s = 0; s < parts_.slots.size(); ++s)
        if (parts_.slots[s].required) needed = s + 1;
    std::set<Counters> layer{p.counts};
    uint32_t members = p.members;
    for (uint32_t slot = p.slot;;) {
        if (slot + 1 == parts_.slots.size() && layer.size() == 1 && slot + 1 >= needed &&
            counts_by_one(slot)) {
            uint64_t due = 0;  // members that the counts still need; others may come between
            for (size_t i = 0; i < parts_.counts.size(); ++i) {
                uint32_t count = (*layer.begin())[i];
                due += parts_.counts[i].minimum - std::min(parts_.counts[i].minimum, count);
            }
            return parts_.maximum == kNone || members + due <= parts_.maximum;
        }
        bool full = std::any_of(layer.begin(), layer.end(),
                                [&](const Counters& c) { return satisfied(c); });
        if (full && slot >= needed && members >= parts_.minimum) return true;
        if (slot == parts_.slots.size() || (counted_ && members == parts_.maximum)) return false;
        std::set<Counters> next;
        for (const Counters& c : layer)
            each_addition(c, slot, [&](Counters after) { next.insert(std::move(after)); });
        if (next.empty()) return false;
        if (next.size() > kMaxCounters)
            throw LimitExceeded("too many counts must hold together", "sets of counts",
                                kMaxCounters, "");
        if (!parts_.slots[slot].many) {
            ++slot;
        } else if (next == layer) {
            return full;
        }
        layer.swap(next);
        if (counted_) ++members;
    }
}

// The slot may still come, and all that it owes then.
bool Record::can_fill(const Progress& p, uint32_t slot) const {
    std::vector<uint32_t> due{slot};
    for (size_t i = 0; i < due.size(); ++i) {
        if (!fillable_[due[i]] || (parts_.order != RecordParts::kAny && due[i] < p.slot))
            return false;
        for (uint32_t other : parts_.slots[due[i]].owes)
            if ((p.used.empty() || !is_used(p, other)) &&
                !std::count(due.begin(), due.end(), other))
                due.push_back(other);
    }
    return true;
}

// What must still be written: the required slots, and what those written or required owe.
std::vector<uint32_t> Record::needed_slots(const Progress& p) const {
    std::vector<uint32_t> needed;
    std::vector<uint8_t> seen(parts_.slots.size(), 0);
    auto need = [&](uint32_t s) {
        if (seen[s] || (!p.used.empty() && is_used(p, s))) return;
        seen[s] = 1;
        needed.push_back(s);
    };
    for (uint32_t s = 0; s < parts_.slots.size(); ++s)
        if (is_required(p, s)) need(s);
    for (size_t i = 0; i < needed.size(); ++i)
        for (uint32_t other : parts_.slots[needed[i]].owes) need(other);
    return needed;
}

bool Record::feasible_by_choice(const Progress& p) const {
    uint32_t slots = static_cast<uint32_t>(parts_.slots.size());
    auto used = [&](uint32_t s) { return !p.used.empty() && is_used(p, s); };
    auto reachable = [&](uint32_t s) {
        return fillable_[s] && (parts_.order == RecordParts::kAny || s >= p.slot);
    };
    std::vector<uint32_t> needed = needed_slots(p);
    if (!std::all_of(needed.begin(), needed.end(), reachable)) return false;
    std::vector<uint8_t> is_needed(slots, 0);
    for (uint32_t s : needed) is_needed[s] = 1;
    // Slots that may be used and need not; those that owe or are owed come together.
    std::vector<uint32_t> optional, many, tied;
    std::vector<uint8_t> is_owed(slots, 0);
    if (owing_)
        for (const auto& s : parts_.slots)
            for (uint32_t other : s.owes) is_owed[other] = 1;
    for (uint32_t s = 0; s < slots; ++s) {
        if (is_needed[s] && parts_.slots[s].many) many.push_back(s);
        if (is_needed[s] || !reachable(s)) continue;
        if (used(s)) {
            if (parts_.slots[s].many) many.push_back(s);
            continue;
        }
        if (is_owed[s] || !parts_.slots[s].owes.empty()) tied.push_back(s);
        else if (parts_.slots[s].many) many.push_back(s);
        else optional.push_back(s);
    }
    if (reaches(p, needed, optional, many)) return true;
    if (tied.empty() || (!counted_ && parts_.counts.empty())) return false;
    if (tied.size() > kMaxTied)
        throw LimitExceeded(
            "too many properties depend on each other beside bounds on their number", "properties",
            kMaxTied, "");
    for (uint32_t set = 1; set < 1u << tied.size(); ++set) {
        std::vector<uint32_t> all = needed, more = many;
        std::vector<uint8_t> in = is_needed;
        for (size_t i = 0; i < tied.size(); ++i) {
            if (!(set >> i & 1)) continue;
            in[tied[i]] = 1;
            all.push_back(tied[i]);
            if (parts_.slots[tied[i]].many) more.push_back(tied[i]);
        }
        bool closed = std::all_of(all.begin(), all.end(), [&](uint32_t s) {
            const auto& owes = parts_.slots[s].owes;
            return std::all_of(owes.begin(), owes.end(),
                               [&](uint32_t other) { return in[other] || used(other); });
        });
        if (closed && reaches(p, all, optional, more)) return true;
    }
    return false;
}

// With each of `needed` used once more, any of `optional` once and any of `many` often, the counts
// and the number of members can come within their bounds.
bool Record::reaches(const Progress& p, std::span<const uint32_t> needed,
                     std::span<const uint32_t> optional, std::span<const uint32_t> many) const {
    uint64_t least = uint64_t{p.members} + needed.size();
    if (parts_.counts.empty()) {
        if (!counted_) return true;
        if (least > parts_.maximum) return false;
        return !many.empty() || least + optional.size() >= parts_.minimum;
    }
    // For each reachable set of counts the numbers of members it is reached with, up to the cap.
    if (members_cap_ > kMaxCounted)
        throw LimitExceeded("too many members must be counted beside other counts", "members",
                            kMaxCounted, "");
    using Totals = std::vector<bool>;
    auto one_more = [&](const Totals& totals) {
        Totals after(totals.size(), false);
        for (size_t n = 0; n + 1 < totals.size(); ++n) after[n + 1] = totals[n];
        if (parts_.maximum == kNone && totals.back()) after.back() = true;
        return after;
    };
    auto merge = [&](std::map<Counters, Totals>& into, Counters counters, const Totals& totals) {
        auto [at, fresh] = into.try_emplace(std::move(counters), totals.size(), false);
        bool grown = false;
        for (size_t n = 0; n < totals.size(); ++n)
            if (totals[n] && !at->second[n]) at->second[n] = grown = true;
        if (into.size() > kMaxCounters)
            throw LimitExceeded("too many counts must hold together", "sets of counts",
                                kMaxCounters, "");
        return grown;
    };
    Totals start(members_cap_ + 1, false);
    start[std::min(p.members, members_cap_)] = true;
    std::map<Counters, Totals> found{{p.counts, start}};
    for (uint32_t s : needed) {
        std::map<Counters, Totals> after;
        for (const auto& known : found)
            each_addition(known.first, s,
                          [&](Counters c) { merge(after, std::move(c), one_more(known.second)); });
        found.swap(after);
    }
    for (uint32_t s : optional) {
        std::map<Counters, Totals> after = found;
        for (const auto& known : found)
            each_addition(known.first, s,
                          [&](Counters c) { merge(after, std::move(c), one_more(known.second)); });
        found.swap(after);
    }
    std::vector<Counters> todo;
    for (const auto& [counters, totals] : found) todo.push_back(counters);
    while (!todo.empty()) {
        Counters counters = std::move(todo.back());
        todo.pop_back();
        Totals totals = one_more(found.at(counters));
        for (uint32_t s : many)
            each_addition(counters, s, [&](Counters c) {
                if (merge(found, c, totals)) todo.push_back(std::move(c));
            });
    }
    return std::any_of(found.begin(), found.end(), [&](const auto& known) {
        if (!satisfied(known.first)) return false;
        for (size_t n = std::min(parts_.minimum, members_cap_); n < known.second.size(); ++n)
            if (known.second[n]) return true;
        return false;
    });
}

// ---- whether recorded texts suffice ----

bool Record::is_obliged(const RecordParts& parts) {
    std::vector<uint8_t> due(parts.slots.size(), 0);
    for (size_t s = 0; s < parts.slots.size(); ++s) {
        due[s] |= parts.slots[s].required;
        for (uint32_t other : parts.slots[s].owes) due[other] = 1;
    }
    if (parts.order == RecordParts::kEach)  // what stands before a slot that is due is due as well
        for (size_t s = due.size(); s-- > 1;) due[s - 1] |= due[s];
    return std::any_of(parts.members.begin(), parts.members.end(), [&](const auto& m) {
        return m.recorded && (parts.minimum > 0 || due[m.slot]);
    });
}

void Record::check_texts(const Texts& texts) {
    if (possible_ && obliged_) possible_ = has_texts(fresh(), texts);
}

// The slots that must still be filled, and can only be by recorded texts, get a text each: a
// matching of slots to texts (Kuhn's algorithm). Counts are not looked at.
bool Record::has_texts(const Progress& p, const Texts& texts) const {
    uint32_t slots = static_cast<uint32_t>(parts_.slots.size());
    bool each = parts_.order == RecordParts::kEach;
    auto used = [&](uint32_t s) { return !p.used.empty() && is_used(p, s); };
    auto recorded_only = [&](uint32_t s) {
        return std::all_of(members_of_[s].begin(), members_of_[s].end(),
                           [&](uint32_t m) { return parts_.members[m].recorded; });
    };
    uint32_t owed = parts_.minimum > p.members ? parts_.minimum - p.members : 0;
    std::vector<uint32_t> places;  // by their slot
    if (each) {
        for (uint32_t s = p.slot; s < slots; ++s)
            if (parts_.slots[s].required) owed = std::max(owed, s - p.slot + 1);
        for (uint32_t k = 0, s = p.slot; k < owed && s < slots; ++k) {
            if (recorded_only(s)) places.push_back(s);
            if (!parts_.slots[s].many) ++s;
        }
    } else {
        uint32_t others = 0;  // members that need no text
        std::vector<uint32_t> free, needed = needed_slots(p);
        for (uint32_t s = 0; s < slots; ++s) {
            if ((used(s) && !parts_.slots[s].many) || !can_fill(p, s)) continue;
            if (!recorded_only(s)) {
                others = parts_.slots[s].many ? owed : others + 1;
            } else if (std::count(needed.begin(), needed.end(), s)) {
                places.push_back(s);
            } else {
                free.push_back(s);
            }
        }
        uint32_t rest = owed > uint64_t{others} + places.size()
                            ? owed - others - static_cast<uint32_t>(places.size())
                            : 0;
        for (uint32_t s : free)
            for (uint32_t k = 0; k < (parts_.slots[s].many ? rest : 1); ++k)
                places.push_back(kNone - s);  // only `rest` of these are needed
        return match(p, places, rest, texts);
    }
    return match(p, places, 0, texts);
}

// Texts for all places that are slots, and for `rest` of those that are kNone minus a slot.
bool Record::match(const Progress& p, std::span<const uint32_t> places, uint32_t rest,
                   const Texts& texts) const {
    size_t most = places.size();
    std::vector<std::vector<std::string>> choices;
    for (uint32_t place : places) {
        uint32_t slot = place < parts_.slots.size() ? place : kNone - place;
        auto& values = choices.emplace_back();
        for (uint32_t m : members_of_[slot])
            for (auto& value : texts(m, p, most)) values.push_back(std::move(value));
    }
    std::map<std::string, size_t> taken;
    std::set<std::string> tried;
    std::function<bool(size_t)> place_at = [&](size_t at) {
        for (const auto& value : choices[at]) {
            if (!tried.insert(value).second) continue;
            auto holder = taken.find(value);
            if (holder == taken.end() || place_at(holder->second)) {
                taken[value] = at;
                return true;
            }
        }
        return false;
    };
    for (size_t at = 0; at < places.size(); ++at) {
        bool needed = places[at] < parts_.slots.size();
        if (!needed && rest == 0) break;
        tried.clear();
        bool placed = place_at(at);
        if (needed && !placed) return false;
        if (!needed && placed) --rest;
    }
    return rest == 0;
}

}  // namespace guided
