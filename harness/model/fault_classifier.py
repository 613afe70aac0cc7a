"""Classify any exception, error event or reply as one `Fault` (docs/design/model-calls.md#classification).

Exceptions are recognised by class name, so that this module imports neither the SDK nor its HTTP library.
"""

import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.events import Fault, FaultKind, Json, Reply
from harness.model.endpoint import request_id_of
from harness.model.error_responses import (
    aws_type,
    error_body,
    one_line,
    recognised,
    retry_after_s,
    should_retry,
)

_BY_TYPE: Mapping[str, FaultKind] = {
    "overloaded_error": FaultKind.OVERLOADED,
    "rate_limit_error": FaultKind.RATE_LIMIT,
    "authentication_error": FaultKind.AUTH,
    "permission_error": FaultKind.AUTH,
    "billing_error": FaultKind.BILLING,
    "request_too_large": FaultKind.REQUEST_TOO_LARGE,
    "timeout_error": FaultKind.TIMEOUT,
    "api_error": FaultKind.SERVER,
    "conflict_error": FaultKind.SERVER,
    "internal_error": FaultKind.SERVER,
    "internal_server_error": FaultKind.SERVER,
    "InternalServerError": FaultKind.SERVER,
    "server_error": FaultKind.SERVER,
    # Bedrock: in the header of an error and, starting with a lower-case letter, in a stream.
    "ThrottlingException": FaultKind.RATE_LIMIT,
    "ServiceQuotaExceededException": FaultKind.RATE_LIMIT,
    "ServiceUnavailableException": FaultKind.OVERLOADED,
    "ModelNotReadyException": FaultKind.OVERLOADED,
    "ModelTimeoutException": FaultKind.TIMEOUT,
    "ModelErrorException": FaultKind.SERVER,
    "ModelStreamErrorException": FaultKind.SERVER,
    "InternalServerException": FaultKind.SERVER,
    "AccessDeniedException": FaultKind.AUTH,
    "ExpiredTokenException": FaultKind.AUTH,
    "UnrecognizedClientException": FaultKind.AUTH,
}
_BY_STATUS: Mapping[int, FaultKind] = {
    401: FaultKind.AUTH,
    402: FaultKind.BILLING,
    403: FaultKind.AUTH,
    408: FaultKind.TIMEOUT,
    409: FaultKind.SERVER,
    413: FaultKind.REQUEST_TOO_LARGE,
    425: FaultKind.SERVER,
    429: FaultKind.RATE_LIMIT,
    501: FaultKind.UNKNOWN,
    504: FaultKind.TIMEOUT,
    529: FaultKind.OVERLOADED,
}
_STATUS_OF_TYPE: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "internal_error": 500,
    "internal_server_error": 500,
    "InternalServerError": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
    "ThrottlingException": 429,
    "ServiceUnavailableException": 503,
    "ModelTimeoutException": 408,
    "ModelStreamErrorException": 424,
    "InternalServerException": 500,
    "ValidationException": 400,
}
_SPENT_CODES = frozenset(
    {
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
        "ramp_limit_exceeded",
        "insufficient_quota",
    }
)
_SERVER_SIDE = frozenset({FaultKind.OVERLOADED, FaultKind.RATE_LIMIT, FaultKind.TIMEOUT, FaultKind.SERVER})


@dataclass(frozen=True, slots=True)
class _Chain:
    """An exception and its causes."""

    links: tuple[BaseException, ...]

    @classmethod
    def of(cls, error: BaseException) -> "_Chain":
        links: list[BaseException] = []
        link: BaseException | None = error
        while link is not None and link not in links:
            links.append(link)
            link = link.__cause__ or link.__context__
        return cls(tuple(links))

    def has(self, *names: str) -> BaseException | None:
        """The first link that is an instance of a class with one of these names."""
        for link in self.links:
            if any(base.__name__ in names for base in type(link).__mro__):
                return link
        return None

    def reason(self) -> str:
        """The message of the innermost link that has one, on one line."""
        texts = (one_line(str(link)) for link in reversed(self.links))
        return next((text for text in texts if text), type(self.links[0]).__name__)


