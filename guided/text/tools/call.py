"""A call that a model has written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from guided.errors import GuidedError
from guided.text.tools.tool import Tool


@dataclass(frozen=True, eq=False)
class ToolCall:
    """A call of a tool.

    Attributes:
        name: the name of the tool.
        arguments: the arguments as JSON values, by their names.
        id: what the model called the call, where its format has such.
        tool: the tool, if it is known.
    """

    name: str
    arguments: dict[str, Any]
    id: str | None = None
    tool: Tool | None = field(default=None, repr=False)

    @cached_property
    def value(self) -> Any:
        """The arguments as the tool has them.

        For a function a dictionary of validated Python objects, defaults among them; for a pydantic
        model or another type its object; for a tool given as a dictionary `arguments`.

        Raises:
            ValueRejected: a check of the Python type that its schema cannot say refuses them.
        """
        if self.tool is None or self.tool.validate is None:
            return self.arguments
        return self.tool.validate(json.dumps(self.arguments))

    def __call__(self) -> Any:
        """Run the function that the tool was given as, and return what it returns.

        Raises:
            GuidedError: the tool is no function.
            ValueRejected: as for `value`.
        """
        if self.tool is None or self.tool.function is None:
            raise GuidedError(
                f'the tool "{self.name}" was not given as a function, so there is nothing to run',
                mend="give the function itself among the tools, or use call.arguments",
            )
        return self.tool.run(self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolCall):
            return NotImplemented
        mine = (self.name, self.arguments, self.id)
        return mine == (other.name, other.arguments, other.id)

    __hash__ = None  # type: ignore[assignment]


def call_of(
    name: str, arguments: Mapping[str, Any], id_: str | None, tools: Mapping[str, Tool]
) -> ToolCall:
    """Make a call, with the tool of that name if it is known."""
    return ToolCall(name, dict(arguments), id_, tools.get(name))
