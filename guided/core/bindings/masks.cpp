#include "../apply.h"
#include "../greedy.h"
#include "../matcher.h"
#include "bindings.h"
#include "tokens.h"
#include "words.h"

namespace guided::bindings {

namespace {

std::vector<Matcher*> matcher_list(const nb::tuple& matchers) {
    std::vector<Matcher*> list;
    for (nb::handle item : matchers) {
        if (!nb::isinstance<Matcher>(item))
            throw nb::type_error("fill_masks takes a sequence of matchers");
        list.push_back(nb::cast<Matcher*>(item));
        if (list.back()->machine().vocabulary().words() != list[0]->machine().vocabulary().words())
            throw std::invalid_argument("the matchers are over vocabularies of different sizes");
    }
    return list;
}

bool fill_masks_py(nb::handle matchers, nb::handle mask, int threads, nb::handle drafts,
                   bool only_known) {
    nb::tuple held(matchers);  // keeps them, as they are used without the GIL below
    std::vector<Matcher*> list = matcher_list(held);
    std::vector<Draft> trees;
    size_t rows = list.size();
    if (!drafts.is_none()) {
        for (nb::handle item : nb::iter(drafts)) {
            nb::object pair = nb::borrow(item);
            if (!nb::isinstance<nb::tuple>(pair) || nb::len(pair) != 2)
                throw nb::type_error("a draft is a pair of tokens and parents");
            trees.push_back(read_draft(pair[0], pair[1]));
            rows += trees.back().tokens.size();
        }
        if (trees.size() != list.size())
            throw std::invalid_argument("there is a draft for each matcher, maybe an empty one");
    }
    if (list.empty()) return true;
    uint32_t words = list[0]->machine().vocabulary().words();
    Words block(mask, "the mask does not fit", 2, static_cast<int64_t>(rows), words);
    auto stride = static_cast<size_t>(block.stride);
    nb::gil_scoped_release release;
    return fill_masks(list, trees, block.data, stride, threads, only_known);
}

DType dtype_of(const std::string& name) {
    return name == "float16"    ? DType::float16
           : name == "bfloat16" ? DType::bfloat16
                                : DType::float32;
}

std::vector<int64_t> find_largest_py(uintptr_t logits, const std::string& dtype, int64_t batch,
                                     int64_t width, int64_t stride, int threads) {
    std::vector<int64_t> places(static_cast<size_t>(batch));
    nb::gil_scoped_release release;
    find_largest(reinterpret_cast<const void*>(logits), dtype_of(dtype), batch, width, stride,
                 places.data(), threads);
    return places;
}

void apply_mask_py(uintptr_t logits, const std::string& dtype, int64_t batch, int64_t width,
                   int64_t stride, uintptr_t mask, int64_t words, int64_t mask_stride,
                   int threads) {
    nb::gil_scoped_release release;
    apply_mask(reinterpret_cast<void*>(logits), dtype_of(dtype), batch, width, stride,
               reinterpret_cast<const int32_t*>(mask), words, mask_stride, threads);
}

}  // namespace

void bind_masks(nb::module_& m) {
    m.def("fill_masks", &fill_masks_py, "matchers"_a, "mask"_a, "threads"_a = 0,
          "drafts"_a = nb::none(), "only_known"_a = false);
    m.def("apply_mask_cpu", &apply_mask_py, "logits"_a, "dtype"_a, "batch"_a, "width"_a, "stride"_a,
          "mask"_a, "words"_a, "mask_stride"_a, "threads"_a);
    m.def("find_largest", &find_largest_py, "logits"_a, "dtype"_a, "batch"_a, "width"_a, "stride"_a,
          "threads"_a);
}

}  // namespace guided::bindings
