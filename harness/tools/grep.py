"""grep: find lines in files by a regular expression."""

import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from harness.base.external_text import counted
from harness.events import FailureCategory, Json, ToolOutcome
from harness.processes import ProcessLimits, ProcessResult
from harness.sandbox import ProfileName
from harness.tools import grep_worker, tree
from harness.tools.files import broken, on_disk, refused, without_link
from harness.tools.glob import ignored_note, no_file
from harness.tools.glob_patterns import compile_glob
from harness.tools.ignored_files import fitting_files
from harness.tools.output import readable, shorten
from harness.tools.tool import (
    RESULT_CHARACTERS,
    Effect,
    PathArgument,
    Tool,
    ToolArguments,
    ToolContext,
    ToolResult,
    runs_here,
)
from harness.tools.workspace import require_file

MOST_MATCHES = 300
WORKER = Path(grep_worker.__file__)
TREE = Path(tree.__file__)


class GrepArguments(ToolArguments):
    """Arguments of grep."""

    pattern: str = Field(description="A Python regular expression; each line is searched on its own.", min_length=1)
    path: PathArgument = Field(default=".", description="File or folder to search in.")
    glob: str = Field(
        default="**", description="Search only these files, as for ripgrep: `*.py` at any depth, `src/**`, `!*.md`."
    )
    ignore_case: bool = Field(default=False, description="Ignore upper and lower case.")
    context: int = Field(default=0, ge=0, le=20, description="Lines to show before and after each match.")
    files_only: bool = Field(default=False, description="Only name the files that have a match.")


@dataclass(frozen=True, slots=True)
class GrepRequest:
    """The search that a worker process runs."""

    pattern: str
    ignore_case: bool
    context: int
    files_only: bool
    most: int


def grep_tool(
    limits: ProcessLimits | None = None,
    most_matches: int = MOST_MATCHES,
    result_characters: int = RESULT_CHARACTERS,
    workspace: Path | None = None,
) -> Tool:
    """The tool grep. `limits.time_s` bounds the search itself, a regular expression that never ends included.

    With a `workspace` a check before a call looks whether the folder and the interpreter for the search are there.
    """
    limits = limits or ProcessLimits(time_s=30.0)

    async def grep(context: ToolContext, arguments: GrepArguments) -> ToolResult:
        return await _grep(context, arguments, limits, most_matches, result_characters)

    return Tool(
        name="grep",
        description=(
            "Find lines by a regular expression in a file or in all files of a folder. Answers `path:line:text`. "
            "Binary files and those that .gitignore excludes are skipped, unless path, or the beginning of glob, names "
            "them."
        ),
        arguments=GrepArguments,
        effect=Effect.READ,
        run=grep,
        summarise=_summary,
        parallel=True,
        stays_inside=True,
        check=None if workspace is None else runs_here(workspace, lambda: sys.executable),
    )


async def _grep(
    context: ToolContext, arguments: GrepArguments, limits: ProcessLimits, most: int, result_characters: int
) -> ToolResult:
    files: list[str] = []
    withheld: list[str] = []
    left_out: list[str] = []
    stop = threading.Event()

    def list_files() -> ToolResult:
        base = context.workspace.resolve(arguments.path)
        if not base.is_dir():
            require_file(base, arguments.path)
            files.append(str(base))
            return ToolResult("")
        glob = compile_glob(arguments.glob)
        for path in fitting_files(base, context.workspace.root_of(base), glob, left_out, stop.is_set):
            (withheld if context.withholds(without_link(path), content=True) else files).append(path)
        if not files and not withheld:
            return ToolResult("", summary=no_file(context, arguments.glob, base, glob, left_out))
        return ToolResult("", detail=ignored_note(context, glob, left_out))

    listed = await on_disk(list_files, on_cancel=stop.set)
    if listed.outcome is not ToolOutcome.OK:
        return listed
    if listed.summary:
        return ToolResult(listed.summary, summary="no match")
    search = GrepRequest(
        arguments.pattern,
        arguments.ignore_case,
        0 if arguments.files_only else arguments.context,
        arguments.files_only,
        most,
    )
    output = bytearray()
    try:
        finished = await _search(context, search, files, output, limits)
    except OSError as error:
        return broken(f"The search could not be started: {error}", FailureCategory.CANNOT_START)
    answer = _answer(
        bytes(output), finished, search, lambda index: context.workspace.relative(Path(files[index])), limits
    )
    text = answer.content + _withheld_note(context, withheld) + (f"\n{listed.detail}" if listed.detail else "")
    content, full_output = shorten(text, result_characters, context.output_file)
    return replace(answer, content=content, full_output=full_output)


