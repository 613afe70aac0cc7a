"""What the breaker counts of the calls of real tools: the table of A5."""

import asyncio
import errno
import os
import socket
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.engine.conversation import Conversation
from harness.engine.tools.results import finish_of
from harness.events import Event, Failure, FailureCategory, Json, ToolCall, ToolEnded, ToolOutcome
from harness.permissions import Mode
from harness.policies.breakers.decisions import Finish
from harness.policies.breakers.registry import BreakerRegistry
from harness.tools import ProcessLimits, ToolError, ToolResult, tool
from harness.tools.grep import grep_tool
from harness.tools.toolbox import Toolbox, standard_tools
from tests.agent.stage import settings_of
from tests.engine.cores import core_with
from tests.engine.hookless import tool_calls

pytestmark = pytest.mark.anyio

O, C = ToolOutcome, FailureCategory  # noqa: E741 (the tables below are read by column)


@tool
def fetch(how: str) -> ToolResult | str:
    """Fail as tools of other people do."""
    match how:
        case "refused":
            with socket.socket() as unheard:
                unheard.bind(("127.0.0.1", 0))
                socket.create_connection(unheard.getsockname())
        case "disk":
            Path("/proc/self/mem").read_bytes()
        case "late":
            raise TimeoutError("no answer in 30 s")
        case "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        case "missing":
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/opt/index")
        case "value":
            raise ValueError("row 17 has no 'city'")
        case "bare":
            raise RuntimeError("error")
        case "polite":
            raise ToolError("there is no such city")
        case "unnamed":
            return ToolResult("the backend is read only", ToolOutcome.BROKEN)
    return "fine"


class Ended(NamedTuple):
    """The outcome of a call."""

    outcome: ToolOutcome
    failure: Failure | None


