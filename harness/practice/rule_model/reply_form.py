"""A request as the model behind reads it, and the form that the request asks its reply to have.

The model behind reads a request with these changes, and its tool calls are translated back:

- Messages of the role "system" are instructions of the program, never an order of the user: they are left out.
- Tools that the API defines (`bash_20250124`, …) get the schema of their input. The text editor, one tool with
  commands, is read as one tool for each of them.
- Web search and fetch are read like tools of the client, and so are their results. Other server tools are left out,
  and so is every tool that `tool_choice` rules out.

It says what it says; what the API promises of any model is made sure of here: forced tools, JSON, stop sequences,
thinking, a limit. Replies of a script are played as they are written.
"""

import json
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from types import MappingProxyType
from typing import Any

from harness.events import Block, Json
from harness.practice.checks.api_tools import family, input_schema, server_result
from harness.practice.checks.betas import INTERLEAVED_THINKING
from harness.practice.checks.rules import Profile, ServedModel
from harness.practice.requests import Purpose, blocks, last_blocks, last_text, purpose, without_reminders
from harness.practice.rule_model.schema_value import value_of
from harness.practice.web import Continued, as_client_tools, run
from harness.practice.wire.prepared_reply import Counter, part_tokens
from harness.practice.wire.replies import (
    Part,
    RawBlock,
    ReplyModel,
    ScriptedReply,
    TextPart,
    ThinkingPart,
    ToolUse,
    compact,
)

_SERVED = ("web_search_tool_result", "web_fetch_tool_result")


@dataclass(frozen=True, slots=True)
class _Command:
    """A command of the text editor, as a tool."""

    command: str
    fields: tuple[str, ...]

    @property
    def schema(self) -> Json:
        text = {"type": "string"}
        return {"type": "object", "properties": dict.fromkeys(self.fields, text), "required": list(self.fields)}


_COMMANDS: Mapping[str, _Command] = MappingProxyType(
    {
        "view_file": _Command("view", ("path",)),
        "create_file": _Command("create", ("path", "file_text")),
        "str_replace": _Command("str_replace", ("path", "old_str", "new_str")),
    }
)
"""By the name of the tool that replaces it."""


@dataclass(frozen=True, slots=True)
class ModelInput:
    """What the model behind is given."""

    body: Json
    editor: str | None = None
    """The name of the text editor, whose commands are tools of their own here."""
    commands: frozenset[str] = field(default_factory=frozenset)

    def restored(self, reply: ScriptedReply) -> ScriptedReply:
        """The reply with the calls as the client knows them."""
        return replace(reply, parts=tuple(map(self._restored, reply.parts))) if self.editor else reply

    def _restored(self, part: Part) -> Part:
        if not isinstance(part, ToolUse) or part.name not in self.commands or self.editor is None:
            return part
        command = {"command": _COMMANDS[part.name].command}
        raw = part.raw_input
        if raw is not None:
            raw = f"{compact(command)[:-1]},{raw.removeprefix('{').lstrip()}"
        return replace(part, name=self.editor, input=command | part.input, raw_input=raw)


def view_of(body: Json) -> ModelInput:
    """The request as the model behind reads it."""
    choice = _choice(body)
    tools = [tool for tool in body.get("tools") or () if isinstance(tool, dict)]
    offered = [tool for tool in tools if input_schema(tool) is not None and server_result(tool) in (None, *_SERVED)]
    if choice.get("type") == "none":
        offered = []
    elif choice.get("type") == "tool":
        offered = [tool for tool in offered if tool.get("name") == choice.get("name")]
    editor = next((str(tool["name"]) for tool in offered if _is_editor(tool)), None)
    taken = {tool.get("name") for tool in offered}
    commands = frozenset(name for name in _COMMANDS if name not in taken) if editor is not None else frozenset()
    shown = body | {
        "messages": [
            _read(part, editor, commands)
            for message in body.get("messages") or ()
            if not (isinstance(message, dict) and message.get("role") == "system")
            for part in _parts(message)
        ],
        "tools": list(_known(offered, commands)),
    }
    return ModelInput(shown, editor, commands)


def _parts(message: Any) -> Iterable[Any]:
    """A message; one with results of server tools becomes several."""
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return (message,)
    served = any(block.get("type") == "server_tool_use" for block in blocks(message.get("content")))
    return as_client_tools(message) if served else (message,)


def _choice(body: Json) -> Json:
    choice = body.get("tool_choice")
    return choice if isinstance(choice, dict) else {}


def _is_editor(tool: Json) -> bool:
    return family(tool) == "text_editor"


