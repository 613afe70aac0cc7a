"""A plan that everybody sees: the model declares it, a tool checks it, a hook holds to it, a file keeps it."""

from collections.abc import Iterable

from harness.conversation import Conversation
from harness.events import Event, ItemStatus, Notice, PlanChanged, PlanItem
from harness.hooks import Hook, HookAnswer, HookCall, hook
from harness.journal import Journal, read, replay, session_folder
from harness.lessons import Stage


def plan_in(events: Iterable[Event]) -> tuple[PlanItem, ...]:
    """The plan that holds: each one takes the place of the one before, so it is the last."""
    plans = [event.items for event in events if isinstance(event, PlanChanged)]
    return plans[-1] if plans else ()


def written(plan: Iterable[PlanItem]) -> str:
    """The plan as a person reads it."""
    return "; ".join(f"{item.status.mark} {item.text}" for item in plan)


class PlanKeeper:
    """Writes every event of the conversation down, and knows the plan that stands in them."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.path = journal.path
        self.plan = plan_in(record.event for record in read(journal.path).records)

    def record(self, event: Event) -> None:
        """Keep an event before anybody else sees it."""
        self._journal.append(event)
        self.plan = plan_in([PlanChanged(self.plan), event])

    def unfinished(self, call: HookCall) -> HookAnswer | None:
        """At the end of a turn: what is still open is said once. Where there is no plan, nobody nags."""
        left = [item.text for item in self.plan if item.status is not ItemStatus.DONE]
        if left and call.objections == 0:
            return HookAnswer(block=f"these parts of your plan are not done: {', '.join(left)}; do them or strike them")
        return None

    def again(self, call: HookCall) -> HookAnswer | None:
        """After the history was shortened: the plan once more, whole and not as a summary tells it."""
        return HookAnswer(context=f"Your plan: {written(self.plan)}") if self.plan else None

    def hooks(self) -> list[Hook]:
        """What holds the model to its plan."""
        return [hook("stop", name="plan")(self.unfinished), hook("after_compaction", name="plan")(self.again)]


async def demo(stage: Stage) -> None:
    """Two runs of a program with one conversation: the second finds the plan where the first left it."""
    settings = stage.settings(permission_mode="edits", permissions_allow=("bash(python3 *)",))
    prompts = stage.prompts()
    folder = session_folder(stage.workspace, settings.state_dir)
    with Journal.create(folder, "with-a-plan") as journal:
        keeper = PlanKeeper(journal)
        conversation = Conversation(keeper.record)
        async with stage.agent(settings, conversation=conversation, hooks=keeper.hooks()) as agent:
            await stage.watch(agent.run(await anext(prompts)))
    # Here the program ends. All that is left of it is the file.
    with Journal.open(keeper.path) as journal:
        keeper = PlanKeeper(journal)
        state = replay(read(journal.path).records)
        conversation = Conversation(keeper.record, messages=state.messages, turn=state.turn, step=state.step)
        stage.show(Notice("info", f"read back from {journal.path.name}: {written(keeper.plan)}"))
        async with stage.agent(settings, conversation=conversation, hooks=keeper.hooks()) as agent:
            async for prompt in prompts:
                await stage.watch(agent.run(prompt))
