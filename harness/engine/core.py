"""What the parts of an agent work with: made before any of them, and handed to each."""

import asyncio
import logging
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness.base.clock import Clock
from harness.definitions import Agents
from harness.engine.build.options import Policies
from harness.engine.connection import ModelConnection, OrderedToolFaults
from harness.engine.conversation import Conversation, TurnLock
from harness.engine.model.shared_endpoints import SharedEndpoints
from harness.engine.model.shared_retries import SharedRetries
from harness.engine.permissions.asker import Asker, SerialAsker
from harness.engine.permissions.session_rules import SessionRules
from harness.engine.store_places import fleet
from harness.events import Effort, Event
from harness.memory import MemoryBook
from harness.model.catalogue import Catalogue
from harness.model.prompt import Instructions
from harness.model.server_tools import FETCH, SEARCH, WebAccess
from harness.model.tokens import TokenCounter
from harness.permissions.rules import WEB_TOOLS
from harness.policies.recovery import RecoveryLimits, Stop, TurnState, over_budget
from harness.processes import Processes
from harness.settings import Settings
from harness.skills import SkillBook
from harness.slots.client import SharedSlots
from harness.tools.seen_files import SeenFiles
from harness.tools.tool import Tool

if TYPE_CHECKING:
    from harness.mcp.servers import McpServers
    from harness.tasks import TaskBoard
    from harness.tasks.work import RefusesTask, TaskWork


@dataclass(frozen=True, slots=True)
class SharedParts:
    """The parts that the agent of a session shares with all its subagents."""

    connection: ModelConnection
    rules: SessionRules
    """Permissions, the same for every agent."""
    asker: SerialAsker
    """Asks one question at a time."""
    processes: Processes
    catalogue: Catalogue
    counter: TokenCounter
    endpoints: SharedEndpoints
    """How the models are, as far as any of them has found out."""
    retries: SharedRetries
    """The retries that they have together."""
    slots: SharedSlots | None
    """Slots that all sessions of the user share; None: this session has its own."""
    instructions: tuple[Instructions, ...]
    """The instruction files as they were when the session began."""
    skills: SkillBook
    agents: Agents
    """The kinds of agents that files define."""
    memory: MemoryBook
    board: "TaskBoard | None"
    """The task board of the session; None: it uses none."""
    mcp: "McpServers | None"
    """The MCP servers of the session; None: there are none."""
    tool_faults: OrderedToolFaults
    """Faults of tools that the user ordered."""
    notices: deque[str]
    """Sentences for the user that no turn has reported yet; another thread may add to them."""
    file_writes: dict[Path, tuple[SeenFiles, str]] = field(default_factory=dict)
    """The agent that wrote each file last, with the version."""

    def take_notices(self) -> Iterator[str]:
        """The notices; each is given once."""
        while self.notices:
            yield self.notices.popleft()

    async def open(self) -> None:
        """Open the connection to the model, and look whether the store of a fleet can be used."""
        await self.connection.open()
        if fleet() is not None:
            self.endpoints.look()

    async def aclose(self) -> None:
        """Close the connection, end every process, give every slot back."""
        async with AsyncExitStack() as closing:
            if self.slots is not None:
                closing.push_async_callback(self.slots.aclose)
            closing.push_async_callback(self.endpoints.aclose)
            closing.push_async_callback(self.processes.sandbox.aclose)
            closing.push_async_callback(self.processes.aclose)
            closing.push_async_callback(self.connection.aclose)
            if self.board is not None:
                closing.callback(self.board.close)


class Seat(Protocol):
    """The place of a member in its team."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Those that only members have."""
        ...

    @property
    def blocked(self) -> str:
        """Why the member may write and run nothing now; empty: it may."""
        ...

    @property
    def waits(self) -> bool:
        """Mail waits that is not in the history yet."""
        ...

    async def deliver(self, conversation: Conversation) -> None:
        """Add the waiting mail to the history. No-op if there is none."""
        ...

    def over_budget(self, state: TurnState) -> Stop | None:
        """What ends the turn because the money of the team is spent."""
        ...

    def board(self, refuses: "RefusesTask | None") -> "TaskWork | None":
        """Its work on the board, which outlives its agent; None: the agent has its own. `refuses`: asks hooks."""
        ...

    def on_event(self, event: Event) -> None:
        """An event of its agent."""
        ...


