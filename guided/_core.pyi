"""The C++ core: nodes, automata over tokens, masks. Users see it through `guided`."""

from collections.abc import Sequence
from typing import Any, Literal

class Arena:
    """Grammar nodes, hash-consed: equal nodes have equal numbers.

    Node numbers are ints. 0 is the empty text, 1 is `never` (matches nothing). All builder methods
    simplify (`sequence([])` is 0, `choice([])` is 1, `sequence([a, 1])` is 1, choices are sets, ...).
    Text is matched as UTF-8 bytes.

    Raises:
        LimitError: more than `max_nodes` nodes, or nesting deeper than 1,000 (sequences and choices of any
            length count as one level).
    """

    def __init__(self, max_nodes: int = 2_000_000) -> None: ...
    def clone(self) -> Arena:
        """Copy the arena; node numbers stay valid in the copy. A few microseconds for a small one."""
    def __len__(self) -> int: ...
    def literal(self, data: bytes | str) -> int:
        """Match exactly these bytes (a str: its UTF-8)."""
    def char_class(self, ranges: Sequence[tuple[int, int]]) -> int:
        """Match one code point out of inclusive ranges, in any order; surrogates are dropped."""
    def sequence(self, nodes: Sequence[int]) -> int: ...
    def choice(self, nodes: Sequence[int]) -> int:
        """Match one of them; literals with a common beginning are shared as a trie, so 20,000 are fine."""
    def repeat(self, node: int, minimum: int = 0, maximum: int | None = None) -> int:
        """Match `node` from `minimum` to `maximum` times (None: no end). Counts cost no nodes."""
    def rule(self, name: str) -> int:
        """Declare a rule and return the node that refers to it; `define` gives its body, later."""
    def define(self, rule: int, body: int) -> None: ...
    def both(self, a: int, b: int) -> int:
        """Match what `a` and `b` both match. Both must be operands (`is_operand`), else ValueError."""
    def minus(self, a: int, b: int) -> int:
        """Match what `a` matches and `b` does not. Both must be operands."""
    def negation(self, a: int) -> int:
        """Match every text (valid UTF-8) that `a` does not match."""
    def any_text(self) -> int:
        """Match every text: any number of any code points."""
    def token(self, ids: Sequence[int], negated: bool = False) -> int:
        """Match one token by its id (or, negated, any one special-or-ordinary token but these)."""
    def lexeme(self, body: int, longer: int) -> int:
        """Match a text of `body` that does not go on, from the same start, to a longer text of `longer`.

        What a lexer reads: `lexeme(x, x)` is the longest match of x. Both nodes are operands; what `body` matches
        is always part of `longer`. At the end of the whole text nothing goes on.

        Raises:
            ValueError: a node is no operand, or `body` matches the empty text.
        """
    def lalr(
        self,
        actions: Sequence[Sequence[tuple[int, int, int]]],
        leaves: Sequence[Sequence[tuple[int, int]]],
        rules: Sequence[tuple[int, int]],
        start: int,
        accept: int,
        end: int,
        indentation: tuple[int, int, int, Sequence[int], Sequence[int], int] | None = None,
    ) -> int:
        """Match what an LALR(1) parser over a contextual lexer accepts.

        In the state on top of its stack the lexemes of that state may come. One that was read is fed to the
        stack: reductions, then a shift. Symbols are any numbers; terminals and nonterminals share them.

        Args:
            actions: by state, (symbol, 0, state): shift, or go there after a reduction; (symbol, 1, rule): reduce.
            leaves: by state, (terminal, lexeme node), and (-1, lexeme node) for text that is ignored.
            rules: (nonterminal, number of symbols on its right side).
            start: the first state.
            accept: the state that is gone to from the first one when all is read.
            end: the symbol fed at the end of the text.
            indentation: Lark's Indenter: the symbols of newline, indent and dedent, those of opening and of
                closing brackets, and how many blanks a tab is. The newline's lexeme should be among the leaves
                of every state. Within brackets it is nothing.

        Raises:
            ValueError: a number leads nowhere, or a leaf is no lexeme.

        Source: DeRemer and Pennello, "Efficient computation of LALR(1) look-ahead sets", TOPLAS 1982.
        """
    def capture(self, name: str, node: int) -> int:
        """Match `node` and give the span a name; matching is the same without it."""
    def part(self, node: int) -> int:
        """Match `node`, and keep its masks apart from what follows.

        Matching is the same without it. It is worth its while around something that comes back in many places,
        such as a value in JSON: what a token does inside is then found out once for all places and grammars.
        """
    def dfa(self, states: Sequence[tuple[bool, Sequence[tuple[int, int, int]]]]) -> int:
        """Match what an automaton over bytes accepts: a regular node; the start is state 0.

        Each state is (accepting, [(first byte, last byte, next state), ...]), its ranges disjoint.

        Raises:
            LimitError: more than 200,000 states.
        """
    def hostname(self, longest: int = 253, escaped: bool = False) -> int:
        """Match a host name of `longest` characters at most, with the labels that IDNA allows: a regular node.

        Labels of letters, digits and hyphens, and in those that begin with `xn--` the Punycode of a label in
        Unicode. A beginning that is offered can be finished. Where a search for how takes too many steps, none that
        begin so are matched; that is near the end of a long label, if anywhere. Its states are too many for it to
        be an operand of `both` and `minus`.

        Args:
            longest: 1 to 253; 0 matches nothing.
            escaped: each character may also be an escape of JSON, `\u002e`.

        Raises:
            ValueError: more than 253 characters.

        Source: RFC 1123, section 2.1; RFC 3492; RFC 5890 to 5893.
        """
    def record(
        self,
        layout: tuple[int, int, int, int, int],
        slots: Sequence[tuple[bool, bool, Sequence[int]]],
        members: Sequence[tuple[int, int, str | None, bool, Sequence[tuple[int, int]]]],
        order: Literal["each", "later", "any"],
        minimum: int = 0,
        maximum: int | None = None,
        counts: Sequence[tuple[int, int | None]] = (),
        excluded: Sequence[str] = (),
    ) -> int:
        """Match an object or array member by member, remembering what was written.

        The text is `begin first member (between member)* end`, or `begin empty` for no member at all.

        Args:
            layout: the nodes `begin`, `first`, `between`, `end`, `empty`. `begin`, `end` and `empty` never match
                the empty text (an opening bracket; a closing one).
            slots: the places of members, each (required, many, owes). One that is not `many` is used at most once.
                `owes`: the slots that must be used too if this one is; not with the order "each".
            members: the ways to fill slots, each (slot, key, name, recorded, variants). A member is its `key` node
                followed by the node of one of its variants (count bits, node): the variant adds one to each of
                `counts` whose bit is set. `key` is regular; 0 (the empty text) for no key. `name`: the decoded text
                of a key that spells one name only, which then is no `recorded` key. `recorded`: the JSON value that `key`
                spells (a string in quotes, a number, null, true or false) differs from those of all recorded
                members before, compared as JSON values (decoded strings; 1 is 1.0), from all `name`s and from
                `excluded`. A recorded key is not nullable.
            order: "each": slot 0, then 1, ..., none left out (an array); the last may be `many`. "later": a later
                slot than the one before, or the same if it is `many`; slots between must not be required.
                "any": any order.
            minimum, maximum: of the number of members.
            counts: bounds (minimum, maximum | None) on the sums of the count bits, at most 16.
            excluded: further texts that no recorded key may spell.

        Where recorded keys have finitely many texts, that these suffice for `minimum` and for required slots is
        foreseen, that they suffice for `counts` is not.

        A record that nothing fits (by counts, slots, variants that are `never`) matches nothing; what remains is only
        offered while the record can still be finished.
        """
    def set_origin(self, node: int, place: str) -> None:
        """Remember where in the user's text a node came from; the first place stays."""
    def origin(self, node: int) -> str | None: ...
    def is_regular(self, node: int) -> bool:
        """True if the node holds no rule, token or lexeme."""
    def is_operand(self, node: int) -> bool:
        """True if the node may be an operand of `both`, `minus` and `lexeme`: regular, without a host name."""
    def is_nullable(self, node: int) -> bool:
        """True if the node matches the empty text. Only for regular nodes, else ValueError."""
    def is_void(self, node: int) -> bool:
        """True if a regular node matches no text at all. Explores products; may raise LimitError."""
    def matches(self, node: int, data: bytes | str) -> bool:
        """True if a regular node matches the whole of `data`."""
    def shortest(self, node: int) -> bytes | None:
        """Return a shortest text that a regular node matches, None if there is none. May raise LimitError."""
    def node(self, node: int) -> tuple[Any, ...]:
        """Describe a node, for tests and tools.

        ("empty",) ("never",) ("literal", bytes) ("class", [(lo, hi), ...]) ("sequence", first, rest)
        ("choice", [nodes]) ("repeat", node, min, max | None) ("rule", name, body | None) ("both", a, b) ("minus", a, b)
        ("dfa", states) ("record", layout, slots, members, order, minimum, maximum, counts, excluded)
        ("token", [ids], negated) ("lexeme", node, priority) ("capture", name, node) ("part", node)
        """

