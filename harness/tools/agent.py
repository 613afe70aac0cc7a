"""agent: delegate a part of the work to a subagent.

The agent starts with an empty history, which keeps what it reads out of ours. Nothing it does is done in secret: each
of its calls is decided by the same permissions, and what it costs is part of the same session.
"""

from collections.abc import Mapping
from typing import Annotated, Protocol

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from harness.base.external_text import counted
from harness.events import Json
from harness.tools.tool import Effect, Tool, ToolArguments, ToolContext, ToolResult, shorten_line

AGENT = "agent"
TEAM_START = "team_start"
"""The tool that starts a member, which is a subagent with a name."""
DESCRIPTION_CHARACTERS = 300
"""Of one kind of agent."""
KINDS_CHARACTERS = 8_000
"""Of all of them together."""


class AgentArguments(ToolArguments):
    """Arguments of agent."""

    description: str = Field(description="What it is to do, in three to eight words.", min_length=1, max_length=200)
    prompt: str = Field(
        description="All that it needs to know: it sees nothing of this conversation. Say what to give back.",
        min_length=1,
    )
    agent: Annotated[str, Field(min_length=1)] | SkipJsonSchema[None] = Field(
        default=None, description='Continue with an earlier agent, such as "a1", which remembers its work.'
    )
    tools: list[str] | SkipJsonSchema[None] = Field(
        default=None, description="Names of the tools it may use; default: all that a subagent can have."
    )
    background: bool = Field(
        default=False, description="Do not wait: continue with other work; you are notified when it is done."
    )


class KindAgentArguments(AgentArguments):
    """The same where files define kinds of agents."""

    kind: Annotated[str, Field(min_length=1)] | SkipJsonSchema[None] = Field(
        default=None, description="The kind of agent, one of those listed; default: a general one."
    )


def kind_of(task: AgentArguments) -> str:
    """The kind of agent that is asked for; empty: none of those that files define."""
    return task.kind or "" if isinstance(task, KindAgentArguments) else ""


class SubagentDelegate(Protocol):
    """Runs subagents."""

    async def ask(self, context: ToolContext, task: AgentArguments) -> ToolResult:
        """Run the task and return its result. A cancellation ends the agent and is passed on."""
        ...


def agent_tool(delegation: SubagentDelegate, *, steps: int, kinds: Mapping[str, str] | None = None) -> Tool:
    """The tool agent; an agent may take this many `steps`. `kinds` are names and descriptions of what files define."""

    async def agent(context: ToolContext, arguments: AgentArguments) -> ToolResult:
        return await delegation.ask(context, arguments)

    return Tool(
        name=AGENT,
        description=(
            "Delegate a part of the work to a subagent and get its answer. It starts with an empty history, has the "
            "tools for files, search and shell in the same folder, and cannot start agents itself. Good for a search "
            "through many files whose content you do not need, or for parts that do not depend on each other: several "
            "calls in one reply work side by side. Do not give two agents the same file to change. It may take "
            f"{counted(steps, 'step')}. Only its last answer comes back; if it does not finish, the result says so and "
            f"holds what it had.{_listed(kinds or {})}"
        ),
        arguments=KindAgentArguments if kinds else AgentArguments,
        effect=Effect.DELEGATE,
        run=agent,
        parallel=True,
        summarise=_summary,
    )


def _listed(kinds: Mapping[str, str]) -> str:
    """The kinds of agents, each with as much of its description as has room."""
    if not kinds:
        return ""
    width = min(DESCRIPTION_CHARACTERS, max(0, KINDS_CHARACTERS // len(kinds) - 64))
    lines = (f"- {name}: {text[:width]}" if text[:width] else f"- {name}" for name, text in kinds.items())
    return "\n\nKinds of agents, each with a prompt, tools and a model of its own:\n" + "\n".join(lines)


def _summary(input: Json) -> str:
    description, agent = input.get("description"), input.get("agent")
    text = shorten_line(description) if isinstance(description, str) else ""
    return f"{agent}: {text}" if isinstance(agent, str) and agent else text
