"""A model behind the learner's `decide`: a hook answers with its verdict on each command line."""

from types import ModuleType

from chapters.course import DemoSession
from harness.events import Notice
from harness.hooks import Hook, HookAnswer, HookCall, HookPoint, Verdict

RULES = ("allow python3 check.py *", "ask git commit *", "deny git push *")
LINES = (
    "python3 check.py",
    "python3 check.py && rm -rf drafts",
    "python3 check.py > result.md",
    "python3 check.py; /usr/bin/git 'push' origin",
)
"""Command lines that do not run."""


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Judge some lines with the learner's gate, then let a model work behind it."""
    rules = [work.Rule(verdict, command) for verdict, _, command in (rule.partition(" ") for rule in RULES)]
    errors: list[Exception] = []

    async def gate(call: HookCall) -> HookAnswer:
        try:
            verdict = Verdict(work.decide(str(call.input["command"]), rules))
        except Exception as error:
            errors.append(error)
            raise
        return HookAnswer(permission=verdict, reason=f"your rules say {verdict.value}")

    for line in LINES:
        session.show(Notice("info", f"`{line}`: {work.decide(line, rules)}"))
    hooks = [Hook("your_gate", HookPoint.BEFORE_TOOL, gate, tools="bash", required=True)]
    async with session.agent(hooks=hooks) as agent:
        async for prompt in session.prompts():
            await session.watch(agent.run(prompt))
            if errors:
                raise errors[0]
