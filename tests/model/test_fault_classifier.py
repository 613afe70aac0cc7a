"""Every row of api §1.1, §2.1 and §5.1, and the wordings of recovery A2, as the SDK really raises them."""

import asyncio
import json
import socket
import ssl
import subprocess
import sys
from typing import Any

import pytest

from harness.events import Fault, FaultKind, Reply, Usage
from harness.model.accumulator import BrokenStream
from harness.model.fault_classifier import classify, classify_reply, classify_stream_error, not_a_stream
from tests.cases import cases, none_or

K = FaultKind
REQUEST_URL = "http://127.0.0.1:1/v1/messages"


def status_error(status: int, body: object, headers: dict[str, str] | None = None) -> Exception:
    """What the SDK raises for a response."""
    import httpx2
    from anthropic._error_classes import make_status_error

    content = body if isinstance(body, str) else json.dumps(body)
    request = httpx2.Request("POST", REQUEST_URL)
    response = httpx2.Response(status, headers=headers or {}, content=content.encode(), request=request)
    return make_status_error(f"Error code: {status} - {content}", body=body, response=response)


def api_error(error_type: str | None, message: str, **details: Any) -> dict[str, Any]:
    error = {"type": error_type, "message": message, "details": details or None}
    return {"type": "error", "error": error, "request_id": "req_body"}


def said(status: int, body: object, headers: dict[str, str] | None = None) -> Fault:
    return classify(status_error(status, body, headers), streamed=False, now=1_000_000.0)


# --- status, type and code ------------------------------------------------------------


@cases(__file__, "statuses", "status error_type kind", int, none_or(str), K)
def test_a_status_and_type_have_one_kind(status: int, error_type: str | None, kind: K) -> None:
    fault = said(status, api_error(error_type, "Words"))
    assert (fault.kind, fault.status, fault.error_type, fault.message) == (kind, status, error_type, "Words")
    assert not fault.streamed
    assert fault.should_retry is (False if status == 501 else None)


@pytest.mark.parametrize(
    "code", ["enforced_spend_limit_reached", "contract_spend_limit_reached", "ramp_limit_exceeded"]
)
def test_a_spend_cap_is_not_a_rate_limit(code: str) -> None:
    fault = said(429, api_error("rate_limit_error", "Spent", error_code=code))
    assert (fault.kind, fault.error_code) == (K.QUOTA_EXHAUSTED, code)


@pytest.mark.parametrize("status", [413, 502, 503, 403])
def test_a_web_page_is_summed_up(status: int) -> None:
    page = f"<html><head><title>{status} Oh\nno</title></head><body>{'x' * 5000}</body></html>"
    fault = said(status, page)
    assert fault.message == f"a web page of {len(page)} characters with the title “{status} Oh no”"


def test_an_empty_body_is_an_error_too() -> None:
    assert said(503, "") == Fault(K.SERVER, "the server answered 503 without a message", status=503)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Words", "type": "server_error", "code": None}},
        {"error": "Words"},
        {"message": "Words"},
        {"detail": "Words"},
        [{"error": {"code": 503, "message": "Words", "status": "UNAVAILABLE"}}],
        "Words\n",
    ],
)
def test_other_dialects_are_understood(body: object) -> None:
    assert (said(503, body).kind, said(503, body).message) == (K.SERVER, "Words")


def test_openai_says_quota_in_its_code() -> None:
    body = {"error": {"message": "You exceeded it", "type": "insufficient_quota", "code": "insufficient_quota"}}
    assert said(429, body).kind is K.QUOTA_EXHAUSTED


# --- headers ----------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after-ms": "0", "retry-after": "9"}, 9.0),
        ({"retry-after": "Mon, 12 Jan 1970 13:46:50 GMT"}, 10.0),
        ({"retry-after": "Wed, 01 Jul 2026 10:00:30 GMT", "date": "Wed, 01 Jul 2026 10:00:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 01 Jul 2026 09:00:00 GMT", "date": "Wed, 01 Jul 2026 10:00:00 GMT"}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_from_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    fault = said(429, api_error("rate_limit_error", "Slow down"), headers)
    assert fault.retry_after_s == (pytest.approx(seconds) if seconds is not None else None)


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("False", False), ("maybe", None)])
def test_the_server_may_say_whether_to_retry(value: str, expected: bool | None) -> None:
    assert said(529, api_error("overloaded_error", "Busy"), {"x-should-retry": value}).should_retry is expected


