#include "hostnames.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "idna.h"

namespace guided {

namespace {

using Codes = std::span<const uint32_t>;

constexpr uint32_t kPlenty = 6;    // characters in which every text becomes a label
constexpr int kMaxTries = 50'000;  // digits in one search; all of three are fewer
constexpr int kFewTries = 5'000;   // of more: there are nearly always other ways
constexpr uint32_t kSharpS = 0xdf, kGraveA = 0xe0;

// RFC 3492, section 5.
constexpr uint32_t kBase = 36, kLeastThreshold = 1, kMostThreshold = 26, kSkew = 38, kDamp = 700,
                   kFirstBias = 72, kFirstCode = 128;

bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}
bool is_letter(uint8_t c) {
    return c >= 'a' && c <= 'z';
}
uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? static_cast<uint8_t>(c + 32) : c;
}
uint32_t digit_value(uint8_t c) {  // of a letter or digit
    return is_letter(c) ? c - 'a' : c - '0' + 26u;
}
char digit_character(uint32_t value) {
    return static_cast<char>(value < 26 ? 'a' + value : '0' + (value - 26));
}
uint32_t threshold(uint32_t k, uint32_t bias) {
    return k <= bias ? kLeastThreshold : k >= bias + kMostThreshold ? kMostThreshold : k - bias;
}
uint32_t adapt(uint32_t delta, uint32_t count, bool first) {
    delta = first ? delta / kDamp : delta / 2;
    delta += delta / count;
    uint32_t k = 0;
    for (; delta > (kBase - kLeastThreshold) * kMostThreshold / 2; k += kBase)
        delta /= kBase - kLeastThreshold;
    return k + (kBase - kLeastThreshold + 1) * delta / (delta + kSkew);
}

// What is asked of a label where it stands.
struct Wanted {
    bool ordered = false, not_right_to_left = false;
    bool operator==(const Wanted&) const = default;
    bool fits(const idna::Verdict& v) const {
        return v.valid && (v.ordered || !ordered) && !(v.right_to_left && not_right_to_left);
    }
};

// RFC 3492, section 6.2, digit by digit.
class Decoder {
  public:
    explicit Decoder(Wanted wanted = {}) : wanted_(wanted) {}

    // The literal characters, before all digits.
    void begin(std::span<const uint8_t> literal) {
        for (uint8_t c : literal) {
            faults_ += is_fault(count_ ? codes_[count_ - 1] : idna::kEnd, c);
            codes_[count_++] = c;
            mixture_.add(c);
        }
        faults_ += is_fault(literal.back(), idna::kEnd);
    }

    // False if the integer is of no allowed code point, however it goes on.
    bool feed(uint32_t digit) {
        delta_ += digit * weight_;
        const uint64_t position = index_ + delta_;
        const uint64_t code = code_ + position / (count_ + 1);
        if (code > idna::kLastAllowed) return false;
        const uint32_t t = threshold(k_, bias_);
        if (digit >= t) {
            weight_ *= kBase - t;
            k_ += kBase;
            return true;
        }
        if (!idna::is_allowed(static_cast<uint32_t>(code))) return false;
        bias_ = adapt(static_cast<uint32_t>(delta_), count_ + 1, !any_);
        any_ = true;
        code_ = static_cast<uint32_t>(code);
        index_ = static_cast<uint32_t>(position % (count_ + 1));
        const uint32_t before = index_ ? codes_[index_ - 1] : idna::kEnd;
        const uint32_t behind = index_ < count_ ? codes_[index_] : idna::kEnd;
        if (count_) faults_ -= is_fault(before, behind);
        faults_ += is_fault(before, code_) + is_fault(code_, behind);
        std::memmove(codes_.data() + index_ + 1, codes_.data() + index_,
                     (count_ - index_) * sizeof(uint32_t));
        codes_[index_++] = code_;
        ++count_;
        delta_ = 0, weight_ = 1, k_ = kBase;
        mixture_.add(code_);
        return !mixture_.hopeless() && !(wanted_.not_right_to_left && mixture_.right_to_left());
    }

    // At least so many further code points are needed: each comes between two.
    uint32_t faults() const { return faults_; }
    idna::Verdict judge() const {
        const bool at_end = any_ && k_ == kBase;  // of an integer
        return at_end && !faults_ ? idna::judge({codes_.data(), count_}) : idna::Verdict{};
    }

  private:
    bool is_fault(uint32_t first, uint32_t second) const {
        if (wanted_.ordered && first == idna::kEnd && !idna::begins_in_order(second)) return true;
        return idna::is_fault(first, second);
    }

