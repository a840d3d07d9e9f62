#include "idna.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "idna_tables.h"

namespace guided::idna {

namespace {

using idna_tables::Composition;
using idna_tables::Run;

enum class Direction : uint8_t { kL, kR, kAL, kAN, kEN, kES, kCS, kET, kON, kBN, kNSM };
enum class Joining : uint8_t { kNone, kTransparent, kLeft, kRight, kDual };
enum class Script : uint8_t { kOther, kGreek, kHebrew, kJapanese };

struct Properties {
    uint32_t bits = 0;  // 0: not allowed
    bool allowed() const { return bits & 1; }
    Direction direction() const { return static_cast<Direction>(bits >> 1 & 15); }
    Joining joining() const { return static_cast<Joining>(bits >> 5 & 7); }
    Script script() const { return static_cast<Script>(bits >> 8 & 3); }
    bool is_mark() const { return bits >> 10 & 1; }
    bool may_compose() const { return bits >> 11 & 1; }  // with what stands before it
    uint32_t combining_class() const { return bits >> 16; }
};

constexpr uint32_t kMiddleDot = 0xb7, kKeraia = 0x375, kGeresh = 0x5f3, kGershayim = 0x5f4,
                   kNonJoiner = 0x200c, kJoiner = 0x200d, kKatakanaDot = 0x30fb;
constexpr uint32_t kVirama = 9;  // a combining class

static_assert(std::end(idna_tables::kRuns)[-1].last == kLastAllowed);

// The runs spread out: a search among them would take most of the time.
class Spread {
  public:
    Spread() : numbers_(kLastAllowed + 1, 0), bits_{0} {
        for (const Run& run : idna_tables::kRuns) {
            auto known = std::find(bits_.begin(), bits_.end(), run.bits);
            const auto number = static_cast<uint16_t>(known - bits_.begin());
            if (known == bits_.end()) bits_.push_back(run.bits);
            std::fill(numbers_.begin() + run.first, numbers_.begin() + run.last + 1, number);
        }
    }
    Properties operator[](uint32_t code) const {
        return code <= kLastAllowed ? Properties{bits_[numbers_[code]]} : Properties{};
    }

