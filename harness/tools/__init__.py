"""What the agent can do in the folder it works in."""

from harness.tools.arguments import ArgumentError
from harness.tools.process import LeftOver, Limits, end_left_over
from harness.tools.tool import Effect, Tool, ToolContext, ToolError, ToolHealth, ToolResult, tool
from harness.tools.toolbox import Toolbox, standard_tools
from harness.tools.workspace import OutsideWorkspace, PathError, Workspace

__all__ = [
    "ArgumentError",
    "Effect",
    "LeftOver",
    "Limits",
    "OutsideWorkspace",
    "PathError",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolHealth",
    "ToolResult",
    "Toolbox",
    "Workspace",
    "end_left_over",
    "standard_tools",
    "tool",
]
