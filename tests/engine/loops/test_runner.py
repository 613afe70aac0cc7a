"""Loop intervention in a turn: notices to the model and the user, the interventions, and the stop of a turn."""

import asyncio
import re
from pathlib import Path

import pytest

from harness.events import (
    Dispatched,
    Event,
    HistoryReplaced,
    Intervened,
    LoopAnswered,
    LoopChoice,
    LoopFound,
    LoopLeft,
    MessageAdded,
    Notice,
    Origin,
    Projection,
    RolledBack,
    Rung,
    SteeringDelivered,
    StuckReported,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TransitionCode,
)
from harness.permissions import PermissionAnswer
from harness.practice.script.script import KIND
from harness.session import Opening
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import Played, Stage, VirtualClock, calls, played, says, sessions, shown_text, stage
from tests.agent.test_tool_rounds import call
from tests.engine.tools.test_dispatch import flaky

pytestmark = pytest.mark.anyio

ANSWER = "Found it."
NOTES = "one\ntwo\n"


def same(name: str, times: str = '"forever"', **input: object) -> str:
    """The model asks for the same call again and again."""
    return calls(call(name, **input), times=times)


def rungs(turn: Played) -> list[Rung]:
    """The attempted rungs, in order."""
    return [event.rung for event in turn.of(Intervened)]


def notices_of(turn: Played) -> list[str]:
    """The notices to the model about its loops."""
    return [event.message.text for event in turn.of(MessageAdded) if event.origin is Origin.NUDGE]


def notes(here: Stage) -> None:
    """Something to read."""
    (here.workspace / "notes.txt").write_text(NOTES)


# ── nobody to ask ───────────────────────────────────────────────────────────────────────────────


async def test_a_model_that_listens_continues_and_the_loop_is_left(tmp_path: Path) -> None:
    script = same("read_file", times="4", path="notes.txt") + calls(call("glob", pattern="*")) + says(ANSWER)
    async with stage(tmp_path, script) as here:
        notes(here)
        turn = await here.turn()
        assert turn.end.code is TransitionCode.COMPLETED
        assert rungs(turn) == [Rung.NUDGE]
        (left,) = turn.of(LoopLeft)
        assert left.freed_by is Rung.NUDGE
        (said,) = notices_of(turn)
        assert "read_file" in said
        assert said in here.bodies[4]["messages"][-1]["content"][-1]["text"]


async def test_a_call_that_is_replaced_is_not_made_any_more_and_its_tool_still_is(tmp_path: Path) -> None:
    script = (
        same("grep", times="6", pattern="one")
        + calls(call("grep", pattern="two"), call("bash", command="cat notes.txt"))
        + says(ANSWER)
    )
    async with stage(tmp_path, script) as here:
        notes(here)
        turn = await here.turn()
        assert turn.end.code is TransitionCode.COMPLETED
        assert rungs(turn)[:2] == [Rung.NUDGE, Rung.SUBSTITUTE]
        outcomes = [event.outcome for event in turn.of(ToolEnded)]
        assert outcomes[:6] == [*[ToolOutcome.OK] * 5, ToolOutcome.SKIPPED]
        assert outcomes[6:] == [ToolOutcome.OK] * 2
        assert len(turn.of(Dispatched)) == 8


async def test_going_back_keeps_the_first_result_and_drops_the_repetitions(tmp_path: Path) -> None:
    script = same("read_file", times="5", path="notes.txt") + says(ANSWER)
    async with stage(tmp_path, script, loop_limits="substitutions=0") as here:
        notes(here)
        turn = await here.turn()
        assert rungs(turn) == [Rung.NUDGE, Rung.ROLLBACK]
        (back,) = turn.of(RolledBack)
        assert (back.step, back.files_restored, back.not_undone) == (1, (), ())
        assert [event.reason for event in turn.of(HistoryReplaced)] == ["rollback"]
        last = here.bodies[-1]["messages"]
        assert sum(block.get("type") == "tool_result" for m in last for block in m["content"]) == 1


async def test_off_it_only_says_what_it_sees(tmp_path: Path) -> None:
    async with stage(
        tmp_path, same("read_file", times="20", path="notes.txt") + says(ANSWER), loop_intervention=False
    ) as here:
        notes(here)
        turn = await here.turn()
        assert turn.end.code is TransitionCode.COMPLETED
        assert rungs(turn) == []
        assert [event.loop.copies for event in turn.of(LoopFound)] == [4, 8, 16]


async def test_a_call_that_may_be_repeated_is_tried_again_by_the_program(tmp_path: Path) -> None:
    busy = RuntimeError("HTTP 503 Service Unavailable")
    wobbly = flaky("wobbly", busy, busy, busy, busy, "well again")
    script = same("wobbly", times="3") + says(ANSWER)
    async with stage(tmp_path, script, tools=[wobbly], failure_threshold=10, failure_budget=50) as here:
        turn = await here.turn()
        assert turn.end.code is TransitionCode.COMPLETED
        assert rungs(turn) == [Rung.RETRY, Rung.RETRY]
        assert all(wait <= limit for wait, limit in zip(here.clock.waits, (0.1, 0.2), strict=True))
        assert [event.freed_by for event in turn.of(LoopLeft)] == [Rung.RETRY]
        assert "well again" in here.bodies[-1]["messages"][-1]["content"][-1]["text"]
        assert len(turn.of(ToolStarted)) == 5


