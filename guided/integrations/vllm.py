"""Masks in vLLM: a logits processor of its first model runner, a grammar in requests that ask.

    vllm serve MODEL --logits-processors guided.integrations.vllm:GuidedLogitsProcessor

It has to be named so, and is no plug-in that is found by itself: vLLM schedules a step before the
tokens of the last one are there, and tells the tokens only to processors that were named; and its
second model runner does not start where a processor of the first is installed as a plug-in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor
from vllm.v1.sample.logits_processor import LogitsProcessor, MoveDirectionality

from guided.integrations.mask_rows import MaskRows, Rest, Row
from guided.integrations.vllm_requests import (
    Request,
    check_parameters,
    constraint_of,
    read_vocabulary,
)

if TYPE_CHECKING:
    from vllm import SamplingParams
    from vllm.config import VllmConfig
    from vllm.v1.sample.logits_processor import BatchUpdate


class GuidedLogitsProcessor(LogitsProcessor):  # type: ignore[misc,unused-ignore]
    """Lets the requests of a vLLM engine write only what their grammars allow.

    A request carries its grammar in `SamplingParams(extra_args={"guided": {"schema": ...}})`, or in
    `"vllm_xargs": {"guided": "{...}"}` over HTTP; see `read_grammar` for what it may be. Requests
    without one are left alone.

    A request whose grammar is at fault is refused when it comes in. One that goes wrong later, as
    the vocabulary cannot spell what it asks for or something else changed its tokens, is ended, and
    the reason is logged: an error here would end the engine with all its requests.
    """

    def __init__(self, vllm_config: VllmConfig, device: torch.device, is_pin_memory: bool) -> None:
        self.vocabulary = read_vocabulary(vllm_config.model_config)
        self._rows = MaskRows(self.vocabulary)
        self._requests: dict[int, Request] = {}

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Raise ValueError for a request whose grammar is at fault."""
        check_parameters(sampling_params)

    def is_argmax_invariant(self) -> bool:
        """Return False: the most likely token may be forbidden."""
        return False

    def needs_output_token_ids(self) -> bool:
        """Return True: it goes by the tokens that were written, not by their number."""
        return True

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow requests that left, joined or changed their rows; in this order."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._requests.pop(index, None)
        for index, parameters, _, output in batch_update.added:
            self._requests.pop(index, None)
            constraint = constraint_of(parameters)
            if constraint is not None:
                self._requests[index] = Request(constraint, self.vocabulary, output)
        for source, target, direction in batch_update.moved:
            moved, replaced = self._requests.pop(source, None), self._requests.pop(target, None)
            if moved is not None:
                self._requests[target] = moved
            if direction == MoveDirectionality.SWAP and replaced is not None:
                self._requests[source] = replaced

    def apply(self, logits: Tensor) -> Tensor:
        """Forbid in place, and return, (B, V) logits of this step."""
        if self._requests:
            rows: list[Row] = [Rest.FREE] * len(logits)
            for index, request in self._requests.items():
                if index < len(rows):
                    rows[index] = request.row()
            self._rows.apply(logits, rows)
        return logits
