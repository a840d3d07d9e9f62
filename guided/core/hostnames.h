// Host names, with internationalized labels as the DNS has them: an automaton whose states are
// computed as they are met.
//
// A name is labels between dots (RFC 1123, section 2.1). A label that begins with "xn--", in
// whatever case, is an A-label (RFC 5890, section 2.3.2.1): what follows is the Punycode (RFC 3492)
// of a label that IDNA allows (idna.h). As that is up to 59 characters of which each may hang on
// all others, the state of such a label is its text, and there is no list of states.
//
// A text is only entered if a label can still be made of it within 63 characters of a label and
// the length of a name. That is looked for in two ways. A delimiter makes all before it literal
// characters, whatever they were taken for, so with some room left a hyphen and a few digits
// always do: some "ß" before, within or behind these characters, for there is nothing that it may
// not stand beside. Where there is no room for this, few digits are left, and all are tried. A
// search that takes too many steps ends, and the text is not entered: what is matched is then
// narrower, never wider.
//
// The Bidi rule holds in all labels of a name if a label has something written from right to left
// (RFC 5893, section 2), so a name remembers whether one had that, and whether one does not
// satisfy the rule.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace guided {

class Hostnames {
  public:
    static constexpr uint32_t kLongest = 253;  // RFC 1034, section 3.1, without the final dot

    // `longest`: characters of a name, 1 to kLongest. `escaped`: each may also be spelled as an
    // escape of JSON, \u002e.
    Hostnames(uint32_t longest, bool escaped) : longest_(longest), escaped_(escaped) {}

    static constexpr uint32_t kMaxLabel = 63, kMaxText = 59;
    enum Stage : uint8_t {
        kStart,  // of a label
        kX,      // "x"
        kXn,     // "xn"
        kXnHyphen,
        kALabel,  // behind "xn--"
        kOther,
    };
    struct State {
        uint8_t total = 0, length = 0;  // characters of the name, of the label
        Stage stage = kStart;
        bool after_hyphen = false, digit_first = false;  // of the label
        bool right_to_left = false, unordered = false;   // some label before is, is not in order
        uint8_t escape = 0, digit = 0;  // characters of an escape, and its digit before the last
        uint8_t text[kMaxText] = {};    // of an A-label, in lower case
        uint32_t text_length() const { return stage == kALabel ? length - 4u : 0; }
    };
    static constexpr size_t kMaxWords = 2 + (kMaxText + 3) / 4;
    static std::span<const uint32_t> pack(const State& state, uint32_t (&words)[kMaxWords]);
    static State unpack(std::span<const uint32_t> words);

    struct Outcome {
        bool accepting = false, goes_on = false;
        bool dead() const { return !accepting && !goes_on; }
    };
    // The state after `byte`, from one that goes on.
    Outcome step(const State& from, uint8_t byte, State& to) const;

    // Some text, not empty, that leads on to the end of a label; false if none is found.
    bool completion(const State& state, std::string& text) const;

    // Up to `length` letters and digits, and `hyphens` too, whichever they are, lead to a state
    // that goes on or is the end of a longest name.
    struct Safe {
        uint32_t length = 0;
        bool hyphens = false;
    };
    Safe safe(const State& state) const;

  private:
    Outcome step_character(const State& from, uint8_t character, State& to) const;
    Outcome outcome(const State& state) const;
    uint32_t room(const State& state) const;

    const uint32_t longest_;
    const bool escaped_;
};

}  // namespace guided
