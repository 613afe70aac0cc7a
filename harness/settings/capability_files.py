"""The capability map from files: the built-in one, the user's and the project's."""

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from harness.base.errors import SettingsError
from harness.base.external_text import visible
from harness.base.files import NotRegularError, read_regular
from harness.base.toml import key_lines, toml_of
from harness.events import Severity
from harness.policies.breakers.capabilities import (
    UNSURE,
    Capability,
    CapabilityMap,
    CapabilityProblem,
    DeclaredAlternative,
)

NAME = "capabilities.toml"
MOST_BYTES = 100_000
KEYS = ("provides", "fallback", "depends_on", "alternatives")
ALTERNATIVE_KEYS = ("tool", "method", "degradation", "severity")


def capability_files(workspace: Path) -> tuple[Path, Path]:
    """The paths of the user's and the project's map."""
    return user_config_path("harness") / NAME, workspace / ".harness" / NAME


def load_capabilities(
    user_file: Path | None, project_file: Path | None, known: Collection[str], *, also: Mapping[str, str] | None = None
) -> CapabilityMap:
    """The built-in map, with its tables replaced by those of the user's and then the project's file.

    Args:
        known: the tools of the agent. Entries of shipped tools that it has not are checked and then left out.
        also: tools without an entry, with what they say of themselves; an entry is derived from that.

    Raises SettingsError, with file and line, for a file that cannot be used.
    """
    own = [
        _Source(str(path), text)
        for path in (user_file, project_file)
        if path is not None and (text := _text(path)) is not None
    ]
    entries = [_shipped(), *((source, _entries(source)) for source in own)]
    sources = [source for source, _ in entries]
    origins = {tool: source for source, capabilities in entries for tool in capabilities}
    found = CapabilityMap(one for _, capabilities in entries for one in capabilities.values())
    for name, description in (also or {}).items():
        if found.get(name) is None:
            found = found.with_tool(name, description)
    shipped = entries[0][1]
    problems = found.problems([*known, *(tool for tool in shipped if tool not in known)])
    # Of a circle that files make together, the reference in the file that was read last is at fault.
    for problem in sorted(problems, key=lambda problem: -sources.index(origins.get(problem.tool, sources[0]))):
        raise _error(problem, origins)
    return within(found, known)


def within(found: CapabilityMap, known: Collection[str]) -> CapabilityMap:
    """The entries of these tools, without references to others."""
    return CapabilityMap(_within(one, known) for one in found.capabilities if one.tool in known)


def _within(capability: Capability, known: Collection[str]) -> Capability:
    """The entry without references to tools that this agent has not."""
    alternatives = tuple(one for one in capability.alternatives if one.tool in known)
    depends_on = tuple(name for name in capability.depends_on if name in known)
    return replace(capability, alternatives=alternatives, depends_on=depends_on)