class Vocabulary:
    """The tokens of a model and what each spells. Built once, shared by all grammars.

    Args:
        tokens: bytes of each token; None for a special token, an unused id or one that spells nothing.
        eos: ids that end the text; at least one.
        size: V, the width of the logits; at least len(tokens). Bits above len(tokens) stay 0.

    Raises:
        ValueError: no end token, an id out of range, size too small.
    """

    def __init__(
        self, tokens: Sequence[bytes | None], eos: Sequence[int], size: int | None = None
    ) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def words(self) -> int:
        """W = ceil(size / 32), words of a mask row."""
    @property
    def eos(self) -> list[int]: ...
    @property
    def fingerprint(self) -> str:
        """32 hex digits over all bytes, end tokens and the size."""
    def token_bytes(self, token: int) -> bytes | None: ...
    def missing_bytes(self) -> bytes:
        """The byte values that no token of one byte spells."""
    def stats(self) -> dict[str, int]: ...

class Automaton:
    """A grammar over a vocabulary. Filled lazily, shared by any number of threads.

    Args:
        arena, start: the grammar; the arena is copied, so it may be changed afterwards.
        max_heads: bound on the heads of one state (ambiguity).
        max_bytes: bound on the memory of the states. On reaching it new matchers start on an empty table;
            a single matcher that passes it alone gets LimitError.

    Raises:
        GrammarError: nothing can match (`start` is unproductive), or a rule is not defined.
        LimitError: a product of `both`/`minus` is too large.
    """

    def __init__(
        self,
        arena: Arena,
        start: int,
        vocabulary: Vocabulary,
        *,
        max_heads: int = 10_000,
        max_bytes: int = 1 << 30,
    ) -> None: ...
    @property
    def vocabulary(self) -> Vocabulary: ...
    def precompute(self, max_states: int | None = None) -> int:
        """Fill masks and transitions ahead of use, breadth first; returns the number of states known."""
    def save(self, path: str) -> None: ...
    @staticmethod
    def load(path: str, vocabulary: Vocabulary) -> Automaton: ...
    def stats(self) -> dict[str, int]:
        """states, masks, transitions, continuations, heads_max, bytes."""

