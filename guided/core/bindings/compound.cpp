// Nodes made of many parts: automata over bytes, records, LALR(1) parsers.
#include <algorithm>

#include "../lalr.h"
#include "../record.h"
#include "bindings.h"

namespace guided::bindings {

namespace {

using SlotOf = std::tuple<bool, bool, std::vector<uint32_t>>;
using MemberOf = std::tuple<uint32_t, uint32_t, std::optional<std::string_view>, bool,
                            std::vector<std::pair<uint32_t, uint32_t>>>;

uint32_t make_record(Arena& arena, const std::array<uint32_t, 5>& layout,
                     const std::vector<SlotOf>& slots, const std::vector<MemberOf>& members,
                     std::string_view order, uint32_t minimum, std::optional<uint32_t> maximum,
                     const std::vector<std::pair<uint32_t, std::optional<uint32_t>>>& counts,
                     const std::vector<std::string_view>& excluded) {
    RecordParts p;
    p.begin = layout[0];
    p.first = layout[1];
    p.between = layout[2];
    p.end = layout[3];
    p.empty = layout[4];
    if (order != "each" && order != "later" && order != "any")
        throw std::invalid_argument("order must be \"each\", \"later\" or \"any\"");
    p.order = order == "each"    ? RecordParts::kEach
              : order == "later" ? RecordParts::kLater
                                 : RecordParts::kAny;
    p.minimum = minimum;
    if (maximum) p.maximum = *maximum;
    if (counts.size() > 16) throw std::invalid_argument("a record has at most 16 counts");
    for (auto [low, high] : counts) p.counts.push_back({low, high ? *high : kNone});
    for (const auto& [required, many, owes] : slots) p.slots.push_back({required, many, owes});
    for (const auto& [slot, key, name, recorded, variants] : members) {
        auto& m = p.members.emplace_back();
        m.slot = slot;
        m.key = key;
        m.recorded = recorded;
        if ((m.named = name.has_value())) m.name = *name;
        for (auto [bits, node] : variants) m.variants.push_back({bits, node});
    }
    for (auto text : excluded) p.excluded.emplace_back(text);
    return arena.record(p);
}

uint32_t
make_dfa(Arena& arena,
         const std::vector<std::pair<bool, std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>>>&
             given) {
    std::vector<DfaState> states(given.size());
    for (size_t i = 0; i < given.size(); ++i) {
        states[i].accepting = given[i].first;
        for (auto [low, high, target] : given[i].second) {
            if (low > 255 || high > 255)
                throw std::invalid_argument("an edge of an automaton is a range of bytes");
            states[i].edges.push_back(
                {static_cast<uint8_t>(low), static_cast<uint8_t>(high), target});
        }
    }
    return arena.dfa(std::move(states));
}

using LalrIndentation = std::tuple<uint32_t, uint32_t, uint32_t, std::vector<uint32_t>,
                                   std::vector<uint32_t>, uint32_t>;

uint32_t
make_lalr(Arena& arena,
          const std::vector<std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>>& actions,
          const std::vector<std::vector<std::pair<int64_t, uint32_t>>>& leaves,
          const std::vector<std::pair<uint32_t, uint32_t>>& rules, uint32_t start, uint32_t accept,
          uint32_t end, const std::optional<LalrIndentation>& indentation) {
    if (actions.size() != leaves.size())
        throw std::invalid_argument("a parser has actions and leaves for each state");
    LalrParts p;
    p.start = start, p.accept = accept, p.end = end;
    for (auto [symbol, length] : rules) p.rules.push_back({symbol, length});
    p.states.resize(actions.size());
    for (size_t i = 0; i < actions.size(); ++i) {
        auto& s = p.states[i];
        for (auto [symbol, kind, target] : actions[i]) {
            if (kind > 1) throw std::invalid_argument("an action shifts (0) or reduces (1)");
            s.actions.push_back({symbol, kind == 1, target});
        }
        std::sort(s.actions.begin(), s.actions.end(),
                  [](const auto& a, const auto& b) { return a.symbol < b.symbol; });
        for (auto [symbol, node] : leaves[i])
            s.leaves.push_back({symbol < 0 ? LalrParts::kIgnored : static_cast<uint32_t>(symbol),
                                arena.check(node)});
    }
    if ((p.indents = indentation.has_value())) {
        auto& i = p.indentation;
        std::tie(i.newline, i.indent, i.dedent, i.opening, i.closing, i.tab) = *indentation;
    }
    return arena.lalr(p);
}

}  // namespace

void bind_compound(nb::class_<Arena>& arena) {
    arena
        .def("lalr", &make_lalr, "actions"_a, "leaves"_a, "rules"_a, "start"_a, "accept"_a, "end"_a,
             "indentation"_a = nb::none())
        .def("dfa", &make_dfa, "states"_a)
        .def("record", &make_record, "layout"_a, "slots"_a, "members"_a, "order"_a, "minimum"_a = 0,
             "maximum"_a = nb::none(),
             "counts"_a = std::vector<std::pair<uint32_t, std::optional<uint32_t>>>{},
             "excluded"_a = std::vector<std::string_view>{});
}

}  // namespace guided::bindings
