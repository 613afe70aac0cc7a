"""Requests that the real API refuses, and in which words."""

import base64
import struct
from typing import Any, get_args, get_type_hints

import pytest
from anthropic.types import AnthropicBetaParam, ToolUnionParam
from anthropic.types.beta import BetaToolUnionParam

from harness.events import Block, Json
from harness.practice.checks.media import pixels
from harness.practice.checks.request import beta_problem, check
from harness.practice.checks.rules import TOOL_TYPES, ServerRules
from harness.practice.wire.prepared_reply import ByteCounter, sign
from tests.practice.raw_client import TOOL, request

VERSION = {"anthropic-version": "2026-10-21"}


def user(*content: Block | str) -> Json:
    return {"role": "user", "content": list(content) if content and not isinstance(content[0], str) else content[0]}


def assistant(*content: Block) -> Json:
    return {"role": "assistant", "content": list(content)}


def text(words: Any = "words") -> Block:
    return {"type": "text", "text": words}


def use(id: str = "toolu_1", **changes: Any) -> Block:
    return {"type": "tool_use", "id": id, "name": "bash", "input": {}} | changes


def result(id: str = "toolu_1", **changes: Any) -> Block:
    return {"type": "tool_result", "tool_use_id": id, "content": "done"} | changes


def image(data: str = "aGk=", media_type: str = "image/png") -> Block:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def png(width: int, height: int) -> str:
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)).decode()


def said(body: Json, rules: ServerRules | None = None, headers: dict[str, str] = VERSION) -> str | None:
    error = check(headers, body, rules or ServerRules(), ByteCounter())
    return None if error is None else f"{error.status} {error.message}"


def history(*messages: Json, **changes: Any) -> Json:
    return request(messages=list(messages), tools=[TOOL]) | changes


def system(content: Any = "Be terse.", **changes: Any) -> Json:
    return {"role": "system", "content": content} | changes


def form(schema: Json) -> Json:
    return {"format": {"type": "json_schema", "schema": schema}}


