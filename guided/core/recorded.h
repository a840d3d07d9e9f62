// Recorded texts: the keys and items that a record (record.h) must not write again.
//
// Two texts are the same if they are the same JSON value: "\u0061" is "a", 1.0 is 1. While one is
// read, its bytes are a number in `Texts`; where it ends, its value is a number in `Chains`, which
// also numbers the lists of values written so far. A list is its last value and the list before it,
// so that growing one is one step, and what it holds is found by its values: each knows the lists
// that end with it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "interning.h"

namespace guided {

class Terminal;

// A canonical name of the JSON scalar that `text` spells.
std::string canonical_value(std::string_view text);

// The canonical value of a decoded string.
std::string value_of_text(std::string_view decoded);

// What the canonical values of all JSON strings begin with that begin as `text` does, which is the
// beginning of a string with its quote. Empty if it is the beginning of something else.
// `escaping`: the text breaks off within an escape.
std::string canonical_prefix(std::string_view text, bool* escaping = nullptr);

// Up to `most` values, each once, that are spelled by texts which go on from `state` of `terminal`
// behind `text`, and that are `wanted`. Short ones come first; throws LimitExceeded where very many
// are not wanted.
using WantedValue = std::function<bool(const std::string& value)>;
std::vector<std::string> values_after(Terminal& terminal, uint32_t state, const std::string& text,
                                      size_t most, const WantedValue& wanted);

class Texts {
  public:
    static constexpr uint32_t kNothing = 0;
    static constexpr uint32_t kUnknown = 1;  // some text: whichever it is, it was not written yet

    Texts() {
        table_.intern(nullptr, 0);
        uint32_t unknown[] = {kNone};
        table_.intern(unknown, 1);
    }
    uint32_t append(uint32_t text, uint8_t byte) {
        if (text == kUnknown) return kUnknown;
        uint32_t words[] = {text, byte};
        return table_.intern(words, 2);
    }
    uint32_t intern(std::string_view bytes) {
        uint32_t text = kNothing;
        for (char c : bytes) text = append(text, static_cast<uint8_t>(c));
        return text;
    }
    std::string spelled(uint32_t text) const;
    size_t bytes() const { return table_.bytes(); }

  private:
    SequenceTable table_;
};

class Chains {
  public:
    static constexpr uint32_t kEmpty = 0;
    static constexpr uint32_t kUnknown = 1;  // some list, in which what comes next is not

    Chains();
    uint32_t add(uint32_t chain, const std::string& value);
    // With a value more, whichever it is.
    uint32_t add_unknown(uint32_t chain);
    // Not all values of the list are known.
    bool is_open(uint32_t chain) const { return links_[chain].is_open; }
    bool has(uint32_t chain, const std::string& value) const;
    // Some value of the list begins with `prefix`. `most`: values looked at before the answer is
    // yes.
    bool may_have_prefix(uint32_t chain, const std::string& prefix, size_t most = 64) const;
    // A value of some list for each byte that may follow `prefix`, and `prefix` itself.
    template <class F>
    void for_each_next(std::string prefix, F&& f) const;
    size_t bytes() const { return table_.bytes() + links_.capacity() * sizeof(Link) + text_bytes_; }

  private:
    struct Link {
        uint32_t before, value, depth;
        uint32_t jump;  // an earlier list, so that any is found in few steps
        bool is_open;
    };
    bool ends_within(uint32_t end, uint32_t chain) const;
    SequenceTable table_;  // before, value
    std::vector<Link> links_;
    std::map<std::string, uint32_t, std::less<>> numbers_;
    std::vector<std::vector<uint32_t>> lists_;  // by value: those that end with it
    size_t text_bytes_ = 0;
};

template <class F>
void Chains::for_each_next(std::string prefix, F&& f) const {
    size_t length = prefix.size();
    for (auto at = numbers_.lower_bound(prefix); at != numbers_.end();) {
        const std::string& value = at->first;
        if (value.compare(0, length, prefix, 0, length) != 0) return;
        f(value);
        if (value.size() == length) {
            ++at;
            continue;
        }
        std::string beyond = prefix + value[length];
        if (static_cast<uint8_t>(beyond.back()) == 0xff) return;
        beyond.back() = static_cast<char>(static_cast<uint8_t>(beyond.back()) + 1);
        at = numbers_.lower_bound(beyond);
    }
}

}  // namespace guided