def _withheld_note(context: ToolContext, withheld: list[str]) -> str:
    if not withheld:
        return ""
    names = ", ".join(context.workspace.relative(Path(path)) for path in withheld[:3])
    more = " and more" if len(withheld) > 3 else ""
    return f"\n[Not searched, because a rule forbids it or it may hold keys: {names}{more}.]"


async def _search(
    context: ToolContext, search: GrepRequest, files: list[str], output: bytearray, limits: ProcessLimits
) -> ProcessResult:
    with tempfile.TemporaryFile() as task:
        root = context.workspace.root_of(Path(files[0])) if files else context.workspace.root
        head = {**asdict(search), "root": str(root), "tree": str(TREE)}
        below = (os.fsencode(without_link(path)[len(f"{root}/".replace("//", "/")) :]) + b"\0" for path in files)
        task.write(json.dumps(head).encode() + b"\n" + b"".join(below))
        task.seek(0)
        return await context.processes.run(
            (sys.executable, "-I", "-S", "-W", "ignore", str(WORKER)),
            cwd=context.workspace.root,
            environment=os.environ,
            sink=output.extend,
            limits=limits,
            stdin=task,
            profile=ProfileName.FREE,  # it opens only the files that this program names
        )


def _answer(
    output: bytes, finished: ProcessResult, search: GrepRequest, name: Callable[[int], str], limits: ProcessLimits
) -> ToolResult:
    reports: list[Any] = []
    for line in output.splitlines():
        try:
            reports.append(json.loads(line))
        except ValueError:
            if not finished.timed_out:
                return broken(f"The search failed: {readable(output)[-500:]}", FailureCategory.CRASHED)
    found = [report for report in reports if isinstance(report, list)]
    matches = sum(report[2] for report in found)
    lines = (
        [name(index) for index, *_ in found]
        if search.files_only
        else list(_lines(found, name, spaced=search.context > 0))
    )
    unit = "file" if search.files_only else "match"
    summary = f"{matches:,} {unit}{'' if matches == 1 else 'es' if unit == 'match' else 's'}"
    match reports:
        case [{"error": why}]:
            return refused(f"{search.pattern!r} is not a usable regular expression: {why}.")
        case [*_, {"searched": int(searched)}]:
            if not matches:
                return ToolResult(f"No match in {counted(searched, 'file')}.", summary="no match")
            if matches >= search.most:
                lines.append(f"[Stopped at {search.most:,} {unit}es; narrow the search to see others.]")
            return ToolResult("\n".join(lines), summary=summary)
        case _ if finished.timed_out:
            lines.append(
                f"[The search took longer than {limits.time_s:g} s and was ended, so there may be more. "
                "A simpler pattern or a smaller folder will help.]"
            )
            summary = f"timed out after {limits.time_s:g} s; {summary}"
            return ToolResult("\n".join(lines), ToolOutcome.BROKEN, summary, category=FailureCategory.TIMEOUT)
        case _:
            return broken(f"The search ended without an answer (exit {finished.exit_code}).", FailureCategory.KILLED)


def _lines(found: list[Any], name: Callable[[int], str], *, spaced: bool) -> Iterator[str]:
    previous: tuple[int, int] | None = None
    for index, number, is_match, text in found:
        if spaced and previous is not None and previous != (index, number - 1):
            yield "--"
        mark = ":" if is_match else "-"
        yield f"{name(index)}{mark}{number}{mark}{text}"
        previous = (index, number)


def _summary(input: Json) -> str:
    path = input.get("path", ".")
    return f'"{input.get("pattern", "")}"' + (f" in {path}" if path != "." else "")
