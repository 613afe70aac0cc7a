"""Reminders of the plan, compared with a naive search over all rounds."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from harness.engine.conversation import Conversation, ignore
from harness.engine.tools.plan_reminder import PlanReminder
from harness.events import ItemStatus, PlanChanged, PlanItem, TurnStarted

OPEN = (PlanItem("one", ItemStatus.DONE), PlanItem("two"))
DONE = (PlanItem("one", ItemStatus.DONE),)


@dataclass(frozen=True)
class Round:
    """A tool round: perhaps the first of a turn, perhaps with a new plan."""

    turn: int
    plan: tuple[PlanItem, ...] | None


def naive(rounds: list[Round], every: int) -> list[int]:
    """The rounds after which a reminder comes, each one found by a look at all rounds before it."""
    found: list[int] = []
    for at, current in enumerate(rounds):
        plans = [one.plan for one in rounds[: at + 1] if one.plan is not None]
        since = rounds[max(0, at + 1 - every) : at + 1]
        if (
            every
            and len(since) == every
            and all(one.turn == current.turn and one.plan is None for one in since)
            and not any(at - every < earlier for earlier in found)
            and plans
            and any(item.status is not ItemStatus.DONE for item in plans[-1])
        ):
            found.append(at)
    return found


histories = st.lists(
    st.tuples(st.sampled_from([0, 0, 0, 1]), st.sampled_from([None, None, None, None, OPEN, DONE, ()])), max_size=40
)


@given(histories, st.integers(0, 5))
def test_reminders_come_when_a_naive_look_back_says_so(
    told: list[tuple[int, tuple[PlanItem, ...] | None]], every: int
) -> None:
    conversation = Conversation(ignore)
    reminder = PlanReminder(conversation, every)
    conversation.subscribe(reminder.on_event)
    rounds: list[Round] = []
    found = []
    for at, (begins, plan) in enumerate(told):
        turn = rounds[-1].turn + begins if rounds else 1
        rounds.append(Round(turn, plan))
        if begins or at == 0:
            conversation.emit(TurnStarted(turn, "go on"))
        if plan is not None:
            conversation.emit(PlanChanged(plan))
        if reminder.after_step():
            found.append(at)
    assert found == naive(rounds, every)


def test_it_says_what_is_open_and_nothing_else() -> None:
    conversation = Conversation(ignore)
    reminder = PlanReminder(conversation, 1)
    conversation.subscribe(reminder.on_event)
    conversation.emit(PlanChanged((*OPEN, PlanItem("leave </plan> alone"))))
    reminder.after_step()
    [block] = reminder.after_step()
    assert block["text"].startswith("<plan>\n")
    assert "[ ] two\n[ ] leave &lt;/plan> alone\n</plan>" in block["text"]
    assert "[x] one" not in block["text"]
    assert "for 1 step;" in block["text"]
