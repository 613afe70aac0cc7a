"""The problems with the messages of a request."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.events import Block, Json
from harness.model.catalogue import known_card
from harness.practice.checks.media import document_problems, image_problems
from harness.practice.checks.rules import ServedModel
from harness.practice.requests import blocks
from harness.practice.web import seal_problems
from harness.practice.wire.prepared_reply import signature_problem

_ONLY_ASSISTANT = ("tool_use", "thinking", "redacted_thinking")
_ONLY_USER = ("tool_result", "image", "document")
_TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")


@dataclass(frozen=True, slots=True)
class _Merged:
    """Neighbours of one role, which the API reads as one message."""

    number: int
    role: str
    content: list[Block]

    def of_type(self, type_: str) -> list[Block]:
        return [block for block in self.content if block.get("type") == type_]


def message_problems(body: Json, model: ServedModel, *, bound: bool) -> Iterator[str]:
    """The problems with messages of the right shape, in the order of the API.

    `bound`: a thinking block is valid only while everything before it is unchanged.
    """
    messages = body["messages"]
    if not messages:
        yield "messages: at least one message is required"
        return
    yield from _content_problems(messages, model)
    for number, message in enumerate(messages):
        for index, block in enumerate(blocks(message.get("content"))):
            yield from _block_problems(block, message["role"], f"messages.{number}.content.{index}")
    yield from _system_place_problems(messages)
    merged = _merged(messages)
    yield from _pairing_problems(merged)
    yield from _server_tool_problems(merged)
    yield from _thinking_problems(body, bound=bound)
    yield from image_problems(messages)
    yield from document_problems(messages, known_card(str(body.get("model"))).window)
    if merged and messages[-1]["role"] != "system":
        yield from _last_message_problems(merged[-1], model)


def _content_problems(messages: Sequence[Json], model: ServedModel) -> Iterator[str]:
    for number, message in enumerate(messages):
        is_system = message["role"] == "system"
        if is_system and not model.system_messages:
            yield "role 'system' is not supported on this model"
        directive = is_system and message.get("output_config")
        final = number == len(messages) - 1 and message["role"] == "assistant"
        if not (message.get("content") or directive or final):
            yield (
                f"messages.{number}: all messages must have non-empty content except for the optional final "
                "assistant message"
            )
    if messages[0]["role"] == "system" and messages[0].get("content"):
        yield (
            "messages.0: use the top-level 'system' parameter for the initial system prompt; the directive-only form "
            "(content: [] with output_config) is accepted at any position"
        )
    if messages[0]["role"] == "assistant":
        yield 'messages: first message must use the "user" role'


def _system_place_problems(messages: Sequence[Json]) -> Iterator[str]:
    """A system message comes between a user message and its answer."""
    for number, message in enumerate(messages):
        if message["role"] != "system" or not message.get("content"):
            continue
        before = next((earlier for earlier in reversed(messages[:number]) if earlier["role"] != "system"), None)
        after = next((later for later in messages[number + 1 :] if later["role"] != "system"), None)
        if before is not None and before["role"] == "assistant" and not _ends_in_server_tool(before):
            yield (
                f"messages.{number}: a `system` message must follow a `user` message, or an `assistant` message that "
                "ends in server tool use"
            )
        if after is not None and after["role"] != "assistant":
            yield f"messages.{number}: a `system` message must be the last, or be followed by an `assistant` message"


def _ends_in_server_tool(message: Json) -> bool:
    content = blocks(message.get("content"))
    return bool(content) and str(content[-1].get("type")).endswith(("server_tool_use", "_tool_result"))


def _block_problems(block: Block, role: str, at: str) -> Iterator[str]:
    kind = block["type"]
    if (role == "user" and kind in _ONLY_ASSISTANT) or (role == "assistant" and kind in _ONLY_USER):
        yield f"{at}: `{kind}` blocks are not permitted in `{role}` messages"
    match kind:
        case "text" if problem := text_problem(block, "messages"):
            yield problem
        case "text" if role == "user" and block.get("citations"):
            yield f"{at}.text.citations: citations are not permitted in `user` messages"
        case "tool_use" if not _TOOL_ID.fullmatch(block["id"]):
            yield f"{at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        case "tool_use" if not block["name"]:
            yield f"{at}.tool_use.name: String should have at least 1 character"
        case "tool_result":
            if block.get("is_error") and not block.get("content"):
                yield f"{at}.tool_result: content cannot be empty if `is_error` is true"
            yield from filter(None, (text_problem(part, "messages") for part in _parts(block)))


def _parts(result: Block) -> Sequence[Block]:
    content = result.get("content")
    return content if isinstance(content, list) else ()


def text_problem(block: Block, where: str) -> str | None:
    """The problem with a text block of the messages or the system prompt."""
    if block["type"] != "text" or block["text"].strip():
        return None
    return f"{where}: text content blocks must {'contain non-whitespace text' if block['text'] else 'be non-empty'}"


def _merged(messages: Sequence[Json]) -> list[_Merged]:
    """The conversation without its system messages, which are checked apart."""
    merged: list[_Merged] = []
    for number, message in enumerate(messages):
        if message["role"] == "system":
            continue
        if merged and merged[-1].role == message["role"]:
            merged[-1].content.extend(blocks(message["content"]))
        else:
            merged.append(_Merged(number, message["role"], blocks(message["content"])))
    return merged


def _pairing_problems(merged: Sequence[_Merged]) -> Iterator[str]:
    seen: set[str] = set()
    for position, message in enumerate(merged):
        uses = [block["id"] for block in message.of_type("tool_use")]
        for id in uses:
            if id in seen:
                yield f"messages.{message.number}: `tool_use` ids must be unique. Found `{id}` again."
            seen.add(id)
        following = merged[position + 1] if position + 1 < len(merged) else None
        if uses:
            yield from _missing_results(message, uses, following)
        before = merged[position - 1].of_type("tool_use") if position else []
        yield from _stray_results(message, {block["id"] for block in before})


def _missing_results(message: _Merged, uses: Sequence[str], following: _Merged | None) -> Iterator[str]:
    leading = []
    for block in following.content if following else ():
        if block.get("type") != "tool_result":
            break
        leading.append(block["tool_use_id"])
    if missing := [id for id in uses if id not in leading]:
        yield (
            f"messages.{message.number}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )


def _stray_results(message: _Merged, asked: set[str]) -> Iterator[str]:
    answered: set[str] = set()
    for index, block in enumerate(message.content):
        if block.get("type") != "tool_result":
            continue
        id = block["tool_use_id"]
        if id not in asked:
            yield (
                f"messages.{message.number}.content.{index}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if id in answered:
            yield (
                f"messages.{message.number}.content.{index}: each tool_use must have a single result. Found multiple "
                f"`tool_result` blocks with id: {id}"
            )
        answered.add(id)


def _server_tool_problems(merged: Sequence[_Merged]) -> Iterator[str]:
    """A result follows its call: in the same message, or in the next with only tool results in between. The last
    message may lack it, because the server continues it."""
    waiting: dict[str, str] = {}
    for position, message in enumerate(merged):
        if message.role == "user":
            if waiting and any(block.get("type") != "tool_result" for block in message.content):
                yield _without_result(merged[position - 1].number, waiting)
            continue
        if any(block.get("type") == "web_search_tool_result" or block.get("citations") for block in message.content):
            yield from seal_problems(message.content, f"messages.{message.number}.content")
        before, waiting = waiting, {}
        for block in message.content:
            kind = str(block.get("type"))
            if kind == "server_tool_use":
                waiting[str(block.get("id"))] = str(block.get("name"))
            elif kind.endswith("_tool_result"):
                id = str(block.get("tool_use_id"))
                if waiting.pop(id, None) is None and before.pop(id, None) is None:
                    yield (
                        f"messages.{message.number}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. Each "
                        f"`{kind}` block must have a corresponding `server_tool_use` block before it."
                    )
        if before:
            yield _without_result(message.number, before)


def _without_result(number: int, waiting: Mapping[str, str]) -> str:
    id, name = next(iter(waiting.items()))
    return (
        f"messages.{number}: `{name}` tool use with id `{id}` was found without a corresponding "
        f"`{name}_tool_result` block"
    )


def _thinking_problems(body: Json, *, bound: bool) -> Iterator[str]:
    for number, message in enumerate(body["messages"]):
        content = blocks(message.get("content"))
        for index, block in enumerate(content):
            if block.get("type") != "thinking":
                continue
            problem = signature_problem(block, body, number, bound=bound)
            if problem is not None:
                yield f"messages.{number}.content.{index}: {problem}"
        if content and content[-1].get("type") in ("thinking", "redacted_thinking"):
            yield f"messages.{number}: The final block in an assistant message cannot be `{content[-1]['type']}`."


def _last_message_problems(last: _Merged, model: ServedModel) -> Iterator[str]:
    if last.role != "assistant" or last.of_type("server_tool_use"):
        return
    if not model.prefill:
        yield ("This model does not support assistant message prefill. The conversation must end with a user message.")
    text = last.content[-1].get("text", "") if last.content else ""
    if text != text.rstrip():
        yield "messages: final assistant content cannot end with trailing whitespace"
