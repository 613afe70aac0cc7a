"""The parts of one agent that act. `harness.engine.build.agent` makes them."""

from collections.abc import Collection
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.checkpoints import Checkpoints
from harness.engine.connection import PracticeFaults
from harness.engine.core import AgentCore, Seat
from harness.engine.decision_runner import DecisionRunner
from harness.engine.hooks import HookRunner
from harness.engine.loops.runner import LoopRunner
from harness.engine.model.calls import ModelCalls
from harness.engine.model.chosen_model import ModelSelection
from harness.engine.model.context_report import ContextReport
from harness.engine.plan_mode import PlanMode
from harness.engine.rewind.rewind import Rewinder
from harness.engine.rewind.rollback import CheckpointFold, Rollbacks
from harness.engine.steering import SteeringInbox
from harness.engine.subagents.background_work import BackgroundWork
from harness.engine.tools.calls import ToolCalls
from harness.engine.tools.dispatch import ToolDispatcher
from harness.engine.tools.folder_instructions import FolderInstructions
from harness.engine.tools.plan_reminder import PlanReminder
from harness.engine.user_commands import UserCommands
from harness.events import Block, PromptListsRead
from harness.model.prompt import PromptSection
from harness.permissions.rules import WEB_TOOLS
from harness.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from harness.engine.mcp import McpTools
    from harness.tasks.work import TaskWork


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentParts:
    """All of them share one conversation."""

    core: AgentCore
    background: BackgroundWork | None
    """Its subagents and background commands; None for a subagent."""
    steering: SteeringInbox | None
    """Texts of the user for the running turn; None for a subagent."""
    hooks: HookRunner | None
    """None: there are none."""
    board: "TaskWork | None"
    """Its work on the task board of the session; None: there is none."""
    mcp: "McpTools | None"
    """Tools of MCP servers; None: the session has no servers."""
    toolbox: Toolbox
    lists: PromptListsRead
    """Skills and memories as the system prompt lists them."""
    sections: tuple[PromptSection, ...]
    """The parts of the system prompt."""
    attached: dict[str, str]
    """Texts that enter the history with the next prompt; a later one replaces an earlier one of its name."""
    calls: ModelCalls
    models: ModelSelection
    breakers: ToolDispatcher
    tools: ToolCalls
    decisions: DecisionRunner
    checkpoints: Checkpoints | None
    """Keeps what files held; None: nothing does."""
    checkpoint_fold: CheckpointFold
    """What rollbacks and rewinds can go back to."""
    rollbacks: Rollbacks
    loops: LoopRunner
    plan_reminder: PlanReminder
    plan_mode: PlanMode
    folder_instructions: FolderInstructions
    faults: PracticeFaults

    @property
    def stopped_by_hook(self) -> str:
        """Why a hook ends the turn after these tool calls; empty: none does."""
        return self.hooks.stopped if self.hooks is not None else ""

    def after_step(self) -> tuple[Block, ...]:
        """What the program adds behind the results of a step."""
        return (*self.plan_reminder.after_step(), *self.plan_mode.after_step())

    @property
    def arrived(self) -> bool:
        """Something waits that is a reason for a turn: results from the background, or mail of a member."""
        if self.core.seat is not None:
            return self.core.seat.waits
        return self.background is not None and bool(self.background.inbox.waking)

    async def deliver(self, *, scheduled: bool = False) -> None:
        """Add what has arrived to the history. `scheduled`: with the oldest scheduled prompt."""
        if self.background is not None:
            self.background.deliver(scheduled=scheduled)
        if self.core.seat is not None:
            await self.core.seat.deliver(self.core.conversation)

    def steerable(self) -> AbstractContextManager[None]:
        """A turn runs during the block, which texts of the user can join."""
        return self.steering.accepting() if self.steering is not None else nullcontext()

    def restriction_to(self, names: Collection[str] | None) -> frozenset[str] | None:
        """The names of the only tools of a turn; None: all tools. Raises TypeError and ValueError for unusable ones."""
        if isinstance(names, str):
            raise TypeError(f"only= takes a list of names: write only=[{names!r}].")
        for name in names or ():
            if name not in WEB_TOOLS and self.toolbox.get(name) is None:
                known = ", ".join(self.toolbox.names)
                raise ValueError(f"only= names {name!r}, which this agent lacks; it has: {known}.")
        return None if names is None else frozenset(names)

    @property
    def context(self) -> ContextReport:
        """Tokens of the next request."""
        return ContextReport(self.core, self.calls, self.sections, gave_up=self.decisions.compaction_off)

    @property
    def user_commands(self) -> UserCommands:
        """Shell commands, compaction, a new conversation."""
        return UserCommands(self.core, self.decisions, self.calls, self.rollbacks, self.attached)

    @property
    def rewind(self) -> Rewinder:
        """Back to an earlier turn."""
        return Rewinder(self.core, self.checkpoint_fold, self.checkpoints, self.calls.forget_sizes)

    async def aclose(self) -> None:
        """Close all connections, and end every subagent, command and process."""
        if self.hooks is not None:
            await self.hooks.aclose()
        async with AsyncExitStack() as closing:  # all of it, also when one fails or is interrupted
            if self.background is not None:
                closing.push_async_callback(self.core.shared.aclose)
                closing.push_async_callback(self.background.aclose)
            closing.push_async_callback(self.calls.aclose)
            if self.board is not None:
                closing.push_async_callback(self.board.agent_closed)


@dataclass(frozen=True, slots=True)
class Parent:
    """Where a subagent comes from."""

    parts: AgentParts
    """Of the agent that starts it, and whose hooks and policies it uses."""
    role: str = ""
    """Text of the kind of subagent, added to the system prompt."""
    seat: Seat | None = None
    """Of a member; None: the subagent is none."""