def test_the_request_id_comes_from_the_header_or_else_the_body() -> None:
    assert said(500, api_error("api_error", "x"), {"request-id": "req_head"}).request_id == "req_head"
    assert said(500, api_error("api_error", "x")).request_id == "req_body"


# --- texts ---------------------------------------------------------------


@cases(__file__, "texts", "status kind tokens limit text", int, K, none_or(int), none_or(int), str)
def test_a_text_is_recognised(status: int, kind: K, tokens: int | None, limit: int | None, text: str) -> None:
    types = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error"}
    fault = said(status, api_error(types.get(status, "invalid_request_error"), text))
    assert (fault.kind, fault.input_tokens, fault.limit, fault.message) == (kind, tokens, limit, text)


def test_an_image_that_is_too_large_is_known_by_its_code() -> None:
    details = {"error_code": "image_dimensions_too_large", "paths": ["messages.0.content.1"]}
    error = {"type": "invalid_request_error", "message": "Scale the image.", "details": details}
    assert said(400, {"type": "error", "error": error}).kind is K.MEDIA


@pytest.mark.parametrize(
    ("url", "shown"), [("https://claude.ai/appeal/1", "; appeal at https://claude.ai/appeal/1"), ("javascript:x", "")]
)
def test_an_organization_on_hold_learns_where_to_appeal(url: str, shown: str) -> None:
    details = {"error_code": "organization_on_hold", "appeal_url": url}
    error = {"type": "invalid_request_error", "message": "This organization is on hold.", "details": details}
    fault = said(400, {"type": "error", "error": error})
    assert fault.message == f"This organization is on hold{shown or '.'}"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("messages.1.content.0: Expected `thinking`, but found `tool_use`", K.SIGNATURE),
        ("messages.3.content.0.thinking.signature: Field required", K.SIGNATURE),
        ("messages.1: the final block in an assistant message cannot be `thinking`", K.HISTORY_INVALID),
        ("messages.2: Did not find 1 `tool_result` block(s) at the beginning of this message.", K.HISTORY_INVALID),
        ("messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", K.HISTORY_INVALID),
        ("An assistant message with 'tool_calls' must be followed by tool messages", K.HISTORY_INVALID),
    ],
)
def test_a_refused_form_of_a_history_has_a_remedy(text: str, kind: K) -> None:
    assert said(400, {"type": "error", "error": {"type": "invalid_request_error", "message": text}}).kind is kind


def test_openai_says_too_long_in_its_code() -> None:
    body = {"error": {"message": "Please shorten it.", "type": "x", "code": "context_length_exceeded"}}
    assert said(400, body).kind is K.PROMPT_TOO_LONG


@pytest.mark.parametrize(
    "text",
    [
        "prompt caching is no longer available for this model",
        "the prompt must not be longer than one line in this field",
        "metadata.user_id: String is too long",
        "tools.0.name: String should have at most 128 characters",
        "system: prompt is not too longwinded",
        "expected 21429 and got 15290",
    ],
)
def test_what_only_sounds_like_too_long_is_not(text: str) -> None:
    assert said(400, api_error("invalid_request_error", text)).kind is K.UNKNOWN


def test_digits_in_a_text_are_no_status() -> None:
    fault = said(400, api_error("invalid_request_error", "value 21429 is above 15290, see 529"))
    assert (fault.kind, fault.status) == (K.UNKNOWN, 400)


def test_an_error_of_the_server_is_not_read_for_what_the_client_did() -> None:
    assert said(529, api_error("overloaded_error", "prompt is too long")).kind is K.OVERLOADED


# --- inside a stream --------------------------------------------------------------


@pytest.mark.parametrize(
    ("error_type", "kind", "status"),
    [
        ("overloaded_error", K.OVERLOADED, 529),
        ("rate_limit_error", K.RATE_LIMIT, 429),
        ("api_error", K.SERVER, 500),
        ("timeout_error", K.TIMEOUT, 504),
        ("authentication_error", K.AUTH, 401),
        ("invalid_request_error", K.UNKNOWN, 400),
        ("request_too_large", K.REQUEST_TOO_LARGE, 413),
        ("brand_new_error", K.UNKNOWN, None),
    ],
)
def test_an_error_event_has_the_kind_of_its_status(error_type: str, kind: K, status: int | None) -> None:
    fault = classify_stream_error(api_error(error_type, "Words"), "req_head")
    assert (fault.kind, fault.status, fault.streamed, fault.request_id) == (kind, status, True, "req_head")
    raised = classify(status_error(200, api_error(error_type, "Words")), streamed=True)
    assert (raised.kind, raised.status, raised.streamed) == (kind, status, True)


