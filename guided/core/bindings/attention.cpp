#include "../layers/attention.h"

#include <nanobind/stl/map.h>

#include <map>
#include <stdexcept>
#include <string>

#include "../layers/decoder_layer.h"
#include "../layers/parallel.h"
#include "bindings.h"

namespace guided::bindings {

namespace {

using SequenceNumbers = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;

void make_plan(AttentionPlan* plan, uint32_t page_size, uint32_t sinks,
               const std::vector<SequenceNumbers>& sequences,
               const std::vector<std::pair<uint32_t, uint64_t>>& rows, uintptr_t tables,
               size_t width) {
    AttentionPlan made{page_size, sinks, {}, {}, {}, width};
    for (const auto& [first_row, count, cached, length, kept, low] : sequences) {
        made.sequences.push_back({first_row, count, cached, length, kept, low});
    }
    for (const auto& [begin, seen] : rows) made.rows.push_back({begin, seen});
    const auto* pages = reinterpret_cast<const uint32_t*>(tables);
    made.tables.assign(pages, pages + width * sequences.size());
    made.check();
    new (plan) AttentionPlan(std::move(made));
}

void check_pages(const AttentionPlan& plan, size_t pages) {
    for (uint32_t page : plan.tables) {
        if (page >= pages) throw std::out_of_range("a page is behind the last one of the layer");
    }
}

void attend_rows_py(const AttentionPlan& plan, uintptr_t query, size_t row_stride,
                    size_t head_stride, uintptr_t keys, uintptr_t values, uintptr_t key_scales,
                    uintptr_t value_scales, size_t pages, size_t heads, size_t group,
                    size_t key_size, size_t value_size, float scale, float soft_cap,
                    uintptr_t sink_logits, uintptr_t result, bool is_half, int threads) {
    if (!can_attend(key_size, value_size))
        throw std::runtime_error("this processor has no vector units for attend_rows");
    check_pages(plan, pages);
    AttentionLayer layer{};
    layer.keys = reinterpret_cast<const void*>(keys);
    layer.values = reinterpret_cast<const void*>(values);
    layer.key_scales = reinterpret_cast<const float*>(key_scales);
    layer.value_scales = reinterpret_cast<const float*>(value_scales);
    layer.heads = heads;
    layer.group = group;
    layer.key_size = key_size;
    layer.value_size = value_size;
    layer.stored = key_scales ? Stored::int8 : is_half ? Stored::bfloat16 : Stored::float32;
    layer.scale = scale;
    layer.soft_cap = soft_cap;
    layer.sink_logits = reinterpret_cast<const float*>(sink_logits);
    nb::gil_scoped_release release;
    attend_rows(plan, layer, reinterpret_cast<const void*>(query), row_stride, head_stride,
                reinterpret_cast<void*>(result), is_half, threads);
}

uintptr_t at(const std::map<std::string, uintptr_t>& addresses, const char* name) {
    const auto found = addresses.find(name);
    return found == addresses.end() ? 0 : found->second;
}

void make_layer(DecoderLayer* layer, size_t hidden, size_t inner, size_t heads, size_t group,
                size_t head_size, float epsilon, float scale, bool is_half,
                const std::map<std::string, uintptr_t>& addresses) {
    const auto pointer = [&](const char* name) {
        return reinterpret_cast<const void*>(at(addresses, name));
    };
    const auto weights = [&](const std::string& name) {
        return Weights{pointer(name.c_str()), pointer((name + "_bias").c_str())};
    };
    const DecoderLayer made{is_half ? DType::bfloat16 : DType::float32,
                            hidden,
                            inner,
                            heads,
                            group,
                            head_size,
                            epsilon,
                            scale,
                            pointer("attention_norm"),
                            pointer("network_norm"),
                            pointer("query_norm"),
                            pointer("key_norm"),
                            weights("query"),
                            weights("key"),
                            weights("value"),
                            weights("output"),
                            weights("gate"),
                            weights("up"),
                            weights("down")};
    const void* needed[] = {made.attention_norm, made.network_norm, made.query.weight,
                            made.key.weight,     made.value.weight, made.output.weight,
                            made.gate.weight,    made.up.weight,    made.down.weight};
    for (const void* address : needed) {
        if (!address) throw std::invalid_argument("a weight of the layer is not there");
    }
    if (!made.query_norm != !made.key_norm)
        throw std::invalid_argument("queries and keys are normalized both, or neither");
    new (layer) DecoderLayer(made);
}

const int64_t* check_slots(uintptr_t slots, size_t rows, size_t count) {
    const auto* places = reinterpret_cast<const int64_t*>(slots);
    for (size_t row = 0; row < rows; ++row) {
        if (places[row] < 0 || static_cast<size_t>(places[row]) >= count)
            throw std::out_of_range("a slot is behind the last one of the layer");
    }
    return places;
}

void check_runs(const DecoderLayer& layer) {
    if (!can_run_layer(layer)) throw std::runtime_error("this processor cannot run the layer");
}

void normalize_rows_py(const DecoderLayer& layer, bool is_network, uintptr_t from, size_t rows,
                       uintptr_t to, int threads) {
    check_runs(layer);
    nb::gil_scoped_release release;
    normalize_rows(layer, is_network, reinterpret_cast<const void*>(from), rows,
                   reinterpret_cast<void*>(to), threads);
}

void place_rows_py(const DecoderLayer& layer, uintptr_t query, uintptr_t key, uintptr_t value,
                   size_t rows, uintptr_t slots, uintptr_t cosines, uintptr_t sines, uintptr_t keys,
                   uintptr_t values, size_t count, int threads) {
    check_runs(layer);
    const auto* places = check_slots(slots, rows, count);
    nb::gil_scoped_release release;
    place_rows(layer, reinterpret_cast<void*>(query), reinterpret_cast<void*>(key),
               reinterpret_cast<const void*>(value), rows, places,
               reinterpret_cast<const void*>(cosines), reinterpret_cast<const void*>(sines),
               reinterpret_cast<void*>(keys), reinterpret_cast<void*>(values), threads);
}

void gate_rows_py(const DecoderLayer& layer, uintptr_t gate, uintptr_t up, size_t rows,
                  int threads) {
    check_runs(layer);
    nb::gil_scoped_release release;
    gate_rows(layer, reinterpret_cast<void*>(gate), reinterpret_cast<const void*>(up), rows,
              threads);
}

void run_layer_py(const DecoderLayer& layer, const AttentionPlan& plan, uintptr_t keys,
                  uintptr_t values, size_t pages, uintptr_t slots, uintptr_t cosines,
                  uintptr_t sines, uintptr_t hidden, uintptr_t result, int threads) {
    check_runs(layer);
    check_pages(plan, pages);
    const auto* places = check_slots(slots, plan.rows.size(), pages * plan.page_size);
    nb::gil_scoped_release release;
    run_layer(layer, plan, reinterpret_cast<void*>(keys), reinterpret_cast<void*>(values), places,
              reinterpret_cast<const void*>(cosines), reinterpret_cast<const void*>(sines),
              reinterpret_cast<const void*>(hidden), reinterpret_cast<void*>(result), threads);
}

void use_openmp_py(uintptr_t parallel, uintptr_t thread_number, uintptr_t thread_count) {
    use_openmp(reinterpret_cast<void*>(parallel), reinterpret_cast<void*>(thread_number),
               reinterpret_cast<void*>(thread_count));
}

}  // namespace

void bind_attention(nb::module_& m) {
    nb::class_<AttentionPlan>(m, "AttentionPlan")
        .def("__init__", &make_plan, "page_size"_a, "sinks"_a, "sequences"_a, "rows"_a, "tables"_a,
             "width"_a);
    m.def("can_attend", &can_attend, "key_size"_a, "value_size"_a);
    m.def("attend_rows", &attend_rows_py, "plan"_a, "query"_a, "row_stride"_a, "head_stride"_a,
          "keys"_a, "values"_a, "key_scales"_a, "value_scales"_a, "pages"_a, "heads"_a, "group"_a,
          "key_size"_a, "value_size"_a, "scale"_a, "soft_cap"_a, "sink_logits"_a, "result"_a,
          "is_half"_a, "threads"_a);
    nb::class_<DecoderLayer>(m, "DecoderLayer")
        .def("__init__", &make_layer, "hidden"_a, "inner"_a, "heads"_a, "group"_a, "head_size"_a,
             "epsilon"_a, "scale"_a, "is_half"_a, "addresses"_a)
        .def_prop_ro("can_run", &can_run_layer);
    m.def("run_layer", &run_layer_py, "layer"_a, "plan"_a, "keys"_a, "values"_a, "pages"_a,
          "slots"_a, "cosines"_a, "sines"_a, "hidden"_a, "result"_a, "threads"_a);
    m.def("normalize_rows", &normalize_rows_py, "layer"_a, "is_network"_a, "source"_a, "rows"_a,
          "target"_a, "threads"_a);
    m.def("place_rows", &place_rows_py, "layer"_a, "query"_a, "key"_a, "value"_a, "rows"_a,
          "slots"_a, "cosines"_a, "sines"_a, "keys"_a, "values"_a, "count"_a, "threads"_a);
    m.def("gate_rows", &gate_rows_py, "layer"_a, "gate"_a, "up"_a, "rows"_a, "threads"_a);
    m.def("use_openmp", &use_openmp_py, "parallel"_a, "thread_number"_a, "thread_count"_a);
}

}  // namespace guided::bindings
