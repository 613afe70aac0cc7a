"""The hook of s05, and what its demo says of the new history."""

from chapters.s05_todo_write.demo import holding_to_it, written
from harness.engine.conversation import Conversation, ignore
from harness.events import HookPoint, ItemStatus, PlanChanged, PlanItem
from harness.hooks import HookAnswer, HookCall

OPEN = (PlanItem("first", ItemStatus.DONE), PlanItem("second"))
DONE = (PlanItem("first", ItemStatus.DONE), PlanItem("second", ItemStatus.DONE))


def at_turn_end(conversation: Conversation, objections: int = 0) -> object:
    """What the hook says at the end of a turn, after so many objections."""
    action = holding_to_it(conversation).action
    assert callable(action)
    return action(HookCall(HookPoint.STOP, "/w", 1, objections=objections))


def test_it_speaks_once_and_only_of_a_plan_with_open_parts() -> None:
    conversation = Conversation(ignore)
    assert at_turn_end(conversation) is None
    conversation.emit(PlanChanged(OPEN))
    answer = at_turn_end(conversation)
    assert isinstance(answer, HookAnswer)
    assert "second" in answer.block
    assert "first" not in answer.block
    assert at_turn_end(conversation, objections=1) is None
    conversation.emit(PlanChanged(DONE))
    assert at_turn_end(conversation) is None


def test_a_plan_is_written_in_one_line() -> None:
    assert written(OPEN) == "[x] first; [ ] second"
    assert written(()) == ""