def classify(error: BaseException, *, streamed: bool, reused_socket: bool = False, now: float | None = None) -> Fault:
    """The fault for an exception.

    Args:
        error: raised by the SDK, its HTTP library or this package.
        streamed: the response had started.
        reused_socket: the connection had served an earlier request, so its loss before the first byte says nothing
            about the server.
        now: Unix time, the reference for a Retry-After date without a Date header.
    """
    status, response = getattr(error, "status_code", None), getattr(error, "response", None)
    if isinstance(status, int):
        headers = getattr(response, "headers", None) or {}
        return _response_fault(status, getattr(error, "body", None), headers, streamed, now)
    return replace(_exception_fault(_Chain.of(error), streamed, reused_socket), streamed=streamed)


def classify_reply(reply: Reply) -> Fault | None:
    """The fault for a complete reply: a refusal or a full context window. None: neither."""
    match reply.stop_reason:
        case "refusal":
            kind, message = FaultKind.REFUSAL, _refusal(reply.stop_details or {})
        case "model_context_window_exceeded":
            kind, message = FaultKind.PROMPT_TOO_LONG, "the context window was full before the reply was finished"
        case _:
            return None
    return Fault(
        kind,
        message,
        streamed=True,
        request_id=reply.request_id,
        stop_reason=reply.stop_reason,
        usage=reply.usage,
    )


def classify_stream_error(data: object, request_id: str | None) -> Fault:
    """The fault for an error event inside a stream, with the equivalent status: 529 for an overloaded_error.

    `data` is its parsed JSON, or its text where it is not JSON.
    """
    fault = _body_fault(_status_of(error_body(data).type), data, streamed=True)
    return replace(fault, request_id=request_id or fault.request_id)


def not_a_stream(content_type: str, status: int, body_head: bytes, server: str) -> Fault:
    """The fault for a success that is not an event stream: an HTML page, a JSON object, nothing."""
    text = body_head.decode("utf-8", "replace").strip()
    try:
        parsed = json.loads(text) if text else None
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict) and "error" in parsed:
        return replace(classify_stream_error(parsed, None), streamed=False)
    said = f": {error_body(text).message}" if text and parsed is None else ""
    kind = content_type.partition(";")[0].strip() or "no content type"
    by = f" by {one_line(server)}" if server else ""
    size = f"at least {len(body_head)} bytes" if len(body_head) else "an empty body"
    message = f"{status} with {kind} instead of an event stream, {size}{by}{said}"
    return Fault(FaultKind.MALFORMED_RESPONSE, one_line(message), status=status)


def _response_fault(status: int, body: object, headers: Mapping[str, str], streamed: bool, now: float | None) -> Fault:
    effective: int | None = status
    if status < 300:  # the SDK's form of an error event inside a stream
        streamed, effective = True, _status_of(error_body(body).type)
    fault = _body_fault(effective, body, streamed=streamed, error_type=aws_type(headers))
    asked = should_retry(headers)
    return replace(
        fault,
        retry_after_s=retry_after_s(headers, time.time() if now is None else now),
        should_retry=fault.should_retry if asked is None else asked,
        request_id=request_id_of(headers) or fault.request_id,
    )


def _status_of(error_type: str | None) -> int | None:
    return _STATUS_OF_TYPE.get(_canonical(error_type))


def _canonical(error_type: str | None) -> str:
    """AWS starts a name with a lower-case letter in a stream, and with a capital in a header."""
    name = error_type or ""
    return name[:1].upper() + name[1:] if name.endswith("Exception") else name


