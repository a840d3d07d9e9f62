#include "../matcher.h"
#include "bindings.h"
#include "tokens.h"
#include "words.h"

namespace guided::bindings {

namespace {

constexpr uint32_t kAllowedShown = 16;

[[noreturn]] void reject(Matcher& m, int64_t token, const std::string* bytes = nullptr) {
    std::vector<uint32_t> allowed =
        m.is_terminated() ? std::vector<uint32_t>{} : m.row().list(kAllowedShown + 1);
    nb::list shown;
    for (size_t i = 0; i < std::min<size_t>(allowed.size(), kAllowedShown); ++i)
        shown.append(allowed[i]);
    Vocabulary& v = m.machine().vocabulary();
    nb::object spelling = nb::none();
    if (bytes) spelling = as_bytes(*bytes);
    else if (token >= 0 && token < v.count() && v.spells(static_cast<uint32_t>(token)))
        spelling = as_bytes(v.bytes(static_cast<uint32_t>(token)));
    nb::object type = error_class("TokenRejected");
    nb::object value = type(token, spelling, shown, allowed.size() > kAllowedShown);
    PyErr_SetObject(type.ptr(), value.ptr());
    throw nb::python_error();
}

void accept(Matcher& m, int64_t token) {
    uint32_t t = clamp_token(token);
    bool known = m.machine().known_next(m.state(), t) != kNone, accepted;
    if (known) {
        accepted = m.accept(t);
    } else {
        nb::gil_scoped_release release;
        accepted = m.accept(t);
    }
    if (!accepted) reject(m, token);
}

void fill_mask(Matcher& m, nb::handle row) {
    Vocabulary& v = m.machine().vocabulary();
    Words words(row, "the mask row does not fit", 1, 1, v.words());
    if (m.machine().knows_row(m.state())) {
        m.row().fill(words.data, v.words());
    } else {
        nb::gil_scoped_release release;
        m.row().fill(words.data, v.words());
    }
}

void accept_all(Matcher& m, nb::handle sequence) {
    std::vector<int64_t> given;
    for (nb::handle item : nb::iter(sequence)) given.push_back(token_number(item));
    std::vector<uint32_t> tokens;
    for (int64_t token : given) tokens.push_back(clamp_token(token));
    size_t done = 0;
    {
        nb::gil_scoped_release release;
        while (done < tokens.size() && m.accept(tokens[done])) ++done;
    }
    if (done == tokens.size()) return;
    // Reported as seen from where it stands, then taken back.
    try {
        reject(m, given[done]);
    } catch (...) {
        m.rollback(static_cast<int64_t>(done));
        throw;
    }
}

std::vector<int64_t> states_after(Matcher& m, nb::handle tokens, nb::handle parents) {
    Draft draft = read_draft(tokens, parents);
    std::vector<int64_t> states;
    nb::gil_scoped_release release;
    for (uint32_t state : m.states_of(draft))
        states.push_back(state == kNone ? -1 : int64_t{state});
    return states;
}

}  // namespace

void bind_matcher(nb::module_& m) {
    nb::class_<Matcher>(m, "Matcher", nb::is_weak_referenceable())
        .def(nb::init<Automaton&>(), "source"_a)
        .def(nb::init<const Matcher&>(), "source"_a)
        .def("fill_mask", &fill_mask, "row"_a.none())
        .def(
            "can_accept",
            [](Matcher& m, int64_t token) { return m.can_accept(clamp_token(token)); }, "token"_a)
        .def("accept", &accept, "token"_a)
        .def("accept_all", &accept_all, "tokens"_a)
        .def(
            "accept_bytes",
            [](Matcher& m, nb::bytes data) {
                std::string text(data.c_str(), data.size());
                if (!m.accept_bytes(text)) reject(m, Matcher::kBytes, &text);
            },
            "data"_a)
        .def(
            "accepted_prefix",
            [](Matcher& m, nb::handle tokens) {
                auto list = token_list(tokens);
                nb::gil_scoped_release release;
                return m.accepted_prefix(list);
            },
            "tokens"_a)
        .def("states_after", &states_after, "tokens"_a, "parents"_a = nb::none())
        .def("rollback", &Matcher::rollback, "count"_a)
        .def("allowed_tokens", [](Matcher& m) { return m.row().list(); })
        .def("forced_token",
             [](Matcher& m) -> std::optional<uint32_t> {
                 const Row& row = m.row();
                 return !row.base && row.tokens.size() == 1 ? std::optional(row.tokens[0])
                                                            : std::nullopt;
             })
        .def("allowed_bytes",
             [](const Matcher& m) {
                 std::string bytes;
                 m.allowed_bytes().for_each(
                     [&](uint8_t b) { bytes.push_back(static_cast<char>(b)); });
                 return as_bytes(bytes);
             })
        .def("forced_bytes", [](Matcher& m) { return as_bytes(m.forced_bytes()); })
        .def("row_id", [](Matcher& m) { return m.row().id; })
        .def_prop_ro("has_mask", &Matcher::knows_row)
        .def_prop_ro("is_complete", &Matcher::is_complete)
        .def_prop_ro("is_terminated", &Matcher::is_terminated)
        .def_prop_ro("tokens", &Matcher::tokens)
        .def("state", &Matcher::state)
        .def("describe", [](Matcher& m) { return m.machine().describe(m.state()); });
}

}  // namespace guided::bindings
