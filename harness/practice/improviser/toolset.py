"""The tools of a request, by what they can do.

The practice model knows seven abilities. Which offered tool has which is read off its name and its
schema, so that it works with this program's tools and with those of any other client. An ability
that no tool has is made of the shell, where there is one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from harness.events import Json
from harness.practice.improviser import errands, shell_lines
from harness.practice.improviser.errands import Errand
from harness.practice.improviser.schemas import fits, properties_of, required_of, smallest
from harness.practice.improviser.turns import Call


class Ability(StrEnum):
    """What a request of a person may need."""

    RUN = "run a command"
    READ = "read a file"
    WRITE = "write a file"
    EDIT = "change a file"
    FIND = "find files by name"
    SEARCH = "search in files"
    LIST = "list a folder"


class NoTool(Exception):  # noqa: N818 - it is an answer to a wish, not a mistake
    """None of the offered tools has the ability."""

    def __init__(self, ability: Ability | Errand) -> None:
        super().__init__(ability.value)
        self.ability = ability


_NAMES: Mapping[Ability, str] = {
    Ability.RUN: r"bash|sh|shell|terminal|exec|execute|run|command|(run|execute)_?(bash|shell|command|terminal)(_cmd)?",
    Ability.READ: r"read|cat|view|(read|open|view|get|cat)_?(text_?)?file(_contents?)?|read_text",
    Ability.WRITE: r"write|(write|create|save)_?(to_?)?(text_?)?file|save",
    Ability.EDIT: r"edit|(edit|patch|modify)_?file|str_?replace|replace(_in_file)?|search_replace",
    Ability.FIND: r"glob|find|(find|search|glob)_?files|file_search",
    Ability.SEARCH: r"grep|rg|ripgrep|search|(search|grep)_?(in_?)?(code|text|files?|content)|code_search|search_text",
    Ability.LIST: r"ls|list|dir|list_?(files|dir|directory|folder)|read_?dir(ectory)?",
}

_FIELDS: Mapping[str, str] = {
    "command": r"command|cmd|script|commandline|command_line",
    "path": r"path|file_?path|file_?name|file|target(_file)?|absolute_path|relative_path",
    "folder": r"path|dir(ectory)?(_path)?|folder|root|base(_dir)?|relative_workspace_path",
    "content": r"content|contents|text|data|file_text|body",
    "old": r"old(_(text|string|str|content))?|search|find|from",
    "new": r"new(_(text|string|str|content))?|replace(ment)?|with|to",
    "pattern": r"pattern|query|regex|regexp|glob(_pattern)?|expression|text|search|word",
    "include": r"glob|include(_pattern)?|file_(pattern|glob)|files|type",
    "offset": r"offset|start(_line)?|from_line|first_line",
    "limit": r"limit|lines|max_lines|count|line_count",
    **errands.FIELDS,
}
"""How tools call the things that a plan speaks of."""

_TODO_LISTS = r"todo_?(write|list|update)|(write|update)_?(todos?|plan)"
"""Tools by which a model says what it means to do. They grant no wish, and this model follows its rules without."""

_NEEDS: Mapping[Ability, tuple[str, ...]] = {
    Ability.RUN: ("command",),
    Ability.READ: ("path",),
    Ability.WRITE: ("path", "content"),
    Ability.EDIT: ("path", "old", "new"),
    Ability.FIND: ("pattern",),
    Ability.SEARCH: ("pattern",),
    Ability.LIST: ("folder",),
}

_ROLES: Mapping[Ability, tuple[str, ...]] = {
    **_NEEDS,
    Ability.FIND: ("pattern", "folder"),
    Ability.SEARCH: ("pattern", "folder", "include"),
}
"""What a call may say."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a call is for, whatever the tool and its fields are called."""

    ability: Ability
    roles: Mapping[str, str]
    """The texts in it, by the part they play: "path", "content", "pattern", …"""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the request offers it."""

    name: str
    description: str
    schema: Json

    def call(self, values: Json) -> Call | None:
        """A call with these fields, required ones filled up; None when it cannot be made to fit."""
        given = dict(values)
        fields = properties_of(self.schema)
        for name in required_of(self.schema):
            if name not in given:
                given[name] = smallest(fields.get(name, {}), self.schema)
        return Call(self.name, given) if fits(given, self.schema, self.schema) else None

    def field_for(self, role: str) -> str | None:
        """The name of the field that holds `role`, None when there is none."""
        return next(
            (name for name in properties_of(self.schema) if re.fullmatch(_FIELDS[role], name, re.IGNORECASE)), None
        )


@dataclass(frozen=True, slots=True)
class ToolSet:
    """The tools of one request."""

    tools: tuple[Tool, ...]
    abilities: Mapping[Ability, Tool]
    errands: Mapping[Errand, Tool] = field(default_factory=dict)

    @property
    def own(self) -> tuple[Tool, ...]:
        """Tools that have none of the known abilities: somebody's own."""
        known = {tool.name for tool in (*self.abilities.values(), *self.errands.values())}
        others = (tool for tool in self.tools if tool.name not in known)
        return tuple(tool for tool in others if not re.fullmatch(_TODO_LISTS, tool.name, re.IGNORECASE))

    def can(self, ability: Ability) -> bool:
        """Whether the ability is there, directly or by way of the shell."""
        if ability in self.abilities or Ability.RUN in self.abilities:
            return True
        return (ability is Ability.LIST and Ability.FIND in self.abilities) or (
            ability is Ability.EDIT and {Ability.READ, Ability.WRITE} <= set(self.abilities)
        )

    def only(self, name: str) -> "ToolSet":
        """The same tools, of which just this one may be used."""
        return replace(self, abilities={can: tool for can, tool in self.abilities.items() if tool.name == name})

    def wish(self, call: Call) -> Wish | None:
        """What a call is for; None for a call of somebody's own tool."""
        for ability, tool in self.abilities.items():
            if tool.name == call.name:
                named = {role: call.input.get(tool.field_for(role) or "") for role in _ROLES[ability]}
                return Wish(ability, {role: value for role, value in named.items() if isinstance(value, str)})
        return None

    def run(self, command: str) -> Call:
        """A call that runs a shell command."""
        return self._direct(Ability.RUN, command=command) or _none(Ability.RUN)

    def start(self, command: str) -> Call:
        """A call that runs a shell command in the background."""
        tool = self.abilities.get(Ability.RUN)
        call = _filled(tool, command=command, background=True) if tool and tool.field_for("background") else None
        return call or _none(Errand.START)

    def errand(self, errand: Errand, **roles: str | bool | list[Json] | None) -> Call:
        """A call that does an errand."""
        tool = self.errands.get(errand)
        return (_filled(tool, **roles) if tool else None) or _none(errand)

    def is_errand(self, call: Call, errand: Errand) -> bool:
        """Whether the call does this errand."""
        tool = self.errands.get(errand)
        return tool is not None and tool.name == call.name

    def read(self, path: str) -> Call:
        """A call that reads a file whole."""
        return self._direct(Ability.READ, path=path) or self._shell(Ability.READ, shell_lines.reading(path))

    def write(self, path: str, content: str) -> Call:
        """A call that writes a file whole."""
        direct = self._direct(Ability.WRITE, path=path, content=content)
        return direct or self._shell(Ability.WRITE, shell_lines.writing(path, content))

    def edit(self, path: str, old: str, new: str) -> Call | None:
        """A call that replaces the one place where `old` stands; None when no tool does this."""
        return self._direct(Ability.EDIT, path=path, old=old, new=new)

    def find(self, pattern: str, folder: str | None = None) -> Call:
        """A call that lists the files whose path fits a glob pattern."""
        deep = pattern if "/" in pattern else f"**/{pattern}"
        direct = self._direct(Ability.FIND, pattern=deep, folder=folder)
        return direct or self._shell(Ability.FIND, shell_lines.finding(pattern, folder))

    def exists(self, path: str) -> Call:
        """A call that names `path` if it is there, and nothing else."""
        return self._direct(Ability.FIND, pattern=path.removeprefix("./")) or self._shell(
            Ability.FIND, shell_lines.naming(path)
        )

    def listing(self, folder: str | None = None) -> Call:
        """A call that lists a folder with what lies below it."""
        if Ability.FIND not in self.abilities and (direct := self._direct(Ability.LIST, folder=folder or ".")):
            return direct
        try:
            return self.find("**/*", folder)
        except NoTool as missing:
            raise NoTool(Ability.LIST) from missing

    def search(self, pattern: str, folder: str | None = None, include: str | None = None) -> Call:
        """A call that finds the lines that fit a regular expression."""
        deep = include if include is None or "/" in include else f"**/{include}"
        direct = self._direct(Ability.SEARCH, pattern=pattern, folder=folder, include=deep)
        return direct or self._shell(Ability.SEARCH, shell_lines.searching(pattern, folder, include))

    def _direct(self, ability: Ability, **roles: str | None) -> Call | None:
        tool = self.abilities.get(ability)
        return _filled(tool, **roles) if tool else None

    def _shell(self, ability: Ability, command: str) -> Call:
        return self._direct(Ability.RUN, command=command) or _none(ability)