def _body_fault(status: int | None, body: object, *, streamed: bool, error_type: str | None = None) -> Fault:
    """`error_type`: from a header, used if the body has no type."""
    said = error_body(body)
    if said.type is None and error_type is not None:
        said = replace(said, type=error_type)
    kind = _kind(status, said.type, said.code)
    tokens = limit = None
    if kind not in _SERVER_SIDE and kind is not FaultKind.QUOTA_EXHAUSTED:
        wording = recognised(f"{said.message}\n{said.code or ''}\n{said.type or ''}")
        if wording is not None:
            kind, tokens, limit = wording.kind, wording.tokens, wording.limit
        elif kind is FaultKind.UNKNOWN and status in (404, 405):
            kind = FaultKind.WRONG_ADDRESS
    elif kind is FaultKind.RATE_LIMIT and (wording := recognised(said.message)):
        kind = wording.kind if wording.kind in (FaultKind.QUOTA_EXHAUSTED, FaultKind.BILLING) else kind
    return Fault(
        kind,
        said.message or f"the server answered {status} without a message",
        status=status,
        error_type=said.type,
        error_code=said.code,
        should_retry=False if status == 501 else None,
        request_id=said.request_id,
        input_tokens=tokens,
        limit=limit,
        streamed=streamed,
    )


def _kind(status: int | None, error_type: str | None, code: str | None) -> FaultKind:
    if code in _SPENT_CODES or error_type in _SPENT_CODES:
        return FaultKind.QUOTA_EXHAUSTED
    kind = _BY_TYPE.get(_canonical(error_type))
    of_model = _canonical(error_type).startswith("Model")  # Bedrock, with its own status
    if kind is FaultKind.SERVER and not of_model and status is not None and status not in (409, 500):
        kind = None  # gateways call every error an api_error
    if kind is not None:
        return kind
    if status is None:
        return FaultKind.UNKNOWN
    return _BY_STATUS.get(status, FaultKind.SERVER if status >= 500 else FaultKind.UNKNOWN)


def _exception_fault(chain: _Chain, streamed: bool, reused_socket: bool) -> Fault:
    return next(
        filter(None, (look(chain) for look in (_configuration, _ours, _timeout, _unreadable))),
        None,
    ) or _lost_connection(chain, streamed, reused_socket)


def _configuration(chain: _Chain) -> Fault | None:
    """Configuration errors, which only the user can fix and which often look like network errors."""

    def final(kind: FaultKind, message: str) -> Fault:
        return Fault(kind, message, should_retry=False)

    if chain.has("LocalProtocolError"):
        return final(
            FaultKind.AUTH,
            "a header cannot be sent: look for a space or line break in the key or ANTHROPIC_CUSTOM_HEADERS",
        )
    if any("resolve authentication method" in str(link) for link in chain.links):
        return final(FaultKind.AUTH, "no key is set: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN")
    if error := chain.has("NoCredentialsError", "GoogleAuthError", "BotoCoreError"):
        return final(FaultKind.AUTH, f"the credentials could not be used: {one_line(str(error))}")
    if any("resolve AWS credentials" in str(link) for link in chain.links):
        return final(FaultKind.AUTH, "no AWS credentials were found: sign in again with the aws program")
    if chain.has("UnsupportedProtocol", "InvalidURL"):
        return final(FaultKind.UNKNOWN, "the model's address is not valid: start base_url with http:// or https://")
    if error := chain.has("CertificatesUnusable"):
        return final(FaultKind.TLS, one_line(str(error)))
    if chain.has("SSLCertVerificationError"):
        return final(FaultKind.TLS, f"the server's certificate was refused: {chain.reason()}")
    if (error := chain.has("SSLError")) and not chain.has("SSLEOFError", "SSLZeroReturnError"):
        return final(FaultKind.TLS, f"no encrypted connection could be made: {one_line(str(error))}")
    if error := chain.has("RedirectedAway"):
        return final(FaultKind.UNKNOWN, one_line(str(error)))
    if chain.has("TooManyRedirects"):
        return final(FaultKind.UNKNOWN, "the model's address redirects to itself: check base_url")
    if chain.has("ImportError"):
        return final(FaultKind.UNKNOWN, f"a package is missing: {chain.reason()}")
    return None


def _ours(chain: _Chain) -> Fault | None:
    """Faults from before the network."""
    if chain.has("CancelledError", "KeyboardInterrupt"):
        return Fault(FaultKind.CANCELLED, "interrupted")
    if chain.has("UnicodeEncodeError"):
        return Fault(FaultKind.HISTORY_INVALID, "the conversation holds half a character, which cannot be sent")
    outer = chain.links[0]
    if isinstance(outer, (ValueError, TypeError)) and "JSON" in str(outer) and not chain.has("JSONDecodeError"):
        return Fault(FaultKind.HISTORY_INVALID, f"the conversation cannot be sent: {one_line(str(outer))}")
    return None


