// A grammar over a vocabulary, with its generations of states; saved and loaded.
//
// A file holds the grammar and, of the states that were known, how each is reached from one before
// it. Loading walks these ways again: that is quick, and no number of a state or terminal has to
// mean the same in two processes.
#include <algorithm>
#include <cstring>

#include "automaton.h"

namespace guided {

Automaton::Automaton(Arena arena, uint32_t start, std::shared_ptr<Vocabulary> vocabulary,
                     Limits limits)
    : vocabulary_(std::move(vocabulary)), limits_(limits) {
    Budget budget;
    auto is_void = [&](const Arena& nodes, uint32_t node) {
        const Arena::Node& n = nodes[node];
        if (n.kind != Kind::kToken) return vocabulary_->terminal(nodes, node)->is_void();
        auto ids = nodes.ids(n);
        auto usable = [&](uint32_t id) {
            return id < vocabulary_->count() && !vocabulary_->is_eos(id);
        };
        if (!n.c) return std::none_of(ids.begin(), ids.end(), usable);
        size_t all = vocabulary_->count();
        for (uint32_t id : vocabulary_->eos()) all -= id < vocabulary_->count();
        return static_cast<size_t>(std::count_if(ids.begin(), ids.end(), usable)) >= all;
    };
    auto values = [&](const Arena& nodes, uint32_t node, size_t most, const WantedValue& wanted) {
        return values_after(*vocabulary_->terminal(nodes, node), Terminal::kStart, "", most,
                            wanted);
    };
    grammar_ = std::make_shared<const ClosedGrammar>(std::move(arena), start,
                                                     ClosedGrammar::Oracle{is_void, values});
    machine_ = std::make_shared<Machine>(grammar_, vocabulary_, limits_);
}

std::shared_ptr<Machine> Automaton::machine() {
    std::lock_guard lock(mutex_);
    if (machine_->full()) machine_ = std::make_shared<Machine>(grammar_, vocabulary_, limits_);
    return machine_;
}

namespace {

constexpr char kMagic[] = "guided automaton 1\n";

}  // namespace

std::string Automaton::save() {
    std::string out(kMagic);
    auto put = [&](uint64_t v) { out.append(reinterpret_cast<const char*>(&v), 8); };
    put(vocabulary_->fingerprint().low);
    put(vocabulary_->fingerprint().high);
    put(limits_.max_heads);
    put(limits_.max_bytes);
    put(grammar_->start());
    std::string arena = grammar_->arena().serialize();
    put(arena.size());
    out += arena;
    auto known = machine()->known_states();
    put(known.size());
    out.append(reinterpret_cast<const char*>(known.data()), known.size() * sizeof(Machine::Known));
    put(hash_bytes(out).low);
    return out;
}

std::unique_ptr<Automaton> Automaton::load(std::string_view data,
                                           std::shared_ptr<Vocabulary> vocabulary) {
    auto fail = [](bool bad, const char* why) {
        if (bad) throw std::invalid_argument(why);
    };
    fail(data.substr(0, sizeof kMagic - 1) != kMagic,
         "the file is not a saved automaton of this version");
    size_t at = sizeof kMagic - 1;
    auto get = [&] {
        fail(data.size() - at < 8, "the file ends too early");
        uint64_t v;
        std::memcpy(&v, data.data() + at, 8);
        at += 8;
        return v;
    };
    Hash128 print{get(), get()};
    fail(print != vocabulary->fingerprint(), "the automaton was saved for another vocabulary");
    uint64_t sum;
    fail(data.size() < at + 8, "the file ends too early");
    std::memcpy(&sum, data.data() + data.size() - 8, 8);
    fail(sum != hash_bytes(data.substr(0, data.size() - 8)).low, "the file is damaged");
    Limits limits;
    limits.max_heads = static_cast<uint32_t>(get());
    limits.max_bytes = get();
    auto start = static_cast<uint32_t>(get());
    uint64_t size = get();
    fail(size > data.size() - at, "the file ends too early");
    Arena arena = Arena::deserialize(data.substr(at, size));
    at += size;
    fail(start >= arena.size(), "the file holds no valid grammar");
    auto made = std::make_unique<Automaton>(std::move(arena), start, vocabulary, limits);
    uint64_t count = get();
    fail(count > (data.size() - at) / sizeof(Machine::Known), "the file ends too early");
    auto machine = made->machine();
    std::vector<uint32_t> states;
    for (uint64_t i = 0; i < count; ++i) {
        Machine::Known k;
        std::memcpy(&k, data.data() + at + i * sizeof k, sizeof k);
        fail(i > 0 && k.parent >= i, "the file holds no valid states");
        uint32_t state = i == 0 ? machine->start() : machine->next(states[k.parent], k.token);
        fail(state == kNone, "the file holds no valid states");
        states.push_back(state);
        if (k.has_row) machine->row(state);
    }
    return made;
}

}  // namespace guided