OLDER = {"anthropic-version": "2023-06-01"}
CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
LATER = {"type": "ephemeral", "ttl": "1h"}
SIGNED = sign("hm", history(user("hi")), 1)
CACHED = {"cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize(
    "body",
    [
        request(),
        request(system="Be kind.", stop_sequences=["x"], metadata={}, thinking={"type": "adaptive"}),
        request(model="claude-sonnet-4-6"),
        request(model="claude-opus-4-5-20251101", max_tokens=64_000),
        history(user("hi"), assistant(text(), use()), user(result(), text())),
        history(user("hi"), assistant(use("a"), use("b")), user(result("b"), result("a", content=[text()]))),
        history(user("hi"), assistant(use("a")), user(result("a")), user(text())),
        history(user("hi"), user("there"), assistant(text()), user("you")),
        history(
            user("hi"), assistant({"type": "thinking", "thinking": "hm", "signature": SIGNED}, text()), user("so?")
        ),
        history(user("hi"), assistant({"type": "hologram", "colour": "blue"}, text()), user("so?")),
        history(user("hi"), assistant({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web", "input": {}})),
        history(user(image(png(7000, 10)), text())),
        request(model="claude-haiku-4-5", messages=[user("hi"), assistant(text("Well,"))]),
        request(thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=2000),
        history(user("hi"), system()),
        history(user("hi"), system([text()]), system(), assistant(text()), user("so?")),
        history(user("hi"), assistant(use()), user(result()), system(), assistant(text()), user("x")),
        history(user("hi"), assistant({"type": "server_tool_use", "id": "s", "name": "w", "input": {}}), system()),
        history(system([], output_config={"effort": "low"}), user("hi")),
        request(model="claude-opus-4-0"),
        request(output_config={"effort": "xhigh"} | form(CLOSED)),
        request(thread=None),
        request(tools=[{"type": "bash_20250124", "name": "bash"}, {"type": "mcp_toolset", "mcp_server_name": "m"}]),
        request(tools=[TOOL | {"type": "custom", "strict": True, "eager_input_streaming": True}]),
        history(user(text() | {"cache_control": LATER}, text() | CACHED)),
    ],
)
def test_valid_requests_are_taken(body: Json) -> None:
    assert said(body) is None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "model: Field required"),
        ({"model": "practice-1", "messages": []}, "max_tokens: Field required"),
        (request(max_tokens=0), "max_tokens: Input should be greater than or equal to 1"),
        (request(max_tokens="9"), "max_tokens: Input should be a valid integer"),
        (request(messages="hi"), "messages: Input should be a valid array"),
        (request(stream="yes"), "stream: Input should be a valid boolean"),
        (request(wisdom=3), "wisdom: Extra inputs are not permitted"),
        (request(temperature=1.0), "temperature: sampling parameters are not supported as of API version 2026-10-21"),
        (
            request(model="claude-opus-5", max_tokens=128_001),
            "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-opus-5",
        ),
        (
            history(user("hi"), system(), model="claude-sonnet-5"),
            "role 'system' is not supported on this model",
        ),
        (
            history(system(), user("hi")),
            (
                "messages.0: use the top-level 'system' parameter for the initial system prompt; the directive-only "
                "form (content: [] with output_config) is accepted at any position"
            ),
        ),
        (
            history(user("hi"), assistant(use()), system(), user(result())),
            (
                "messages.2: a `system` message must follow a `user` message, or an `assistant` message that ends in "
                "server tool use"
            ),
        ),
        (
            history(user("hi"), system(), user("there")),
            "messages.1: a `system` message must be the last, or be followed by an `assistant` message",
        ),
        (
            history(user("hi"), system([image()])),
            "messages.1.content.0: `image` blocks are not permitted in `system` messages",
        ),
        (history(user("hi"), system(name="x")), "messages.1.name: Extra inputs are not permitted"),
        (
            history(user("hi"), system([])),
            "messages.1: all messages must have non-empty content except for the optional final assistant message",
        ),
        (
            request(tools=[{"type": "function", "function": {}}]),
            "tools.0: Input tag 'function' found using 'type' does not match any of the expected tags: "
            + ", ".join(f"'{name}'" for name in sorted((*TOOL_TYPES, "custom"))),
        ),
        (
            request(tools=[{"type": "bash_20250124", "name": "shell"}]),
            "tools.0.bash_20250124.name: Input should be 'bash'",
        ),
        (request(tools=[TOOL | {"parameters": {}}]), "tools.0.custom.parameters: Extra inputs are not permitted"),
        (
            request(tool_choice={"type": "any"}),
            "tool_choice: tool_choice may only be specified while providing tools",
        ),
        (
            request(tools=[TOOL], tool_choice={"type": "auto", "disable_parallel_tool_use": "no"}),
            "tool_choice.auto.disable_parallel_tool_use: Input should be a valid boolean",
        ),
        (
            request(tools=[TOOL], tool_choice={"type": "any"}, thinking={"type": "adaptive"}),
            "Thinking may not be enabled when tool_choice forces tool use.",
        ),
        (request(stop_sequences="x"), "stop_sequences: Input should be a valid array"),
        (request(stop_sequences=["x", 1]), "stop_sequences.1: Input should be a valid string"),
        (request(stop_sequences=[" "]), "stop_sequences: each stop sequence must contain non-whitespace"),
        (
            request(output_config={"effort": "huge"}),
            "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
        ),
        (
            request(model="claude-haiku-4-5", output_config={"effort": "low"}),
            "This model does not support the effort parameter.",
        ),
        (
            request(model="claude-opus-4-5", output_config={"effort": "max"}),
            "This model does not support effort level 'max'. Supported levels: high, low, medium.",
        ),
        (
            request(model="claude-sonnet-4-6", output_config={"effort": "xhigh"}),
            "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
        ),
        (
            request(model="claude-opus-5", thinking={"type": "disabled"}, output_config={"effort": "xhigh"}),
            (
                "output_config.effort 'xhigh' is not supported when thinking is disabled on this model. "
                "Use effort 'high' or below, or enable thinking."
            ),
        ),
        (request(output_config={"size": 1}), "output_config.size: Extra inputs are not permitted"),
        (
            request(output_config={"format": {"type": "json"}}),
            "output_config.format.type: Input should be 'json_schema'",
        ),
        (
            request(output_config={"format": {"type": "json_schema"}}),
            "output_config.format.schema: Field required",
        ),
        (
            request(
                output_config=form(
                    {"type": "object", "properties": {"a": {"type": "object"}}}
                    | CLOSED
                    | {"$defs": {"b": {"type": "object"}}}
                )
            ),
            "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
        ),
        (
            request(
                output_config=form(CLOSED | {"properties": {"a": {"type": "integer", "minimum": 1, "maximum": 2}}})
            ),
            "output_config.format.schema: For 'integer' type, properties maximum, minimum are not supported",
        ),
        (
            request(thinking={"type": "adaptive", "display": "big"}),
            "thinking.adaptive.display: Input should be 'summarized' or 'omitted'",
        ),
        (
            history(user(text() | CACHED, text() | {"cache_control": LATER})),
            (
                "messages.0.content.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
                "cache_control block. Note that blocks are processed in the following order: `tools`, `system`, "
                "`messages`."
            ),
        ),
        (
            history(user(text() | {"cache_control": {"type": "ephemeral", "ttl": "1d"}})),
            "messages.0.content.0.cache_control.ttl: Input should be '5m' or '1h'",
        ),
        (request(thinking={"type": "on"}), "thinking.type: Input should be 'adaptive', 'enabled' or 'disabled'"),
        (
            request(model="claude-opus-5-5", thinking={"type": "enabled", "budget_tokens": 2000}),
            '"thinking.type.enabled" is not supported for this model.',
        ),
        (
            request(model="claude-haiku-4-5", thinking={"type": "adaptive"}),
            "adaptive thinking is not supported on this model",
        ),
        (
            request(thinking={"type": "enabled", "budget_tokens": 3000}, max_tokens=2000),
            "`max_tokens` must be greater than `thinking.budget_tokens`",
        ),
        (request(tools=[TOOL, TOOL]), "tools: Tool names must be unique."),
        (
            request(tools=[TOOL | {"name": "a b"}]),
            "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        ),
        (request(tools=[{"name": "a"}]), "tools.0.custom.input_schema: Field required"),
        (request(tools=[TOOL | {"input_schema": {}}]), "tools.0.custom.input_schema.type: Input should be 'object'"),
        (
            request(model="claude-opus-5-5", tools=[TOOL], tool_choice={"type": "any"}),
            'tool_choice: type "tool" and "any" are not supported for this model.',
        ),
        (
            request(tools=[TOOL], tool_choice={"type": "tool", "name": "ls"}),
            "tool_choice: Tool 'ls' not found in provided tools",
        ),
        (
            history(user("hi"), assistant(use()), user(result()), tools=[]),
            "Requests which include `tool_use` or `tool_result` blocks must define tools",
        ),
        (request(system=[text("")]), "system: text content blocks must be non-empty"),
        (request(system=[text(" ")]), "system: text content blocks must contain non-whitespace text"),
        (request(system=3), "system: Input should be a valid string or array"),
        (request(messages=[]), "messages: at least one message is required"),
        (request(messages=["hi"]), "messages.0: Input should be an object"),
        (request(messages=[user("hi") | {"id": 1}]), "messages.0.id: Extra inputs are not permitted"),
        (
            request(messages=[{"role": "robot", "content": "x"}]),
            "messages.0.role: Input should be 'user' or 'assistant'",
        ),
        (request(messages=[{"role": "user"}]), "messages.0.content: Field required"),
        (
            history(user("hi"), {"role": "assistant", "content": []}, user("so?")),
            "messages.1: all messages must have non-empty content except for the optional final assistant message",
        ),
        (
            history({"role": "user", "content": ""}),
            "messages.0: all messages must have non-empty content except for the optional final assistant message",
        ),
        (history(assistant(text()), user("hi")), 'messages: first message must use the "user" role'),
        (history(user(text(""))), "messages: text content blocks must be non-empty"),
        (history(user(text(" \n"))), "messages: text content blocks must contain non-whitespace text"),
        (history(user("  ")), "messages: text content blocks must contain non-whitespace text"),
        (history(user(text(None))), "messages.0.content.0.text.text: Input should be a valid string"),
        (history(user({"text": "x"})), "messages.0.content.0.type: Field required"),
        (history(user(use())), "messages.0.content.0: `tool_use` blocks are not permitted in `user` messages"),
        (
            history(user("hi"), assistant(result()), user("x")),
            "messages.1.content.0: `tool_result` blocks are not permitted in `assistant` messages",
        ),
        (
            history(user("hi"), assistant({"type": "document"}), user("x")),
            "messages.1.content.0: `document` blocks are not permitted in `assistant` messages",
        ),
        (
            history(user("hi"), assistant(use(text=None)), user(result())),
            "messages.1.content.0.tool_use.text: Extra inputs are not permitted",
        ),
        (
            history(user("hi"), assistant(use(input=[1])), user(result())),
            "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
        ),
        (
            history(user("hi"), assistant(use(id="a b")), user(result("a b"))),
            "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        (
            history(user("hi"), assistant(use()), user(result(is_error="no"))),
            "messages.2.content.0.tool_result.is_error: Input should be a valid boolean",
        ),
        (
            history(user("hi"), assistant(use()), user(result(content=[text("")]))),
            "messages: text content blocks must be non-empty",
        ),
        (
            history(user("hi"), assistant(use("a"), use("b")), user(result("a"))),
            (
                "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b. Each "
                "`tool_use` block must have a corresponding `tool_result` block in the next message."
            ),
        ),
        (
            history(user("hi"), assistant(use()), user(text(), result())),
            (
                "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each "
                "`tool_use` block must have a corresponding `tool_result` block in the next message."
            ),
        ),
        (
            history(user("hi"), assistant(use())),
            (
                "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each "
                "`tool_use` block must have a corresponding `tool_result` block in the next message."
            ),
        ),
        (
            history(user("hi"), assistant(text()), user(text(), result("toolu_9"))),
            (
                "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9. Each "
                "`tool_result` block must have a corresponding `tool_use` block in the previous message."
            ),
        ),
        (
            history(user("hi"), assistant(use()), user(result(), result())),
            (
                "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks "
                "with id: toolu_1"
            ),
        ),
        (
            history(user("hi"), assistant(use()), user(result()), assistant(use()), user(result())),
            "messages.3: `tool_use` ids must be unique. Found `toolu_1` again.",
        ),
        (
            history(user("hi"), assistant({"type": "thinking", "thinking": "hm", "signature": ""}, text()), user("x")),
            "messages.1.content.0: signature: Field required",
        ),
        (
            history(
                user("hi"), assistant({"type": "thinking", "thinking": "!!", "signature": SIGNED}, text()), user("x")
            ),
            "messages.1.content.0: Invalid `signature` in `thinking` block",
        ),
        (
            history(user("hi"), assistant({"type": "thinking", "thinking": "hm", "signature": SIGNED}), user("x")),
            "messages.1: The final block in an assistant message cannot be `thinking`.",
        ),
        (
            history(user("hi"), assistant(text())),
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ),
        (
            request(model="claude-haiku-4-5", messages=[user("hi"), assistant(text("Well, "))]),
            "messages: final assistant content cannot end with trailing whitespace",
        ),
        (
            history(user(text() | CACHED, text() | CACHED), system=[text() | CACHED], tools=[TOOL | CACHED] * 1)
            | {"cache_control": {"type": "ephemeral"}},
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
        (history(user(text() | {"cache_control": {}})), "cache_control.type: Input should be 'ephemeral'"),
        (
            history(user(image(png(9000, 10)))),
            (
                "messages.0.content.0.image.source: At least one of the image dimensions exceed max allowed size: "
                "8000 pixels"
            ),
        ),
        (
            history(user(*[image(png(2001, 10))] * 21)),
            (
                "messages.0.content.0.image.source: At least one of the image dimensions exceed max allowed size for "
                "many-image requests: 2000 pixels"
            ),
        ),
        (
            history(user(image("A" * 10485764))),
            "messages.0.content.0.image.source.base64: image exceeds 10 MB maximum: 10485764 bytes > 10485760 bytes",
        ),
        (history(user(image("?"))), "messages.0.content.0.image.source.base64.data: Invalid base64 data"),
        (
            history(user(image(media_type="image/bmp"))),
            (
                "messages.0.content.0.image.source.base64.media_type: Input should be one of 'image/png', "
                "'image/jpeg', 'image/gif', 'image/webp'"
            ),
        ),
    ],
)
def test_invalid_requests_are_refused_in_the_words_of_the_api(body: Json, message: str) -> None:
    assert said(body) == f"400 {message}"


def test_an_unknown_model_is_not_found() -> None:
    assert said(request(model="claude-9")) == "404 model: claude-9"


def test_the_version_header_is_required_and_older_versions_allow_sampling() -> None:
    assert said(request(), headers={}) == "400 anthropic-version: header is required"
    assert said(request(temperature=0.5), headers={"anthropic-version": "2023-06-01"}) is None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (request(temperature=0.5), None),
        (request(temperature=5), "temperature: range: 0..1"),
        (request(temperature="warm"), "temperature: Input should be a valid number"),
        (request(top_p=1.5), "top_p: range: 0..1"),
        (request(top_k=-1), "top_k: Input should be greater than or equal to 0"),
        (request(model="claude-opus-4-7", temperature=0.5), "`temperature` is deprecated for this model."),
        (request(model="claude-opus-4-7", temperature=1), None),
        (
            request(temperature=1, top_p=0.9),
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        ),
        (
            request(temperature=0.5, thinking={"type": "adaptive"}),
            (
                "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode. Please consult our "
                "documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
            ),
        ),
        (request(temperature=1, thinking={"type": "adaptive"}), None),
    ],
)
def test_sampling_has_its_ranges_in_the_versions_that_have_it(body: Json, message: str | None) -> None:
    assert said(body, headers=OLDER) == (None if message is None else f"400 {message}")


