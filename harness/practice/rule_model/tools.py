"""The tools that a request offers, by what they can do, whatever the client calls them and their fields."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from harness.events import Json
from harness.practice.rule_model.conversation import ModelCall
from harness.practice.schema_limits import kind_of
from harness.practice.schema_value import value_of


class Ability(StrEnum):
    """Something a tool can do."""

    RUN = "run a command"
    READ = "read a file"
    WRITE = "write a file"
    EDIT = "change a file"
    FIND = "find files by name"
    SEARCH = "search in files"
    DELEGATE = "start a subagent"
    LIST_BACKGROUND = "list background commands"
    SHOW_BACKGROUND = "show the output of a background command"
    STOP_BACKGROUND = "stop a background command"
    SKILL = "read a skill"
    REMEMBER = "remember a fact"
    RECALL = "look up a memory"
    FORGET = "forget a memory"
    SEARCH_WEB = "search the web"
    FETCH_PAGE = "read a web page"
    ASK = "ask you a question"


_TOOLS: Mapping[Ability, tuple[str, tuple[str, ...]]] = {
    Ability.RUN: (r"bash|sh|shell|terminal|exec(ute)?|run|command|(run|execute)_?(bash|shell|command)", ("command",)),
    Ability.READ: (r"read|cat|view|(read|open|view|get)_?(text_?)?file(_contents?)?", ("path",)),
    Ability.WRITE: (r"write|save|(write|create|save)_?(to_?)?(text_?)?file", ("path", "content")),
    Ability.EDIT: (r"edit|(edit|patch|modify)_?file|str_?replace|search_replace", ("path", "old", "new")),
    Ability.FIND: (r"glob|find|(find|search|glob|list)_?files|file_search", ("pattern",)),
    Ability.SEARCH: (r"grep|rg|ripgrep|search|(search|grep)_?(in_?)?(code|text|files?|content)", ("pattern",)),
    Ability.DELEGATE: (r"task|agent|delegate|(spawn|start|run)_?(sub_?)?agent|sub_?agent", ("prompt",)),
    Ability.LIST_BACKGROUND: (r"background_?list|list_?background", ()),
    Ability.SHOW_BACKGROUND: (r"read_?background|background_?(read|output)|(bash|shell)_?output", ("id",)),
    Ability.STOP_BACKGROUND: (r"kill_?(background|bash|shell)|background_?(kill|stop)", ("id",)),
    Ability.SKILL: (r"((load|use|read)_?)?skill", ("skill",)),
    Ability.REMEMBER: (r"remember|(save|write|add)_?memory", ("name", "fact")),
    Ability.RECALL: (r"recall|(read|search|find)_?memor(y|ies)", ("query",)),
    Ability.FORGET: (r"forget|(delete|remove)_?memory", ("name",)),
    Ability.SEARCH_WEB: (r"web_?search|search_?(the_?)?web", ("query",)),
    Ability.FETCH_PAGE: (r"web_?fetch|(fetch|read)_?(url|(web_?)?page)|fetch", ("url",)),
    Ability.ASK: (r"ask_?(the_?)?(user|human)(_?question)?", ("question",)),
}
"""Names of the tools that have the ability, and the roles that their fields must have."""
_FIELDS: Mapping[str, str] = {
    "command": r"command|cmd|script",
    "path": r"path|file_?path|file_?name|file",
    "folder": r"path|dir(ectory)?|folder|root",
    "content": r"content|contents|text|file_text",
    "old": r"old(_(text|string|str))?|search|find",
    "new": r"new(_(text|string|str))?|replace(ment)?",
    "pattern": r"pattern|query|regex|glob(_pattern)?",
    "include": r"glob|include(_pattern)?|file_(pattern|glob)",
    "prompt": r"prompt|instructions?|task|message",
    "title": r"description|title|name",
    "agent": r"agent|agent_id|resume",
    "background": r"background|run_in_background",
    "skill": r"(skill_?)?name|skill",
    "name": r"name|memory|key|title",
    "summary": r"description|summary",
    "kind": r"type|kind",
    "fact": r"text|content|fact|body",
    "question": r"question|prompt|text",
    "options": r"options|choices",
    "query": r"query|search|question",
    "url": r"url|uri|address",
    "id": r"((bash|shell|task|command|job)_)?id",
}
"""Names of the fields that play a role in a call."""
_PLANS = r"todo_?(write|list|update)|(write|update)_?(todos?|plan)"
"""Plan tools. This model does not need them."""


class NoToolError(Exception):
    """No offered tool has the ability."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool of the request."""

    name: str
    description: str
    schema: Json

    @property
    def fields(self) -> Mapping[str, Json]:
        """The schemas of the input fields, required ones first."""
        given = self.schema.get("properties")
        fields = {name: one if isinstance(one, dict) else {} for name, one in (given or {}).items()}
        return {name: fields[name] for name in sorted(fields, key=lambda name: name not in self.required)}

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the fields that must be given."""
        return tuple(self.schema.get("required") or ())

    def field_for(self, role: str) -> str:
        """The name of the field with this role; "" where there is none."""
        return next((name for name in self.fields if re.fullmatch(_FIELDS[role], name, re.IGNORECASE)), "")

    def call(self, roles: Mapping[str, Any]) -> ModelCall:
        """A call with these values in the fields for them. Other required fields get any value that fits."""
        named = {self.field_for(role): value for role, value in roles.items() if value is not None}
        given = {name: value for name, value in named.items() if name}
        rest = {name: value_of(self.fields.get(name, {}), "", "") for name in self.required if name not in given}
        return ModelCall(self.name, given | rest)

    def call_with(self, values: Sequence[tuple[str, str]]) -> ModelCall | None:
        """A call with values typed by the user; those without a name fill the fields in order.

        None where a value is missing, does not fit its field, or has no field.
        """
        given: dict[str, Any] = {}
        for name, text in sorted(values, key=lambda value: not value[0]):
            field = name or next((field for field in self.fields if field not in given), "")
            value = _typed(text, kind_of(self.fields.get(field, {})))
            if field not in self.fields or field in given or value is None:
                return None
            given[field] = value
        return ModelCall(self.name, given) if set(self.required) <= set(given) else None


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """The tools of one request."""

    tools: tuple[OfferedTool, ...]
    abilities: Mapping[Ability, OfferedTool]

    @property
    def own(self) -> tuple[OfferedTool, ...]:
        """The tools that are none of the usual ones."""
        known = {tool.name for tool in self.abilities.values()}
        others = (tool for tool in self.tools if tool.name not in known)
        return tuple(tool for tool in others if not re.fullmatch(_PLANS, tool.name, re.IGNORECASE))

    def call(self, ability: Ability, **roles: Any) -> ModelCall:
        """A call of the tool with the ability, or of the shell in its place. Raises NoToolError."""
        tool, shell = self.abilities.get(ability), self.abilities.get(Ability.RUN)
        if tool is not None and not (roles.get("background") and not tool.field_for("background")):
            return tool.call({**roles, "pattern": _deep(roles["pattern"])} if ability is Ability.FIND else roles)
        if shell is None or (line := _shell_line(ability, roles)) is None:
            raise NoToolError(ability.value)
        return shell.call({"command": line})

    def purpose(self, call: ModelCall) -> tuple[Ability | None, Mapping[str, Any]]:
        """The ability that a call uses, and its values by their role."""
        for ability, tool in self.abilities.items():
            if tool.name == call.name:
                roles = (*_TOOLS[ability][1], "folder", "include")
                return ability, {
                    role: call.input[tool.field_for(role)] for role in roles if tool.field_for(role) in call.input
                }
        return None, {}

    def alternative(self, call: ModelCall, name: str) -> ModelCall | None:
        """A call of the tool `name` that does the same; None where this model knows none."""
        ability, roles = self.purpose(call)
        abilities = {one: tool for one, tool in self.abilities.items() if tool.name == name}
        try:
            return replace(self, abilities=abilities).call(ability, **roles) if ability else None
        except NoToolError:
            return None


def offered_tools(tools: Sequence[Json]) -> OfferedTools:
    """The tools of a request, sorted by ability. The first that fits is taken."""
    offered = [
        OfferedTool(tool["name"], str(tool.get("description") or ""), tool["input_schema"])
        for tool in tools
        if isinstance(tool.get("name"), str) and isinstance(tool.get("input_schema"), dict)
    ]
    abilities: dict[Ability, OfferedTool] = {}
    for tool in offered:
        for ability, (names, roles) in _TOOLS.items():
            named = ability not in abilities and re.fullmatch(names, tool.name, re.IGNORECASE)
            if named and all(tool.field_for(role) for role in roles):
                abilities[ability] = tool
                break
    return OfferedTools(tuple(offered), abilities)


def _typed(text: str, kind: str) -> Any:
    if kind in ("integer", "number") and re.fullmatch(r"-?\d{1,18}(\.\d{1,18})?", text):
        return float(text) if "." in text else int(text)
    if kind == "boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    return text if kind == "string" else None


def _deep(pattern: str) -> str:
    return pattern if "/" in pattern or not set(pattern) & set("*?[") else f"**/{pattern}"


def _shell_line(ability: Ability, roles: Mapping[str, Any]) -> str | None:
    """A command line in the place of a tool; None where there is none."""
    words = {role: shlex.quote(str(value)) for role, value in roles.items() if value is not None}
    folder = words.get("folder", ".")
    match ability:
        case Ability.READ:
            return f"cat -n -- {words['path']}"
        case Ability.WRITE:
            made = shlex.quote(str(roles["path"]).rpartition("/")[0] or ".")
            return f"mkdir -p -- {made} && printf %s {words['content']} > {words['path']}"
        case Ability.FIND if set(str(roles["pattern"])) & set("*?["):
            *within, name = str(roles["pattern"]).replace("**/", "").split("/")
            path = shlex.quote("/".join([str(roles.get("folder") or "."), *within]))
            return f"find {path} -type f -not -path '*/.?*' -name {shlex.quote(name)} | sort"
        case Ability.FIND:
            return f"ls -d -- {words['pattern']} 2>/dev/null || true"
        case Ability.SEARCH:
            only = f"--include={shlex.quote(str(roles['include']).rpartition('/')[2])} " if "include" in words else ""
            return f"grep -rnIE {only}--exclude-dir='.?*' -e {words['pattern']} -- {folder} || test $? -eq 1"
        case _:
            return None
