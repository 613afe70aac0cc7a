"""Reminds the model of a plan that it has not touched for some steps of a turn.

A plan without reminders goes stale; with too many, the model answers the reminder instead of the user.
"""

from collections.abc import Sequence

from harness.engine.conversation import Conversation
from harness.events import Block, Event, HistoryReplaced, PlanChanged, PlanItem, PlanReminded, TurnStarted
from harness.model import notices


def is_due(plan: Sequence[PlanItem], rounds: int, every: int) -> bool:
    """Whether the model is to be reminded now.

    Args:
        plan: the one that holds.
        rounds: tool rounds of this turn since it was written, or since the last reminder; with the one that just ended.
        every: so many of them make a reminder; 0: never.
    """
    return 0 < every <= rounds and any(item.is_open for item in plan)


class PlanReminder:
    """Counts the tool rounds of one agent."""

    def __init__(self, conversation: Conversation, every: int) -> None:
        """`every` is the number of tool rounds that make a reminder; 0: never."""
        self._conversation = conversation
        self._every = every
        self._rounds = 0
        self._near = False
        """The plan was written since the last round ended."""

    def after_step(self) -> tuple[Block, ...]:
        """The reminder beside the results of a step, if it is due; called once at the end of each.

        It is a block of its own, so that repeated results stay equal.
        """
        self._rounds = 0 if self._near else self._rounds + 1
        self._near = False
        plan, rounds = self._conversation.plan, self._rounds
        if not is_due(plan, rounds, self._every):
            return ()
        self._rounds = 0
        self._conversation.emit(PlanReminded(rounds, tuple(item.text for item in plan if item.is_open)))
        return ({"type": "text", "text": notices.plan_reminder(plan, rounds)},)

    def on_event(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._rounds, self._near = 0, False
            case PlanChanged():
                self._near = True
            case HistoryReplaced(reason="compaction"):
                self._rounds = 0  # it was handed back
