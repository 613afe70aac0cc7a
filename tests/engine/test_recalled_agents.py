"""What is made of agents that worked when a program was killed, after every line that its journal may end with."""

import logging

import pytest

from harness.definitions import Agents
from harness.engine.conversation import Conversation
from harness.engine.inbox import Inbox
from harness.engine.permissions.asker import NoAsker
from harness.engine.subagents.admission import AdmissionRunner
from harness.engine.subagents.fan_out import FanOutQuestions
from harness.engine.subagents.reports import SubagentState
from harness.engine.subagents.subagent import Subagent, SubagentSpec
from harness.engine.subagents.subagents import REMEMBERED, Subagents
from harness.engine.turn import ToolRestriction
from harness.events import AgentCreated, AgentEnd, AgentEnded, ArrivalKind, Arrived, Event, Usage
from harness.policies.admission.controller import AdmissionController
from harness.policies.admission.limits import AdmissionLimits
from tests.engine.hand_clock import HandClock


def created(agent: str, *, background: bool = True, again: bool = False) -> AgentCreated:
    names = (agent, f"toolu_{agent}", f"task of {agent}", "Do it.", "practice-1", ("bash",))
    return AgentCreated(*names, background=background, again=again, journal=f"{agent}.jsonl")


def ended(agent: str) -> AgentEnded:
    return AgentEnded(agent, AgentEnd.ANSWERED, "", 5, 1, 1, Usage(), 0.0, 1.0)


def arrived(number: int, agent: str) -> Arrived:
    return Arrived(number, ArrivalKind.AGENT_ENDED, agent, "It is done.")


LIFE: tuple[Event, ...] = (
    created("a1"),
    created("a2", background=False),
    created("a3"),
    ended("a2"),
    ended("a1"),
    arrived(1, "a1"),
    created("a1", again=True),
    ended("a3"),
    arrived(2, "a3"),
    ended("a1"),
    arrived(3, "a1"),
)


def nobody(order: SubagentSpec) -> Subagent:
    raise AssertionError(f"{order} was hired")


def resumed(journal: list[Event]) -> Subagents:
    """A program goes on with a session, and adds to its journal what it finds."""
    conversation, clock = Conversation(journal.append), HandClock()
    before, incoming = tuple(journal), Inbox(conversation.emit)
    incoming.recall(before)
    agents = Subagents(
        conversation,
        AdmissionRunner(AdmissionController(AdmissionLimits()), conversation.emit, clock),
        incoming,
        NoAsker(),
        FanOutQuestions(conversation, NoAsker(), mode="allow", free=10, most=100, cost=lambda usage: None),
        ToolRestriction(),
        clock,
        logging.getLogger("test"),
        create=nobody,
        tools=("bash",),
        kinds=Agents((), ()),
        model=lambda: "practice-1",
        result_characters=1_000,
        kept=True,
    )
    agents.recall(before)
    return agents


def count(journal: list[Event], agent: str) -> tuple[int, int, int]:
    """Tasks in the background, ends of all tasks, and arrivals."""
    background = sum(isinstance(event, AgentCreated) and event.agent == agent and event.background for event in journal)
    ends = sum(isinstance(event, AgentEnded) and event.agent == agent for event in journal)
    arrivals = sum(isinstance(event, Arrived) and event.source == agent for event in journal)
    return background, ends, arrivals


@pytest.mark.parametrize("length", range(len(LIFE) + 1))
def test_every_task_has_one_end_and_every_one_of_the_background_one_arrival(length: int) -> None:
    journal = list(LIFE[:length])
    agents = resumed(journal)
    for agent in ("a1", "a2", "a3"):
        background, ends, arrivals = count(journal, agent)
        assert ends == sum(isinstance(event, AgentCreated) and event.agent == agent for event in journal)
        assert arrivals == background
    assert {row.state for row in agents.rows} <= {SubagentState.ENDED}
    whole = len(journal)
    resumed(journal)
    assert len(journal) == whole


def test_what_is_lost_is_not_called_an_answer() -> None:
    journal: list[Event] = [created("a1"), created("a2"), ended("a2")]
    resumed(journal)
    end, lost, unheard = journal[3:]
    assert isinstance(end, AgentEnded)
    assert isinstance(lost, Arrived)
    assert isinstance(unheard, Arrived)
    assert (end.agent, end.end) == ("a1", AgentEnd.CANCELLED)
    assert "did not finish" in lost.text
    assert "task of a1" in lost.text
    assert "no answer" in unheard.text


def test_of_very_many_agents_only_the_last_are_known_again() -> None:
    agents = resumed([event for number in range(1, 401) for event in (created(f"a{number}"), ended(f"a{number}"))])
    assert agents.known == tuple(f"a{number}" for number in range(401 - REMEMBERED, 401))
