"""A whole session without a key: the improviser meets open breakers in the real agent."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent import Agent
from harness.engine.conversation import Conversation
from harness.engine.permissions.asker import Asker, Nobody
from harness.events import (
    BreakerCommand,
    Dispatch,
    DispatchReason,
    Event,
    Json,
    PermissionAsked,
    TextDelta,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
)
from harness.permissions import Answer, PermissionRequest
from harness.policies.breakers import messages
from harness.policies.breakers.decisions import Pause, Ticket
from harness.practice.improviser import Improviser
from harness.practice.improviser.skips import Way, skip_of
from harness.practice.improviser.turns import Result
from harness.practice.replies import Text, ToolUse
from harness.practice.server import PracticeServer
from harness.tools.tool import Tool, tool
from harness.tools.toolbox import Toolbox, standard_tools
from tests.agent.stage import Played, Stage, VirtualClock, left_running, settings_of, shown_text
from tests.practice.improviser.conftest import FILES

pytestmark = pytest.mark.anyio

PAUSE = Pause(Ticket("grep", 0, Dispatch.PAUSE), DispatchReason.BUDGET_SPENT, caution=True)
GREP_LOSES = "its own form of matches and limits; plain grep also searches what git ignores"
GLOB_LOSES = "the newest files do not come first, and find also lists what git ignores"
READ_LOSES = "no check that the file stays inside the folder or is text, and long output is cut in its middle"
WRITE_LOSES = "not atomic: a reader can see half a file; no diff is shown before; asks as a command"
EDIT_LOSES = "the whole file is sent again, and a change somebody else made in between is lost"


@asynccontextmanager
async def acting(
    folder: Path,
    *tripped: str,
    asker: Asker | None = None,
    tools: Sequence[Tool] | None = None,
    **values: object,
) -> AsyncIterator[Stage]:
    """An agent in a small project whose model is the improviser; the breakers of `tripped` tools are open."""
    async with PracticeServer(Improviser()) as server:
        loaded = settings_of(folder, server.base_url, **values)
        for name, text in FILES.items():
            path = loaded.settings.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        recorded: list[Event] = []
        conversation = Conversation(recorded.append)
        clock = VirtualClock()
        async with Agent(
            loaded.settings,
            tools=tools or (),
            standard=None if tools is None else (),
            asker=asker,
            clock=clock,
            conversation=conversation,
        ) as agent:
            here = Stage(agent, server, clock, loaded.settings.workspace, recorded)
            for tool_name in tripped:
                agent.dispatching.command(BreakerCommand.TRIP, tool_name)
            yield here
            here.check()
    assert left_running(loaded.settings) == []


class Refusing(Nobody):
    """A person who wants none of it."""

    present = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> Answer:
        """No."""
        self.asked.append(request.tool)
        return Answer("no", "not like that")


def asked_for(turn: Played) -> list[str]:
    """The tools that were asked for, in order."""
    return [event.tool for event in turn.of(ToolEnded)]


def said(turn: Played) -> str:
    """The last words of the turn."""
    return turn.end.answer


@pytest.mark.parametrize(
    ("tripped", "prompt", "expected", "loses", "tools"),
    [
        ("grep", "find TODO", "src/app.py:6", GREP_LOSES, ["grep", "bash"]),
        ("grep", "find TODO in *.py files", "src/app.py:6", GREP_LOSES, ["grep", "bash"]),
        ("grep", 'search for "it\'s $HOME; `x`"', "did not find", GREP_LOSES, ["grep", "bash"]),
        ("grep", "TODO を探して", "src/app.py:6", GREP_LOSES, ["grep", "bash"]),
        ("glob", "list the files", "- docs/guide.md", GLOB_LOSES, ["glob", "bash"]),
        ("glob", "list the files in src", "- src/app.py", GLOB_LOSES, ["glob", "bash"]),
        ("glob", "find all markdown files", "- docs/guide.md", GLOB_LOSES, ["glob", "bash"]),
        ("glob", "ファイルを一覧して", "- docs/guide.md", GLOB_LOSES, ["glob", "bash"]),
        ("read_file", "read a.txt", "a.txt has 2 lines", READ_LOSES, ["read_file", "bash"]),
        ("read_file", "a.txt を読んで", "a.txt は 2 行", READ_LOSES, ["read_file", "bash"]),
        ("read_file", "compare a.txt and b.txt", "+three", READ_LOSES, ["read_file", "read_file", "bash", "bash"]),
        ("read_file", "read guide.md", "docs/guide.md does", READ_LOSES, ["read_file", "bash", "glob", "bash"]),
    ],
)
async def test_what_was_asked_is_found_out_another_way_and_the_loss_is_told(
    tmp_path: Path, tripped: str, prompt: str, expected: str, loses: str, tools: list[str]
) -> None:
    async with acting(tmp_path, tripped) as here:
        turn = await here.turn(prompt)
        assert expected in said(turn)
        assert loses in said(turn)
        assert asked_for(turn) == tools
        assert turn.of(ToolEnded)[0].outcome is ToolOutcome.SKIPPED


@pytest.mark.parametrize(
    ("prompt", "lost", "before"),
    [
        ("find TODO", "Done without grep, with bash instead. Lost by that: ", "grep cannot be used now"),
        ("TODO を探して", "grep を使わず、代わりに bash で行いました。そのため失われるもの: ", "grep が今は使えない"),
    ],
)
async def test_it_speaks_of_the_way_round_in_the_language_of_the_person(
    tmp_path: Path, prompt: str, lost: str, before: str
) -> None:
    async with acting(tmp_path, "grep") as here:
        turn = await here.turn(prompt)
        assert f"{lost}{GREP_LOSES}" in said(turn)
        assert before in shown_text(turn.of(TextDelta))


@pytest.mark.parametrize(
    ("prompt", "text", "tools"),
    [
        ('create new.txt with the text "it\'s $HOME; `x` %s"', "it's $HOME; `x` %s\n", ["glob", "write_file", "bash"]),
        ('create deep/new.txt with the text "a b"', "a b\n", ["glob", "write_file", "bash"]),
        ("deep/new.txt を作って、内容は「牛乳」", "牛乳\n", ["glob", "write_file", "bash"]),
    ],
)
async def test_a_file_is_written_by_the_shell_where_its_tool_does_not_work(
    tmp_path: Path, prompt: str, text: str, tools: list[str]
) -> None:
    async with acting(tmp_path, "write_file") as here:
        turn = await here.turn(prompt)
        (path,) = here.workspace.rglob("new.txt")
        assert path.read_text() == text
        assert asked_for(turn) == tools
        assert WRITE_LOSES in said(turn)


@pytest.mark.parametrize(
    ("prompt", "file", "text"),
    [
        ('replace "one" with "1" in a.txt', "a.txt", "1\ntwo\n"),
        ("a.txt の「one」を「1」に置き換えて", "a.txt", "1\ntwo\n"),
        ('append "three" to a.txt', "a.txt", "one\ntwo\nthree\n"),
        ("change timeout to 30 in config.toml", "config.toml", 'timeout = 30\nname = "demo"\n'),
    ],
)
async def test_a_change_is_written_with_the_whole_file_that_was_read(
    tmp_path: Path, prompt: str, file: str, text: str
) -> None:
    async with acting(tmp_path, "edit_file") as here:
        turn = await here.turn(prompt)
        assert (here.workspace / file).read_text() == text
        assert asked_for(turn) == ["read_file", "edit_file", "write_file"]
        assert EDIT_LOSES in said(turn)


async def test_where_writing_does_not_work_either_the_shell_writes_the_change(tmp_path: Path) -> None:
    async with acting(tmp_path, "edit_file", "write_file") as here:
        turn = await here.turn('replace "one" with "1" in a.txt')
        assert (here.workspace / "a.txt").read_text() == "1\ntwo\n"
        assert asked_for(turn) == ["read_file", "edit_file", "bash"]
        assert "no check that the text stands there once" in said(turn)


async def test_a_change_in_a_file_that_was_seen_in_part_is_left_to_the_person(tmp_path: Path) -> None:
    async with acting(tmp_path, "edit_file") as here:
        long = here.workspace / "long.txt"
        long.write_text("first\n" + "x" * 99 + "\n" + "filler\n" * 9_000)
        before = long.read_text()
        turn = await here.turn('replace "first" with "1st" in long.txt')
        assert long.read_text() == before
        assert asked_for(turn) == ["read_file", "edit_file"]
        assert "-first\n+1st" in said(turn)
        assert "By hand: give the change as a diff" in said(turn)


@pytest.mark.parametrize(
    ("tripped", "prompt", "expected", "by_hand"),
    [
        (("bash",), "run `echo hi`", "```\necho hi\n```", "By hand: list the commands"),
        (("bash",), "`echo hi` を実行して", "```\necho hi\n```", "手作業での方法: list the commands"),
        (("grep", "bash"), "find TODO", "for “TODO”", "By hand: ask the person which files"),
        (("glob", "bash"), "list the files", "Please tell me which files match", "By hand: ask the person which"),
        (("read_file", "bash"), "read a.txt", "paste the text of a.txt", "By hand: ask the person to paste"),
        (("read_file", "bash"), "a.txt を読んで", "a.txt の内容をここに", "手作業での方法: ask the person to paste"),
        (("write_file", "bash"), 'create n.txt with the text "tea"', "```\ntea", "By hand: give the whole content"),
        (("glob", "bash"), 'create n.txt with the text "tea"', "could not check whether n.txt exists", "By hand: "),
    ],
)
async def test_where_no_way_is_left_it_says_what_the_person_can_do(
    tmp_path: Path, tripped: tuple[str, ...], prompt: str, expected: str, by_hand: str
) -> None:
    async with acting(tmp_path, *tripped) as here:
        turn = await here.turn(prompt)
        assert expected in said(turn)
        assert by_hand in said(turn)
        assert "Lost by that" not in said(turn)
        assert turn.of(ToolStarted) == [event for event in turn.of(ToolStarted) if event.tool == "glob"]
        assert not (here.workspace / "n.txt").exists()


@pytest.mark.parametrize(
    ("prompt", "refused", "by_hand"),
    [
        (
            'create n.txt with the text "tea"',
            "I was not allowed to take the way round (bash ",
            "By hand: give the whole content",
        ),
        ("n.txt に「tea」と書いて", "代わりの方法(bash ", "手作業での方法: give the whole content"),
    ],
)
async def test_a_way_that_the_person_refuses_is_not_taken(
    tmp_path: Path, prompt: str, refused: str, by_hand: str
) -> None:
    person = Refusing()
    async with acting(tmp_path, "write_file", asker=person, permission_mode="ask") as here:
        turn = await here.turn(prompt)
        assert person.asked == ["bash"]
        assert asked_for(turn)[-2:] == ["write_file", "bash"]
        assert refused in said(turn)
        assert by_hand in said(turn)


async def test_a_skipped_tool_is_not_asked_for_again_in_the_same_turn(tmp_path: Path) -> None:
    async with acting(tmp_path, "read_file") as here:
        turn = await here.turn('read a.txt, then append "x" to b.txt, then read b.txt')
        assert asked_for(turn) == ["read_file", "bash", "bash", "edit_file", "bash"]
        assert said(turn).count(READ_LOSES) == 1
        assert (here.workspace / "b.txt").read_text() == "one\nthree\nx\n"


async def test_plans_of_several_steps_go_on_after_another_way_was_taken(tmp_path: Path) -> None:
    async with acting(tmp_path, "glob") as here:
        turn = await here.turn(
            'create test_it.py with the content "def test_it(): pass", then run the tests, then find TODO'
        )
        assert (here.workspace / "test_it.py").exists()
        assert "src/app.py:6" in said(turn)
        assert GLOB_LOSES in said(turn)
        assert asked_for(turn) == ["glob", "bash", "write_file", "bash", "bash", "grep"]


async def test_a_tool_that_works_again_is_used_in_the_next_turn(tmp_path: Path) -> None:
    async with acting(tmp_path, "grep") as here:
        await here.turn("find TODO")
        here.agent.dispatching.command(BreakerCommand.RESET, "grep")
        assert asked_for(await here.turn("find TODO")) == ["grep"]


@pytest.mark.parametrize(
    ("prompt", "go_on", "where"),
    [
        ("please use lamp, then find TODO", "go on", "The turn was paused; done before that: nothing."),
        ("please use lamp, then find TODO", None, "The turn was paused; done before that: nothing."),
        ("lamp を使って、それから TODO を探して", "続けて", "一時停止していました。それまでに完了: なし。"),
    ],
)
async def test_a_paused_turn_is_taken_up_again(tmp_path: Path, prompt: str, go_on: str | None, where: str) -> None:
    broken = [True]

    @tool
    async def lamp() -> str:
        "Switch on."
        if broken:
            broken.clear()
            raise ConnectionRefusedError(111, "Connection refused")
        return "The lamp is on."

    async with acting(tmp_path, tools=(*standard_tools(), lamp), failure_budget=1) as here:
        paused = await here.turn(prompt)
        assert paused.end.code == "failure_budget_paused"
        turn = await (here.retry() if go_on is None else here.turn(go_on))
        assert where in shown_text(turn.events)
        assert asked_for(turn) == ["lamp", "grep"]
        assert "The lamp is on." in said(turn)
        assert "src/app.py:6" in said(turn)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("read a.txt, then find TODO", "done: read_file a.txt; not done: grep TODO. Say “go on”"),
        ("a.txt を読んで、それから TODO を探して", "完了: read_file a.txt。未完了: grep TODO。「続けて」"),
    ],
)
def test_where_a_client_asks_on_after_a_pause_it_says_where_it_stands(prompt: str, expected: str) -> None:
    request: Json = {
        "tools": list(Toolbox(standard_tools()).specs()),
        "messages": [{"role": "user", "content": prompt}],
    }
    calls = [call for call in Improviser().answer(request).parts if isinstance(call, ToolUse)]
    assert [call.name for call in calls] == ["read_file", "grep"]
    asked = [{"type": "tool_use", "id": call.name, "name": call.name, "input": call.input} for call in calls]
    answered = [
        {"type": "tool_result", "tool_use_id": "read_file", "content": "     1\tone"},
        {"type": "tool_result", "tool_use_id": "grep", "content": messages.paused(PAUSE), "is_error": True},
    ]
    request["messages"] += [{"role": "assistant", "content": asked}, {"role": "user", "content": answered}]
    reply = Improviser().answer(request)
    assert not any(isinstance(part, ToolUse) for part in reply.parts)
    assert expected in "".join(part.text for part in reply.parts if isinstance(part, Text))


@given(st.text(), st.text(), st.text())
def test_whatever_a_skip_says_it_can_be_read(why: str, method: str, degradation: str) -> None:
    way = Way("bash", " ".join(method.split()), " ".join(degradation.split()))
    line = f"1. bash: {way.method} (loses: {way.degradation})"
    skip = skip_of(Result(f"grep was not run: {why}.\nWays round, best first:\n{line}\n2. by hand: look", failed=True))
    assert skip.tool == "grep"
    assert way in skip.ways
    assert skip.by_hand