class Matcher:
    """One sequence under an automaton. Not to be used by two threads at once."""

    def __init__(self, source: Automaton | Matcher) -> None:
        """Start at the beginning, or as a copy of another matcher."""
    def fill_mask(self, row: Any) -> None:
        """Write the allowed tokens into `row`: (W,) int32 or uint32, torch or numpy, CPU, contiguous.

        Bit j of word w is token 32 * w + j. After the end all bits are 0.

        Raises:
            ShapeError: `row` is something else.
        """
    def can_accept(self, token: int) -> bool: ...
    def accept(self, token: int) -> None: ...
    def accept_all(self, tokens: Sequence[int]) -> None:
        """Accept all of them, or none: TokenRejected names the first forbidden one, nothing changed."""
    def accept_bytes(self, data: bytes) -> None:
        """Go on by bytes instead of tokens (counts as one token for rollback); TokenRejected if impossible."""
    def accepted_prefix(self, tokens: Sequence[int]) -> int: ...
    def states_after(
        self, tokens: Sequence[int], parents: Sequence[int] | None = None
    ) -> list[int]:
        """Return the number of the state after each token of a draft, -1 where it is not allowed.

        `parents`: for each token the place of the one before it, which comes earlier; -1: the text so
        far. None: each follows the one before it. Nothing changes.
        """
    def rollback(self, count: int) -> None: ...
    def allowed_tokens(self) -> list[int]: ...
    def forced_token(self) -> int | None:
        """The only token allowed, or None if there are several or none."""
    def allowed_bytes(self) -> bytes:
        """The byte values that may come next, sorted."""
    def forced_bytes(self) -> bytes: ...
    def row_id(self) -> int:
        """Number of the mask row of this state: equal numbers, equal rows, within one vocabulary."""
    @property
    def has_mask(self) -> bool:
        """Whether the mask of this state is known, so that `fill_mask` is a copy."""
    @property
    def is_complete(self) -> bool: ...
    @property
    def is_terminated(self) -> bool: ...
    @property
    def tokens(self) -> list[int]:
        """The tokens accepted so far (-1 for a piece given by accept_bytes)."""
    def state(self) -> int: ...
    def describe(self) -> list[str]:
        """The heads of the state as text, for `guided explain` and tests."""

