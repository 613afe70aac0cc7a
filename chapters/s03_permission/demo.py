"""The gate of harness before every tool call: rules, a question, and a reason for the model.

From here on the loop is that of harness, `harness/agent.py`. It does what yours did, and asks the gate first.
"""

from chapters.course import DemoSession
from harness.agent import Agent
from harness.events import Notice
from harness.permissions import PermissionRequest
from harness.tools.tool import Effect

RULES = {
    "permissions_allow": ["bash(python3 check.py *)"],
    "permissions_ask": ["write(result.md)"],
    "permissions_deny": ["read(secrets/**)", "bash(git push *)"],
}
"""As in a settings file."""

LINES = (
    "git log --oneline | head",
    "git log && rm -rf drafts",
    "python3 check.py > result.md",
    "sh -c 'git  push'",
    "git commit -m 'describe rm -rf and reboot'",
)
"""Command lines that do not run: the gate only says what it would decide."""


def dry_run(agent: Agent, line: str) -> Notice:
    """What the gate says about a command line. A decision is a function of its facts, so asking it does nothing."""
    request = PermissionRequest("dry run", "bash", Effect.RUN, line, line, {"command": line})
    decision = agent.parts.core.shared.rules.permissions.decide(request)
    return Notice("info", f"`{line}`: {type(decision).__name__}, {decision.why}")


PUBLISH = "Publish the notes."
"""The prompt of an agent whose commands the sandbox holds. The others have none, so that the gate alone decides."""


def state_of_the_sandbox(agent: Agent) -> Notice:
    """What this machine can hold a command to."""
    return Notice("info", f"sandbox: {agent.parts.core.shared.processes.sandbox.state.in_words}")


async def demo(session: DemoSession) -> None:
    """Ask the gate about some lines; then let a model work behind it, and one in the sandbox below it."""
    in_sandbox = session.settings(sandbox="auto")
    async with session.agent(in_sandbox) as held, session.agent(session.settings(**RULES)) as agent:
        for line in LINES:
            session.show(dry_run(agent, line))
        async for prompt in session.prompts():
            if prompt == PUBLISH:
                session.show(state_of_the_sandbox(held))
            await session.watch((held if prompt == PUBLISH else agent).run(prompt))
