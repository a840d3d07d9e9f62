#include "terminals.h"

#include <algorithm>

#include "errors.h"
#include "tables.h"

namespace guided {

namespace {
constexpr uint32_t kMaxStates = 1u << 18;  // of one terminal
constexpr uint32_t kMaxSearch = 1u << 18;  // product states looked at for one answer
constexpr size_t kBreadth = 4096;          // of them, breadth first
constexpr uint32_t kMaxHeads = 20'000;

bool is_product(Kind kind) {
    return kind == Kind::kBoth || kind == Kind::kMinus || kind == Kind::kLexeme;
}
}  // namespace

class Terminal::Machine : public Expander {
  public:
    explicit Machine(Terminal& t)
        : Expander(t.arena_, t.nullable_, t.productive_, {}, kMaxHeads), terminal_(t) {}

  protected:
    bool is_leaf(uint32_t node) override {
        switch (arena_[node].kind) {
            case Kind::kLiteral:
            case Kind::kClass:
            case Kind::kDfa:
            case Kind::kHostname:
            case Kind::kBoth:
            case Kind::kLexeme:
            case Kind::kMinus: return true;
            default: return false;
        }
    }
    Head leaf_head(uint32_t node) override {
        Head h{.node = node};
        switch (arena_[node].kind) {
            case Kind::kClass: h.state = terminal_.class_start_.at(node); break;
            case Kind::kBoth:
            case Kind::kLexeme:
            case Kind::kMinus: h.state = h.other = kStart; break;
            default: break;
        }
        return h;
    }

