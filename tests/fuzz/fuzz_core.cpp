// Random grammars over random vocabularies, walked at random: what the core says must agree with
// itself.
//
//     fuzz_core [SECONDS [SEED]]
//
// Runs seeds from SEED upwards for so many seconds (default: 60, from the clock); with 0 seconds
// that one seed. Built with the sources of the core, all but its bindings, under the address and
// undefined-behaviour sanitizers (`make fuzz`). On a failure the seed is printed.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "errors.h"
#include "matcher.h"
#include "random_grammar.h"

// What a sanitizer finds is to end like what `require` finds: by a signal, in whose handler the
// seed is told.
extern "C" const char* __asan_default_options() {
    return "abort_on_error=1";
}
extern "C" const char* __ubsan_default_options() {
    return "abort_on_error=1:print_stacktrace=1";
}

namespace {

using namespace guided;
using fuzz::Random;

uint64_t current_seed;

void tell_seed(int) {
    std::fprintf(stderr, "fuzz_core: seed %llu\n", static_cast<unsigned long long>(current_seed));
}

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "fuzz_core: violated: %s\n", what);
    std::abort();
}

class Walk {
  public:
    Walk(Random& random, Automaton& automaton, std::shared_ptr<Vocabulary> vocabulary)
        : random_(random), automaton_(automaton), vocabulary_(std::move(vocabulary)) {
        matchers_.emplace_back(automaton_);
    }

    void run() {
        for (uint32_t step = random_.below(40); step > 0; --step) {
            size_t index = random_.below(static_cast<uint32_t>(matchers_.size()));
            perform(index);
        }
        for (Matcher& m : matchers_) take_all_back(m);
    }

  private:
    void perform(size_t index) {
        Matcher& m = matchers_[index];
        switch (random_.below(12)) {
            case 0: check_mask(m); break;
            case 1:
            case 2:
            case 3:
            case 4:
            case 5: accept(m); break;
            case 6: reject(m); break;
            case 7: roll_back(m); break;
            case 8:
                if (matchers_.size() < 6) {
                    Matcher copy(m);
                    require(copy.state() == m.state(), "a fork is in the same state");
                    matchers_.push_back(std::move(copy));
                }
                break;
            case 9: draft(m); break;
            case 10: by_bytes(m); break;
            default:
                if (random_.one_in(4)) save_and_load(m);
                else fill_batch();
        }
    }

    void check_mask(Matcher& m) {
        const Row& row = m.row();
        std::vector<uint32_t> words(vocabulary_->words() + 1, 0xdeadbeef);
        row.fill(words.data(), vocabulary_->words());
        require(words.back() == 0xdeadbeef, "a row stays within its words");
        uint32_t count = 0;
        for (uint32_t token = 0; token < vocabulary_->words() * 32; ++token) {
            bool bit = words[token >> 5] >> (token & 31) & 1;
            count += bit;
            require(bit == row.has(token), "fill and has agree");
            if (bit != m.can_accept(token)) blame(m, token);
            require(bit == m.can_accept(token), "a bit is set exactly if the token is accepted");
            require(!bit || token < vocabulary_->count(), "no bit is set beyond the tokens");
        }
        require(row.count() == count && row.list().size() == count, "the row is counted right");
        for (uint32_t end : vocabulary_->eos())
            if (m.is_complete()) require(row.has(end), "a complete text may end");
        if (m.is_terminated()) require(count == 0, "nothing follows the end");
        describe(m);
    }

    void blame(Matcher& m, uint32_t token) {
        std::fprintf(stderr, "fuzz_core: token %u of %u, spelling:", token, vocabulary_->count());
        if (vocabulary_->spells(token))
            for (char byte : vocabulary_->bytes(token))
                std::fprintf(stderr, " %02x", static_cast<uint8_t>(byte));
        std::fprintf(stderr, "; in the mask: %d\n", m.row().has(token));
        for (const std::string& line : m.machine().describe(m.state()))
            std::fprintf(stderr, "  %s\n", line.c_str());
    }

