"""What the agent can do in the folder it works in."""

from harness.processes import ProcessLimits
from harness.tools.tool import (
    ArgumentError,
    Effect,
    Tool,
    ToolCancelled,
    ToolContext,
    ToolError,
    ToolHealth,
    ToolResult,
    tool,
)
from harness.tools.toolbox import Toolbox, standard_tools
from harness.tools.workspace import OutsideWorkspace, PathError, Workspace

__all__ = [
    "ArgumentError",
    "Effect",
    "OutsideWorkspace",
    "PathError",
    "ProcessLimits",
    "Tool",
    "ToolCancelled",
    "ToolContext",
    "ToolError",
    "ToolHealth",
    "ToolResult",
    "Toolbox",
    "Workspace",
    "standard_tools",
    "tool",
]
