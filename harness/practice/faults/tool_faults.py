"""Tool faults to practise with: results as of broken tools.

A faulted call never runs the real tool. The exceptions say so: a slow call runs after a wait, and a stale one runs
where there is no earlier result to give instead.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any

from harness.base.errors import HarnessError
from harness.events import FailureCategory, ToolOutcome
from harness.practice.toml_table import ScriptError, ShippedFiles, Table, table_of
from harness.tools.tool import Tool, ToolContext, ToolResult, shorten_line

EVERY = "*"
"""In the place of a tool's name: all tools."""


class ToolFaultKind(StrEnum):
    """The kind of a tool fault."""

    TIMEOUT = "timeout"
    """Waits, and then has run out of time."""
    CANNOT_START = "cannot_start"
    KILLED = "killed"
    TRANSPORT = "transport"
    SYSTEM = "system"
    CRASH = "crash"
    """The code of the tool raises."""
    ERROR = "error"
    """An ordinary no, which says nothing against the tool."""
    SLOW = "slow"
    """Waits, and then does its work."""
    STALE = "stale"
    """Gives the result that the same call had before."""
    GARBAGE = "garbage"
    """Returns garbage."""


BROKEN = {
    ToolFaultKind.TIMEOUT: (FailureCategory.TIMEOUT, "timed out"),
    ToolFaultKind.CANNOT_START: (FailureCategory.CANNOT_START, "exit 127 (command not found)"),
    ToolFaultKind.KILLED: (FailureCategory.KILLED, "killed by SIGKILL"),
    ToolFaultKind.TRANSPORT: (FailureCategory.TRANSPORT, "connection refused"),
    ToolFaultKind.SYSTEM: (FailureCategory.SYSTEM, "Input/output error"),
}
"""Failure category and default text of the kinds that break a tool."""
GARBAGE = "\ufffd\ufffd{]\ufffd 0x7f\ufffd;;\ufffd\ufffd}{ \ufffd"
"""An unreadable result."""
WAITS = frozenset({ToolFaultKind.TIMEOUT, ToolFaultKind.SLOW})
WORKS = frozenset({ToolFaultKind.SLOW, ToolFaultKind.STALE})
"""Kinds that do the work of the tool, the second where there is nothing earlier to give."""
ANSWERS = frozenset({ToolOutcome.OK, ToolOutcome.ERROR})
"""What a stale call can repeat; a tool that broke has answered nothing."""


@dataclass(frozen=True, slots=True)
class ToolFault:
    """One entry: a tool, its affected calls, and the fault."""

    tool: str
    """Its name, or "*"."""
    kind: ToolFaultKind
    calls: frozenset[int] = frozenset()
    """Numbers of the calls that are hit, counted from 1 for each tool; empty: by `first`, `last` and `probability`."""
    first: int = 1
    last: int | None = None
    """None: no end."""
    probability: float = 1.0
    """Of a hit, for each call between `first` and `last`."""
    matches: str = ""
    """Only calls with this text in a value of their arguments."""
    message: str = ""
    """Replaces the default text."""
    seconds: float = 0.2
    """How long TIMEOUT and SLOW wait."""

    def fits(self, number: int, texts: Sequence[str]) -> bool:
        """The call with this number and these values is one of those that can be hit, chance left aside."""
        if self.matches and not any(self.matches in text for text in texts):
            return False
        return number in self.calls if self.calls else self.first <= number <= (self.last or number)


@dataclass(frozen=True, slots=True)
class ToolFaults:
    """The faults of one file, the first that fits goes."""

    faults: tuple[ToolFault, ...] = ()
    seed: int = 0
    name: str = "faults of tools"
    """The source, for error messages."""

    @staticmethod
    def load(source: Path | str) -> "ToolFaults":
        """Read a TOML file (TOOL_FAULTS.md), or one that is shipped, by its name. Raises ScriptError, one sentence."""
        return parse(*KIND.read(source))

    def applied(self, tools: Iterable[Tool]) -> tuple[Tool, ...]:
        """The same tools, with the faults before them. Raises ToolFaultError for a name that no tool has."""
        tools = tuple(tools)
        names = [tool.name for tool in tools]
        for number, fault in enumerate(self.faults, 1):
            if fault.tool not in (EVERY, *names):
                known = ", ".join(names)
                raise ToolFaultError(
                    f"{self.name}, fault {number}: there is no tool {fault.tool!r}; there are {known}."
                )
        return tuple(self._faulty(tool) for tool in tools)

    def _faulty(self, tool: Tool) -> Tool:
        faults = [fault for fault in self.faults if fault.tool in (EVERY, tool.name)]
        if not faults:
            return tool
        # Chance is drawn for each tool by itself, so that what other tools do changes nothing.
        run = _Faulty(tool, faults, Random(f"{self.seed}:{tool.name}")).run
        reads = all(fault.kind is not ToolFaultKind.STALE for fault in faults)
        return replace(tool, run=run, caches=tool.caches if reads else None)


