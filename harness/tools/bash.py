"""bash: run a command line."""

import asyncio
import os
import re
import shutil
import signal
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator
from pydantic.json_schema import SkipJsonSchema

from harness.base.concurrency import in_thread
from harness.base.external_text import visible
from harness.events import CommandEnd, FailureCategory, Json, MoveReason, ToolOutcome
from harness.processes import ProcessLimits, ProcessResult
from harness.processes.inherited import as_read, held, unasked
from harness.processes.search_path import own_search_path
from harness.processes.tree_variables import with_number
from harness.sandbox import ProfileName, SandboxDenial
from harness.tools.background_commands import (
    LONGEST_BACKGROUND_S,
    BackgroundRunner,
    CommandState,
    MovedCommand,
    begun_text,
    hangs,
    moved_text,
    pace,
)
from harness.tools.held_commands import LONGEST_NOTES, HeldCommand
from harness.tools.live_output import LiveOutput
from harness.tools.output import CommandOutput
from harness.tools.tool import (
    RESULT_CHARACTERS,
    Effect,
    Tool,
    ToolArguments,
    ToolCancelled,
    ToolContext,
    ToolResult,
    broken_rule,
    invalid,
    runs_here,
    shorten_line,
)

LONGEST_S = 600
SECRETS = (
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "HARNESS_API_KEY", "HARNESS_AUTH_TOKEN"),
    *("HARNESS_HEADERS", "ANTHROPIC_FOUNDRY_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"),
)
"""Removed from the environment of commands: `env` would write credentials of the model into history and journal."""
CRASHES = frozenset(
    128 + number
    for number in (
        signal.SIGILL,
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGKILL,
        signal.SIGSEGV,
        signal.SIGTERM,
        signal.SIGSYS,
    )
)
"""Exit codes of a shell whose last command was killed by a signal."""
DETAIL_CHARACTERS = 4_000
_NAMED = re.compile(
    r"(?m)(?:^|: )([^:\s][^:\n]{0,200}): "
    r"(?:command not found|not found|No such file or directory|Permission denied|Is a directory|cannot execute\b.*)$"
)
_FIRST_WORD = re.compile(r"\s*(?:\w+=\S*\s+)*([^\s;&|<>()]+)")

ALONE = "To start a server, send it to the background with its output in a file: `server > server.log 2>&1 &`."
BESIDE = (
    "With `background` the call returns at once and the command keeps running: use it for servers, and for long "
    "commands while you do other work. Do not use `&` for that."
)
Seconds = Annotated[float, Field(gt=0, le=LONGEST_S)]
LongSeconds = Annotated[float, Field(gt=0, le=LONGEST_BACKGROUND_S)]


class BashArguments(ToolArguments):
    """Arguments of bash."""

    command: str = Field(description="The command line, as typed into bash.", min_length=1)
    timeout: Seconds | SkipJsonSchema[None] = Field(
        default=None, description=f"Time limit in seconds, at most {LONGEST_S}."
    )


class BackgroundArguments(ToolArguments):
    """Arguments of bash where there is a background."""

    command: str = Field(description="The command line, as typed into bash.", min_length=1)
    background: bool = Field(
        default=False, description="True: return at once and keep the command running; you are notified when it ends."
    )
    timeout: LongSeconds | SkipJsonSchema[None] = Field(
        default=None,
        description=f"Time limit in seconds, at most {LONGEST_S}; in the background at most {LONGEST_BACKGROUND_S}.",
    )

    @field_validator("timeout")
    @classmethod
    def _long_only_in_the_background(cls, timeout: float | None, info: ValidationInfo) -> float | None:
        if timeout is not None and timeout > LONGEST_S and not info.data.get("background"):
            raise broken_rule(f"was {timeout:g}, but a call that is waited for may take {LONGEST_S} seconds at most")
        return timeout