def test_an_error_event_may_hold_plain_text() -> None:
    fault = classify_stream_error("upstream died\nbadly", None)
    assert (fault.kind, fault.status, fault.message) == (K.UNKNOWN, None, "upstream died badly")


def test_too_long_is_recognised_inside_a_stream() -> None:
    fault = classify_stream_error(api_error("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), None)
    assert (fault.kind, fault.input_tokens, fault.limit) == (K.PROMPT_TOO_LONG, 9, 8)


# --- a success that is no stream -------------------------------------------------------


def test_a_page_instead_of_a_stream_is_described() -> None:
    fault = not_a_stream("text/html; charset=utf-8", 200, b"<html><title>Sign in</title></html>", "nginx")
    assert fault.kind is K.MALFORMED_RESPONSE
    for part in ("200", "text/html", "35 bytes", "nginx", "Sign in"):
        assert part in fault.message


def test_an_empty_success_is_described() -> None:
    fault = not_a_stream("", 200, b"", "")
    assert fault.message == "200 with no content type instead of an event stream, an empty body"


def test_an_error_object_with_status_200_is_what_it_says() -> None:
    body = json.dumps(api_error("overloaded_error", "Busy")).encode()
    fault = not_a_stream("application/json", 200, body, "")
    assert (fault.kind, fault.status, fault.message, fault.streamed) == (K.OVERLOADED, 529, "Busy", False)


# --- exceptions -----------------------------------------------------------------


def caused(outer: Exception, *causes: BaseException) -> Exception:
    link: BaseException = outer
    for cause in causes:
        link.__cause__ = cause
        link = cause
    return outer


def connection_error(*causes: BaseException) -> Exception:
    """What the SDK makes of a failure to send."""
    import httpx2
    from anthropic import APIConnectionError

    return caused(APIConnectionError(request=httpx2.Request("POST", REQUEST_URL)), *causes)


def exceptions() -> list[tuple[str, BaseException, K, bool | None]]:
    import anthropic
    import httpx2

    request = httpx2.Request("POST", REQUEST_URL)
    unresolved = socket.gaierror(-2, "Name or service not known")
    untrusted = ssl.SSLCertVerificationError(1, "certificate verify failed: self-signed certificate")
    plain = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number")
    hung_up = ssl.SSLEOFError(8, "EOF occurred in violation of protocol")
    connect = httpx2.ConnectError
    return [
        ("refused", connection_error(connect("x"), ConnectionRefusedError(111, "Connection refused")), K.NETWORK, None),
        ("unresolved", connection_error(connect("x"), unresolved), K.NETWORK, None),
        ("reset", connection_error(httpx2.ReadError("x"), ConnectionResetError(104, "reset")), K.NETWORK, None),
        ("no answer", connection_error(httpx2.RemoteProtocolError("Server disconnected")), K.NETWORK, None),
        ("broken pipe", connection_error(httpx2.WriteError("x")), K.NETWORK, None),
        ("proxy", connection_error(httpx2.ProxyError("403 Forbidden")), K.NETWORK, None),
        ("tls cut", connection_error(connect("x"), hung_up), K.NETWORK, None),
        ("timeout", caused(anthropic.APITimeoutError(request), httpx2.ReadTimeout("x")), K.TIMEOUT, None),
        ("connect timeout", caused(anthropic.APITimeoutError(request), httpx2.ConnectTimeout("x")), K.TIMEOUT, None),
        ("pool timeout", caused(anthropic.APITimeoutError(request), httpx2.PoolTimeout("x")), K.TIMEOUT, None),
        ("own timeout", TimeoutError(), K.TIMEOUT, None),
        ("untrusted", connection_error(connect("x"), untrusted), K.TLS, False),
        ("plain http", connection_error(connect("x"), plain), K.TLS, False),
        ("bad key", connection_error(httpx2.LocalProtocolError("Illegal header value b'Bearer sk-x'")), K.AUTH, False),
        ("no scheme", connection_error(httpx2.UnsupportedProtocol("x")), K.UNKNOWN, False),
        ("bad address", httpx2.InvalidURL("x"), K.UNKNOWN, False),
        ("redirects", connection_error(httpx2.TooManyRedirects("x", request=request)), K.UNKNOWN, False),
        ("no key", TypeError('"Could not resolve authentication method. Expected"'), K.AUTH, False),
        ("socks", ImportError("Using SOCKS proxy, but the 'socksio' package is not installed."), K.UNKNOWN, False),
        ("stream cut", httpx2.RemoteProtocolError("peer closed connection"), K.NETWORK, None),
        ("stream reset", httpx2.ReadError("x"), K.NETWORK, None),
        ("bad gzip", httpx2.DecodingError("x"), K.MALFORMED_RESPONSE, None),
        ("bad json", json.JSONDecodeError("Expecting value", "{", 1), K.MALFORMED_RESPONSE, None),
        ("bad utf-8", UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), K.MALFORMED_RESPONSE, None),
        ("contradiction", BrokenStream("a second message"), K.MALFORMED_RESPONSE, None),
        ("no message", AssertionError(), K.MALFORMED_RESPONSE, None),
        ("half a character", UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates"), K.HISTORY_INVALID, None),
        ("nan", ValueError("Out of range float values are not JSON compliant"), K.HISTORY_INVALID, None),
        ("cancelled", asyncio.CancelledError(), K.CANCELLED, None),
        ("surprise", RuntimeError("what?"), K.UNKNOWN, None),
    ]


@pytest.mark.parametrize("row", range(30))
def test_an_exception_has_one_kind(row: int) -> None:
    rows = exceptions()
    assert len(rows) == 30
    name, error, kind, should_retry = rows[row]
    fault = classify(error, streamed=False)
    assert (name, fault.kind, fault.should_retry) == (name, kind, should_retry)
    assert fault.message
    assert "\n" not in fault.message


def test_a_cut_stream_is_described_without_the_words_of_the_library() -> None:
    import httpx2

    words = "peer closed connection without sending complete message body (incomplete chunked read)"
    fault = classify(httpx2.RemoteProtocolError(words), streamed=True)
    assert fault.message == "the connection broke: the server closed it in the middle of the answer"


def test_only_a_loss_before_the_first_byte_of_a_reused_connection_is_a_stale_socket() -> None:
    import httpx2

    lost = connection_error(httpx2.ReadError("x"))
    assert classify(lost, streamed=False, reused_socket=True).kind is K.STALE_SOCKET
    assert classify(lost, streamed=False, reused_socket=False).kind is K.NETWORK
    assert classify(lost, streamed=True, reused_socket=True).kind is K.NETWORK
    refused = connection_error(httpx2.ConnectError("x"))
    assert classify(refused, streamed=False, reused_socket=True).kind is K.NETWORK


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-ant-api03-abcdefghijk.",
        "bad header Authorization: Bearer abcdefghijk-token",
        "x-api-key: abcdefghijk is wrong",
    ],
)
def test_what_looks_like_a_key_is_masked(text: str) -> None:
    fault = said(401, api_error("authentication_error", text))
    assert "abcdefghijk" not in fault.message
    assert "•••" in fault.message


