#include "machine.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "errors.h"

namespace guided {

// Frames of one node are one frame on the union of their parents: a union then has at most as many
// members as there are nodes and registers, however long the text is.
uint32_t Continuations::unite(std::vector<uint32_t>& members_in, uint32_t depth) {
    if (members_in.size() == 1) return members_in[0];
    std::vector<uint32_t> flat{kNone};
    for (uint32_t m : members_in) {
        if (is_union(m)) {
            auto inner = members(m);
            flat.insert(flat.end(), inner.begin(), inner.end());
        } else {
            flat.push_back(m);
        }
    }
    std::sort(flat.begin() + 1, flat.end());
    flat.erase(std::unique(flat.begin() + 1, flat.end()), flat.end());
    if (flat.size() == 2) return flat[1];
    uint32_t plain = table_.intern(flat.data(), flat.size());
    if (depth >= kUniteDepth) return plain;
    if (auto known = united_.find(plain); known != united_.end()) return known->second;
    auto key = [&](uint32_t cont) {
        if (cont == kEnd) return std::tuple{0u, 0u, 0u};
        Frame f = frame(cont);
        return std::tuple{f.node + 1, f.minimum, f.maximum};
    };
    std::stable_sort(flat.begin() + 1, flat.end(),
                     [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    std::vector<uint32_t> merged, parents;
    for (size_t i = 1; i < flat.size();) {
        size_t end = i + 1;
        while (end < flat.size() && key(flat[end]) == key(flat[i])) ++end;
        if (end - i == 1) {
            merged.push_back(flat[i]);
        } else {
            Frame f = frame(flat[i]);
            parents.clear();
            for (size_t k = i; k < end; ++k) parents.push_back(frame(flat[k]).parent);
            merged.push_back(push(f.node, f.minimum, f.maximum, unite(parents, depth + 1)));
        }
        i = end;
    }
    drop_covered(merged);
    std::sort(merged.begin(), merged.end());
    merged.insert(merged.begin(), kNone);
    uint32_t result = merged.size() == 2 ? merged[1] : table_.intern(merged.data(), merged.size());
    united_[plain] = result;
    united_[result] = result;
    return result;
}

// x{0,3} is among x{0,5}: of repeats of one node before the same parent, those whose counts lie
// within those of another say nothing. So `.{0,500}`, begun anywhere, is one frame and not 500.
void Continuations::drop_covered(std::vector<uint32_t>& members) const {
    struct Counted {
        uint32_t node, parent, minimum, maximum, cont;
    };
    std::vector<Counted> counted;
    for (uint32_t cont : members) {
        if (cont == kEnd) continue;
        Frame f = frame(cont);
        if (arena_[f.node].kind == Kind::kRepeat)
            counted.push_back({f.node, f.parent, f.minimum, f.maximum, cont});
    }
    if (counted.size() < 2) return;
    std::sort(counted.begin(), counted.end(), [](const Counted& a, const Counted& b) {
        return std::tuple{a.node, a.parent, a.minimum, ~a.maximum} <
               std::tuple{b.node, b.parent, b.minimum, ~b.maximum};
    });
    uint32_t most = 0;  // the greatest maximum so far, among the smaller minima
    for (size_t i = 0; i < counted.size(); ++i) {
        const Counted& c = counted[i];
        bool first = i == 0 || counted[i - 1].node != c.node || counted[i - 1].parent != c.parent;
        if (!first && c.maximum <= most) std::erase(members, c.cont);
        most = first ? c.maximum : std::max(most, c.maximum);
    }
}

void normalize(std::vector<Head>& heads, Continuations& conts) {
    if (heads.size() < 2) return;
    auto less = [](const Head& a, const Head& b) {
        if (a.node != b.node) return a.node < b.node;
        if (a.state != b.state) return a.state < b.state;
        if (a.other != b.other) return a.other < b.other;
        if (a.minimum != b.minimum) return a.minimum < b.minimum;
        if (a.maximum != b.maximum) return a.maximum < b.maximum;
        if (a.guard != b.guard) return a.guard < b.guard;
        return a.cont < b.cont;
    };
    if (!std::is_sorted(heads.begin(), heads.end(), less))
        std::sort(heads.begin(), heads.end(), less);
    std::vector<uint32_t> group;
    size_t out = 0;
    for (size_t i = 0; i < heads.size();) {
        size_t end = i + 1;
        while (end < heads.size() && heads[end].same_leaf(heads[i])) ++end;
        heads[out] = heads[i];
        if (end - i > 1) {
            group.clear();
            for (size_t k = i; k < end; ++k)
                if (group.empty() || group.back() != heads[k].cont) group.push_back(heads[k].cont);
            heads[out].cont = conts.unite(group);
        }
        ++out;
        i = end;
    }
    heads.resize(out);
}

uint32_t Expander::frame(uint32_t node, uint32_t parent) {
    if (node == Arena::kEmptyNode) return parent;
    const Arena::Node& n = arena_[node];
    return n.kind == Kind::kRepeat ? frame(node, n.b, n.c, parent) : frame(node, 0, 0, parent);
}

uint32_t Expander::frame(uint32_t node, uint32_t minimum, uint32_t maximum, uint32_t parent) {
    bool repeats = arena_[node].kind == Kind::kRepeat;
    if (repeats && maximum == 0) return parent;
    if (repeats && minimum == 0 && maximum == kNone && parent != Continuations::kEnd &&
        !conts_.is_union(parent)) {
        auto below = conts_.frame(parent);
        if (below.node == node && below.minimum == 0 && below.maximum == kNone)
            return parent;  // x* x* is x*
    }
    return conts_.push(node, minimum, maximum, parent);
}

void Expander::close(uint32_t cont, std::vector<Head>& heads, bool& complete) {
    heads.clear();
    complete = false;
    pop(cont, heads, complete);
    while (!calls_.empty()) {
        Call call = calls_.front();
        parents_.clear();
        while (!calls_.empty() && calls_.front().rule == call.rule) {
            parents_.push_back(calls_.front().parent);
            std::pop_heap(calls_.begin(), calls_.end(), std::greater<>());
            calls_.pop_back();
        }
        uint32_t parent = conts_.unite(parents_);
        open(arena_.rules()[call.rule].body, parent, heads);
    }
    normalize(heads, conts_);
}

void Expander::pop(uint32_t cont, std::vector<Head>& heads, bool& complete) {
    pops_.assign(1, cont);
    uint32_t count = 0;
    if (++stamp_ == 0) visited_.assign(visited_.size(), 0), stamp_ = 1;
    while (!pops_.empty()) {
        uint32_t top = pops_.back();
        pops_.pop_back();
        if (top >= visited_.size()) visited_.resize(conts_.size() + conts_.size() / 2, 0);
        if (visited_[top] == stamp_) continue;
        visited_[top] = stamp_;
        if (++count > max_heads_ * 4)
            throw LimitExceeded("the grammar is too ambiguous here", "heads in one state",
                                max_heads_, "max_heads");
        if (top == Continuations::kEnd) {
            complete = true;
            continue;
        }
        if (conts_.is_union(top)) {
            auto members = conts_.members(top);
            pops_.insert(pops_.end(), members.begin(), members.end());
            continue;
        }
        auto f = conts_.frame(top);
        if (is_mark(f)) {
            pops_.push_back(f.parent);
        } else if (arena_[f.node].kind == Kind::kRecord && f.maximum) {
            pop_record(f, heads);
        } else if (arena_[f.node].kind == Kind::kLalr && f.minimum) {
            pop_lalr(top, heads);
        } else if (arena_[f.node].kind == Kind::kRepeat && !is_leaf(f.node)) {
            if (f.minimum == 0 || nullable_[arena_[f.node].a]) pops_.push_back(f.parent);
            uint32_t more = f.maximum == kNone ? kNone : f.maximum - 1;
            uint32_t behind = frame(f.node, f.minimum ? f.minimum - 1 : 0, more, f.parent);
            open(arena_[f.node].a, behind, heads);
        } else {
            if (nullable_[f.node]) pops_.push_back(f.parent);
            open(f.node, f.parent, heads);
        }
    }
}

void Expander::open(uint32_t node, uint32_t parent, std::vector<Head>& heads) {
    for (;;) {
        if (!productive_[node]) return;
        if (is_leaf(node)) {
            if (heads.size() >= max_heads_ * 4)
                throw LimitExceeded("the grammar is too ambiguous here", "heads in one state",
                                    max_heads_, "max_heads");
            Head h = leaf_head(node);
            h.cont = parent;
            heads.push_back(h);
            return;
        }
        const Arena::Node& n = arena_[node];
        switch (n.kind) {
            case Kind::kSequence: {
                if (!productive_[n.b]) return;
                if (Group g = group(node); g.leaf != kNone) {
                    Head h = leaf_head(g.leaf);
                    h.cont = frame(g.rest, parent);
                    heads.push_back(h);
                    if (!g.nullable) return;
                    node = g.rest;
                    break;
                }
                open(n.a, frame(n.b, parent), heads);
                if (!nullable_[n.a]) return;
                node = n.b;
                break;
            }
            case Kind::kChoice: {
                auto options = arena_.children(n);
                for (uint32_t option : options.first(options.size() - 1))
                    open(option, parent, heads);
                node = options.back();
                break;
            }
            case Kind::kRepeat:
                parent = frame(node, n.b ? n.b - 1 : 0, n.c == kNone ? kNone : n.c - 1, parent);
                node = n.a;
                break;
            case Kind::kRule: {
                if (calls_.size() >= max_heads_ * 4)
                    throw LimitExceeded("the grammar is too ambiguous here", "heads in one state",
                                        max_heads_, "max_heads");
                calls_.push_back({order_[n.a], n.a, parent});
                std::push_heap(calls_.begin(), calls_.end(), std::greater<>());
                return;
            }
            case Kind::kCapture: node = n.b; break;
            case Kind::kPart:
                parent = conts_.push(node, 1, 0, parent);
                node = n.a;
                break;
            case Kind::kNonempty: node = n.a; break;
            case Kind::kRecord: {
                uint32_t begin, progress;
                if (!begin_record(node, begin, progress)) return;
                parent = conts_.push(node, progress, kRecordOpened, parent);
                node = begin;
                break;
            }
            case Kind::kLalr: {
                uint32_t state, environment;
                if (!begin_lalr(node, state, environment)) return;
                pops_.push_back(conts_.push(node, state, environment, parent));
                return;
            }
            default:  // empty: no nonempty match
                return;
        }
    }
}

}  // namespace guided
