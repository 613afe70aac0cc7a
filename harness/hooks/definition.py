"""Hooks: when one runs, what it receives and what it may answer; how one is declared."""

import inspect
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from harness.events import HookPoint, Json
from harness.events.tool_names import OURS, pattern_of, tool_called
from harness.hooks import claude_code

TIME_LIMIT_S = 10.0
TOOL_POINTS = frozenset({HookPoint.BEFORE_TOOL, HookPoint.AFTER_TOOL})


class Verdict(StrEnum):
    """What a hook says about the permission of a call. The weaker the further up."""

    ALLOW = "allow"
    """Nobody need be asked; that never beats a rule."""
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What a hook decided. Empty fields decide nothing, and most answers have one field."""

    block: str = ""
    """Why the action must not happen: for the model and the user."""
    input: Json | None = None
    """Replaces the call's input, or `{"prompt": …}`; None: unchanged."""
    context: str = ""
    """Text for the model."""
    stop: str = ""
    """Why the turn ends here."""
    permission: Verdict | None = None
    reason: str = ""
    """Why `permission` is what it is."""


@dataclass(frozen=True, slots=True)
class HookCall:
    """The input of a hook. The point decides which fields are set."""

    point: HookPoint
    workspace: str
    turn: int
    agent: str = ""
    """Id of the subagent; empty: the main agent."""
    source: str = ""
    """session_start: "new" or "resumed"."""
    tool: str = ""
    call_id: str = ""
    input: Json = field(default_factory=dict)
    """Of the tool call as it would run; prompt_submit: `{"prompt": …}`."""
    outcome: str = ""
    """after_tool: how the call ended, in the words of `ToolOutcome`."""
    result: str = ""
    """after_tool: the result that the model reads."""
    trigger: str = ""
    """Of a compaction: "auto", "reactive" or "manual"."""
    tokens: int = 0
    """Estimated size of the history, before or after the compaction."""
    task: Json = field(default_factory=dict)
    """task_created, task_completed: `subject`, `description`, `note`, `actor` and, once it has one, `id`."""
    answer: str = ""
    """stop: the answer that the user sees."""
    objections: int = 0
    """stop: how often hooks have blocked the end of this turn; 0 the first time."""
    background: tuple[Json, ...] = ()
    """stop: work that outlasts the turn, as `{"kind": …, "id": …, "text": …}`: each "command" with its command line,
    each "subagent" with its task, each "job" of the schedule with its prompt."""
    kind: str = ""
    """notification: "permission", "question", "wait", "loop" or "turn_ended"."""
    text: str = ""
    """notification: its text, in one line."""
    session: str = ""
    """Id of the session."""
    journal: str = ""
    """File of the session, which may not be written yet."""

    @property
    def prompt(self) -> str:
        """prompt_submit: the prompt of the user."""
        return str(self.input.get("prompt", ""))

    def document(self) -> Json:
        """The JSON that a command gets on stdin: the fields of the point, its name as `event`, and the fields of Claude
        Code."""
        common: Json = {"event": self.point.value, "workspace": self.workspace, "turn": self.turn}
        if self.agent:
            common["agent"] = self.agent
        fields = {name: getattr(self, name) for name in _FIELDS[self.point]}
        theirs = claude_code.document(
            self.point, fields, workspace=self.workspace, session=self.session, journal=self.journal
        )
        return theirs | common | fields


_CALL = ("tool", "call_id", "input")
_FIELDS: Mapping[HookPoint, tuple[str, ...]] = MappingProxyType(
    {
        HookPoint.SESSION_START: ("source",),
        HookPoint.SESSION_END: (),
        HookPoint.PROMPT_SUBMIT: ("input",),
        HookPoint.BEFORE_TOOL: _CALL,
        HookPoint.AFTER_TOOL: (*_CALL, "outcome", "result"),
        HookPoint.BEFORE_COMPACTION: ("trigger", "tokens"),
        HookPoint.AFTER_COMPACTION: ("trigger", "tokens"),
        HookPoint.TASK_CREATED: ("task",),
        HookPoint.TASK_COMPLETED: ("task",),
        HookPoint.STOP: ("answer", "objections", "background"),
        HookPoint.NOTIFICATION: ("kind", "text"),
    }
)

