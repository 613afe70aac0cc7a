"""The collaborators of one agent. `harness.engine.build` makes them."""

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.clock import Clock
from harness.checkpoints import Checkpoints
from harness.definitions import Agents
from harness.engine.config import Policies
from harness.engine.connection import ModelConnection, PracticeFaults
from harness.engine.conversation import Conversation
from harness.engine.decision_runner import DecisionRunner
from harness.engine.hooks import HookRunner
from harness.engine.loops.runner import LoopExperience, LoopRunner
from harness.engine.model.calls import ModelCalls
from harness.engine.model.context_report import ContextReport
from harness.engine.model.selection import ModelSelection
from harness.engine.model.shared_endpoints import SharedEndpoints
from harness.engine.model.shared_retries import SharedRetries
from harness.engine.permissions.asker import Asker
from harness.engine.permissions.session_rules import SessionRules
from harness.engine.rewind.rewind import Rewinder
from harness.engine.rewind.rollback import CheckpointFold, Rollbacks
from harness.engine.subagents.background_work import BackgroundWork
from harness.engine.tools.calls import ToolCalls
from harness.engine.tools.dispatch import ToolDispatcher
from harness.engine.tools.folder_instructions import FolderInstructions
from harness.engine.tools.plan_reminder import PlanReminder
from harness.engine.tools.results import FreshnessLabels
from harness.engine.turn import Signals, ToolRestriction, TurnLock
from harness.engine.user_commands import UserCommands
from harness.events import PromptListsRead
from harness.memory import MemoryBook
from harness.model.catalogue import Catalogue
from harness.model.prompt import Instructions, PromptSection
from harness.model.tokens import TokenCounter
from harness.policies.recovery import RecoveryLimits, Stop, TurnState, over_budget
from harness.practice.fault_orders import ToolFaultQueue
from harness.processes import Processes
from harness.settings import Settings
from harness.skills import SkillBook
from harness.slots.client import SharedSlots
from harness.tools.seen_files import SeenFiles
from harness.tools.tool import Tool
from harness.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from harness.tasks import TaskBoard
    from harness.tasks.work import TaskWork


@dataclass(frozen=True, slots=True)
class SharedParts:
    """One value for the agent of a session and all its subagents."""

    connection: ModelConnection
    rules: SessionRules
    """Permissions, the same for every agent."""
    asker: Asker
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
    tool_orders: ToolFaultQueue
    """Faults of tools that the user ordered."""
    notices: deque[str]
    """Sentences for the user that no turn has reported yet; another thread may add to them."""
    file_writes: dict[Path, tuple[SeenFiles, str]] = field(default_factory=dict)
    """The agent that wrote each file last, with the version."""

    def news(self) -> Iterator[str]:
        """The notices; each is given once."""
        while self.notices:
            yield self.notices.popleft()

    async def aclose(self) -> None:
        """Close the connection, end every process, give every slot back."""
        async with AsyncExitStack() as closing:
            if self.slots is not None:
                closing.push_async_callback(self.slots.aclose)
            closing.push_async_callback(self.endpoints.aclose)
            closing.push_async_callback(self.processes.aclose)
            closing.push_async_callback(self.connection.aclose)
            if self.board is not None:
                closing.callback(self.board.close)


@dataclass(frozen=True, slots=True)
class AgentParts:
    """All of them share one conversation."""

    settings: Settings
    conversation: Conversation
    clock: Clock
    log: logging.Logger
    policies: Policies
    limits: RecoveryLimits
    signals: Signals
    turns: TurnLock
    shared: SharedParts
    """What an agent and its subagents have in common."""
    parent: "AgentParts | None"
    """The agent that started this one; None: this is the agent of the session."""
    background: BackgroundWork | None
    """Its subagents and background commands; None for a subagent."""
    own_tools: tuple[Tool, ...]
    """Tools of the program that made the agent."""
    toolbox: Toolbox
    restriction: ToolRestriction
    board: "TaskWork | None"
    """Its work on the task board of the session; None: there is none."""
    lists: PromptListsRead
    """Skills and memories as the system prompt lists them."""
    sections: tuple[PromptSection, ...]
    """The parts of the system prompt."""
    attached: dict[str, str]
    """Texts that enter the history with the next prompt; a later one replaces an earlier one of its name."""
    models: ModelSelection
    calls: ModelCalls
    decisions: DecisionRunner
    breakers: ToolDispatcher
    freshness: FreshnessLabels
    tools: ToolCalls
    hooks: HookRunner
    loops: LoopRunner
    experience: LoopExperience
    checkpoint_fold: CheckpointFold
    """What rollbacks and rewinds can go back to."""
    checkpoints: Checkpoints | None
    """Keeps what files held; None: nothing does."""
    rollbacks: Rollbacks
    plan_reminder: PlanReminder
    folder_instructions: FolderInstructions
    faults: PracticeFaults
    outputs: Path
    """Folder for results too long for the history."""
    agents_folder: Path | None
    """Folder for the journals of subagents; None: they have none."""

    @property
    def is_subagent(self) -> bool:
        """Another agent started this one."""
        return self.parent is not None

    @property
    def context(self) -> ContextReport:
        """Tokens of the next request."""
        return ContextReport(
            self.conversation,
            self.calls,
            self.limits,
            self.sections,
            self.shared.instructions,
            model=self.models.current,
            gave_up=self.decisions.compaction_off,
        )

    @property
    def user_commands(self) -> UserCommands:
        """Shell commands, compaction, a new conversation."""
        return UserCommands(
            self.conversation,
            self.signals,
            self.turns,
            self.decisions,
            self.models,
            self.calls,
            self.attached,
            self.shared.processes,
            self.settings,
            connect=self.shared.connection.open,
            outputs=self.outputs,
        )

    @property
    def rewind(self) -> Rewinder:
        """Back to an earlier turn."""
        return Rewinder(
            self.conversation,
            self.turns,
            self.checkpoint_fold,
            self.checkpoints,
            self.shared.asker,
            self.signals,
            self.calls.forget_sizes,
        )

    def over_budget(self, state: TurnState) -> Stop | None:
        """What ends the turn because the money is spent: that of this agent or of its parent."""
        own = over_budget(state, self.limits, self.conversation.spend.cost_usd)
        return own or (self.parent.over_budget(state) if self.parent else None)
