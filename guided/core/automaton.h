// The automaton over tokens: states of a grammar, what a token does to them, which tokens they
// allow.
//
// Simple telling. A state is a set of heads (machine.h) plus "the text may end here". A byte
// advances each head; a head that completes is replaced by the closure of its continuation. A token
// is its bytes, one after the other. States are interned and hold no positions, so they recur, and
// next[state, token] and row[state] are table look-ups once they are known.
//
// What that leaves out:
// - Leaves are not bytes but whole terminals (`Leaf`): a literal with an offset; a run, the repeat
//   of a prefix-free unit, with its remaining counts; a run without some finite set of texts; any
//   other regular node; tokens by id; lexemes. `classify` decides.
// - Objects and arrays that remember what was written are records (records.cpp).
// - While a token is read, the closure of a completed head is one deferred head, which is opened
//   only if the next byte is among its first bytes: most exits of a run lead nowhere
//   (`close_completed`).
// - Masks come from the residual tables of terminals (masks.cpp), not from a walk over all tokens.
// - What follows a lexeme carries a guard: the texts that must not match longer than it did. If one
//   does, this was not the lexer's reading, and it dies (lexemes.cpp).
// - One generation of states is bounded in bytes. When it is full, new matchers start on a new one
//   (`Automaton::machine`).
//
// Threads: what is known is read without locks (rows_, transitions_, first sets of interned
// states); all else happens under mutex_.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "grammar.h"
#include "lalr.h"
#include "machine.h"
#include "passages.h"
#include "record.h"
#include "recorded.h"
#include "rows.h"
#include "tables.h"
#include "transitions.h"
#include "vocabulary.h"

namespace guided {

struct Limits {
    uint32_t max_heads = 10'000;
    size_t max_bytes = size_t{1} << 30;
};

class Machine : private Expander {
  public:
    static constexpr uint32_t kEnded = 0;  // after the end token: nothing more is allowed

    Machine(std::shared_ptr<const ClosedGrammar> grammar, std::shared_ptr<Vocabulary> vocabulary,
            Limits limits);

    uint32_t start() const { return start_; }
    bool complete(uint32_t state) const { return states_[state].complete; }
    Vocabulary& vocabulary() const { return *vocabulary_; }

    // The state after `token`; kNone if it is not allowed.
    uint32_t next(uint32_t state, uint32_t token) {
        uint32_t known = transitions_.find(state, token);
        return known != kNone ? known : find_next(state, token);
    }
    uint32_t known_next(uint32_t state, uint32_t token) const {
        return transitions_.find(state, token);
    }
    uint32_t next_bytes(uint32_t state, std::string_view bytes);
    const Row& row(uint32_t state) {
        const Row* known = states_[state].row.load(std::memory_order_acquire);
        return known ? *known : find_row(state);
    }
    bool knows_row(uint32_t state) const {
        return states_[state].row.load(std::memory_order_acquire);
    }
    ByteSet first(uint32_t state);  // the bytes that may come next
    bool has_token_heads(uint32_t state) const { return states_[state].token_heads; }
    std::vector<std::string> describe(uint32_t state);

    uint32_t precompute(uint32_t max_states);
    // The known states as a tree: parent (index into this list), token, row known. The first is the
    // start.
    struct Known {
        uint32_t parent, token, has_row;
    };
    std::vector<Known> known_states();

    bool full() const {
        return bytes_.load(std::memory_order_relaxed) > limits_.max_bytes ||
               is_worn_.load(std::memory_order_relaxed);
    }
    struct Stats {
        uint64_t states, rows, transitions, continuations, heads_max, bytes;
    };
    Stats stats();

  private:
    enum class Leaf : uint8_t {
        kNone,
        kLiteral,
        kTerminal,
        kRun,
        kRunMinus,
        kToken,
        kLexeme,
        kRecorded
    };
    struct LeafInfo {
        Leaf kind = Leaf::kNone;
        Terminal* terminal = nullptr;  // of a run: its unit
        Terminal* removed = nullptr;   // kRunMinus: the texts that are not allowed; kLexeme: that
                                       // must not match longer
        uint32_t run = 0;              // kRunMinus: the node of the run itself; kLexeme: its node
        bool closed = false;           // kRecorded: no text of it begins another
        bool newline = false;          // kLexeme: it ends in an indentation (parsers.cpp)
        std::string_view text = {};    // kLiteral
    };
    struct State {
        std::atomic<const Row*> row{nullptr};
        bool complete = false;
        bool token_heads = false;
        ByteSet first;  // bytes that a head takes
    };