    std::array<uint32_t, Hostnames::kMaxText + 1> codes_{};
    uint32_t count_ = 0, code_ = kFirstCode, index_ = 0, bias_ = kFirstBias, k_ = kBase;
    uint32_t faults_ = 0;
    uint64_t delta_ = 0, weight_ = 1;
    bool any_ = false;
    Wanted wanted_;
    idna::Mixture mixture_;
};

// The decoder after a text; null where the text begins nothing but by a later delimiter. Those of
// the text asked for before are kept, as a walk over tokens asks for many texts that begin alike.
class Decoders {
  public:
    const Decoder* after(std::span<const uint8_t> text, Wanted wanted) {
        if (wanted != wanted_) length_ = 0;
        wanted_ = wanted;
        size_t at = 0;
        while (at < length_ && at < text.size() && text_[at] == text[at]) ++at;
        if (at == 0) along_[0] = {Decoder(wanted), true};
        for (; at < text.size(); ++at) {
            text_[at] = text[at];
            Known &from = along_[at], &to = along_[at + 1];
            if (text[at] == '-') {
                to = {Decoder(wanted), at > 0};  // something stands before a delimiter
                if (at > 0) to.decoder.begin(text.first(at));
            } else if (from.possible) {
                to.decoder = from.decoder;
                to.possible = to.decoder.feed(digit_value(text[at]));
            } else {
                to.possible = false;
            }
        }
        length_ = text.size();
        return along_[length_].possible ? &along_[length_].decoder : nullptr;
    }

  private:
    struct Known {
        Decoder decoder;
        bool possible = false;
    };
    std::array<Known, Hostnames::kMaxText + 1> along_;  // by characters read
    std::array<uint8_t, Hostnames::kMaxText> text_{};
    size_t length_ = 0;
    Wanted wanted_;
};

const Decoder* decoder_after(std::span<const uint8_t> text, Wanted wanted) {
    static thread_local Decoders decoders;
    return decoders.after(text, wanted);
}

// Up to `room` digits that make a label, one at least. All are tried, but where more code points
// are needed than there are digits.
bool find_digits(const Decoder& from, uint32_t room, Wanted wanted, int& tries,
                 std::string& found) {
    if (from.faults() > room) return false;
    for (uint32_t value = 0; value < kBase; ++value) {
        if (--tries < 0) return false;
        Decoder to = from;
        if (!to.feed(value)) continue;
        found.push_back(digit_character(value));
        if (wanted.fits(to.judge())) return true;
        if (room > 1 && find_digits(to, room - 1, wanted, tries, found)) return true;
        found.pop_back();
    }
    return false;
}

// RFC 3492, section 6.3: the digits of what is not ASCII, no more than `most`.
bool encode(Codes label, size_t most, std::string& digits) {
    uint32_t code = kFirstCode, bias = kFirstBias, delta = 0;
    auto done = static_cast<uint32_t>(
        std::count_if(label.begin(), label.end(), [](uint32_t c) { return c < kFirstCode; }));
    const uint32_t basic = done;
    while (done < label.size()) {
        uint32_t next = UINT32_MAX;
        for (uint32_t c : label)
            if (c >= code) next = std::min(next, c);
        delta += (next - code) * (done + 1);
        code = next;
        for (uint32_t c : label) {
            delta += c < code;
            if (c != code) continue;
            uint32_t q = delta;
            for (uint32_t k = kBase;; k += kBase) {
                const uint32_t t = threshold(k, bias);
                const bool last = q < t;
                if (digits.size() >= most) return false;
                digits.push_back(digit_character(last ? q : t + (q - t) % (kBase - t)));
                if (last) break;
                q = (q - t) / (kBase - t);
            }
            bias = adapt(delta, done + 1, done == basic);
            delta = 0;
            ++done;
        }
        ++delta;
        ++code;
    }
    return true;
}

// Whether letters, digits and hyphens with some "ß" among them are a label, as idna::judge tells.
bool is_label(Codes label, Wanted wanted) {
    if (label.front() == '-' || label.back() == '-') return false;
    if (label.size() >= 4 && label[2] == '-' && label[3] == '-') return false;
    return !wanted.ordered || label[0] >= kFirstCode || !is_digit(static_cast<uint8_t>(label[0]));
}

// Digits that make a label of the text, which becomes literal by the delimiter before them.
class Delimited {
  public:
    Delimited(std::span<const uint8_t> text, uint32_t room, Wanted wanted, std::string& found)
        : room_(room), wanted_(wanted), found_(found), literal_(text.begin(), text.end()) {}