  private:
    Terminal& terminal_;
};

// What is known of product states: can anything be matched from them that is not empty?
struct Terminal::Products {
    SequenceTable keys;           // node, a, b
    std::vector<int8_t> extends;  // -1 unknown
    uint32_t id(uint32_t node, uint32_t a, uint32_t b) {
        uint32_t words[] = {node, a, b};
        uint32_t id = keys.intern(words, 3);
        if (id >= extends.size()) extends.resize(id + 1, -1);
        return id;
    }
};

Terminal::Terminal(const Arena& from, uint32_t node)
    : arena_(kNone), root_(arena_.import(from, node)) {
    nullable_.resize(arena_.size());
    productive_.assign(arena_.size(), 1);
    productive_[Arena::kNeverNode] = 0;
    for (uint32_t id = 0; id < arena_.size(); ++id) {
        const Arena::Node& n = arena_[id];
        nullable_[id] = n.nullable;
        if (n.kind == Kind::kClass) class_start_[id] = utf8_.start(arena_.ranges(n));
        if (n.kind == Kind::kDfa) {
            auto words = arena_.words(n);
            auto& offsets = dfa_offsets_[id];
            for (uint32_t at = 0; at < words.size(); at += 2 + 2 * words[at + 1])
                offsets.push_back(at);
        }
        vast_ |= n.kind == Kind::kHostname;
        if (!is_product(n.kind)) continue;
        for (uint32_t operand : {n.a, n.b})
            if (!operands_.contains(operand))
                operands_[operand].reset(new Terminal(arena_, operand));
    }
    uint32_t packed[Hostnames::kMaxWords];
    auto start_of_name = Hostnames::pack({}, packed);
    hostnames_.intern(start_of_name.data(), start_of_name.size());
    origins_.resize(2);  // of the dead state and the start
    products_ = std::make_unique<Products>();
    find_byte_classes();
    // A product that cannot match, and all that needs it, is as if it were not there.
    for (uint32_t id = 0; id < arena_.size(); ++id) {
        const Arena::Node& n = arena_[id];
        switch (n.kind) {
            case Kind::kBoth:
            case Kind::kLexeme:
            case Kind::kMinus:
                productive_[id] = n.nullable || product_extends(id, kStart, kStart);
                break;
            case Kind::kSequence: productive_[id] = productive_[n.a] && productive_[n.b]; break;
            case Kind::kChoice:
                productive_[id] = 0;
                for (uint32_t child : arena_.children(n)) productive_[id] |= productive_[child];
                break;
            case Kind::kRepeat: productive_[id] = n.nullable || productive_[n.a]; break;
            default: break;
        }
    }
    machine_ = std::make_unique<Machine>(*this);
    std::vector<Head> heads;
    intern(heads, false, kDead);  // kDead
    bool complete = false;
    uint32_t cont = machine_->frame(root_, Continuations::kEnd);
    machine_->close(cont, heads, complete);
    for (size_t i = heads.size();
         i-- > 0;) {  // a product with only the empty match left opens no head
        const Arena::Node& n = arena_[heads[i].node];
        if (is_product(n.kind) && !product_extends(heads[i].node, kStart, kStart))
            heads.erase(heads.begin() + static_cast<std::ptrdiff_t>(i));
    }
    // The start must be state 1 even where it equals the dead one.
    State& start = states_.emplace_back();
    start.accepting = complete;
    start.goes_on = !heads.empty();
    start.longer = kStart;
    start.next = std::make_unique<std::atomic<uint32_t>[]>(representative_.size());
    for (size_t c = 0; c < representative_.size(); ++c) start.next[c] = kNone;
    std::vector<uint32_t> key{complete, 1};
    auto* words = reinterpret_cast<const uint32_t*>(heads.data());
    key.insert(key.end(), words, words + heads.size() * kHeadWords);
    heads_.intern(key.data(), key.size());
}

Terminal::~Terminal() = default;

void Terminal::find_byte_classes() {
    std::array<bool, 257> cut{};
    cut[0] = true;
    auto add = [&](unsigned low, unsigned high) { cut[low] = cut[high + 1] = true; };
    std::vector<uint32_t> todo;
    std::vector<bool> seen;
    for (auto [node, start] : class_start_) todo.push_back(start);
    while (!todo.empty()) {
        uint32_t state = todo.back();
        todo.pop_back();
        if (state >= seen.size()) seen.resize(state + 1, false);
        if (seen[state]) continue;
        seen[state] = true;
        for (const auto& e : utf8_.edges(state)) {
            add(e.low, e.high);
            taken_.add_range(e.low, e.high);
            todo.push_back(e.target);
        }
    }
    for (uint32_t id = 0; id < arena_.size(); ++id)
        if (arena_[id].kind == Kind::kLiteral)
            for (char c : arena_.bytes(arena_[id])) {
                add(static_cast<uint8_t>(c), static_cast<uint8_t>(c));
                taken_.add(static_cast<uint8_t>(c));
            }
    for (auto& [node, offsets] : dfa_offsets_) {
        auto words = arena_.words(arena_[node]);
        for (uint32_t at : offsets)
            for (uint32_t k = 0; k < words[at + 1]; ++k) {
                unsigned low = words[at + 2 + 2 * k] >> 8, high = words[at + 2 + 2 * k] & 0xff;
                add(low, high);
                taken_.add_range(low, high);
            }
    }
    for (uint32_t id = 0; id < arena_.size(); ++id) {
        if (arena_[id].kind != Kind::kHostname) continue;
        for (unsigned b = 0; b < 128; ++b) {
            const bool taken = (b >= '0' && b <= '9') || (b >= 'A' && b <= 'Z') ||
                               (b >= 'a' && b <= 'z') || b == '-' || b == '.' ||
                               (b == '\\' && arena_[id].b);
            if (!taken) continue;
            add(b, b);
            taken_.add(static_cast<uint8_t>(b));
        }
    }
    for (auto& [node, operand] : operands_) taken_ |= operand->taken_;
    for (auto& [node, operand] : operands_)
        for (unsigned b = 1; b < 256; ++b)
            if (operand->class_of_[b] != operand->class_of_[b - 1]) cut[b] = true;
    for (unsigned b = 0; b < 256; ++b) {
        if (cut[b]) representative_.push_back(static_cast<uint8_t>(b));
        class_of_[b] = static_cast<uint8_t>(representative_.size() - 1);
    }
}

uint64_t Terminal::next_serial() {
    static std::atomic<uint64_t> last{0};
    return ++last;
}

thread_local int64_t Budget::left_ = -1;

void Budget::charge(size_t steps) {
    if (left_ < 0) return;
    left_ -= static_cast<int64_t>(steps);
    if (left_ > 0) return;
    left_ = 0;
    throw LimitExceeded("a pattern, or patterns that must hold together, are too large",
                        "steps of work", kWork, "");
}

// ---- products ----

bool Terminal::product_accepts(const Arena::Node& n, uint32_t a, uint32_t b) {
    Terminal &x = *operands_.at(n.a), &y = *operands_.at(n.b);
    if (n.kind == Kind::kLexeme) return x.accepting(a);
    return x.accepting(a) && (n.kind == Kind::kBoth) == y.accepting(b);
}

bool Terminal::product_extends(uint32_t node, uint32_t a, uint32_t b) {
    uint32_t first = products_->id(node, a, b);
    if (products_->extends[first] >= 0) return products_->extends[first];
    const Arena::Node& n = arena_[node];
    Terminal& x = *operands_.at(n.a);
    if (n.kind == Kind::kLexeme || (n.kind == Kind::kMinus && b == kDead)) {
        products_->extends[first] = x.goes_on(a);
        return x.goes_on(a);
    }
    return search_product(node, a, b);
}

// From (a, b) to a pair that accepts, breadth first, and depth first when that has led to many
// pairs (a length of 2,000 is as many levels); all pairs on the way are known to extend then, and
// all pairs seen are known not to where there is none.
bool Terminal::search_product(uint32_t node, uint32_t a, uint32_t b) {
    uint32_t first = products_->id(node, a, b);
    const Arena::Node& n = arena_[node];
    Terminal &x = *operands_.at(n.a), &y = *operands_.at(n.b);
    std::vector<std::pair<uint32_t, uint32_t>> queue{
        {first, kNone}};  // pair, index of the one before it
    std::unordered_map<uint32_t, uint32_t> seen{{first, 0}};
    std::vector<uint32_t> open{0};  // indices into the queue
    for (size_t front = 0; front < open.size();) {
        size_t at;
        if (queue.size() < kBreadth) {
            at = open[front++];
        } else {
            at = open.back();
            open.pop_back();
        }
        auto key = products_->keys[queue[at].first];
        uint32_t from_a = key[1], from_b = key[2];
        Budget::charge(representative_.size());
        for (uint8_t byte : representative_) {
            uint32_t to_a = x.next(from_a, byte), to_b = y.next(from_b, byte);
            if (to_a == kDead || (to_b == kDead && n.kind == Kind::kBoth)) continue;
            uint32_t id = products_->id(node, to_a, to_b);
            bool ends = product_accepts(n, to_a, to_b) || products_->extends[id] == 1 ||
                        (n.kind == Kind::kMinus && to_b == kDead);
            if (ends) {
                for (uint32_t k = static_cast<uint32_t>(at); k != kNone; k = queue[k].second)
                    products_->extends[queue[k].first] = 1;
                return true;
            }
            if (products_->extends[id] == 0 || !seen.try_emplace(id, 0).second) continue;
            if (queue.size() >= kMaxSearch)
                throw LimitExceeded("the intersection of two patterns is too large",
                                    "product states", kMaxSearch, "");
            open.push_back(static_cast<uint32_t>(queue.size()));
            queue.push_back({id, static_cast<uint32_t>(at)});
        }
    }
    for (auto [id, before] : queue) products_->extends[id] = 0;
    return false;
}

// ---- states ----

uint32_t Terminal::intern(std::vector<Head>& heads, bool accepting, uint32_t longer) {
    key_.assign({accepting, longer + 2});  // 1 is the start's own
    auto* words = reinterpret_cast<const uint32_t*>(heads.data());
    key_.insert(key_.end(), words, words + heads.size() * kHeadWords);
    uint32_t id = heads_.intern(key_.data(), key_.size());
    if (id < states_.size()) return id;
    if (id >= kMaxStates)
        throw LimitExceeded("a pattern has too many states", "states of a pattern", kMaxStates, "");
    State& s = states_.emplace_back();
    s.accepting = accepting;
    s.goes_on = !heads.empty();
    s.longer = longer;
    size_t classes = representative_.size();
    s.next = std::make_unique<std::atomic<uint32_t>[]>(classes);
    for (size_t c = 0; c < classes; ++c)
        s.next[c].store(s.goes_on ? kNone : kDead, std::memory_order_relaxed);
    bytes_.fetch_add(key_.size() * 4 + classes * 4 + sizeof(State) + 64, std::memory_order_relaxed);
    return id;
}

void Terminal::append_closure(uint32_t cont, std::vector<Head>& out, bool& accepting) {
    if (cont == Continuations::kEnd) {
        accepting = true;
        return;
    }
    auto [at, fresh] = closure_memo_.try_emplace(cont);
    auto& [heads, complete] = at->second;
    if (fresh) {
        std::vector<Head> found;
        machine_->close(cont, found, complete);
        for (const Head& h : found) {
            const Arena::Node& n = arena_[h.node];
            if (is_product(n.kind) && !product_extends(h.node, kStart, kStart)) continue;
            heads.push_back(h);
        }
        bytes_.fetch_add(heads.size() * sizeof(Head) + 64, std::memory_order_relaxed);
    }
    accepting |= complete;
    out.insert(out.end(), heads.begin(), heads.end());
}

void Terminal::step(const Head& h, uint8_t byte, std::vector<Head>& out, bool& accepting) {
    const Arena::Node& n = arena_[h.node];
    Head after = h;
    switch (n.kind) {
        case Kind::kLiteral: {
            std::string_view text = arena_.bytes(n);
            if (static_cast<uint8_t>(text[h.state]) != byte) return;
            if (++after.state < text.size()) out.push_back(after);
            else append_closure(h.cont, out, accepting);
            return;
        }
        case Kind::kClass:
            after.state = utf8_.step(h.state, byte);
            if (after.state == kNone) return;
            if (after.state == Utf8Automaton::kDone) append_closure(h.cont, out, accepting);
            else out.push_back(after);
            return;
        case Kind::kDfa: {
            auto words = arena_.words(n);
            const auto& offsets = dfa_offsets_.at(h.node);
            uint32_t at = offsets[h.state];
            for (uint32_t k = at + 2; k < at + 2 + 2 * words[at + 1]; k += 2) {
                if (byte < words[k] >> 8 || byte > (words[k] & 0xff)) continue;
                after.state = words[k + 1];
                uint32_t to = offsets[after.state];
                if (words[to]) append_closure(h.cont, out, accepting);
                if (words[to + 1]) out.push_back(after);
                return;
            }
            return;
        }
        case Kind::kHostname: {
            Hostnames::State to;
            const Hostnames::Outcome found =
                hostnames(h.node).step(Hostnames::unpack(hostnames_[h.state]), byte, to);
            if (found.accepting) append_closure(h.cont, out, accepting);
            if (!found.goes_on) return;
            uint32_t packed[Hostnames::kMaxWords];
            auto words = Hostnames::pack(to, packed);
            after.state = hostnames_.intern(words.data(), words.size());
            out.push_back(after);
            return;
        }
        default: {
            Terminal &x = *operands_.at(n.a), &y = *operands_.at(n.b);
            after.state = x.next(h.state, byte);
            after.other = y.next(h.other, byte);
            if (after.state == kDead || (n.kind == Kind::kBoth && after.other == kDead)) return;
            if (product_accepts(n, after.state, after.other))
                append_closure(h.cont, out, accepting);
            if (product_extends(h.node, after.state, after.other)) out.push_back(after);
        }
    }
}

std::vector<Head> Terminal::heads_of(uint32_t state) const {
    auto key = heads_[state];
    std::vector<Head> heads((key.size() - 2) / kHeadWords);
    if (!heads.empty())
        std::memcpy(static_cast<void*>(heads.data()), key.data() + 2, heads.size() * sizeof(Head));
    return heads;
}

uint32_t Terminal::find_next(uint32_t state, uint8_t byte_class) {
    std::lock_guard lock(mutex_);
    std::atomic<uint32_t>& slot = states_[state].next[byte_class];
    if (uint32_t known = slot.load(std::memory_order_relaxed); known != kNone) return known;
    auto key = heads_[state];
    Borrowed from(from_), to(to_);
    auto* words = reinterpret_cast<const Head*>(key.data() + 2);
    from->assign(words, words + (key.size() - 2) / kHeadWords);
    bool accepting = false;
    Budget::charge(from->size() + 1);
    for (const Head& h : *from) step(h, representative_[byte_class], *to, accepting);
    normalize(*to, machine_->conts());
    size_t members = 0;  // of unions: as much work as heads are
    for (const Head& h : *to)
        if (machine_->conts().is_union(h.cont)) members += machine_->conts().members(h.cont).size();
    Budget::charge(to->size() + members);
    if (to->size() > kMaxHeads)
        throw LimitExceeded("a pattern is too ambiguous", "heads of a pattern", kMaxHeads, "");
    uint32_t longer = kDead;
    if (const Arena::Node& root = arena_[root_]; root.kind == Kind::kLexeme)
        longer = operands_.at(root.b)->next(states_[state].longer, representative_[byte_class]);
    uint32_t found = to->empty() && !accepting ? kDead : intern(*to, accepting, longer);
    if (vast_ && found == origins_.size()) origins_.push_back({state, representative_[byte_class]});
    slot.store(found, std::memory_order_release);
    return found;
}

const ByteSet& Terminal::allowed(uint32_t state) {
    State& s = states_[state];
    if (s.has_allowed.load(std::memory_order_acquire)) return s.allowed;
    std::array<bool, 256> taken;  // by byte class
    for (size_t c = 0; c < representative_.size(); ++c)
        taken[c] = next(state, representative_[c]) != kDead;
    ByteSet found;
    for (unsigned b = 0; b < 256; ++b)
        if (taken[class_of_[b]]) found.add(static_cast<uint8_t>(b));
    std::lock_guard lock(mutex_);
    s.allowed = found;
    s.has_allowed.store(true, std::memory_order_release);
    return s.allowed;
}

// ---- host names ----

template <class F>
auto Terminal::at_hostname(uint32_t state, F&& f) {
    using Found = decltype(f(Hostnames(0, false), Hostnames::State()));
    std::lock_guard lock(mutex_);
    for (const Head& h : heads_of(state))
        if (arena_[h.node].kind == Kind::kHostname)
            return f(hostnames(h.node), Hostnames::unpack(hostnames_[h.state]));
    return Found{};
}

bool Terminal::completion(uint32_t state, std::string& text) {
    return at_hostname(state, [&](const Hostnames& names, const Hostnames::State& at) {
        return names.completion(at, text);
    });
}

Hostnames::Safe Terminal::safe(uint32_t state) {
    return at_hostname(
        state, [](const Hostnames& names, const Hostnames::State& at) { return names.safe(at); });
}

std::unique_ptr<Terminal> Terminal::copy(uint32_t& state) {
    std::vector<uint8_t> path;
    {
        std::lock_guard lock(mutex_);
        for (uint32_t at = state; at != kStart; at = origins_[at].first)
            path.push_back(origins_[at].second);
    }
    auto made = std::make_unique<Terminal>(arena_, root_);
    state = kStart;
    for (size_t at = path.size(); at-- > 0;) state = made->next(state, path[at]);
    return made;
}

bool Terminal::is_worn() const {
    return vast_ && std::max(states_.size(), hostnames_.size()) > kMaxStates / 2;
}

// ---- lexemes ----

Terminal::Past Terminal::past(uint32_t state, uint8_t byte) {
    Terminal& longer = *operands_.at(arena_[root_].b);
    uint32_t to = longer.next(states_[state].longer, byte);
    if (to == kDead) return Past::kFree;
    if (longer.accepting(to)) return Past::kOver;
    return longer.goes_on(to) ? Past::kOpen : Past::kFree;
}

Terminal* Terminal::longer() {
    const Arena::Node& root = arena_[root_];
    return root.kind == Kind::kLexeme ? operands_.at(root.b).get() : nullptr;
}

}  // namespace guided
