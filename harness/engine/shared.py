"""What an agent and those that work for it share: one person, one purse, one connection, one gate."""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

from harness.base.clock import SystemClock
from harness.definitions import Agents
from harness.engine.config import agents_for, memory_for, skills_for
from harness.engine.connection import Connection, address_of
from harness.engine.instruction_files import read_instructions
from harness.engine.model.shared_endpoints import SharedEndpoints
from harness.engine.model.shared_retries import SharedRetries
from harness.engine.permissions.asker import Asker, OneAtATime
from harness.engine.permissions.session_rules import Granting
from harness.events import Event
from harness.journal import state_folder
from harness.memory import MemoryBook
from harness.model.catalogue import Catalogue
from harness.model.instruction_texts import Instructions
from harness.model.tokens import TokenCounter
from harness.policies.recovery.retry_budget import RetryBudget
from harness.practice.tool_fault_orders import ToolOrders
from harness.processes import Processes
from harness.settings import Settings
from harness.skills import SkillBook
from harness.slots.shared import SharedSlots
from harness.slots.sqlite import SqliteStore, slots_file


@dataclass(frozen=True, slots=True)
class Shared:
    """What an agent and those that work for it have in common."""

    connection: Connection
    granting: Granting
    """Who may do what: one gate for every agent."""
    asker: Asker
    """Lets one question stand at a time."""
    processes: Processes
    catalogue: Catalogue
    counter: TokenCounter
    endpoints: SharedEndpoints
    """How the models are, as far as any of them has found out."""
    retries: SharedRetries
    """The retries that they have together."""
    slots: SharedSlots | None
    """Slots for agents that all sessions of the person have together; None: this session has its own."""
    instructions: tuple[Instructions, ...]
    """The instruction files as they were when the session began."""
    skills: SkillBook
    agents: Agents
    """The kinds of agents that files define."""
    memory: MemoryBook
    tool_orders: ToolOrders
    """What the person ordered to go wrong with their tools."""
    said: deque[str]
    """What is to be told; another thread may add to it."""

    @classmethod
    def made(
        cls,
        settings: Settings,
        asker: Asker,
        log: logging.Logger,
        reread: Callable[[], Settings] | None,
        *,
        session: str,
        emit: Callable[[Event], None] | None = None,
    ) -> "Shared":
        """New ones, as these settings want them; `session` is its name for other sessions, `emit` reports to the user.

        Raises SettingsError for rules that cannot be used.
        """
        counter = TokenCounter()
        granting = Granting(settings, log)
        said: deque[str] = deque()
        slots = _slots(settings, session, said.append) if settings.shared_gate else None
        return cls(
            Connection(settings, log, counter, reread),
            granting,
            OneAtATime(asker, granting.permissions.decide),
            Processes(),
            Catalogue(settings.prices),
            counter,
            SharedEndpoints(
                None if settings.practice else slots,
                address=address_of(settings),
                clock=SystemClock(),
                log=log,
            ),
            SharedRetries(RetryBudget(settings.retry_share, settings.retry_burst), emit),
            slots,
            read_instructions(settings, said.append),
            skills_for(settings),
            agents_for(settings),
            memory_for(settings, session),
            ToolOrders(),
            said,
        )

    def news(self) -> Iterator[str]:
        """Sentences for the person about what is shared; each is given once."""
        while self.said:
            yield self.said.popleft()

    async def aclose(self) -> None:
        """Close the connection, end every process, give every slot back."""
        async with AsyncExitStack() as closing:
            if self.slots is not None:
                closing.push_async_callback(self.slots.aclose)
            closing.push_async_callback(self.endpoints.aclose)
            closing.push_async_callback(self.processes.aclose)
            closing.push_async_callback(self.connection.aclose)


def _slots(settings: Settings, session: str, tell: Callable[[str], None]) -> SharedSlots:
    """Those in the state folder. Nothing is opened before the first agent wants to work."""
    store = SqliteStore(slots_file(state_folder(settings.state_dir)), tell=tell)
    return SharedSlots(
        store,
        owner=session,
        clock=SystemClock(),  # other processes go by it as well
        lost=lambda claim: tell("The slot of an agent was given to another session, because this one did not answer."),
    )
