"""Makes an agent that works for another one (facts/lessons.md, s06).

It is the same class with the same policies: recovery, breakers, escape. What the two share is said in
`sharing.Shared`. A tool that is switched off or failing for the one that asks begins so for the other as well.
"""

from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

from harness import __version__, journal
from harness.conversation import Conversation, ignore
from harness.errors import HarnessError, JournalError
from harness.events import BreakerCommand, BreakerState, Event, Notice, SessionStarted
from harness.executor.subagents import Order
from harness.journal import Journal
from harness.recording import Recorder, unobserved
from harness.tools.tool import Tool

if TYPE_CHECKING:
    from harness.agent import Agent


class Hired:
    """An agent at work for another one, and the journal with its events."""

    def __init__(self, agent: "Agent", kept: Journal | None) -> None:
        self._agent = agent
        self._kept = kept

    @property
    def conversation(self) -> Conversation:
        """What it says and hears."""
        return self._agent.conversation

    @property
    def journal(self) -> str:
        """Name of the file with its events; empty: nobody keeps them."""
        return self._kept.path.name if self._kept else ""

    def run(self, prompt: str) -> AsyncGenerator[Event, None]:
        """Take the task; the last event is `TurnEnded`."""
        return self._agent.run(prompt)

    def interrupt(self) -> None:
        """End the turn as soon as possible."""
        self._agent.interrupt()

    async def aclose(self) -> None:
        """Close what is its own. Raises JournalError when the end of its journal could not be written."""
        await self._agent.aclose()
        if self._kept is not None:
            self._kept.close()


def hired(employer: "Agent", tools: Callable[[], tuple[Tool, ...]], order: Order) -> Hired:
    """An agent for this order. Raises HarnessError when its settings or its earlier work cannot be used."""
    settings = employer.settings.model_copy(
        update={
            "model": employer.model,
            "max_turns": employer.settings.agent_turns,
            "max_budget_usd": employer.settings.agent_budget_usd,
            "token_budget": None,
        }
    )
    kept = _journal(employer, order)
    conversation = _conversation(kept, order)
    try:
        agent = type(employer)(
            settings,
            tools=[tool for tool in tools() if tool.name in order.tools],
            asker=order.asker,
            conversation=conversation,
            outputs=employer.outputs / order.agent,
            employer=employer,
        )
        if kept is not None and not order.again:
            conversation.emit(
                SessionStarted(
                    *(order.agent, __version__, str(settings.workspace), settings.model, agent.address),
                    practice=settings.practice,
                )
            )
        agent.dispatching.announce()
        agent.escaping.announce()
        _hand_down(employer, agent)
    except BaseException:
        if kept is not None:
            kept.close()
        raise
    return Hired(agent, kept)


def _journal(employer: "Agent", order: Order) -> Journal | None:
    """Its journal; None where none is wanted, or where none can be written, which is said once for each agent."""
    folder = employer.agents_folder
    path = folder / f"{order.agent}.jsonl" if folder else None
    if order.again and not order.messages and not (path and path.exists()):
        raise HarnessError(f"what agent {order.agent} did before is not kept any more; start a new one")
    if path is None:
        return None
    try:
        return Journal.open(path) if path.exists() else Journal.create(path.parent, order.agent)
    except JournalError as error:
        employer.conversation.emit(Notice("warning", f"what agent {order.agent} does is not kept: {error}"))
        return None


def _conversation(kept: Journal | None, order: Order) -> Conversation:
    if kept is None:
        return Conversation(ignore, messages=order.messages)
    recorder = Recorder(kept, unobserved)
    if not order.again:
        return Conversation(recorder)
    state = journal.replay(journal.read(kept.path).records)
    conversation = Conversation(recorder, messages=state.messages, turn=state.turn, step=state.step, spend=state.spend)
    recorder.tell = conversation.show
    return conversation


def _hand_down(employer: "Agent", agent: "Agent") -> None:
    """What is known to fail for one need not be found out by the other at the same price (seed 000, step 1)."""
    board = employer.dispatching.board
    for tool in agent.toolbox.names:
        if tool in board.tools and board.breaker(tool).state is not BreakerState.CLOSED:
            isolated = board.breaker(tool).isolated
            agent.dispatching.command(BreakerCommand.ISOLATE if isolated else BreakerCommand.TRIP, tool)