class _Source:
    """A file and the lines of its keys."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    @cached_property
    def _lines(self) -> Mapping[tuple[str, ...], int]:
        return key_lines(self.text)  # only a complaint needs them

    def line(self, *path: str) -> int:
        """Line of a key, or of the nearest table around it."""
        for length in range(len(path), 0, -1):
            if (number := self._lines.get(path[:length])) is not None:
                return number
        return 1

    def error(self, text: str, *path: str) -> SettingsError:
        """A complaint about a key."""
        text = " ".join(visible(text).split())  # a key can hold anything
        return SettingsError(f"{self.name}, line {self.line(*path)}: {text}.")


def _text(path: Path) -> str | None:
    """The text of a file; None where there is none."""
    try:
        return read_regular(path, MOST_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except NotRegularError as error:
        raise SettingsError(f"{path} is {error.strerror}; replace it with a capability map or remove it.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read ({error}); it has to be a TOML file in UTF-8.") from error


@cache
def _shipped() -> tuple[_Source, Mapping[str, Capability]]:
    """The shipped file, which is the same for every agent of a process."""
    source = _Source(NAME, resources.files("harness.policies.breakers").joinpath(NAME).read_text("utf-8"))
    return source, _entries(source)


def _entries(source: _Source) -> Mapping[str, Capability]:
    try:
        data = toml_of(source.text + "\n")  # so that an error at the end has a line
    except tomllib.TOMLDecodeError as error:
        raise _broken(source.name, error) from error
    except RecursionError as error:
        raise SettingsError(f"{source.name} is nested too deeply; write it in fewer levels.") from error
    found = (_capability(source, tool, table) for tool, table in data.items())
    return {one.tool: one for one in found}


def _broken(name: str, error: tomllib.TOMLDecodeError) -> SettingsError:
    text = str(error)
    line = re.search(r" \(at line (\d+), column \d+\)$", text)
    where, what = (f"{name}, line {line[1]}", text[: line.start()]) if line else (name, text)
    return SettingsError(f"{where}: this is not valid TOML: {what[:1].lower()}{what[1:]}.")


def _capability(source: _Source, tool: str, table: object) -> Capability:
    if not isinstance(table, dict):
        raise source.error(f"{tool} has to be a table; write [{tool}] on a line of its own", tool)
    _check_keys(source, table, KEYS, tool)
    alternatives = table.get("alternatives", [])
    if not isinstance(alternatives, list) or not all(isinstance(one, dict) for one in alternatives):
        raise source.error(f"alternatives are tables; write [[{tool}.alternatives]]", tool, "alternatives")
    depends_on = table.get("depends_on", [])
    if not isinstance(depends_on, list) or not all(isinstance(name, str) for name in depends_on):
        raise source.error('depends_on has to be a list of tools, such as ["bash"]', tool, "depends_on")
    return Capability(
        tool,
        _words(source, table, "provides", tool),
        _words(source, table, "fallback", tool),
        tuple(_alternative(source, tool, number, one) for number, one in enumerate(alternatives)),
        tuple(depends_on),
    )


def _alternative(source: _Source, tool: str, number: int, table: dict[str, Any]) -> DeclaredAlternative:
    path = (tool, "alternatives", str(number))
    _check_keys(source, table, ALTERNATIVE_KEYS, *path)
    severity = table.get("severity", Severity.HIGH.value)
    if severity not in list(Severity):
        raise source.error(f'severity is {severity!r}; write "low" or "high"', *path, "severity")
    degradation = _words(source, table, "degradation", *path) if "degradation" in table else UNSURE
    method = _words(source, table, "method", *path)
    other = _words(source, table, "tool", *path)
    return DeclaredAlternative(other, method, degradation, Severity(severity))


def _check_keys(source: _Source, table: Mapping[str, object], keys: tuple[str, ...], *path: str) -> None:
    for key in table:
        if key not in keys:
            near = get_close_matches(key, keys, n=1, cutoff=0.5)
            hint = f"perhaps {near[0]} was meant" if near else f"there are {', '.join(keys)}"
            raise source.error(f"{key!r} is not known; {hint}", *path, key)


def _words(source: _Source, table: Mapping[str, object], key: str, *path: str) -> str:
    value = table.get(key)
    if value is None:
        raise source.error(f"{path[0]} has no {key}; say it in one line", *path)
    if not isinstance(value, str) or not value.strip():
        raise source.error(f"{key} is {value!r}; it has to be a text", *path, key)
    return " ".join(value.split())


def _error(problem: CapabilityProblem, origins: Mapping[str, _Source]) -> SettingsError:
    path = [problem.tool, *filter(None, problem.key.split("."))]
    source = origins.get(problem.tool)
    if source is None:
        return SettingsError(f"The tool {problem.tool} {problem.text}.")
    subject = problem.tool if not problem.key else f"{problem.tool}, {path[-1] if not path[-1].isdigit() else path[-2]}"
    return source.error(f"{subject} {problem.text}", *path)
