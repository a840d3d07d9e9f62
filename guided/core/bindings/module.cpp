// The module itself, and the exceptions of the core as those of guided.errors.
#include "../errors.h"
#include "bindings.h"

namespace guided::bindings {

namespace {

void translate(const std::exception_ptr& p, void*) {
    try {
        std::rethrow_exception(p);
    } catch (const LimitExceeded& e) {
        nb::object option =
            e.option.empty() ? nb::object(nb::none()) : nb::object(nb::str(e.option.c_str()));
        nb::object type = error_class("LimitError");
        nb::object value =
            type(e.what(), "limit"_a = e.limit, "value"_a = e.value, "option"_a = option);
        PyErr_SetObject(type.ptr(), value.ptr());
    } catch (const BadGrammar& e) {
        nb::object type = error_class("GrammarError");
        nb::object value = type(e.what(), "mend"_a = e.mend);
        PyErr_SetObject(type.ptr(), value.ptr());
    } catch (const BadRollback& e) {
        nb::object type = error_class("RollbackError");
        nb::object value = type(e.asked, e.accepted);
        PyErr_SetObject(type.ptr(), value.ptr());
    }
}

}  // namespace

nb::object error_class(const char* name) {
    return nb::module_::import_("guided.errors").attr(name);
}

std::string_view text_of(nb::handle data) {  // bytes, or the UTF-8 of a str
    char* p;
    Py_ssize_t n;
    if (PyBytes_Check(data.ptr())) {
        if (PyBytes_AsStringAndSize(data.ptr(), &p, &n)) throw nb::python_error();
        return {p, static_cast<size_t>(n)};
    }
    const char* q = PyUnicode_AsUTF8AndSize(data.ptr(), &n);
    if (!q) throw nb::python_error();
    return {q, static_cast<size_t>(n)};
}

nb::bytes as_bytes(std::string_view s) {
    return nb::bytes(s.data(), s.size());
}

}  // namespace guided::bindings

NB_MODULE(_core, m) {
    using namespace guided::bindings;
    m.doc() = "The C++ core: nodes, automata over tokens, masks. Users see it through `guided`.";
    nb::set_leak_warnings(false);  // caches of the package live until the interpreter ends
    nb::register_exception_translator(&translate);
    bind_arena(m);
    bind_vocabulary(m);
    bind_automaton(m);
    bind_matcher(m);
    bind_masks(m);
    bind_linear(m);
    bind_attention(m);
}
