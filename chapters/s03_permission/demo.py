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


async def demo(session: DemoSession) -> None:
    """Ask the gate about some lines; then let a model work behind it."""
    async with session.agent(session.settings(**RULES)) as agent:
        for line in LINES:
            session.show(dry_run(agent, line))
        async for prompt in session.prompts():
            await session.watch(agent.run(prompt))
