// Grammar nodes, made from Python.
#include "../hostnames.h"
#include "../terminals.h"
#include "bindings.h"

namespace guided::bindings {

namespace {

std::vector<uint32_t> node_list(nb::handle sequence) {
    std::vector<uint32_t> nodes;
    if (PyList_Check(sequence.ptr())) {
        Py_ssize_t n = PyList_Size(sequence.ptr());
        nodes.reserve(static_cast<size_t>(n));
        for (Py_ssize_t i = 0; i < n; ++i)
            nodes.push_back(nb::cast<uint32_t>(nb::handle(PyList_GetItem(sequence.ptr(), i))));
        return nodes;
    }
    for (nb::handle item : nb::iter(sequence)) nodes.push_back(nb::cast<uint32_t>(item));
    return nodes;
}

uint32_t regular(const Arena& arena, uint32_t node) {
    if (!arena[arena.check(node)].regular)
        throw std::invalid_argument("the node is not regular: it holds a rule, token or lexeme");
    return node;
}

}  // namespace

void bind_arena(nb::module_& m) {
    nb::class_<Arena> arena(m, "Arena", nb::is_weak_referenceable());
    arena.def(nb::init<uint32_t>(), "max_nodes"_a = 2'000'000)
        .def("clone", &Arena::clone)
        .def("__len__", &Arena::size)
        .def(
            "literal", [](Arena& a, nb::handle data) { return a.literal(text_of(data)); }, "data"_a)
        .def(
            "char_class",
            [](Arena& a, const std::vector<CodeRange>& ranges) { return a.char_class(ranges); },
            "ranges"_a)
        .def(
            "sequence", [](Arena& a, nb::handle nodes) { return a.sequence(node_list(nodes)); },
            "nodes"_a)
        .def(
            "choice", [](Arena& a, nb::handle nodes) { return a.choice(node_list(nodes)); },
            "nodes"_a)
        .def(
            "repeat",
            [](Arena& a, uint32_t node, uint32_t minimum, std::optional<uint32_t> maximum) {
                return a.repeat(node, minimum, maximum ? *maximum : kNone);
            },
            "node"_a, "minimum"_a = 0, "maximum"_a = nb::none())
        .def(
            "rule", [](Arena& a, std::string name) { return a.rule(std::move(name)); }, "name"_a)
        .def("define", &Arena::define, "rule"_a, "body"_a)
        .def("both", &Arena::both, "a"_a, "b"_a)
        .def("minus", &Arena::minus, "a"_a, "b"_a)
        .def(
            "negation", [](Arena& a, uint32_t node) { return a.negation(regular(a, node)); }, "a"_a)
        .def("any_text", &Arena::any_text)
        .def(
            "token",
            [](Arena& a, nb::handle ids, bool negated) { return a.token(node_list(ids), negated); },
            "ids"_a, "negated"_a = false)
        .def("lexeme", &Arena::lexeme, "body"_a, "longer"_a)
        .def(
            "capture",
            [](Arena& a, std::string name, uint32_t node) {
                return a.capture(std::move(name), node);
            },
            "name"_a, "node"_a)
        .def("part", &Arena::part, "node"_a)
        .def("hostname", &Arena::hostname, "longest"_a = Hostnames::kLongest, "escaped"_a = false)
        .def(
            "set_origin",
            [](Arena& a, uint32_t node, std::string place) {
                a.set_origin(node, std::move(place));
            },
            "node"_a, "place"_a)
        .def(
            "origin",
            [](const Arena& a, uint32_t node) -> std::optional<std::string> {
                auto* place = a.origin(a.check(node));
                return place ? std::optional(*place) : std::nullopt;
            },
            "node"_a)
        .def(
            "is_regular", [](const Arena& a, uint32_t node) { return a[a.check(node)].regular; },
            "node"_a)
        .def(
            "is_operand",
            [](const Arena& a, uint32_t node) { return a[a.check(node)].is_operand(); }, "node"_a)
        .def(
            "is_nullable",
            [](const Arena& a, uint32_t node) { return a[regular(a, node)].nullable; }, "node"_a)
        .def(
            "is_void",
            [](const Arena& a, uint32_t node) {
                if (a.plainly_matches(regular(a, node))) return false;
                nb::gil_scoped_release release;
                Budget budget;
                return Terminal(a, node).is_void();
            },
            "node"_a)
        .def(
            "matches",
            [](const Arena& a, uint32_t node, nb::handle data) {
                Budget budget;
                return Terminal(a, regular(a, node)).matches(text_of(data));
            },
            "node"_a, "data"_a)
        .def(
            "shortest",
            [](const Arena& a, uint32_t node) -> std::optional<nb::bytes> {
                std::string text;
                bool found;
                regular(a, node);
                {
                    nb::gil_scoped_release release;
                    Budget budget;
                    found = Terminal(a, node).shortest(text);
                }
                return found ? std::optional(as_bytes(text)) : std::nullopt;
            },
            "node"_a)
        .def("node", &describe_node, "node"_a);
    bind_compound(arena);
}

}  // namespace guided::bindings
