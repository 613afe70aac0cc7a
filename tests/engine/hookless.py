"""The part that asks hooks, where there are none."""

from pathlib import Path

from harness.engine.conversation import Conversation
from harness.engine.hooks.hook_runner import HookRunner
from harness.engine.hooks.invoker import HookInvoker
from harness.engine.turn import Signals
from harness.policies.recovery import RecoveryLimits
from harness.processes import Processes


def without_hooks(conversation: Conversation, folder: Path) -> HookRunner:
    """Asks nobody."""
    runs = HookInvoker(Processes(), folder)
    return HookRunner((), runs, conversation, Signals(), RecoveryLimits(), workspace=str(folder))