@dataclass(slots=True)
class ToolRestriction:
    """The tools of the turn under way, for an agent and its subagents."""

    only: frozenset[str] | None = None
    """None: all tools."""

    def allows(self, name: str) -> bool:
        """The tool may be called in this turn."""
        return self.only is None or name in self.only

    @contextmanager
    def to(self, only: frozenset[str] | None) -> Iterator[None]:
        """Restrict the block to these tools; None: to none in particular."""
        self.only = only
        try:
            yield
        finally:
            self.only = None


class Signals:
    """Requests of the user during a turn, set by the front end and read by the engine."""

    def __init__(self) -> None:
        self.interrupt = asyncio.Event()
        """End the turn."""
        self.retry_now = asyncio.Event()
        """End the wait for a retry."""
        self.reconnect = asyncio.Event()
        """Drop the silent connection and try again."""
        self.other_model = asyncio.Event()
        """Go on with the next fallback instead of waiting."""
        self.steered = asyncio.Event()
        """A text of the user waits to join the turn; set and cleared by its inbox."""
        self._closed = False

    def close(self) -> None:
        """Interrupt this turn and every later one."""
        self._closed = True
        self.interrupt.set()

    def reset(self) -> None:
        """Clear the requests for a turn, before a new one."""
        for signal in (self.interrupt, self.retry_now, self.reconnect, self.other_model):
            signal.clear()
        if self._closed:
            self.interrupt.set()


@dataclass(slots=True)
class ModelChoice:
    """What the next turn begins with."""

    model: str
    effort: Effort | None
    """None: the model's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCore:
    """The facts of one agent that its parts share; it does nothing itself."""

    settings: Settings
    conversation: Conversation
    shared: SharedParts
    """What an agent and its subagents have in common."""
    parent: "AgentCore | None"
    """Of the agent that started this one; None: this is the agent of the session."""
    asker: Asker
    clock: Clock
    log: logging.Logger
    policies: Policies
    limits: RecoveryLimits
    choice: ModelChoice
    signals: Signals
    turns: TurnLock
    restriction: ToolRestriction
    standard: Collection[str] | None
    """Names of the only standard tools that a subagent may use; None: all."""
    own_tools: tuple[Tool, ...]
    """Tools of the program that made the agent."""
    outputs: Path
    """Folder for results too long for the history."""
    agents_folder: Path | None
    """Folder for the journals of subagents; None: they have none."""
    seat: Seat | None = None
    """Of a member; None: the agent is none."""

    @property
    def is_subagent(self) -> bool:
        """Another agent started this one."""
        return self.parent is not None

    @property
    def id(self) -> str:
        """Id of a subagent; empty: the agent of the session."""
        return self.outputs.name if self.parent is not None else ""

    @property
    def session(self) -> str:
        """Name of the session, also for its subagents."""
        return self.outputs.stem if self.parent is None else self.parent.session

    @property
    def journal(self) -> Path:
        """Of the session; its name is the id of the session, also where it is not written."""
        return self.outputs.with_suffix(".jsonl") if self.parent is None else self.parent.journal

    def web(self, *, turn: bool = False) -> WebAccess:
        """The web tools that the model may use; `turn`: in the current turn."""
        only = self.restriction.only if turn else None
        return web_access(self.settings, self.standard, only, self.shared.rules.kept(WEB_TOOLS))

    def over_budget(self, state: TurnState) -> Stop | None:
        """What ends the turn because the money is spent: that of this agent or of its parent."""
        own = over_budget(state, self.limits, self.conversation.spend.cost_usd)
        own = own or (self.seat.over_budget(state) if self.seat else None)
        return own or (self.parent.over_budget(state) if self.parent else None)


def web_access(settings: Settings, *names: Collection[str] | None) -> WebAccess:
    """The web tools that the settings and every list of names allow; None: a list of all names."""

    def kept(name: str) -> bool:
        return all(one is None or name in one for one in names)

    return WebAccess(
        search=settings.web_search and kept(SEARCH),
        fetch=settings.web_fetch and kept(FETCH),
        allowed_domains=settings.web_allowed_domains,
        blocked_domains=settings.web_blocked_domains,
        max_uses=settings.web_max_uses,
    )
