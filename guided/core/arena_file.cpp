// An arena written to a string and read back. What is read is not trusted: every node is built
// again by the arena itself, and must come out with the number it had.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "arena.h"
#include "lalr.h"

namespace guided {

namespace {

template <class T>
void put(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
void put_vector(std::string& out, const std::vector<T>& values) {
    put(out, static_cast<uint64_t>(values.size()));
    out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

void put_string(std::string& out, std::string_view s) {
    put(out, static_cast<uint64_t>(s.size()));
    out.append(s);
}

struct Reader {
    std::string_view data;
    template <class T>
    T get() {
        T value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
    const char* take(size_t count) {
        if (count > data.size()) throw std::invalid_argument("the file ends too early");
        const char* p = data.data();
        data.remove_prefix(count);
        return p;
    }
    std::string_view string() {
        uint64_t n = get<uint64_t>();
        if (n > data.size()) throw std::invalid_argument("the file ends too early");
        return {take(n), n};
    }
    template <class T>
    std::vector<T> vector() {
        uint64_t n = get<uint64_t>();
        if (n > data.size() / sizeof(T)) throw std::invalid_argument("the file ends too early");
        std::vector<T> values(n);
        const char* p = take(n * sizeof(T));
        if (n) std::memcpy(values.data(), p, n * sizeof(T));
        return values;
    }
};

struct StoredNode {  // flags, depth and hash follow from the children: they are made again, not
                     // trusted
    uint32_t kind, a, b, c;
};

// The words of a dfa node, if they are those of an automaton.
std::span<const uint32_t> check_dfa(std::span<const uint32_t> words) {
    size_t states = 0;
    auto fail = [](bool bad) {
        if (bad) throw std::invalid_argument("the file holds no valid automaton");
    };
    fail(words.empty());
    for (size_t at = 0; at < words.size(); ++states) {
        fail(words.size() - at < 2 || words[at + 1] > (words.size() - at - 2) / 2);
        at += 2 + 2 * words[at + 1];
    }
    for (size_t at = 0; at < words.size(); at += 2 + 2 * words[at + 1])
        for (size_t k = 0; k < words[at + 1]; ++k)
            fail(words[at + 2 + 2 * k] > 0xffff || words[at + 3 + 2 * k] >= states);
    return words;
}

// The words of a record node, if they are that many, and its nodes, texts and slots are there.
std::span<const uint32_t> check_record(std::span<const uint32_t> words, uint32_t nodes,
                                       uint64_t texts) {
    size_t at = 0;
    auto fail = [](bool bad) {
        if (bad) throw std::invalid_argument("the file holds no valid record");
    };
    auto next = [&](uint64_t below = uint64_t{1} << 32) {
        fail(at >= words.size() || words[at] >= below);
        return words[at++];
    };
    for (int i = 0; i < 5; ++i) next(nodes);
    next(3), next(), next();
    for (uint32_t n = next(17); n; --n) next(), next();
    for (uint32_t n = next(); n; --n) next(texts);
    uint32_t slots = next();
    for (uint32_t s = 0; s < slots; ++s) {
        next(4);
        for (uint32_t n = next(); n; --n) next(slots);
    }
    for (uint32_t n = next(); n; --n) {
        next(slots), next(nodes), next(2), next(texts + 1);
        for (uint32_t k = next(); k; --k) next(), next(nodes);
    }
    fail(at != words.size());
    return words;
}

}  // namespace

std::string Arena::serialize() const {
    std::string out;
    put(out, max_nodes_);
    put_string(out, bytes_);
    put_vector(out, words_);
    std::vector<uint32_t> flat;
    for (auto [low, high] : ranges_) flat.push_back(low), flat.push_back(high);
    put_vector(out, flat);
    std::vector<StoredNode> stored;
    for (const Node& n : nodes_) stored.push_back({static_cast<uint32_t>(n.kind), n.a, n.b, n.c});
    put_vector(out, stored);
    put(out, static_cast<uint64_t>(names_.size()));
    for (const auto& name : names_) put_string(out, name);
    put(out, static_cast<uint64_t>(texts_.size()));
    for (const auto& text : texts_) put_string(out, text);
    put(out, static_cast<uint64_t>(rules_.size()));
    for (const Rule& r : rules_) {
        put_string(out, r.name);
        put(out, r.body);
    }
    return out;
}

Arena Arena::deserialize(std::string_view data) {
    Reader in{data};
    Arena arena(in.get<uint32_t>());
    auto fail = [](bool bad) {
        if (bad) throw std::invalid_argument("the file holds no valid grammar");
    };
    std::string_view bytes = in.string();
    auto words = in.vector<uint32_t>();
    auto flat = in.vector<uint32_t>();
    auto stored = in.vector<StoredNode>();
    uint64_t names = in.get<uint64_t>();
    fail(names > data.size());
    for (uint64_t i = 0; i < names; ++i) arena.names_.emplace_back(in.string());
    uint64_t texts = in.get<uint64_t>();
    fail(texts > data.size());
    for (uint64_t i = 0; i < texts; ++i) fail(arena.add_text(in.string()) != i);
    uint64_t rules = in.get<uint64_t>();
    fail(rules > data.size());
    for (uint64_t i = 0; i < rules; ++i) {
        std::string name(in.string());
        arena.rules_.push_back({name, in.get<uint32_t>()});
    }
    auto span_of = [&](uint32_t start, uint32_t count, size_t size) {
        fail(start > size || count > size - start);
    };
    for (uint32_t id = 2; id < stored.size(); ++id) {
        auto [kind, a, b, c] = stored[id];
        auto child = [&](uint32_t n) { fail(n >= id); };
        switch (static_cast<Kind>(kind)) {
            case Kind::kLiteral:
                span_of(a, b, bytes.size());
                fail(arena.literal(bytes.substr(a, b)) != id);
                continue;
            case Kind::kClass: {
                span_of(a, b, flat.size() / 2);
                std::vector<CodeRange> ranges;
                for (uint32_t k = a; k < a + b; ++k)
                    ranges.push_back({flat[2 * k], flat[2 * k + 1]});
                fail(arena.char_class(ranges) != id);
                continue;
            }
            case Kind::kToken:
                span_of(a, b, words.size());
                fail(c > 1 || arena.token(std::span(words).subspan(a, b), c) != id);
                continue;
            case Kind::kRule:
                fail(a >= rules);
                fail(arena.add_rule(a) != id);
                continue;
            case Kind::kSequence:
                child(a), child(b);
                fail(arena.add_sequence(a, b) != id);
                continue;
            case Kind::kChoice:
                fail(b < 2);
                span_of(a, b, words.size());
                for (uint32_t k = a; k < a + b; ++k) child(words[k]);
                fail(arena.add_choice(std::span(words).subspan(a, b)) != id);
                continue;
            case Kind::kRepeat:
                child(a);
                fail(arena.repeat(a, b, c) != id);
                continue;
            case Kind::kBoth:
                child(a), child(b);
                fail(arena.both(a, b) != id);
                continue;
            case Kind::kMinus:
                child(a), child(b);
                fail(arena.minus(a, b) != id);
                continue;
            case Kind::kLexeme:
                child(a), child(b);
                fail(!arena[a].regular || arena[a].nullable || !arena[b].regular);
                fail(arena.add_lexeme(a, b) != id);
                continue;
            case Kind::kCapture:
                child(b);
                fail(a >= arena.names_.size());
                fail(arena.capture(arena.names_[a], b) != id);
                continue;
            case Kind::kPart:
                child(a);
                fail(arena.part(a) != id);
                continue;
            case Kind::kNonempty:
                child(a);
                fail(arena.nonempty(a) != id);
                continue;
            case Kind::kDfa:
                span_of(a, b, words.size());
                fail(arena.add_dfa(check_dfa(std::span(words).subspan(a, b))) != id);
                continue;
            case Kind::kHostname: fail(b > 1 || arena.hostname(a, b) != id); continue;
            case Kind::kRecord:
                span_of(a, b, words.size());
                fail(arena.add_record(check_record(std::span(words).subspan(a, b), id, texts)) !=
                     id);
                continue;
            case Kind::kLalr: {
                span_of(a, b, words.size());
                auto own = std::span(words).subspan(a, b);
                fail(arena.add_lalr(own, take_lalr_apart(own, id).accepts_nothing()) != id);
                continue;
            }
            default: fail(true);
        }
    }
    for (const Rule& r : arena.rules_) fail(r.body != kNone && r.body >= arena.size());
    return arena;
}

}  // namespace guided
