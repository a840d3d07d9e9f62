#include <cstdio>

#include "../vocabulary.h"
#include "bindings.h"

namespace guided::bindings {

namespace {

void make_vocabulary(Vocabulary* self, nb::handle tokens, std::vector<uint32_t> eos,
                     std::optional<uint32_t> size) {
    std::vector<std::optional<std::string_view>> list;
    nb::object fast =
        nb::steal(PySequence_Fast(tokens.ptr(), "tokens must be a sequence of bytes or None"));
    if (!fast.is_valid()) throw nb::python_error();
    nb::tuple held(fast);  // keeps the bytes, which are read without the GIL below
    list.reserve(held.size());
    for (nb::handle item : held) {
        if (item.is_none()) list.push_back(std::nullopt);
        else list.push_back(text_of(item));
    }
    uint32_t width = size ? *size : static_cast<uint32_t>(list.size());
    nb::gil_scoped_release release;
    new (self) Vocabulary(list, std::move(eos), width);
}

}  // namespace

void bind_vocabulary(nb::module_& m) {
    nb::class_<Vocabulary>(m, "Vocabulary", nb::is_weak_referenceable())
        .def("__init__", &make_vocabulary, "tokens"_a, "eos"_a, "size"_a = nb::none())
        .def_prop_ro("size", &Vocabulary::size)
        .def_prop_ro("words", &Vocabulary::words)
        .def_prop_ro("eos", &Vocabulary::eos)
        .def_prop_ro("fingerprint",
                     [](const Vocabulary& v) {
                         char text[33];
                         std::snprintf(text, sizeof text, "%016llx%016llx",
                                       static_cast<unsigned long long>(v.fingerprint().high),
                                       static_cast<unsigned long long>(v.fingerprint().low));
                         return std::string(text);
                     })
        .def(
            "token_bytes",
            [](const Vocabulary& v, int64_t token) -> std::optional<nb::bytes> {
                if (token < 0 || token >= v.size()) throw nb::index_error("no such token");
                auto t = static_cast<uint32_t>(token);
                return v.spells(t) ? std::optional(as_bytes(v.bytes(t))) : std::nullopt;
            },
            "token"_a)
        .def("missing_bytes",
             [](const Vocabulary& v) {
                 std::string missing;
                 for (unsigned b = 0; b < 256; ++b) {
                     uint32_t child = v.trie().child(Trie::kRoot, static_cast<uint8_t>(b));
                     if (child == kNone || v.trie()[child].token_count == 0)
                         missing.push_back(static_cast<char>(b));
                 }
                 return as_bytes(missing);
             })
        .def("stats", [](Vocabulary& v) {
            nb::dict d;
            d["trie_nodes"] = v.trie().size();
            d["rows"] = v.rows().size();
            d["row_bytes"] = v.rows().bytes();
            d["terminals"] = v.terminal_count();
            d["terminal_bytes"] = v.terminal_bytes();
            return d;
        });
}

}  // namespace guided::bindings
