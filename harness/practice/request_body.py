"""The JSON object in a request's body, out of its compression."""

import json
import re
import zlib

from harness.events import Json
from harness.practice.error_bodies import ApiError, usual_message
from harness.practice.wire import MAX_BODY, HttpRequest

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_GZIP = 16 + zlib.MAX_WBITS


def body_of(request: HttpRequest) -> Json | ApiError:
    """The JSON object that a request holds, or the refusal of what is none. No body is an object without fields."""
    if request.too_large:
        return ApiError(413, usual_message("request_too_large"), "request_too_large")
    content = _decoded(request.body, (request.header("content-encoding") or "identity").strip().lower())
    if isinstance(content, ApiError):
        return content
    if not content and request.method in ("GET", "HEAD", "DELETE"):
        return {}
    value = _json_object(content)
    return ApiError(400, f"The request body is not valid JSON: {value}") if isinstance(value, str) else value


def _decoded(body: bytes, encoding: str) -> bytes | ApiError:
    if encoding == "identity" or not body:
        return body
    if encoding not in ("gzip", "x-gzip"):
        message = f"Content-Encoding `{encoding}` is not supported. Send the body as it is, or with gzip."
        return ApiError(400, message, error_code="request_body_encoding_unsupported")
    unpacker = zlib.decompressobj(_GZIP)
    try:
        content = unpacker.decompress(body, MAX_BODY + 1)
    except zlib.error as error:
        message = f"The request body is not valid gzip: {error}"
        return ApiError(400, message, error_code="request_body_encoding_invalid")
    if len(content) > MAX_BODY:
        code = "request_body_too_large_after_decoding"
        return ApiError(413, usual_message("request_too_large"), "request_too_large", code)
    if not unpacker.eof:
        return ApiError(400, "The request body ends before its gzip does", error_code="request_body_encoding_invalid")
    return content


def _json_object(body: bytes) -> Json | str:
    """The JSON object in a body, or why the API would not read it: NaN and lone surrogates are not JSON."""
    try:
        value = json.loads(body, parse_constant=_refused)
        if _SURROGATE.search(body):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "no low surrogate in string"
    except (ValueError, RecursionError) as error:
        return str(error)
    return value if isinstance(value, dict) else "expected an object"


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")
