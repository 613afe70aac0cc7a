"""Writes into a learner's plan, and lets steps pass, with the tool and the reminder of harness beside it."""

from random import Random
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from harness.engine.conversation import Conversation, ignore
from harness.engine.tools.plan_reminder import PlanReminder
from harness.events import PlanChanged, PlanItem, TurnStarted
from harness.tools.todo_write import PlanArguments

HISTORIES, LONGEST = 600, 25
TEXTS = ("read", "mend", "test it", "test it", " read\n", "test   it", "", "  ", None, 7)
STATUSES = ("pending", "pending", "pending", "in_progress", "done", "done", "doing", None)

Pairs = list[tuple[str, str]]


class Play:
    """A learner's plan and the calls made to it."""

    def __init__(self, work: ModuleType, every: int = 3) -> None:
        self.plan: Any = work.Plan(every=every)
        self.story = [f"Plan(every={every})"]

    @property
    def items(self) -> Pairs:
        """The current plan."""
        return [(item.text, item.status) for item in self.plan.items]

    def write(self, *sent: Any) -> str:
        """The answer to a plan that the model sends."""
        answer: str = self.plan.write(list(sent))
        self.story.append(f"write({list(sent)}) -> {answer!r}, the plan is {self.items}")
        return answer

    def begin_turn(self) -> None:
        """The user types a prompt."""
        self.plan.begin_turn()
        self.story.append("begin_turn()")

    def steps(self, count: int) -> list[list[str]]:
        """What the model is reminded of after each of this many steps."""
        reminders: list[list[str]] = [self.plan.after_step() for _ in range(count)]
        self.story.extend(f"after_step() -> {one}" for one in reminders)
        return reminders

    def wants(self, found: object, wanted: object, what: str) -> None:
        """Raises AssertionError, with the story, when they differ."""
        assert found == wanted, "\n".join([*self.story, f"{what}: {found!r}, wanted {wanted!r}"])


def part(text: Any, status: Any = "pending") -> dict[str, Any]:
    """An entry as the model sends it."""
    return {"text": text, "status": status}


GOOD = (part("read", "done"), part("mend", "in_progress"), part("test it"))
BROKEN: tuple[tuple[tuple[Any, ...], tuple[str, ...]], ...] = (
    ((part("dig", "in_progress"), part("plant"), part("water", "in_progress")), ("dig", "water")),
    ((part("dig", "done"), part("plant"), part("dig")), ("dig",)),
    ((part("dig it"), part("  dig\n it")), ("dig it",)),
    ((part("dig"), part("plant", "doing")), ("plant", "doing")),
    ((part("dig"), part("plant"), part("   ")), ("3",)),
    ((part("dig"), {"status": "pending"}), ("2",)),
    ((part("dig"), "plant"), ("2",)),
    ((None,), ("1",)),
)
"""Lists that are not a plan, and the words that the answer has to name."""


def check_a_new_plan_replaces_the_old(work: ModuleType) -> None:
    play = Play(work)
    for sent, wanted in (
        (GOOD, [("read", "done"), ("mend", "in_progress"), ("test it", "pending")]),
        ((part(" mend \n the  roof"),), [("mend the roof", "pending")]),
        ((part("read", "done"), part("mend", "done")), [("read", "done"), ("mend", "done")]),
        ((), []),
    ):
        play.wants(play.write(*sent), "", "the answer")
        play.wants(play.items, wanted, "the plan")


def check_a_broken_plan_changes_nothing(work: ModuleType) -> None:
    for sent, _ in BROKEN:
        play = Play(work)
        play.write(*GOOD)
        before = play.items
        answer = play.write(*sent)
        if not answer:
            play.wants(answer, "a sentence", "the answer")
        play.wants(play.items, before, "the plan")


def check_the_model_reads_what_is_wrong(work: ModuleType) -> None:
    for sent, named in BROKEN:
        play = Play(work)
        answer = play.write(*sent)
        missing = [word for word in named if word not in str(answer)]
        play.wants(missing, [], "words missing in the answer")


