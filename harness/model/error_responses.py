"""Read error responses: bodies of several servers, headers, a clean one-line message, and patterns for the texts.

There is one pattern per wording seen in practice. Named groups capture numbers: `tokens`, the size of the prompt, and
`limit`. Patterns have to be specific: "no longer" is not "too long", and the digits in "214290 tokens" are no status.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from harness.base.secrets import MASK
from harness.events import FaultKind


@dataclass(frozen=True, slots=True)
class ErrorMatch:
    """A recognised error text."""

    kind: FaultKind
    tokens: int | None = None
    """Size of the prompt in tokens, where the text states it."""
    limit: int | None = None
    """The exceeded limit in tokens, where the text states it."""


_N = r"\d[\d,_]*"

_TOO_LONG = (
    # Anthropic; also the form that gateways shorten
    rf"prompt is too long(?:: (?P<tokens>{_N}) tokens > (?P<limit>{_N}) maximum)?",
    # Amazon Bedrock
    r"input is too long for (?:the )?requested model",
    # OpenAI and compatible servers
    rf"maximum context length is (?P<limit>{_N}) tokens.{{0,80}}?(?:requested|resulted in) (?:about )?(?P<tokens>{_N})",
    rf"maximum context length is (?P<limit>{_N}) tokens",
    r"\bcontext_length_exceeded\b",
    r"input tokens exceed the configured limit",
    # Google Gemini
    rf"input token count \(?(?P<tokens>{_N})\)? exceeds the maximum(?: number of tokens allowed)? \(?(?P<limit>{_N})",
    r"input token count .{0,20}exceeds the maximum",
    # llama.cpp
    rf"request \((?P<tokens>{_N}) tokens\) exceeds the available context size \((?P<limit>{_N})",
    r"exceeds? the available context size",
    # LM Studio
    rf"n_keep: ?(?P<tokens>{_N}) ?>=? ?n_ctx: ?(?P<limit>{_N})",
    rf"keep the first (?P<tokens>{_N}) tokens when.{{0,80}}?context length of only (?P<limit>{_N}) tokens",
    # Gateways and routers
    r"\bprompt_too_long\b",
    r"\binput_too_long\b",
    rf"too many (?:input )?tokens: (?P<tokens>{_N})\D{{1,40}}?(?P<limit>{_N})",
    r"too many (?:input )?tokens(?! per)",
    r"exceeds? the (?:model'?s |maximum )?context (?:window|length|limit)",
    rf"context window (?:of (?P<limit>{_N}) tokens )?(?:is |was )?exceeded",
    rf"input \((?P<tokens>{_N}) tokens\) is longer than the model'?s context length \((?P<limit>{_N})",
    rf"prompt (?:token count|length) (?:of )?\(?(?P<tokens>{_N})\)? exceeds the limit (?:of )?\(?(?P<limit>{_N})",
)

_OUTPUT_CAP = (
    # vLLM: prompt and requested output together do not fit
    rf"maximum context length is (?P<limit>{_N}) tokens.{{0,80}}?\((?P<tokens>{_N}) in the messages, {_N} in the",
    rf"is too large: {_N}.{{0,80}}?context length is (?P<limit>{_N}) tokens.{{0,40}}?has (?P<tokens>{_N}) input tokens",
    rf"input length and `?max_tokens`? exceed context limit(?:: (?P<tokens>{_N}) \+ {_N} > (?P<limit>{_N}))?",
    rf"max_tokens: {_N} > (?P<limit>{_N}), which is the maximum allowed number of output tokens",
    rf"max_tokens is too large: {_N}.{{0,80}}?supports at most (?P<limit>{_N})",
)

_MEDIA = (
    r"image exceeds .{0,20}maximum",
    r"image dimensions exceed max allowed size",
    r"could not process (?:the )?(?:image|pdf|document)",
    r"image does not match the provided media type",
    r"(?:pdf|document)(?: specified)? (?:is password protected|cannot be read|was not valid)",
    r"maximum of \d+ (?:pdf )?pages may be provided",
    r"too many (?:images|image blocks)",
    r"\bimage_dimensions_too_large\b",
)

_SIGNATURE = (
    r"invalid `?signature`? in `?thinking`? block",
    r"`?thinking`? or `?redacted_thinking`? blocks in the latest assistant message cannot be modified",
    r"expected `?thinking`?(?: or `?redacted_thinking`?)?, but found",
    r"\bthinking\.signature: (?:field required|input should be)",
    r"must start with a thinking block",
    r"\bthinking`? in the thinking mode must be passed back",
)

_BILLING = (r"credit balance is too low", r"\binsufficient (?:credits?|funds|balance)\b")

_QUOTA = (
    r"reached your specified .{0,30}usage limits",
    r"exceeded your current quota",
    r"\binsufficient_quota\b",
    r"\bspend(?:ing)? (?:limit|cap)\b",
)

_HISTORY = (
    r"tool use with id \S+ was found without a corresponding `?\w+_tool_result`? block",
    r"unexpected `?tool_use_id`? found in `?\w+_tool_result`? blocks",
    r"invalid `?encrypted_(?:content|index)`?",
    r"`?tool_use`? ids were found without `?tool_result`? blocks",
    r"unexpected `?tool_use_id`? found in `?tool_result`? blocks",
    r"`?tool_use`? ids must be unique",
    r"each `?tool_use`? (?:block )?must have (?:a single|exactly one) result",
    r"multiple `?tool_result`? blocks with id",
    r"did not find \d+ `?tool_result`? block",
    r"`?tool_result`? block\(s\) provided when",
    r"`?tool_result`? blocks? (?:must|can only) (?:be|come|follow)",
    r"final block in an assistant message cannot be `?thinking",
    r"tool_use\.(?:id|name): (?:string should|field required|input should)",
    r"messages\.\d+\.content\.\d+\.text: field required",
    r"an assistant message with '?tool_calls'? must be followed by",
    r"tool_use\.input: input should be a valid dictionary",
    r"text content blocks must (?:be non-empty|contain non-whitespace text)",
    r"must have non-empty content",
    r"final assistant content cannot end with trailing whitespace",
    r"at least one message is required",
    r"must end with a user message",
    r"first message must use the `?user`? role",
    r"roles must alternate",
    r"blocks with cache_control may be provided",
    r"`?thinking`? block(?:s)? must (?:be|contain)",
)

_CACHE_MARKS = (
    r"cache_control.{0,40}(?:extra inputs|not (?:permitted|supported|allowed)|un(?:known|recognized|expected))",
    r"\b(?:un(?:known|recognized|expected|supported)|extra)\b.{0,60}cache_control",
)

_NOT_TAKEN = (
    r"(?:extra inputs|not (?:permitted|supported|allowed)|un(?:known|recognized|expected|supported)|input should be)"
)
_REPLY_SETTINGS = (
    r"does not support (?:the effort parameter|effort level)",
    r"adaptive thinking is not supported",
    rf"^thinking: .{{0,40}}{_NOT_TAKEN}",
    rf"\bthinking\.(?:type|adaptive|display|enabled|disabled)\b.{{0,60}}{_NOT_TAKEN}",
    rf"\boutput_config\.effort\b.{{0,60}}{_NOT_TAKEN}",
)

_ANSWER_FORMAT = (
    r"output_config(?:\.format)?\b.{0,80}(?:extra inputs|not (?:permitted|supported|allowed)|unsupported|unknown)",
    r"output_config\.format\.schema\b",
    r"\bun(?:supported|known|recognized|expected)\b.{0,60}output_config",
    r"(?:structured outputs?|output format|json_schema).{0,40}\b(?:not (?:supported|available)|unsupported)",
    r"schema is too complex",
)
_WEB = r"web[ _](?:search|fetch)(?:_\d{8})?"
_SERVER_TOOLS = (
    # Anthropic: unknown tool version, unsupported model, disabled for the organization
    rf"input tag ['\"]{_WEB}['\"] found",
    rf"does not support (?:the )?tool types?:? .{{0,80}}?{_WEB}",
    rf"{_WEB}.{{0,40}}\bis (?:not enabled|not available|disabled)",
    # Gateways and other servers
    rf"\bun(?:supported|known|recognized|expected)\b.{{0,60}}{_WEB}",
    rf"{_WEB}['\"`]?.{{0,40}}\b(?:not (?:permitted|supported|allowed|implemented)|unsupported|unknown)",
    r"\b(?:un(?:supported|known)|invalid) tool type\b",
)

_TEXT_AFTER_RESULTS = (r"unexpected role ['\"`]?user['\"`]? after role ['\"`]?tool",)  # Mistral, and gateways to it

_CACHE_DIAGNOSTICS = (
    r"\bdiagnostics\b.{0,40}(?:extra inputs|not (?:permitted|supported|allowed)|un(?:known|recognized|expected))",
    r"\b(?:un(?:known|recognized|expected|supported)|extra)\b.{0,60}\bdiagnostics\b",
)

_MODEL = (
    r"^model: \S+$",
    r"model [`'\"]?[\w./:@-]+[`'\"]? (?:does not exist|was not found|not found|is not available)",
    r"\bmodel_not_found\b",
    r"\b(?:invalid|unknown) model name\b",
    r"no such model\b",
    r"no endpoints found for \S+",
)

_TABLE = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL | re.MULTILINE), kind)
    for kind, patterns in (
        (FaultKind.MAX_TOKENS_OVERFLOW, _OUTPUT_CAP),
        (FaultKind.PROMPT_TOO_LONG, _TOO_LONG),
        (FaultKind.MEDIA, _MEDIA),
        (FaultKind.SIGNATURE, _SIGNATURE),
        (FaultKind.BILLING, _BILLING),
        (FaultKind.QUOTA_EXHAUSTED, _QUOTA),
        (FaultKind.CACHE_MARKS, _CACHE_MARKS),
        (FaultKind.REPLY_SETTINGS, _REPLY_SETTINGS),
        (FaultKind.ANSWER_FORMAT, _ANSWER_FORMAT),
        (FaultKind.SERVER_TOOLS, _SERVER_TOOLS),
        (FaultKind.TEXT_AFTER_RESULTS, _TEXT_AFTER_RESULTS),
        (FaultKind.CACHE_DIAGNOSTICS, _CACHE_DIAGNOSTICS),
        (FaultKind.HISTORY_INVALID, _HISTORY),
        (FaultKind.MODEL_NOT_FOUND, _MODEL),
    )
    for pattern in patterns
)

_LONGEST = 4_000
"""Characters searched; some error texts quote the whole request."""


def recognised(text: str) -> ErrorMatch | None:
    """The fault that an error text names, or None where no pattern matches."""
    head = text[:_LONGEST]
    for pattern, kind in _TABLE:
        if found := pattern.search(head):
            numbers = found.groupdict()
            return ErrorMatch(kind, _number(numbers.get("tokens")), _number(numbers.get("limit")))
    return None


def _number(digits: str | None) -> int | None:
    return int(re.sub(r"\D", "", digits)) if digits else None


_SECRETS = re.compile(r"(?i)\b(?:sk-[\w-]{6,}|(?<=bearer )(?=\S*[\d_-])[^\s'\"]{8,}|(?<=x-api-key: )[^\s'\"]+)")
_LONGEST_LINE = 500
_MOST_DETAILS = 3


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """The body of an error response."""

    message: str
    """One line without secrets; may be empty."""
    type: str | None = None
    code: str | None = None
    """`error.details.error_code`, or `error.code` of OpenAI-compatible servers."""
    request_id: str | None = None


def error_body(body: object) -> ErrorBody:
    """Parse the error body of Anthropic, OpenAI, Google or FastAPI, an HTML page, or plain text."""
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return ErrorBody(_page(body) if _is_html(body) else one_line(body))
    if not isinstance(body, dict):
        return ErrorBody("")
    error = body.get("error", body)
    if not isinstance(error, dict):
        return ErrorBody(one_line(str(error)), request_id=_text(body.get("request_id")))
    details = error.get("details")
    code = details.get("error_code") if isinstance(details, dict) else None
    words = (_text(error.get("message")), _text(error.get("Message")), _details(error.get("detail")))
    message = next(filter(None, words), None)
    appeal = details.get("appeal_url") if isinstance(details, dict) else None
    if message and isinstance(appeal, str) and appeal.startswith("https://"):
        message = f"{message.rstrip('.')}; appeal at {appeal}"
    return ErrorBody(
        message=one_line(message if message is not None else json.dumps(error, ensure_ascii=False, default=str)),
        type=_text(error.get("type")),
        code=_text(code) or _text(error.get("code")),
        request_id=_text(body.get("request_id")),
    )


def one_line(text: str) -> str:
    """The text on one line of bounded length, with likely keys masked."""
    line = " ".join(_SECRETS.sub(MASK, text).split())
    line = "".join(character for character in line if character.isprintable())
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"


def aws_type(headers: Mapping[str, str]) -> str | None:
    """The type of an AWS error, from a header such as "ThrottlingException:http://…"."""
    return headers.get("x-amzn-errortype", "").partition(":")[0].strip() or None


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the server asks to wait; None: nothing usable.

    `retry-after-ms` takes precedence over `retry-after`, which is in seconds or an HTTP date (RFC 9110, section
    10.2.3). A date is relative to the `date` header, so that a wrong clock does no harm, or else to `now` (Unix time).
    """
    for seconds in _waits(headers, now):
        if math.isfinite(seconds) and seconds > 0:
            return seconds
    return None