    class ByteSets {  // by node; few are asked for
      public:
        const ByteSet* find(uint32_t node) const {
            return node < at_.size() && at_[node] ? &sets_[at_[node] - 1] : nullptr;
        }
        const ByteSet& add(uint32_t node, const ByteSet& set, size_t nodes) {
            if (at_.empty()) at_.resize(nodes, 0);
            sets_.push_back(set);
            at_[node] = static_cast<uint32_t>(sets_.size());
            return set;
        }

      private:
        std::vector<uint32_t> at_;  // one more than the place in sets_; 0: not known
        std::vector<ByteSet> sets_;
    };

    bool is_leaf(uint32_t node) override { return leaf(node).kind != Leaf::kNone; }
    Head leaf_head(uint32_t node) override;

    // classify.cpp
    const LeafInfo& leaf(uint32_t node) {
        const LeafInfo* info = leaf_of_[node];
        return info ? *info : find_leaf(node);
    }
    const LeafInfo& find_leaf(uint32_t node);
    uint32_t add_leaf(const LeafInfo& info);  // that no node is; its number
    LeafInfo classify(uint32_t node);
    LeafInfo whole_terminal(uint32_t node);
    bool is_run(uint32_t node);
    Group group(uint32_t sequence) override;
    Group find_group(uint32_t sequence);
    ByteSet first_bytes(uint32_t node);
    ByteSet tail_bytes(uint32_t node);
    ByteSet dfa_bytes(const Arena::Node& n, bool tail) const;
    static ByteSet hostname_bytes(const Arena::Node& n, bool tail);
    Terminal* acquire(uint32_t node);

    // records.cpp
    const Record& record(uint32_t node);
    std::unique_ptr<Record> make_record(uint32_t node);
    Record::Texts texts_of(const Record& r);
    bool is_unwritten(const Record& r, uint32_t chain, const std::string& value) const;
    bool takes(const Continuations::Frame& f, const std::string& value);
    uint32_t intern_progress(const Record& record, const Progress& p);
    bool begin_record(uint32_t node, uint32_t& begin, uint32_t& progress) override;
    void pop_record(const Continuations::Frame& f, std::vector<Head>& heads) override;
    bool may_offer(const Record& r, const Progress& p, uint32_t member);
    uint32_t recorded_leaf(uint32_t key);
    template <class F>
    void for_each_record(uint32_t cont, F&& f) {
        if (!conts().is_union(cont)) return f(cont);
        auto members = conts().members(cont);
        for (uint32_t one : std::vector<uint32_t>(members.begin(), members.end())) f(one);
    }
    bool is_new(uint32_t cont, const std::string& value);
    uint32_t complete_recorded(uint32_t cont, uint32_t text);
    void step_recorded(const LeafInfo& info, Head head, uint8_t byte, std::vector<Head>& out);
    bool may_finish(const Head& head);
    ByteSet recorded_bytes(const Head& head);
    // record_masks.cpp
    bool is_simple_text(const Head& head);
    bool is_tabled_text(const Head& head);
    bool is_guess(const Head& head);
    bool may_be_excluded(const Head& head);
    // Tokens that the texts which must not be written rule out.
    struct Excluded {
        std::vector<uint32_t> dead;    // the text could only end where it must not; sorted
        std::vector<uint32_t> ended;   // it ends there and must not, within or with the token
        std::vector<uint32_t> scarce;  // it may end there, and what may follow is another matter;
                                       // sorted
    };
    Excluded excluded(uint32_t trie_node, const Head& head, bool written_only);
    bool recorded_key(uint32_t trie_node, const Head& head, uint32_t behind, Hash128& key);
    bool is_scarce(uint32_t cont, const std::string& value);
    struct Following {                    // texts that begin with some prefix
        bool any = false, ended = false;  // there are some; the prefix itself is one
        ByteSet bytes;                    // that follow it in the others
    };
    Following excluded_after(uint32_t cont, const std::string& prefix, bool written_only);
    struct General {
        uint32_t cont;
        bool is_listed;
    };
    General general(uint32_t cont);
    bool generalizes(uint32_t node);
    const Row* general_row(uint32_t state);
    struct Suspect {           // a token that the heads of a state may not read
        uint32_t token, head;  // the number of one that surely does not; kNone: none is known
        auto operator<=>(const Suspect&) const = default;
    };
    std::vector<uint32_t> refused_by(const std::vector<Head>& heads,
                                     std::span<const Suspect> suspects);
    bool reads(std::vector<Head> from, std::string_view bytes);

