#include <cstdio>
#include <fstream>
#include <sstream>

#include "../automaton.h"
#include "bindings.h"

namespace guided::bindings {

namespace {

nb::dict stats_of(Automaton& a) {
    auto s = a.machine()->stats();
    nb::dict d;
    d["states"] = s.states;
    d["masks"] = s.rows;
    d["transitions"] = s.transitions;
    d["continuations"] = s.continuations;
    d["heads_max"] = s.heads_max;
    d["bytes"] = s.bytes;
    return d;
}

void save_automaton(Automaton& a, const std::string& path) {
    std::string data;
    bool written;
    {
        nb::gil_scoped_release release;
        data = a.save();
        std::string part =
            path + ".part";  // complete or absent: never half a file under the final name
        {
            std::ofstream out(part, std::ios::binary);
            out.write(data.data(), static_cast<std::streamsize>(data.size()));
            written = static_cast<bool>(out.flush());
        }
        written = written && std::rename(part.c_str(), path.c_str()) == 0;
    }
    if (!written) {
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
        throw nb::python_error();
    }
}

std::unique_ptr<Automaton> load_automaton(const std::string& path,
                                          std::shared_ptr<Vocabulary> vocabulary) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        PyErr_SetFromErrnoWithFilename(PyExc_FileNotFoundError, path.c_str());
        throw nb::python_error();
    }
    std::stringstream data;
    data << in.rdbuf();
    return Automaton::load(data.str(), std::move(vocabulary));
}

}  // namespace

void bind_automaton(nb::module_& m) {
    nb::class_<Automaton>(m, "Automaton", nb::is_weak_referenceable())
        .def(
            "__init__",
            [](Automaton* self, const Arena& arena, uint32_t start,
               std::shared_ptr<Vocabulary> vocabulary, uint32_t max_heads, size_t max_bytes) {
                Arena copy(arena);
                nb::gil_scoped_release release;
                new (self) Automaton(std::move(copy), start, std::move(vocabulary),
                                     {max_heads, max_bytes});
            },
            "arena"_a, "start"_a, "vocabulary"_a, nb::kw_only(), "max_heads"_a = 10'000,
            "max_bytes"_a = size_t{1} << 30)
        .def_prop_ro("vocabulary", [](Automaton& a) { return a.vocabulary(); })
        .def(
            "precompute",
            [](Automaton& a, std::optional<uint32_t> max_states) {
                nb::gil_scoped_release release;
                return a.machine()->precompute(max_states ? *max_states : kNone);
            },
            "max_states"_a = nb::none())
        .def("save", &save_automaton, "path"_a)
        .def_static("load", &load_automaton, "path"_a, "vocabulary"_a)
        .def("stats", &stats_of);
}

}  // namespace guided::bindings
