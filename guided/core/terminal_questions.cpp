// What is asked of a terminal as a whole: what its texts are like, not what a byte does.
#include <unordered_set>

#include "tables.h"
#include "terminals.h"

namespace guided {

namespace {
constexpr uint32_t kMaxPrefixFree = 48;  // states of a unit; a larger terminal is no unit of a run
}  // namespace

uint32_t Terminal::search(uint32_t from, bool (*found)(const Terminal&, uint32_t),
                          std::string* path) {
    std::vector<std::pair<uint32_t, uint32_t>> queue{{from, kNone}};
    std::vector<uint8_t> bytes{0};
    std::vector<bool> seen(from + 1, false);
    seen[from] = true;
    for (size_t at = 0; at < queue.size(); ++at) {
        if (found(*this, queue[at].first)) {
            if (path) {
                for (uint32_t k = static_cast<uint32_t>(at); queue[k].second != kNone;
                     k = queue[k].second)
                    path->push_back(static_cast<char>(bytes[k]));
                std::reverse(path->begin(), path->end());
            }
            return queue[at].first;
        }
        for (uint8_t byte : representative_) {
            uint32_t to = next(queue[at].first, byte);
            if (to >= seen.size()) seen.resize(to + to / 2 + 1, false);
            if (to == kDead || seen[to]) continue;
            seen[to] = true;
            queue.push_back({to, static_cast<uint32_t>(at)});
            bytes.push_back(byte);
        }
    }
    return kDead;
}

bool Terminal::prefix_free() {
    if (int known = prefix_free_.load(); known >= 0) return known;
    bool result = !accepting(kStart) && goes_on(kStart);
    if (result) {
        struct Probe {
            static bool stop(const Terminal& t, uint32_t state) {
                return (t.accepting(state) && t.goes_on(state)) || t.state_count() > kMaxPrefixFree;
            }
        };
        result = search(kStart, &Probe::stop, nullptr) == kDead;
    }
    prefix_free_.store(result);
    return result;
}

// A circle with this step spells another value each time round. Digits may not: 1.00 is 1, and 0e5
// is 0; so they must stand before an exponent, and one of them not be 0.
bool Terminal::tells_apart(uint32_t from, size_t byte_class) {
    bool other = false, digit = false;
    for (size_t byte = 0; byte < class_of_.size(); ++byte) {
        if (class_of_[byte] != byte_class) continue;
        bool is_digit = byte >= '0' && byte <= '9';
        other |= !is_digit;
        digit |= is_digit && byte != '0';
    }
    if (other || !digit) return other;
    auto is_before = [&](uint8_t e) { return !may_take(e) || next(from, e) != kDead; };
    return is_before('e') && is_before('E');
}

bool Terminal::endless(uint32_t state) {
    constexpr size_t kMost = 20'000;  // states looked at
    {
        std::lock_guard lock(mutex_);
        if (auto known = endless_.find(state); known != endless_.end()) return known->second;
    }
    // Every state leads to a match, so a circle means ever longer ones. A state further down with
    // plenty of texts gives as many to this one; of those that spell one value only one is counted,
    // without escapes, exponents and zeros.
    struct Step {
        uint32_t state;
        size_t next_class;
        double texts;  // that go on from here
    };
    std::vector<size_t> width(representative_.size(), 0);
    for (size_t byte = 0; byte < class_of_.size(); ++byte)
        if (byte != '\\' && byte != '0' && (byte | 32) != 'e') ++width[class_of_[byte]];
    constexpr double kOnPath = -1;
    std::vector<Step> path{{state, 0, 0}};
    std::unordered_map<uint32_t, double> seen{{state, kOnPath}};
    // Some step from `to` to the end of the path and back to it tells apart.
    auto is_telling = [&](uint32_t to) {
        for (size_t at = path.size(); at-- > 0;) {
            if (tells_apart(path[at].state, path[at].next_class - 1)) return true;
            if (path[at].state == to) break;
        }
        return false;
    };
    bool found = false;
    while (!path.empty() && !found && seen.size() < kMost) {
        Step& s = path.back();
        if (s.next_class == representative_.size()) {
            found = s.texts >= kPlenty;
            double texts = seen[s.state] = s.texts;
            path.pop_back();
            if (!path.empty())
                path.back().texts += static_cast<double>(width[path.back().next_class - 1]) * texts;
            continue;
        }
        size_t byte_class = s.next_class++;
        uint32_t to = next(s.state, representative_[byte_class]);
        if (to == kDead) continue;
        s.texts += accepting(to) ? static_cast<double>(width[byte_class]) : 0;
        auto [at, fresh] = seen.try_emplace(to, kOnPath);
        if (fresh) path.push_back({to, 0, 0});
        else if (at->second == kOnPath) found = is_telling(to);
        else s.texts += static_cast<double>(width[byte_class]) * at->second;
    }
    std::lock_guard lock(mutex_);
    endless_[state] = found;
    return found;
}

bool Terminal::endless_throughout() {
    constexpr size_t kMost = 2'000;  // states looked at
    if (int known = endless_throughout_.load(); known >= 0) return known;
    std::vector<uint32_t> reached{kStart};
    std::unordered_set<uint32_t> seen{kStart};
    bool result = true;
    for (size_t i = 0; i < reached.size() && result; ++i) {
        result = reached.size() <= kMost && (!goes_on(reached[i]) || endless(reached[i]));
        for (uint8_t byte : representative_)
            if (uint32_t to = next(reached[i], byte); to != kDead && seen.insert(to).second)
                reached.push_back(to);
    }
    endless_throughout_.store(result);
    return result;
}

uint32_t Terminal::distance(uint32_t state) {
    {
        std::lock_guard lock(mutex_);
        if (auto known = distances_.find(state); known != distances_.end()) return known->second;
    }
    std::string path;
    if (!vast_ || accepting(state) || !completion(state, path))
        search(state, [](const Terminal& t, uint32_t s) { return t.accepting(s); }, &path);
    std::lock_guard lock(mutex_);
    return distances_[state] = static_cast<uint32_t>(path.size());
}

const std::vector<uint8_t>& Terminal::critical(uint32_t state) {
    {
        std::lock_guard lock(mutex_);
        if (auto known = critical_.find(state); known != critical_.end()) return known->second;
    }
    std::vector<uint8_t> bytes;
    allowed(state).for_each([&](uint8_t byte) {
        uint32_t to = next(state, byte);
        if (!goes_on(to) || !endless(to)) bytes.push_back(byte);
    });
    std::lock_guard lock(mutex_);
    return critical_[state] = std::move(bytes);
}

bool Terminal::matches(std::string_view text) {
    uint32_t state = kStart;
    for (char c : text)
        if ((state = next(state, static_cast<uint8_t>(c))) == kDead) return false;
    return accepting(state);
}

bool Terminal::is_void() {
    return !accepting(kStart) && !goes_on(kStart);
}

bool Terminal::shortest(std::string& text) {
    return search(
               kStart, [](const Terminal& t, uint32_t state) { return t.accepting(state); },
               &text) != kDead;
}

Table& Terminal::table(Vocabulary& vocabulary, uint32_t trie_node, size_t depth, uint32_t state,
                       uint8_t mode) {
    uint64_t key = (uint64_t{trie_node} << 32 | state) * 4 + mode;  // fewer than 2^30 trie nodes
    std::lock_guard lock(tables_mutex_);
    auto& slot = tables_[key];
    if (!slot) {
        slot = std::make_unique<Table>(*this, vocabulary, trie_node, depth, state,
                                       static_cast<Table::Mode>(mode));
        bytes_.fetch_add(slot->bytes(), std::memory_order_relaxed);
    }
    return *slot;
}

}  // namespace guided
