"""What the panel says of members."""

from dataclasses import replace

import pytest

from harness.events import (
    Address,
    Event,
    Health,
    MemberState,
    RequestChanged,
    RequestKind,
    RequestMade,
    RequestState,
    TransitionCode,
)
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.sections import is_calm
from tests.ui import members, work
from tests.ui.panel.drawn import panel_content
from tests.ui.panel.situations import NOW, REPLIED, after, ended
from tests.ui.panel.test_work_lines import drawn, lines

ANN = members.joined("ann", "a1")


def sick(health: Health) -> Event:
    return replace(work.moved("a1"), health=health)


@pytest.mark.parametrize(
    ("events", "row"),
    [
        ((), "ann      ◌ find the tests queued · 9 s"),
        ((work.admitted("a1", 1, 1),), "ann      ◍ find the tests 9 s"),
        ((work.admitted("a1", 1, 1), work.moved("a1", asks=True)), "ann      ? find the tests asks you · 9 s"),
        ((work.admitted("a1", 1, 1), sick(Health.LOOP)), "ann      ◍ find the tests looping · 9 s"),
        ((work.admitted("a1", 1, 1), sick(Health.MODEL)), "ann      ◍ find the tests no model · 9 s"),
        ((members.changed("ann", MemberState.IDLE, "done"),), "ann      ✓ find the tests idle · 9 s"),
        ((members.changed("ann", MemberState.FAILED, "529"),), "ann      ✗ find the tests failed · 9 s"),
        ((members.changed("ann", MemberState.PAUSED, "5 times"),), "ann      ‖ find the tests paused · 9 s"),
    ],
)
def test_a_row_says_what_a_member_does(events: tuple[Event, ...], row: str) -> None:
    (found, *_) = lines(*ANN, *events)
    assert found.split() == row.split()


def test_below_it_stand_what_it_used_its_mail_and_why_it_rests() -> None:
    rests = (work.ended("a1"), members.changed("ann", MemberState.IDLE, "done"), members.sent("lead", "ann"))
    assert lines(*ANN, work.admitted("a1", 1, 1), *rests)[1].strip() == "12k tokens · $0.03 · 1 unread · done · reader"
    again = lines(*ANN, work.admitted("a1", 1, 1), *rests, work.moved("a1"))[1:3]
    assert " ".join(" ".join(again).split()) == "24k tokens · $0.06 · 1 unread · grep load_config · reader"


def test_a_member_has_no_second_row_and_an_ended_one_has_none() -> None:
    assert sum("find the tests" in line for line in lines(*ANN)) == 1
    assert lines(*ANN, members.changed("ann", MemberState.ENDED)) == []


def test_a_team_at_work_or_in_trouble_needs_a_look() -> None:
    rests = (REPLIED, *ended(TransitionCode.COMPLETED, "answered"), *ANN, members.changed("ann", MemberState.IDLE))
    assert is_calm(after(*rests))
    assert not is_calm(after(*rests, *ANN))
    assert not is_calm(after(*rests, members.changed("ann", MemberState.FAILED, "529")))
    assert not is_calm(after(*rests, *ANN, work.admitted("a1", 1, 1), sick(Health.LOOP)))


def test_of_many_members_some_have_a_row_and_all_are_counted() -> None:
    many = [event for number in range(1, 401) for event in members.joined(f"m{number}", f"a{number}")]
    works = [work.admitted(f"a{number}", number, number) for number in range(1, 6)]
    panel = after(REPLIED, *many, *works, work.moved("a3", asks=True), members.changed("m9", MemberState.IDLE))
    for width, height in ((78, 20), (38, 36)):
        found = drawn(panel, width, height)
        assert " ".join(found[0].split() + found[1].split()).startswith("team ▓░░░░░░░░░ 1 of 400 idle, 1 asking you,")
        assert any(line.startswith("m3       ?") for line in found)
        assert sum(line.startswith("m") for line in found) <= 8
        assert all(len(line) <= width for line in found)


def test_a_wide_panel_draws_a_lane_for_each() -> None:
    fold = PanelFold()
    happened = (*ANN, work.admitted("a1", 1, 1), members.changed("ann", MemberState.FAILED, "529"))
    for at, event in enumerate((REPLIED, *happened, *members.joined("ben", "a2"))):
        fold.on_event(event, NOW + at)
    lanes = [line.strip() for line in panel_content(fold.now, 69, 40, NOW + 8).plain.splitlines() if "░░" in line]
    assert lanes == ["░" * 21, "░" * 9 + "▇" * 10 + "✗" * 41]


def asked(id: str, text: str = "Which one?") -> RequestMade:
    return RequestMade(id, RequestKind.QUESTION, Address("ann", 1), Address("ben", 1), text)


def test_requests_without_an_answer_stand_below_the_members_until_they_have_one() -> None:
    late = RequestChanged("r1", RequestState.REMINDED, "program")
    done = RequestChanged("r1", RequestState.ANSWERED, "ben")
    (row,) = [line for line in lines(*ANN, asked("r1"), late) if line.startswith("r1")]
    assert row.split() == ["r1", "?", "question", "ann", "→", "ben:", "Which", "one?", "reminded"]
    assert not any(line.startswith("r1") for line in lines(*ANN, asked("r1"), late, done))


def test_of_many_requests_three_have_a_row_and_a_small_panel_leaves_them_out_first() -> None:
    panel = after(REPLIED, *ANN, *(asked(f"r{number}", "Why \x1b[31m? " * 40) for number in range(1, 9)))
    for width, height in ((78, 20), (38, 36)):
        found = drawn(panel, width, height)
        assert [line.split()[0] for line in found if line.startswith("r")] == ["r1", "r2", "r3"]
        assert any("5 more requests: /team" in line for line in found)
        assert all(len(line) <= width and "\x1b" not in line for line in found)
    assert any(line.startswith("ann") for line in drawn(panel, 38, 8))
