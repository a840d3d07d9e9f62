#include "recorded.h"

#include <algorithm>
#include <queue>
#include <set>

#include "arena.h"
#include "errors.h"
#include "terminals.h"
#include "utf8.h"

namespace guided {

namespace {

constexpr uint32_t kMaxValues = 500'000;  // in a list; fewer than Terminal::kPlenty
constexpr size_t kExponentDigits = 15;    // a longer exponent is compared as it is spelled
constexpr size_t kMaxTried = 100'000;     // texts looked at to find a value that is wanted
const std::string kSomeValue = "?";       // of no text

uint32_t hexadecimal(std::string_view digits) {
    uint32_t value = 0;
    for (char c : digits)
        value = value * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    return value;
}

// Decode the string at the front of `text`, up to its closing quote or to where it breaks off.
std::string decode(std::string_view text, bool& escaping) {
    std::string out;
    escaping = true;
    for (size_t i = 1; i < text.size() && text[i] != '"';) {
        if (text[i] != '\\') {
            out.push_back(text[i++]);
            continue;
        }
        if (i + 1 >= text.size()) return out;
        char kind = text[i + 1];
        if (kind != 'u') {
            constexpr std::string_view from = "bfnrt", to = "\b\f\n\r\t";
            size_t at = from.find(kind);
            out.push_back(at == std::string_view::npos ? kind : to[at]);
            i += 2;
            continue;
        }
        if (i + 6 > text.size()) return out;
        uint32_t code = hexadecimal(text.substr(i + 2, 4));
        i += 6;
        if (code >= 0xd800 && code < 0xdc00) {
            if (i + 6 > text.size() || text[i] != '\\' || text[i + 1] != 'u') return out;
            code = 0x10000 + ((code - 0xd800) << 10) + (hexadecimal(text.substr(i + 2, 4)) & 0x3ff);
            i += 6;
        }
        out += encode_utf8(code);
    }
    escaping = false;
    return out;
}

// A number, or the beginning of one: digits times a power of ten, and an exponent as it is spelled;
// neither with zeros in front.
struct Number {
    bool negative = false, has_exponent = false;
    std::string digits, exponent;
    int64_t shift = 0;

    explicit Number(std::string_view text) : negative(text[0] == '-') {
        size_t at = negative;
        for (bool fraction = false; at < text.size() && (text[at] | 32) != 'e'; ++at) {
            if (text[at] == '.') {
                fraction = true;
                continue;
            }
            digits.push_back(text[at]);
            shift -= fraction;
        }
        digits.erase(0, digits.find_first_not_of('0'));
        has_exponent = at < text.size();
        if (!has_exponent) return;
        exponent = text.substr(at + 1);
        if (exponent.starts_with('+')) exponent.erase(0, 1);
        size_t first = exponent.starts_with('-');
        size_t zeros = exponent.find_first_not_of('0', first);
        exponent.erase(first, zeros == std::string::npos ? zeros : zeros - first);
    }