def tool_set(tools: tuple[Json, ...]) -> ToolSet:
    """The tools of a request, sorted by ability. Tools without a usable name are passed over."""
    offered = []
    for raw in tools:
        name, schema = raw.get("name"), raw.get("input_schema")
        if isinstance(name, str) and name and isinstance(schema, dict):
            description = raw.get("description")
            offered.append(Tool(name, description if isinstance(description, str) else "", schema))
    abilities: dict[Ability, Tool] = {}
    for_errands: dict[Errand, Tool] = {}
    for tool in offered:
        for ability, names in _NAMES.items():
            has_fields = all(tool.field_for(role) for role in _NEEDS[ability])
            if ability not in abilities and has_fields and re.fullmatch(names, tool.name, re.IGNORECASE):
                abilities[ability] = tool
                break
        else:
            for errand, names in errands.NAMES.items():
                has_fields = all(tool.field_for(role) for role in errands.NEEDS[errand])
                if errand not in for_errands and has_fields and re.fullmatch(names, tool.name, re.IGNORECASE):
                    for_errands[errand] = tool
                    break
    return ToolSet(tuple(offered), abilities, for_errands)


def _filled(tool: Tool, **roles: str | bool | list[Json] | None) -> Call | None:
    """A call with these things in the fields that the tool has for them."""
    values: dict[str, Any] = {}
    for role, value in roles.items():
        name = tool.field_for(role)
        if value is not None and name is not None and name not in values:
            values[name] = value
    return tool.call(values)


def _none(ability: Ability | Errand) -> Call:
    raise NoTool(ability)