def bash_tool(
    limits: ProcessLimits | None = None,
    result_characters: int = RESULT_CHARACTERS,
    background: BackgroundRunner | None = None,
    workspace: Path | None = None,
) -> Tool:
    """The tool bash. `limits.time_s` is the time limit of calls that name none.

    The argument `background` exists only where `background` is given. With a `workspace` a check before a call looks
    whether folder and shell are there.
    """
    limits = limits or ProcessLimits()
    continues = background is not None and background.continues_at_limit
    at_limit = "it continues in the background" if continues else "the command and all its children are ended"

    async def run_bash(context: ToolContext, arguments: BashArguments | BackgroundArguments) -> ToolResult:
        if background is not None and isinstance(arguments, BackgroundArguments) and arguments.background:
            return await _begin(background, context, arguments)
        time_s = limits.time_s if arguments.timeout is None else arguments.timeout
        return await _run(context, arguments.command, _with_time(limits, time_s), result_characters, background)

    return Tool(
        name="bash",
        description=(
            "Run a command line in a new bash that starts in the workspace. Nothing carries over to the next call: "
            "not the current folder, not variables. There is no terminal and stdin is empty, so use options that ask "
            "no questions. stdout and stderr come back in one stream, with the exit code. After "
            f"{limits.time_s:g} seconds, or the time you give, {at_limit}. Long output "
            "is shortened in the middle; the whole is then in a file that read_file can open. "
            f"{ALONE if background is None else BESIDE}"
        ),
        arguments=BashArguments if background is None else BackgroundArguments,
        effect=Effect.RUN,
        run=run_bash,
        command_line=_line_of,
        check=None if workspace is None else runs_here(workspace, partial(_shell, workspace)),
        timeout_s=inf,  # the command itself has a limit
        summarise=_summary,
        preview=lambda context, arguments: visible(arguments.command),
    )


def shell_command(line: str, workspace: Path) -> tuple[str, ...]:
    """The program and arguments that run a command line: bash, or sh where there is none outside `workspace`."""
    return (_shell(workspace), "-c", line)


def _shell(workspace: Path) -> str:
    return shutil.which("bash", path=own_search_path(workspace)) or "/bin/sh"


def shell_environment(
    environ: Mapping[str, str], workspace: Path, profile: ProfileName = ProfileName.FREE
) -> dict[str, str]:
    """The environment of a command: ours without secrets, and without programs that wait for a key press.

    Python writes its output at once, unless the variable for that is set: into a pipe it writes blocks otherwise.
    A command that runs without a question inherits nothing that makes it do more than its words say.
    """
    quiet = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "TERM": "dumb"}
    kept = {name: value for name, value in environ.items() if name not in SECRETS}
    inherit = {ProfileName.LOOK: unasked, ProfileName.WORK: held, ProfileName.FREE: as_read}[profile]
    return with_number({"PYTHONUNBUFFERED": "1", **inherit(kept, workspace), **quiet}, workspace)


async def _begin(background: BackgroundRunner, context: ToolContext, arguments: BackgroundArguments) -> ToolResult:
    row = await background.start(
        arguments.command,
        context.call_id,
        arguments.timeout,
        profile=context.profile,
        terms=context.terms,
    )
    match row.state:
        case CommandState.ENDED if row.end is CommandEnd.NOT_STARTED:
            text = f"The command was not started: {row.reason}"
            return ToolResult(text, ToolOutcome.ERROR, shorten_line(text))
        case CommandState.WAITS:
            return ToolResult(begun_text(row), summary=f"{row.id} queued")
        case _:
            return ToolResult(begun_text(row), summary=f"{row.id} in the background")


