// Labels of internationalized domain names: what IDNA2008 says of their code points and their
// order.
//
// A label is valid (RFC 5891, section 4.2, and RFC 5892) if all of its code points are allowed,
// each where it stands, it is in normalization form C, no mark begins it, no hyphen begins or ends
// it or two of them are its third and fourth, and, where something in it is written from right to
// left, it satisfies the Bidi rule (RFC 5893, section 2). Tables: idna_tables.h.
#pragma once

#include <cstdint>
#include <span>

namespace guided::idna {

inline constexpr uint32_t kLastAllowed = 0x3134a;  // of all code points

bool is_allowed(uint32_t code);  // somewhere in some label

// Two code points that must not stand one after the other: something must come between them. 0: the
// end of the label, before it or behind it.
inline constexpr uint32_t kEnd = 0;
bool is_fault(uint32_t first, uint32_t second);

// Whether it may stand first where the Bidi rule holds.
bool begins_in_order(uint32_t code);

// What there is in a label that no further code points make good again.
class Mixture {
  public:
    void add(uint32_t code);
    bool hopeless() const;
    bool right_to_left() const { return has_right_to_left_; }

  private:
    bool has_left_to_right_ = false, has_right_to_left_ = false;
    bool has_european_ = false, has_arabic_ = false;
    bool has_arabic_digits_ = false, has_extended_digits_ = false;
};

struct Verdict {
    bool valid = false;
    bool right_to_left = false;  // some code point is
    bool ordered = false;        // it satisfies the Bidi rule
};

Verdict judge(std::span<const uint32_t> label);

}  // namespace guided::idna