    // lexemes.cpp
    uint32_t advance_guard(uint32_t guard, uint8_t byte);
    const ByteSet& guard_bytes(uint32_t guard);
    uint32_t guard_behind(uint32_t guard, uint32_t node, uint32_t state);
    uint32_t find_guard(uint32_t guard, uint32_t node, uint32_t state);
    const ByteSet& bytes_after(uint32_t node);
    ByteSet find_bytes_after(uint32_t node, int enough);
    bool is_hopeless(uint32_t behind, uint32_t guard);
    void step_lexeme(Head head, uint8_t byte, std::vector<Head>& out);
    uint32_t newline_leaf(uint32_t node);
    // parsers.cpp
    struct Offers {  // lexemes that may come next, of some state or for some bytes
        std::vector<uint32_t> leaves;    // those that are ignored, then the newlines, then others
        uint32_t newlines = 0, fed = 0;  // where the newlines begin, and the others
        std::vector<uint32_t> symbols;   // of the others, sorted
        std::vector<uint32_t> begins;    // of each symbol, where its leaves begin; and the end
    };
    struct Parser {
        LalrParts parts;
        std::vector<ByteSet> first;     // by state: the bytes that begin some lexeme of it
        std::vector<uint32_t> scanner;  // by state: the same number where the leaves are the same
        // By scanner and guard: some text that is ignored may come.
        std::unordered_map<uint64_t, bool> may_ignore;
        std::unordered_map<uint64_t, Offers> offers;  // by scanner and what they are for
        std::vector<uint32_t> table;  // by state and symbol, `width` of them: `action`
        size_t width = 0;             // 0: the table would be too large
        void fill_table();
        // Twice the target, and 1 if it is a rule to be reduced; kNone if there is no action.
        uint32_t action(uint32_t state, uint32_t symbol) const;
    };
    struct Fed {  // what is still to be fed: `rule` is what they ask for, where it is known
        uint32_t stack, rule;
        std::vector<uint32_t> symbols;
    };
    template <class T>
    struct Truncate {  // takes back what is added in its scope
        std::vector<T>& list;
        const size_t size;
        explicit Truncate(std::vector<T>& all) : list(all), size(all.size()) {}
        Truncate(const Truncate&) = delete;
        ~Truncate() { list.resize(size); }
    };
    // A stack is the continuation of its top frame, or, while it is only tried, the number of its
    // top frame in trials_ with this bit.
    static constexpr uint32_t kTrial = 1u << 31;
    using Trials = Truncate<Continuations::Frame>;
    static bool is_trial(uint32_t stack) { return stack & kTrial; }
    Continuations::Frame frame_of(uint32_t stack) const {
        return is_trial(stack) ? trials_[stack & ~kTrial] : conts().frame(stack);
    }
    uint32_t trial(const Continuations::Frame& top) {
        trials_.push_back(top);
        return kTrial | static_cast<uint32_t>(trials_.size() - 1);
    }
    uint32_t settle(uint32_t stack);
    uint32_t settle_all(const std::vector<uint32_t>& stacks);

