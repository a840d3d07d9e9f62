#include "utf8.h"

#include "interning.h"

namespace guided {

namespace {

// The length of the character at the front of `s`, 0 if it is not well-formed (Unicode 15, table
// 3-7).
size_t character_length(std::string_view s, uint32_t& code) {
    auto at = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
    uint8_t lead = at(0);
    if (lead < 0x80) {
        code = lead;
        return 1;
    }
    size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || s.size() < length) return 0;
    code = lead & (0x7f >> length);
    for (size_t i = 1; i < length; ++i) {
        if ((at(i) & 0xc0) != 0x80) return 0;
        code = code << 6 | (at(i) & 0x3f);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
    return length;
}

}  // namespace

uint32_t decode_one(std::string_view bytes) {
    uint32_t code = 0;
    if (bytes.empty() || character_length(bytes, code) != bytes.size()) return kNone;
    return code;
}

bool is_utf8(std::string_view bytes) {
    uint32_t code;
    while (!bytes.empty()) {
        size_t n = character_length(bytes, code);
        if (n == 0) return false;
        bytes.remove_prefix(n);
    }
    return true;
}

std::string encode_utf8(uint32_t c) {
    auto tail = [&](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3f)); };
    if (c < 0x80) return {static_cast<char>(c)};
    if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), tail(0)};
    if (c < 0x10000) return {static_cast<char>(0xe0 | c >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0)};
}

}  // namespace guided
