"""The tools that a request offers, by what they can do, whatever the client calls them and their fields."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from harness.events import Json
from harness.practice.rule_model.conversation import ModelCall
from harness.practice.rule_model.schema_value import value_of


class Ability(Enum):
    """Something a tool can do: in words, the names of tools that do it, and the roles that their fields must have."""

    RUN = (
        "run a command",
        r"bash|sh|shell|terminal|exec(ute)?|run|command|(run|execute)_?(bash|shell|command)",
        "command",
    )
    READ = "read a file", r"read|cat|view|(read|open|view|get)_?(text_?)?file(_contents?)?", "path"
    WRITE = "write a file", r"write|save|(write|create|save)_?(to_?)?(text_?)?file", "path", "content"
    EDIT = "change a file", r"edit|(edit|patch|modify)_?file|str_?replace|search_replace", "path", "old", "new"
    FIND = "find files by name", r"glob|find|(find|search|glob|list)_?files|file_search", "pattern"
    SEARCH = "search in files", r"grep|rg|ripgrep|search|(search|grep)_?(in_?)?(code|text|files?|content)", "pattern"
    DELEGATE = "start a subagent", r"task|agent|delegate|(spawn|start|run)_?(sub_?)?agent|sub_?agent", "prompt"
    LIST_BACKGROUND = "list background commands", r"background_?list|list_?background"
    SHOW_BACKGROUND = (
        "show the output of a background command",
        r"read_?background|background_?(read|output)|(bash|shell)_?output",
        "id",
    )
    STOP_BACKGROUND = "stop a background command", r"kill_?(background|bash|shell)|background_?(kill|stop)", "id"
    SKILL = "read a skill", r"((load|use|read)_?)?skill", "skill"
    REMEMBER = "remember a fact", r"remember|(save|write|add)_?memory", "name", "fact"
    RECALL = "look up a memory", r"recall|(read|search|find)_?memor(y|ies)", "query"
    FORGET = "forget a memory", r"forget|(delete|remove)_?memory", "name"
    SEARCH_WEB = "search the web", r"web_?search|search_?(the_?)?web", "query"
    FETCH_PAGE = "read a web page", r"web_?fetch|(fetch|read)_?(url|(web_?)?page)|fetch", "url"
    ASK = "ask you a question", r"ask_?(the_?)?(user|human)(_?question)?", "question"

    def __init__(self, words: str, names: str, *roles: str) -> None:
        self.words = words
        self.names = names
        self.roles = roles


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
            raise NoToolError(ability.words)
        return shell.call({"command": line})

    def purpose(self, call: ModelCall) -> tuple[Ability | None, Mapping[str, Any]]:
        """The ability that a call uses, and its values by their role."""
        for ability, tool in self.abilities.items():
            if tool.name == call.name:
                roles = (*ability.roles, "folder", "include")
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
        OfferedTool(tool["name"], tool["input_schema"])
        for tool in tools
        if isinstance(tool.get("name"), str) and isinstance(tool.get("input_schema"), dict)
    ]
    abilities: dict[Ability, OfferedTool] = {}
    for tool in offered:
        for ability in Ability:
            named = ability not in abilities and re.fullmatch(ability.names, tool.name, re.IGNORECASE)
            if named and all(tool.field_for(role) for role in ability.roles):
                abilities[ability] = tool
                break
    return OfferedTools(tuple(offered), abilities)


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
