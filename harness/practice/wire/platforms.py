"""The paths of Bedrock, Vertex and Foundry, as thin translations: a request into ours, the answer into theirs.

The requests are those that the SDK sends with its clients for these platforms; the framing of Bedrock's streams is
https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html, its errors are those of
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html.
"""

import base64
import json
import re
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from urllib.parse import unquote

from harness.events import Json
from harness.model.catalogue import family_name
from harness.practice.wire.connection import Dialect, Headers, HttpRequest
from harness.practice.wire.replies import FrameReader, compact, usual_message

ORIGINAL_PATH = "x-original-path"
"""Header of a translated request: the path that the client asked for."""
_BEDROCK = re.compile(r"/model/(?P<model>[^/]+)/(?P<how>invoke|invoke-with-response-stream)")
_VERTEX = re.compile(
    r"(?:/v1)?/projects/(?P<project>[^/]+)/locations/(?P<region>[^/]+)/publishers/anthropic/models/"
    r"(?P<model>[^/:]+):(?:rawPredict|streamRawPredict)"
)
_FOUNDRY = "/anthropic/v1/"
_SIGNED = re.compile(r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/.+, ?SignedHeaders=.+, ?Signature=[0-9a-f]{64}")
_AWS_ERRORS: Mapping[int, tuple[int, str]] = {
    400: (400, "ValidationException"),
    401: (403, "UnrecognizedClientException"),
    403: (403, "AccessDeniedException"),
    404: (404, "ResourceNotFoundException"),
    413: (413, "RequestEntityTooLargeException"),
    429: (429, "ThrottlingException"),
    500: (500, "InternalServerException"),
    504: (408, "ModelTimeoutException"),
    529: (503, "ServiceUnavailableException"),
}
"""For a status of the API that of AWS, and the name of its error."""
_AWS_STREAM_ERRORS: Mapping[str, str] = {
    "overloaded_error": "serviceUnavailableException",
    "rate_limit_error": "throttlingException",
    "api_error": "internalServerException",
    "timeout_error": "modelTimeoutException",
    "invalid_request_error": "validationException",
}


def translated(request: HttpRequest) -> tuple[HttpRequest, Dialect | None]:
    """A request of a platform as one to /v1/messages, and how its answer is written; any other as it is."""
    if (bedrock := _BEDROCK.fullmatch(request.path)) is not None:
        streamed = {"stream": True} if bedrock["how"] != "invoke" else {}
        return _moved(request, unquote(bedrock["model"]), streamed), EventStream()
    if (vertex := _VERTEX.fullmatch(request.path)) is not None:
        return _moved(request, unquote(vertex["model"]), {}), None
    if request.path.startswith(_FOUNDRY):
        target = "/" + request.target.removeprefix("/anthropic/")
        return replace(request, target=target, headers=(*request.headers, (ORIGINAL_PATH, request.path))), None
    return request, None


def _moved(request: HttpRequest, model: str, more: Json) -> HttpRequest:
    """The request with its model, API version and betas where the API has them."""
    try:
        body = json.loads(request.body)
    except ValueError:
        return replace(request, target="/v1/messages")
    if not isinstance(body, dict):
        return replace(request, target="/v1/messages")
    headers = {name: value for name, value in request.headers if name != "content-length"}
    if (version := body.pop("anthropic_version", None)) is not None:
        headers["anthropic-version"] = str(version)
    if betas := body.pop("anthropic_beta", None):
        headers["anthropic-beta"] = ",".join(map(str, betas))
    if (signed := _SIGNED.fullmatch(headers.get("authorization", ""))) is not None:
        headers["authorization"] = f"Bearer {signed['key']}"
    headers[ORIGINAL_PATH] = request.path
    target = "/v1/messages"
    if model == "count-tokens":
        target, asked = "/v1/messages/count_tokens", body
    else:
        asked = {"model": family_name(model), **body, **more}
    return replace(request, target=target, headers=tuple(headers.items()), body=compact(asked).encode())


class EventStream(Dialect):
    """Answers as Bedrock does: frames of bytes with checksums in place of server-sent events, and AWS's errors."""

    def __init__(self) -> None:
        self._reader = FrameReader()

    def response(self, status: int, headers: Headers, body: bytes) -> tuple[int, Headers, bytes]:
        """A whole response. An error that the API would write as JSON gets AWS's status, header and body."""
        fields = list(_with_aws_id(headers))
        said = _error_in(body) if status >= 400 else None
        if said is None:
            return status, fields, body
        aws_status, name = _AWS_ERRORS.get(status, (status, "ModelErrorException"))
        fields.append(("x-amzn-errortype", f"{name}:http://internal.amazon.com/coral/com.amazon.bedrock/"))
        return aws_status, fields, compact({"message": said.get("message")}).encode()

    def head(self, headers: Headers) -> Headers:
        """The headers of a stream."""
        kept = (field for field in _with_aws_id(headers) if field[0] != "content-type")
        return [*kept, ("content-type", "application/vnd.amazon.eventstream")]

    def piece(self, data: bytes) -> bytes:
        """The events that are whole with these bytes of a stream of server-sent events, each in its frame."""
        return b"".join(_framed(frame.name, frame.raw or b"") for frame in self._reader.feed(data))


def event_frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One message of an AWS event stream; every header is a text."""
    named = b"".join(
        struct.pack(">B", len(name)) + name.encode() + struct.pack(">BH", 7, len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(named) + len(payload), len(named))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + named + payload
    return message + struct.pack(">I", zlib.crc32(message))


def _framed(name: str | None, raw: bytes) -> bytes:
    lines = [line[5:].removeprefix(b" ") for line in raw.splitlines() if line.startswith(b"data:")]
    data = b"\n".join(lines)
    if name == "error":
        error = _error_in(data) or {"message": data.decode("utf-8", "replace")}
        kind = _AWS_STREAM_ERRORS.get(str(error.get("type")), "modelStreamErrorException")
        payload = compact({"message": error.get("message")}).encode()
        return event_frame(
            {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}, payload
        )
    if not lines:
        return b""
    payload = compact({"bytes": base64.b64encode(data).decode()}).encode()
    return event_frame({":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}, payload)


def _error_in(body: bytes) -> Json | None:
    """The error in a body of the API; None where it holds none."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    error = found.get("error") if isinstance(found, dict) else None
    if not isinstance(error, dict):
        return None
    return error if error.get("message") else {**error, "message": usual_message(str(error.get("type")))}


def _with_aws_id(headers: Headers) -> Iterable[tuple[str, str]]:
    return (("x-amzn-requestid" if name == "request-id" else name, value) for name, value in headers)
