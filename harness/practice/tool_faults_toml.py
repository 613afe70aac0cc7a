"""Faults of tools in TOML (TOOL_FAULTS.md) to values."""

from pathlib import Path

from harness.practice.toml_file import Kind, table_of
from harness.practice.toml_table import ScriptError, Table
from harness.practice.tool_faults import WAITS, ToolFault, ToolFaultKind, ToolFaults

KIND = Kind("broken_tools", "file of faults")


def shipped() -> tuple[str, ...]:
    """Names of the files that come with the program."""
    return KIND.shipped()


def load(source: Path | str) -> ToolFaults:
    """Read a file, or one that is shipped, by its name. Raises ScriptError, one sentence."""
    return parse(*KIND.read(source))


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
