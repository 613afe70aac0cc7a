"""How a session is opened: choices that last, announcements, and refusals."""

import asyncio
import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import HarnessError, SettingsError
from harness.events import (
    ArrivalKind,
    BoardOpened,
    BreakerState,
    DispatchLimitsSet,
    Effort,
    Event,
    LoopPolicySet,
    MessageAdded,
    PromptListsRead,
    SessionResumed,
    SessionStarted,
    SettingChanged,
    TextDelta,
    TransitionCode,
    TurnEnded,
)
from harness.session import NoAsker, Opening, open_session
from harness.settings import PRACTICE_MODEL
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import KEY, MODEL, calls, played, run, says, sessions
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


@pytest.mark.parametrize("present", [True, False])
async def test_a_kept_schedule_fires_in_a_later_session_only_while_a_user_is_present(
    tmp_path: Path, present: bool
) -> None:
    async with sessions(tmp_path, says("One.")) as here:
        async with await here.open() as session:
            await session.background.schedule.create("in 1 hour", "Look at the log.", lasting=True)
        async with await open_session(here.loaded, AnsweringUser() if present else NoAsker()) as later:
            assert later.background.listens == present


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
async def test_a_session_starts_what_it_needs_on_demand_and_stops_it_at_its_end(tmp_path: Path, warm: bool) -> None:
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


@pytest.mark.parametrize("opening", [None, LATEST], ids=["a new session", "a resumed one"])
async def test_the_state_folder_is_closed_to_others_before_anything_is_written(
    tmp_path: Path, opening: Opening | None
) -> None:
    async with sessions(tmp_path, says("One.")) as here:
        async with await here.open() as session:
            folder = session.state_folder
        folder.chmod(0o755)
        async with await here.open(opening):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700


async def test_an_address_that_cannot_be_used_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.")) as here:
        wrong = replace(here.loaded, settings=here.loaded.settings.model_copy(update={"base_url": "ftp://there"}))
        with pytest.raises(SettingsError, match="ftp://there"):
            await open_session(wrong, NoAsker(), warm=False)


async def test_a_resumed_session_says_only_what_is_new(tmp_path: Path) -> None:
    seen: list[Event] = []
    async with sessions(tmp_path, says("One."), board="session") as here:
        async with await here.open(observer=lambda event, _: seen.append(event)) as session:
            assert session.tasks is not None
            assert [event.board for event in seen if isinstance(event, BoardOpened)] == [session.tasks.name]
        async with await here.open(LATEST, observer=lambda event, _: seen.append(event)):
            kinds = [type(event) for event in seen[seen.index(next(filter(is_resumed, seen))) :]]
    assert BoardOpened not in kinds
    assert PromptListsRead not in kinds
    assert kinds.count(DispatchLimitsSet) == kinds.count(LoopPolicySet) == 1


def is_resumed(event: Event) -> bool:
    return isinstance(event, SessionResumed)


async def test_a_resumed_session_still_knows_its_loops(tmp_path: Path) -> None:
    script = calls(run("same")) * 4 + says("Done.")
    async with sessions(tmp_path, script) as here:
        async with await here.open() as session:
            await played(session.run("Go round."))
            before = session.loops.status
        async with await here.open(LATEST) as session:
            assert session.loops.status == before
        async with await here.open() as new:
            assert new.loops.status != before
