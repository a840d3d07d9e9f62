// What the core throws. bindings/module.cpp turns each into the exception of guided.errors that it
// stands for.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace guided {

// A bound was passed: `limit` names it, `option` is what raises it ("" if it is fixed).
struct LimitExceeded : std::runtime_error {
    LimitExceeded(const std::string& fact, std::string limit_, uint64_t value_, std::string option_)
        : std::runtime_error(fact), limit(std::move(limit_)), value(value_),
          option(std::move(option_)) {}
    std::string limit;
    uint64_t value;
    std::string option;
};

// The grammar is at fault: an undefined rule, or nothing that can match.
struct BadGrammar : std::runtime_error {
    BadGrammar(const std::string& fact, std::string mend_)
        : std::runtime_error(fact), mend(std::move(mend_)) {}
    std::string mend;
};

// More tokens were to be taken back than were accepted.
struct BadRollback : std::runtime_error {
    BadRollback(int64_t asked_, uint64_t accepted_)
        : std::runtime_error("rollback beyond the start"), asked(asked_), accepted(accepted_) {}
    int64_t asked;
    uint64_t accepted;
};

}  // namespace guided
