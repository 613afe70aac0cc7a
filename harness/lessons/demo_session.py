"""What the demo of a chapter gets: a folder, a model that needs no key, and somebody who types."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from harness.base.errors import HarnessError
from harness.engine.permissions.asker import Asker
from harness.events import Event, FaultOrdered
from harness.settings import PRACTICE_MODEL, Settings

if TYPE_CHECKING:
    from harness.agent import Agent
    from harness.practice.fault_commands import Broken
    from harness.practice.pending_faults import Orders


class Stage:
    """The surroundings of a demo. `Take` makes one."""

    KEY = "practice"
    """What the practice server takes for a key."""
    MODEL = PRACTICE_MODEL

    def __init__(
        self,
        *,
        workspace: Path,
        state: Path,
        address: str,
        orders: "Orders",
        asker: Asker,
        prompts: Callable[[], AsyncIterator[str]],
        show: Callable[[Event], None],
    ) -> None:
        """
        Args:
            workspace: a folder that only this run uses.
            state: a folder for everything that an agent keeps beside it.
            address: base URL of a practice server.
            orders: what goes wrong with that server on purpose.
            asker: answers questions.
            prompts: what is typed, one after the other.
            show: is told of every event.
        """
        self.workspace = workspace
        self.address = address
        self.asker = asker
        self._orders = orders
        self._state = state
        self._prompts = prompts
        self._show = show
        self._agents: list[Agent] = []
        self._log = logging.Logger("harness.course")
        self._log.addHandler(logging.NullHandler())  # tracebacks of what is broken on purpose are no part of the course

    def settings(self, **changes: object) -> Settings:
        """Settings for this server and this folder, with nothing of the person's own. Raises a ValueError of pydantic
        for a change that does not fit."""
        own: dict[str, object] = {
            "workspace": self.workspace,
            "state_dir": self._state,
            "user_dir": self._state / "person",
            "base_url": self.address,
            "api_key": self.KEY,
            "model": self.MODEL,
            "shared_gate": False,
        }
        return Settings.model_validate(own | changes)

    def agent(self, settings: Settings | None = None, **arguments: object) -> "Agent":
        """An agent of `harness` for this stage; `arguments` are those of `Agent`, such as `hooks` and `tools`."""
        from harness.agent import Agent

        given = {"asker": self.asker, "outputs": self._state / "outputs", "log": self._log, **arguments}
        agent = Agent(settings or self.settings(), **given)  # type: ignore[arg-type]  # handed on as they came
        self._agents.append(agent)
        return agent

    def prompts(self) -> AsyncIterator[str]:
        """First what the chapter types, then what the learner does; ends when nobody types any more."""
        return self._prompts()

    def show(self, event: Event) -> None:
        """Let the course see an event."""
        self._show(event)

    async def watch(self, events: AsyncGenerator[Event, None]) -> None:
        """Let the course see every event of a turn, until its end."""
        async with aclosing(events):
            async for event in events:
                self._show(event)

    def break_model(self, text: str) -> str:
        """Let something go wrong with the model, in the words of `/fault`; returns what was ordered.

        Raises HarnessError, one sentence, for what is not understood.
        """
        from harness.practice.fault_commands import break_model

        return self._broken("model", break_model(text, self._orders))

    def break_tool(self, text: str) -> str:
        """Let the next calls of a tool go wrong, in the words of `/toolfault`; returns what was ordered.

        The agent that was made last is meant, with all who work for it. Raises HarnessError, one sentence, for what is
        not understood, and where the loop is written by hand, so that there is no such agent.
        """
        from harness.practice.fault_commands import break_tool

        if not self._agents:
            raise HarnessError(
                "This chapter calls its tools by itself, so they cannot be broken from here; /fault breaks the model."
            )
        agent = self._agents[-1]
        return self._broken("tool", break_tool(text, agent.tool_orders, agent.toolbox.names))

    def _broken(self, target: Literal["model", "tool"], broken: "Broken") -> str:
        if broken.ordered:
            self.show(FaultOrdered(target, broken.ordered))
        return broken.said
