"""A script: what the practice model answers, entry by entry. The TOML form is described in SCRIPTS.md.

A script is a value. Tests may build one from `ScriptEntry`s; people write TOML, which is read here.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args

from harness.practice.checks.rules import MODELS, Profile, ServedModel, ServerRules
from harness.practice.faults import model_faults
from harness.practice.faults.model_faults import At, StatusFault, StreamFault
from harness.practice.requests import Purpose
from harness.practice.script.entries import MIX, USUAL, Chance, PlayReply, ScriptEntry, When
from harness.practice.toml_table import ScriptError, ShippedFiles, Table, table_of
from harness.practice.wire.replies import Part, RawBlock, ReplyUsage, ScriptedReply, TextPart, ThinkingPart, ToolUse

_CONTENT = ("text", "thinking", "tools", "content")
_PACE = ("stop_reason", "stop_details", "tokens", "chunk", "event_delay", "usage", "fills")
_STATUS = ("type", "message", "error_code", "headers", "body", "content_type")
_PLACES = (
    "headers",
    "end",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
)


_HEADER_NAME = re.compile(r"[A-Za-z0-9_-]+")


def step_of(table: Table) -> ScriptEntry:
    """The entry that a table describes. Raises ScriptError."""
    table.expect(*_CONTENT, *_PACE, *_STATUS, "status", "delay", "fault", "pass", "times", "when")
    times = table.any("times")
    if (
        times is not None
        and times != "forever"
        and (not isinstance(times, int) or isinstance(times, bool) or times < 1)
    ):
        raise table.error(f'times must be a whole number from 1, or "forever", not {times!r}')
    return ScriptEntry(
        action=_status(table) if table.given("status") else _play(table),
        times=None if times == "forever" else times or 1,
        when=when_of(table),
    )


def when_of(table: Table) -> When | None:
    """Which requests the `when` of a table names; None where it names none. Raises ScriptError."""
    if isinstance(table.any("when"), str):
        return When(text=table.text("when"))
    inner = table.table("when")
    if inner is None:
        return None
    purpose = inner.choice("purpose", list(Purpose))
    when = When(
        text=inner.text("text"),
        purpose=None if purpose is None else Purpose(purpose),
        model=inner.text("model"),
        offers=inner.text("offers"),
        lacks=inner.text("lacks"),
    )
    inner.done()
    if when == When():
        raise inner.error("names nothing; give text, purpose, model, offers or lacks")
    return when


def _status(table: Table) -> StatusFault:
    if wrong := table.given(*_CONTENT, *_PACE, "fault", "pass"):
        raise table.error(f"{wrong[0]} does not go with status; make it two entries")
    status = table.whole("status", 100) or 0
    if not 200 <= status <= 599:
        raise table.error(f"status must be between 200 and 599, not {status}")
    content_type = table.text("content_type")
    if content_type is not None and not (content_type.isascii() and content_type.isprintable()):
        raise table.error(f"content_type must be an ASCII string, not {content_type!r}")
    return StatusFault(
        status=status,
        type=table.text("type"),
        message=table.text("message"),
        error_code=table.text("error_code"),
        headers=_headers(table),
        body=table.text("body"),
        content_type=content_type,
        delay_s=table.number("delay") or 0.0,
    )


def _headers(table: Table) -> Mapping[str, str]:
    headers = table.mapping("headers") or {}
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise table.error(f"header {name!r} is not a header's name; use letters, digits and -")
        if name.lower() in ("content-length", "transfer-encoding", "connection"):
            raise table.error(f'header {name} is set by the server; for a wrong length use fault = "short_length"')
        if not isinstance(value, str) or not (value.isascii() and value.isprintable()):
            raise table.error(f'header {name} must be an ASCII string, such as {name} = "1", not {value!r}')
    return dict(headers)


def _play(table: Table) -> PlayReply:
    if wrong := table.given(*_STATUS):
        raise table.error(f"{wrong[0]} needs a status beside it, such as status = 529")
    fault = _fault(table)
    passed = table.flag("pass")
    if table.given(*_CONTENT):
        if passed:
            raise table.error("pass does not go with content; remove one of them")
        return PlayReply(_reply(table), fault)
    if given := table.given(*_PACE, "delay"):
        raise table.error(f'{given[0]} needs content beside it, such as text = "…"')
    if fault is None and not passed:
        raise table.error("says nothing; give text, tools, thinking, content, status, fault or pass = true")
    return PlayReply(None, fault)


def _reply(table: Table) -> ScriptedReply:
    return ScriptedReply(
        parts=_parts(table),
        stop_reason=table.text("stop_reason"),
        chunk_size=table.whole("chunk", 1) or 40,
        delay_s=table.number("delay") or 0.0,
        event_delay_s=table.number("event_delay") or 0.0,
        usage=_usage(table),
        stop_details=None if (details := table.mapping("stop_details")) is None else dict(details),
        tokens=table.whole("tokens", 1),
        fills=_fills(table),
    )


def _fills(table: Table) -> tuple[tuple[str, str], ...]:
    fills = tuple((table.mapping("fills") or {}).items())
    for name, pattern in fills:
        try:
            groups = re.compile(pattern).groups if isinstance(pattern, str) else 0
        except re.error as error:
            raise table.error(f"fills, {name}: {pattern!r} is not a regular expression ({error})") from error
        if groups != 1:
            raise table.error(f"fills, {name}: must be a regular expression with one group, such as '(\\d+) words'")
    return fills


def _parts(table: Table) -> tuple[Part, ...]:
    content = table.tables("content")
    if content is not None:
        if wrong := table.given("text", "thinking", "tools"):
            raise table.error(f"{wrong[0]} does not go with content; move it into content")
        return tuple(part for table in content for part in _content(table))
    parts: list[Part] = []
    if thinking := table.text("thinking"):
        parts.append(ThinkingPart(thinking))
    if text := table.text("text"):
        parts.append(TextPart(text))
    return (*parts, *(call for tool in table.tables("tools") or () for call in _calls(tool)))


def _content(table: Table) -> tuple[Part, ...]:
    match table.given("text", "thinking", "name", "block"):
        case ("text",):
            part: Part = TextPart(table.text("text") or "")
        case ("thinking",):
            part = ThinkingPart(table.text("thinking") or "", table.flag("signed") is not False)
        case ("name",):
            return _calls(table)
        case ("block",):
            part = RawBlock(dict(table.mapping("block") or {}))
            if not isinstance(part.block.get("type"), str):
                raise table.error("block must have a type")
        case _:
            raise table.error("must have exactly one of text, thinking, name (a tool call) and block")
    table.done()
    return (part,)


def _calls(table: Table) -> tuple[ToolUse, ...]:
    """A tool call, or as many as `times` says, with {n} in its texts replaced by the number."""
    times = table.whole("times", 1)
    tool = _tool(table)
    if times is None:
        return (tool,)
    if tool.id is not None:
        raise table.error("id does not go with times; every call needs an id of its own")
    return tuple(_numbered(tool, number) for number in range(1, times + 1))


def _numbered(tool: ToolUse, number: int) -> ToolUse:
    raw = None if tool.raw_input is None else _filled(tool.raw_input, number)
    return dataclasses.replace(tool, input=_filled(tool.input, number), raw_input=raw)


def _filled(value: Any, number: int) -> Any:
    match value:
        case str():
            return value.replace("{n}", str(number))
        case list():
            return [_filled(item, number) for item in value]
        case dict():
            return {name: _filled(item, number) for name, item in value.items()}
        case _:
            return value


def _tool(table: Table) -> ToolUse:
    name = table.text("name")
    if not name:
        raise table.error("name is missing; name the tool to call")
    if len(table.given("input", "raw_input")) == 2:
        raise table.error("input does not go with raw_input; remove one of them")
    tool = ToolUse(name, dict(table.mapping("input") or {}), table.text("id"), table.text("raw_input"))
    table.done()
    return tool


def _usage(table: Table) -> ReplyUsage:
    inner = table.table("usage")
    if inner is None:
        return ReplyUsage()
    usage = ReplyUsage(
        inner.whole("input_tokens"),
        inner.whole("output_tokens"),
        inner.whole("cache_creation_input_tokens"),
        inner.whole("cache_read_input_tokens"),
    )
    inner.done()
    return usage


def _fault(table: Table) -> StreamFault | None:
    if isinstance(table.any("fault"), str):
        return model_faults.KINDS[table.choice("fault", model_faults.KINDS) or ""]()
    inner = table.table("fault")
    if inner is None:
        return None
    kind = inner.choice("kind", model_faults.KINDS)
    if kind is None:
        raise inner.error(f"kind is missing; known are {', '.join(sorted(model_faults.KINDS))}")
    fields = {field.name: _fault_field(inner, field) for field in dataclasses.fields(model_faults.KINDS[kind])}
    inner.done()
    return model_faults.KINDS[kind](**{name: value for name, value in fields.items() if value is not None})


def _fault_field(table: Table, field: dataclasses.Field[Any]) -> Any:
    match field.name:
        case "at":
            return _place(table)
        case "events":
            return table.texts("events")
        case "ending":
            return table.choice("ending", get_args(model_faults.CutTool.__annotations__["ending"]))
        case "every_s" | "seconds":
            return table.number(field.name)
        case "count" | "characters" | "tool":
            return table.whole(field.name, 1 if field.name == "tool" else 0)
        case name:
            return table.text(name)


def _place(table: Table) -> At | None:
    return table.choice("at", _PLACES) if isinstance(table.any("at"), str) else table.whole("at")


KIND = ShippedFiles("script/shipped", "script file")


class After(StrEnum):
    """What happens when the list is used up."""

    IMPROVISE = "improvise"
    """The rule-based model answers, or the upstream server of a proxy."""
    REPEAT = "repeat"
    """The list starts again."""
    ERROR = "error"
    """Status 400, and the client stops."""


@dataclass(frozen=True, slots=True)
class Script:
    """Replies and faults, one for each POST to /v1/messages."""

    steps: Sequence[ScriptEntry] = ()
    after: After = After.IMPROVISE
    rules: ServerRules = field(default_factory=ServerRules)
    chance: Chance | None = None
    """Faults thrown in at random, on top of the list."""
    name: str = "script"

    @staticmethod
    def load(source: Path | str) -> "Script":
        """Read a script file, or one that is shipped, by its name (`Script.shipped()`).

        Raises ScriptError, which names the file, the entry and the remedy.
        """
        return _script(*KIND.read(source))

    @staticmethod
    def parse(text: str, name: str = "script") -> "Script":
        """Read a script from TOML text. Raises ScriptError, which calls it by `name`."""
        return _script(text, name)

    @staticmethod
    def shipped() -> tuple[str, ...]:
        """Names of the scripts that come with the program."""
        return KIND.shipped()


def _script(text: str, name: str) -> Script:
    """Read a script from TOML text. Raises ScriptError, one sentence with the entry."""
    top = table_of(text, name)
    entries = top.any("reply") or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ScriptError(f"{name}: reply must be a list of tables; write [[reply]], with two brackets.")
    after = top.choice("after", list(After))
    server = top.table("server", f"{name}, [server]")
    chance = top.table("chance", f"{name}, [chance]")
    given = top.mapping("profile")
    top.done()
    rules = _rules(server) if server else ServerRules()
    return Script(
        steps=tuple(step_of(Table(entry, f"{name}, entry {number}")) for number, entry in enumerate(entries, 1)),
        after=After(after or After.IMPROVISE),
        rules=dataclasses.replace(rules, profile=_profile(given, text, name)) if given else rules,
        chance=_chance(chance) if chance else None,
        name=name,
    )


def _rules(table: Table) -> ServerRules:
    checks = table.choice("checks", ("strict", "off"))
    overflow = table.choice("overflow", ("error", "accept"))
    required = table.flag("key_required")
    models = table.texts("models")
    betas = table.texts("betas")
    rules = ServerRules(
        models=MODELS if models is None else tuple(_model(id) for id in models),
        window=table.whole("window", 1),
        max_output=table.whole("max_output", 1),
        strict_overflow=None if overflow is None else overflow == "error",
        key=table.text("key"),
        key_required=True if required is None else required,
        strict=checks != "off",
        bind_thinking=table.flag("bind_thinking") or False,
        betas=frozenset(betas or ()),
    )
    table.done()
    return rules


def _profile(given: Mapping[str, Any], text: str, name: str) -> Profile:
    """The profile of a script; a mistake in it is named with its line."""
    tables = {key: Table({key: value}, f"{name}, line {_line(text, key)}") for key, value in given.items()}
    for table in tables.values():
        table.expect("thinking", "display", "tokens", "summary_tokens")
    thinking = tables["thinking"].choice("thinking", ("adaptive", "none")) if "thinking" in tables else None
    display = tables["display"].choice("display", ("omitted", "summarized")) if "display" in tables else None
    return Profile(
        thinks=None if thinking is None else thinking == "adaptive",
        shows_thinking=None if display is None else display == "summarized",
        tokens=tables["tokens"].whole("tokens", 1) if "tokens" in tables else None,
        summary_tokens=tables["summary_tokens"].whole("summary_tokens", 1) if "summary_tokens" in tables else None,
    )


def _line(text: str, key: str) -> int:
    """The line of a key of [profile], or of its header."""
    header, inside = 1, False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("["):
            inside = re.match(r"\s*\[\s*profile\s*\]", line) is not None
            header = number if inside else header
        elif inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
        elif not inside and re.match(r"\s*profile\b", line):
            header = number
    return header


def _model(id: str) -> ServedModel:
    known = ServerRules().model(id)
    return ServedModel(id, 200_000, 64_000) if known is None else dataclasses.replace(known, id=id)


def _chance(table: Table) -> Chance:
    probability = table.number("probability", most=1)
    mix = table.texts("faults")
    seed = table.whole("seed")
    when = when_of(table)
    table.done()
    if probability is None:
        raise table.error("probability is missing; give a number between 0 and 1")
    return Chance(probability, seed or 0, checked_mix(table, mix) if mix is not None else USUAL, when)


def checked_mix(table: Table, mix: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a mix of random faults, all of them known."""
    for name in mix:
        Table({"faults": name}, table.place).choice("faults", MIX)
    if not mix:
        raise table.error(f"faults must name at least one of {', '.join(MIX)}")
    return mix