async def test_asking_again_for_a_tool_that_was_switched_off_is_one_more_copy_and_ends_the_turn(tmp_path: Path) -> None:
    script = same("bash", command="cat missing.txt")
    async with stage(tmp_path, script, loop_limits="rollbacks=0") as here:
        turn = await here.turn()
        assert turn.end.code is TransitionCode.LOOP_STOPPED
        assert rungs(turn) == [Rung.NUDGE, Rung.BREAKER, Rung.STOP]
        assert [event.outcome for event in turn.of(ToolEnded)] == [*[ToolOutcome.ERROR] * 4, ToolOutcome.SKIPPED]
        assert len(here.posts) == 5


async def test_what_runs_something_is_never_tried_again_by_the_program(tmp_path: Path) -> None:
    script = same("bash", times="5", command="echo tried >> ran.txt; echo HTTP 503; exit 1") + says(ANSWER)
    async with stage(tmp_path, script) as here:
        turn = await here.turn()
        assert Rung.RETRY not in rungs(turn)
        assert here.ran()["tried"] <= 5


# ── somebody to ask ─────────────────────────────────────────────────────────────────────────────

ASKED = "substitutions=0 rollbacks=0"


async def asked(tmp_path: Path, times: int, *choices: LoopChoice) -> tuple[Played, AnsweringUser]:
    """Run a turn that repeats one call `times` times; return it with the user who answered."""
    user = AnsweringUser(loops=choices)
    script = same("read_file", times=str(times), path="notes.txt") + says(ANSWER)
    async with stage(tmp_path, script, asker=user, loop_limits=ASKED) as here:
        notes(here)
        return await here.turn(), user


async def test_a_user_can_stop_it(tmp_path: Path) -> None:
    turn, _ = await asked(tmp_path, 40, LoopChoice.STOP)
    assert turn.end.code is TransitionCode.LOOP_STOPPED
    assert [event.choice for event in turn.of(LoopAnswered)] == [LoopChoice.STOP]
    assert rungs(turn)[:2] == [Rung.NUDGE, Rung.HUMAN]
    assert len(turn.of(StuckReported)) == 1


@pytest.mark.parametrize("files", [True, False])
async def test_a_user_decides_whether_files_are_taken_back_as_well(tmp_path: Path, files: bool) -> None:
    user = AnsweringUser(PermissionAnswer("once" if files else "no"), loops=[LoopChoice.ROLL_BACK])
    write = "echo more >> notes.txt; echo done"
    script = same("bash", times="5", command=write) + says(ANSWER)
    async with stage(tmp_path, script, asker=user, loop_limits=ASKED) as here:
        notes(here)
        turn = await here.turn()
        (back,) = turn.of(RolledBack)
        assert back.files_restored == (("notes.txt",) if files else ())
        assert (here.workspace / "notes.txt").read_text() == NOTES + "more\n" * (1 if files else 5)
        assert [line for line in back.not_undone if "echo more" in line] == [f"bash {write} (4 times)"]
        assert [request.tool for request in user.requests if request.tool == "rollback"] == ["rollback"]


# ── a reply that repeats itself ─────────────────────────────────────────────────────────────────

REPEATED = "I will now look at the configuration of the project and see what it says about the time limit. "


async def test_a_reply_that_repeats_itself_is_cut_after_the_first_copy_and_the_model_continues(tmp_path: Path) -> None:
    script = says("Let me see. " + REPEATED * 400, chunk="50") + says(ANSWER)
    async with stage(tmp_path, script) as here:
        turn = await here.turn()
        assert turn.end.code is TransitionCode.COMPLETED
        assert turn.codes[0] is TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY
        assert turn.end.answer.count(REPEATED.strip()) == 1
        assert turn.end.answer.endswith(ANSWER)
        assert rungs(turn) == [Rung.NUDGE]
        assert [event.freed_by for event in turn.of(LoopLeft)] == [Rung.NUDGE]
        assert shown_text(turn.events).count(REPEATED.strip()) == 1
        assert len(shown_text(turn.events)) < len(REPEATED) * 10


# ── what is kept ────────────────────────────────────────────────────────────────────────────────


async def test_a_new_prompt_begins_the_ladder_again_also_in_a_resumed_session(tmp_path: Path) -> None:
    looping = same("read_file", times="20", path="notes.txt")
    async with sessions(tmp_path, looping * 2, loop_limits="substitutions=0 rollbacks=0") as here:
        (here.loaded.settings.workspace / "notes.txt").write_text(NOTES)
        async with await here.open() as session:
            first = await played(session.run("Look."))
            before = session.loops.lines
        async with await here.open(Opening("latest")) as session:
            assert session.loops.lines == before
            second = await played(session.run("Look again."))
        assert rungs(first) == rungs(second) == [Rung.NUDGE, Rung.STOP]
        assert second.of(LoopFound)[0].relapse
        assert second.end.code is TransitionCode.LOOP_STOPPED


