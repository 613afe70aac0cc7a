"""Reminds the model of a plan that it has not looked at for long (lessons s05).

A plan that nobody asks for goes stale; one that is asked for too often is answered instead of the person. So it is
counted in tool rounds, within one turn, and never without a plan (not over turns, and not over agents).
"""

from collections.abc import Sequence

from harness.engine.conversation import Conversation
from harness.events import Block, Event, HistoryReplaced, PlanChanged, PlanItem, PlanReminded, TurnStarted
from harness.model import plan_texts


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
        conversation.observe(self._see)

    def after_round(self) -> tuple[Block, ...]:
        """What is said beside the results of a tool round; called once at the end of each.

        It stands apart from the results, so that those that repeat each other still do.
        """
        self._rounds = 0 if self._near else self._rounds + 1
        self._near = False
        plan, rounds = self._conversation.plan, self._rounds
        if not is_due(plan, rounds, self._every):
            return ()
        self._rounds = 0
        self._conversation.emit(PlanReminded(rounds, tuple(item.text for item in plan if item.is_open)))
        return ({"type": "text", "text": plan_texts.reminder(plan, rounds)},)

    def _see(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._rounds, self._near = 0, False
            case PlanChanged():
                self._near = True
            case HistoryReplaced(reason="compaction"):
                self._rounds = 0  # it was handed back
