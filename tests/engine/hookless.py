"""Tool dispatch without hooks and without a user."""

from harness.engine.core import AgentCore
from harness.engine.tools.calls import ToolCalls
from harness.engine.tools.dispatch import ToolDispatcher
from harness.policies.breakers.registry import BreakerRegistry
from harness.tools.toolbox import Toolbox


def tool_calls(core: AgentCore, toolbox: Toolbox) -> tuple[ToolCalls, BreakerRegistry]:
    """The dispatch of these tools, and their breakers."""
    registry = BreakerRegistry(toolbox.names)
    dispatcher = ToolDispatcher(core, registry, toolbox)
    core.conversation.subscribe(dispatcher.on_event)
    return ToolCalls(core, toolbox, dispatcher, None, lambda call, tool: None), registry
