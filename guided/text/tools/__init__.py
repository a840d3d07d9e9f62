"""Tools: what a model may call, how it writes calls, and how these are read.

From the ground up: `docstrings` and `functions` (Python functions and types), `tool` (all kinds of
tools in one form), `format` (how a family of models writes calls, from the files in `formats/`),
`names`, `arguments`, `argument_lists`, `message`, `call_writer`, `turn`, `compiler` (from tools to
nodes).
"""

from guided.text.tools.compiler import CompiledTools, compile_tools
from guided.text.tools.format import DEFAULT, ToolFormat, find_format, format_names
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
    "format_names",
    "read_tools",
]
