"""A plan that everybody sees: the model declares it, a tool checks it, the program holds to it, a file keeps it."""

from collections.abc import Iterable

from chapters.course import DemoSession
from harness.agent import Agent
from harness.engine.conversation import Conversation
from harness.events import Notice, PlanItem
from harness.hooks import Hook, HookAnswer, HookCall, hook
from harness.journal import Journal, Recorder, read, replay, session_folder


def written(plan: Iterable[PlanItem]) -> str:
    """The plan as the user reads it."""
    return "; ".join(f"{item.status.mark} {item.text}" for item in plan)


def holding_to_it(conversation: Conversation) -> Hook:
    """What you can add yourself: an objection to the end of a turn with open parts."""

    @hook("stop", name="plan")
    def unfinished(call: HookCall) -> HookAnswer | None:
        left = [item.text for item in conversation.plan if item.is_open]
        if left and call.objections == 0:
            return HookAnswer(block=f"these parts of your plan are not done: {', '.join(left)}; do them or strike them")
        return None

    return unfinished


def handed_back(agent: Agent) -> str:
    """The lines of a plan that the history begins with, as the model reads them."""
    return "; ".join(line for line in agent.conversation.messages[0].text.splitlines() if line.startswith("["))


async def demo(session: DemoSession) -> None:
    """Two runs of a program with one conversation: the second finds the plan where the first left it."""
    settings = session.settings(permission_mode="edits", permissions_allow=("bash(python3 *)",), plan_reminder=2)
    prompts = session.prompts()
    with Journal.create(session_folder(session.workspace, settings.state_dir), "with-a-plan") as journal:
        conversation = Conversation(Recorder(journal))
        async with session.agent(settings, conversation=conversation, hooks=[holding_to_it(conversation)]) as agent:
            await session.watch(agent.run(await anext(prompts)))
            await session.watch(agent.parts.user_commands.compact())
            session.show(Notice("info", f"the new history says: {handed_back(agent)}"))
    # Here the program ends. All that is left of it is the file.
    with Journal.open(journal.path) as journal:
        state = replay(read(journal.path).records)
        conversation = Conversation(Recorder(journal), state)
        session.show(Notice("info", f"read back from {journal.path.name}: {written(conversation.plan)}"))
        async with session.agent(settings, conversation=conversation, hooks=[holding_to_it(conversation)]) as agent:
            async for prompt in prompts:
                await session.watch(agent.run(prompt))
