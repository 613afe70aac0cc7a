"""Error bodies as the API writes them."""

from dataclasses import dataclass

from harness.events import Json

_USUAL = {
    400: ("invalid_request_error", "Invalid request"),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "There is a problem with your billing information"),
    403: ("permission_error", "Your API key does not have permission to use the specified resource"),
    404: ("not_found_error", "Not found"),
    405: ("invalid_request_error", "Method Not Allowed"),
    408: ("timeout_error", "Request timed out"),
    409: ("conflict_error", "Conflict"),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your organization's rate limit"),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "Gateway timeout"),
    529: ("overloaded_error", "Overloaded"),
}
_MESSAGES = dict(_USUAL.values()) | {
    "invalid_request_error": "Invalid request",
    "timeout_error": "Request timed out",
}


@dataclass(frozen=True, slots=True)
class ApiError:
    """A request that is refused: what the API would answer."""

    status: int
    message: str
    type: str = "invalid_request_error"
    error_code: str | None = None

    def body(self, request_id: str) -> Json:
        """The JSON body of the answer."""
        return error_body(self.type, self.message, request_id, self.error_code)


def error_body(type_: str, message: str, request_id: str, error_code: str | None = None) -> Json:
    """The JSON of an error, in a body or in an `error` event; `details` is null when there is no code."""
    details = None if error_code is None else {"error_code": error_code}
    return {
        "type": "error",
        "error": {"type": type_, "message": message, "details": details},
        "request_id": request_id,
    }


def usual_type(status: int) -> str:
    """The `error.type` that goes with a status."""
    if status in _USUAL:
        return _USUAL[status][0]
    return "api_error" if status >= 500 else "invalid_request_error"


def usual_message(type_: str) -> str:
    """A message that goes with an `error.type`."""
    return _MESSAGES.get(type_, "Internal server error")


def status_of(type_: str) -> int:
    """The status that an `error.type` usually comes with."""
    return next((status for status, (name, _) in _USUAL.items() if name == type_), 500)