def check_a_reminder_comes_after_quiet_steps(work: ModuleType) -> None:
    for every in (1, 2, 3):
        play = Play(work, every)
        play.write(*GOOD)
        quiet: list[list[str]] = [[]] * (every - 1)
        reminders = play.steps(1 + 3 * every)
        play.wants(
            reminders, [[], *[*quiet, ["mend", "test it"]] * 3], "the reminders, from the step that writes the plan"
        )
    play = Play(work, every=0)
    play.write(*GOOD)
    play.wants(play.steps(4), [[]] * 4, "the reminders with every=0")


def check_plans_and_turns_reset_the_count(work: ModuleType) -> None:
    play = Play(work, every=2)
    play.write(*GOOD)
    play.steps(2)
    play.write(part(""))
    play.wants(play.steps(1), [["mend", "test it"]], "the reminder after a plan that was refused")
    play.steps(1)
    play.write(*GOOD)
    play.wants(play.steps(2), [[], []], "the reminders after the same plan was sent again")
    play.begin_turn()
    play.wants(play.steps(2), [[], ["mend", "test it"]], "the reminders of a new turn")
    for nothing_open in ((), (part("read", "done"),)):
        play.write(*nothing_open)
        play.wants(play.steps(5), [[]] * 5, "the reminders where nothing is open")


def check_it_does_what_harness_does(work: ModuleType) -> None:
    stories = (_difference(work, Random(seed)) for seed in range(HISTORIES))
    shortest = min(filter(None, stories), key=len, default=None)
    assert shortest is None, "\n".join(shortest or ())


class Real:
    """The plan of harness: what its tool takes, and when it reminds."""

    def __init__(self, every: int) -> None:
        self._conversation = Conversation(ignore)
        self._reminder = PlanReminder(self._conversation, every)
        self._conversation.subscribe(self._reminder.on_event)

    @property
    def plan(self) -> tuple[PlanItem, ...]:
        """The current plan."""
        return self._conversation.plan

    @property
    def items(self) -> Pairs:
        """The current plan, in the terms of the exercise."""
        return [(item.text, item.status.value) for item in self.plan]

    def takes(self, sent: list[Any]) -> bool:
        """Whether this is a valid plan; if so, it becomes the current one."""
        try:
            arguments = PlanArguments.model_validate({"items": sent})
        except ValidationError:
            return False
        self._conversation.emit(PlanChanged(tuple(item.item() for item in arguments.items)))
        return True

    def begin_turn(self) -> None:
        """The user types a prompt."""
        self._conversation.emit(TurnStarted(self._conversation.turn + 1, "Go on."))

    def after_step(self) -> list[str]:
        """What the model is reminded of."""
        left = [item.text for item in self.plan if item.is_open]
        return left if self._reminder.after_step() else []


def _difference(work: ModuleType, chance: Random) -> list[str] | None:
    """The story up to the first answer where the two differ; None: they never do."""
    every = chance.randint(0, 3)
    play, real = Play(work, every), Real(every)
    for _ in range(chance.randint(1, LONGEST)):
        match chance.choice(("quiet", "quiet", "quiet", "write", "turn")):
            case "turn":
                play.begin_turn()
                real.begin_turn()
            case "write":  # in the middle of a step
                sent = [_entry(chance) for _ in range(chance.randint(0, 3))]
                taken = play.write(*sent) == ""
                wanted = real.takes(sent)
                if (taken, play.items) != (wanted, real.items):
                    return [*play.story, f"harness {'takes' if wanted else 'refuses'} it, the plan is {real.items}"]
        [mine] = play.steps(1)
        if mine != (theirs := real.after_step()):
            return [*play.story, f"harness -> {theirs}"]
    return None


def _entry(chance: Random) -> Any:
    entry = part(chance.choice(TEXTS), chance.choice(STATUSES))
    if chance.random() < 0.05:
        del entry[chance.choice(("text", "status"))]
    return entry if chance.random() < 0.97 else chance.choice((None, "read", []))