async def test_another_part_of_the_plan_is_offered_before_anything_else_is_taken_away(tmp_path: Path) -> None:
    plan = [
        {"text": "read the notes", "status": "in_progress"},
        {"text": "count the files", "status": "pending"},
    ]
    items = ", ".join(f'{{ text = "{item["text"]}", status = "{item["status"]}" }}' for item in plan)
    declares = calls(f'{{ name = "todo_write", input = {{ items = [{items}] }} }}')
    script = declares + same("read_file", times="5", path="notes.txt") + says(ANSWER)
    async with stage(tmp_path, script) as here:
        notes(here)
        turn = await here.turn()
        assert rungs(turn) == [Rung.NUDGE, Rung.EXPLORE]
        assert "count the files" in notices_of(turn)[1]


async def test_it_shows_a_model_that_listens_a_reply_without_an_end_and_a_model_that_does_not_listen(
    tmp_path: Path,
) -> None:
    text, _ = KIND.read("stuck")
    without_pauses = re.sub(r"^(event_)?delay = .*\n", "", text, flags=re.MULTILINE)
    async with stage(tmp_path, without_pauses) as here:
        listens, endless, deaf = [await here.turn(prompt) for prompt in ("one", "two", "three")]
    assert rungs(listens) == rungs(endless) == [Rung.NUDGE]
    assert [event.freed_by for turn in (listens, endless) for event in turn.of(LoopLeft)] == [Rung.NUDGE] * 2
    (found,) = endless.of(LoopFound)
    assert found.loop.projection is Projection.TEXT
    assert "'I will look at the settings once more" in found.loop.summary
    assert endless.end.answer.count("once more, then") == 1
    assert deaf.end.code is TransitionCode.LOOP_STOPPED
    assert rungs(deaf)[0] is Rung.NUDGE


# ── waits, which are no loops ───────────────────────────────────────────────────────────────────────


def notices(turn: Played) -> list[str]:
    return [event.text for event in turn.of(Notice)]


async def test_a_wait_is_advised_then_stretched_and_the_turn_ends_as_usual(tmp_path: Path) -> None:
    script = calls(call("bash", command="sleep 0; cat status")) * 10 + says("It is still running.")
    async with stage(tmp_path, script) as here:
        (here.workspace / "status").write_text("running\n")
        turn = await here.turn()
        assert turn.end.code is TransitionCode.COMPLETED
        assert turn.of(LoopFound) == []
        assert here.clock.waits == pytest.approx([2, 4, 8, 32, 60], abs=0.1)
        assert [text.partition(": ")[2] for text in notices(turn)] == [
            "the model is advised how",
            *(f"pausing for {seconds} s before it may ask again" for seconds in (2, 4, 8)),
            "the model is advised how",
            *(f"pausing for {seconds} s before it may ask again" for seconds in (32, 60)),
        ]
        nudges = [one.message.text for one in turn.of(MessageAdded) if one.origin is Origin.NUDGE]
        assert len(nudges) == 2
        assert "send what takes long to the background" in nudges[0]
        here.check()


class StoppedClock(VirtualClock):
    """Nothing that waits is ever due."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.Event().wait()


async def test_a_text_of_the_user_ends_a_pause_at_once(tmp_path: Path) -> None:
    script = calls(call("bash", command="sleep 0; cat status")) * 5 + says("It is still running.")
    async with stage(tmp_path, script, clock=StoppedClock()) as here:
        (here.workspace / "status").write_text("running\n")
        steering = here.agent.parts.steering
        assert steering is not None

        def steer(event: Event) -> None:
            if isinstance(event, Notice) and "pausing" in event.text:
                steering.add("what does it say?")

        async with asyncio.timeout(60):
            turn = await here.turn(on_event=steer)
        assert turn.end.code is TransitionCode.COMPLETED
        assert len(turn.of(SteeringDelivered)) == 1


@pytest.mark.stories
async def test_a_wait_that_does_not_end_ends_the_turn_by_its_limit(tmp_path: Path) -> None:
    script = calls(call("bash", command="test -f done"), times='"forever"')
    async with stage(tmp_path, script) as here:
        turn = await here.turn()
        assert turn.end.code is TransitionCode.WAIT_LIMIT
        assert turn.end.reason.startswith("stopped waiting: bash test -f done gave the same answer ")
        assert sum(here.clock.waits) > 3_500
        assert len(turn.of(ToolEnded)) < 80
        assert turn.of(LoopFound) == []


async def test_an_interruption_ends_a_pause(tmp_path: Path) -> None:
    script = calls(call("bash", command="test -f done"), times='"forever"')
    async with stage(tmp_path, script) as here:

        def interrupt(event: Event) -> None:
            if isinstance(event, Notice) and "pausing" in event.text:
                here.agent.interrupt()

        turn = await here.turn(on_event=interrupt)
        assert turn.end.code is TransitionCode.ABORTED_TOOLS
        assert len(turn.of(ToolEnded)) == 5