    bool find() {
        if (!literal_.empty() && literal_.back() == '-') {
            literal_.pop_back();
            if (find_places()) return true;
            literal_.push_back('-');
        }
        before_ = '-';
        if (find_places()) return true;
        // What ends in a hyphen may better go on.
        before_ = "a-";
        literal_.push_back('a');
        return find_places();
    }

  private:
    static constexpr size_t kMostPlaces = 3;   // before, within and behind the literal characters
    static constexpr size_t kLeastDigits = 3;  // two spell nothing that is allowed

    // With as few letters more as will do: each takes a digit at least.
    bool find_places() {
        if (literal_.empty() || before_.size() + kLeastDigits > room_) return false;
        const auto size = static_cast<uint32_t>(literal_.size());
        std::vector<uint32_t> places;
        for (uint32_t place : {0u, 1u, 2u, 3u})
            if (place < size) places.push_back(place);
        places.push_back(size);
        for (size_t count = 1; count <= kMostPlaces; ++count)
            if (choose(places, 0, count)) return true;
        return false;
    }

    bool choose(Codes places, size_t first, size_t count) {
        if (count == 0) return insert(kSharpS) || (chosen_.size() > 1 && insert(kGraveA));
        for (size_t at = first; at < places.size(); ++at) {
            chosen_.push_back(places[at]);
            const bool done = choose(places, at, count - 1);
            chosen_.pop_back();
            if (done) return true;
        }
        return false;
    }

    // The last of the letters comes first in the digits if the others are greater; that is shorter
    // where it is far from them.
    bool insert(uint32_t others) {
        std::vector<uint32_t> label;
        size_t next = 0;
        for (uint32_t place = 0; place <= literal_.size(); ++place) {
            for (; next < chosen_.size() && chosen_[next] == place; ++next)
                label.push_back(next + 1 == chosen_.size() ? kSharpS : others);
            if (place < literal_.size()) label.push_back(literal_[place]);
        }
        if (!is_label(label, wanted_)) return false;
        std::string digits;
        if (!encode(label, room_ - before_.size(), digits)) return false;
        found_ = before_ + digits;
        return true;
    }

    const uint32_t room_;
    const Wanted wanted_;
    std::string& found_;
    std::string before_;  // the digits: what is wanting of the literal characters, the delimiter
    std::vector<uint32_t> literal_, chosen_;
};

// One to `room` characters that make a label of the text.
bool find_more(std::span<const uint8_t> text, uint32_t room, Wanted wanted, std::string& found) {
    if (room == 0) return false;
    if (room > 2 && Delimited(text, room, wanted, found).find()) return true;
    const Decoder* decoder = decoder_after(text, wanted);
    int tries = room > 3 ? kFewTries : kMaxTries;
    return decoder && find_digits(*decoder, room, wanted, tries, found);
}

std::span<const uint8_t> text_of(const Hostnames::State& state) {
    return {state.text, state.text_length()};
}

Wanted wanted_of(const Hostnames::State& state) {
    return {state.right_to_left, state.unordered};
}

idna::Verdict verdict_of(const Hostnames::State& state) {
    const Decoder* decoder = decoder_after(text_of(state), wanted_of(state));
    return decoder ? decoder->judge() : idna::Verdict{};
}

}  // namespace

std::span<const uint32_t> Hostnames::pack(const State& s, uint32_t (&words)[kMaxWords]) {
    words[0] = s.total | uint32_t{s.length} << 8 | uint32_t{s.stage} << 16;
    words[1] = s.after_hyphen | uint32_t{s.digit_first} << 1 | uint32_t{s.right_to_left} << 2 |
               uint32_t{s.unordered} << 3 | uint32_t{s.escape} << 8 | uint32_t{s.digit} << 16;
    size_t count = 2 + (s.text_length() + 3) / 4;
    words[count - 1] = count > 2 ? 0 : words[1];
    std::memcpy(words + 2, s.text, s.text_length());
    return {words, count};
}

Hostnames::State Hostnames::unpack(std::span<const uint32_t> words) {
    State s;
    s.total = words[0] & 0xff;
    s.length = words[0] >> 8 & 0xff;
    s.stage = static_cast<Stage>(words[0] >> 16);
    s.after_hyphen = words[1] & 1;
    s.digit_first = words[1] >> 1 & 1;
    s.right_to_left = words[1] >> 2 & 1;
    s.unordered = words[1] >> 3 & 1;
    s.escape = words[1] >> 8 & 0xff;
    s.digit = words[1] >> 16 & 0xff;
    std::memcpy(s.text, words.data() + 2, s.text_length());
    return s;
}

// Characters that the label may still have.
uint32_t Hostnames::room(const State& s) const {
    return std::min(kMaxLabel - s.length, longest_ - s.total);
}