    Parser& parser(uint32_t node);
    Parser& find_parser(uint32_t node);
    const LalrParts& lalr(uint32_t node) { return parser(node).parts; }
    template <class Bytes>
    const Offers& offers(Parser& parser, uint32_t state, uint32_t key, Bytes&& bytes);
    const Offers& offers_on(Parser& parser, uint32_t state, uint8_t byte);
    Offers make_offers(const Parser& parser, uint32_t state, const ByteSet& bytes);
    template <class F>
    void offer(uint32_t stack, const Offers& all, F&& offered);
    void offer_heads(uint32_t stack, const Offers& all, std::vector<Head>& heads);
    bool is_stack(uint32_t cont) const;
    ByteSet stack_first(uint32_t cont);
    const std::vector<Head>& stack_heads(uint32_t cont, uint8_t byte);
    uint32_t stack_behind(uint32_t stack);
    bool is_narrow(uint32_t node);
    bool may_follow(uint32_t behind, uint32_t node);
    bool may_follow_frame(uint32_t behind, uint32_t node);
    bool is_dead_end(uint32_t stack, uint32_t guard);
    bool is_dead_frame(uint32_t stack, uint32_t guard);
    bool may_ignore(uint32_t stack, uint32_t guard);
    bool begin_lalr(uint32_t node, uint32_t& state, uint32_t& environment) override;
    void pop_lalr(uint32_t stack, std::vector<Head>& heads) override;
    // stacks.h
    template <class F>
    void for_each_frame(uint32_t stack, F&& f);
    template <class F>
    void feed(uint32_t stack, std::span<const uint32_t> symbols, F&& shifted);
    template <class F>
    uint32_t shift(uint32_t stack, size_t begin, std::vector<Fed>& others, F& shifted);
    template <class F>
    uint32_t reduce(uint32_t stack, uint32_t rule, size_t begin, std::vector<Fed>& others,
                    F& shifted);
    static void check_reductions(size_t count);
    void add_other(uint32_t stack, size_t begin, std::vector<Fed>& others) const;
    static void add_to_other(uint32_t stack, uint32_t symbol, uint32_t rule,
                             std::vector<Fed>& others);
    std::vector<uint32_t> bases_below(uint32_t stack, uint32_t count);
    bool takes(uint32_t stack, uint32_t symbol);
    // indentation.cpp
    static constexpr uint32_t kLevel = 0;  // the environment at the start
    uint32_t brackets(uint32_t stack) const;
    bool in_brackets(uint32_t stack) const { return brackets(stack); }
    uint32_t with_brackets(uint32_t environment, uint32_t count);
    std::vector<uint32_t> environment(uint32_t stack) const;
    uint32_t with_environment(uint32_t stack, const std::vector<uint32_t>& words);
    uint32_t with_bracket(uint32_t stack, uint32_t symbol);
    void dedent_to(uint32_t stack, uint32_t column, std::vector<uint32_t>& after);
    uint32_t column_after(uint32_t stack, uint32_t before, Indent indent);
    uint32_t feed_newline(uint32_t cont, uint32_t column);
    void find_lines(uint32_t stack, uint32_t column, std::vector<uint32_t>& after);
    void find_blocks(uint32_t stack, uint32_t column, std::vector<uint32_t>& after);
    // passages.cpp
    struct Behind {
        uint32_t guard;
        ByteSet free, open;
    };
    struct Ends {  // of a lexeme, as far as they were met; by guard and state
        std::vector<Behind> all;
        std::unordered_map<uint64_t, uint32_t> known;
        std::vector<uint32_t> plain;  // without a guard
        uint32_t number(Machine& machine, uint32_t leaf, uint32_t guard, uint32_t state);
    };
    void add_remains(Passage& passage, uint32_t guard, uint32_t indent,
                     std::vector<Remains>& parts);
    const Passage& passage(uint32_t leaf, uint32_t state, uint32_t remains, uint32_t guard);
    RemainsTable& remainders();
    std::unique_ptr<Passage> make_passage(uint32_t leaf, uint32_t state, const Remains& remains,
                                          uint32_t guard);
    // outcomes.cpp
    struct Junction {  // the lexemes of a scanner for some remainders, and their passages
        uint32_t remains, guard;
        Offers offers;
        std::vector<const Passage*> passages;  // by leaf; made when asked for
        uint32_t within, outside;              // bundles of those that are fed, by brackets
    };
    struct Element {  // a lexeme of a junction, by its number there, that waits for its symbol
        uint32_t symbol, junction, number;
        auto operator<=>(const Element&) const = default;
    };
    static constexpr size_t kElementWords = sizeof(Element) / 4;
    struct Reduced {  // a bundle waits for so many frames to be taken off, and `symbol` put there
        uint32_t pops, symbol, brackets, bundle;
    };
    struct Later {  // what a stack is asked once it is known
        enum Kind : uint8_t { kNarrow, kEnding, kLines };
        struct Above {
            uint32_t state, brackets;
        };
        Kind kind;
        uint32_t junction, number;
        std::vector<Above> frames;  // the top one first
        uint32_t ending = 0;
    };
    struct Outcome {
        TokenSet tokens;
        std::vector<Reduced> reduced;
        std::vector<Later> later;
    };
    struct Deeper {  // counts what is nested, of lexemes in one token
        uint32_t& depth;
        explicit Deeper(uint32_t& now);
        Deeper(const Deeper&) = delete;
        ~Deeper() { --depth; }
    };
    struct Work {  // a bundle, and the top frame that it has come to
        Continuations::Frame top;
        uint32_t bundle;
        bool operator<(const Work& o) const {
            return std::tuple{top.parent, top.minimum, top.maximum} <
                   std::tuple{o.top.parent, o.top.minimum, o.top.maximum};
        }
    };
    struct Walk {  // of a mask, or of an outcome that is being found
        TokenSet tokens;
        Outcome* outcome;        // null of a mask
        std::vector<Work> todo;  // a heap
        std::vector<Reduced> reduced;
    };
    static constexpr uint32_t kBeneath = kNone;  // below a stack of which one frame is known
    uint32_t bundle(std::vector<Element>& elements);
    void add_elements(uint32_t bundle, std::vector<Element>& elements) const;
    uint32_t junction(uint32_t stack, uint32_t remains, uint32_t guard);
    const Passage& passage_of(uint32_t junction, uint32_t number);
    void start(Walk& walk, uint32_t stack, uint32_t remains, uint32_t guard);
    void take(Walk& walk, uint32_t junction, uint32_t number, uint32_t behind);
    void take_shifted(Walk& walk, const Element& element, uint32_t behind);
    void do_later(Walk& walk, uint32_t stack, Later later);
    void finish(Walk& walk);
    void add_work(Walk& walk, const Continuations::Frame& top, uint32_t bundle);
    uint32_t unite_bundles(std::vector<uint32_t>& bundles);
    void apply(Walk& walk, const Outcome& outcome, const Continuations::Frame& top);
    void pop(Walk& walk, const Reduced& reduced, const Continuations::Frame& top);
    void go_to(Walk& walk, const Reduced& reduced, const Continuations::Frame& top, uint32_t base);
    const Outcome& outcome(uint32_t bundle, const Continuations::Frame& top);
    std::unique_ptr<Outcome> find_outcome(uint32_t bundle, Continuations::Frame top,
                                          uint32_t brackets);
    void merge(const std::vector<Reduced>& all, std::vector<Reduced>& merged);
    // passage_masks.cpp
    struct Line {  // one more than the column of a line, and what stands in it
        uint32_t column;
        const Passage::Ending* ending;
        const Passage::Exit* exit;
    };
    void take_head(Walk& walk, const Head& head);
    void take_within(Walk& walk, const Passage& passage, uint32_t stack);
    void take_lines(Walk& walk, const Passage& passage, uint32_t stack, uint32_t column);
    void take_alike(Walk& walk, uint32_t stack, const std::vector<Line>& lines, bool deeper);
    const Row* parser_row(uint32_t state);

