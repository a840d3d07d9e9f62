// Tokens as Python gives them: one, a list, a draft.
#pragma once

#include "../matcher.h"
#include "bindings.h"

namespace guided::bindings {

inline uint32_t clamp_token(int64_t token) {  // one that no vocabulary has is simply never allowed
    return token < 0 || token >= kNone ? kNone - 1 : static_cast<uint32_t>(token);
}

int64_t token_number(nb::handle item);
std::vector<uint32_t> token_list(nb::handle sequence);
Draft read_draft(nb::handle tokens,
                 nb::handle parents);  // parents None: each follows the one before

}  // namespace guided::bindings