    void describe(Matcher& m) {
        auto lines = m.machine().describe(m.state());
        require(m.is_terminated() || !lines.empty(), "a state is described");
        std::string forced = m.forced_bytes();
        Matcher copy(m);
        for (char byte : forced) {
            require(!copy.is_complete(), "forced bytes stop where the text is complete");
            require(copy.allowed_bytes().count() == 1, "a forced byte has no alternative");
            require(copy.accept_bytes({&byte, 1}), "a forced byte is accepted");
        }
    }

    void accept(Matcher& m) {
        auto allowed = m.row().list();
        if (allowed.empty()) return;
        uint32_t before = m.state(), token = random_.pick(allowed);
        require(m.accept(token), "what the mask allows is accepted");
        uint32_t after = m.state();
        m.rollback(1);
        require(m.state() == before, "rollback undoes accept");
        require(m.accept(token) && m.state() == after, "the same token leads to the same state");
    }

    void reject(Matcher& m) {
        uint32_t token = random_.one_in(8) ? kNone - 1 : random_.below(vocabulary_->size() + 5);
        if (token < vocabulary_->size() && m.row().has(token)) return;
        uint32_t before = m.state();
        size_t length = m.tokens().size();
        require(!m.can_accept(token) && !m.accept(token), "what the mask forbids is rejected");
        require(m.state() == before && m.tokens().size() == length,
                "a rejected token changes nothing");
    }

    void roll_back(Matcher& m) {
        auto length = static_cast<uint32_t>(m.tokens().size());
        try {
            m.rollback(random_.one_in(2) ? length + 1 : -1);
            require(false, "rollback beyond the start is refused");
        } catch (const BadRollback&) {
        }
        require(m.tokens().size() == length, "a refused rollback changes nothing");
        m.rollback(random_.below(length + 1));
    }

    void draft(Matcher& m) {
        std::vector<uint32_t> tokens;
        Matcher trial(m);
        for (uint32_t i = random_.below(5); i > 0; --i) {
            auto allowed = trial.row().list();
            if (allowed.empty()) break;
            tokens.push_back(random_.pick(allowed));
            trial.accept(tokens.back());
        }
        uint32_t before = m.state();
        require(m.accepted_prefix(tokens) == tokens.size(),
                "a draft of allowed tokens goes through");
        require(m.state() == before, "looking at a draft changes nothing");
        tokens.push_back(random_.below(vocabulary_->size()));
        size_t wanted = tokens.size() - (trial.can_accept(tokens.back()) ? 0 : 1);
        require(m.accepted_prefix(tokens) == wanted, "a draft is cut at the first forbidden token");
    }

    void by_bytes(Matcher& m) {
        std::string bytes;
        for (uint32_t i = random_.below(4); i > 0; --i) bytes += random_.pick(fuzz::pieces());
        Matcher whole(m), single(m);
        bool accepted = whole.accept_bytes(bytes);
        bool alive = !m.is_terminated();
        for (size_t i = 0; alive && i < bytes.size(); ++i) {
            alive = single.accept_bytes({bytes.data() + i, 1});
            if (!alive) break;
        }
        require(accepted == alive, "bytes are accepted together exactly if one by one");
        if (accepted) {
            require(whole.is_complete() == single.is_complete(), "all splits are complete alike");
            require(whole.row().list() == single.row().list(), "all splits have the same mask");
            m = std::move(whole);
        }
    }

    void save_and_load(Matcher& m) {
        std::string data = automaton_.save();
        auto loaded = Automaton::load(data, vocabulary_);
        Matcher again(*loaded), here(automaton_);
        for (int32_t token : m.tokens()) {
            if (token < 0) return;  // given as bytes
            require(here.accept(static_cast<uint32_t>(token)), "a history can be accepted again");
            require(again.accept(static_cast<uint32_t>(token)),
                    "a loaded automaton accepts the same");
        }
        require(again.row().list() == m.row().list(), "a loaded automaton has the same masks");
        require(again.is_complete() == m.is_complete(), "a loaded automaton is complete alike");
        damage(std::move(data));
    }

