"""The parts that ask hooks and answer tool calls, where there are no hooks and no user."""

import logging
from pathlib import Path

from harness.base.clock import SystemClock
from harness.engine.conversation import Conversation
from harness.engine.hooks import HookRunner
from harness.engine.permissions.asker import NoAsker
from harness.engine.tools.calls import ToolCalls
from harness.engine.tools.dispatch import ToolDispatcher
from harness.engine.tools.results import FreshnessLabels
from harness.engine.turn import Signals, ToolRestriction
from harness.permissions import Permissions
from harness.policies.breakers.registry import BreakerRegistry
from harness.policies.recovery import RecoveryLimits
from harness.processes import Processes
from harness.tools.toolbox import Toolbox


def without_hooks(conversation: Conversation, folder: Path) -> HookRunner:
    """Asks nobody."""
    return HookRunner((), Processes(), conversation, Signals(), RecoveryLimits(), workspace=folder)


def tool_calls(
    toolbox: Toolbox,
    permissions: Permissions,
    conversation: Conversation,
    workspace: Path,
    processes: Processes,
    *,
    count_errors: bool = False,
) -> tuple[ToolCalls, BreakerRegistry]:
    """What answers calls of these tools, and their breakers."""
    clock, board = SystemClock(), BreakerRegistry(toolbox.names)
    dispatcher = ToolDispatcher(board, toolbox, conversation, clock)
    conversation.subscribe(dispatcher.on_event)
    calls = ToolCalls(
        toolbox,
        permissions,
        NoAsker(),
        conversation,
        dispatcher,
        FreshnessLabels(strict=False),
        without_hooks(conversation, workspace),
        clock,
        ToolRestriction(),
        veto=lambda call: None,
        workspace=workspace,
        outputs=workspace.parent / "outputs",
        processes=processes,
        timeout_s=120.0,
        count_errors=count_errors,
        log=logging.getLogger("test"),
    )
    return calls, board
