"""An agent for the terminal that you can chat with, learn from and watch recover.

`from harness import Agent, open_session, tool, hook, Policies` is the library (docs/library.md). Its names are imported
when they are first used, so that `harness --version` and `import harness` load neither pydantic nor the SDK.
"""

from typing import TYPE_CHECKING

from harness.base.version import __version__

if TYPE_CHECKING:
    from harness.agent import Agent
    from harness.engine.build.options import Policies
    from harness.engine.loops.watch import Advice, CallRefused, Watch
    from harness.hooks import HookAnswer, HookCall, hook
    from harness.session import Opening, Session, open_session
    from harness.tools.tool import tool

__all__ = [
    "Advice",
    "Agent",
    "CallRefused",
    "HookAnswer",
    "HookCall",
    "Opening",
    "Policies",
    "Session",
    "Watch",
    "__version__",
    "hook",
    "open_session",
    "tool",
]

if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __dir__() -> list[str]:
        return list(__all__)

    def __getattr__(name: str) -> object:
        match name:
            case "Agent":
                from harness.agent import Agent

                return Agent
            case "Advice" | "CallRefused" | "Watch":
                from harness.engine.loops import watch

                return getattr(watch, name)
            case "hook" | "HookAnswer" | "HookCall":
                from harness import hooks

                return getattr(hooks, name)
            case "Policies":
                from harness.engine.build.options import Policies

                return Policies
            case "Opening" | "Session" | "open_session":
                from harness import session

                return getattr(session, name)
            case "tool":
                from harness.tools.tool import tool

                return tool
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
