"""What the panel says of agents, commands in the background and admission."""

from dataclasses import replace

import pytest

from harness.events import (
    AgentEnd,
    BoardCounted,
    CommandEnd,
    CommandHandedOver,
    Event,
    TaskChanged,
    TaskState,
    TransitionCode,
)
from harness.ui.panel import work_lines
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.sections import is_calm
from harness.ui.panel.state import Panel
from harness.ui.panel.work_lines import changes_in
from tests.ui import work
from tests.ui.panel.drawn import panel_content
from tests.ui.panel.situations import COMMANDS, CROWD, IDLE, NOW, REPLIED, after, ended


def lines(*events: Event, width: int = 60, height: int = 40, later: float = 9.0) -> list[str]:
    """The lines about agents, commands and admission, after these."""
    return drawn(after(REPLIED, *events), width, height, later)


def drawn(panel: Panel, width: int = 60, height: int = 40, later: float = 9.0) -> list[str]:
    text = panel_content(panel, width, height, NOW + later).plain
    shown = text.partition("tools not used")[2].partition("\nfailures ")[0] or text
    return [line.rstrip() for line in shown.splitlines()[1:] if line.strip()]


@pytest.mark.parametrize(
    ("events", "row"),
    [
        ((), "a1       ◌ find the tests queued"),
        ((work.admitted("a1", 1, 1),), "a1       ◍ find the tests 9 s"),
        ((work.moved("a1"),), "a1       ◍ find the tests step 3 · 12k tokens · $0.03 · 9 s"),
        ((work.moved("a1", asks=True),), "a1       ? find the tests step 3 · 12k tokens · $0.03 · 9 s"),
        ((work.ended("a1"),), "a1       ✓ find the tests 12k tokens · $0.03 · 8.2 s"),
        ((work.ended("a1", AgentEnd.CANCELLED),), "a1       ○ find the tests 12k tokens · $0.03 · 8.2 s"),
        ((work.ended("a1", AgentEnd.LIMIT),), "a1       ✗ find the tests 12k tokens · $0.03 · 8.2 s"),
    ],
)
def test_a_row_says_what_an_agent_does_and_what_it_took(events: tuple[Event, ...], row: str) -> None:
    (found, *_) = lines(work.created("a1"), *events)
    assert len(found) == 60
    assert found.split() == row.split()


def test_where_there_is_little_room_the_steps_are_below() -> None:
    assert lines(work.created("a1"), work.moved("a1"), width=40) == [
        "a1       ◍ find the tests    $0.03 · 9 s",
        "           step 3 · grep load_config · …",
    ]


def test_an_agent_that_did_not_finish_says_why() -> None:
    assert lines(work.created("a1"), work.ended("a1", AgentEnd.STUCK, "it repeated itself"))[1].strip() == (
        "it repeated itself"
    )


def test_of_many_agents_the_most_important_have_a_row_and_the_others_are_counted() -> None:
    found = drawn(CROWD)
    assert found[:2] == ["agents   ▓░░░░░░░░░ 34 of 400 done, 3 failed, 5 running, 358", "         not started"]
    assert [line.split()[0] for line in found if line.startswith("a")] == [
        *("agents", "a38", "a39", "a40", "a41", "a42", "a10", "a20", "a30")
    ]
    assert found[-2:] == ["limit    5 of 5 agents at once · 19 of 20 queued · 1 dropped", "         1 paused"]


def test_in_few_rows_agents_become_one_line() -> None:
    assert "34 of 400 done, 3 failed, 5" in panel_content(CROWD, 60, 12, NOW).plain


def test_an_agent_that_asks_keeps_its_row_in_few_lines() -> None:
    asks = after(REPLIED, *work.crowd(60, 20), work.moved("a21", "may bash run?", asks=True))
    assert "a21      ? count the lines of module 21" in panel_content(asks, 80, 12, NOW).plain


def test_commands_say_how_they_are() -> None:
    assert [line.split(maxsplit=2) for line in drawn(COMMANDS, later=12.0)] == [
        ["b2", "?", "npm init                          silent for 45 s"],
        ["Is", "this", "OK? (yes)"],
        ["b3", "✗", "pytest -q                           exit 1 · 12 s"],
        ["b1", "◍", "npm run dev                                  12 s"],
        ["b4", "◌", "sleep 60                                   queued"],
    ]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (work.over("b1"), "✓ npm run dev exit 0 · 12 s"),
        (work.over("b1", None, CommandEnd.TIMED_OUT), "✗ npm run dev timed out · 12 s"),
        (work.over("b1", -15, CommandEnd.STOPPED), "✓ npm run dev stopped · 12 s"),
        (work.over("b1", None, CommandEnd.LOST), "✗ npm run dev lost · 12 s"),
        (CommandHandedOver("b1", 7), "→ npm run dev continues on its own"),
    ],
)
def test_the_end_of_a_command(event: Event, said: str) -> None:
    (row, *_) = lines(work.command("b1"), work.begun("b1"), event)
    assert " ".join(row.split()[1:]) == said


