"""Scripts in TOML (SCRIPTS.md) to values."""

import dataclasses
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, get_args

from harness.practice import faults
from harness.practice.chance import MIX, USUAL, Chance
from harness.practice.faults import At, StatusFault, StreamFault
from harness.practice.replies import Part, RawBlock, ReplyUsage, ScriptedReply, Text, Thinking, ToolUse
from harness.practice.requests import Purpose
from harness.practice.rules import MODELS, ServedModel, ServerRules
from harness.practice.script import After, Play, Script, Step, When
from harness.practice.toml_table import ScriptError, Table

FAULTS: Mapping[str, type[StreamFault]] = {fault.kind: fault for fault in get_args(StreamFault)}
"""Every fault by the name it has in a script."""
_CONTENT = ("text", "thinking", "tools", "content")
_PACE = ("stop_reason", "chunk", "event_delay", "usage")
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


def shipped() -> tuple[str, ...]:
    """Names of the scripts that come with the program."""
    folder = resources.files("harness.practice") / "scripts"
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")))


def load(source: Path | str) -> Script:
    """Read a script file, or one that is shipped, by its name. A file of that name comes first."""
    path = Path(source)
    if not path.exists() and str(source) in shipped():
        data = resources.files("harness.practice").joinpath("scripts", f"{source}.toml").read_text("utf-8")
        return parse(data, f"{source}.toml")
    try:
        return parse(path.read_text("utf-8"), str(source))
    except FileNotFoundError as error:
        names = ", ".join(shipped())
        raise ScriptError(f"{source}: there is no such script file; give a path, or one of {names}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"{source}: cannot be read ({error}); a script is a TOML file in UTF-8.") from error


def parse(text: str, name: str) -> Script:
    """Read a script from TOML text."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScriptError(f"{name}: is not valid TOML, {str(error)[:1].lower()}{str(error)[1:]}.") from error
    top = Table(data, name)
    entries = top.any("reply") or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ScriptError(f"{name}: reply must be a list of tables; write [[reply]], with two brackets.")
    after = top.choice("after", list(After))
    server = top.table("server", f"{name}, [server]")
    chance = top.table("chance", f"{name}, [chance]")
    top.done()
    return Script(
        steps=tuple(_step(Table(entry, f"{name}, entry {number}")) for number, entry in enumerate(entries, 1)),
        after=After(after or After.IMPROVISE),
        rules=_rules(server) if server else ServerRules(),
        chance=_chance(chance) if chance else None,
        name=name,
    )


def _rules(table: Table) -> ServerRules:
    checks = table.choice("checks", ("strict", "off"))
    overflow = table.choice("overflow", ("error", "accept"))
    required = table.flag("key_required")
    models = table.texts("models")
    rules = ServerRules(
        models=MODELS if models is None else tuple(_model(id) for id in models),
        window=table.whole("window", 1),
        max_output=table.whole("max_output", 1),
        strict_overflow=None if overflow is None else overflow == "error",
        key=table.text("key"),
        key_required=True if required is None else required,
        strict=checks != "off",
        bind_thinking=table.flag("bind_thinking") or False,
    )
    table.done()
    return rules


def _model(id: str) -> ServedModel:
    known = ServerRules().model(id)
    return ServedModel(id, 200_000, 64_000) if known is None else dataclasses.replace(known, id=id)


def _chance(table: Table) -> Chance:
    probability = table.number("probability", most=1)
    mix = table.texts("faults")
    seed = table.whole("seed")
    table.done()
    if probability is None:
        raise table.error("probability is missing; give a number between 0 and 1")
    return Chance(probability, seed or 0, checked_mix(table, mix) if mix is not None else USUAL)


def checked_mix(table: Table, mix: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a mix of random faults, all of them known."""
    for name in mix:
        Table({"faults": name}, table.place).choice("faults", MIX)
    if not mix:
        raise table.error(f"faults must name at least one of {', '.join(MIX)}")
    return mix


def _step(table: Table) -> Step:
    table.expect(*_CONTENT, *_PACE, *_STATUS, "status", "delay", "fault", "pass", "times", "when")
    times = table.any("times")
    if (
        times is not None
        and times != "forever"
        and (not isinstance(times, int) or isinstance(times, bool) or times < 1)
    ):
        raise table.error(f'times must be a whole number from 1, or "forever", not {times!r}')
    return Step(
        action=_status(table) if table.given("status") else _play(table),
        times=None if times == "forever" else times or 1,
        when=_when(table),
    )


def _when(table: Table) -> When | None:
    if isinstance(table.any("when"), str):
        return When(text=table.text("when"))
    inner = table.table("when")
    if inner is None:
        return None
    purpose = inner.choice("purpose", list(Purpose))
    when = When(inner.text("text"), None if purpose is None else Purpose(purpose), inner.text("model"))
    inner.done()
    if when == When():
        raise inner.error("names nothing; give text, purpose or model")
    return when


def _status(table: Table) -> StatusFault:
    if wrong := table.given(*_CONTENT, *_PACE, "fault", "pass"):
        raise table.error(f"{wrong[0]} cannot stand beside status; make two entries of it")
    status = table.whole("status", 100) or 0
    if not 200 <= status <= 599:
        raise table.error(f"status must be between 200 and 599, not {status}")
    return StatusFault(
        status=status,
        type=table.text("type"),
        message=table.text("message"),
        error_code=table.text("error_code"),
        headers=_headers(table),
        body=table.text("body"),
        content_type=table.text("content_type"),
        delay_s=table.number("delay") or 0.0,
    )


def _headers(table: Table) -> Mapping[str, str]:
    headers = table.mapping("headers") or {}
    for name, value in headers.items():
        if not isinstance(value, str) or not value.isprintable():
            raise table.error(f'header {name} must be a string on one line, such as {name} = "1", not {value!r}')
    return dict(headers)


def _play(table: Table) -> Play:
    if wrong := table.given(*_STATUS):
        raise table.error(f"{wrong[0]} needs a status beside it, such as status = 529")
    fault = _fault(table)
    passed = table.flag("pass")
    if table.given(*_CONTENT):
        if passed:
            raise table.error("pass cannot stand beside content; remove one of them")
        return Play(_reply(table), fault)
    if given := table.given(*_PACE, "delay"):
        raise table.error(f'{given[0]} needs content beside it, such as text = "…"')
    if fault is None and not passed:
        raise table.error("says nothing; give text, tools, thinking, content, status, fault or pass = true")
    return Play(None, fault)


def _reply(table: Table) -> ScriptedReply:
    return ScriptedReply(
        parts=_parts(table),
        stop_reason=table.text("stop_reason"),
        chunk_size=table.whole("chunk", 1) or 40,
        delay_s=table.number("delay") or 0.0,
        event_delay_s=table.number("event_delay") or 0.0,
        usage=_usage(table),
    )


def _parts(table: Table) -> tuple[Part, ...]:
    content = table.tables("content")
    if content is not None:
        if wrong := table.given("text", "thinking", "tools"):
            raise table.error(f"{wrong[0]} cannot stand beside content; move it into content")
        return tuple(_part(part) for part in content)
    parts: list[Part] = []
    if thinking := table.text("thinking"):
        parts.append(Thinking(thinking))
    if text := table.text("text"):
        parts.append(Text(text))
    return (*parts, *(_tool(tool) for tool in table.tables("tools") or ()))


def _part(table: Table) -> Part:
    match table.given("text", "thinking", "name", "block"):
        case ("text",):
            part: Part = Text(table.text("text") or "")
        case ("thinking",):
            part = Thinking(table.text("thinking") or "", table.flag("signed") is not False)
        case ("name",):
            return _tool(table)
        case ("block",):
            part = RawBlock(dict(table.mapping("block") or {}))
            if not isinstance(part.block.get("type"), str):
                raise table.error("block must have a type")
        case _:
            raise table.error("must have exactly one of text, thinking, name (a tool call) and block")
    table.done()
    return part


def _tool(table: Table) -> ToolUse:
    name = table.text("name")
    if not name:
        raise table.error("name is missing; name the tool to call")
    if len(table.given("input", "raw_input")) == 2:
        raise table.error("input cannot stand beside raw_input; remove one of them")
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
        inner.whole("cache_creation_input_tokens") or 0,
        inner.whole("cache_read_input_tokens") or 0,
    )
    inner.done()
    return usage


def _fault(table: Table) -> StreamFault | None:
    if isinstance(table.any("fault"), str):
        return FAULTS[table.choice("fault", FAULTS) or ""]()
    inner = table.table("fault")
    if inner is None:
        return None
    kind = inner.choice("kind", FAULTS)
    if kind is None:
        raise inner.error(f"kind is missing; known are {', '.join(sorted(FAULTS))}")
    fields = {field.name: _fault_field(inner, field) for field in dataclasses.fields(FAULTS[kind])}
    inner.done()
    return FAULTS[kind](**{name: value for name, value in fields.items() if value is not None})


def _fault_field(table: Table, field: dataclasses.Field[Any]) -> Any:
    match field.name:
        case "at":
            return _place(table)
        case "events":
            return table.texts("events")
        case "ending":
            return table.choice("ending", get_args(faults.CutTool.__annotations__["ending"]))
        case "every_s" | "seconds":
            return table.number(field.name)
        case "count" | "characters" | "tool":
            return table.whole(field.name, 1 if field.name == "tool" else 0)
        case name:
            return table.text(name)


def _place(table: Table) -> At | None:
    return table.choice("at", _PLACES) if isinstance(table.any("at"), str) else table.whole("at")
