#include "../layers/linear.h"

#include "bindings.h"

namespace guided::bindings {

namespace {

void multiply_rows_py(uintptr_t rows, size_t count, size_t in, uintptr_t weight, size_t out,
                      uintptr_t bias, uintptr_t result, bool is_half, int threads) {
    if (!can_multiply_rows())
        throw std::runtime_error("this processor has no vector units for multiply_rows");
    const Product product{reinterpret_cast<const void*>(weight), out,
                          reinterpret_cast<const void*>(bias), reinterpret_cast<void*>(result)};
    nb::gil_scoped_release release;
    multiply_rows(reinterpret_cast<const void*>(rows), count, in, {&product, 1},
                  is_half ? DType::bfloat16 : DType::float32, threads);
}

}  // namespace

void bind_linear(nb::module_& m) {
    m.def("can_multiply_rows", &can_multiply_rows);
    m.def("multiply_rows", &multiply_rows_py, "rows"_a, "count"_a, "size_in"_a, "weight"_a,
          "size_out"_a, "bias"_a, "result"_a, "is_half"_a, "threads"_a);
}

}  // namespace guided::bindings
