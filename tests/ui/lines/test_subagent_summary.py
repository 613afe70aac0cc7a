"""Many agents in few lines."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import AgentEnd, Event
from harness.ui.lines.subagent_summary import FEW, CrowdLines, spans
from tests.ui import work

ENDS = st.sampled_from(AgentEnd)


class Passing:
    """A clock on which so many seconds pass before each event."""

    def __init__(self, step_s: float) -> None:
        self.at, self._step_s = 100.0, step_s

    def __call__(self) -> float:
        """Seconds."""
        return self.at

    def tell(self, events: Iterable[Event]) -> Iterator[tuple[float, str]]:
        """Each line with its moment, the rest at the end."""
        lines = CrowdLines(self)
        for event in events:
            self.at += self._step_s
            for line in lines.lines(event):
                yield self.at, str(line)
        for line in lines.rest():
            yield self.at, str(line)


def told(events: Iterable[Event], step_s: float = 0.01) -> list[str]:
    """The lines."""
    return [line for _, line in Passing(step_s).tell(events)]


def numbers(lines: Iterable[str]) -> list[str]:
    """Those with numbers of agents."""
    return [line for line in lines if re.match(r"· [\d,]+ agents: ", line)]


def whole(ends: Iterable[tuple[AgentEnd, str]], at_once: int = 5) -> Iterator[Event]:
    """Agents that are asked for together, work so many at a time, and end like this."""
    named = [(f"a{number}", end, reason) for number, (end, reason) in enumerate(ends, 1)]
    for agent, _, _ in named:
        yield work.created(agent, f"task of {agent}")
    for first in range(0, len(named), at_once):
        now = named[first : first + at_once]
        for agent, end, _ in now:
            if end is not AgentEnd.NOT_STARTED:
                yield work.admitted(agent, first, 1)
        for agent, end, reason in now:
            yield work.ended(agent, end, reason)


def test_a_few_agents_have_a_line_for_each_beginning_and_end() -> None:
    lines = told(whole([(AgentEnd.ANSWERED, "")] * FEW))
    assert len(lines) == 2 * FEW
    assert numbers(lines) == []


def test_of_four_hundred_the_first_have_lines_and_then_numbers_come_once_a_second() -> None:
    lines = list(Passing(0.01).tell(whole([(AgentEnd.ANSWERED, "")] * 400)))
    told_numbers = [(at, line) for at, line in lines if numbers([line])]
    assert len(lines) - len(told_numbers) == 2 * FEW
    assert 8 <= len(told_numbers) <= 13  # twelve seconds
    moments = [at for at, _ in told_numbers[:-1]]
    assert all(after - before >= 1.0 for before, after in pairwise(moments))
    assert told_numbers[0][1] == "· 400 agents: 10 answered, 1 at work, 389 waiting"
    assert told_numbers[-1][1] == "· 400 agents: 400 answered"


def test_every_failure_has_its_name_and_its_reason() -> None:
    ends = [
        (AgentEnd.FAILED, "the model was overloaded") if n % 5 == 0 else (AgentEnd.ANSWERED, "") for n in range(400)
    ]
    lines = told(whole(ends))
    failed = [line for line in lines if line.startswith("✗")]
    assert [line.partition('"')[0] for line in failed] == [f"✗ a{number} " for number in range(1, 401, 5)]
    assert all("did not finish: the model was overloaded" in line for line in failed)
    assert numbers(lines)[-1] == "· 400 agents: 320 answered, 80 did not finish"


def test_those_that_were_stopped_or_never_began_stand_together() -> None:
    ends = [(AgentEnd.CANCELLED, "")] * 15 + [(AgentEnd.NOT_STARTED, "the turn was stopped")] * 385
    lines = told(whole(ends, at_once=400), step_s=0.0)
    assert lines[-3:] == [
        "○ a11–a15 were stopped",
        "✗ a26–a400 did not begin: the turn was stopped",
        "· 400 agents: 15 stopped, 385 did not begin",
    ]
    assert len(lines) == 3 * FEW + 3


def test_what_waits_for_its_second_comes_with_whatever_happens_next() -> None:
    clock = Passing(0.0)
    lines = CrowdLines(clock)
    events = list(whole([(AgentEnd.ANSWERED, "")] * 20))
    assert not numbers(str(line) for event in events[:-1] for line in lines.lines(event))
    clock.at += 1.0
    assert [str(line) for line in lines.lines(work.moved("a20"))] == ["· 20 agents: 19 answered, 1 at work"]
    assert [str(line) for line in lines.rest()] == []
    assert [str(line) for line in lines.lines(events[-1])] == ["· 20 agents: 20 answered"]


def test_the_next_crowd_begins_with_names_again() -> None:
    crowd = list(whole([(AgentEnd.ANSWERED, "")] * 30))
    once = told(crowd)
    assert told([*crowd, *crowd]) == [*once, *once]


def test_commands_and_the_gate_are_told_as_they_are_elsewhere() -> None:
    lines = told([*whole([(AgentEnd.ANSWERED, "")] * 20), work.command("b1"), work.over("b1"), work.CLOSED])
    assert lines[-2:] == ['✓ b1 "npm run dev" is done (12 s)', "! 18 pieces of work that waited will not be done"]


@given(st.lists(st.tuples(ENDS, st.sampled_from(["it is over", "the queue is full"])), max_size=60), st.integers(1, 9))
def test_every_failure_is_named_and_the_last_numbers_are_right(ends: list[tuple[AgentEnd, str]], at_once: int) -> None:
    lines = told(whole(ends, at_once), step_s=0.05)
    failures = [line for line in lines if line[0] in "✗○"]
    named = [id for line in failures for id in unfolded(line)]
    assert sorted(named) == sorted(f"a{number}" for number, (end, _) in enumerate(ends, 1) if end != "answered")
    if summary := numbers(lines):
        counted = [int(number) for number in re.findall(r"\d+", summary[-1])]
        assert counted[0] == len(ends) == sum(counted[1:])


def unfolded(line: str) -> Iterator[str]:
    """The ids that a line begins with."""
    for first, last in re.findall(r"\ba(\d+)(?:–a(\d+))?(?=,| |$)", re.split(r'"| did| was| were', line)[0]):
        yield from (f"a{number}" for number in range(int(first), int(last or first) + 1))


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        (["a1"], "a1"),
        (["a3", "a1", "a2"], "a1–a3"),
        (["a10", "a9", "a3", "b4"], "a3, a9–a10, b4"),
        (["me", "a1"], "me, a1"),
    ],
)
def test_ids_that_follow_one_another_are_a_span(ids: list[str], text: str) -> None:
    assert spans(ids) == text
