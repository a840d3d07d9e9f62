// Many threads on automata that share a vocabulary: each must see what one thread alone sees.
//
//     fuzz_threads [SECONDS [SEED]]
//
// As fuzz_core, but built under the thread sanitizer.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "errors.h"
#include "matcher.h"
#include "random_grammar.h"

// What the sanitizer finds is to end by a signal, in whose handler the seed is told.
extern "C" const char* __tsan_default_options() {
    return "abort_on_error=1:halt_on_error=1";
}

namespace {

using namespace guided;
using fuzz::Random;

constexpr uint32_t kThreads = 4, kGrammars = 3, kPaths = 12;

struct Path {
    uint32_t grammar;
    std::vector<uint32_t> tokens;
    std::vector<std::vector<uint32_t>> allowed;  // before each token, and at the end
};

struct Grammar {
    Arena arena;
    uint32_t start;
};

std::atomic<uint64_t> current_seed;

void tell_seed(int) {
    std::fprintf(stderr, "fuzz_threads: seed %llu\n",
                 static_cast<unsigned long long>(current_seed.load()));
    std::_Exit(1);
}

void fail(const char* what) {
    std::fprintf(stderr, "fuzz_threads: violated: %s\n", what);
    std::abort();
}

Path random_path(Random& random, uint32_t grammar, Automaton& automaton) {
    Path path{grammar, {}, {}};
    Matcher m(automaton);
    for (uint32_t step = random.below(12); step > 0; --step) {
        path.allowed.push_back(m.row().list());
        if (path.allowed.back().empty()) return path;
        path.tokens.push_back(random.pick(path.allowed.back()));
        m.accept(path.tokens.back());
    }
    path.allowed.push_back(m.row().list());
    return path;
}

bool follow(const Path& path, Automaton& automaton) {
    Matcher m(automaton);
    for (size_t i = 0; i < path.tokens.size(); ++i) {
        if (m.row().list() != path.allowed[i]) return false;
        Matcher copy(m);
        if (!copy.accept(path.tokens[i]) || !m.can_accept(path.tokens[i])) return false;
        m = std::move(copy);
    }
    m.forced_bytes();
    m.machine().describe(m.state());
    return m.accepted_prefix(path.tokens) <= path.tokens.size() &&
           m.row().list() == path.allowed.back();
}

void fill_batch(std::vector<std::unique_ptr<Automaton>>& automata, const std::vector<Path>& paths,
                const Vocabulary& vocabulary) {
    std::vector<Matcher> matchers;
    std::vector<Matcher*> batch;
    for (const Path& path : paths) {
        Matcher& m = matchers.emplace_back(*automata[path.grammar]);
        for (uint32_t token : path.tokens) m.accept(token);
    }
    for (Matcher& m : matchers) batch.push_back(&m);
    std::vector<uint32_t> mask(batch.size() * vocabulary.words());
    fill_masks(batch, {}, mask.data(), vocabulary.words(), 3);
}

// Build grammars and record paths with one thread, on a vocabulary of their own. False if a grammar
// is refused.
bool prepare(Random& random, std::shared_ptr<Vocabulary> vocabulary, const Limits& limits,
             std::vector<Grammar>& grammars, std::vector<Path>& paths) {
    try {
        for (uint32_t g = 0; g < kGrammars; ++g) {
            Arena arena;
            uint32_t start = fuzz::GrammarMaker(arena, random, random.one_in(4)).make();
            Automaton alone(arena, start, vocabulary, limits);
            grammars.push_back({arena, start});
            for (uint32_t p = 0; p < kPaths; ++p) paths.push_back(random_path(random, g, alone));
        }
    } catch (const BadGrammar&) {
        return false;
    } catch (const LimitExceeded&) {
        return false;
    }
    return true;
}

bool run_seed(uint64_t seed) {
    current_seed = seed;
    Random random(seed), again(seed);
    auto vocabulary = fuzz::make_vocabulary(random);
    auto shared = fuzz::make_vocabulary(again);  // equal, and nothing is known about it yet
    Limits limits;
    if (random.one_in(3)) limits.max_bytes = 4096 + random.below(1 << 16);
    std::vector<Grammar> grammars;
    std::vector<Path> paths;
    if (!prepare(random, vocabulary, limits, grammars, paths)) return false;
    std::vector<std::unique_ptr<Automaton>> automata;
    for (Grammar& g : grammars)
        automata.push_back(std::make_unique<Automaton>(g.arena, g.start, shared, limits));
    std::atomic<uint32_t> waiting{kThreads + 1};
    auto together = [&] {
        --waiting;
        while (waiting) std::this_thread::yield();
    };
    std::atomic<bool> equal{true};
    std::vector<std::thread> pool;
    for (uint32_t t = 0; t < kThreads; ++t)
        pool.emplace_back([&, t] {
            together();
            try {
                for (size_t i = 0; i < paths.size(); ++i) {
                    const Path& path = paths[(i * (2 * t + 1) + t) % paths.size()];
                    if (!follow(path, *automata[path.grammar])) equal = false;
                }
                if (t == 0) fill_batch(automata, paths, *shared);
            } catch (const LimitExceeded&) {  // paths of other threads fill the same bytes
            }
        });
    pool.emplace_back([&] {
        together();
        try {
            for (auto& automaton : automata) {
                automaton->machine()->precompute(20);
                auto loaded = Automaton::load(automaton->save(), shared);
                loaded->machine()->stats();
                automaton->machine()->stats();
            }
        } catch (const LimitExceeded&) {
        }
    });
    for (auto& thread : pool) thread.join();
    if (!equal) fail("all threads see what one sees");
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    using Clock = std::chrono::steady_clock;
    double seconds = count > 1 ? std::atof(arguments[1]) : 60;
    uint64_t clock = static_cast<uint64_t>(Clock::now().time_since_epoch().count());
    uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : clock;
    std::signal(SIGABRT, tell_seed);
    std::signal(SIGTERM, tell_seed);  // one that hangs can be told, too
    std::printf("fuzz_threads: from seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    uint64_t run = 0, refused = 0;
    auto end = Clock::now() + std::chrono::duration<double>(seconds);
    do refused += !run_seed(seed++), ++run;
    while (Clock::now() < end);
    std::printf("fuzz_threads: %llu seeds, %llu of them refused\n",
                static_cast<unsigned long long>(run), static_cast<unsigned long long>(refused));
    return 0;
}
