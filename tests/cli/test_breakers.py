"""`harness breakers`: the table of a recorded session at any step, by the real command."""

import json
from pathlib import Path

import pytest

from harness.base.errors import JournalError
from harness.cli.breakers import breaker_lines, recorded_capabilities, tools_in
from harness.events import (
    BreakerChanged,
    BreakerState,
    CascadeChanged,
    CascadePhase,
    Dispatch,
    Dispatched,
    DispatchReason,
    Event,
    FailureCharged,
    LateResult,
    MessageAdded,
    TurnEnded,
)
from harness.journal import read
from harness.policies.breakers.decisions import DispatchDecision
from harness.policies.breakers.dispatcher import BreakerReplay
from harness.policies.breakers.registry import BreakerRegistry
from tests.policies.breakers.sessions.record import HERE, NAMES, neutral, recorded
from tests.ui.program import Place, run

pytestmark = pytest.mark.anyio

TOLD = (BreakerChanged, CascadeChanged, FailureCharged, LateResult)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An empty folder to work in."""
    folder = tmp_path / "project"
    folder.mkdir()
    return Place(folder)


def events_of(name: str) -> list[Event]:
    """The events of a kept session."""
    return [record.event for record in read(HERE / f"{name}.jsonl").records]


def decisions(events: list[Event], tool: str) -> list[tuple[Dispatch, DispatchReason]]:
    """The decisions about one tool, call by call."""
    return [(event.dispatch, event.reason) for event in events if isinstance(event, Dispatched) and event.tool == tool]


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_session_decides_the_same_again_and_says_the_same_about_it(name: str) -> None:
    events = events_of(name)
    tools = tools_in(events)
    differing: list[tuple[Dispatched, DispatchDecision]] = []
    replay = BreakerReplay(BreakerRegistry(tools, recorded_capabilities(tools)), lambda *pair: differing.append(pair))
    replayed = [one for event in events for one in replay.on_event(event)]
    assert differing == []
    assert replayed == [event for event in events if isinstance(event, TOLD)]


@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.stories) for name in NAMES[1:])])
async def test_a_kept_session_is_what_the_program_does_today(name: str, tmp_path: Path) -> None:
    journal = tmp_path / "again.jsonl"
    journal.write_text(neutral(await recorded(name, tmp_path), tmp_path), "utf-8")
    again = [record.event for record in read(journal).records]
    kinds = (*TOLD, Dispatched)

    def health(events: list[Event]) -> list[Event]:
        return [event for event in events if isinstance(event, kinds)]

    remedy = "where that is meant: python -m tests.policies.breakers.sessions.record"
    assert health(again) == health(events_of(name)), remedy


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_session_does_not_reveal_its_machine(name: str) -> None:
    text = (HERE / f"{name}.jsonl").read_text("utf-8")
    assert str(Path.home()) not in text
    assert "/tmp/" not in text


def test_grep_dies_bash_takes_its_place_and_grep_comes_back() -> None:
    events = events_of("grep-dies")
    assert decisions(events, "grep") == [
        *[(Dispatch.CALL, DispatchReason.HEALTHY)] * 3,
        (Dispatch.SKIP, DispatchReason.OPEN),
        (Dispatch.PROBE, DispatchReason.PROBE_DUE),
        (Dispatch.CALL, DispatchReason.HEALTHY),
    ]
    (bash,) = (event for event in events if isinstance(event, Dispatched) and event.tool == "bash")
    assert bash.in_place_of == "grep"
    (skipped,) = (event for event in events if isinstance(event, Dispatched) and event.dispatch is Dispatch.SKIP)
    assert skipped.alternatives[0].tool == "bash"
    last = [event for event in events if isinstance(event, TurnEnded)][-1]
    assert "own form" in last.answer  # the output names the loss


def test_three_tools_lose_their_network_and_cost_one_failure() -> None:
    events = events_of("network-gone")
    changes = [event for event in events if isinstance(event, CascadeChanged)]
    assert [event.phase for event in changes if event.phase is CascadePhase.SYSTEMIC] == [CascadePhase.SYSTEMIC]
    assert set(changes[1].tools) == {"read_file", "grep", "glob"}
    probes = [event for event in events if isinstance(event, Dispatched) and event.dispatch is Dispatch.PROBE]
    assert [event.reason for event in probes] == [DispatchReason.CANARY, *[DispatchReason.RECOVERING] * 2]
    (closed, _, _) = (event for event in events if isinstance(event, BreakerChanged) and event.before is HALF)
    assert closed.after is BreakerState.CLOSED
    text = "\n".join(breaker_lines(HERE / "network-gone.jsonl"))
    assert "failure budget: 1 of 5 used" in text
    assert any(isinstance(event, MessageAdded) for event in events)


HALF = BreakerState.HALF_OPEN


@pytest.mark.parametrize(
    ("step", "state"), [(2, "CLOSED      2"), (3, "OPEN        3"), (5, "OPEN"), (6, "CLOSED      0")]
)
def test_the_table_can_be_seen_at_every_step(step: int, state: str) -> None:
    lines = list(breaker_lines(HERE / "grep-dies.jsonl", step))
    (grep,) = (line for line in lines if line.startswith("grep "))
    assert state in grep
    assert lines[0] == f"grep-dies, at the end of step {step}"


async def test_the_command_shows_a_file_and_the_latest_session(place: Place) -> None:
    shown = await run(place, "breakers", str(HERE / "grep-dies.jsonl"), "--at", "4")
    assert (shown.code, shown.err) == (0, "")
    assert "grep skipped; alternative: bash" in shown.out
    await run(place, "-p", "list the files")
    latest = await run(place, "breakers")
    assert latest.code == 0
    assert "failure budget: 0 of 5 used" in latest.out


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("nowhere.jsonl",), "There is no journal nowhere.jsonl"),
        (("latest",), "no session"),
        ((str(HERE / "grep-dies.jsonl"), "--at", "99"), "no step 99; its steps are 1 to 8"),
        ((str(HERE / "grep-dies.jsonl"), "--at", "0"), "no step 0"),
        ((str(HERE / "grep-dies.jsonl"), "--at", "x"), "invalid int value"),
    ],
)
async def test_what_cannot_be_shown_is_reported_in_one_sentence(
    place: Place, arguments: tuple[str, ...], part: str
) -> None:
    shown = await run(place, "breakers", *arguments)
    assert shown.code != 0
    assert shown.out == ""
    assert part in shown.err
    assert len(shown.err.strip().splitlines()) == 1


def test_a_journal_from_before_the_breakers_says_so(tmp_path: Path) -> None:
    journal = tmp_path / "old.jsonl"
    journal.write_text('{"seq": 1, "at": 1.0, "type": "turn_started", "turn": 1, "prompt": "hi"}\n')
    with pytest.raises(JournalError, match="no breaker decisions"):
        list(breaker_lines(journal))


async def test_the_table_as_json_has_the_error_rate_at_the_end_and_at_any_step(place: Place) -> None:
    path = str(HERE / "grep-dies.jsonl")
    ended, early = (
        await run(place, "breakers", path, "--json"),
        await run(place, "breakers", path, "--json", "--at", "1"),
    )
    now, before = json.loads(ended.out), json.loads(early.out)
    assert (ended.code, now["session"], before["step"]) == (0, "grep-dies", 1)
    rows = {row["tool"]: row for row in now["tools"]}
    assert (rows["grep"]["calls"], rows["grep"]["failed"], rows["grep"]["error_rate"]) == (5, 3, 0.6)
    assert rows["write_file"]["error_rate"] is None
    events = events_of("grep-dies")
    assert rows["grep"]["failed"] == len([event for event in events if isinstance(event, FailureCharged)])
    assert next(row["calls"] for row in before["tools"] if row["tool"] == "grep") == 1
    assert "3/5 (60%)" in next(line for line in breaker_lines(HERE / "grep-dies.jsonl") if line.startswith("grep "))
