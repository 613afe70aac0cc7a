"""The tool calls of a reply: together where that is safe, answered in order, whatever becomes of them."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.events import (
    BreakerChanged,
    Event,
    Notice,
    PermissionAnswered,
    PermissionAsked,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TransitionCode,
)
from harness.permissions import PermissionAnswer, PermissionRequest
from harness.tools import Effect, Tool, ToolError, standard_tools, tool
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import calls, run, says, stage

pytestmark = pytest.mark.anyio

ANSWER = "Done."


def call(name: str, **input: object) -> str:
    """A tool call for a script."""
    fields = ", ".join(f"{key} = {json.dumps(value)}" for key, value in input.items())
    return f'{{ name = "{name}", input = {{ {fields} }} }}'


@dataclass(frozen=True)
class Bad:
    name: str
    call: str
    outcome: ToolOutcome
    says: str


@tool(effect=Effect.READ)
def explode(what: str) -> str:
    "Explode."
    raise ZeroDivisionError(what)


@tool(effect=Effect.READ)
def refuse(what: str) -> str:
    "Refuse politely."
    raise ToolError(f"no {what} here")


def broken() -> Tool:
    """A tool that was not made by the decorator and raises where no tool may."""

    async def run(context: object, arguments: object) -> object:
        raise KeyError("inner")

    return Tool("broken", "Breaks.", explode.arguments, Effect.READ, run)  # type: ignore[arg-type]


def unshowable() -> Tool:
    """A tool whose preview raises before anybody could be asked."""

    def preview(context: object, arguments: object) -> str:
        raise UnicodeError("not text")

    return replace(broken(), name="unshowable", preview=preview)


BAD = [
    Bad("no such tool", call("read_files", path="x"), ToolOutcome.INVALID, "read_file"),
    Bad("a missing argument", call("read_file"), ToolOutcome.INVALID, "path"),
    Bad("an argument of the wrong kind", call("bash", command=["ls"]), ToolOutcome.INVALID, "command"),
    Bad("input that is no object", '{ name = "bash", raw_input = "[1]" }', ToolOutcome.INVALID, "its input is a list"),
    Bad("a file that is missing", call("read_file", path="nowhere.txt"), ToolOutcome.ERROR, "nowhere.txt"),
    Bad("a path outside", call("read_file", path="../../etc/passwd"), ToolOutcome.ERROR, "outside"),
    Bad("a command that fails", call("bash", command="exit 3"), ToolOutcome.ERROR, "exit 3"),
    Bad("a command that is unknown", call("bash", command="no-such-command"), ToolOutcome.BROKEN, "127"),
    Bad("a function that raises", call("explode", what="boom"), ToolOutcome.BROKEN, "ZeroDivisionError: boom"),
    Bad("a function that says no", call("refuse", what="milk"), ToolOutcome.ERROR, "no milk here"),
    Bad("a tool that raises", call("broken", what="x"), ToolOutcome.BROKEN, "KeyError"),
    Bad("a preview that raises", call("unshowable", what="x"), ToolOutcome.BROKEN, "not text"),
]


@pytest.mark.parametrize("bad", BAD, ids=[bad.name for bad in BAD])
async def test_what_goes_wrong_with_a_call_goes_back_to_the_model_as_an_error(bad: Bad, tmp_path: Path) -> None:
    tools = [*standard_tools(), explode, refuse, broken(), unshowable()]
    async with stage(tmp_path, calls(bad.call, run("well")) + says(ANSWER), tools=tools) as here:
        turn = await here.turn()
        assert turn.codes == [TransitionCode.NEXT_TURN, TransitionCode.COMPLETED]
        [refused] = [result for result in turn.results if result.get("is_error")]
        assert bad.says in refused["content"]
        assert len(turn.results) == 2
        assert {event.outcome for event in turn.of(ToolEnded)} == {bad.outcome, ToolOutcome.OK}
        assert here.ran() == {"well": 1}


# ── permission ──────────────────────────────────────────────────────────────────────────────────────


async def test_a_denied_call_does_not_run_and_the_model_learns_why(tmp_path: Path) -> None:
    user = AnsweringUser(PermissionAnswer("always"), PermissionAnswer("no", "I need that"))
    script = calls(run("good"), call("bash", command="rm -rf ."), run("good")) + says(ANSWER)
    async with stage(tmp_path, script, asker=user, permission_mode="ask") as here:
        turn = await here.turn()
        assert here.ran() == {"good": 2}
        assert "I need that" in turn.results[1]["content"]
        assert turn.results[1]["is_error"] is True
        assert [event.answer for event in turn.of(PermissionAnswered)] == ["always", "no"]


async def test_a_front_end_that_fails_at_a_question_ends_the_turn_and_nothing_more(tmp_path: Path) -> None:
    class Broken(AnsweringUser):
        async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
            raise RuntimeError("no screen")

    async with stage(tmp_path, calls(run("never")) + says(ANSWER), asker=Broken(), permission_mode="ask") as here:
        turn = await here.turn()
        assert turn.codes == [TransitionCode.MODEL_ERROR]
        assert "no screen" in turn.end.reason
        assert (await here.turn("And?")).end.answer == ANSWER
        assert here.ran() == {}


# ── size and ends ───────────────────────────────────────────────────────────────────────────────────


async def test_many_large_results_fit_into_one_message(tmp_path: Path) -> None:
    big = call("bash", command="head -c 49000 /dev/zero | tr '\\0' x")
    async with stage(tmp_path, calls(*[big] * 10) + says(ANSWER)) as here:
        turn = await here.turn()
        assert sum(len(result["content"]) for result in turn.results) <= 210_000
        assert len(turn.results) == 10


# ── tools that hang ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def door() -> Iterator[threading.Event]:
    opened = threading.Event()
    yield opened
    opened.set()


def blocking(door: threading.Event, timeout_s: float | None = None) -> Tool:
    @tool(effect=Effect.READ, timeout_s=timeout_s)
    def fetch() -> str:
        """Fetch something."""
        door.wait(60)
        return "late"

    return fetch


async def test_an_interruption_returns_at_once_and_the_late_end_is_a_notice_and_no_result(
    tmp_path: Path, door: threading.Event
) -> None:
    script = calls(call("fetch")) + says("Hello again.")
    async with stage(tmp_path, script, tools=[blocking(door)]) as here:
        took: list[float] = []

        def interrupt(event: Event) -> None:
            if isinstance(event, ToolStarted):
                took.append(time.monotonic())
                here.agent.interrupt()

        turn = await here.turn(on_event=interrupt)
        assert time.monotonic() - took[0] < 30
        assert turn.end.code is TransitionCode.ABORTED_TOOLS
        (ended,) = turn.of(ToolEnded)
        assert (ended.outcome, ended.summary) == (ToolOutcome.CANCELLED, "interrupted, still runs")
        before = len(here.recorded)
        reported = asyncio.Event()
        here.agent.conversation.subscribe(lambda event: reported.set() if isinstance(event, Notice) else None)
        door.set()
        await asyncio.wait_for(reported.wait(), 60)
        (notice,) = [event for event in here.recorded[before:] if isinstance(event, Notice)]
        assert notice.text.startswith("fetch, which had been given up, ended ")
        assert not [event for event in here.recorded[before:] if isinstance(event, ToolEnded | BreakerChanged)]
        assert (await here.turn("hello")).end.code is TransitionCode.COMPLETED


PROGRAM = """
import asyncio, sys, time
from harness import Agent, tool
from harness.events import TurnEnded
from harness.tools import Effect

@tool(effect=Effect.READ, timeout_s=0.05)
def blocks() -> str:
    "Blocks."
    time.sleep(600)

@tool(effect=Effect.READ, timeout_s=0.05)
async def stubborn() -> str:
    "Catches its cancellation."
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            pass

async def main():
    async with Agent(tools=[blocks, stubborn], practice_script=sys.argv[1]) as agent:
        async for event in agent.run("go"):
            if isinstance(event, TurnEnded):
                print(event.code.value)

asyncio.run(main())
"""


@pytest.mark.stories
def test_a_program_ends_although_its_tools_do_not(tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text(calls(call("blocks"), call("stubborn")) + says("Both hang."))
    command = [sys.executable, "-c", PROGRAM, str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("completed\n", "")
