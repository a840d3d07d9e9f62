#include "record.h"

#include <algorithm>

#include "recorded.h"

namespace guided {

RecordParts take_apart(const Arena& arena, uint32_t node) {
    std::span<const uint32_t> w = arena.words(arena[node]);
    size_t at = 0;
    RecordParts p;
    for (uint32_t* n : {&p.begin, &p.first, &p.between, &p.end, &p.empty}) *n = w[at++];
    p.order = static_cast<RecordParts::Order>(w[at++]);
    p.minimum = w[at++];
    p.maximum = w[at++];
    p.counts.resize(w[at++]);
    for (auto& c : p.counts) {
        c.minimum = w[at++];
        c.maximum = w[at++];
    }
    p.excluded.resize(w[at++]);
    for (auto& text : p.excluded) text = arena.text(w[at++]);
    p.slots.resize(w[at++]);
    for (auto& s : p.slots) {
        uint32_t flags = w[at++];
        s.required = flags & 1;
        s.many = flags & 2;
        s.owes.resize(w[at++]);
        for (auto& other : s.owes) other = w[at++];
    }
    p.members.resize(w[at++]);
    for (auto& m : p.members) {
        m.slot = w[at++];
        m.key = w[at++];
        m.recorded = w[at++];
        if (uint32_t name = w[at++]) {
            m.named = true;
            m.name = arena.text(name - 1);
        }
        m.variants.resize(w[at++]);
        for (auto& v : m.variants) {
            v.bits = w[at++];
            v.node = w[at++];
        }
    }
    return p;
}

bool is_plainly_possible(std::span<const uint32_t> w, const std::vector<uint8_t>& productive) {
    bool in_turn = w[5] == RecordParts::kEach, bounded = w[6] > 0 || w[7] != kNone || w[8] > 0;
    if (in_turn || bounded) return false;
    size_t at = 9;
    at += 1 + w[at];  // excluded texts
    std::vector<uint8_t> due(w[at++]);
    for (auto& slot : due) {
        slot = w[at++] == 1;
        if (w[at++]) return false;  // it owes others
    }
    bool all_productive = true;
    for_each_node(w, [&](uint32_t node) { all_productive &= productive[node]; });
    if (!all_productive) return false;
    for (uint32_t members = w[at++]; members; --members) {
        uint32_t slot = w[at], recorded = w[at + 2], variants = w[at + 4];
        if (recorded && due[slot]) return false;
        if (variants) due[slot] = 0;
        at += 5 + 2 * variants;
    }
    return std::find(due.begin(), due.end(), 1) == due.end();
}

Record::Record(const Arena& arena, uint32_t node, const std::function<bool(uint32_t)>& productive)
    : node_(node), parts_(take_apart(arena, node)) {
    RecordParts& p = parts_;
    if (!productive(p.empty)) p.minimum = std::max(p.minimum, 1u);
    if (!productive(p.first) || !productive(p.end)) p.maximum = 0;
    if (!productive(p.between)) p.maximum = std::min(p.maximum, 1u);
    members_of_.resize(p.slots.size());
    fillable_.resize(p.slots.size(), 0);
    for (uint32_t m = 0; m < p.members.size(); ++m) {
        auto& member = p.members[m];
        if (!productive(member.key)) member.variants.clear();
        std::erase_if(member.variants, [&](auto v) { return !productive(v.node); });
        if (member.named) excluded_.push_back(value_of_text(member.name));
        if (member.variants.empty()) continue;
        members_of_[member.slot].push_back(m);
        fillable_[member.slot] = 1;
    }
    for (const auto& text : p.excluded) excluded_.push_back(value_of_text(text));
    std::sort(excluded_.begin(), excluded_.end());
    excluded_.erase(std::unique(excluded_.begin(), excluded_.end()), excluded_.end());
    counted_ = p.minimum > 0 || p.maximum != kNone;
    members_cap_ = p.maximum != kNone ? p.maximum : p.minimum;  // 0 where they are not counted
    owed_by_.resize(p.slots.size());
    for (uint32_t s = 0; s < p.slots.size(); ++s) {
        owing_ |= !p.slots[s].owes.empty();
        for (uint32_t other : p.slots[s].owes) owed_by_[other].push_back(s);
        if (p.slots[s].many) p.slots[s].required = false;
    }
    most_from_.assign(p.slots.size() + 1, 0);
    for (size_t s = p.slots.size(); s-- > 0;)
        most_from_[s] = fillable_[s] && p.slots[s].many ? kNone
                        : most_from_[s + 1] == kNone    ? kNone
                                                        : most_from_[s + 1] + fillable_[s];
    plain_ = !counted_ && !owing_ && p.counts.empty();
    obliged_ = is_obliged(p);
    possible_ = p.minimum <= p.maximum && productive(p.begin);
    if (!possible_) return;
    if (plain_ && p.order != RecordParts::kEach) {
        for (size_t s = 0; s < p.slots.size(); ++s)
            if (p.slots[s].required && !fillable_[s]) possible_ = false;
    } else {
        possible_ = feasible(fresh());
    }
}

Progress Record::fresh() const {
    Progress p;
    p.counts.assign(parts_.counts.size(), 0);
    if (parts_.order == RecordParts::kAny || owing_)
        p.used.assign((parts_.slots.size() + 31) / 32, 0);
    return p;
}

void Record::write_words(const Progress& p, std::vector<uint32_t>& w) const {
    w.assign({node_, p.chain, p.members, p.slot});
    w.insert(w.end(), p.counts.begin(), p.counts.end());
    w.insert(w.end(), p.used.begin(), p.used.end());
}

Progress Record::progress(std::span<const uint32_t> w) const {
    Progress p{w[1], w[2], w[3], {}, {}};
    auto counts_end = w.begin() + 4 + static_cast<std::ptrdiff_t>(parts_.counts.size());
    p.counts.assign(w.begin() + 4, counts_end);
    p.used.assign(counts_end, w.end());
    return p;
}

bool Record::is_open(const Progress& p, uint32_t slot) const {
    switch (parts_.order) {
        case RecordParts::kEach: return slot == p.slot;
        case RecordParts::kLater: return slot >= p.slot;
        default: return parts_.slots[slot].many || !is_used(p, slot);
    }
}

// Not written yet, and it must be.
bool Record::is_required(const Progress& p, uint32_t slot) const {
    if (!p.used.empty() && is_used(p, slot)) return false;
    if (parts_.slots[slot].required)
        return parts_.order == RecordParts::kAny || owing_ || slot >= p.slot;
    if (!owing_) return false;
    return std::any_of(owed_by_[slot].begin(), owed_by_[slot].end(),
                       [&](uint32_t s) { return is_used(p, s); });
}

bool Record::may_end(const Progress& p) const {
    if (p.members < std::min(parts_.minimum, members_cap_)) return false;
    if (!satisfied(p.counts)) return false;
    uint32_t from = parts_.order == RecordParts::kAny || owing_ ? 0 : p.slot;
    for (uint32_t s = from; s < parts_.slots.size(); ++s)
        if (is_required(p, s)) return false;
    return true;
}

bool Record::may_come(const Progress& p, uint32_t member, const Texts& texts) const {
    if (plain_ && !obliged_) return true;
    if (parts_.counts.empty() && !owing_ && !obliged_ && parts_.order != RecordParts::kEach) {
        // Only the number of members matters, which one look at the progress tells for all.
        if (p.members == parts_.maximum) return false;
        if (!(outlook_.of == p)) outlook_ = look_ahead(p);
        uint32_t slot = parts_.members[member].slot;
        uint64_t least = outlook_.least + !(is_required(p, slot));
        uint64_t most = outlook_.most;
        if (parts_.order == RecordParts::kLater) most = p.members + most_from_[slot];
        return least <= parts_.maximum && most >= parts_.minimum;
    }
    Progress after;
    for (const auto& v : parts_.members[member].variants)
        if (advance(p, member, v, after, texts)) return true;
    return false;
}

// The fewest members that a record can have in the end, and the most.
Record::Outlook Record::look_ahead(const Progress& p) const {
    Outlook o{p, p.members, p.members};
    for (uint32_t s = 0; s < parts_.slots.size(); ++s) {
        if (!fillable_[s] || !is_open(p, s)) continue;
        if (parts_.slots[s].many) o.most = kNone;
        else if (o.most < kNone) ++o.most;
        o.least += is_required(p, s);
    }
    return o;
}

bool Record::advance(const Progress& p, uint32_t member, const RecordParts::Variant& variant,
                     Progress& after, const Texts& texts) const {
    uint32_t slot = parts_.members[member].slot;
    after = p;
    if (!add_bits(after.counts, variant.bits)) return false;
    if (counted_) {
        if (p.members == parts_.maximum) return false;
        if (after.members < members_cap_) ++after.members;
    }
    if (!after.used.empty() && (!parts_.slots[slot].many || owing_))
        after.used[slot >> 5] |= 1u << (slot & 31);
    if (parts_.order != RecordParts::kAny) after.slot = parts_.slots[slot].many ? slot : slot + 1;
    return (plain_ || feasible(after)) && (!obliged_ || has_texts(after, texts));
}

}  // namespace guided