    uint32_t intern(std::vector<Head>& heads, bool complete);
    std::span<const Head> heads(uint32_t state) const;
    uint32_t closure(uint32_t cont) {
        bool known = cont < closures_.size() && closures_[cont] != kNone;
        return known ? closures_[cont] : find_closure(cont);
    }
    uint32_t find_closure(uint32_t cont);
    void add_first(const Head& head, ByteSet& bytes);

    // As a head's node: all heads of the state in `state`; of the parser's stack in `state`; of the
    // stack in `state` once a newline is fed to it, at the column in `other`.
    static constexpr uint32_t kDeferred = kNone - 1, kStacked = kNone - 2, kLined = kNone - 3;
    static bool is_deferred(const Head& h) { return h.node >= kLined; }
    // It is walked as it is: under a guard no table is of use, and a stack offers its lexemes byte
    // by byte; a newline is fed to one only where code follows.
    static bool is_walked(const Head& h) {
        return h.node == kLined || (h.node == kStacked && h.guard);
    }
    bool feed_line(Head& lined);
    void expand(const Head& deferred, std::vector<Head>& out);

    // A literal that goes on with another byte, as most heads do.
    bool is_other(const Head& h, uint8_t byte) {
        const LeafInfo& info = leaf(h.node);
        return info.kind == Leaf::kLiteral && static_cast<uint8_t>(info.text[h.state]) != byte;
    }
    void step(const Head& head, uint8_t byte, std::vector<Head>& out);
    void step_all(size_t begin, size_t end, uint8_t byte, std::vector<Head>& heads, bool& complete);
    void step_leaf(const Head& head, uint8_t byte, std::vector<Head>& out);
    void close_completed(std::vector<Head>& out, bool& complete);
    bool run_through(std::vector<Head>& heads, std::string_view bytes, bool& complete);