    void damage(std::string data) {
        if (random_.one_in(2)) data.resize(random_.below(static_cast<uint32_t>(data.size())));
        else
            data[random_.below(static_cast<uint32_t>(data.size()))] ^=
                static_cast<char>(1 << random_.below(8));
        try {
            Automaton::load(data, vocabulary_);
        } catch (const std::invalid_argument&) {
            return;
        }
        require(false, "a damaged file is refused");
    }

    void fill_batch() {
        size_t stride = vocabulary_->words() + random_.below(3);
        std::vector<uint32_t> mask(stride * matchers_.size() + 1, 0xdeadbeef);
        std::vector<Matcher*> batch;
        for (Matcher& m : matchers_) batch.push_back(&m);
        fill_masks(batch, {}, mask.data(), stride, static_cast<int>(random_.below(4)));
        for (size_t b = 0; b < batch.size(); ++b) {
            std::vector<uint32_t> row(vocabulary_->words());
            batch[b]->row().fill(row.data(), vocabulary_->words());
            require(!std::memcmp(row.data(), mask.data() + b * stride, row.size() * 4),
                    "a batch is its rows");
        }
        require(mask.back() == 0xdeadbeef, "a batch stays within its mask");
    }

    void take_all_back(Matcher& m) {
        check_mask(m);
        m.rollback(static_cast<int64_t>(m.tokens().size()));
        require(m.state() == m.machine().start(), "without tokens a matcher is at the start");
    }

    Random& random_;
    Automaton& automaton_;
    std::shared_ptr<Vocabulary> vocabulary_;
    std::vector<Matcher> matchers_;
};

struct Counts {
    uint64_t seeds = 0, walked = 0, refused = 0, limited = 0;
};

void run_seed(uint64_t seed, Counts& counts) {
    current_seed = seed;
    ++counts.seeds;
    Random random(seed);
    auto vocabulary = fuzz::make_vocabulary(random);
    try {
        for (uint32_t grammars = 1 + random.below(3); grammars > 0; --grammars) {
            Arena arena(random.one_in(20) ? 30 : 2'000'000);
            uint32_t start = fuzz::GrammarMaker(arena, random, random.one_in(3)).make();
            Arena copy = Arena::deserialize(arena.serialize());
            require(copy.size() == arena.size(), "a copy has as many nodes");
            Limits limits;
            if (random.one_in(6)) limits.max_heads = 1 + random.below(50);
            if (random.one_in(6)) limits.max_bytes = 1 + random.below(1 << 16);
            Automaton automaton(random.one_in(2) ? copy : arena, start, vocabulary, limits);
            if (random.one_in(3)) automaton.machine()->precompute(1 + random.below(100));
            Walk(random, automaton, vocabulary).run();
            ++counts.walked;
        }
    } catch (const BadGrammar&) {
        ++counts.refused;
    } catch (const LimitExceeded&) {
        ++counts.limited;
    }
}

}  // namespace

int main(int count, char** arguments) {
    using Clock = std::chrono::steady_clock;
    double seconds = count > 1 ? std::atof(arguments[1]) : 60;
    uint64_t clock = static_cast<uint64_t>(Clock::now().time_since_epoch().count());
    uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : clock;
    std::signal(SIGABRT, tell_seed);
    std::signal(SIGTERM, [](int signal) {  // one that hangs can be told, too
        tell_seed(signal);
        std::_Exit(1);
    });
    std::signal(SIGSEGV, [](int signal) {
        tell_seed(signal);
        std::_Exit(1);
    });
    std::printf("fuzz_core: from seed %llu\n", static_cast<unsigned long long>(seed));
    Counts counts;
    auto end = Clock::now() + std::chrono::duration<double>(seconds);
    do run_seed(seed++, counts);
    while (Clock::now() < end);
    std::printf("fuzz_core: %llu seeds, %llu grammars walked, %llu refused, %llu over a limit\n",
                static_cast<unsigned long long>(counts.seeds),
                static_cast<unsigned long long>(counts.walked),
                static_cast<unsigned long long>(counts.refused),
                static_cast<unsigned long long>(counts.limited));
    return 0;
}