    std::string named(std::string_view significant, const std::string& power) const {
        return std::string(negative ? "#-" : "#").append(significant) + "e" + power;
    }
};

std::string canonical_number(std::string_view text) {
    Number number(text);
    if (number.digits.empty()) return "#0";
    if (number.exponent.size() > kExponentDigits) return std::string(1, '#').append(text);
    int64_t power = number.shift;
    if (!number.exponent.empty() && number.exponent != "-") power += std::stoll(number.exponent);
    size_t end = number.digits.find_last_not_of('0') + 1;
    power += static_cast<int64_t>(number.digits.size() - end);
    return number.named(number.digits.substr(0, end), std::to_string(power));
}

// Two beginnings of texts with the same residue have the same values behind the same endings.
std::string residue(std::string_view text) {
    if (text[0] == '"') {
        bool escaping;
        std::string decoded = decode(text, escaping);
        return escaping ? std::string(text) : value_of_text(decoded);
    }
    if (text[0] != '-' && !(text[0] >= '0' && text[0] <= '9')) return std::string(text);
    Number number(text);
    if (number.has_exponent && number.digits.empty()) return "#0e";
    std::string power = std::to_string(number.shift);
    if (number.has_exponent) power += "e" + number.exponent;
    return number.named(number.digits, power);
}

}  // namespace

std::string value_of_text(std::string_view decoded) {
    return std::string(1, '"').append(decoded);
}

std::string canonical_value(std::string_view text) {
    if (text.empty()) return {};
    bool escaping;
    if (text[0] == '"') return value_of_text(decode(text, escaping));
    if (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) return canonical_number(text);
    return std::string(text);
}

// Shortest texts first (A*). Texts that spell the values of a regular language need not be longer
// than the states are many; those of one value more, not longer by more than that again: a circle
// on the way spells another value each time round, or none. So the search ends.
std::vector<std::string> values_after(Terminal& terminal, uint32_t state, const std::string& text,
                                      size_t most, const WantedValue& wanted) {
    struct Way {
        size_t length;  // of the shortest text that goes on so
        size_t order;   // among those of one length the latest first
        uint32_t state;
        std::string text;
        bool operator<(const Way& other) const {
            return length != other.length ? length > other.length : order < other.order;
        }
    };
    std::priority_queue<Way> open;
    std::vector<Way> too_long;
    std::set<std::pair<uint32_t, std::string>> seen;
    std::set<std::string> known;
    std::vector<std::string> values;
    if (!most) return values;
    auto longest = [&] { return text.size() + terminal.state_count() * (known.size() + 1); };
    size_t ways = 0;
    open.push({0, 0, state, text});
    while (!open.empty()) {
        if (++ways > kMaxTried)
            throw LimitExceeded("nearly all texts that a key or item may have are written",
                                "texts tried", kMaxTried, "");
        Way from = open.top();
        open.pop();
        bool enough = false;
        terminal.allowed(from.state).for_each([&](uint8_t byte) {
            if (enough) return;
            uint32_t to = terminal.next(from.state, byte);
            std::string now = from.text + static_cast<char>(byte);
            if (terminal.accepting(to))
                if (auto [value, fresh] = known.insert(canonical_value(now));
                    fresh && wanted(*value)) {
                    values.push_back(*value);
                    enough = values.size() == most;
                }
            if (!terminal.goes_on(to) || !seen.insert({to, residue(now)}).second) return;
            size_t length = now.size() + terminal.distance(to);
            Way way{length, seen.size(), to, std::move(now)};
            if (way.text.size() > longest()) too_long.push_back(std::move(way));
            else open.push(std::move(way));
        });
        if (enough) break;
        if (open.empty())  // more values were found since: longer texts may spell more
            std::erase_if(too_long, [&](Way& way) {
                bool back = way.text.size() <= longest();
                if (back) open.push(std::move(way));
                return back;
            });
    }
    return values;
}

std::string canonical_prefix(std::string_view text, bool* escaping) {
    bool within = false;
    std::string prefix;
    if (!text.empty() && text[0] == '"') prefix = value_of_text(decode(text, within));
    if (escaping) *escaping = within;
    return prefix;
}

std::string Texts::spelled(uint32_t text) const {
    std::string bytes;
    while (text > kUnknown) {
        auto words = table_[text];
        bytes.push_back(static_cast<char>(words[1]));
        text = words[0];
    }
    std::reverse(bytes.begin(), bytes.end());
    return bytes;
}

Chains::Chains() {
    table_.intern(nullptr, 0);
    uint32_t unknown[] = {kNone};
    table_.intern(unknown, 1);
    links_ = {{0, kNone, 0, 0, false}, {0, kNone, 0, 0, true}};
}

uint32_t Chains::add(uint32_t chain, const std::string& value) {
    if (chain == kUnknown) return kUnknown;
    auto [at, fresh] = numbers_.try_emplace(value, static_cast<uint32_t>(lists_.size()));
    if (fresh) {
        lists_.emplace_back();
        text_bytes_ += value.size() + 128;
    }
    uint32_t words[] = {chain, at->second};
    uint32_t id = table_.intern(words, 2);
    if (id < links_.size()) return id;
    // Jumps as in a skew-binary list (Myers, "An applicative random-access stack", 1983).
    if (links_[chain].depth >= kMaxValues)
        throw LimitExceeded("too many keys or items must differ", "texts", kMaxValues, "");
    const Link& below = links_[chain];
    uint32_t far = links_[below.jump].jump;
    bool equal =
        below.depth - links_[below.jump].depth == links_[below.jump].depth - links_[far].depth;
    links_.push_back({chain, at->second, below.depth + 1, equal ? far : chain,
                      below.is_open || value == kSomeValue});
    lists_[at->second].push_back(id);
    return id;
}

uint32_t Chains::add_unknown(uint32_t chain) {
    return add(chain, kSomeValue);
}

// The list `end` is `chain` or one that it was grown from.
bool Chains::ends_within(uint32_t end, uint32_t chain) const {
    uint32_t depth = links_[end].depth;
    while (links_[chain].depth > depth)
        chain =
            links_[links_[chain].jump].depth >= depth ? links_[chain].jump : links_[chain].before;
    return chain == end;
}

bool Chains::has(uint32_t chain, const std::string& value) const {
    if (chain <= kUnknown) return false;
    auto found = numbers_.find(value);
    if (found == numbers_.end()) return false;
    const auto& lists = lists_[found->second];
    return std::any_of(lists.begin(), lists.end(),
                       [&](uint32_t end) { return ends_within(end, chain); });
}

bool Chains::may_have_prefix(uint32_t chain, const std::string& prefix, size_t most) const {
    if (chain <= kUnknown) return false;
    for (auto at = numbers_.lower_bound(prefix);
         at != numbers_.end() && at->first.starts_with(prefix); ++at) {
        if (most-- == 0) return true;
        const auto& lists = lists_[at->second];
        if (std::any_of(lists.begin(), lists.end(),
                        [&](uint32_t end) { return ends_within(end, chain); }))
            return true;
    }
    return false;
}

}  // namespace guided