class Bench:
    """Has calls of real tools answered as in a turn, in a folder with files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.interrupt = asyncio.Event()

    async def call(
        self, name: str, input: Json, *, count_errors: bool = False, mode: Mode = Mode.YOLO
    ) -> tuple[Ended, BreakerRegistry]:
        """The only reported end of a call, and the registry after it."""
        events: list[Event] = []
        slow_grep = grep_tool(ProcessLimits(time_s=0.5, term_grace_s=0.2))
        tools = [slow_grep if one.name == "grep" else one for one in standard_tools()]
        core = core_with(
            settings_of(
                self.folder.parent,
                "http://127.0.0.1:9",
                workspace=self.folder,
                permission_mode=mode.value,
                count_errors=count_errors,
            ).settings,
            Conversation(events.append),
            outputs=self.folder.parent / "outputs",
        )
        calls, registry = tool_calls(core, Toolbox([*tools, fetch]))
        await calls.answer([ToolCall("call_1", name, input)], [], self.interrupt)
        (ended,) = (event for event in events if isinstance(event, ToolEnded))
        return Ended(ended.outcome, ended.failure), registry


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A folder with a text, something binary, and a text on which a search never ends."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes.md").write_text("one\ntwo\n")
    (folder / "image").write_bytes(b"\x89PNG\0\0")
    (folder / "slow").write_text("a" * 60 + "b\n")
    return Bench(folder)


NOT_COUNTED: list[tuple[str, Json, ToolOutcome]] = [
    ("bash", {"command": "true"}, O.OK),
    ("bash", {"command": "exit 1"}, O.ERROR),
    ("bash", {"command": "exit 130"}, O.ERROR),
    ("bash", {"command": "cat missing.txt"}, O.ERROR),
    ("bash", {"command": "a\0b"}, O.INVALID),
    ("bash", {"command": "echo \ud800"}, O.INVALID),
    ("bash", {"comand": "true"}, O.INVALID),
    ("read_file", {"path": "notes.md"}, O.OK),
    ("read_file", {"path": "missing.txt"}, O.ERROR),
    ("read_file", {"path": "."}, O.ERROR),
    ("read_file", {"path": "image"}, O.ERROR),
    ("read_file", {"path": "../outside.txt"}, O.ERROR),
    ("read_file", {"path": "notes.md/x"}, O.ERROR),
    ("read_file", {"path": "x" * 300}, O.ERROR),
    ("write_file", {"path": ".", "content": "x"}, O.ERROR),
    ("write_file", {"path": "new.txt", "content": "\ud800"}, O.INVALID),
    ("edit_file", {"path": "notes.md", "old_string": "three", "new_string": "four"}, O.ERROR),
    ("edit_file", {"path": "notes.md", "old_string": "one", "new_string": "\ud800"}, O.INVALID),
    ("glob", {"pattern": "*.nothing"}, O.OK),
    ("grep", {"pattern": "(x"}, O.ERROR),
    ("grep", {"pattern": "x", "path": "missing"}, O.ERROR),
    ("todo_write", {"items": "x"}, O.INVALID),
    ("fetch", {"how": "polite"}, O.ERROR),
    ("fetch", {"how": 1}, O.INVALID),
    ("no_such_tool", {}, O.INVALID),
]

KEYS = {"sleep 60": "bash:sleep", "./notes.md": "bash:notes.md", "no-such-program-here": "bash:no-such-program-here"}
COUNTED: list[tuple[str, Json, FailureCategory, str]] = [
    ("bash", {"command": "sleep 60", "timeout": 0.2}, C.TIMEOUT, "timeout"),
    ("bash", {"command": "./notes.md"}, C.CANNOT_START, "cannot_start: found but cannot executed"),
    ("bash", {"command": "no-such-program-here"}, C.CANNOT_START, "cannot_start: not found"),
    ("bash", {"command": "kill -9 $$"}, C.KILLED, "killed: killed sigkill"),
    ("bash", {"command": "bash -c 'kill -SEGV $$'; exit $?"}, C.KILLED, "killed: killed sigsegv"),
    ("grep", {"pattern": "(a+)+$", "path": "slow"}, C.TIMEOUT, "timeout"),
    ("fetch", {"how": "refused"}, C.TRANSPORT, "transport: connection refused"),
    ("fetch", {"how": "disk"}, C.SYSTEM, "system: input output"),
    ("fetch", {"how": "full"}, C.SYSTEM, "system: no space left device"),
    ("fetch", {"how": "late"}, C.TIMEOUT, "timeout"),
    ("fetch", {"how": "missing"}, C.CANNOT_START, "cannot_start: no such file directory"),
    ("fetch", {"how": "value"}, C.CRASHED, "crashed: row no"),
    ("fetch", {"how": "bare"}, C.CRASHED, ""),
    ("fetch", {"how": "unnamed"}, C.CRASHED, "crashed: backend read only"),
]


@pytest.mark.parametrize(("name", "input", "outcome"), NOT_COUNTED)
async def test_an_answer_says_nothing_against_its_tool(
    name: str, input: Json, outcome: ToolOutcome, bench: Bench
) -> None:
    ended, registry = await bench.call(name, input)
    assert ended == (outcome, None)
    assert registry.consumed == 0


@pytest.mark.parametrize(("name", "input", "category", "signature"), COUNTED)
async def test_a_tool_that_failed_itself_is_charged_with_category_and_signature(
    name: str, input: Json, category: FailureCategory, signature: str, bench: Bench
) -> None:
    (outcome, failure), registry = await bench.call(name, input)
    assert outcome is O.BROKEN
    assert failure is not None
    assert (failure.category, failure.signature) == (category, signature)
    assert failure.message
    assert "\n" not in failure.message
    key = KEYS.get(str(input.get("command")), name)
    assert (registry.consumed, registry.breaker(key).failures) == (1, 1)


async def test_a_call_that_was_not_allowed_says_nothing_against_the_tool(bench: Bench) -> None:
    ended, registry = await bench.call("bash", {"command": "true"}, mode=Mode.DENY)
    assert (ended, registry.consumed) == ((O.DENIED, None), 0)


async def test_what_was_cancelled_says_nothing_against_the_tool(bench: Bench) -> None:
    begun = bench.folder / "begun"
    os.mkfifo(begun)
    calling = asyncio.create_task(bench.call("bash", {"command": "echo yes > begun; sleep 60"}))
    async with asyncio.timeout(60):
        assert await asyncio.to_thread(begun.read_text) == "yes\n"
    bench.interrupt.set()
    ended, registry = await calling
    assert (ended, registry.consumed) == ((O.CANCELLED, None), 0)


REFUSALS: list[tuple[str, Json, str]] = [
    ("bash", {"command": "exit 1"}, ""),
    (
        "bash",
        {"command": "echo 2 tests; echo 'cc: fatal: no input files' >&2; exit 1"},
        "refused: cc fatal no input files",
    ),
    ("read_file", {"path": "missing.txt"}, "refused: not exist"),
    ("grep", {"pattern": "(x"}, "refused: not usable regular expression missing unterminated subpattern position"),
    ("fetch", {"how": "polite"}, "refused: no such city"),
]


@pytest.mark.parametrize(("name", "input", "signature"), REFUSALS)
async def test_an_ordinary_no_counts_where_it_is_wanted(name: str, input: Json, signature: str, bench: Bench) -> None:
    (outcome, failure), registry = await bench.call(name, input, count_errors=True)
    assert outcome is O.ERROR
    assert failure is not None
    assert (failure.category, failure.signature) == (C.REFUSED, signature)
    assert registry.consumed == 1


@pytest.mark.parametrize("count_errors", [False, True])
def test_every_outcome_has_its_meaning_and_only_two_can_be_failures(count_errors: bool) -> None:
    finishes = {outcome: finish_of(ToolResult("x", outcome), "fetch", count_errors=count_errors) for outcome in O}
    failed = {outcome for outcome, finish in finishes.items() if isinstance(finish, Failure)}
    assert failed == ({O.BROKEN, O.ERROR} if count_errors else {O.BROKEN})
    assert {outcome: finish for outcome, finish in finishes.items() if outcome not in (O.BROKEN, O.ERROR)} == {
        O.OK: Finish.OK,
        O.DENIED: Finish.DENIED,
        O.INVALID: Finish.INVALID,
        O.CANCELLED: Finish.CANCELLED,
        O.SKIPPED: Finish.CANCELLED,
    }


def test_a_cause_at_the_end_of_a_long_line_or_output_is_found() -> None:
    path = "/a/long/" + "path/" * 40
    long = ToolResult(f"{path}: Input/output error", O.BROKEN, f"{path[:98]} …", category=C.SYSTEM)
    finish = finish_of(long, "read_file", count_errors=False)
    assert isinstance(finish, Failure)
    assert finish.signature == "system: input output"
    output = ToolResult("7\n" * 500 + "disk quota exceeded\n\n[exit 1]", O.ERROR, "exit 1")
    finish = finish_of(output, "bash", count_errors=True)
    assert isinstance(finish, Failure)
    assert finish == Failure(C.REFUSED, "exit 1", "system: disk quota exceeded")
