"""What the demo of a chapter gets: a folder, a model that needs no key, and somebody who types."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

from harness.agent import Agent
from harness.events import Event
from harness.executor.asker import Asker
from harness.settings import PRACTICE_MODEL, Settings


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
        asker: Asker,
        prompts: Callable[[], AsyncIterator[str]],
        show: Callable[[Event], None],
    ) -> None:
        """
        Args:
            workspace: a folder that only this run uses.
            state: a folder for everything that an agent keeps beside it.
            address: base URL of a practice server.
            asker: answers questions.
            prompts: what is typed, one after the other.
            show: is told of every event.
        """
        self.workspace = workspace
        self.address = address
        self.asker = asker
        self._state = state
        self._prompts = prompts
        self._show = show
        self._agents: list[Agent] = []

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

    def agent(self, settings: Settings | None = None, **arguments: object) -> Agent:
        """An agent of `harness` for this stage; `arguments` are those of `Agent`, such as `hooks` and `tools`."""
        given = {"asker": self.asker, "outputs": self._state / "outputs", **arguments}
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