class ToolFaultError(HarnessError):
    """Faults that cannot be used; the text says which and why."""

    exit_code = 2


class _Faulty:
    """One tool with its faults: counts its calls and remembers their results."""

    def __init__(self, tool: Tool, faults: list[ToolFault], chance: Random) -> None:
        self._tool = tool
        self._faults = faults
        self._chance = chance
        self._calls = 0
        self._results: dict[str, ToolResult] = {}

    async def run(self, context: ToolContext, arguments: Any) -> ToolResult:
        """In the place of the tool's own function."""
        self._calls += 1
        said = json.dumps(arguments.model_dump(mode="json"), ensure_ascii=False, sort_keys=True)
        fault = self._fault(tuple(_texts(arguments.model_dump(mode="json", exclude_unset=True))))
        if fault is None:
            return await self._real(context, arguments, said)
        if fault.kind is ToolFaultKind.STALE and (earlier := self._results.get(said)):
            return earlier
        return await spoiled(fault, lambda: self._real(context, arguments, said))

    def _fault(self, texts: Sequence[str]) -> ToolFault | None:
        for fault in self._faults:
            if fault.fits(self._calls, texts) and (fault.probability >= 1 or self._chance.random() < fault.probability):
                return fault
        return None

    async def _real(self, context: ToolContext, arguments: Any, said: str) -> ToolResult:
        result = await self._tool.run(context, arguments)
        if result.outcome in ANSWERS:
            self._results[said] = result
        return result


async def spoiled(fault: ToolFault, real: Callable[[], Awaitable[ToolResult]]) -> ToolResult:
    """What a call gives that a fault hits; `real` does its work, for the kinds that do it all the same."""
    if fault.kind in WAITS:
        await asyncio.sleep(fault.seconds)
    return await real() if fault.kind in WORKS else _failed(fault)


def _failed(fault: ToolFault) -> ToolResult:
    match fault.kind:
        case ToolFaultKind.CRASH:
            raise RuntimeError(fault.message or "a fault to practise with")
        case ToolFaultKind.ERROR:
            text = fault.message or "it could not be done"
            return ToolResult(text, ToolOutcome.ERROR, shorten_line(text))
        case ToolFaultKind.GARBAGE:
            text = fault.message or GARBAGE
            return ToolResult(text, ToolOutcome.OK, shorten_line(text))
        case kind:
            category, usual = BROKEN[kind]
            after = f" after {fault.seconds:g} s" if kind is ToolFaultKind.TIMEOUT and not fault.message else ""
            text = (fault.message or usual) + after
            return ToolResult(text, ToolOutcome.BROKEN, shorten_line(text), category=category)


def _texts(value: object) -> Iterator[str]:
    """The values within some arguments, each as the text that a user would write."""
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _texts(inner)
        case list():
            for inner in value:
                yield from _texts(inner)
        case _:
            yield json.dumps(value)


# ── from TOML ───────────────────────────────────────────────────────────────────────────────────

KIND = ShippedFiles("faults/broken_tools", "file of faults")


def parse(text: str, name: str) -> ToolFaults:
    """Read faults from TOML text. Raises ScriptError, one sentence with the entry."""
    top = table_of(text, name)
    seed = top.whole("seed")
    entries = top.any("fault")
    top.done()
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise ScriptError(f"{name}: there are no faults; write [[fault]], with two brackets, for each.")
    faults = (_fault(Table(entry, f"{name}, fault {number}")) for number, entry in enumerate(entries, 1))
    return ToolFaults(tuple(faults), seed or 0, name)


def _fault(table: Table) -> ToolFault:
    tool = table.text("tool")
    kind = table.choice("kind", list(ToolFaultKind))
    calls = table.any("calls")
    first, last = table.whole("first", 1), table.whole("last", 1)
    probability = table.number("probability", most=1)
    seconds = table.number("seconds")
    matches, message = table.text("matches"), table.text("message")
    table.done()
    if not tool:
        raise table.error('tool is missing; give the name of a tool, or "*" for all')
    if kind is None:
        raise table.error(f"kind is missing; give one of {', '.join(ToolFaultKind)}")
    if calls is not None and table.given("first", "last", "probability"):
        raise table.error("calls already says which calls are hit; leave out first, last and probability")
    if calls is not None and (not isinstance(calls, list) or not calls or not all(map(_counts, calls))):
        raise table.error(f"calls must be a list of numbers of at least 1 such as [1, 2, 5], not {calls!r}")
    if last is not None and last < (first or 1):
        raise table.error(f"last is {last}, before first ({first})")
    if seconds is not None and ToolFaultKind(kind) not in WAITS:
        raise table.error(f"seconds has no meaning for {kind}; only timeout and slow wait")
    return ToolFault(
        tool,
        ToolFaultKind(kind),
        frozenset(calls or ()),
        first or 1,
        last,
        1.0 if probability is None else probability,
        matches or "",
        message or "",
        0.2 if seconds is None else seconds,
    )


def _counts(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