def fill_masks(
    matchers: Sequence[Matcher],
    mask: Any,
    threads: int = 0,
    drafts: Sequence[tuple[Sequence[int], Sequence[int] | None]] | None = None,
    only_known: bool = False,
) -> bool:
    """Fill row b of `mask` ((B, W) int32, CPU, rows contiguous) from matchers[b], in threads, without the GIL.

    With `drafts`, a tree of tokens and parents for each matcher as `Matcher.states_after` takes it, the row of
    each matcher is followed by those that hold after the tokens of its draft, in their order: B + all draft
    tokens rows. Rows after a token that is not allowed are 0. The matchers stay where they are.

    With `only_known` nothing is written, and False returned, if a row is not known yet and would have to be
    made; what is known is copied in a microsecond or so.
    """

def find_largest(
    logits: int, dtype: str, batch: int, width: int, stride: int, threads: int
) -> list[int]:
    """Return for each row of logits the first of its largest elements, on raw CPU pointers.

    `dtype` is "float32", "float16" or "bfloat16"; strides in elements. -1 where the row has a NaN, or its largest
    element is not finite.
    """

def apply_mask_cpu(
    logits: int,
    dtype: str,
    batch: int,
    width: int,
    stride: int,
    mask: int,
    words: int,
    mask_stride: int,
    threads: int,
) -> None:
    """Set logits to -inf where the mask bit is 0, in place, on raw CPU pointers.

    `dtype` is "float32", "float16" or "bfloat16"; strides in elements (logits) and words (mask).
    Bits beyond `words * 32` count as 0. Callers check shapes (`guided.masks`).
    """

def can_multiply_rows() -> bool:
    """Whether `multiply_rows` works here: on x86-64 with AVX2 or AVX-512, built by gcc or clang."""

class AttentionPlan:
    """Who sees what in a step, for `attend_rows`.

    Args:
        page_size: tokens a page, a multiple of 4.
        sinks: tokens below this are seen in spite of a window.
        sequences: for each its first row, its rows, the tokens cached before, the tokens with
            its rows, and what is read: those below `kept` and those from `low` on.
        rows: for each the first token that it sees, and 0; in a tree, of at most 64 rows, the first cached
            token that it sees, and as bits the new ones that it sees.
        tables: address of (sequences, width) int32, the pages of each.

    Raises:
        ValueError: the numbers do not fit each other.
    """

    def __init__(
        self,
        page_size: int,
        sinks: int,
        sequences: Sequence[tuple[int, int, int, int, int, int]],
        rows: Sequence[tuple[int, int]],
        tables: int,
        width: int,
    ) -> None: ...

def can_attend(key_size: int, value_size: int) -> bool:
    """Whether `attend_rows` works here for heads of these sizes."""