def _known(tools: Iterable[Json], commands: frozenset[str]) -> Iterable[Json]:
    for tool in tools:
        if _is_editor(tool):
            yield from (
                {"name": name, "input_schema": _COMMANDS[name].schema} for name in _COMMANDS if name in commands
            )
        elif "input_schema" not in tool:
            yield {"name": tool.get("name"), "input_schema": input_schema(tool)}
        else:
            yield tool


def _read(message: Json, editor: str | None, commands: frozenset[str]) -> Json:
    if editor is None or not isinstance(message, dict) or message.get("role") != "assistant":
        return message
    return message | {"content": [_call(block, editor, commands) for block in blocks(message.get("content"))]}


def _call(block: Block, editor: str, commands: frozenset[str]) -> Block:
    given = block.get("input")
    if block.get("type") != "tool_use" or block.get("name") != editor or not isinstance(given, dict):
        return block
    for name in commands:
        if given.get("command") == _COMMANDS[name].command:
            return block | {"name": name, "input": {key: value for key, value in given.items() if key != "command"}}
    return block


# ── the form of the reply ────────────────────────────────────────────────────────────────────────────

_LONGEST_THOUGHT = 300
"""Characters of the prompt that thinking repeats."""


def reply_to(
    body: Json, brain: ReplyModel, model: ServedModel, counter: Counter, betas: Iterable[str] = ()
) -> ScriptedReply:
    """What the model behind says to a request, in the form that the request asks for."""
    reply = _with_format(_with_server_tools(body, brain), body)
    reply = _stopped(reply, _texts(body.get("stop_sequences")))
    if thinks_about(body, model, frozenset(betas)) and body["messages"][-1].get("role") != "assistant":
        reply = replace(reply, parts=(_thought(reply, body, model), *reply.parts))
    return limited(reply, body.get("max_tokens"), counter)


def _with_server_tools(body: Json, brain: ReplyModel) -> ScriptedReply:
    """What the model behind says, with the results of the server's own tools in it; it may pause."""
    if not any(isinstance(tool, dict) and server_result(tool) for tool in body.get("tools") or ()):
        return _with_choice(_answered(brain, body), body)
    continued = Continued.of(body)
    while True:
        reply = _with_choice(_answered(brain, continued.body), body)
        if (whole := continued.after(reply)) is not None:
            return whole


def _answered(brain: ReplyModel, body: Json) -> ScriptedReply:
    view = view_of(body)
    return view.restored(brain.answer(view.body))


# ── tools ───────────────────────────────────────────────────────────────────────────────────────────


def _with_choice(reply: ScriptedReply, body: Json) -> ScriptedReply:
    choice = body.get("tool_choice")
    choice = choice if isinstance(choice, dict) else {}
    if choice.get("type") in ("any", "tool"):
        reply = _forced(reply, body, choice.get("name") if choice["type"] == "tool" else None)
    if choice.get("disable_parallel_tool_use") is True:
        calls = [part for part in reply.parts if isinstance(part, ToolUse)]
        reply = replace(reply, parts=tuple(part for part in reply.parts if part not in calls[1:]))
    return reply


def _forced(reply: ScriptedReply, body: Json, name: str | None) -> ScriptedReply:
    """Nothing but tool calls: those of the reply, or one that is made to fit."""
    calls = tuple(part for part in reply.parts if isinstance(part, ToolUse) and name in (None, part.name))
    if calls:
        return replace(reply, parts=calls, stop_reason=None if reply.stop_reason == "end_turn" else reply.stop_reason)
    tools = [tool for tool in body.get("tools") or () if isinstance(tool, dict) and input_schema(tool) is not None]
    prompt = _prompt(body)
    if name is not None:
        tools = [tool for tool in tools if tool.get("name") == name]
    if not tools:
        return reply
    tool = max(tools, key=lambda tool: (server_result(tool) is None, _shared_words(tool, prompt)))
    value = value_of(input_schema(tool), prompt, _said(reply))
    given = value if isinstance(value, dict) else {}
    if server_result(tool) is not None:
        return replace(reply, parts=_served(body, str(tool.get("name")), given), stop_reason="end_turn")
    return replace(reply, parts=(ToolUse(str(tool.get("name")), given),), stop_reason=None)


def _served(body: Json, name: str, given: Json) -> tuple[Part, ...]:
    """A server tool that is forced: used once. What this server does not have is unavailable."""
    call = {"type": "server_tool_use", "id": f"srvtoolu_{uuid.uuid4().hex[:24]}", "name": name, "input": given}
    result = run(body, call)
    failed = isinstance(result["content"], dict) and "error_code" in result["content"]
    words = f"The practice server has no {name}." if failed else f"{name} found the results above."
    return (RawBlock(call), RawBlock(result), TextPart(words))


