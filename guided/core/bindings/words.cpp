#include "words.h"

namespace guided::bindings {

namespace {

std::string shape_text(const int64_t* shape, size_t dims) {
    std::string s = "(";
    for (size_t i = 0; i < dims; ++i) {
        if (i) s += ", ";
        s += std::to_string(shape[i]);
    }
    s += dims == 1 ? ",)" : ")";
    return s;
}

[[noreturn]] void wrong_shape(const char* fact, const std::string& wanted,
                              const std::string& found) {
    nb::object type = error_class("ShapeError");
    nb::object value = type(fact, "wanted"_a = wanted, "found"_a = found);
    PyErr_SetObject(type.ptr(), value.ptr());
    throw nb::python_error();
}

// A torch row that fits, asked by attributes: sharing it by DLPack costs some three microseconds,
// this a half.
bool is_plain_torch(nb::handle owner, int64_t words) {
    static PyObject* const names[] = {
        PyUnicode_InternFromString("dtype"), PyUnicode_InternFromString("is_cpu"),
        PyUnicode_InternFromString("shape"), PyUnicode_InternFromString("is_contiguous")};
    static PyObject* tensor_class = nullptr;
    static PyObject* int32 = nullptr;
    if (!tensor_class) {
        nb::dict modules = nb::borrow<nb::dict>(PyImport_GetModuleDict());
        if (!modules.contains("torch")) return false;
        nb::object torch = modules["torch"];
        if (!nb::hasattr(torch, "Tensor") || !nb::hasattr(torch, "int32")) return false;
        int32 = nb::object(torch.attr("int32")).release().ptr();
        tensor_class = nb::object(torch.attr("Tensor")).release().ptr();
    }
    if (reinterpret_cast<PyObject*>(Py_TYPE(owner.ptr())) != tensor_class) return false;
    auto get = [&](int i) { return nb::steal(PyObject_GetAttr(owner.ptr(), names[i])); };
    if (get(0).ptr() != int32 || get(1).ptr() != Py_True) return false;
    nb::object shape = get(2);
    if (!shape.is_valid() || PyTuple_Size(shape.ptr()) != 1 ||
        PyLong_AsLongLong(PyTuple_GetItem(shape.ptr(), 0)) != words)
        return false;
    nb::object contiguous = get(3);
    return contiguous.is_valid() && nb::cast<bool>(contiguous());
}

}  // namespace

Words::Words(nb::handle owner, const char* fact, size_t dims, int64_t rows, int64_t words) {
    int64_t shape[2] = {0, 0};
    int64_t whole[2] = {rows, words};
    auto refuse = [&](const std::string& found) {  // the text is made only then
        wrong_shape(fact,
                    shape_text(dims == 1 ? whole + 1 : whole, dims) +
                        " int32, CPU, writable, contiguous",
                    found);
    };
    if (PyObject_CheckBuffer(owner.ptr())) {
        if (PyObject_GetBuffer(owner.ptr(), &view_,
                               PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_STRIDES)) {
            PyErr_Clear();
            refuse("a buffer that cannot be written");
        }
        held_ = true;
        const std::string_view format = view_.format ? view_.format : "B";
        bool word = view_.itemsize == 4 &&
                    (format == "i" || format == "I" || format == "l" || format == "L");
        bool fits = word && view_.ndim == static_cast<int>(dims);
        for (int d = 0; fits && d < view_.ndim; ++d) shape[d] = view_.shape[d];
        if (!fits || shape[dims - 1] != words || (dims == 2 && shape[0] != rows) ||
            (shape[dims - 1] > 1 && view_.strides[dims - 1] != 4) || view_.strides[0] % 4 ||
            (dims == 2 && view_.strides[0] < words * 4 && rows > 1)) {
            std::vector<int64_t> found(view_.shape, view_.shape + view_.ndim);
            std::string text = shape_text(found.data(), found.size()) + " of format ";
            text += format;
            if (word && fits)
                text += ", strides in bytes " + std::to_string(view_.strides[dims - 1]);
            release();
            refuse(text);
        }
        data = static_cast<uint32_t*>(view_.buf);
        stride = dims == 2 ? view_.strides[0] / 4 : words;
        return;
    }
    if (dims == 1 && is_plain_torch(owner, words)) {
        data = reinterpret_cast<uint32_t*>(nb::cast<uintptr_t>(owner.attr("data_ptr")()));
        stride = words;
        return;
    }
    if (!nb::ndarray_check(owner))
        refuse(nb::cast<std::string>(nb::str(owner.type().attr("__name__"))));
    try {
        array_ = nb::cast<nb::ndarray<>>(owner);
    } catch (const std::exception&) {
        refuse("a tensor that cannot be shared");
    }
    auto dtype = array_.dtype();
    bool word = dtype.bits == 32 && dtype.lanes == 1 && (dtype.code == 0 || dtype.code == 1);
    for (size_t d = 0; d < std::min<size_t>(array_.ndim(), 2); ++d)
        shape[d] = static_cast<int64_t>(array_.shape(d));
    bool fits = word && array_.ndim() == dims && array_.device_type() == nb::device::cpu::value &&
                shape[dims - 1] == words && (dims == 1 || shape[0] == rows) &&
                (words <= 1 || array_.stride(dims - 1) == 1) &&
                (dims == 1 || rows <= 1 || array_.stride(0) >= words);
    if (!fits) {
        std::vector<int64_t> found;
        for (size_t d = 0; d < array_.ndim(); ++d)
            found.push_back(static_cast<int64_t>(array_.shape(d)));
        std::string text = shape_text(found.data(), found.size());
        text += word ? " int32"
                     : " of " + std::to_string(dtype.bits) + " bits, type code " +
                           std::to_string(dtype.code);
        if (array_.device_type() != nb::device::cpu::value) text += ", not on the CPU";
        if (word && array_.ndim() == dims && array_.stride(dims - 1) != 1)
            text += ", not contiguous";
        refuse(text);
    }
    data = static_cast<uint32_t*>(array_.data());
    stride = dims == 2 ? array_.stride(0) : words;
}

}  // namespace guided::bindings