def test_betas_are_known_ones() -> None:
    unknown = said(request(), headers=VERSION | {"anthropic-beta": "pdfs-2024-09-25, telepathy-2026-01-01"})
    assert unknown is not None
    assert unknown.startswith("400 Unexpected value(s) `telepathy-2026-01-01` for the `anthropic-beta` header.")
    rules = ServerRules(betas=frozenset({"telepathy-2026-01-01"}))
    assert said(request(), rules, headers=VERSION | {"anthropic-beta": "telepathy-2026-01-01"}) is None


def test_every_beta_of_the_sdk_is_known() -> None:
    listed = next(each for each in get_args(AnthropicBetaParam) if each is not str)
    assert beta_problem(get_args(listed)) is None


def test_every_type_of_tool_of_the_sdk_is_known() -> None:
    for tool in (*get_args(ToolUnionParam), *get_args(BetaToolUnionParam)):
        for type_ in get_args(get_args(get_type_hints(tool, include_extras=True)["type"])[0]):
            if isinstance(type_, str) and type_ != "custom":
                assert type_ in TOOL_TYPES


def test_the_window_is_measured_by_the_real_size() -> None:
    words = request(messages=[user("word " * 700)])
    count = ByteCounter().count_text("word " * 700)
    message = said(words, ServerRules(window=900))
    assert message is not None
    assert message.startswith(f"400 prompt is too long: {count // 100}")
    assert message.endswith(" tokens > 900 maximum")
    assert said(words, ServerRules(window=2000)) is None