def _shared_words(tool: Json, prompt: str) -> int:
    words = set(re.findall(r"\w{3,}", prompt.casefold()))
    described = f"{tool.get('name')} {tool.get('description', '')}".replace("_", " ").casefold()
    return len(words & set(re.findall(r"\w{3,}", described)))


# ── text ────────────────────────────────────────────────────────────────────────────────────────────


def _with_format(reply: ScriptedReply, body: Json) -> ScriptedReply:
    """A reply that calls tools calls them; any other is JSON of the format's schema and nothing else."""
    schema = output_schema(body)
    if schema is None:
        return reply
    calls = tuple(part for part in reply.parts if isinstance(part, ToolUse | RawBlock))
    if calls:
        return replace(reply, parts=calls)
    value = value_of(schema, _prompt(body), _said(reply))
    return replace(reply, parts=(TextPart(json.dumps(value, ensure_ascii=False)),), stop_reason=None)


def output_schema(body: Json) -> Json | None:
    """The schema that a reply's text must fit; None: any text will do."""
    config = body.get("output_config")
    form = config.get("format") if isinstance(config, dict) else None
    form = form or body.get("output_format")
    schema = form.get("schema") if isinstance(form, dict) else None
    return schema if isinstance(schema, dict) else None


def _stopped(reply: ScriptedReply, sequences: list[str]) -> ScriptedReply:
    """The reply up to the first stop sequence in its text."""
    for number, part in enumerate(reply.parts):
        if not isinstance(part, TextPart):
            continue
        places = [(at, sequence) for sequence in sequences if (at := part.text.find(sequence)) >= 0]
        if places:
            at, sequence = min(places)
            rest = (TextPart(part.text[:at]),) if at else ()
            parts = (*reply.parts[:number], *rest)
            return replace(reply, parts=parts, stop_reason="stop_sequence", stop_sequence=sequence)
    return reply


# ── thinking and limits ─────────────────────────────────────────────────────────────────────────────


def thinks_about(body: Json, model: ServedModel, betas: frozenset[str]) -> bool:
    """The model thinks before it answers a request."""
    choice = body.get("tool_choice")
    thinking = body.get("thinking")
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if isinstance(choice, dict) and choice.get("type") in ("any", "tool"):
        return False
    if kind == "enabled":  # between tool calls such models think with a beta only
        answered = any(block.get("type") == "tool_result" for block in last_blocks(body))
        return not answered or INTERLEAVED_THINKING in betas
    return kind == "adaptive" or (kind is None and model.thinks)


def _thought(reply: ScriptedReply, body: Json, model: ServedModel) -> ThinkingPart:
    """The next step in a few words."""
    calls = [part.name for part in reply.parts if isinstance(part, ToolUse)]
    step = f"call {', '.join(dict.fromkeys(calls))}" if calls else "answer"
    asked = " ".join(_prompt(body).split())[:_LONGEST_THOUGHT]
    words = f"The last message: {asked}\nBy my rules the next step is to {step}."
    return ThinkingPart(words, shown=shows_thinking(body, model))


def shows_thinking(body: Json, model: ServedModel) -> bool:
    """The text of thinking is sent, and not only its signature."""
    thinking = body.get("thinking")
    display = thinking.get("display") if isinstance(thinking, dict) else None
    return model.shows_thinking if display is None else display != "omitted"


def limited(reply: ScriptedReply, max_tokens: object, counter: Counter) -> ScriptedReply:
    """The reply, cut where its tokens reach the limit."""
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool):
        return reply
    room, parts = max_tokens, list[Part]()
    for part in reply.parts:
        size = part_tokens(counter, part)
        if size > room:
            if (piece := _cut(part, room, counter)) is not None:
                parts.append(piece)
            return replace(reply, parts=tuple(parts), stop_reason="max_tokens", stop_sequence=None)
        parts.append(part)
        room -= size
    return reply


def _cut(part: Part, room: int, counter: Counter) -> Part | None:
    """The beginning of a part; None: there is no room for any of it."""
    whole, piece_of = _pieces(part)
    low, high = 0, len(whole)
    while low < high:
        middle = (low + high + 1) // 2
        if part_tokens(counter, piece_of(middle)) <= room:
            low = middle
        else:
            high = middle - 1
    piece = piece_of(low)
    blank = isinstance(piece, TextPart) and not piece.text.strip()
    return None if low == 0 or blank else piece