HookFunction = Callable[[HookCall], HookAnswer | Awaitable[HookAnswer | None] | None]


@dataclass(frozen=True, slots=True)
class Hook:
    """A function or command attached to one point. Raises ValueError, a clause, for a hook that could never run."""

    name: str
    """The name that the user sees."""
    point: HookPoint
    action: HookFunction | str
    """A function of this program, or a command line."""
    tools: str = ""
    """Which tools it is for, as in "bash" or "write_file|edit_*"; empty: every one."""
    time_s: float = TIME_LIMIT_S
    required: bool = False
    """Its failure blocks, instead of counting as no answer."""

    def __post_init__(self) -> None:
        if self.tools and self.point not in TOOL_POINTS:
            raise ValueError(f"{self.point} concerns no tool, so `tools` cannot be given there")
        if not self.time_s > 0:
            raise ValueError("the time limit has to be above 0 seconds")

    def concerns(self, call: HookCall) -> bool:
        """Whether it runs for this call."""
        return self.point is call.point and (self.point not in TOOL_POINTS or matches(self.tools, call.tool))


class HookError(Exception):
    """A hook could not answer; the text says why, in a clause."""


class UnclearAnswerError(HookError):
    """It decided something that is not understood, which may have been a no."""


def hook(
    point: str, *, tools: str = "", time_s: float = TIME_LIMIT_S, required: bool = False, name: str = ""
) -> Callable[[HookFunction], Hook]:
    """Make a hook of a function, plain or async, that takes a `HookCall` and returns a `HookAnswer` or None.

        @hook("before_tool", tools="write_file|edit_file")
        def no_keys(call: HookCall) -> HookAnswer | None:
            if Path(call.input["path"]).name == ".env":
                return HookAnswer(block="this file holds keys")

    Give it to `Agent(hooks=[no_keys])`. A plain function runs in a thread of its own. An exception is reported
    once and ends nothing, unless the hook is `required`.

    Raises ValueError for a point that does not exist, or `tools` where there is no tool.
    """
    where = point_called(point)
    for argument, value in (("tools", tools), ("name", name)):
        if not isinstance(value, str):
            raise TypeError(f"{argument}= takes a text, not {value!r:.100}.")
    if isinstance(time_s, bool) or not isinstance(time_s, (int, float)):
        raise TypeError(f"time_s= takes seconds, not {time_s!r:.100}.")

    def made(function: HookFunction) -> Hook:
        called = name or str(getattr(function, "__name__", type(function).__name__))
        try:
            inspect.signature(function).bind(None)
        except TypeError as error:
            raise TypeError(f"the hook {called} has to be a function of one argument, a HookCall.") from error
        except ValueError:  # a function without a signature
            pass
        return Hook(called, where, function, tools, time_s, required)

    return made


def own_hooks(hooks: object) -> tuple[Hook, ...]:
    """The hooks that a program passes in. Raises TypeError with one sentence for anything else."""
    if isinstance(hooks, Hook) or not isinstance(hooks, Iterable):
        raise TypeError(f"hooks takes a list of hooks: write hooks=[{getattr(hooks, 'name', '…')}].")
    found = tuple(hooks)
    for one in found:
        if not isinstance(one, Hook):
            name = getattr(one, "__name__", None)
            what = f"{name} is a plain function" if callable(one) and name else f"{one!r} is not a hook"
            raise TypeError(f'{what}; put @hook("before_tool"), or another point, above a function to make it a hook.')
    return found


_POINTS = MappingProxyType({theirs: point for point, theirs in claude_code.EVENTS.items()})


