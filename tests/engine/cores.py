"""What the parts of an agent work with, for tests of one part."""

from dataclasses import replace
from pathlib import Path

from harness.base.clock import Clock
from harness.engine.build.agent import core_of
from harness.engine.build.options import AgentOptions
from harness.engine.conversation import Conversation, ignore
from harness.engine.core import AgentCore
from harness.engine.permissions.asker import Asker
from harness.processes import Processes
from harness.settings import Settings
from tests.agent.stage import settings_of


def core_in(
    folder: Path,
    conversation: Conversation | None = None,
    *,
    clock: Clock | None = None,
    asker: Asker | None = None,
    processes: Processes | None = None,
    agents: Path | None = None,
    **settings: object,
) -> AgentCore:
    """The core of an agent without a server, in `folder`/workspace."""
    loaded = settings_of(folder, "http://127.0.0.1:9", **settings)
    return core_with(
        loaded.settings,
        conversation,
        clock=clock,
        asker=asker,
        processes=processes,
        outputs=folder / "outputs",
        agents=agents,
    )


def core_with(
    settings: Settings,
    conversation: Conversation | None = None,
    *,
    processes: Processes | None = None,
    **options: object,
) -> AgentCore:
    """The same for settings that are known."""
    chosen, _ = AgentOptions(conversation=conversation or Conversation(ignore)).changed(options)
    core = core_of(settings, chosen)
    return core if processes is None else replace(core, shared=replace(core.shared, processes=processes))
