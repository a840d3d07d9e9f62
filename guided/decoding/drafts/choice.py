"""From the option `speculate` to the drafters of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from guided.decoding.drafts.assistant import AssistantDrafter
from guided.decoding.drafts.forced import ForcedDrafter
from guided.decoding.drafts.lookahead import LookaheadDrafter
from guided.decoding.drafts.prompt import PromptDrafter
from guided.decoding.drafts.protocol import Drafter, Source, Speculate
from guided.decoding.drafts.states import StatesDrafter
from guided.decoding.models.first_layers import first_layers

if TYPE_CHECKING:
    from guided.decoding.model import Model

AUTO: tuple[Source, ...] = ("forced", "states", "prompt", "lookahead")
NAMES: tuple[Source, ...] = (*AUTO, "assistant", "layers")
# Of the layers of a model, those that draft for it.
FIRST = 1 / 3


class Drafters:
    """The drafters of one model, each made when it is first asked for.

    Args:
        model: that checks the drafts.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._made: dict[str, Drafter] = {}
        self._assistants: WeakKeyDictionary[Model, Drafter] = WeakKeyDictionary()

    def choose(self, speculate: Speculate, assistant: Model | None = None) -> tuple[Drafter, ...]:
        """Return the drafters that an option stands for.

        Args:
            speculate: "auto", "off", or a list of names and drafters.
            assistant: a smaller model with the same vocabulary.

        Raises:
            TypeError, ValueError: `speculate` is none of these, or names an assistant without one.
            GuidedError: the assistant is over another vocabulary.
        """
        if speculate == "off":
            return ()
        if speculate == "auto":
            names = AUTO if assistant is None else (*AUTO, "assistant")
            return tuple(self._one(source, assistant) for source in names)
        if isinstance(speculate, str) or not isinstance(speculate, Sequence):
            raise ValueError(
                'speculate is "auto", "off", or a list of sources such as ["forced", "prompt"],'
                f" found {speculate!r}"
            )
        return tuple(dict.fromkeys(self._one(source, assistant) for source in speculate))

    def _one(self, source: str | Drafter, assistant: Model | None) -> Drafter:
        if not isinstance(source, str):
            if not callable(getattr(source, "propose", None)):
                raise TypeError(f"a drafter has the methods of guided.Drafter, found {source!r}")
            return source
        if source == "assistant":
            return self._assistant(assistant)
        if source not in MAKERS:
            raise ValueError(f"sources of drafts are {', '.join(NAMES)}; found {source!r}")
        if source not in self._made:
            self._made[source] = MAKERS[source](self._model)
        return self._made[source]

    def _assistant(self, assistant: Model | None) -> Drafter:
        if assistant is None:
            raise ValueError('the source "assistant" needs assistant=, a smaller model')
        known = self._assistants.get(assistant)
        if known is None:
            known = self._assistants[assistant] = AssistantDrafter(assistant, self._model)
        return known


def make_layers(model: Model) -> Drafter:
    """Make a drafter of the first layers of a model itself."""
    config = getattr(model.network, "config", None)
    layers = 0 if config is None else config.get_text_config(decoder=True).num_hidden_layers
    count = max(1, round(FIRST * layers))
    return AssistantDrafter(first_layers(model, count), model, name="layers")


MAKERS: dict[str, Callable[[Model], Drafter]] = {
    "forced": lambda _: ForcedDrafter(),
    "prompt": lambda _: PromptDrafter(),
    "states": lambda _: StatesDrafter(),
    "lookahead": lambda _: LookaheadDrafter(),
    "layers": make_layers,
}