def attend_rows(
    plan: AttentionPlan,
    query: int,
    row_stride: int,
    head_stride: int,
    keys: int,
    values: int,
    key_scales: int,
    value_scales: int,
    pages: int,
    heads: int,
    group: int,
    key_size: int,
    value_size: int,
    scale: float,
    soft_cap: float,
    sink_logits: int,
    result: int,
    is_half: bool,
    threads: int,
) -> None:
    """Write softmax(scale * query * keys^T) * values for the rows of a plan.

    By addresses: query (T, heads * group, key_size), rows and heads the strides apart; keys (pages,
    page_size, heads, key_size) and values, likewise; result (T, heads * group, value_size), contiguous;
    float32, or bfloat16 if `is_half`. With scales (pages, page_size, heads) float32, keys and values are
    int8. 0: no scales, no soft cap, no sink logits (heads * group) float32.

    Raises:
        IndexError: a page of the plan is not there.
    """

class DecoderLayer:
    """The weights of a layer of a decoder, by their addresses, for `run_layer`; the caller keeps them.

    Args:
        hidden, inner, heads, group, head_size: its sizes; heads are those of keys, and `group` how many
            heads of queries each has.
        epsilon: of its norms.
        scale: of its scores.
        is_half: all numbers are bfloat16, else float32.
        addresses: of `attention_norm` and `network_norm` (hidden); `query`, `key` and `value` (out, hidden);
            `output` (hidden, heads * group * head_size); `gate` and `up` (inner, hidden); `down` (hidden,
            inner); if it has them, of `query_norm` and `key_norm` (head_size), and of biases, such as
            `query_bias` (out).

    Raises:
        ValueError: a weight is missing.
    """

    def __init__(
        self,
        hidden: int,
        inner: int,
        heads: int,
        group: int,
        head_size: int,
        epsilon: float,
        scale: float,
        is_half: bool,
        addresses: dict[str, int],
    ) -> None: ...
    @property
    def can_run(self) -> bool:
        """Whether `run_layer` works here for its sizes."""

def run_layer(
    layer: DecoderLayer,
    plan: AttentionPlan,
    keys: int,
    values: int,
    pages: int,
    slots: int,
    cosines: int,
    sines: int,
    hidden: int,
    result: int,
    threads: int,
) -> None:
    """Write what a layer makes of `hidden` to `result`, both (T, hidden), for the T rows of a plan.

    By addresses: keys and values of the cache, (pages, page_size, heads, head_size), to which the new
    ones are written at `slots`, (T,) int64; cosines and sines (T, head_size).

    Raises:
        IndexError: a page or a slot is not there.
    """

def normalize_rows(
    layer: DecoderLayer, is_network: bool, source: int, rows: int, target: int, threads: int
) -> None:
    """Write the norm of (rows, hidden) that comes before attention or, if `is_network`, the network."""

def place_rows(
    layer: DecoderLayer,
    query: int,
    key: int,
    value: int,
    rows: int,
    slots: int,
    cosines: int,
    sines: int,
    keys: int,
    values: int,
    count: int,
    threads: int,
) -> None:
    """Turn queries and keys (rows, heads, head_size) to their positions in place, and write keys and values.

    As in `run_layer`; the cache has `count` slots.

    Raises:
        IndexError: a slot is not there.
    """

def gate_rows(layer: DecoderLayer, gate: int, up: int, rows: int, threads: int) -> None:
    """Multiply silu(gate) by up, both (rows, inner), into gate."""

def use_openmp(parallel: int, thread_number: int, thread_count: int) -> None:
    """Take the threads of this OpenMP runtime: addresses of its GOMP_parallel, omp_get_thread_num and
    omp_get_num_threads; zeros for one thread."""

def multiply_rows(
    rows: int,
    count: int,
    size_in: int,
    weight: int,
    size_out: int,
    bias: int,
    result: int,
    is_half: bool,
    threads: int,
) -> None:
    """Write rows (count, in) times weight (out, in) transposed, plus bias (out,), to result (count, out).

    Contiguous, by their addresses (bias: 0 for none); all float32, or all bfloat16 if `is_half`. Sums are
    float32, rounded once, and the same whatever the number of rows and threads.
    """
