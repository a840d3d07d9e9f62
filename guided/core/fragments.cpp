// Fragments: the heads of a state that stand inside one part, looked at without what follows the
// part.
//
// A value in JSON stands in a thousand places, each with another continuation behind it, so its
// states are all different; but what a token does before the value ends is the same everywhere. So
// the stack above the part's mark is put on END instead, and for these heads alone the vocabulary
// keeps which tokens stay inside and which remainders come out (as tables.h does for one terminal).
// The mask in a given place is the inside row and a walk of the remainders by what follows there.
// Keys are structural, so other grammars find them too.
#include <algorithm>

#include "automaton.h"
#include "walk.h"

namespace guided {

namespace {
constexpr uint32_t kNear = 8;  // frames above a mark; more is rather a structure of its own
}  // namespace

// The mark at the end of the innermost part that the head stands in; 0 if there is none near.
uint32_t Machine::mark_of(const Head& h) const {
    if (lexemes_) return 0;
    uint32_t cont = h.cont;
    for (uint32_t depth = 0; depth < kNear; ++depth) {
        if (cont == Continuations::kEnd || conts().is_union(cont)) return 0;
        auto f = conts().frame(cont);
        if (is_mark(f)) return cont;
        cont = f.parent;
    }
    return 0;
}

bool Machine::fragment_key(const PartHeads& group, Hash128& key) {
    Hash128 sum{};
    for (const Head& h : group.heads) {
        const LeafInfo& info = leaf(h.node);
        if (info.kind == Leaf::kRunMinus || info.kind == Leaf::kToken || info.kind == Leaf::kLexeme)
            return false;
        Hash128 one =
            info.kind == Leaf::kLiteral
                ? arena_[h.node].hash
                : combine(Hash128{31, static_cast<uint64_t>(info.kind)}, info.terminal->serial());
        one = combine(one, uint64_t{h.minimum} << 32 | h.maximum);
        if (info.kind == Leaf::kRecorded && h.other != Texts::kUnknown) {
            if (!may_be_excluded(h)) return false;  // there is no end of such texts
            one = combine(one, hash_bytes(texts_.spelled(h.other)));
            one = combine(one, uint64_t{h.state} << 32);
        } else {
            one = combine(one, uint64_t{h.state} << 32 | h.other);
        }
        for (uint32_t cont = h.cont; cont != group.mark;) {
            auto f = conts().frame(cont);
            if (!frame_key(f, one)) return false;
            cont = f.parent;
        }
        sum.low += mix(one.low);
        sum.high += mix(one.high);
    }
    key = combine(combine(Hash128{33, 34}, sum), group.heads.size());
    return true;
}

// Add a frame to a key. Rules have numbers, not structure: they are this grammar's own, and so is
// what holds one. False: the frame's registers are not to be met again.
bool Machine::frame_key(const Continuations::Frame& f, Hash128& key) {
    const Arena::Node& n = arena_[f.node];
    key = combine(key, n.structural ? n.hash : combine(n.hash, grammar_->serial()));
    if (n.kind != Kind::kRecord) {
        key = combine(key, uint64_t{f.minimum} << 32 | f.maximum);
        return true;
    }
    auto progress = progress_[f.minimum].subspan(1);  // without the node
    if (progress[0] > Chains::kUnknown) return false;
    for (uint32_t word : progress) key = combine(key, word);
    key = combine(key, f.maximum);
    return true;
}

uint32_t Machine::rebase(uint32_t cont, uint32_t mark) {
    if (cont == mark) return Continuations::kEnd;
    auto f = conts().frame(cont);
    return conts().push(f.node, f.minimum, f.maximum, rebase(f.parent, mark));
}

// What stays inside, where that is not known, and what comes out on one of `bytes`: in one walk.
void Machine::find_fragment(Fragment& fragment, const std::vector<Head>& heads,
                            const ByteSet& bytes) {
    Remainders::Collector collector(fragment.exits, bytes);
    Mask mask;
    if (!bytes.empty()) mask.exits = &collector;
    stack_ = heads;
    collect(Trie::kRoot, 0, 0, stack_.size(), mask);
    fragment.unfit |= mask.unfit || !mask.guesses.empty();
    collector.finish();
    if (fragment.known) return;
    fragment.known = true;
    std::vector<uint32_t>& tokens = mask.tokens;
    if (tokens.size() > kListed || !mask.bases.empty()) {
        fragment.row = vocabulary_->rows().unite(std::move(mask.bases), tokens);
    } else {
        std::sort(tokens.begin(), tokens.end());
        tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
        fragment.tokens = tokens;
    }
}

// False: the heads are to be looked at in the plain way. A shape that is met for the first time may
// not come again.
bool Machine::collect_fragment(const PartHeads& group, Mask& mask) {
    Hash128 key;
    if (!fragment_key(group, key)) return false;
    std::shared_ptr<Fragment> fragment = vocabulary_->fragment(key);
    if (!fragment) return false;
    uint32_t behind = closure(conts().frame(group.mark).parent);
    const ByteSet first = states_[behind].first;
    std::lock_guard lock(fragment->mutex);
    if (fragment->unfit) return false;
    ByteSet missing = fragment->exits.missing(first);
    if (!fragment->known || !missing.empty()) {
        std::vector<Head> alone = group.heads;
        for (Head& h : alone) h.cont = rebase(h.cont, group.mark);
        find_fragment(*fragment, alone, missing);
    }
    if (fragment->unfit || fragment->exits.overflows(first)) return false;
    mask.tokens.insert(mask.tokens.end(), fragment->tokens.begin(), fragment->tokens.end());
    if (fragment->row) mask.bases.push_back(fragment->row);
    stack_.clear();
    expand({.node = kDeferred, .state = behind}, stack_);
    size_t end = stack_.size();
    first.for_each([&](uint8_t byte) {
        const Trie* exits = fragment->exits[byte];
        if (!exits) return;
        auto emit = [&](uint32_t node, bool) {
            for (auto item : exits->items((*exits)[node])) mask.add(item.token, on_guess_);
        };
        walk(*exits, Trie::kRoot, 0, 0, end, emit,
             [](uint32_t, size_t, size_t, size_t) { return false; });
    });
    return true;
}

}  // namespace guided
