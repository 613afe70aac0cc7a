"""bash: run a command line."""

import os
import shutil
import signal
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from harness.events import FailureCategory, Json, ToolOutcome
from harness.tools.arguments import Arguments
from harness.tools.output import Output
from harness.tools.process import Finished, Limits, run
from harness.tools.tool import RESULT_CHARACTERS, Effect, Tool, ToolContext, ToolResult, shorten_line
from harness.visible import visible

LONGEST_S = 600
SECRETS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "HARNESS_API_KEY",
    "HARNESS_AUTH_TOKEN",
)
"""A command does not get what pays for the model: `env` would write it into the history and the journal."""
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
"""Exit codes by which a shell says that its last command was killed."""
DETAIL_CHARACTERS = 4_000


Seconds = Annotated[float, Field(gt=0, le=LONGEST_S)]


class BashArguments(Arguments):
    """Arguments of bash."""

    command: str = Field(description="The command line, as typed into bash.", min_length=1)
    timeout: Seconds | SkipJsonSchema[None] = Field(
        default=None, description=f"Time limit in seconds, at most {LONGEST_S}."
    )


def bash_tool(limits: Limits | None = None, result_characters: int = RESULT_CHARACTERS) -> Tool:
    """The tool bash. `limits.time_s` is the time limit of calls that name none."""
    limits = limits or Limits()

    async def run_bash(context: ToolContext, arguments: BashArguments) -> ToolResult:
        time_s = limits.time_s if arguments.timeout is None else arguments.timeout
        return await _run(context, arguments.command, _with_time(limits, time_s), result_characters)

    return Tool(
        name="bash",
        description=(
            "Run a command line in a new bash that starts in the workspace. Nothing carries over to the next call: "
            "not the current folder, not variables. There is no terminal and stdin is empty, so use options that ask "
            "no questions. stdout and stderr come back in one stream, with the exit code. After "
            f"{limits.time_s:g} seconds, or the time you give, the command and all its children are ended. Long output "
            "is shortened in the middle; the whole is then in a file that read_file can open. To start a server, send "
            "it to the background with its output in a file: `server > server.log 2>&1 &`."
        ),
        arguments=BashArguments,
        effect=Effect.RUN,
        run=run_bash,
        summarise=_summary,
        preview=lambda context, arguments: visible(arguments.command),
    )


def shell_command(line: str) -> tuple[str, ...]:
    """The program and arguments that run a command line: bash, or sh where there is no bash."""
    return (shutil.which("bash") or "/bin/sh", "-c", line)


def shell_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command: ours without secrets, and without programs that wait for a key press."""
    quiet = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "TERM": "dumb"}
    return {**{name: value for name, value in environ.items() if name not in SECRETS}, **quiet}


async def _run(context: ToolContext, line: str, limits: Limits, result_characters: int) -> ToolResult:
    output = Output(result_characters, context.output_file)
    try:
        finished = await run(
            shell_command(line),
            cwd=context.workspace.root,
            environment=shell_environment(os.environ),
            sink=output.feed,
            limits=limits,
            owner=str(context.outputs),
        )
    except OSError as error:
        output.finish()
        text = f"The command could not be started: {error}"
        return ToolResult(text, ToolOutcome.BROKEN, shorten_line(text), category=FailureCategory.CANNOT_START)
    except ValueError as error:  # a null byte in the command line
        output.finish()
        text = f"The command could not be started: {error}"
        return ToolResult(text, ToolOutcome.INVALID, shorten_line(text))
    except BaseException:
        output.finish()
        raise
    outcome, summary, category = judge(finished, limits.time_s)
    footer = "\n\n" + _footer(finished, summary)
    text = output.text(reserve=len(footer))
    full_output = output.finish()
    content = (text.rstrip("\n") or "(no output)") + footer
    return ToolResult(content, outcome, summary, _detail(text), full_output, category)


def judge(finished: Finished, time_s: float) -> tuple[ToolOutcome, str, FailureCategory | None]:
    """What an end means, its few words, and how the tool failed, if it did: only a command that could not do its work
    has (resilience Q3)."""
    broken = ToolOutcome.BROKEN
    match finished:
        case Finished(timed_out=True):
            return broken, f"timed out after {time_s:g} s", FailureCategory.TIMEOUT
        case Finished(exit_code=0):
            return ToolOutcome.OK, "exit 0", None
        case Finished(exit_code=int(code)) if code < 0:
            return broken, f"killed by {_signal_name(-code)}", FailureCategory.KILLED
        case Finished(exit_code=126):
            return broken, "exit 126 (found, but cannot be executed)", FailureCategory.CANNOT_START
        case Finished(exit_code=127):
            return broken, "exit 127 (command not found)", FailureCategory.CANNOT_START
        case Finished(exit_code=int(code)) if code in CRASHES:
            return broken, f"exit {code} (killed by {_signal_name(code - 128)})", FailureCategory.KILLED
        case _:
            return ToolOutcome.ERROR, f"exit {finished.exit_code}", None


def _footer(finished: Finished, summary: str) -> str:
    processes = ", ".join(f"{process.name} ({process.pid})" for process in finished.left[:5])
    if len(finished.left) > 5:
        processes += f" and {len(finished.left) - 5} more"
    match finished:
        case Finished(timed_out=True, left=()):
            return f"[{summary}; the command and all its children were ended]"
        case Finished(timed_out=True):
            return f"[{summary}; these could not be ended: {processes}]"
        case Finished(left=()):
            return f"[{summary}]"
        case _:
            return f"[{summary}; still running in the background, its output no longer read: {processes}]"


def _detail(text: str) -> str:
    return text if len(text) <= DETAIL_CHARACTERS else text[:DETAIL_CHARACTERS] + "\n…"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _with_time(limits: Limits, time_s: float) -> Limits:
    return Limits(time_s, limits.term_grace_s, limits.kill_grace_s, limits.pipe_grace_s)


def _summary(input: Json) -> str:
    command = input.get("command")
    return shorten_line(command) if isinstance(command, str) else ""