Hostnames::Outcome Hostnames::outcome(const State& s) const {
    Outcome found;
    const uint32_t left = room(s);
    if (s.stage == kALabel) {
        found.accepting = wanted_of(s).fits(verdict_of(s));
        std::string unused;
        found.goes_on = left >= kPlenty || find_more(text_of(s), left, wanted_of(s), unused);
    } else {
        found.accepting = s.stage != kStart && !s.after_hyphen;
        found.goes_on = left > 0;
    }
    found.goes_on |= found.accepting && longest_ - s.total >= 2;  // a dot and a label
    return found;
}

Hostnames::Outcome Hostnames::step_character(const State& from, uint8_t character,
                                             State& to) const {
    const uint8_t c = lower(character);
    to = from;
    if (from.total == longest_) return {};
    ++to.total;
    if (c == '.') {
        if (from.stage == kStart || from.after_hyphen) return {};
        if (from.stage == kALabel) {
            const idna::Verdict verdict = verdict_of(from);
            if (!wanted_of(from).fits(verdict)) return {};
            to.right_to_left |= verdict.right_to_left;
            to.unordered |= !verdict.ordered;
        }
        to.unordered |= from.digit_first;
        to.stage = kStart;
        to.length = 0;
        to.after_hyphen = to.digit_first = false;
        return outcome(to);
    }
    if ((!is_letter(c) && !is_digit(c) && c != '-') || from.length == kMaxLabel) return {};
    ++to.length;
    to.after_hyphen = c == '-';
    switch (from.stage) {
        case kStart:
            if (c == '-' || (from.right_to_left && is_digit(c))) return {};
            to.digit_first = is_digit(c);
            to.stage = c == 'x' ? kX : kOther;
            break;
        case kX: to.stage = c == 'n' ? kXn : kOther; break;
        case kXn: to.stage = c == '-' ? kXnHyphen : kOther; break;
        case kXnHyphen: to.stage = c == '-' ? kALabel : kOther; break;
        case kALabel: to.text[from.text_length()] = c; break;
        case kOther:
            // RFC 5890, section 2.3.1: such labels are reserved.
            if (c == '-' && from.after_hyphen && from.length == 3) return {};
            break;
    }
    if (to.stage == kALabel) to.after_hyphen = false;  // what ends there, the text tells
    return outcome(to);
}

Hostnames::Outcome Hostnames::step(const State& from, uint8_t byte, State& to) const {
    constexpr Outcome kInside{false, true};
    if (from.escape == 0) {
        if (byte != '\\' || !escaped_) return step_character(from, byte, to);
        to = from;
        to.escape = 1;
        return kInside;
    }
    to = from;
    if (from.escape <= 3) {
        ++to.escape;
        return byte == "u00"[from.escape - 1] ? kInside : Outcome{};
    }
    const uint8_t c = lower(byte);
    if (!is_digit(c) && !(c >= 'a' && c <= 'f')) return {};
    const auto value = static_cast<uint8_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
    State base = from;
    base.escape = base.digit = 0;
    if (from.escape == 5)
        return from.digit * 16 + value < 0x80
                   ? step_character(base, static_cast<uint8_t>(from.digit * 16 + value), to)
                   : Outcome{};
    to.escape = 5;
    to.digit = value;
    for (uint8_t last = 0; value < 8 && last < 16; ++last) {
        State unused;
        if (!step_character(base, static_cast<uint8_t>(value * 16 + last), unused).dead())
            return kInside;
    }
    return {};
}

bool Hostnames::completion(const State& state, std::string& text) const {
    if (state.escape) {
        for (int byte = '0'; byte <= 'u'; ++byte) {
            State to;
            if (step(state, static_cast<uint8_t>(byte), to).dead()) continue;
            text.push_back(static_cast<char>(byte));
            return (to.escape == 0 && outcome(to).accepting) || completion(to, text);
        }
        return false;
    }
    const bool label = longest_ - state.total >= 2 && outcome(state).accepting;
    if (state.stage != kALabel && room(state) > 0) {
        text.push_back('a');
        return true;
    }
    std::string more;
    if (!label &&
        !(state.stage == kALabel && find_more(text_of(state), room(state), wanted_of(state), more)))
        return false;
    text += label ? ".a" : more;
    return true;
}

Hostnames::Safe Hostnames::safe(const State& state) const {
    const uint32_t left = room(state);
    if (state.escape) return {};
    if (state.stage == kALabel) return {left > kPlenty ? left - kPlenty : 0, true};
    // Where the Bidi rule holds no digit may come first.
    return {state.stage == kStart && state.right_to_left ? 0 : left, false};
}

}  // namespace guided