    uint32_t find_next(uint32_t state, uint32_t token);
    const Row& find_row(uint32_t state);
    const Row& row_locked(uint32_t state, bool general);
    void check_memory();
    size_t bytes() const;

    // masks.cpp
    struct Mask {
        std::vector<BasePtr> bases;
        std::vector<uint32_t> tokens;
        Remainders::Collector* exits =
            nullptr;         // where END is reached inside a token, what follows there is collected
        bool unfit = false;  // not all of that could be
        std::vector<uint32_t>
            guesses;  // tokens that end a recorded text which may have been written
        void add(uint32_t token, bool guess) {
            tokens.push_back(token);
            if (guess) guesses.push_back(token);
        }
        static constexpr size_t kKept = 1 << 14;  // tokens, where a mask is used again
        void clear() {
            bases.clear();
            if (tokens.capacity() > kKept) tokens = {};
            tokens.clear();
            exits = nullptr;
            unfit = false;
            guesses.clear();
        }
    };
    std::unordered_map<Hash128, Mask, Hash128Hasher> recorded_masks_;
    // By place in the trie, state of a recorded text and what follows it: tokens, and whether they
    // are let through on a guess.
    std::unordered_map<Hash128, std::vector<std::pair<uint32_t, bool>>, Hash128Hasher>
        exits_behind_;
    size_t exits_behind_bytes_ = 0;
    template <class Emit>
    void walk_exits(Table& table, uint32_t behind, Emit&& emit);
    const std::vector<std::pair<uint32_t, bool>>& exits_behind(uint32_t trie_node, const Head& head,
                                                               uint32_t behind, Table& table);
    void collect(uint32_t trie_node, size_t depth, size_t begin, size_t end, Mask& mask);
    bool collect_by_table(uint32_t trie_node, size_t depth, const Head& head, Mask& mask);
    bool collect_lexeme(uint32_t trie_node, size_t depth, const Head& head, Mask& mask);
    bool collect_exits(const Head& deferred, const ByteSet& first, Table& table, Mask& mask);
    Table::Inside without(Table::Inside inside, std::span<const uint32_t> excluded, Mask& mask);
    void drop_removed(uint32_t trie_node, size_t depth, const Head& head, const ByteSet& first,
                      std::vector<uint32_t>& tokens);
    template <class Emit, class Descend>
    void walk(const Trie& trie, uint32_t node, size_t depth, size_t begin, size_t end, Emit&& emit,
              Descend&& descend);
    template <class Keep>
    void add_exits(const Trie& trie, uint32_t node, Keep&& keep, Mask& mask);

    // fragments.cpp
    struct PartHeads {  // heads inside one part, with the mark at its end
        uint32_t mark;
        std::vector<Head> heads;
    };
    uint32_t mark_of(const Head& head) const;
    bool fragment_key(const PartHeads& group, Hash128& key);
    bool frame_key(const Continuations::Frame& f, Hash128& key);
    uint32_t rebase(uint32_t cont, uint32_t mark);
    bool collect_fragment(const PartHeads& group, Mask& mask);
    void find_fragment(Fragment& fragment, const std::vector<Head>& heads, const ByteSet& bytes);

    void add_token_heads(const Head& head, Mask& mask);

    std::shared_ptr<const ClosedGrammar> grammar_;
    std::shared_ptr<Vocabulary> vocabulary_;
    const Limits limits_;
    bool lexemes_ = false;
    uint32_t start_ = 0;
    StableVector<State> states_;
    Transitions transitions_;
    std::atomic<size_t> bytes_{0};      // of this generation, as last looked at
    std::atomic<bool> is_worn_{false};  // then some terminal has nearly as many states as it may

