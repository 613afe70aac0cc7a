"""The types of settings, each with a description of valid values."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, InstanceOf, PlainSerializer

from harness.base.secrets import Secret
from harness.events import Effort
from harness.hooks import Hook
from harness.mcp.config import McpConfig, from_command_line, parse_entries
from harness.model.endpoint import Header, KeyHeader, Platform
from harness.model.prices import Price

LEAST_SIZE = 1_000
"""Tokens of the smallest size of a history."""
LEAST_MEMORY = 32 * 2**20
"""Bytes below which hardly a command runs."""
_MEMORY = re.compile(r"(\d{1,15}) ?([KMGTkmgt]?)(?:i?[Bb])?")
_DOMAIN = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,}(?:/[!-~]*)?")
_HOST = re.compile(r"(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::(\d{1,5}))?|\[[0-9a-f:.]+\](?::(\d{1,5}))?")
_VARIABLE = re.compile(r"[A-Za-z_*][A-Za-z0-9_*]*")
_PERCENT = re.compile(r"(\d{1,3})\s*%")


@dataclass(frozen=True, slots=True)
class ValueHint:
    """What fits a setting, to end the sentence "give …"."""

    words: str


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("true and false are no numbers")
    return value


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise ValueError("not a list of names")
    return tuple(dict.fromkeys(name.strip() for name in value if name.strip()))


def _places(value: object) -> object:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    return value


def _domains(value: object) -> object:
    """Names of domains, with a path behind them or without; no address with a scheme, and no pattern in the name."""
    names = _names(value)
    if not all(_DOMAIN.fullmatch(name) for name in names):
        raise ValueError("not a list of domains")
    return tuple(dict.fromkeys(name.lower() for name in names))


def hosts_in(value: object) -> tuple[str, ...]:
    """Names of hosts in lower case, with `*.` before them or without, and with a port behind them or without. Raises
    ValueError."""
    names = tuple(name.lower() for name in _names(value))
    for name in names:
        found = _HOST.fullmatch(name)
        if found is None or any(port is not None and not 1 <= int(port) <= 65_535 for port in found.groups()):
            raise ValueError("not a list of hosts")
    return tuple(dict.fromkeys(names))


def _file_patterns(value: object) -> object:
    """Patterns of files in a repository."""
    patterns = _names(value)
    if any(one[0] in "/~" or {"..", ".git", "**"}.intersection(one.split("/")) for one in patterns):
        raise ValueError("not a list of files in the repository")
    return patterns


def _variables(value: object) -> object:
    """Names of environment variables; `*` stands for any characters."""
    names = _names(value)
    if not all(_VARIABLE.fullmatch(name) for name in names):
        raise ValueError("not a list of variables")
    return names


def _size(value: object) -> object:
    """ "60%" as it is; a number of tokens as such, also with underscores."""
    if isinstance(value, str):
        text = value.replace("_", "").strip()
        if (share := _PERCENT.fullmatch(text)) is not None and 1 <= int(share[1]) <= 100:
            return f"{int(share[1])}%"
        value = int(text) if text.isdecimal() else value
    if isinstance(value, bool) or not isinstance(value, int) or value < LEAST_SIZE:
        raise ValueError("neither tokens nor percent")
    return value


def _memory_size(value: object) -> object:
    """A number of bytes, also from a text such as "2G"."""
    if isinstance(value, str) and (size := _MEMORY.fullmatch(value.strip())) is not None:
        value = int(size[1]) * 1024 ** " KMGT".index(size[2].upper() or " ")
    if isinstance(value, bool) or not isinstance(value, int) or value < LEAST_MEMORY:
        raise ValueError("no size of memory")
    return value


def _mcp_servers(value: object) -> object:
    """The servers of a table, or of a text with it as JSON. An entry that cannot be used is left out and reported."""
    if isinstance(value, McpConfig):
        return value
    table = json.loads(value) if isinstance(value, str) else value
    if not isinstance(table, dict):
        raise ValueError("no table of servers")
    return parse_entries(table, "the setting mcp_servers", own=True)


def _brought_servers(value: object) -> object:
    return value if isinstance(value, McpConfig) else from_command_line(value)


def rules_in(value: object) -> tuple[str, ...]:
    """The rules in a list, or in a text with commas or line breaks between them. Raises ValueError."""
    if isinstance(value, str):
        value = re.split(r",(?![^(]*\))|\n", value)  # a comma inside of brackets belongs to the rule
    if not isinstance(value, list | tuple) or not all(isinstance(rule, str) for rule in value):
        raise ValueError("not a list of rules")
    return tuple(dict.fromkeys(rule.strip() for rule in value if rule.strip()))


Count = Annotated[int, BeforeValidator(_number), Field(ge=1), ValueHint("a whole number of at least 1")]
CountOrNone = Annotated[int, BeforeValidator(_number), Field(ge=0), ValueHint("a whole number of at least 0")]
Seconds = Annotated[float, BeforeValidator(_number), Field(gt=0, allow_inf_nan=False), ValueHint("seconds, above 0")]
SecondsOrNone = Annotated[
    float, BeforeValidator(_number), Field(ge=0, allow_inf_nan=False), ValueHint("seconds, 0 or more")
]
Share = Annotated[float, BeforeValidator(_number), Field(ge=0, le=1), ValueHint("a number from 0 to 1")]
Dollars = Annotated[float, BeforeValidator(_number), Field(gt=0, allow_inf_nan=False), ValueHint("US dollars, above 0")]
Size = Annotated[
    int | str, BeforeValidator(_size), ValueHint(f'tokens, at least {LEAST_SIZE:,}, or percent, such as "60%"')
]
MemorySize = Annotated[
    int, BeforeValidator(_memory_size), ValueHint('bytes, or a text such as "2G" or "512M"; at least 32M')
]
Switch = Annotated[bool, ValueHint("true or false")]
Text = Annotated[str, Field(min_length=1), ValueHint("a string")]
SecretText = Annotated[Secret, ValueHint("a string")]
Place = Annotated[Path, ValueHint("a path")]
ModelNames = Annotated[
    tuple[str, ...], BeforeValidator(_names), Field(max_length=3), ValueHint("up to three model names")
]
Places = Annotated[tuple[Path, ...], BeforeValidator(_places), ValueHint("a list of folders")]
Domains = Annotated[
    tuple[str, ...],
    BeforeValidator(_domains),
    ValueHint('a list of domains without https://, such as ["docs.python.org"]'),
]
Hosts = Annotated[
    tuple[str, ...],
    BeforeValidator(hosts_in),
    ValueHint('a list of hosts without https://, such as ["pypi.org", "*.example.org", "localhost:8080"]'),
]
Variables = Annotated[
    tuple[str, ...], BeforeValidator(_variables), ValueHint('a list of variables, such as ["NPM_TOKEN", "AWS_*"]')
]
FilePatterns = Annotated[
    tuple[str, ...],
    BeforeValidator(_file_patterns),
    ValueHint('a list of files in the repository, such as [".env", "config/*.local"]'),
]
Hooks = Annotated[
    tuple[InstanceOf[Hook], ...], ValueHint("tables [[hooks]] with event and command; in a variable as JSON")
]
McpServers = Annotated[
    InstanceOf[McpConfig],
    BeforeValidator(_mcp_servers),
    PlainSerializer(str),
    ValueHint("tables [mcp_servers.NAME] with command and args, or url; in a variable as JSON"),
]
BroughtServers = Annotated[
    InstanceOf[McpConfig],
    BeforeValidator(_brought_servers),
    PlainSerializer(str),
    ValueHint("a file such as .mcp.json, or its content"),
]
Prices = Annotated[
    tuple[InstanceOf[Price], ...], ValueHint('tables [prices."NAME"] with input and output; in a variable as JSON')
]
Platforms = Annotated[Platform, ValueHint('"anthropic", "bedrock", "vertex" or "foundry"')]
KeyHeaders = Annotated[KeyHeader, ValueHint('"authorization" or "x-api-key"')]
Headers = Annotated[
    tuple[InstanceOf[Header], ...], ValueHint('a table [headers] of texts; in a variable lines such as "X-Team: blue"')
]
Rules = Annotated[tuple[str, ...], BeforeValidator(rules_in), ValueHint('a list of rules, such as ["bash(npm run *)"]')]
CascadeProbes = Annotated[Literal["canary", "confirm"], ValueHint('"canary" or "confirm"')]
EffortLevel = Annotated[Effort, ValueHint('"low", "medium", "high", "xhigh" or "max"')]
CacheTtl = Annotated[Literal["5m", "1h"], ValueHint('"5m" or "1h"')]
Notification = Annotated[Literal["bell", "osc9", "off"], ValueHint('"bell", "osc9" or "off"')]
BoardChoice = Annotated[
    str,
    Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$"),
    ValueHint('"off", "session", or a name of small letters, digits, - and _'),
]
SandboxChoice = Annotated[Literal["auto", "off", "required"], ValueHint('"auto", "off" or "required"')]
AskUser = Annotated[Literal["refuse", "first", "off"], ValueHint('"refuse", "first" or "off"')]
FanOutAnswer = Annotated[Literal["ask", "allow", "refuse"], ValueHint('"ask", "allow" or "refuse"')]
PermissionMode = Annotated[
    Literal["ask", "edits", "yolo", "deny", "plan"], ValueHint('"ask", "edits", "yolo", "deny" or "plan"')
]


def value_hint(kind: Any) -> str:
    """What fits a type of this module, or an optional one."""
    parts = [*getattr(kind, "__metadata__", ()), *getattr(kind, "__args__", ())]
    for part in parts:
        if isinstance(part, ValueHint):
            return part.words
        if words := value_hint(part):
            return words
    return ""