def should_retry(headers: Mapping[str, str]) -> bool | None:
    """The header x-should-retry; None: missing or invalid."""
    return {"true": True, "false": False}.get(headers.get("x-should-retry", "").strip().lower())


def _waits(headers: Mapping[str, str], now: float) -> Iterator[float]:
    if (milliseconds := _float(headers.get("retry-after-ms"))) is not None:
        yield milliseconds / 1000
    value = headers.get("retry-after")
    if (seconds := _float(value)) is not None:
        yield seconds
    elif (until := _date(value)) is not None:
        since = _date(headers.get("date"))
        yield until.timestamp() - (since.timestamp() if since is not None else now)


def _float(value: str | None) -> float | None:
    try:
        return float(value) if value is not None else None
    except ValueError:
        return None


def _date(value: str | None) -> datetime | None:
    try:
        return parsedate_to_datetime(value) if value is not None else None
    except ValueError:
        return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _details(detail: object) -> str | None:
    """FastAPI's `detail`: a text, or a list of errors, shortened to the first few."""
    if not isinstance(detail, list):
        return _text(detail)
    wrong = [item for item in detail if isinstance(item, dict) and _text(item.get("msg"))]
    lines = [f"{_place(item.get('loc'))}{item['msg']}" for item in wrong[:_MOST_DETAILS]]
    more = f" (and {len(wrong) - len(lines)} more)" if len(wrong) > len(lines) else ""
    return "; ".join(lines) + more if lines else None


def _place(location: object) -> str:
    """Location of an error in the request: "messages.0.content: "."""
    steps = [str(step) for step in location] if isinstance(location, list) else []
    place = ".".join(steps[1:] if steps[:1] == ["body"] else steps)
    return f"{place}: " if place else ""


def _is_html(text: str) -> bool:
    return text.lstrip()[:200].lower().startswith(("<!doctype html", "<html", "<head", "<body"))


def _page(html: str) -> str:
    title = re.search(r"(?is)<title[^>]*>(.*?)</title>", html[:20_000])
    words = one_line(title.group(1)) if title else ""
    return f"a web page of {len(html)} characters" + (f" with the title “{words}”" if words else "")
