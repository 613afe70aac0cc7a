"""The environment of a demo: a folder, a practice model, and typed prompts."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from harness.base.errors import HarnessError
from harness.engine.permissions.asker import Asker
from harness.events import Event, FaultOrdered
from harness.journal import SessionState
from harness.settings import PRACTICE_MODEL, Settings

if TYPE_CHECKING:
    from harness.agent import Agent
    from harness.practice.faults.model_orders import FaultQueue
    from harness.practice.faults.orders import FaultCommandResult
    from harness.session import Opening, Session


@dataclass(frozen=True, slots=True)
class DemoModel:
    """The model that answers a demo."""

    address: str
    """Base URL of its server."""
    orders: "FaultQueue | None" = None
    """Ordered faults of the practice server; None: it is a real model."""


class DemoSession:
    """The environment of a demo, created by `Recording`."""

    KEY = "practice"
    """A key that the practice server accepts."""
    MODEL = PRACTICE_MODEL

    def __init__(
        self,
        *,
        workspace: Path,
        state: Path,
        model: DemoModel,
        asker: Asker,
        prompts: Callable[[], AsyncIterator[str]],
        show: Callable[[Event], None],
        overrides: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """
        Args:
            workspace: the folder of the run.
            state: the state folder of its agents.
            model: answers the requests.
            asker: answers questions.
            prompts: returns the prompts.
            show: called for every event.
            overrides: settings that take precedence over those of the demo.
        """
        self.workspace = workspace
        self.address = model.address
        self.asker = asker
        self._orders = model.orders
        self._state = state
        self._prompts = prompts
        self._show = show
        self._overrides = dict(overrides)
        self._agents: list[Agent] = []
        self._opened: Session | None = None
        self._log = logging.Logger("harness.course")
        self._log.addHandler(logging.NullHandler())  # no tracebacks of ordered faults

    def settings(self, **changes: object) -> Settings:
        """Settings for this server and folder, independent of the user's. Raises pydantic's ValueError."""
        own: dict[str, object] = {
            "workspace": self.workspace,
            "state_dir": self._state,
            "user_dir": self._state / "person",
            "base_url": self.address,
            "api_key": self.KEY,
            "model": self.MODEL,
            "shared_admission": False,
            "sandbox": "off",  # a chapter is the same on every machine
        }
        return Settings.model_validate(own | changes | self._overrides)

    def agent(self, settings: Settings | None = None, **arguments: object) -> "Agent":
        """An agent for this server and folder; `arguments` are passed to `Agent`, such as `hooks` and `tools`."""
        from harness.agent import Agent

        given = {"asker": self.asker, "outputs": self._state / "outputs", "log": self._log, **arguments}
        agent = Agent(settings or self.settings(), **given)  # type: ignore[arg-type]  # passed on unchanged
        self._agents.append(agent)
        return agent

    async def open(self, settings: Settings, opening: "Opening | None" = None, **arguments: Any) -> "Session":
        """A session with a journal; `arguments` are passed to `open_session`. Raises HarnessError."""
        from harness.session import open_session
        from harness.settings import LoadedSettings

        loaded = LoadedSettings(settings, dict.fromkeys(type(settings).model_fields, "the chapter"), ())
        self._opened = await open_session(loaded, self.asker, opening, log=self._log, **arguments)
        return self._opened

    @property
    def session(self) -> "Session":
        """The session or agent created last, as slash commands use it. Raises HarnessError if the demo created none."""
        from harness.session import Session

        if self._opened is not None:
            return self._opened
        if not self._agents:
            raise HarnessError("The program of this chapter is a loop of its own, which only has /fault.")
        return Session(self._agents[-1], self._state / "chapter.jsonl", None, SessionState())

    def outputs(self, agent: str) -> Path:
        """The folder for outputs of an agent that has a name of its own, for others to read."""
        return self._state / agent

    def prompts(self) -> AsyncIterator[str]:
        """The prompts of the chapter, then those of the learner."""
        return self._prompts()

    def show(self, event: Event) -> None:
        """Show an event in the course."""
        self._show(event)

    async def watch(self, events: AsyncGenerator[Event, None]) -> None:
        """Show all events of a turn."""
        async with aclosing(events):
            async for event in events:
                self._show(event)

    def break_model(self, text: str) -> str:
        """Order a fault of the model, in the syntax of `/fault`; returns a confirmation. Raises HarnessError."""
        from harness.practice.faults.model_orders import break_model

        if self._orders is None:
            raise HarnessError(
                "A real model cannot be broken from here; `harness practice proxy` puts faults before one."
            )
        return self._broken("model", break_model(text, self._orders))

    def break_tool(self, text: str) -> str:
        """Order faults of a tool, in the syntax of `/toolfault`; returns a confirmation.

        Applies to the agent created last, with its subagents. Raises HarnessError, also if the demo created none.
        """
        from harness.practice.faults.tool_orders import break_tool

        if self._opened is not None:
            return self._opened.faults.break_tool(text)
        if not self._agents:
            raise HarnessError("The tools of this chapter cannot be broken from here; /fault breaks the model.")
        agent = self._agents[-1]
        return self._broken("tool", break_tool(text, agent.parts.core.shared.tool_faults.orders, agent.toolbox.names))

    def _broken(self, target: Literal["model", "tool"], broken: "FaultCommandResult") -> str:
        if broken.ordered:
            self.show(FaultOrdered(target, broken.ordered))
        return broken.said
