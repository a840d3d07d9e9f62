#include "recorded.h"

#include <algorithm>

#include "arena.h"
#include "errors.h"

namespace guided {

namespace {

constexpr uint32_t kMaxValues = 500'000;  // in a list; fewer than Terminal::kPlenty
constexpr size_t kExponentDigits = 15;    // a longer exponent is compared as it is spelled

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

std::string canonical_number(std::string_view text) {
    bool negative = text[0] == '-';
    size_t at = negative;
    std::string digits;
    int64_t shift = 0;
    for (bool fraction = false; at < text.size() && (text[at] | 32) != 'e'; ++at) {
        if (text[at] == '.') {
            fraction = true;
            continue;
        }
        digits.push_back(text[at]);
        shift -= fraction;
    }
    std::string exponent(at < text.size() ? text.substr(at + 1) : "");
    if (!exponent.empty() && exponent[0] == '+') exponent.erase(0, 1);
    digits.erase(0, digits.find_first_not_of('0'));
    if (digits.empty()) return "#0";
    if (exponent.size() > kExponentDigits) return std::string(1, '#').append(text);
    if (!exponent.empty() && exponent != "-") shift += std::stoll(exponent);
    size_t end = digits.find_last_not_of('0') + 1;
    shift += static_cast<int64_t>(digits.size() - end);
    digits.resize(end);
    return (negative ? "#-" : "#") + digits + "e" + std::to_string(shift);
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
    links_.assign(2, {0, kNone, 0, 0});
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
    links_.push_back({chain, at->second, below.depth + 1, equal ? far : chain});
    lists_[at->second].push_back(id);
    return id;
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
