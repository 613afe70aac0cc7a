"""The part that asks hooks, where there are none."""

from pathlib import Path

from harness.conversation import Conversation
from harness.executor.hook_runs import HookRuns
from harness.executor.hooking import Hooking
from harness.executor.waiting import Signals
from harness.processes import Processes
from harness.recovery import RecoveryLimits


def without_hooks(conversation: Conversation, folder: Path) -> Hooking:
    """Asks nobody."""
    runs = HookRuns(Processes(), folder)
    return Hooking((), runs, conversation, Signals(), RecoveryLimits(), workspace=str(folder))
