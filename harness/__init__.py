"""An agent for the terminal that you can chat with, learn from and watch recover.

`from harness import Agent, tool, hook` is the library. Its names are imported when they are first used, so
that `harness --version` and `import harness` load neither pydantic nor the SDK.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.agent import Agent
    from harness.hooks import HookAnswer, HookCall, hook
    from harness.tools.tool import tool

__all__ = ["Agent", "HookAnswer", "HookCall", "__version__", "hook", "tool"]
__version__ = "0.1.0"


if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> object:
        match name:
            case "Agent":
                from harness.agent import Agent

                return Agent
            case "hook" | "HookAnswer" | "HookCall":
                from harness import hooks

                return getattr(hooks, name)
            case "tool":
                from harness.tools.tool import tool

                return tool
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
