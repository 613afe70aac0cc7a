"""The hooks of a session as lines for a person."""

from collections.abc import Iterable, Iterator, Sequence

from harness.hooks.definition import TOOL_POINTS, Hook
from harness.hooks.tool_patterns import matches


def hook_lines(hooks: Sequence[Hook], tools: Iterable[str]) -> Iterator[str]:
    """One line for each hook, in the order in which they are asked; `tools` are those that there are."""
    there = tuple(tools)
    points = max((len(hook.point) for hook in hooks), default=0)
    for hook in hooks:
        yield f"  {hook.point:<{points}}  {hook.name}: {', '.join(_facts(hook, there))}"


def _facts(hook: Hook, tools: tuple[str, ...]) -> Iterator[str]:
    if hook.point in TOOL_POINTS:
        none = "" if any(matches(hook.tools, tool) for tool in tools) else " (there is no such tool)"
        yield f"for {hook.tools or 'every tool'}{none}"
    yield f"runs {' '.join(hook.action.split())}" if isinstance(hook.action, str) else "a function of this program"
    yield f"at most {hook.time_s:g} s"
    if hook.required:
        yield "required: its failure counts as a no"