async def _run(
    context: ToolContext,
    line: str,
    limits: ProcessLimits,
    result_characters: int,
    background: BackgroundRunner | None = None,
) -> ToolResult:
    free = context.profile is ProfileName.FREE
    held = None if free else await in_thread(partial(HeldCommand, context, line))
    output = CommandOutput(result_characters, context.output_file)
    live = LiveOutput(context.call_id, context.show_output)
    try:
        finished = await _ended(context, line, limits, background, output, live, held)
    except OSError as error:
        output.finish()
        text = f"The command could not be started: {error}"
        return ToolResult(text, ToolOutcome.BROKEN, shorten_line(text), category=FailureCategory.CANNOT_START)
    except ValueError as error:  # a null byte in the command line
        output.finish()
        return invalid(f"The command could not be started: {error}")
    except asyncio.CancelledError as cancelled:
        raise ToolCancelled(_interrupted(output)) from cancelled
    except BaseException:
        output.finish()
        raise
    finally:
        live.close()
    if isinstance(finished, MovedCommand):
        return _moved(finished, output, limits.time_s)
    if finished.not_begun:
        return _not_begun(finished.not_begun, output)
    outcome, summary, category = judge(finished, limits.time_s)
    footer = "\n\n" + _footer(finished, summary, pace(output.silent_s, limits.time_s))
    text = output.text(reserve=len(footer) + (len(finished.denials_note) + LONGEST_NOTES if held else 0))
    denials: tuple[SandboxDenial, ...] = ()
    obeyed: tuple[str, ...] = ()
    if held:
        upstreams = await held.set_upstreams(shell_environment(os.environ, context.workspace.root, context.profile))
        note, denials, obeyed = await in_thread(partial(held.ended, text, finished, upstreams))
        footer += note
    if background is not None and (note := background.poll_note(line, context.call_id)):
        footer += f"\n{note}"
    full_output = output.finish()
    content = (text.rstrip("\n") or "(no output)") + footer
    missing = _missing(line, text) if category is FailureCategory.CANNOT_START else ""
    detail, lines = output.beginning(DETAIL_CHARACTERS)
    result = ToolResult(content, outcome, summary, detail, full_output, category, missing=missing, detail_of=lines)
    return replace(result, denials=denials, obeyed=obeyed)


async def _ended(
    context: ToolContext,
    line: str,
    limits: ProcessLimits,
    background: BackgroundRunner | None,
    output: CommandOutput,
    live: LiveOutput,
    held: HeldCommand | None,
) -> ProcessResult | MovedCommand:
    """Run the command to its end, or until it continues in the background."""

    def feed(data: bytes) -> None:
        output.feed(data)
        live.feed(data)

    child = await context.processes.pipe(
        shell_command(line, context.workspace.root),
        cwd=context.workspace.root,
        environment=shell_environment(os.environ, context.workspace.root, _inherits(context)),
        sink=feed,
        limits=limits,
        profile=context.profile,
        terms=context.terms,
        limit_memory=True,
        agent=context.agent,
    )
    if held:
        held.begun()
    if background is None:
        finished: ProcessResult | MovedCommand = await child.within(limits.time_s)
    else:
        finished = await background.foreground.wait_for(child, output, line, context.call_id, limits.time_s)
    return await held.without_left(child, finished) if held and isinstance(finished, ProcessResult) else finished


def _inherits(context: ToolContext) -> ProfileName:
    """The profile whose environment a command has: what shows the whole machine runs free, but unasked."""
    return ProfileName.LOOK if context.unasked else context.profile


def _interrupted(output: CommandOutput) -> ToolResult:
    """What a command had written when its call was cancelled."""
    content = output.text().rstrip("\n")
    detail, lines = output.beginning(DETAIL_CHARACTERS)
    return ToolResult(content, ToolOutcome.CANCELLED, "interrupted", detail, output.finish(), detail_of=lines)


def _not_begun(why: str, output: CommandOutput) -> ToolResult:
    """The result of a call whose sandbox could not be made; the output is what was said about that."""
    text = f"The command did not run: {why}\n\n{output.text()}".rstrip()
    output.finish()
    return ToolResult(text, ToolOutcome.BROKEN, shorten_line(text), category=FailureCategory.CANNOT_START)


