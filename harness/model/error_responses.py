"""Read error responses: bodies of several servers, headers, and a clean one-line message."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from harness.base.secrets import MASK

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


def request_id_of(headers: Mapping[str, str]) -> str | None:
    """The request id for the server's operator."""
    return headers.get("request-id") or headers.get("x-amzn-requestid")


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
