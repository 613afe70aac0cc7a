"""glob: find files by their names."""

import threading
from pathlib import Path

from pydantic import Field

from harness.base.external_text import counted
from harness.events import Json
from harness.tools.files import on_disk, without_link
from harness.tools.glob_patterns import compile_glob
from harness.tools.ignored_files import walk_files
from harness.tools.output import shorten
from harness.tools.tool import RESULT_CHARACTERS, Effect, Tool, ToolArguments, ToolContext, ToolError, ToolResult
from harness.tools.workspace import Workspace

MOST_FILES = 500


class GlobArguments(ToolArguments):
    """Arguments of glob."""

    pattern: str = Field(description="For example `src/*.py`, or `**/*.py` for any depth.", min_length=1)
    path: str = Field(default=".", description="Folder to search in; the pattern is relative to it.", min_length=1)


def glob_tool(most_files: int = MOST_FILES) -> Tool:
    """The tool glob."""

    async def glob(context: ToolContext, arguments: GlobArguments) -> ToolResult:
        stop = threading.Event()
        return await on_disk(lambda: _glob(context, arguments, most_files, stop), on_cancel=stop.set)

    return Tool(
        name="glob",
        description=(
            "Find files by name, the most recently changed first. `**` matches any number of folders. Files that "
            ".gitignore excludes are skipped, unless path names them."
        ),
        arguments=GlobArguments,
        effect=Effect.READ,
        run=glob,
        summarise=_summary,
        parallel=True,
    )


def folder_of(workspace: Workspace, path: str) -> Path:
    """The folder a search begins in. Raises `PathError`, or `ToolError` where there is no folder."""
    folder = workspace.resolve(path)
    if not folder.is_dir():
        raise ToolError(f"{path} is a file, not a folder." if folder.exists() else f"There is no folder {path}.")
    return folder


def _glob(context: ToolContext, arguments: GlobArguments, most_files: int, stop: threading.Event) -> ToolResult:
    workspace = context.workspace
    base = folder_of(workspace, arguments.path)
    matcher = compile_glob(arguments.pattern)
    start = len(f"{base}/".replace("//", "/"))
    fitting = (path for path in walk_files(base, workspace.root, stop.is_set) if matcher.fullmatch(path, start))
    found = [Path(path) for path in fitting if not context.withholds(without_link(path), content=False)]
    if not found:
        deeper = "" if "/" in arguments.pattern or "**" in arguments.pattern else f" Deeper: **/{arguments.pattern}"
        return ToolResult(f"No file matches {arguments.pattern} in {arguments.path}.{deeper}", summary="no file")
    found.sort(key=lambda path: (-_changed(path), path))
    lines = [workspace.relative(path) for path in found[:most_files]]
    if len(found) > most_files:
        lines.append(f"[{len(found) - most_files:,} more, changed longer ago; narrow the pattern to see them.]")
    content, full_output = shorten("\n".join(lines), RESULT_CHARACTERS, context.output_file)
    return ToolResult(content, summary=counted(len(found), "file"), full_output=full_output)


def _changed(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0  # deleted while we searched


def _summary(input: Json) -> str:
    path = input.get("path", ".")
    return f"{input.get('pattern', '')}" + (f" in {path}" if path != "." else "")
