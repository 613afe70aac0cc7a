"""What the model meets of commands in the background; how they are run is tested with the executor."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from harness.events import CommandEnd, ToolOutcome
from harness.permissions import Allow, Mode, PermissionRequest, Permissions
from harness.processes import ProcessResult
from harness.processes.command import PipedProcess
from harness.sandbox import USUAL_TERMS, CommandTerms, ProfileName
from harness.tools.background_commands import (
    CommandRow,
    CommandState,
    CommandText,
    MovedCommand,
    NotMonitored,
    UnknownCommand,
    background_tools,
    begun_text,
    state_words,
)
from harness.tools.bash import bash_tool
from harness.tools.output import CommandOutput
from harness.tools.tool import RESULT_CHARACTERS, ArgumentError, Effect, Tool, ToolContext, ToolResult
from harness.tools.toolbox import standard_tools

pytestmark = pytest.mark.anyio

FILE = Path("/outputs/b1.out")
RUNS = CommandRow("b1", "make all", CommandState.RUNS, 1.0, FILE, 4711, bytes=1_200, time_s=3_600)
WAITS = CommandRow("b2", "make test", CommandState.WAITS, 2.0, Path("/outputs/b2.out"), before=3, time_s=3_600)
ENDED = replace(RUNS, state=CommandState.ENDED, end=CommandEnd.EXITED, exit_code=2)


@dataclass
class Waits:
    """Waits for a command as if there were no background."""

    async def wait_for(
        self, child: PipedProcess, output: CommandOutput, line: str, call_id: str, time_s: float
    ) -> ProcessResult | MovedCommand:
        return await child.within(time_s)


@dataclass
class Shelf:
    """Commands that are only written down."""

    kept: list[CommandRow] = field(default_factory=list)
    next: CommandRow = RUNS
    asked: list[object] = field(default_factory=list)
    foreground: Waits = field(default_factory=Waits)
    continues_at_limit: bool = False

    @property
    def rows(self) -> tuple[CommandRow, ...]:
        return tuple(self.kept)

    async def start(
        self,
        line: str,
        call_id: str,
        time_s: float | None = None,
        *,
        profile: ProfileName = ProfileName.FREE,
        terms: CommandTerms = USUAL_TERMS,
    ) -> CommandRow:
        self.asked.append((line, call_id, time_s))
        return self.next

    def read(
        self, id: str, *, lines: int | None = None, from_byte: int | None = None, most: int = RESULT_CHARACTERS
    ) -> CommandText:
        self.asked.append((id, lines, from_byte))
        if not FILE.name.startswith(id):
            raise UnknownCommand(f"There is no command {id!r} in the background; there are b1, b2.")
        if from_byte == 9:
            raise PermissionError(13, "Permission denied")
        return CommandText(self.next, "compiling\nlinking\n", 1_100, 1_200)

    def monitor(self, id: str, words: tuple[str, ...] = (), time_s: float | None = None) -> float:
        if id != "b1":
            raise NotMonitored(f"{id} does not run: exit 0.")
        self.asked.append((id, words, time_s))
        return 60.0

    def end_monitor(self, id: str) -> bool:
        return id == "b1"

    def poll_note(self, line: str, call_id: str) -> str:
        return "[Waiting is not needed.]" if line.startswith("sleep") else ""

    async def stop(self, id: str, *, notify: bool = True) -> CommandRow:
        self.asked.append((id, notify))
        if id != "b1":
            raise UnknownCommand(f"There is no command {id!r} in the background; there are none.")
        return self.next


async def call(tool: Tool, context: ToolContext, **arguments: object) -> ToolResult:
    return await tool.run(context, tool.parse(arguments))


def tools(shelf: Shelf) -> dict[str, Tool]:
    return {tool.name: tool for tool in background_tools(shelf)}


# ── bash ────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_background_bash_has_no_such_argument() -> None:
    schema = bash_tool().spec()["input_schema"]
    assert list(schema["properties"]) == ["command", "timeout"]
    with pytest.raises(ArgumentError, match="no argument `background`"):
        bash_tool().parse({"command": "true", "background": True})


async def test_a_command_goes_to_the_background_only_when_the_call_says_so(context: ToolContext) -> None:
    shelf = Shelf()
    tool = bash_tool(background=shelf)
    result = await call(tool, context, command="echo make test build install", background=False)
    assert (result.content, shelf.asked) == ("make test build install\n\n[exit 0]", [])
    result = await call(tool, context, command="make all", background=True, timeout=86_400)
    assert shelf.asked == [("make all", "toolu_1", 86_400)]
    assert (result.outcome, result.summary) == (ToolOutcome.OK, "b1 in the background")
    assert result.content.startswith(
        "b1 runs (process 4711); its output goes to /outputs/b1.out. Time limit 3,600 s. Continue with other work; "
    )


async def test_a_command_that_waits_for_its_turn_says_so(context: ToolContext) -> None:
    result = await call(bash_tool(background=Shelf(next=WAITS)), context, command="make test", background=True)
    assert result.content.startswith("b2 is queued (3 before it); its output will be in /outputs/b2.out.")
    assert begun_text(replace(WAITS, before=0)).startswith("b2 is queued; ")


async def test_a_command_that_was_not_started_is_an_error(context: ToolContext) -> None:
    row = replace(ENDED, end=CommandEnd.NOT_STARTED, exit_code=None, reason="no such folder")
    result = await call(bash_tool(background=Shelf(next=row)), context, command="make", background=True)
    assert (result.outcome, result.content) == (ToolOutcome.ERROR, "The command was not started: no such folder")


@pytest.mark.parametrize("background", [False, None])
def test_who_is_waited_for_may_not_take_an_hour(background: bool | None) -> None:
    tool = bash_tool(background=Shelf())
    with pytest.raises(ArgumentError, match="`timeout` was 3600, but a call that is waited for may take 600 seconds"):
        tool.parse({"command": "true", "background": background, "timeout": 3600})


def test_no_command_may_take_more_than_a_day() -> None:
    with pytest.raises(ArgumentError, match="less than or equal to 86400"):
        bash_tool(background=Shelf()).parse({"command": "true", "background": True, "timeout": 90_000})


def test_the_line_for_the_user_says_where_it_runs() -> None:
    tool = bash_tool(background=Shelf())
    assert tool.summarise({"command": "make", "background": True}) == "make (in the background)"
    assert tool.summarise({"command": "make"}) == "make"
    assert tool.summarise({"command": 3, "background": True}) == ""


def test_the_standard_tools_have_four_more_where_there_is_a_background() -> None:
    plain, more = standard_tools(), standard_tools(background=Shelf())
    names = ["list_background", "read_background", "monitor_background", "kill_background"]
    assert [tool.name for tool in more[len(plain) :]] == names
    assert [tool.name for tool in more[: len(plain)]] == [tool.name for tool in plain]


# ── the four ───────────────────────────────────────────────────────────────────────────────────


async def test_a_command_is_monitored_until_a_time_and_a_refusal_is_a_sentence(context: ToolContext) -> None:
    shelf = Shelf()
    monitor = tools(shelf)["monitor_background"]
    result = await call(monitor, context, id="b1", words=["ready", "error"], seconds=60)
    assert result.content.startswith("New lines of b1 with 'ready' or 'error' arrive as notifications until ")
    assert shelf.asked == [("b1", ("ready", "error"), 60)]
    assert (await call(monitor, context, id="b3")).outcome is ToolOutcome.ERROR
    with pytest.raises(ArgumentError):
        monitor.parse({"id": "b1", "seconds": 90_000})


async def test_the_list_names_every_command_and_its_state(context: ToolContext) -> None:
    listing = tools(Shelf([RUNS, WAITS, replace(ENDED, id="b3", bytes=0)]))["list_background"]
    result = await call(listing, context)
    assert result.content.splitlines() == [
        "b3  exit 2  make all",
        "b1  runs, 1,200 bytes  make all",
        "b2  waits  make test",
    ]
    assert result.summary == "2 of 3 not over"


async def test_of_many_that_are_over_the_newest_are_listed(context: ToolContext) -> None:
    rows = [replace(ENDED, id=f"b{n}") for n in range(1, 41)]
    result = await call(tools(Shelf([RUNS, *rows]))["list_background"], context)
    first, second, *_, last = result.content.splitlines()
    assert first == "(10 older ones have ended)"
    assert second.startswith("b11  exit 2")
    assert last.startswith("b1  runs")


async def test_an_empty_list_says_so(context: ToolContext) -> None:
    assert "No command" in (await call(tools(Shelf())["list_background"], context)).content


async def test_reading_shows_the_text_and_where_to_read_on(context: ToolContext) -> None:
    shelf = Shelf()
    result = await call(tools(shelf)["read_background"], context, id="b1", lines=2)
    assert result.content == (
        "compiling\nlinking\n\n[b1: runs; bytes 1,100 to 1,200 of 1,200; from_byte=1200 reads on]"
    )
    assert shelf.asked == [("b1", 2, None)]


@pytest.mark.parametrize(
    ("row", "as_of", "undated"),
    [
        (RUNS, None, False),
        (WAITS, None, False),
        (ENDED, 1.0, False),
        (replace(ENDED, since=0.0), None, True),
        (replace(ENDED, end=CommandEnd.LOST, exit_code=None), None, True),
        (replace(RUNS, state=CommandState.HANDED_OVER), None, False),
        (replace(RUNS, state=CommandState.HANDED_OVER, since=0.0), None, True),
    ],
)
async def test_an_output_is_of_when_its_command_ended(
    row: CommandRow, as_of: float | None, undated: bool, context: ToolContext
) -> None:
    result = await call(tools(Shelf(next=row))["read_background"], context, id="b1")
    assert (result.as_of, result.undated) == (as_of, undated)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"id": "b7"}, "There is no command 'b7' in the background; there are b1, b2."),
        ({"id": "b1", "from_byte": 9}, "The output of b1 cannot be read: Permission denied."),
    ],
)
async def test_what_cannot_be_read_is_an_error(
    context: ToolContext, arguments: dict[str, object], expected: str
) -> None:
    result = await call(tools(Shelf())["read_background"], context, **arguments)
    assert (result.outcome, result.content) == (ToolOutcome.ERROR, expected)


async def test_killing_reports_to_the_model_in_its_result(context: ToolContext) -> None:
    shelf = Shelf(next=replace(ENDED, end=CommandEnd.STOPPED, exit_code=-15))
    result = await call(tools(shelf)["kill_background"], context, id="b1")
    assert result.content == "b1 and all its children were ended; its output is in /outputs/b1.out."
    assert shelf.asked == [("b1", False)]


async def test_killing_what_is_over_or_unknown_says_so(context: ToolContext) -> None:
    kill = tools(Shelf(next=ENDED))["kill_background"]
    assert (await call(kill, context, id="b1")).content == "b1 was over already: exit 2."
    assert (await call(kill, context, id="b9")).outcome is ToolOutcome.ERROR


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.EDITS, Mode.DENY])
def test_looking_and_ending_ask_for_no_permission(mode: Mode) -> None:
    for tool in background_tools(Shelf()):
        assert tool.effect is Effect.READ
        assert isinstance(Permissions(mode).decide(PermissionRequest("c", tool.name, tool.effect, "", "", {})), Allow)


def test_asking_again_and_again_is_no_loop() -> None:
    assert {tool.name for tool in background_tools(Shelf()) if tool.polls} == {"list_background", "read_background"}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (RUNS, "runs"),
        (WAITS, "waits"),
        (replace(RUNS, quiet=True), "runs, seems to wait for input"),
        (ENDED, "exit 2"),
        (replace(ENDED, exit_code=0), "exit 0"),
        (replace(ENDED, exit_code=-9), "killed by signal 9"),
        (replace(ENDED, end=CommandEnd.TIMED_OUT, exit_code=-15), "timed out"),
        (replace(ENDED, end=CommandEnd.LOST, exit_code=None), "lost"),
        (replace(RUNS, state=CommandState.HANDED_OVER), "handed over"),
    ],
)
def test_every_state_has_its_words(row: CommandRow, words: str) -> None:
    assert state_words(row) == words
