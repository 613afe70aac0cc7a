"""What a session adds to an agent: the journal of before, choices that last, and the parts that front ends use."""

import asyncio
import json
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import HarnessError
from harness.events import (
    ArrivalKind,
    BreakerState,
    DispatchLimitsSet,
    Effort,
    Event,
    MessageAdded,
    SessionResumed,
    SessionStarted,
    SettingChanged,
    TextDelta,
    ToolStarted,
    TransitionCode,
    TurnEnded,
)
from harness.session import NoAsker, Opening, open_session
from harness.settings import PRACTICE_MODEL
from harness.tasks.work import WATCH_S
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import KEY, MODEL, calls, left_running, played, run, says, sessions
from tests.agent.test_task_board import MAKE
from tests.agent.test_warming import listening, practising
from tests.engine.tools.test_dispatch import LATE, flaky, rounds

pytestmark = pytest.mark.anyio
LATEST = Opening("latest")
OTHER_MODEL = "claude-opus-4-6"


async def test_an_observer_sees_what_was_and_then_what_comes(tmp_path: Path) -> None:
    seen: list[tuple[Event, float]] = []
    async with sessions(tmp_path, says("One.") + says("Two.")) as here:
        async with await here.open(observer=lambda event, at: seen.append((event, at))) as session:
            await played(session.run("first"))
        before, seen[:] = list(seen), []
        async with await here.open(LATEST, observer=lambda event, at: seen.append((event, at))) as session:
            kept = [one for one in before if not isinstance(one[0], TextDelta)]
            assert seen[: len(kept)] == kept
            assert isinstance(seen[len(kept)][0], SessionResumed)
            await played(session.run("second"))
    assert isinstance(before[0][0], SessionStarted)
    assert [event.answer for event, _ in seen if isinstance(event, TurnEnded)] == ["One.", "Two."]
    assert any(isinstance(event, DispatchLimitsSet) for event, _ in before)


async def test_others_have_their_turn_while_a_resumed_session_is_shown(tmp_path: Path) -> None:
    others: list[str] = []
    had_a_turn: list[bool] = []

    def observer(event: Event, at: float) -> None:
        if not had_a_turn:
            asyncio.get_running_loop().call_soon(others.append, "a key")
        had_a_turn.append(bool(others))

    async with sessions(tmp_path, says("One.")) as here:
        async with await here.open() as session:
            await played(session.run("first"))
        async with await here.open(LATEST, observer=observer):
            assert had_a_turn[:2] == [False, True]


async def test_a_resumed_session_knows_its_open_breakers(tmp_path: Path) -> None:
    wobbly = flaky("wobbly", LATE)
    async with sessions(tmp_path, rounds("wobbly", 3) + says("Done.")) as here:
        async with await here.open(tools=[wobbly]) as session:
            await played(session.run("try it"))
            before = {row.tool: row.state for row in session.breakers.health}
        assert before["wobbly"] is BreakerState.OPEN
        async with await here.open(LATEST, tools=[wobbly]) as session:
            assert {row.tool: row.state for row in session.breakers.health} == before


@pytest.mark.parametrize("asked", [None, Effort.LOW])
async def test_model_and_effort_of_a_session_last_unless_others_are_asked_for(
    tmp_path: Path, asked: Effort | None
) -> None:
    async with sessions(tmp_path, says("One."), effort=Effort.HIGH) as here, await here.open() as session:
        await played(session.run("first"))
        given = {} if asked is None else {"effort": asked}
        settings = here.loaded.settings.model_copy(update={"effort": asked})
        origins = {**here.loaded.origins, "effort": "default" if asked is None else "flag"}
        await session.aclose()
        here.loaded = replace(here.loaded, settings=settings, origins=origins)
        async with await here.open(LATEST) as later:
            assert (later.settings.model, later.settings.effort) == (MODEL, given.get("effort", Effort.HIGH))


@pytest.mark.parametrize(
    ("before", "origin", "model"),
    [(MODEL, "default", MODEL), (MODEL, "flag", OTHER_MODEL), (PRACTICE_MODEL, "default", OTHER_MODEL)],
    ids=["by default", "another is asked for", "the practice model answered then"],
)
async def test_the_model_of_a_session_lasts_unless_another_kind_answers_or_is_asked_for(
    tmp_path: Path, before: str, origin: str, model: str
) -> None:
    async with sessions(tmp_path, says("One."), model=before) as here:
        async with await here.open():
            pass
        settings = here.loaded.settings.model_copy(update={"model": OTHER_MODEL})
        here.loaded = replace(here.loaded, settings=settings, origins={**here.loaded.origins, "model": origin})
        async with await here.open(LATEST) as later:
            assert later.settings.model == model


