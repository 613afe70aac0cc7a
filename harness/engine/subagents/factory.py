"""Makes agents that work for another one (facts/lessons.md, s06).

Each is the same class with the same policies: recovery, breakers, escape. What the two share is said in
`sharing.Shared`. A tool that is switched off or failing for the one that asks begins so for the other as well.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from harness import __version__, journal
from harness.base.errors import HarnessError, JournalError
from harness.engine.conversation import Conversation, ignore
from harness.engine.loops.runner import Escaping
from harness.engine.subagents.worker import Order
from harness.engine.tools.dispatch import Dispatching
from harness.events import BreakerCommand, BreakerState, Effort, Event, Notice, SessionStarted, TurnStarted
from harness.journal import Journal
from harness.journal.recorder import Recorder, unobserved
from harness.settings import Settings
from harness.tools.tool import Tool


class AnyAgent(Protocol):
    """An agent, as far as it is used here. `harness.agent.Agent` is one."""

    @property
    def conversation(self) -> Conversation: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def own_tools(self) -> tuple[Tool, ...]: ...

    @property
    def outputs(self) -> Path: ...

    @property
    def agents_folder(self) -> Path | None: ...

    @property
    def dispatching(self) -> Dispatching: ...

    @property
    def escaping(self) -> Escaping: ...

    @property
    def model(self) -> str: ...

    @property
    def address(self) -> str: ...

    def effort_of(self, model: str) -> Effort | None: ...

    def run(self, prompt: str) -> AsyncGenerator[Event, None]: ...

    def interrupt(self) -> None: ...

    async def aclose(self) -> None: ...


class Hired:
    """An agent at work for another one, and the journal with its events."""

    def __init__(self, agent: AnyAgent, kept: Journal | None, warn: Callable[[JournalError], None]) -> None:
        """`warn` hears that the end of the journal could not be written."""
        self._agent = agent
        self._kept = kept
        self._warn = warn
        self._interrupted = False
        agent.conversation.observe(self._see)

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
        """End the turn as soon as possible, also one that has not begun yet."""
        self._interrupted = True
        self._agent.interrupt()

    def _see(self, event: Event) -> None:
        if isinstance(event, TurnStarted) and self._interrupted:
            self._agent.interrupt()  # a turn begins without the wishes from before it

    async def aclose(self) -> None:
        """Close what is its own."""
        try:
            await self._agent.aclose()
        finally:
            if self._kept is not None:
                try:
                    self._kept.close()
                except JournalError as error:
                    self._warn(error)


class Hiring:
    """Makes the agents that work for one agent."""

    def __init__(self, employer: AnyAgent, make: Callable[..., AnyAgent]) -> None:
        """`make` takes what `harness.agent.Agent` takes."""
        self._employer = employer
        self._make = make
        self._warned = False

    def hired(self, order: Order) -> Hired:
        """An agent for this order. Raises HarnessError when its settings or its earlier work cannot be used."""
        employer = self._employer
        kept = self._journal(order)
        with ExitStack() as undo:
            if kept is not None:
                undo.callback(kept.close)
            conversation = self._conversation(kept, order)
            settings = self._settings(conversation.spend.cost_usd, order)
            own = {tool.name for tool in employer.own_tools}
            agent = self._make(
                settings,
                tools=[tool for tool in employer.own_tools if tool.name in order.tools],
                standard=[name for name in order.tools if name not in own],
                asker=order.asker,
                conversation=conversation,
                outputs=employer.outputs / order.agent,
                employer=employer,
                role=order.role,
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
            undo.pop_all()
        return Hired(agent, kept, self._warn)

    def _settings(self, spent_usd: float, order: Order) -> Settings:
        """Those of the employer, with the limits of one task, and with the model and the effort of the order, if it has
        them; it has cost `spent_usd` in tasks before this one."""
        own = self._employer.settings
        model = order.model or self._employer.model
        budget = None if own.agent_budget_usd is None else own.agent_budget_usd + spent_usd
        changes = {
            "model": model,
            "effort": order.effort or self._employer.effort_of(model),
            "max_turns": own.agent_turns,
            "max_budget_usd": budget,
            "token_budget": None,
        }
        return own.model_copy(update=changes)

    def _journal(self, order: Order) -> Journal | None:
        """Its journal; None where none is wanted, or where none can be written, which is said once.

        An agent that began without one goes on without: half of its work would be taken for the whole later.
        """
        folder = self._employer.agents_folder
        if order.again and order.messages:
            return None
        path = folder / f"{order.agent}.jsonl" if folder else None
        if order.again:
            if path is None or not path.exists():
                raise HarnessError(f"what agent {order.agent} did before is not kept any more; start a new one")
            return Journal.open(path)
        if folder is None:
            return None
        try:
            return Journal.create(folder, order.agent)
        except JournalError as error:
            self._warn(error)
            return None

    def _conversation(self, kept: Journal | None, order: Order) -> Conversation:
        masking = self._employer.conversation.masking
        if kept is None:
            return Conversation(ignore, messages=order.messages, masking=masking)
        recorder = Recorder(kept, unobserved)
        recorder.tell = self._told
        if not order.again:
            return Conversation(recorder, masking=masking)
        state = journal.replay(journal.read(kept.path).records)
        return Conversation(
            recorder,
            messages=state.messages,
            turn=state.turn,
            step=state.step,
            spend=state.spend,
            shortenings=state.shortenings,
            raised_caps=state.raised_caps,
            plans=state.plans,
            asked=state.asked,
            plain_until=state.plain_until,
            measured=state.measured,
            message_id=state.message_id,
            cache_misses=state.cache_misses,
            masking=masking,
        )

    def _told(self, event: Event) -> None:
        """A recorder says how its journal fares."""
        if isinstance(event, Notice) and event.level == "error":
            self._warn(JournalError(event.text))

    def _warn(self, error: JournalError) -> None:
        """Say once for all agents of the session that what they do is not kept: the reason is that of the disk."""
        if not self._warned:
            self._warned = True
            self._employer.conversation.emit(Notice("warning", f"what agents do is not kept: {error}"))


def _hand_down(employer: AnyAgent, agent: AnyAgent) -> None:
    """What is known to fail for one need not be found out by the other at the same price (seed 000, step 1)."""
    board = employer.dispatching.board
    for row in board.rows():
        if row.state is not BreakerState.CLOSED and agent.dispatching.board.knows(row.tool):
            isolated = board.breaker(row.tool).isolated
            agent.dispatching.command(BreakerCommand.ISOLATE if isolated else BreakerCommand.TRIP, row.tool)
