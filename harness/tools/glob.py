"""glob: find files by their names."""

import threading
from pathlib import Path

from pydantic import Field

from harness.base.external_text import counted
from harness.events import Json
from harness.tools.files import on_disk, without_link
from harness.tools.glob_patterns import Glob, compile_glob
from harness.tools.ignored_files import fitting_files
from harness.tools.output import shorten
from harness.tools.tool import (
    RESULT_CHARACTERS,
    Effect,
    PathArgument,
    Tool,
    ToolArguments,
    ToolContext,
    ToolError,
    ToolResult,
)
from harness.tools.workspace import Workspace

MOST_FILES = 500
NAMED = 5
"""Ignored files and folders that a result names; of more it gives the number."""


class GlobArguments(ToolArguments):
    """Arguments of glob."""

    pattern: str = Field(
        description="As for ripgrep: `*.py` at any depth, `src/*.py` in one folder, `src/**`, `!*.md` for all others.",
        min_length=1,
    )
    path: PathArgument = Field(default=".", description="Folder to search in; the pattern is relative to it.")


def glob_tool(most_files: int = MOST_FILES) -> Tool:
    """The tool glob."""

    async def glob(context: ToolContext, arguments: GlobArguments) -> ToolResult:
        stop = threading.Event()
        return await on_disk(lambda: _glob(context, arguments, most_files, stop), on_cancel=stop.set)

    return Tool(
        name="glob",
        description=(
            "Find files by name, the most recently changed first. `**` matches any number of folders. Files that "
            ".gitignore excludes are skipped, unless path, or the beginning of the pattern, names their folder."
        ),
        arguments=GlobArguments,
        effect=Effect.READ,
        run=glob,
        summarise=_summary,
        parallel=True,
        stays_inside=True,
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
    glob, left_out = compile_glob(arguments.pattern), list[str]()
    fitting = fitting_files(base, workspace.root_of(base), glob, left_out, stop.is_set)
    found = [Path(path) for path in fitting if not context.withholds(without_link(path), content=False)]
    if not found:
        return ToolResult(no_file(context, arguments.pattern, base, glob, left_out), summary="no file")
    found.sort(key=lambda path: (-_changed(path), path))
    lines = [workspace.relative(path) for path in found[:most_files]]
    if len(found) > most_files:
        lines.append(f"[{len(found) - most_files:,} more, changed longer ago; narrow the pattern to see them.]")
    if note := ignored_note(context, glob, left_out):
        lines.append(note)
    content, full_output = shorten("\n".join(lines), RESULT_CHARACTERS, context.output_file)
    return ToolResult(content, summary=counted(len(found), "file"), full_output=full_output)


def no_file(context: ToolContext, pattern: str, base: Path, glob: Glob, left_out: list[str]) -> str:
    """That no file fits a pattern, and why that may be."""
    text = f"No file matches {pattern} in {context.workspace.named(base)}."
    if glob.folders_only and not glob.excludes:
        text += f" It names folders; {pattern}** matches what is in them."
    if names := _names(context, left_out):
        text += f" Not searched, because .gitignore excludes them: {names}. To search one, name it in path."
    return text


def ignored_note(context: ToolContext, glob: Glob, left_out: list[str]) -> str:
    """A line about ignored files that fit a pattern, too; empty where there are none, or where everything fits."""
    files = [path for path in left_out if not path.endswith("/")]
    narrow = glob.is_narrow and not glob.excludes
    names = _names(context, files) if narrow else ""
    return f"[Left out, because .gitignore excludes them: {names}.]" if names else ""


def _names(context: ToolContext, paths: list[str]) -> str:
    shown = [path for path in paths if not context.withholds(without_link(path.rstrip("/")), content=False)]
    names = [context.workspace.relative(Path(path)) + "/" * path.endswith("/") for path in shown[:NAMED]]
    more = f" and {len(shown) - NAMED:,} more" if len(shown) > NAMED else ""
    return ", ".join(names) + more


def _changed(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0  # deleted while we searched


def _summary(input: Json) -> str:
    path = input.get("path", ".")
    return f"{input.get('pattern', '')}" + (f" in {path}" if path != "." else "")
