#include "tokens.h"

namespace guided::bindings {

int64_t token_number(nb::handle item) {
    int64_t token = 0;
    if (!nb::try_cast<int64_t>(item, token)) throw nb::type_error("a token is an int");
    return token;
}

std::vector<uint32_t> token_list(nb::handle sequence) {
    std::vector<uint32_t> tokens;
    for (nb::handle item : nb::iter(sequence)) tokens.push_back(clamp_token(token_number(item)));
    return tokens;
}

Draft read_draft(nb::handle tokens, nb::handle parents) {
    Draft draft{token_list(tokens), {}};
    int64_t last = -1;
    if (parents.is_none())
        while (draft.parents.size() < draft.tokens.size()) draft.parents.push_back(last++);
    else
        for (nb::handle item : nb::iter(parents)) {
            int64_t parent = 0;
            if (!nb::try_cast<int64_t>(item, parent)) throw nb::type_error("a parent is an int");
            if (parent < -1 || parent > last++)
                throw std::invalid_argument("a parent is -1 or the place of a token before it");
            draft.parents.push_back(parent);
        }
    if (draft.parents.size() != draft.tokens.size())
        throw std::invalid_argument("a draft has a parent for each of its tokens");
    return draft;
}

}  // namespace guided::bindings