  private:
    std::vector<uint16_t> numbers_;  // by code point
    std::vector<uint32_t> bits_;
};

Properties properties(uint32_t code) {
    static const Spread spread;
    return spread[code];
}

bool is_digit_of(uint32_t first, uint32_t code) {
    return code >= first && code < first + 10;
}
constexpr uint32_t kArabicDigits = 0x660, kExtendedDigits = 0x6f0;

// ---- normalization form C ----

uint32_t compose(uint32_t first, uint32_t second) {
    static const std::vector<Composition> sorted = [] {
        std::vector<Composition> all(std::begin(idna_tables::kCompositions),
                                     std::end(idna_tables::kCompositions));
        std::sort(all.begin(), all.end(), [](const Composition& a, const Composition& b) {
            return std::pair{a.first, a.second} < std::pair{b.first, b.second};
        });
        return all;
    }();
    auto at = std::lower_bound(sorted.begin(), sorted.end(), std::pair{first, second},
                               [](const Composition& c, const auto& sought) {
                                   return std::pair{c.first, c.second} < sought;
                               });
    bool found = at != sorted.end() && at->first == first && at->second == second;
    return found ? at->composed : 0;
}

void decompose(uint32_t code, std::vector<uint32_t>& out) {
    auto at = std::lower_bound(
        std::begin(idna_tables::kCompositions), std::end(idna_tables::kCompositions), code,
        [](const Composition& c, uint32_t sought) { return c.composed < sought; });
    if (at == std::end(idna_tables::kCompositions) || at->composed != code) {
        out.push_back(code);
        return;
    }
    decompose(at->first, out);
    out.push_back(at->second);
}

// Unicode Standard Annex 15: decompose, order the marks, compose again. Each code point that is
// allowed is in the form by itself, so there is nothing to do where none may move or compose.
bool is_composed(std::span<const uint32_t> label) {
    if (std::none_of(label.begin(), label.end(), [](uint32_t code) {
            const Properties p = properties(code);
            return p.combining_class() || p.may_compose();
        }))
        return true;
    std::vector<uint32_t> codes;
    for (uint32_t code : label) decompose(code, codes);
    auto class_of = [](uint32_t code) { return properties(code).combining_class(); };
    for (size_t begin = 0; begin < codes.size();) {
        size_t end = begin;
        while (end < codes.size() && class_of(codes[end])) ++end;
        std::stable_sort(codes.begin() + static_cast<std::ptrdiff_t>(begin),
                         codes.begin() + static_cast<std::ptrdiff_t>(end),
                         [&](uint32_t a, uint32_t b) { return class_of(a) < class_of(b); });
        begin = end + 1;
    }
    std::vector<uint32_t> composed;
    size_t starter = codes.size();  // in `composed`
    for (uint32_t code : codes) {
        const uint32_t own = class_of(code);
        if (starter < composed.size()) {
            const bool next = starter + 1 == composed.size();
            if (next || (own && class_of(composed.back()) < own))
                if (uint32_t whole = compose(composed[starter], code)) {
                    composed[starter] = whole;
                    continue;
                }
        }
        if (!own) starter = composed.size();
        composed.push_back(code);
    }
    return std::equal(composed.begin(), composed.end(), label.begin(), label.end());
}

// ---- rules of context ----

// RFC 5892, appendix A.1: between letters that join, over what is transparent.
bool joins_around(std::span<const uint32_t> label, size_t at) {
    size_t before = at, after = at + 1;
    while (before > 0 && properties(label[before - 1]).joining() == Joining::kTransparent) --before;
    while (after < label.size() && properties(label[after]).joining() == Joining::kTransparent)
        ++after;
    if (before == 0 || after == label.size()) return false;
    const Joining left = properties(label[before - 1]).joining();
    const Joining right = properties(label[after]).joining();
    return (left == Joining::kLeft || left == Joining::kDual) &&
           (right == Joining::kRight || right == Joining::kDual);
}

// RFC 5892, appendix A; true of code points that have no rule.
bool fits_context(std::span<const uint32_t> label, size_t at) {
    const uint32_t code = label[at];
    const uint32_t before = at ? label[at - 1] : 0;
    const uint32_t after = at + 1 < label.size() ? label[at + 1] : 0;
    auto any = [&](auto&& is) { return std::any_of(label.begin(), label.end(), is); };
    switch (code) {
        case kNonJoiner:
            return properties(before).combining_class() == kVirama || joins_around(label, at);
        case kJoiner: return properties(before).combining_class() == kVirama;
        case kMiddleDot: return before == 'l' && after == 'l';
        case kKeraia: return properties(after).script() == Script::kGreek;
        case kGeresh:
        case kGershayim: return properties(before).script() == Script::kHebrew;
        case kKatakanaDot:
            return any([](uint32_t c) {
                return c != kKatakanaDot && properties(c).script() == Script::kJapanese;
            });
        default: break;
    }
    if (is_digit_of(kArabicDigits, code))
        return !any([](uint32_t c) { return is_digit_of(kExtendedDigits, c); });
    if (is_digit_of(kExtendedDigits, code))
        return !any([](uint32_t c) { return is_digit_of(kArabicDigits, c); });
    return true;
}

// ---- the Bidi rule ----

bool is_right_to_left(Direction d) {
    return d == Direction::kR || d == Direction::kAL || d == Direction::kAN;
}

// RFC 5893, section 2; the numbers are those of its conditions.
bool is_ordered(std::span<const uint32_t> label) {
    if (!begins_in_order(label[0])) return false;  // 1
    const bool leftwards = properties(label[0]).direction() != Direction::kL;
    bool ends_well = false, has_european = false, has_arabic = false;
    for (uint32_t code : label) {
        const Direction d = properties(code).direction();
        if (leftwards ? d == Direction::kL : is_right_to_left(d)) return false;  // 2, 5
        has_european |= d == Direction::kEN;
        has_arabic |= d == Direction::kAN;
        if (d == Direction::kNSM) continue;
        ends_well = d == Direction::kEN || (leftwards ? is_right_to_left(d) : d == Direction::kL);
    }
    return ends_well && !(leftwards && has_european && has_arabic);  // 3, 6, 4
}

}  // namespace

bool is_allowed(uint32_t code) {
    return properties(code).allowed();
}

bool is_fault(uint32_t first, uint32_t second) {
    if (first < 0x80 && second < 0x80)
        return (first == kEnd && second == '-') || (second == kEnd && first == '-');
    const Properties a = properties(first), b = properties(second);
    const uint32_t order = b.combining_class();
    if (order && a.combining_class() > order) return true;
    if (b.may_compose() && compose(first, second)) return true;
    if (first == kEnd && (second == '-' || b.is_mark())) return true;
    if (second == kEnd && first == '-') return true;
    if ((first == kMiddleDot && second != 'l') || (second == kMiddleDot && first != 'l'))
        return true;
    if (first == kKeraia && b.script() != Script::kGreek) return true;
    if ((second == kGeresh || second == kGershayim) && a.script() != Script::kHebrew) return true;
    return second == kJoiner && a.combining_class() != kVirama;
}

bool begins_in_order(uint32_t code) {
    const Direction d = properties(code).direction();
    return d == Direction::kL || d == Direction::kR || d == Direction::kAL;
}

// RFC 5893, section 2, conditions 2, 4 and 5; RFC 5892, appendices A.8 and A.9.
void Mixture::add(uint32_t code) {
    const Direction d = properties(code).direction();
    has_left_to_right_ |= d == Direction::kL;
    has_right_to_left_ |= is_right_to_left(d);
    has_european_ |= d == Direction::kEN;
    has_arabic_ |= d == Direction::kAN;
    has_arabic_digits_ |= is_digit_of(kArabicDigits, code);
    has_extended_digits_ |= is_digit_of(kExtendedDigits, code);
}

bool Mixture::hopeless() const {
    return (has_left_to_right_ && has_right_to_left_) || (has_european_ && has_arabic_) ||
           (has_arabic_digits_ && has_extended_digits_);
}

Verdict judge(std::span<const uint32_t> label) {
    Verdict verdict;
    if (label.empty() || label.front() == '-' || label.back() == '-') return verdict;
    if (label.size() >= 4 && label[2] == '-' && label[3] == '-') return verdict;
    if (properties(label[0]).is_mark()) return verdict;
    for (size_t at = 0; at < label.size(); ++at) {
        const Properties p = properties(label[at]);
        if (!p.allowed() || !fits_context(label, at)) return verdict;
        verdict.right_to_left |= is_right_to_left(p.direction());
    }
    verdict.ordered = is_ordered(label);
    verdict.valid = (verdict.ordered || !verdict.right_to_left) && is_composed(label);
    return verdict;
}

}  // namespace guided::idna
