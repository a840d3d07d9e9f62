r"""Masks in vLLM, for its second model runner (0.32 and later), beside speculative decoding too.

    vllm serve MODEL \
        --logits-processors guided.integrations.vllm_second_runner:GuidedLogitsProcessor

That runner shows rows of logits and not requests: a request has a row, and one more for each token
of its draft. The tokens are where the model is. In a step without drafts each request has written
one token, which is the one that the model was fed, so it comes with the layout of the step.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from vllm.v1.worker.gpu.sample.logits_processor.interface import LogitsProcessor

from guided.integrations.mask_rows import MaskRows, Rest, Row
from guided.integrations.vllm_requests import (
    Request,
    check_parameters,
    constraint_of,
    read_vocabulary,
)

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.sampling_params import SamplingParams


class Fed(NamedTuple):
    """A row of logits, by the token that the model was fed for it."""

    slot: int
    offset: int  # among the rows of its request: 0 for what was written, then the draft
    token: int
    position: int  # in prompt and output
    row: int


class GuidedLogitsProcessor(LogitsProcessor):  # type: ignore[misc,unused-ignore]
    """Lets the requests of a vLLM engine write only what their grammars allow.

    What requests ask for, and what becomes of those that go wrong, is said of the processor for
    the first runner, `guided.integrations.vllm.GuidedLogitsProcessor`.
    """

    def __init__(self, vllm_config: VllmConfig, req_states: Any) -> None:
        self.vocabulary = read_vocabulary(vllm_config.model_config)
        self._rows = MaskRows(self.vocabulary)
        self._states = req_states
        self._requests: dict[int, Request] = {}  # by slot; one that left goes when it is reused

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Raise ValueError for a request whose grammar is at fault."""
        check_parameters(sampling_params)

    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> bool:
        """Take up a request in a slot, and return whether it has a grammar."""
        self._requests.pop(req_idx, None)
        constraint = constraint_of(sampling_params)
        if constraint is not None:
            self._requests[req_idx] = Request(constraint, self.vocabulary, [])
        return constraint is not None

    def apply(self, logits: Tensor, ctx: Any) -> Tensor:
        """Forbid in place, and return, (N, V) logits of all rows of this step."""
        if self._requests.keys().isdisjoint(ctx.idx_mapping_np.tolist()):
            return logits
        layout = [ctx.expanded_idx_mapping, ctx.expanded_local_pos, ctx.input_ids, ctx.pos]
        columns = torch.stack([column.long() for column in layout])  # (4, N)
        fed = [Fed._make([*row, number]) for number, row in enumerate(columns.T.tolist())]
        own = [row for row in fed if row.slot in self._requests]
        own.sort(key=lambda row: (row.slot, row.offset))
        groups = [list(rows) for _, rows in groupby(own, key=lambda row: row.slot)]
        self._catch_up([rows[0] for rows in groups])
        found: list[Row] = [Rest.FREE] * len(logits)
        for first, *draft in groups:
            tokens = [row.token for row in draft]
            after = self._requests[first.slot].rows(tokens)
            for fed_row, row in zip([first, *draft], after, strict=True):
                found[fed_row.row] = row
        self._rows.apply(logits, found)
        return logits

    def _catch_up(self, heads: list[Fed]) -> None:
        """Let each request know its output up to the token that the model was fed first."""
        missing: list[tuple[int, int]] = []  # slot and position of tokens that were not fed now
        for head in heads:
            output = self._requests[head.slot].output
            begin = int(self._states.prompt_len.np[head.slot])
            del output[max(head.position + 1 - begin, 0) :]
            known = begin + len(output)
            missing += [(head.slot, position) for position in range(known, head.position)]
        if missing:
            tokens = self._states.all_token_ids.gpu  # (slots, T)
            slots, positions = torch.tensor(missing, device=tokens.device).T
            for (slot, _), token in zip(missing, tokens[slots, positions].tolist(), strict=True):
                self._requests[slot].output.append(token)
        for head in heads:
            request = self._requests[head.slot]
            begin = int(self._states.prompt_len.np[head.slot])
            if begin + len(request.output) == head.position:
                request.output.append(head.token)
