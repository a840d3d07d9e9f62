// Nodes as tuples, for tests and tools.
#include "../record.h"
#include "bindings.h"

namespace guided::bindings {

namespace {

nb::tuple describe_dfa(std::span<const uint32_t> words) {
    nb::list states;
    for (size_t at = 0; at < words.size(); at += 2 + 2 * words[at + 1]) {
        nb::list edges;
        for (size_t k = at + 2; k < at + 2 + 2 * words[at + 1]; k += 2)
            edges.append(nb::make_tuple(words[k] >> 8, words[k] & 0xff, words[k + 1]));
        states.append(nb::make_tuple(words[at] != 0, edges));
    }
    return nb::make_tuple("dfa", states);
}

nb::object number_or_none(uint32_t n) {
    return n == kNone ? nb::object(nb::none()) : nb::object(nb::int_(n));
}

nb::tuple describe_record(const Arena& arena, uint32_t id) {
    RecordParts p = take_apart(arena, id);
    nb::list slots, members, counts, excluded;
    for (const auto& s : p.slots) {
        nb::list owes;
        for (uint32_t other : s.owes) owes.append(other);
        slots.append(nb::make_tuple(s.required, s.many, owes));
    }
    for (const auto& m : p.members) {
        nb::list variants;
        for (auto v : m.variants) variants.append(nb::make_tuple(v.bits, v.node));
        nb::object name =
            m.named ? nb::object(nb::str(m.name.data(), m.name.size())) : nb::object(nb::none());
        members.append(nb::make_tuple(m.slot, m.key, name, m.recorded, variants));
    }
    for (auto c : p.counts) counts.append(nb::make_tuple(c.minimum, number_or_none(c.maximum)));
    for (const auto& text : p.excluded) excluded.append(nb::str(text.data(), text.size()));
    constexpr const char* orders[] = {"each", "later", "any"};
    return nb::make_tuple("record", nb::make_tuple(p.begin, p.first, p.between, p.end, p.empty),
                          slots, members, orders[p.order], p.minimum, number_or_none(p.maximum),
                          counts, excluded);
}

}  // namespace

nb::tuple describe_node(const Arena& arena, uint32_t id) {
    const Arena::Node& n = arena[arena.check(id)];
    auto maximum = [](uint32_t m) {
        return m == kNone ? nb::object(nb::none()) : nb::object(nb::int_(m));
    };
    switch (n.kind) {
        case Kind::kEmpty: return nb::make_tuple("empty");
        case Kind::kNever: return nb::make_tuple("never");
        case Kind::kLiteral: return nb::make_tuple("literal", as_bytes(arena.bytes(n)));
        case Kind::kClass: {
            nb::list ranges;
            for (auto [low, high] : arena.ranges(n)) ranges.append(nb::make_tuple(low, high));
            return nb::make_tuple("class", ranges);
        }
        case Kind::kSequence: return nb::make_tuple("sequence", n.a, n.b);
        case Kind::kChoice: {
            nb::list options;
            for (uint32_t child : arena.children(n)) options.append(child);
            return nb::make_tuple("choice", options);
        }
        case Kind::kRepeat: return nb::make_tuple("repeat", n.a, n.b, maximum(n.c));
        case Kind::kRule:
            return nb::make_tuple("rule", arena.rules()[n.a].name,
                                  maximum(arena.rules()[n.a].body));
        case Kind::kBoth: return nb::make_tuple("both", n.a, n.b);
        case Kind::kMinus: return nb::make_tuple("minus", n.a, n.b);
        case Kind::kToken: {
            nb::list ids;
            for (uint32_t t : arena.ids(n)) ids.append(t);
            return nb::make_tuple("token", ids, n.c != 0);
        }
        case Kind::kLexeme: return nb::make_tuple("lexeme", n.a, n.b);
        case Kind::kCapture: return nb::make_tuple("capture", arena.name(n), n.b);
        case Kind::kPart: return nb::make_tuple("part", n.a);
        case Kind::kDfa: return describe_dfa(arena.words(n));
        case Kind::kHostname: return nb::make_tuple("hostname", n.a, n.b != 0);
        case Kind::kRecord: return describe_record(arena, id);
        case Kind::kLalr: return nb::make_tuple("lalr");
        default: return nb::make_tuple("nonempty", n.a);
    }
}

}  // namespace guided::bindings