def _timeout(chain: _Chain) -> Fault | None:
    if chain.has("ConnectTimeout"):
        return Fault(FaultKind.TIMEOUT, "no connection was established in time")
    if chain.has("WriteTimeout"):
        return Fault(FaultKind.TIMEOUT, "the request could not be sent in time")
    if chain.has("PoolTimeout"):
        return Fault(FaultKind.TIMEOUT, "no connection was free in time")
    if chain.has("TimeoutException", "APITimeoutError", "TimeoutError"):
        return Fault(FaultKind.TIMEOUT, "the server did not answer in time")
    return None


def _unreadable(chain: _Chain) -> Fault | None:
    """The response is not what the API sends."""
    if error := chain.has("BrokenStream"):
        return Fault(FaultKind.MALFORMED_RESPONSE, f"the stream contradicts itself: {one_line(str(error))}")
    if error := chain.has("BodyTooLong", "UnreadableBody", "ParserError", "ResponseParserError"):
        return Fault(FaultKind.MALFORMED_RESPONSE, f"the answer cannot be read: {one_line(str(error))}")
    if chain.has("JSONDecodeError", "RecursionError"):
        return Fault(FaultKind.MALFORMED_RESPONSE, "the server sent something that is not JSON")
    if chain.has("UnicodeDecodeError", "DecodingError"):
        return Fault(FaultKind.MALFORMED_RESPONSE, "the server sent bytes that cannot be decoded")
    if chain.has("AssertionError", "APIResponseValidationError"):
        return Fault(FaultKind.MALFORMED_RESPONSE, "the server's answer has an unknown form")
    return None


def _lost_connection(chain: _Chain, streamed: bool, reused_socket: bool) -> Fault:
    if error := chain.has("ProxyError"):
        return Fault(FaultKind.NETWORK, f"the proxy refused: {one_line(str(error))}")
    if chain.has("ConnectError"):
        message = f"no connection could be made{_to(chain)}: {_why_lost(chain)}"
        return Fault(FaultKind.NETWORK, message, unreachable=any(map(_finds_no_server, chain.links)))
    if chain.has("TransportError", "APIConnectionError", "OSError"):
        stale = reused_socket and not streamed
        kind = FaultKind.STALE_SOCKET if stale else FaultKind.NETWORK
        return Fault(kind, f"the connection broke: {_why_lost(chain)}")
    return Fault(FaultKind.UNKNOWN, f"{type(chain.links[0]).__name__}: {chain.reason()}")


def _finds_no_server(error: BaseException) -> bool:
    """The name does not resolve, or the port is closed: at each of several addresses there is an error of its own."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_finds_no_server, error.exceptions))
    return isinstance(error, socket.gaierror | ConnectionRefusedError)


def _to(chain: _Chain) -> str:
    """Host and port of the request, where the exception has them: " to 127.0.0.1:9"."""
    url = getattr(getattr(chain.links[0], "request", None), "url", None)
    netloc = getattr(url, "netloc", b"")
    host = netloc.decode("ascii", "replace") if isinstance(netloc, bytes) else ""
    return f" to {host.rpartition('@')[2]}" if host else ""


def _why_lost(chain: _Chain) -> str:
    """The system's text for an error number where there is one: "Connection refused"."""
    for link in reversed(chain.links):
        if isinstance(link, socket.gaierror) and link.strerror:
            return link.strerror
        if isinstance(link, OSError) and link.errno is not None and link.errno > 0 and link.filename is None:
            return os.strerror(link.errno)
    if chain.has("RemoteProtocolError") and "peer closed" in chain.reason():
        return "the server closed it in the middle of the answer"
    return chain.reason()


def _refusal(details: Json) -> str:
    category, explanation = details.get("category"), details.get("explanation")
    words = "the model declined to answer"
    if isinstance(category, str) and category:
        words += f" ({category})"
    return one_line(f"{words}: {explanation}") if isinstance(explanation, str) and explanation else words