    std::mutex mutex_;                // guards all that follows, and the expander
    SequenceTable state_heads_;       // "complete", then the heads
    std::vector<uint32_t> closures_;  // by continuation: the state of its closure
    SequenceTable guards_;  // pairs of lexeme node and state of what must not match; 0 is none
    std::unordered_map<uint64_t, uint32_t> guard_steps_;  // guard and byte: guard
    std::unordered_map<uint32_t, ByteSet> guard_bytes_;
    std::unordered_map<uint64_t, uint32_t> first_guards_;  // behind a leaf and its state
    std::pair<uint32_t, Parser*> latest_parser_{kNone, nullptr};
    std::unordered_map<uint32_t, std::unique_ptr<Parser>> parsers_;  // by node
    std::unordered_map<uint64_t, std::vector<Head>> stack_heads_;    // by stack and byte
    std::unordered_map<uint64_t, uint32_t> lines_;                   // by stack and column: stack
    std::unordered_map<uint32_t, ByteSet> bytes_after_;              // by lexeme
    std::unordered_map<uint32_t, uint32_t> newline_leaves_;          // by node
    std::unordered_map<uint32_t, uint32_t> behind_;  // by stack: what follows the parser
    size_t stack_bytes_ = 0;      // of stack_heads_ and lines_, passages and junctions
    SequenceTable environments_;  // of parsers
    std::vector<Continuations::Frame> trials_;  // stacks that are tried
    std::vector<uint32_t> wanted_;              // symbols that are fed
    std::unique_ptr<RemainsTable> remains_;     // made when asked for
    SequenceTable passage_keys_, junction_keys_, outcome_keys_;
    SequenceTable bundles_, unions_;                    // of elements, of bundles
    uint32_t depth_ = 0;                                // of Deeper
    std::vector<uint32_t> united_bundles_;              // by union
    std::unordered_map<uint32_t, bool> narrow_;         // by lexeme
    std::vector<std::unique_ptr<Passage>> passages_;    // by key
    std::vector<std::unique_ptr<Junction>> junctions_;  // by key
    std::vector<std::unique_ptr<Outcome>> outcomes_;    // by key
    std::deque<LeafInfo> leaves_;
    std::vector<const LeafInfo*> leaf_of_;  // by node, and behind them by number; null: not known
    std::vector<std::shared_ptr<Terminal>> terminals_;
    ByteSets first_bytes_, tail_bytes_;
    std::vector<uint32_t> group_of_;  // by sequence: one more than its place in groups_; 0: unknown
    std::vector<Group> groups_;
    std::unordered_map<uint32_t, std::unique_ptr<Record>> records_;  // by node
    std::unordered_map<uint32_t, uint32_t> recorded_leaves_;         // by node of the key
    SequenceTable progress_;
    Texts texts_;
    Chains chains_;
    std::vector<General> general_;                                 // by continuation
    std::unordered_map<uint32_t, bool> generalizes_;               // by node
    std::unordered_map<uint32_t, std::vector<uint32_t>> guesses_;  // by general state
    bool guessed_ = false;   // at this byte a text was compared with an unknown list
    bool on_guess_ = false;  // so it was on the way that a walk has come
    std::vector<RowPtr> rows_;
    size_t heads_max_ = 0;
    std::vector<Head> stack_, buffer_, merged_;      // work of one walk
    std::vector<Head> closing_, reading_, looking_;  // lent (Borrowed), as what follows
    std::vector<uint32_t> waiting_, found_;
    Mask mask_;
    std::vector<uint32_t> key_, progress_words_;
    std::vector<std::pair<uint32_t, uint32_t>> completed_;  // at this byte: guard, continuation
    std::vector<uint32_t> united_;
    bool opened_ = false;  // a deferred head was opened at this byte
};

class Automaton {
  public:
    Automaton(Arena arena, uint32_t start, std::shared_ptr<Vocabulary> vocabulary, Limits limits);

    // The present generation of states; a full one is left to the matchers that are on it.
    std::shared_ptr<Machine> machine();
    const std::shared_ptr<Vocabulary>& vocabulary() const { return vocabulary_; }

    std::string save();
    static std::unique_ptr<Automaton> load(std::string_view data,
                                           std::shared_ptr<Vocabulary> vocabulary);

  private:
    std::shared_ptr<Vocabulary> vocabulary_;
    Limits limits_;
    std::shared_ptr<const ClosedGrammar> grammar_;
    std::mutex mutex_;
    std::shared_ptr<Machine> machine_;
};

}  // namespace guided
