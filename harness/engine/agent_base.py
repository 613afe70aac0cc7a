"""What an agent is made from, and how it opens and closes; `harness.agent.Agent` adds the loop."""

import logging
from collections.abc import Callable, Collection, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness.base.arguments import check_parts, check_types
from harness.base.clock import Clock
from harness.engine.build import build_parts
from harness.engine.config import Policies
from harness.engine.conversation import Conversation
from harness.engine.parts import AgentParts
from harness.engine.permissions.asker import Asker
from harness.events import Json
from harness.hooks import Hook
from harness.settings import Settings
from harness.tools.tool import Tool
from harness.tools.toolbox import Toolbox

ASKER = ("present", "permission", "wait", "loop", "question")
"""The attributes of an `Asker`."""


def types_of_agent(
    reread: object, log: object, policies: object, answer_format: object
) -> dict[str, tuple[object, Any, str]]:
    """What these arguments may be, for `check_types`."""
    return {
        "reread": (reread, Callable, "a function that returns Settings"),
        "log": (log, logging.Logger, "a logging.Logger"),
        "policies": (policies, Policies, "Policies(…)"),
        "answer_format": (answer_format, dict, "the format as a dict"),
    }


def check_protocols(asker: object, clock: object) -> None:
    """Raise TypeError for an asker or a clock without the methods of one."""
    check_parts("asker", asker, ASKER, f"an object with the methods of harness.session.Asker ({', '.join(ASKER)})")
    check_parts("clock", clock, ("now", "sleep"), "an object with the methods now and sleep")


class AgentBase:
    """An agent without its loop."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        tools: Iterable[Tool] = (),
        standard: Collection[str] | None = None,
        asker: Asker | None = None,
        conversation: Conversation | None = None,
        outputs: Path | None = None,
        reread: Callable[[], Settings] | None = None,
        clock: Clock | None = None,
        log: logging.Logger | None = None,
        agents: Path | None = None,
        hooks: Iterable[Hook] = (),
        policies: Policies | None = None,
        parent: AgentParts | None = None,
        role: str = "",
        answer_format: Json | None = None,
        **overrides: object,
    ) -> None:
        """
        Args:
            settings: all settings; None: read from `overrides`, the environment, `.env` and files.
            tools: your own tools, added to the standard ones; subagents may use them too.
            standard: names of the standard tools to keep; None: all, `()`: none.
            asker: answers questions; None: whatever would ask is refused.
            conversation: a conversation to continue; None: an empty one that is not recorded.
            outputs: folder for results too long for the history; None: one in the state folder.
            reread: reads the settings again after a key was refused; None: not for `settings` that were given.
            clock: time for waits.
            log: receives details for developers.
            agents: folder for the journals of subagents; None: they have none.
            hooks: called at fixed points, after the hooks of the settings; `hook` makes one from a function.
            policies: replace those that follow from the settings.
            parent: the agent that starts this one as its subagent, and whose hooks and policies it uses.
            role: text of its kind of subagent, added to the system prompt.
            answer_format: the `output_config.format` of answers, for models that take one; None: any text.
            overrides: settings by name, for example `model="claude-opus-5-5"` or `permission_mode="yolo"`.

        Raises SettingsError when a setting cannot be used; TypeError and ValueError for tools, hooks and policies that
        cannot.
        """
        check_types(
            {
                "settings": (settings, Settings, "settings as `harness.settings.load(…).settings` holds them"),
                "conversation": (conversation, Conversation, "a Conversation"),
                "outputs": (outputs, Path, "a Path"),
                "agents": (agents, Path, "a Path"),
                "role": (role, str, "a text"),
                "standard": (standard, Collection, 'a list of names, such as ["read_file"]'),
                **types_of_agent(reread, log, policies, answer_format),
            }
        )
        check_protocols(asker, clock)
        if settings is not None and overrides:
            raise TypeError(f"Agent takes settings= or single settings such as {next(iter(overrides))}=, not both.")
        self.parts: AgentParts = build_parts(
            type(self),
            settings,
            overrides,
            tools=tools,
            standard=standard,
            asker=asker,
            conversation=conversation,
            outputs=outputs,
            reread=reread,
            clock=clock,
            log=log,
            agents_folder=agents,
            hooks=hooks,
            policies=policies,
            parent=parent,
            role=role,
            answer_format=answer_format,
        )
        """The collaborators of this agent."""

    @property
    def conversation(self) -> Conversation:
        """History, counters and spend."""
        return self.parts.conversation

    @property
    def toolbox(self) -> Toolbox:
        """The tools that the model may call."""
        return self.parts.toolbox

    def interrupt(self) -> None:
        """End the turn as soon as possible; received content is kept."""
        self.parts.signals.interrupt.set()

    async def open(self) -> None:
        """Start the practice server if it is to answer, and import the SDK in the background. `run` calls it, too."""
        await self.parts.shared.connection.open()

    async def aclose(self) -> None:
        """Close all connections, and end every subagent, command and process."""
        parts = self.parts
        await parts.hooks.aclose()
        async with AsyncExitStack() as closing:  # all of it, also when one fails or is interrupted
            if parts.background is not None:
                closing.push_async_callback(parts.shared.aclose)
                closing.push_async_callback(parts.background.aclose)
            closing.push_async_callback(parts.calls.aclose)
            if parts.board is not None:
                closing.push_async_callback(parts.board.aclose)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()
