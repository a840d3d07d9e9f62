// Text as UTF-8: characters in bytes and back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace guided {

// Decode the one code point that `bytes` spells; kNone if it is not exactly one, well-formed.
uint32_t decode_one(std::string_view bytes);
bool is_utf8(std::string_view bytes);
std::string encode_utf8(uint32_t code_point);

// Characters that begin in `bytes`: all bytes but those that go on with one.
inline bool begins_character(uint8_t byte) {
    return (byte & 0xc0) != 0x80;
}
inline size_t count_characters(std::string_view bytes) {
    return static_cast<size_t>(std::count_if(bytes.begin(), bytes.end(), [](char c) {
        return begins_character(static_cast<uint8_t>(c));
    }));
}

}  // namespace guided