async def test_a_permission_mode_set_by_hand_ends_with_its_program(tmp_path: Path) -> None:
    seen: list[Event] = []
    async with sessions(tmp_path, says("One."), permission_mode="ask") as here:
        async with await here.open() as session:
            session.permissions.set_mode("edits")
        async with await here.open(LATEST, observer=lambda event, _: seen.append(event)) as session:
            assert session.permissions.mode == "ask"
    modes = [event.value for event in seen if isinstance(event, SettingChanged) and event.name == "permission_mode"]
    assert modes == ["edits", "ask"]


async def test_nothing_can_be_tried_again_before_the_first_prompt(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.") + says("Two.")) as here, await here.open() as session:
        with pytest.raises(HarnessError, match="nothing to try again"):
            session.retry()
        await played(session.run("first"))
        assert (await played(session.retry())).end.code is TransitionCode.COMPLETED


@pytest.mark.parametrize("header", ["", "allowed-tools: read_file, glob\n"])
async def test_a_command_file_runs_with_its_tools(tmp_path: Path, header: str) -> None:
    folder = tmp_path / "workspace" / ".harness" / "commands"
    folder.mkdir(parents=True)
    (folder / "look.md").write_text(f"---\ndescription: x\n{header}---\nLook at $ARGUMENTS.")
    async with sessions(tmp_path, calls(run("x")) + says("One.")) as here, await here.open() as session:
        command = session.commands.get("look")
        assert command is not None
        turn = await played(session.run_command(command, "README.md"))
        assert "Look at README.md." in str(here.server.requests[-1].body["messages"])
        assert [bool(result.get("is_error")) for result in turn.results] == [bool(header)]


async def test_an_image_is_kept_once_and_privately(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.")) as here, await here.open() as session:
        file = session.keep_image(b"an image")
        written = file.stat()
        assert (file.read_bytes(), stat.S_IMODE(written.st_mode)) == (b"an image", 0o600)
        assert session.keep_image(b"an image") == file
        assert file.stat().st_ino == written.st_ino
        assert session.keep_image(b"another") != file


@pytest.mark.parametrize("changes", [False, True])
async def test_skills_are_told_again_only_if_they_have_changed(tmp_path: Path, changes: bool) -> None:
    folder = tmp_path / "workspace" / ".harness" / "skills" / "tides"
    folder.mkdir(parents=True)
    skill = "---\nname: tides\ndescription: {}\n---\nLook at the moon.\n"
    (folder / "SKILL.md").write_text(skill.format("When it floods."))
    async with sessions(tmp_path, says("One.")) as here, await here.open() as session:
        if changes:
            (folder / "SKILL.md").write_text(skill.format("When it ebbs."))
        session.reload_skills()
        await played(session.run("go"))
        assert ("When it ebbs." in str(here.server.requests[-1].body["messages"])) == changes


@pytest.mark.parametrize("present", [True, False])
async def test_a_kept_schedule_fires_in_a_later_session_only_while_a_user_is_present(
    tmp_path: Path, present: bool
) -> None:
    async with sessions(tmp_path, says("One.")) as here:
        async with await here.open() as session:
            await session.background.schedule.create("in 1 hour", "Look at the log.", lasting=True)
        async with await open_session(here.loaded, AnsweringUser() if present else NoAsker()) as later:
            assert later.background.listens == present


async def test_a_key_in_the_name_of_a_session_is_masked(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.")) as here, await here.open() as session:
        await played(session.run("first"))
        name = session.rename(f"the key is {KEY}")
        (listed,) = session.sessions()
        assert KEY not in session.path.read_text() + name + session.name + listed.name
        assert name == session.name == listed.name
        assert name.startswith("the key is ")


@pytest.mark.parametrize("opening", [None, LATEST], ids=["a new session", "a resumed one"])
async def test_a_session_whose_agent_cannot_be_made_is_not_left_in_use(tmp_path: Path, opening: Opening | None) -> None:
    twice = [flaky("wobbly", "fine"), flaky("wobbly", "fine")]
    async with sessions(tmp_path, says("One.")) as here:
        async with await here.open():
            pass
        with pytest.raises(ValueError, match="wobbly") as refused:
            await here.open(opening, tools=twice)
        async with await here.open(LATEST) as session:
            assert (await played(session.run("first"))).end.code is TransitionCode.COMPLETED
        assert refused.value.__traceback__ is not None  # what the failed attempt held was not freed with its frames


def out_of_order(journal: Path) -> None:
    """Add steps that do not follow each other."""
    lines = journal.read_text().splitlines()
    early = json.loads(next(line for line in lines if '"step_started"' in line))
    late, back = early | {"seq": len(lines) + 1, "step": 7}, early | {"seq": len(lines) + 2}
    journal.write_text("\n".join([*lines, json.dumps(late), json.dumps(back)]) + "\n")


async def test_a_session_whose_journal_cannot_be_continued_is_not_left_in_use(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.")) as here:
        async with await here.open() as session:
            await played(session.run("first"))
        out_of_order(session.path)
        refused = []
        for _ in range(2):
            with pytest.raises(HarnessError, match="out of order") as caught:
                await here.open(LATEST)
            refused.append(caught.value)  # what the attempt held is not freed with its frames
    assert len(refused) == 2


async def test_settings_are_given_whole_or_one_by_one(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.")) as here:
        with pytest.raises(TypeError, match="model="):
            await here.open(model="claude-opus-4-6")
        values = here.loaded.settings.model_dump(include={"workspace", "state_dir", "base_url"})
        async with await open_session(model=OTHER_MODEL, api_key=KEY, **values) as session:
            assert session.settings.model == OTHER_MODEL


async def test_a_new_session_has_no_lines_that_could_not_be_read_and_says_its_limits_before_the_first_turn(
    tmp_path: Path,
) -> None:
    seen: list[Event] = []
    async with sessions(tmp_path, says("One.")) as here:
        async with await here.open(observer=lambda event, _: seen.append(event)) as session:
            assert session.skipped_lines == 0
            assert [event.tools for event in seen if isinstance(event, DispatchLimitsSet)] == [
                tuple(tool.name for tool in session.tools)
            ]
        session.path.write_text(session.path.read_text() + "no event\n")
        async with await here.open(LATEST) as session:
            assert session.skipped_lines == 1


@pytest.mark.parametrize(
    ("model", "schema", "asked"), [(MODEL, True, True), (MODEL, False, False), ("gpt-x", True, False)]
)
async def test_a_format_is_asked_for_where_there_is_one_and_the_model_takes_it(
    tmp_path: Path, model: str, schema: bool, asked: bool
) -> None:
    format = {"type": "json_schema", "schema": {"type": "object"}} if schema else None
    async with sessions(tmp_path, says("{}"), model=model) as here, await here.open(answer_format=format) as session:
        assert session.asks_for_format is asked


# ── what is refused before anything is made ─────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "says_so"),
    [
        ({"loaded": {"model": MODEL}}, "loaded= takes settings as"),
        ({"opening": "latest"}, 'an Opening, such as Opening(resume="latest")'),
        ({"opening": Opening(7)}, "the id or name of a session"),  # type: ignore[arg-type]
        ({"observer": "print"}, "a function of an event and its time"),
        ({"asker": "me"}, "an object with the methods of harness.session.Asker"),
        ({"clock": 12.5}, "an object with the methods now and sleep"),
    ],
)
async def test_an_argument_of_the_wrong_kind_is_named_and_leaves_no_session(
    tmp_path: Path, given: dict[str, Any], says_so: str
) -> None:
    async with sessions(tmp_path, says("One.")) as here:
        with pytest.raises(TypeError) as refused:
            await open_session(**({"loaded": here.loaded} | given))
    assert says_so in str(refused.value)
    assert not list(tmp_path.rglob("*.jsonl"))


# ── what a session holds while it is open ───────────────────────────────────────────────────────────


@pytest.mark.parametrize("warm", [True, False])
async def test_a_session_starts_what_it_needs_when_it_is_told_to_and_stops_it_at_its_end(
    tmp_path: Path, warm: bool
) -> None:
    before = listening()
    async with await open_session(practising(tmp_path), NoAsker(), warm=warm) as session:
        assert listening() == before + warm
        await session.warm()
        assert listening() == before + 1
    assert listening() == before


async def test_a_session_that_cannot_be_continued_leaves_no_server(tmp_path: Path) -> None:
    loaded, before = practising(tmp_path), listening()
    async with await open_session(loaded, NoAsker()) as session:
        await played(session.run("hello"))
    out_of_order(session.path)
    with pytest.raises(HarnessError, match="out of order"):
        await open_session(loaded, NoAsker(), LATEST)
    assert listening() == before


async def test_an_interrupted_turn_ends_with_its_command(tmp_path: Path) -> None:
    sleeps = '{ name = "bash", input = { command = "sleep 300" } }'
    async with sessions(tmp_path, calls(sleeps) + says("Not reached.")) as here, await here.open() as session:
        stopped = False

        def stop(event: Event) -> None:
            nonlocal stopped
            if isinstance(event, ToolStarted) and not stopped:
                stopped = True
                asyncio.get_running_loop().call_soon(session.interrupt)

        async with asyncio.timeout(20):
            turn = await played(session.run("sleep"), stop)
        assert turn.end.code is TransitionCode.ABORTED_TOOLS
        assert left_running(session.settings) == []


# ── what a resumed session continues ────────────────────────────────────────────────────────────────


async def test_the_lists_of_the_system_prompt_are_recorded_once_and_stay(tmp_path: Path) -> None:
    folder = tmp_path / "workspace" / ".harness" / "skills" / "tides"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: tides\ndescription: When it floods.\n---\nLook at the moon.\n")
    async with sessions(tmp_path, says("One.") + says("Two.")) as here:
        async with await here.open() as session:
            await played(session.run("first"))
        async with await here.open(LATEST) as session:
            await played(session.run("second"))
        recorded = [line for line in session.path.read_text().splitlines() if '"prompt_lists_read"' in line]
        assert len(recorded) == 1
        assert "When it floods." in recorded[0]
        first, second = (request.body["system"] for request in here.server.requests if request.path == "/v1/messages")
        assert first == second


async def test_a_result_that_was_not_delivered_is_so_by_the_resumed_session(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.") + says("I have read it.")) as here:
        async with await here.open() as session:
            await played(session.run("first"))
            session.inbox.arrive(ArrivalKind.TASK_READY, "board", "t2 can be claimed now")
        async with await here.open(LATEST) as session:
            assert [one.text for one in session.inbox.waiting] == ["t2 can be claimed now"]
            turn = await played(session.deliver())
            assert "t2 can be claimed now" in turn.of(MessageAdded)[0].message.text
            assert session.inbox.waiting == ()


async def test_a_copy_goes_on_and_the_original_stays_as_it_was(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.") + says("Two.")) as here:
        async with await here.open() as original:
            await played(original.run("first"))
            kept = original.fork()
        written = original.path.read_bytes()
        async with await here.open(Opening(original.id, fork=True)) as copy:
            assert [message.role for message in copy.conversation.messages] == ["user", "assistant"]
            await played(copy.run("second"))
            assert {original.id, copy.id, kept} == {one.id for one in copy.sessions()}
        assert original.path.read_bytes() == written


# ── another program on the same task board ──────────────────────────────────────────────────────────

OTHER = """
import sys
from pathlib import Path
from harness.policies.tasks.task import Actor, Role, TaskAction
from harness.slots.store import this_process
from harness.tasks import TaskBoard

board, other = TaskBoard(Path(sys.argv[1]), this_process("other")), Actor("other", Role.LEAD)
board.claim(other, "t1")
board.act("t1", TaskAction.COMPLETE, other, text="seen")
board.close()
"""


@pytest.mark.stories
async def test_an_idle_session_is_woken_by_a_task_that_another_process_made_ready(tmp_path: Path) -> None:
    script = calls(MAKE) + says("The rest later.") + says("I continue.")
    async with sessions(tmp_path, script, board="shared") as here, await here.open() as session:
        await played(session.run("Make a plan."))
        assert session.tasks is not None
        woken = asyncio.Event()
        session.inbox.notify(woken.set)
        other = await asyncio.create_subprocess_exec(sys.executable, "-c", OTHER, str(session.tasks.board.path))
        assert await other.wait() == 0
        async with asyncio.timeout(3 * WATCH_S):
            await woken.wait()
        assert [(one.kind, one.text) for one in session.inbox.waiting] == [
            (ArrivalKind.TASK_READY, "t2 can be claimed now: write the report")
        ]
        assert (await played(session.deliver())).end.answer == "I continue."
