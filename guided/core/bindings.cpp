// The Python face of the core, as `_core.pyi` describes it.
//
// Calls that may be long let go of the GIL; those that are a table look-up keep it, since letting
// go costs as much as they do.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "apply.h"
#include "arena.h"
#include "automaton.h"
#include "errors.h"
#include "lalr.h"
#include "matcher.h"
#include "record.h"
#include "vocabulary.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace guided;

namespace {

constexpr uint32_t kAllowedShown = 16;

nb::object error_class(const char* name) {
    return nb::module_::import_("guided.errors").attr(name);
}

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

std::vector<uint32_t> node_list(nb::handle sequence) {
    std::vector<uint32_t> nodes;
    if (PyList_Check(sequence.ptr())) {
        Py_ssize_t n = PyList_GET_SIZE(sequence.ptr());
        nodes.reserve(static_cast<size_t>(n));
        for (Py_ssize_t i = 0; i < n; ++i)
            nodes.push_back(nb::cast<uint32_t>(nb::handle(PyList_GET_ITEM(sequence.ptr(), i))));
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

nb::tuple describe_dfa(std::span<const uint32_t> words) {
    nb::list states;
    for (size_t at = 0; at < words.size(); at += 2 + 2 * words[at + 1]) {
        nb::list edges;
        for (size_t k = at + 2; k < at + 2 + 2 * words[at + 1]; k += 2)
            edges.append(nb::make_tuple(words[k] >> 8, words[k] & 0xff, words[k + 1]));
        states.append(nb::make_tuple(words[at] != 0, edges));
    }
    return nb::make_tuple("dfa", states);
}

nb::object number_or_none(uint32_t n) {
    return n == kNone ? nb::object(nb::none()) : nb::object(nb::int_(n));
}

nb::tuple describe_record(const Arena& arena, uint32_t id) {
    RecordParts p = take_apart(arena, id);
    nb::list slots, members, counts, excluded;
    for (const auto& s : p.slots) {
        nb::list owes;
        for (uint32_t other : s.owes) owes.append(other);
        slots.append(nb::make_tuple(s.required, s.many, owes));
    }
    for (const auto& m : p.members) {
        nb::list variants;
        for (auto v : m.variants) variants.append(nb::make_tuple(v.bits, v.node));
        nb::object name =
            m.named ? nb::object(nb::str(m.name.data(), m.name.size())) : nb::object(nb::none());
        members.append(nb::make_tuple(m.slot, m.key, name, m.recorded, variants));
    }
    for (auto c : p.counts) counts.append(nb::make_tuple(c.minimum, number_or_none(c.maximum)));
    for (const auto& text : p.excluded) excluded.append(nb::str(text.data(), text.size()));
    constexpr const char* orders[] = {"each", "later", "any"};
    return nb::make_tuple("record", nb::make_tuple(p.begin, p.first, p.between, p.end, p.empty),
                          slots, members, orders[p.order], p.minimum, number_or_none(p.maximum),
                          counts, excluded);
}

using SlotOf = std::tuple<bool, bool, std::vector<uint32_t>>;
using MemberOf = std::tuple<uint32_t, uint32_t, std::optional<std::string_view>, bool,
                            std::vector<std::pair<uint32_t, uint32_t>>>;

uint32_t make_record(Arena& arena, const std::array<uint32_t, 5>& layout,
                     const std::vector<SlotOf>& slots, const std::vector<MemberOf>& members,
                     std::string_view order, uint32_t minimum, std::optional<uint32_t> maximum,
                     const std::vector<std::pair<uint32_t, std::optional<uint32_t>>>& counts,
                     const std::vector<std::string_view>& excluded) {
    RecordParts p;
    p.begin = layout[0];
    p.first = layout[1];
    p.between = layout[2];
    p.end = layout[3];
    p.empty = layout[4];
    if (order != "each" && order != "later" && order != "any")
        throw std::invalid_argument("order must be \"each\", \"later\" or \"any\"");
    p.order = order == "each"    ? RecordParts::kEach
              : order == "later" ? RecordParts::kLater
                                 : RecordParts::kAny;
    p.minimum = minimum;
    if (maximum) p.maximum = *maximum;
    if (counts.size() > 16) throw std::invalid_argument("a record has at most 16 counts");
    for (auto [low, high] : counts) p.counts.push_back({low, high ? *high : kNone});
    for (const auto& [required, many, owes] : slots) p.slots.push_back({required, many, owes});
    for (const auto& [slot, key, name, recorded, variants] : members) {
        auto& m = p.members.emplace_back();
        m.slot = slot;
        m.key = key;
        m.recorded = recorded;
        if ((m.named = name.has_value())) m.name = *name;
        for (auto [bits, node] : variants) m.variants.push_back({bits, node});
    }
    for (auto text : excluded) p.excluded.emplace_back(text);
    return arena.record(p);
}

uint32_t
make_dfa(Arena& arena,
         const std::vector<std::pair<bool, std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>>>&
             given) {
    std::vector<DfaState> states(given.size());
    for (size_t i = 0; i < given.size(); ++i) {
        states[i].accepting = given[i].first;
        for (auto [low, high, target] : given[i].second) {
            if (low > 255 || high > 255)
                throw std::invalid_argument("an edge of an automaton is a range of bytes");
            states[i].edges.push_back(
                {static_cast<uint8_t>(low), static_cast<uint8_t>(high), target});
        }
    }
    return arena.dfa(std::move(states));
}

using LalrIndentation = std::tuple<uint32_t, uint32_t, uint32_t, std::vector<uint32_t>,
                                   std::vector<uint32_t>, uint32_t>;

uint32_t
make_lalr(Arena& arena,
          const std::vector<std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>>& actions,
          const std::vector<std::vector<std::pair<int64_t, uint32_t>>>& leaves,
          const std::vector<std::pair<uint32_t, uint32_t>>& rules, uint32_t start, uint32_t accept,
          uint32_t end, const std::optional<LalrIndentation>& indentation) {
    if (actions.size() != leaves.size())
        throw std::invalid_argument("a parser has actions and leaves for each state");
    LalrParts p;
    p.start = start, p.accept = accept, p.end = end;
    for (auto [symbol, length] : rules) p.rules.push_back({symbol, length});
    p.states.resize(actions.size());
    for (size_t i = 0; i < actions.size(); ++i) {
        auto& s = p.states[i];
        for (auto [symbol, kind, target] : actions[i]) {
            if (kind > 1) throw std::invalid_argument("an action shifts (0) or reduces (1)");
            s.actions.push_back({symbol, kind == 1, target});
        }
        std::sort(s.actions.begin(), s.actions.end(),
                  [](const auto& a, const auto& b) { return a.symbol < b.symbol; });
        for (auto [symbol, node] : leaves[i])
            s.leaves.push_back({symbol < 0 ? LalrParts::kIgnored : static_cast<uint32_t>(symbol),
                                arena.check(node)});
    }
    if ((p.indents = indentation.has_value())) {
        auto& i = p.indentation;
        std::tie(i.newline, i.indent, i.dedent, i.opening, i.closing, i.tab) = *indentation;
    }
    return arena.lalr(p);
}

nb::tuple describe_node(const Arena& arena, uint32_t id) {
    const Arena::Node& n = arena[arena.check(id)];
    auto maximum = [](uint32_t m) {
        return m == kNone ? nb::object(nb::none()) : nb::object(nb::int_(m));
    };
    switch (n.kind) {
        case Kind::kEmpty: return nb::make_tuple("empty");
        case Kind::kNever: return nb::make_tuple("never");
        case Kind::kLiteral: return nb::make_tuple("literal", as_bytes(arena.bytes(n)));
        case Kind::kClass: {
            nb::list ranges;
            for (auto [low, high] : arena.ranges(n)) ranges.append(nb::make_tuple(low, high));
            return nb::make_tuple("class", ranges);
        }
        case Kind::kSequence: return nb::make_tuple("sequence", n.a, n.b);
        case Kind::kChoice: {
            nb::list options;
            for (uint32_t child : arena.children(n)) options.append(child);
            return nb::make_tuple("choice", options);
        }
        case Kind::kRepeat: return nb::make_tuple("repeat", n.a, n.b, maximum(n.c));
        case Kind::kRule:
            return nb::make_tuple("rule", arena.rules()[n.a].name,
                                  maximum(arena.rules()[n.a].body));
        case Kind::kBoth: return nb::make_tuple("both", n.a, n.b);
        case Kind::kMinus: return nb::make_tuple("minus", n.a, n.b);
        case Kind::kToken: {
            nb::list ids;
            for (uint32_t t : arena.ids(n)) ids.append(t);
            return nb::make_tuple("token", ids, n.c != 0);
        }
        case Kind::kLexeme: return nb::make_tuple("lexeme", n.a, n.b);
        case Kind::kCapture: return nb::make_tuple("capture", arena.name(n), n.b);
        case Kind::kPart: return nb::make_tuple("part", n.a);
        case Kind::kDfa: return describe_dfa(arena.words(n));
        case Kind::kRecord: return describe_record(arena, id);
        case Kind::kLalr: return nb::make_tuple("lalr");
        default: return nb::make_tuple("nonempty", n.a);
    }
}

// ---- mask buffers ----

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
        PyLong_AsLongLong(PyTuple_GET_ITEM(shape.ptr(), 0)) != words)
        return false;
    nb::object contiguous = get(3);
    return contiguous.is_valid() && nb::cast<bool>(contiguous());
}

// A writable block of 32-bit words, borrowed from numpy (buffer protocol) or torch (DLPack) for the
// time of a call.
class Words {
  public:
    Words(nb::handle owner, const char* fact, size_t dims, int64_t rows, int64_t words) {
        int64_t shape[2] = {0, 0};
        int64_t whole[2] = {rows, words};
        std::string wanted = shape_text(dims == 1 ? whole + 1 : whole, dims);
        wanted += " int32, CPU, writable, contiguous";
        if (PyObject_CheckBuffer(owner.ptr())) {
            if (PyObject_GetBuffer(owner.ptr(), &view_,
                                   PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_STRIDES)) {
                PyErr_Clear();
                wrong_shape(fact, wanted, "a buffer that cannot be written");
            }
            held_ = true;
            std::string format = view_.format ? view_.format : "B";
            bool word = view_.itemsize == 4 &&
                        (format == "i" || format == "I" || format == "l" || format == "L");
            bool fits = word && view_.ndim == static_cast<int>(dims);
            for (int d = 0; fits && d < view_.ndim; ++d) shape[d] = view_.shape[d];
            if (!fits || shape[dims - 1] != words || (dims == 2 && shape[0] != rows) ||
                (shape[dims - 1] > 1 && view_.strides[dims - 1] != 4) || view_.strides[0] % 4 ||
                (dims == 2 && view_.strides[0] < words * 4 && rows > 1)) {
                std::vector<int64_t> found(view_.shape, view_.shape + view_.ndim);
                std::string text = shape_text(found.data(), found.size()) + " of format " + format;
                if (word && fits)
                    text += ", strides in bytes " + std::to_string(view_.strides[dims - 1]);
                release();
                wrong_shape(fact, wanted, text);
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
            wrong_shape(fact, wanted,
                        nb::cast<std::string>(nb::str(owner.type().attr("__name__"))));
        try {
            array_ = nb::cast<nb::ndarray<>>(owner);
        } catch (const std::exception&) {
            wrong_shape(fact, wanted, "a tensor that cannot be shared");
        }
        auto dtype = array_.dtype();
        bool word = dtype.bits == 32 && dtype.lanes == 1 && (dtype.code == 0 || dtype.code == 1);
        for (size_t d = 0; d < std::min<size_t>(array_.ndim(), 2); ++d)
            shape[d] = static_cast<int64_t>(array_.shape(d));
        bool fits = word && array_.ndim() == dims &&
                    array_.device_type() == nb::device::cpu::value && shape[dims - 1] == words &&
                    (dims == 1 || shape[0] == rows) &&
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
            wrong_shape(fact, wanted, text);
        }
        data = static_cast<uint32_t*>(array_.data());
        stride = dims == 2 ? array_.stride(0) : words;
    }
    Words(const Words&) = delete;
    ~Words() { release(); }

    uint32_t* data = nullptr;
    int64_t stride = 0;

  private:
    void release() {
        if (held_) PyBuffer_Release(&view_);
        held_ = false;
    }
    bool held_ = false;
    Py_buffer view_{};
    nb::ndarray<> array_;
};

// ---- matcher calls ----

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

uint32_t clamp_token(int64_t token) {  // one that no vocabulary has is simply never allowed
    return token < 0 || token >= kNone ? kNone - 1 : static_cast<uint32_t>(token);
}

int64_t token_number(nb::handle item) {
    int64_t token;
    if (!nb::try_cast<int64_t>(item, token)) throw nb::type_error("a token is an int");
    return token;
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

std::vector<uint32_t> token_list(nb::handle sequence) {
    std::vector<uint32_t> tokens;
    for (nb::handle item : nb::iter(sequence)) tokens.push_back(clamp_token(token_number(item)));
    return tokens;
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

Draft read_draft(nb::handle tokens, nb::handle parents) {
    Draft draft{token_list(tokens), {}};
    int64_t last = -1;
    if (parents.is_none())
        while (draft.parents.size() < draft.tokens.size()) draft.parents.push_back(last++);
    else
        for (nb::handle item : nb::iter(parents)) {
            int64_t parent;
            if (!nb::try_cast<int64_t>(item, parent)) throw nb::type_error("a parent is an int");
            if (parent < -1 || parent > last++)
                throw std::invalid_argument("a parent is -1 or the place of a token before it");
            draft.parents.push_back(parent);
        }
    if (draft.parents.size() != draft.tokens.size())
        throw std::invalid_argument("a draft has a parent for each of its tokens");
    return draft;
}

std::vector<int64_t> states_after(Matcher& m, nb::handle tokens, nb::handle parents) {
    Draft draft = read_draft(tokens, parents);
    std::vector<int64_t> states;
    nb::gil_scoped_release release;
    for (uint32_t state : m.states_of(draft))
        states.push_back(state == kNone ? -1 : int64_t{state});
    return states;
}

std::vector<Matcher*> matcher_list(nb::handle matchers) {
    std::vector<Matcher*> list;
    for (nb::handle item : nb::iter(matchers)) {
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
    std::vector<Matcher*> list = matcher_list(matchers);
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

void apply_mask_py(uintptr_t logits, const std::string& dtype, int64_t batch, int64_t width,
                   int64_t stride, uintptr_t mask, int64_t words, int64_t mask_stride,
                   int threads) {
    DType type = dtype == "float16"    ? DType::float16
                 : dtype == "bfloat16" ? DType::bfloat16
                                       : DType::float32;
    nb::gil_scoped_release release;
    apply_mask(reinterpret_cast<void*>(logits), type, batch, width, stride,
               reinterpret_cast<const int32_t*>(mask), words, mask_stride, threads);
}

void make_vocabulary(Vocabulary* self, nb::handle tokens, std::vector<uint32_t> eos,
                     std::optional<uint32_t> size) {
    std::vector<std::optional<std::string_view>> list;
    nb::object fast =
        nb::steal(PySequence_Fast(tokens.ptr(), "tokens must be a sequence of bytes or None"));
    if (!fast.is_valid()) throw nb::python_error();
    Py_ssize_t n = PySequence_Fast_GET_SIZE(fast.ptr());
    list.reserve(static_cast<size_t>(n));
    for (Py_ssize_t i = 0; i < n; ++i) {
        nb::handle item = PySequence_Fast_GET_ITEM(fast.ptr(), i);
        if (item.is_none()) list.push_back(std::nullopt);
        else list.push_back(text_of(item));
    }
    uint32_t width = size ? *size : static_cast<uint32_t>(list.size());
    nb::gil_scoped_release release;
    new (self) Vocabulary(list, std::move(eos), width);
}

void bind_arena(nb::module_& m) {
    nb::class_<Arena>(m, "Arena", nb::is_weak_referenceable())
        .def(nb::init<uint32_t>(), "max_nodes"_a = 2'000'000)
        .def("clone", [](const Arena& a) { return Arena(a); })
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
        .def("lalr", &make_lalr, "actions"_a, "leaves"_a, "rules"_a, "start"_a, "accept"_a, "end"_a,
             "indentation"_a = nb::none())
        .def(
            "capture",
            [](Arena& a, std::string name, uint32_t node) {
                return a.capture(std::move(name), node);
            },
            "name"_a, "node"_a)
        .def("part", &Arena::part, "node"_a)
        .def("dfa", &make_dfa, "states"_a)
        .def("record", &make_record, "layout"_a, "slots"_a, "members"_a, "order"_a, "minimum"_a = 0,
             "maximum"_a = nb::none(),
             "counts"_a = std::vector<std::pair<uint32_t, std::optional<uint32_t>>>{},
             "excluded"_a = std::vector<std::string_view>{})
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
            "is_nullable",
            [](const Arena& a, uint32_t node) { return a[regular(a, node)].nullable; }, "node"_a)
        .def(
            "is_void",
            [](const Arena& a, uint32_t node) {
                regular(a, node);
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
}

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

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The C++ core: nodes, automata over tokens, masks. Users see it through `guided`.";
    nb::set_leak_warnings(false);  // caches of the package live until the interpreter ends
    nb::register_exception_translator(&translate);
    bind_arena(m);
    bind_vocabulary(m);
    bind_automaton(m);
    bind_matcher(m);
    m.def("fill_masks", &fill_masks_py, "matchers"_a, "mask"_a, "threads"_a = 0,
          "drafts"_a = nb::none(), "only_known"_a = false);
    m.def("apply_mask_cpu", &apply_mask_py, "logits"_a, "dtype"_a, "batch"_a, "width"_a, "stride"_a,
          "mask"_a, "words"_a, "mask_stride"_a, "threads"_a);
}