def _moved(moved: MovedCommand, output: CommandOutput, time_s: float) -> ToolResult:
    """The result of a call whose command continues, with the file of its output in the content.

    One that seems to hang counts like any other that timed out.
    """
    footer = f"\n\n{moved_text(moved, time_s)}"
    content = (output.text(reserve=len(footer)).rstrip("\n") or "(no output yet)") + footer
    detail, lines = output.beginning(DETAIL_CHARACTERS)
    summary = f"{moved.row.id} continues in the background"
    if moved.reason is MoveReason.TIME_LIMIT and hangs(moved.silent_s, time_s):
        summary, category = f"timed out after {time_s:g} s; {summary}", FailureCategory.TIMEOUT
        broken = ToolOutcome.BROKEN
        return ToolResult(content, broken, summary, detail, category=category, detail_of=lines)
    return ToolResult(content, ToolOutcome.OK, summary, detail, detail_of=lines)


def _missing(line: str, output: str) -> str:
    """The program that could not be started: as the shell names it last, else the first word of the line."""
    named = _NAMED.findall(output[-DETAIL_CHARACTERS:])
    first = _FIRST_WORD.match(line)
    return named[-1] if named else first[1] if first else ""


def judge(finished: ProcessResult, time_s: float) -> tuple[ToolOutcome, str, FailureCategory | None]:
    """What an end means, its few words, and how the tool failed, if it did: only a command that could not do its work
    has."""
    broken = ToolOutcome.BROKEN
    match finished:
        case ProcessResult(timed_out=True):
            return broken, f"timed out after {time_s:g} s", FailureCategory.TIMEOUT
        case ProcessResult(exit_code=0):
            return ToolOutcome.OK, "exit 0", None
        case ProcessResult(exit_code=int(code), memory_kills=kills) if kills:
            end = f"exit {code}" if code >= 0 else f"killed by {_signal_name(-code)}"
            return broken, f"out of memory, {end}", FailureCategory.KILLED
        case ProcessResult(exit_code=int(code)) if code < 0:
            return broken, f"killed by {_signal_name(-code)}", FailureCategory.KILLED
        case ProcessResult(exit_code=126):
            return broken, "exit 126 (found, but cannot be executed)", FailureCategory.CANNOT_START
        case ProcessResult(exit_code=127):
            return broken, "exit 127 (command not found)", FailureCategory.CANNOT_START
        case ProcessResult(exit_code=int(code)) if code in CRASHES:
            return broken, f"exit {code} (killed by {_signal_name(code - 128)})", FailureCategory.KILLED
        case _:
            return ToolOutcome.ERROR, f"exit {finished.exit_code}", None


def _footer(finished: ProcessResult, summary: str, pace: str) -> str:
    processes = ", ".join(f"{process.name} ({process.pid})" for process in finished.left[:5])
    if len(finished.left) > 5:
        processes += f" and {len(finished.left) - 5} more"
    match finished:
        case ProcessResult(timed_out=True, left=()):
            return f"[{summary}; the command and all its children were ended. {pace}]"
        case ProcessResult(timed_out=True):
            return f"[{summary}; these could not be ended: {processes}. {pace}]"
        case ProcessResult(left=(), memory_kills=kills) if kills:
            advice = "let it use less, for example with fewer parallel jobs"
            return f"[{summary}: {finished.memory_note}; {advice}]"
        case ProcessResult(left=()):
            return f"[{summary}]"
        case _:
            return f"[{summary}; still running in the background, its output no longer read: {processes}]"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _with_time(limits: ProcessLimits, time_s: float) -> ProcessLimits:
    return ProcessLimits(time_s, limits.term_grace_s, limits.kill_grace_s, limits.pipe_grace_s)


def _line_of(input: Json) -> str | None:
    command = input.get("command")
    return command if isinstance(command, str) else None


def _summary(input: Json) -> str:
    command = input.get("command")
    if not isinstance(command, str):
        return ""
    return shorten_line(command) + (" (in the background)" if input.get("background") is True else "")
