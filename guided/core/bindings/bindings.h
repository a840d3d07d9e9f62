// The Python face of the core, as `_core.pyi` describes it: what its files share.
//
// - module.cpp: the module, and the exceptions of the core as those of guided.errors.
// - arena.cpp: grammar nodes; compound.cpp: those made of many parts; describe.cpp: told apart.
// - vocabulary.cpp: the tokens of a model.
// - automaton.cpp: a grammar over a vocabulary, and its file.
// - matcher.cpp: one sequence under an automaton; tokens.cpp: lists of tokens and drafts.
// - masks.cpp: the masks of a batch; words.cpp: the memory of torch or numpy they are written to.
// - linear.cpp, attention.cpp: layers of a network on the CPU, and the threads they run in.
//
// Calls that may be long let go of the GIL; those that are a table look-up keep it, since letting
// go costs as much as they do. All of it keeps to the limited API of Python 3.12, so that one wheel
// serves every later version: no macro that reads the inside of a list or a tuple.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <string_view>

#include "../arena.h"

namespace guided::bindings {

namespace nb = nanobind;
using namespace nb::literals;

void bind_arena(nb::module_& m);
void bind_vocabulary(nb::module_& m);
void bind_automaton(nb::module_& m);
void bind_matcher(nb::module_& m);
void bind_masks(nb::module_& m);
void bind_linear(nb::module_& m);
void bind_attention(nb::module_& m);

// The methods of Arena that compound.cpp and describe.cpp add.
void bind_compound(nb::class_<Arena>& arena);
nb::tuple describe_node(const Arena& arena, uint32_t id);

nb::object error_class(const char* name);   // of guided.errors
std::string_view text_of(nb::handle data);  // bytes, or the UTF-8 of a str; as long as `data` lives
nb::bytes as_bytes(std::string_view s);

}  // namespace guided::bindings