def _pieces(part: Part) -> tuple[str, Callable[[int], Part]]:
    """The text of a part, and the part cut to a number of characters."""
    match part:
        case TextPart(text):
            return text, lambda size: TextPart(text[:size].rstrip())
        case ThinkingPart(thinking):
            return thinking, lambda size: replace(part, thinking=thinking[:size], signed=False)
        case ToolUse():
            raw = compact(part.input) if part.raw_input is None else part.raw_input
            return raw, lambda size: replace(part, raw_input=raw[:size])
        case RawBlock():
            return "", lambda size: part


def _said(reply: ScriptedReply) -> str:
    return "\n\n".join(part.text for part in reply.parts if isinstance(part, TextPart))


def _prompt(body: Json) -> str:
    return without_reminders(last_text(body))


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str) and text] if isinstance(value, list) else []


EFFORT_SHARES = MappingProxyType({"low": 0.25, "medium": 0.5, "high": 1.0, "xhigh": 2.0, "max": 4.0})
"""What a reply needs with an effort, of what it needs without one."""
THOUGHT = "Many thoughts, which are counted and not sent."


def needed_tokens(reply: ScriptedReply, profile: Profile, body: Json) -> int | None:
    """Output tokens that the reply to a request needs; None: as many as its words have."""
    needed = reply.tokens
    if needed is None:
        needed = profile.summary_tokens if purpose(body) is Purpose.SUMMARY else profile.tokens
    config = body.get("output_config")
    share = EFFORT_SHARES.get(str(config.get("effort")), 1.0) if isinstance(config, dict) else 1.0
    return None if needed is None else int(needed * share)


def is_cut(reply: ScriptedReply, profile: Profile, body: Json) -> bool:
    """The reply needs more tokens than the request allows."""
    needed, cap = needed_tokens(rest_of(reply, body), profile, body), body.get("max_tokens")
    return needed is not None and isinstance(cap, int) and needed > cap


def sized(
    reply: ScriptedReply, profile: Profile, body: Json, counter: Counter, *, thinks: bool, shown: bool
) -> ScriptedReply:
    """The reply at the size that it needs: thinking before it if the model thinks, cut where `max_tokens` ends it.

    Args:
        thinks: the model thinks about this request.
        shown: the text of thinking is sent.
    """
    needed = needed_tokens(reply, profile, body)
    if needed is None:
        return reply
    thought = next((part for part in reply.parts if isinstance(part, ThinkingPart)), ThinkingPart(THOUGHT))
    thought = replace(thought, shown=thought.shown and shown)
    spoken = replace(reply, parts=tuple(part for part in reply.parts if not isinstance(part, ThinkingPart)))
    said = sum(part_tokens(counter, part) for part in spoken.parts)
    needed = max(needed, said)
    lead: tuple[Part, ...] = (thought,) if thinks else ()
    cap = body.get("max_tokens")
    if not isinstance(cap, int) or cap >= needed:
        return _counted(replace(spoken, parts=(*lead, *spoken.parts)), needed)
    room = cap - (needed - said) if thinks else said * cap // needed
    if thinks and room <= 0:
        only = (replace(thought, signed=False),)
        return _counted(replace(spoken, parts=only, stop_reason="max_tokens"), cap)
    cut = limited(spoken, room, counter)
    return _counted(replace(cut, parts=(*lead, *cut.parts), stop_reason="max_tokens"), cap)


def rest_of(reply: ScriptedReply, body: Json) -> ScriptedReply:
    """The reply without the beginning that the history has already, after a cut; only for replies with `tokens`."""
    texts = [part for part in reply.parts if isinstance(part, TextPart)]
    said = "".join(reversed(list(_last_words(body))))
    if reply.tokens is None or len(texts) != 1 or not said or not texts[0].text.startswith(said):
        return reply
    rest = TextPart(texts[0].text[len(said) :])
    tokens = reply.tokens * len(rest.text) // len(texts[0].text)
    return replace(reply, parts=tuple(rest if part is texts[0] else part for part in reply.parts), tokens=tokens)


def _last_words(body: Json) -> Iterator[str]:
    """The texts of the replies since the last tool result, newest first."""
    messages = [message for message in body.get("messages") or () if isinstance(message, dict)]
    for message in takewhile(_is_words, reversed(messages)):
        if message.get("role") == "assistant":
            yield "".join(block.get("text", "") for block in blocks(message.get("content")))


def _is_words(message: Json) -> bool:
    return not any(block.get("type") in ("tool_use", "tool_result") for block in blocks(message.get("content")))


def _counted(reply: ScriptedReply, tokens: int) -> ScriptedReply:
    given = reply.usage.output_tokens
    return replace(reply, usage=replace(reply.usage, output_tokens=tokens if given is None else given))
