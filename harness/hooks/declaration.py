"""Hooks declared in a settings file, and the list of hooks shown to the user."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from harness.hooks.definition import TIME_LIMIT_S, TOOL_POINTS, Hook, matches, point_called

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