def test_older_models_refuse_what_could_pass_the_window() -> None:
    rules = ServerRules(window=500)
    message = said(request(model="claude-opus-4", max_tokens=490), rules)
    assert message is not None
    assert "input length and `max_tokens` exceed context limit: " in message
    assert message.endswith("> 500, decrease input length or `max_tokens` and try again")
    assert said(request(max_tokens=490), rules) is None
    assert said(request(max_tokens=490), ServerRules(window=500, strict_overflow=True)) is not None


def test_bound_thinking_is_invalid_once_something_before_it_changed() -> None:
    rules = ServerRules(bind_thinking=True)
    thought = assistant({"type": "thinking", "thinking": "hm", "signature": SIGNED}, text())
    assert said(history(user("hi"), thought, user("so?")), rules) is None
    assert said(history(user(text("hi") | CACHED), thought, user("so?")), rules) is None
    changed = said(history(user("hello"), thought, user("so?")), rules)
    assert changed is not None
    assert "bound to a different conversation" in changed


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b"GIF89a" + struct.pack("<HH", 3, 4), (3, 4)),
        (b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x04\x00\x03\x03", (3, 4)),
        (b"\xff\xd8\xff", ()),
        (b"RIFF", ()),
        (b"", ()),
    ],
)
def test_the_size_of_an_image_is_read_from_its_first_bytes(data: bytes, size: tuple[int, ...]) -> None:
    assert pixels(data) == size