def test_commands_without_a_row_are_counted() -> None:
    begun = [work.command(f"b{number}") for number in range(work_lines.MOST_ROWS + 1)]
    assert len(lines(*begun[:-1])) == work_lines.MOST_ROWS
    assert lines(*begun)[-1].strip() == "and 1 more in the background"


def test_a_command_that_did_not_end_well_says_why() -> None:
    begun = (work.command("b1"), work.begun("b1"))
    failed = lines(*begun, work.over("b1", None, CommandEnd.LOST, "the program ended"))
    assert [line.strip() for line in failed[1:]] == ["the program ended"]
    assert len(lines(*begun, work.over("b1", -15, CommandEnd.STOPPED, "the user stopped it"))) == 1


def test_admission_speaks_only_when_something_waits_or_went_wrong() -> None:
    calm = (work.LIMITS, work.created("a1"), work.admitted("a1", 1, 1))
    assert not any(line.startswith("limit") for line in lines(*calm))


def test_what_runs_in_the_background_is_calm_and_what_asks_is_not() -> None:
    runs = (REPLIED, *ended(TransitionCode.COMPLETED, "answered"), work.command("b1"), work.begun("b1"))
    assert is_calm(after(*runs))
    assert is_calm(after(*runs, work.over("b1")))
    assert not is_calm(after(*runs, work.quiet("b1")))
    assert not is_calm(after(*runs, work.over("b1", 2)))
    assert not is_calm(after(*runs, work.created("a1", background=True)))


def test_nothing_is_drawn_again_when_nothing_happens() -> None:
    runs = after(work.command("b1"), work.begun("b1")).work
    assert changes_in(IDLE.work, NOW) is None
    assert changes_in(after(work.command("b1"), work.begun("b1"), work.over("b1")).work, NOW) is None
    assert changes_in(after(work.created("a1"), work.ended("a1")).work, NOW) is None
    assert changes_in(runs, NOW + 5) == 1.0
    assert changes_in(runs, NOW + 600.5) == 59.5
    assert changes_in(replace(runs, agents=after(work.created("a1")).work.agents), NOW + 5) == 1.0


def counted(**numbers: int) -> BoardCounted:
    """A board with so many tasks in these states."""
    states = ("ready", "waiting", "in_progress", "completed", "failed", "cancelled", "deferred")
    return BoardCounted(**{state: numbers.get(state, 0) for state in states})


def test_the_board_says_how_far_it_is_and_what_this_session_works_on() -> None:
    fold = PanelFold()
    assert work_lines.board(fold.now, 60) == ()
    claimed = TaskChanged("t3", "write the notes", TaskState.IN_PROGRESS, "claim", "s1/a1")
    for event in (counted(ready=2, waiting=1, in_progress=1, completed=4, deferred=1), claimed):
        fold.on_event(event, 1.0)
    full, head, urgent = work_lines.board(fold.now, 60)
    assert [line.plain for line in full] == [
        "tasks    4 of 9 done · 2 ready · 1 blocked · 1 in progress",
        "         1 deferred",
        "         ▸ t3 write the notes",
    ]
    assert (len(head), len(urgent)) == (2, 1)
    fold.on_event(TaskChanged("t3", "write the notes", TaskState.COMPLETED, "complete", "s1/a1"), 2.0)
    fold.on_event(counted(completed=9), 2.0)
    full, _, urgent = work_lines.board(fold.now, 60)
    assert [line.plain.split() for line in full] == [["tasks", "9", "of", "9", "done"]]
    assert urgent == []


def test_a_task_that_was_set_aside_stands_on_the_panel_with_the_reason_until_it_goes_on() -> None:
    fold = PanelFold()
    why = "the \x1b[31mkey of the user is missing"
    for number in range(1, 6):
        fold.on_event(TaskChanged(f"t{number}", "send it", TaskState.DEFERRED, "defer", "s1/a1", why), 1.0)
    fold.on_event(counted(completed=1, deferred=5), 1.0)
    full, head, urgent = work_lines.board(fold.now, 38)
    aside = " ".join(" ".join(line.plain for line in full[1:]).split())
    assert aside.startswith("‖ t3 send it: the ")
    assert "key of the user is missing ‖ t4 send it" in aside
    assert "\x1b" not in aside
    assert len(urgent) == 1
    assert len(head) < len(full)
    fold.on_event(TaskChanged("t5", "send it", TaskState.PENDING, "reopen", "user"), 2.0)
    assert [id for id, _, _ in fold.now.set_aside] == ["t1", "t2", "t3", "t4"]
    fold.on_event(counted(completed=6), 3.0)
    assert len(work_lines.board(fold.now, 38)[0]) == 1
