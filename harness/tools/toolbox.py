"""The tools of an agent, by name."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from harness.events import Json, ToolCall
from harness.processes import ProcessLimits
from harness.tools.background_commands import BackgroundRunner, background_tools
from harness.tools.bash import bash_tool
from harness.tools.edit import edit_file_tool, write_file_tool
from harness.tools.glob import glob_tool
from harness.tools.grep import grep_tool
from harness.tools.read_file import read_file_tool
from harness.tools.todo_write import todo_write_tool
from harness.tools.tool import RESULT_CHARACTERS, Tool


class ForeignTools(Protocol):
    """Tools of MCP servers, which come and go while a conversation lasts."""

    @property
    def listed(self) -> tuple[Json, ...]:
        """Those that requests list, as they describe them."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """Of all that may be called."""
        ...

    def get(self, name: str) -> Tool | None:
        """One that may be called."""
        ...

    async def meant(self, call: ToolCall) -> ToolCall:
        """The call that another one stands for; else the same."""
        ...

    def absence(self, name: str) -> str:
        """Why there is no tool of this name, the end of a sentence; empty: its server is there, or unknown."""
        ...


class Toolbox:
    """Finds tools by name and describes them to the model, always in the same order, which keeps the cache."""

    def __init__(self, tools: Iterable[Tool], foreign: ForeignTools | None = None) -> None:
        """Raises ValueError when two of `tools` have the same name; they come before those of servers."""
        self._tools: dict[str, Tool] = {}
        self._foreign = foreign
        for tool in tools:
            if tool.name in self._tools:
                raise ValueError(f"There are two tools called {tool.name}.")
            self._tools[tool.name] = tool

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return (*self._tools, *(self._foreign.names if self._foreign is not None else ()))

    @property
    def breakers(self) -> tuple[str, ...]:
        """The keys of their breakers, in order; tools of one server share one."""
        tools = filter(None, map(self.get, self.names))
        return tuple(dict.fromkeys(tool.breaker or tool.name for tool in tools))

    def specs(self) -> tuple[Json, ...]:
        """What a request says about the tools."""
        listed = self._foreign.listed if self._foreign is not None else ()
        return (*(tool.spec() for tool in self._tools.values()), *listed)

    def get(self, name: str) -> Tool | None:
        """The tool of exactly this name."""
        return self._tools.get(name) or (self._foreign.get(name) if self._foreign is not None else None)

    async def meant(self, call: ToolCall) -> ToolCall:
        """The call that a model means: by a name from the history of an older session, or by a tool that calls
        another one; else the same."""
        if call.name == "task" and "task" not in self._tools and "agent" in self._tools:
            return replace(call, name="agent")
        return call if self._foreign is None else await self._foreign.meant(call)

    def absence(self, name: str) -> str:
        """Why a tool of an MCP server is not there, the end of a sentence; empty: its server is there, or unknown."""
        return self._foreign.absence(name) if self._foreign is not None else ""

    def nearest(self, name: str) -> str | None:
        """The name that was probably meant by a wrong one: "ReadFile" means read_file."""
        plain = {_plain(known): known for known in self.names}
        for known, tool in plain.items():
            if _plain(name).startswith(known):
                return tool
        near = get_close_matches(_plain(name), plain, n=1, cutoff=0.5)
        return plain[near[0]] if near else None


def standard_tools(
    *,
    bash_timeout_s: float = 120.0,
    result_characters: int = RESULT_CHARACTERS,
    background: BackgroundRunner | None = None,
    workspace: Path | None = None,
) -> tuple[Tool, ...]:
    """The seven tools every agent has, and four more where commands can go to the background.

    With a `workspace` those that start processes in it check before a call whether they can.
    """
    return (
        bash_tool(ProcessLimits(time_s=bash_timeout_s), result_characters, background, workspace),
        read_file_tool(result_characters),
        write_file_tool(),
        edit_file_tool(),
        glob_tool(),
        grep_tool(result_characters=result_characters, workspace=workspace),
        todo_write_tool(),
        *(() if background is None else background_tools(background, result_characters)),
    )


def own_tools(tools: object) -> tuple[Tool, ...]:
    """The tools that a program hands in. Raises TypeError with one sentence for anything that is not a tool."""
    if isinstance(tools, Tool) or not isinstance(tools, Iterable):
        raise TypeError(f"tools takes a list of tools: write tools=[{getattr(tools, 'name', '…')}].")
    found = tuple(tools)
    for one in found:
        if not isinstance(one, Tool):
            name = getattr(one, "__name__", None)
            what = f"{name} is a plain function" if callable(one) and name else f"{one!r} is not a tool"
            raise TypeError(f"{what}; put @tool above a function with types and a docstring to make it a tool.")
    return found


def kept_of(standard: Iterable[Tool], names: Collection[str] | None, *, strict: bool = True) -> tuple[Tool, ...]:
    """Those of the standard tools that are named; None: all. Raises ValueError for an unknown name where `strict`."""
    tools = tuple(standard)
    if names is None:
        return tools
    if isinstance(names, str):
        raise TypeError(f'standard takes a list of names: write standard=["{names}"].')
    known = Toolbox(tools)
    for name in names if strict else ():
        if known.get(name) is None:
            near = known.nearest(name)
            hint = f"perhaps {near} was meant" if near else f"there are {', '.join(known.names)}"
            raise ValueError(f"There is no standard tool called {name!r}; {hint}.")
    return tuple(tool for tool in tools if tool.name in names)


def joined(standard: Iterable[Tool], own: Iterable[Tool]) -> tuple[Tool, ...]:
    """The standard tools and behind them those of a program. Raises ValueError when two share a name."""
    tools, names = list(standard), set[str]()
    standard_names = {tool.name for tool in tools}
    for tool in own:
        if tool.name in standard_names:
            raise ValueError(
                f"There is a standard tool called {tool.name} already. tools=… adds to the standard tools, so hand in "
                f"only your own; standard=… names the standard tools to keep when one of yours replaces another."
            )
        if tool.name in names:
            raise ValueError(f"There are two tools called {tool.name}; give one of them another name.")
        names.add(tool.name)
        tools.append(tool)
    return tuple(tools)


def _plain(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())