def test_a_key_in_a_cause_is_not_shown() -> None:
    import httpx2

    error = connection_error(httpx2.LocalProtocolError("Illegal header value b'Bearer hunter2 '"))
    assert "hunter2" not in classify(error, streamed=False).message


def test_a_message_has_one_line_of_bounded_length() -> None:
    fault = said(500, api_error("api_error", "a\nb\x1b[31m\t" + "c" * 10_000))
    assert fault.message.startswith("a b[31m c")
    assert len(fault.message) == 500


# --- replies -------------------------------------------------------------------------------------


def reply(stop_reason: str, **details: Any) -> Reply:
    return Reply("m", stop_reason, (), usage=Usage(5, 6), request_id="req_1", stop_details=details or None)


def test_a_refusal_is_a_fault_that_says_why() -> None:
    fault = classify_reply(reply("refusal", category="bio", explanation="This is dangerous."))
    assert fault is not None
    assert (fault.kind, fault.stop_reason, fault.usage, fault.request_id) == (
        K.REFUSAL,
        "refusal",
        Usage(5, 6),
        "req_1",
    )
    assert fault.message == "the model declined to answer (bio): This is dangerous."


def test_a_full_window_is_a_prompt_too_long() -> None:
    fault = classify_reply(reply("model_context_window_exceeded"))
    assert fault is not None
    assert (fault.kind, fault.streamed) == (K.PROMPT_TOO_LONG, True)


@pytest.mark.parametrize("reason", ["end_turn", "tool_use", "max_tokens", "pause_turn", "stop_sequence", "new"])
def test_other_replies_are_no_faults(reason: str) -> None:
    assert classify_reply(reply(reason)) is None


def test_the_classifier_needs_no_sdk() -> None:
    program = (
        "import sys, harness.model.fault_classifier as c; c.classify(OSError(), streamed=False);"
        "print([name for name in ('anthropic', 'httpx2', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
