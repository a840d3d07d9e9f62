"""Tools: what a model may call, how it writes calls, and how these are read.

From the ground up: `docstrings` and `functions` (Python functions and types), `tool` (all kinds of
tools in one form), `format` (how a family of models writes calls, from the files in `formats/`),
`names`, `arguments`, `argument_lists`, `message`, `call_writer`, `turn`, `compiler` (from tools to
nodes).
"""

from guided.text.tools.compiler import CompiledTools, compile_tools
from guided.text.tools.format import DEFAULT, ToolFormat, find_format, tool_formats
from guided.text.tools.tool import Tool, read_tools
from guided.text.tools.turn import Reasoning, Turn

__all__ = [
    "DEFAULT",
    "CompiledTools",
    "Reasoning",
    "Tool",
    "ToolFormat",
    "Turn",
    "compile_tools",
    "find_format",
    "read_tools",
    "tool_formats",
]