def point_called(name: str) -> HookPoint:
    """The point of this name, or of this name in Claude Code. Raises ValueError, a clause."""
    try:
        return HookPoint(_POINTS.get(name, name))
    except ValueError:
        raise ValueError(f"there is no hook point {name!r}; there are {', '.join(HookPoint)}") from None


def matches(pattern: str, tool: str) -> bool:
    """Whether a tool is one of those that the pattern names.

    Names are separated by `|`, and `*` or `.*` matches any text: "bash", "write_file|edit_file", "mcp__*". The names
    that other programs use mean the same tools: "Bash", "Edit|Write". "mcp__docs" means all tools of the MCP server
    docs, as in rules. An empty pattern means every tool.
    """
    return not pattern.strip() or any(_means(part, tool) for part in _parts(pattern))


def unknown_tools(pattern: str, also: Collection[str] = ()) -> tuple[str, ...]:
    """The parts of a pattern that match no tool; `also`: tools that the program has added."""
    known = (*OURS, *also)
    parts = _parts(pattern) if pattern.strip() else []
    return tuple(
        one for one in parts if one and not one.startswith("mcp__") and not any(_means(one, tool) for tool in known)
    )


def _parts(pattern: str) -> list[str]:
    return [part.strip().removeprefix("^").removesuffix("$").replace(".*", "*") for part in pattern.split("|")]


def _means(part: str, tool: str) -> bool:
    if tool_called(part) == tool:
        return True
    return re.fullmatch(".*".join(map(re.escape, pattern_of(part).split("*"))), tool, re.DOTALL) is not None


# ── hooks of a settings file, and the list of hooks ─────────────────────────────────────────────────


LONGEST_S = 600.0
_KEYS = ("event", "command", "tools", "timeout", "required", "name")


def declared(tables: object) -> tuple[Hook, ...]:
    """The hooks that these tables declare. Raises ValueError, a clause that names the table and what would fit."""
    if not isinstance(tables, list | tuple) or not all(isinstance(table, Mapping) for table in tables):
        raise ValueError("hooks are tables; write [[hooks]] before each, and below it event and command")
    return tuple(_hooks(tables))


def _hooks(tables: list[Mapping[str, Any]] | tuple[Mapping[str, Any], ...]) -> Iterator[Hook]:
    for number, table in enumerate(tables, 1):
        try:
            yield _hook(table)
        except ValueError as error:
            raise ValueError(f"hook {number}: {error}") from error


def _hook(table: Mapping[str, Any]) -> Hook:
    for key in table:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1, cutoff=0.5)
            hint = f"perhaps {near[0]} was meant" if near else f"there are {', '.join(_KEYS)}"
            raise ValueError(f"{key!r} is not known; {hint}")
    command = _text(table, "command")
    if not command or "\0" in command:
        raise ValueError("it has no command; give the command line to run")
    if not _text(table, "event"):
        raise ValueError("it has no event; say where it attaches, for example before_tool")
    return Hook(
        name=_text(table, "name") or _name_of(command),
        point=point_called(_text(table, "event")),
        action=command,
        tools=_text(table, "tools"),
        time_s=_seconds(table),
        required=_switch(table),
    )


def _name_of(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= 40 else line[:39] + "…"


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f"{key} is {value!r}; it has to be a text")
    return value.strip()


def _seconds(table: Mapping[str, Any]) -> float:
    value = table.get("timeout", TIME_LIMIT_S)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST_S:
        raise ValueError(f"timeout is {value!r}; give seconds, above 0 and at most {LONGEST_S:g}")
    return float(value)


def _switch(table: Mapping[str, Any]) -> bool:
    value = table.get("required", False)
    if not isinstance(value, bool):
        raise ValueError(f"required is {value!r}; give true or false")
    return value


def hook_lines(hooks: Sequence[Hook], tools: Iterable[str]) -> Iterator[str]:
    """One line per hook, in the order they run; `tools` are those that there are."""
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
