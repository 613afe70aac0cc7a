"""The tools that search, called on a folder."""

from dataclasses import replace
from pathlib import Path

from harness.events import Json
from harness.tools.glob import glob_tool
from harness.tools.grep import grep_tool
from harness.tools.tool import Tool, ToolContext, ToolResult


async def call(tool: Tool, context: ToolContext, input: Json) -> ToolResult:
    return await tool.run(context, tool.parse(input))


async def glob(context: ToolContext, pattern: str, path: str = ".") -> ToolResult:
    return await call(glob_tool(), context, {"pattern": pattern, "path": path})


async def grep(context: ToolContext, pattern: str, /, **more: object) -> ToolResult:
    return await call(grep_tool(), context, {"pattern": pattern, **more})


def make(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def withholding(context: ToolContext, *, names: bool = False) -> ToolContext:
    """A context that withholds `.env` files: what they hold, and with `names` that they are there."""

    def withholds(path: str, *, content: bool) -> bool:
        return path.endswith(".env") and (content or names)

    return replace(context, withholds=withholds)
