"""The part that asks hooks, where there are none."""

from pathlib import Path

from harness.engine.conversation import Conversation
from harness.engine.hooks.hooks import Hooking
from harness.engine.hooks.runner import HookRuns
from harness.engine.signals import Signals
from harness.policies.recovery import RecoveryLimits
from harness.processes import Processes


def without_hooks(conversation: Conversation, folder: Path) -> Hooking:
    """Asks nobody."""
    runs = HookRuns(Processes(), folder)
    return Hooking((), runs, conversation, Signals(), RecoveryLimits(), workspace=str(folder))
