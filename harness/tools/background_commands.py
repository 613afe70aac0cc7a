"""Background commands: the protocol that runs them, and the tools that list, read and stop them.

A command goes to the background only where the model says so. All it writes is in a file from the first byte
on, so that nothing of it is lost. Looking at a command and ending it ask for no permission: the command itself
was allowed, and these tools reach nothing but commands of this session.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from harness.base.clock import time_of_day
from harness.base.errors import HarnessError
from harness.events import CommandEnd, Json, MoveReason, ToolOutcome
from harness.processes import ProcessResult
from harness.sandbox import USUAL_TERMS, CommandTerms, ProfileName
from harness.tools.output import CommandOutput
from harness.tools.tool import RESULT_CHARACTERS, Effect, Tool, ToolArguments, ToolContext, ToolResult, shorten_line

if TYPE_CHECKING:
    from harness.processes.command import PipedProcess

LONGEST_BACKGROUND_S = 86_400
"""A day: the longest time limit that a call may name."""
SHOWN_LINES = 40
"""Lines from the end of an output that are shown where the call names no other number."""
HANG_S = 45.0
"""Seconds without output after which a command that reached its time limit seems to hang; half of a shorter limit."""
MOVED = "It was not restarted"
"""Part of each result of a command that continues in the background."""
SHOWN_ENDS = 30
"""Ended commands that are listed, newest first kept."""


class CommandState(StrEnum):
    """State of a background command."""

    WAITS = "waits"
    """Queued for admission."""
    RUNS = "runs"
    ENDED = "ended"
    HANDED_OVER = "handed_over"
    """It keeps running and is no longer monitored."""


@dataclass(frozen=True, slots=True)
class CommandRow:
    """The present state of one background command."""

    id: str
    """ "b1", counted within a session."""
    line: str
    """The command line."""
    state: CommandState
    since: float
    """Unix time at which it entered this state; 0: unknown."""
    output: Path
    """The file with all it wrote, stdout and stderr in one."""
    pid: int | None = None
    bytes: int = 0
    """Size of its output."""
    end: CommandEnd | None = None
    """How it ended; None: it has not."""
    exit_code: int | None = None
    quiet: bool = False
    """It has written nothing for a while, and what it wrote last looks like a question."""
    before: int = 0
    """While it waits: how many others of those that wait begin before it."""
    reason: str = ""
    """One line, where `end` and exit code do not say all."""
    time_s: float = 0.0
    """Seconds it may take, from its beginning; 0: no limit."""


@dataclass(frozen=True, slots=True)
class CommandText:
    """A part of the output of a command."""

    row: CommandRow
    text: str
    """Readable: without the escape sequences of a terminal."""
    start: int
    """Byte of the file at which the text begins."""
    end: int
    """Byte after its last one: where to read on."""


class NotMonitored(HarnessError):  # noqa: N818  it says what became of the request
    """The command cannot be monitored. The text is one sentence for the model."""


class UnknownCommand(HarnessError):  # noqa: N818  it says what the id is
    """Unknown command id. The text is one sentence for the model."""


@dataclass(frozen=True, slots=True)
class MovedCommand:
    """A command that began in the foreground and continues in the background."""

    row: CommandRow
    reason: MoveReason
    silent_s: float
    """Seconds since its last output when it was moved."""


class ForegroundRunner(Protocol):
    """Lets calls wait for commands that can be moved to the background."""

    async def wait_for(
        self, child: "PipedProcess", output: CommandOutput, line: str, call_id: str, time_s: float
    ) -> ProcessResult | MovedCommand:
        """Wait for the end of a command, for its time limit, or until it is moved.

        When the call is cancelled, the command is ended, unless it was moved before.
        """
        ...


class BackgroundRunner(Protocol):
    """Runs background commands for one session."""

    @property
    def continues_at_limit(self) -> bool:
        """A command in the foreground that reaches its time limit continues in the background."""
        ...

    @property
    def foreground(self) -> ForegroundRunner:
        """Waits for commands that can continue in the background."""
        ...

    async def start(
        self,
        line: str,
        call_id: str,
        time_s: float | None = None,
        *,
        profile: ProfileName = ProfileName.FREE,
        terms: CommandTerms = USUAL_TERMS,
    ) -> CommandRow:
        """Begin a command, or let it wait for its turn; returns as soon as it is known which.

        `time_s` counts from its beginning; None: as set for the session. It is held to `profile` on these
        `terms`.
        """
        ...

    @property
    def rows(self) -> tuple[CommandRow, ...]:
        """All commands of the session, the oldest first."""
        ...

    def read(
        self, id: str, *, lines: int | None = None, from_byte: int | None = None, most: int = RESULT_CHARACTERS
    ) -> CommandText:
        """A part of the output, at most `most` characters of it: from a byte on, or the last `lines`.

        Raises `UnknownCommand`; OSError where the file cannot be read.
        """
        ...

    async def stop(self, id: str, *, notify: bool = True) -> CommandRow:
        """End a command and all its children, and return when they are gone. One that has ended stays as it is.

        With `notify` the model is notified of its end as usual. Raises `UnknownCommand`.
        """
        ...

    def monitor(self, id: str, words: tuple[str, ...] = (), time_s: float | None = None) -> float:
        """Send the lines that a command writes from now on to the model; returns the deadline in Unix time.

        `words`: only lines with one of these texts. Raises `UnknownCommand` and `NotMonitored`.
        """
        ...

    def end_monitor(self, id: str) -> bool:
        """Send no more lines of a command. False: it was not monitored. Raises `UnknownCommand`."""
        ...

    def poll_note(self, line: str, call_id: str) -> str:
        """What follows the result of a command line in the foreground; empty: nothing."""
        ...


class NoArguments(ToolArguments):
    """A tool that takes nothing."""


class ReadArguments(ToolArguments):
    """Arguments of read_background."""

    id: str = Field(description='The command: "b1".', min_length=1)
    lines: int | SkipJsonSchema[None] = Field(
        default=None, ge=1, description=f"How many lines from the end; {SHOWN_LINES} unless given."
    )
    from_byte: int | SkipJsonSchema[None] = Field(
        default=None, ge=0, description="Read from this byte instead; the previous result names it."
    )


class KillArguments(ToolArguments):
    """Arguments of kill_background."""

    id: str = Field(description='The command: "b1".', min_length=1)


class MonitorArguments(ToolArguments):
    """Arguments of monitor_background."""

    id: str = Field(description='The command: "b1".', min_length=1)
    words: list[str] | SkipJsonSchema[None] = Field(
        default=None, description="Only lines with one of these texts.", min_length=1
    )
    seconds: Annotated[float, Field(ge=0, le=LONGEST_BACKGROUND_S)] | SkipJsonSchema[None] = Field(
        default=None, description="Seconds to monitor; default 600; 0 stops monitoring."
    )


def background_tools(background: BackgroundRunner, result_characters: int = RESULT_CHARACTERS) -> tuple[Tool, ...]:
    """list_background, read_background, monitor_background and kill_background."""
    read = _read_tool(background, result_characters)
    return (_list_tool(background), read, _monitor_tool(background), _kill_tool(background))


def begun_text(row: CommandRow) -> str:
    """The result for the model of a command that was sent to the background."""
    match row.state:
        case CommandState.WAITS:
            others = f" ({row.before} before it)" if row.before else ""
            beginning = f"{row.id} is queued{others}; its output will be in {row.output}."
        case _:
            beginning = f"{row.id} runs (process {row.pid}); its output goes to {row.output}."
    return (
        f"{beginning} Time limit {row.time_s:,g} s. Continue with other work; you are notified when it ends. "
        f"read_background shows what it has written, kill_background ends it."
    )


def moved_text(moved: MovedCommand, time_s: float) -> str:
    """What follows the output so far of a command that continues in the background; `time_s` was its time limit."""
    row = moved.row
    continues = (
        f"{MOVED}: it runs as {row.id} (process {row.pid}) and may take {row.time_s:,g} s in all. "
        f"Everything it writes is in {row.output}. Continue with other work; you are notified when it ends. "
        "read_background shows what it has written, kill_background ends it."
    )
    match moved.reason:
        case MoveReason.ASKED:
            return f"[The user moved this command to the background. {continues}]"
        case MoveReason.TIME_LIMIT:
            why = f"Not over after its time limit of {time_s:g} s; it continues in the background."
            return f"[{why} {pace(moved.silent_s, time_s)} {continues}]"


def hangs(silent_s: float, time_s: float) -> bool:
    """Whether a command that reached its time limit seems to hang, rather than to be slow."""
    return silent_s >= min(HANG_S, time_s / 2)


def pace(silent_s: float, time_s: float) -> str:
    """A sentence about a command that reached its time limit: a hang, or a slow one."""
    if hangs(silent_s, time_s):
        return f"It seems to hang: it has written nothing for {silent_s:.1f} s."
    return f"It seems to be slow, not to hang: it wrote something {silent_s:.1f} s ago."


def state_words(row: CommandRow) -> str:
    """State of a command in a few words: "runs", "exit 1", "stopped"."""
    match row:
        case CommandRow(state=CommandState.ENDED, end=CommandEnd.EXITED, exit_code=int(code)):
            return f"exit {code}" if code >= 0 else f"killed by signal {-code}"
        case CommandRow(state=CommandState.ENDED, end=CommandEnd(end)):
            return end.value.replace("_", " ")
        case CommandRow(state=CommandState.HANDED_OVER):
            return "handed over"
        case CommandRow(state=CommandState.RUNS, quiet=True):
            return "runs, seems to wait for input"
        case _:
            return row.state.value


def _list_tool(background: BackgroundRunner) -> Tool:
    async def list_background(context: ToolContext, arguments: NoArguments) -> ToolResult:
        rows = background.rows
        if not rows:
            return ToolResult("No command was sent to the background in this session.", summary="none")
        going_on = [row for row in rows if row.state is not CommandState.ENDED]
        ended = [row for row in rows if row.state is CommandState.ENDED]
        older = len(ended) - SHOWN_ENDS
        lines = [f"({older} older ones have ended)"] if older > 0 else []
        lines += map(_row_line, [*ended[-SHOWN_ENDS:], *going_on])
        return ToolResult("\n".join(lines), summary=f"{len(going_on)} of {len(rows)} not over")

    return Tool(
        name="list_background",
        description="List the background commands of this session with their states.",
        arguments=NoArguments,
        effect=Effect.READ,
        run=list_background,
        summarise=lambda input: "",
        parallel=True,
        polls=True,
    )


def _read_tool(background: BackgroundRunner, result_characters: int) -> Tool:
    async def read_background(context: ToolContext, arguments: ReadArguments) -> ToolResult:
        try:
            read = background.read(
                arguments.id, lines=arguments.lines, from_byte=arguments.from_byte, most=result_characters
            )
        except UnknownCommand as error:
            return _refused(error)
        except OSError as error:
            return _refused(f"The output of {arguments.id} cannot be read: {error.strerror or error}.")
        summary = f"{state_words(read.row)}, {read.end - read.start:,} bytes"
        return replace(_dated(read.row), content=_shown(read), summary=summary)

    return Tool(
        name="read_background",
        description=(
            "Read the latest output of a background command, or its output from a given byte on. Does not block; you "
            "are notified when the command ends."
        ),
        arguments=ReadArguments,
        effect=Effect.READ,
        run=read_background,
        summarise=_id_of,
        parallel=True,
        polls=True,
    )


def _monitor_tool(background: BackgroundRunner) -> Tool:
    async def monitor_background(context: ToolContext, arguments: MonitorArguments) -> ToolResult:
        id, words = arguments.id, tuple(arguments.words or ())
        try:
            if arguments.seconds == 0:
                ended = background.end_monitor(id)
                text = f"The monitor of {id} has ended." if ended else f"{id} was not monitored."
                return ToolResult(text, summary=text)
            until = background.monitor(id, words, arguments.seconds)
        except (UnknownCommand, NotMonitored) as error:
            return _refused(error)
        which = f" with {' or '.join(map(repr, words))}" if words else ""
        return ToolResult(
            f"New lines of {id}{which} arrive as notifications until {time_of_day(until)}, several at once. The end of "
            f"{id} is announced in any case. Continue with other work, or end your turn.",
            summary=f"until {time_of_day(until)}",
        )

    return Tool(
        name="monitor_background",
        description="Get new lines of a background command as notifications. Its end is announced without this.",
        arguments=MonitorArguments,
        effect=Effect.READ,
        run=monitor_background,
        summarise=_id_of,
    )


def _kill_tool(background: BackgroundRunner) -> Tool:
    async def kill_background(context: ToolContext, arguments: KillArguments) -> ToolResult:
        try:
            row = await background.stop(arguments.id, notify=False)
        except UnknownCommand as error:
            return _refused(error)
        if row.end is CommandEnd.STOPPED:
            return ToolResult(
                f"{row.id} and all its children were ended; its output is in {row.output}.", summary="ended"
            )
        return ToolResult(f"{row.id} was over already: {state_words(row)}.", summary=state_words(row))

    return Tool(
        name="kill_background",
        description="End a background command and all its children, or remove it from the queue.",
        arguments=KillArguments,
        effect=Effect.READ,  # no question: it ends only commands that this session was allowed to start
        changes=True,
        run=kill_background,
        summarise=_id_of,
    )


def _row_line(row: CommandRow) -> str:
    written = f", {row.bytes:,} bytes" if row.bytes else ""
    return f"{row.id}  {state_words(row)}{written}  {shorten_line(row.line)}"


def _shown(read: CommandText) -> str:
    row = read.row
    reason = f" ({row.reason})" if row.reason else ""
    where = f"bytes {read.start:,} to {read.end:,} of {row.bytes:,}; from_byte={read.end} reads on"
    return f"{read.text.rstrip() or '(no output)'}\n\n[{row.id}: {state_words(row)}{reason}; {where}]"


def _dated(row: CommandRow) -> ToolResult:
    """An empty result dated like the output of a command; that of a running command is of now."""
    known = row.since > 0 and row.end is not CommandEnd.LOST
    match row.state:
        case CommandState.ENDED if known:
            return ToolResult("", as_of=row.since)
        case CommandState.ENDED:
            return ToolResult("", undated=True)
        case CommandState.HANDED_OVER:
            return ToolResult("", undated=not known)
        case _:
            return ToolResult("")


def _refused(why: UnknownCommand | NotMonitored | str) -> ToolResult:
    return ToolResult(str(why), ToolOutcome.ERROR, shorten_line(str(why)))


def _id_of(input: Json) -> str:
    given = input.get("id")
    return shorten_line(given) if isinstance(given, str) else ""
