"""Whether trying again can help: the class of a failure (docs/design/loops.md#error-classes).

The exception type, the number of the system error, the HTTP status and the code of a provider are examined first, in
this order; the words of the message only if none of them decides. No digit in a message counts, so that a port, a row
count or a request id never decides. The exception is a number in the position of a status: "HTTP 503", "status 429",
"returned 502", "Error 401:".
"""

import re
from collections.abc import Mapping
from errno import errorcode
from types import MappingProxyType

from harness.events import ErrorClass

MOST_READ = 20_000
"""Characters that are searched for words, without digits."""

TRANSIENT, PERSISTENT, UNKNOWN = ErrorClass.TRANSIENT, ErrorClass.PERSISTENT, ErrorClass.UNKNOWN


def classify(
    *,
    kind: str = "",
    errno: int | str | None = None,
    status: int | None = None,
    code: str | None = None,
    text: str = "",
) -> ErrorClass:
    """The class of one failure.

    Args:
        kind: name of the exception's type, with or without its module; or the category of a tool's failure.
        errno: number of the system error on this system, or its name.
        status: of HTTP.
        code: what a provider calls it, such as "rate_limit_error"; a number in it is a status.
        text: the message. Read in time linear in its length.
    """
    said = _words(text)
    name = (code or "").strip().lower()
    if status is None and re.fullmatch(r"[45]\d\d", name):
        status = int(name)
    found = (
        _of_kind(kind),
        _BY_ERRNO.get(errorcode.get(errno, "") if isinstance(errno, int) else (errno or "").strip().upper(), UNKNOWN),
        PERSISTENT if name in _SPENT else _of_status(status, f"{_words(name)} {said}"),
        _BY_CODE.get(name, UNKNOWN) if name in _BY_CODE else _of_words(_words(name)),
        _of_status(_status_in(text), said),
    )
    return next((one for one in found if one is not UNKNOWN), _of_words(said))


def after_retries(found: ErrorClass, retried: int, retries: int = 3) -> ErrorClass:
    """The class after retries that did not help: an unknown error gets one retry, a transient one `retries`.

    Args:
        found: the class of the last failure.
        retried: failed retries in a row.
        retries: allowed for a transient failure.
    """
    most = {TRANSIENT: retries, UNKNOWN: min(1, retries), PERSISTENT: 0}[found]
    return found if retried < most else PERSISTENT


def _each(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_KINDS: Mapping[ErrorClass, frozenset[str]] = MappingProxyType(
    {
        TRANSIENT: _each(
            "blockingioerror interruptederror brokenpipeerror connectionerror connectionreseterror apiconnectionerror",
            "connectionrefusederror connectionabortederror connecterror readerror writeerror remoteprotocolerror",
            "ratelimiterror overloadederror internalservererror serviceunavailableerror incompleteread timeout",
            "transport",
        ),
        PERSISTENT: _each(
            "permissionerror filenotfounderror fileexistserror notadirectoryerror isadirectoryerror typeerror",
            "modulenotfounderror importerror syntaxerror indentationerror notimplementederror attributeerror nameerror",
            "zerodivisionerror authenticationerror permissiondeniederror notfounderror badrequesterror cannot_start",
            "unicodedecodeerror unicodeencodeerror unprocessableentityerror validationerror recursionerror",
        ),
    }
)
_TIMED_OUT = ("timeout", "timeouterror", "timeoutexception", "timeoutexpired")


def _of_kind(kind: str) -> ErrorClass:
    name = kind.rpartition(".")[2].strip().lower()
    if name.endswith(_TIMED_OUT):
        return TRANSIENT
    return next((found for found, kinds in _KINDS.items() if name in kinds), UNKNOWN)


_BY_ERRNO: Mapping[str, ErrorClass] = MappingProxyType(
    {
        **dict.fromkeys(
            _each(
                "ECONNRESET ECONNREFUSED ECONNABORTED EPIPE ETIMEDOUT EAI_AGAIN EAGAIN EWOULDBLOCK EINTR EBUSY ETXTBSY",
                "ENETUNREACH ENETDOWN ENETRESET EHOSTUNREACH EHOSTDOWN ENOBUFS ENOLCK EDEADLK ESTALE EADDRINUSE",
            ),
            TRANSIENT,
        ),
        **dict.fromkeys(
            _each(
                "ENOENT EACCES EPERM EEXIST ENOTDIR EISDIR EINVAL ENOEXEC ENAMETOOLONG ENOTEMPTY EROFS EXDEV ELOOP",
                "ENOSYS ENOTSUP EOPNOTSUPP EFBIG ENOSPC EDQUOT EAI_NONAME ENODEV E2BIG EBADF",
            ),
            PERSISTENT,
        ),
    }
)

_PASSING = frozenset({408, 423, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_LASTING = frozenset({*range(400, 452), 501, 505, 506, 508, 510, 511}) - _PASSING - {409}
_HELD = re.compile(r"\b(?:lock(?:s|ed)?|deadlock|busy|concurrent(?:ly)?|in progress|try again|retry)\b")


def _of_status(status: int | None, said: str) -> ErrorClass:
    """A conflict passes only where something else holds a lock."""
    if status == 409:
        return TRANSIENT if _HELD.search(said) else UNKNOWN
    return TRANSIENT if status in _PASSING else PERSISTENT if status in _LASTING else UNKNOWN


_SPENT = _each("insufficient_quota billing_error billing_hard_limit_reached credit_balance_too_low quota_exceeded")
"""Quota errors: no request succeeds before somebody pays, whatever the status is."""
_BY_CODE: Mapping[str, ErrorClass] = MappingProxyType(
    {
        **dict.fromkeys(
            _each(
                "rate_limit_error rate_limit_exceeded overloaded_error api_error timeout_error server_error",
                "throttlingexception slowdown requesttimeout internalerror serviceunavailable resource_exhausted",
            ),
            TRANSIENT,
        ),
        **dict.fromkeys(
            _each(
                "invalid_api_key authentication_error permission_error not_found_error invalid_request_error",
                "request_too_large model_not_found context_length_exceeded accessdenied nosuchkey nosuchbucket",
                "unauthenticated permission_denied invalid_argument unimplemented content_policy_violation",
            ),
            PERSISTENT,
        ),
    }
)

_STATUS = re.compile(
    r"""
    \b(?: https?(?:/\d(?:\.\d)?)?\ +(?:(?:status|error|code)\ +)*+ | (?:status(?:[\ _]*code)?|error\ +code)\ *[:=]?\ * )
      (?P<plain>[45]\d\d)\b(?![.\-/\w]*\w)
  | \b(?:returned|responded\ with|answered\ with|failed\ with)\ +
      (?P<answered>[45]\d\d)(?=\ *(?:$|[.,;:)\]\n]|(?:from|for|on)\b))(?!\.\d)
  | \b(?:error|code)\ +(?P<headed>[45]\d\d)\ *:
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _status_in(text: str) -> int | None:
    """The number in the position of a status, if any."""
    match = _STATUS.search(text)
    return int(match[match.lastgroup]) if match and match.lastgroup else None


_SAID: tuple[tuple[ErrorClass, tuple[str, ...]], ...] = (
    (
        PERSISTENT,
        (
            *("permission denied", "access denied", "access is denied", "not permitted", "operation not permitted"),
            *(
                "unauthorized",
                "unauthorised",
                "forbidden",
                "not found",
                "no such file",
                "no such host",
                "does not exist",
            ),
            *("bad request", "invalid credentials", "invalid api key", "authentication failed", "login required"),
            *("configuration error", "is a directory", "not a directory", "file exists", "no space left", "read only"),
            *("method not allowed", "not acceptable", "payload too large", "prompt is too long", "no module named"),
            *("syntax error", "not implemented", "insufficient quota", "command not found", "quota exceeded"),
        ),
    ),
    (
        TRANSIENT,
        (
            *("timed out", "time out", "timeouterror", "deadline exceeded", "connection refused", "connection reset"),
            *("connection aborted", "connection closed", "connection lost", "econn(?:reset|refused|aborted)"),
            *("etimedout", "eai again", "eagain", "epipe", "broken pipe", "socket hang up", "network error"),
            *("network is unreachable", "temporary failure", "temporarily", "try again", "too many requests"),
            *("rate limit(?:ed|s)?", "rate limit exceeded", "overloaded", "service unavailable", "bad gateway"),
            *("gateway time ?out", "internal server error", "server error", "throttled", "deadlock"),
            *("lock conflict", "lock held", "resource busy", "is locked", "database is locked", "could not get lock"),
            *("unexpected eof", "server disconnected", "device or resource busy", "enotconn", "request timeout"),
        ),
    ),
    (
        PERSISTENT,
        (
            *(
                "invalid",
                "must be",
                "malformed",
                "unsupported",
                "unknown option",
                "unrecognized",
                "missing",
                "expected",
            ),
            *("enoent", "eacces", "eperm", "denied", "illegal", "cannot parse", "parse error", "undefined"),
        ),
    ),
    (TRANSIENT, ("time ?out", "unavailable", "unreachable", "busy")),
)
"""What messages say, the surest first: what happened, before what might only be the name of something."""
_PATTERNS = tuple((found, re.compile(rf"\b(?:{'|'.join(phrases)})\b")) for found, phrases in _SAID)
_DIGITS = re.compile(r"\d+")
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def _words(text: str) -> str:
    """The text in lower case, its words between single spaces, without any digit; of a long one its two ends."""
    text = _DIGITS.sub("", text)
    if len(text) > MOST_READ:
        text = f"{text[: MOST_READ // 2]} {text[-MOST_READ // 2 :]}"
    return _BETWEEN_WORDS.sub(" ", text.lower()).strip()


def _of_words(said: str) -> ErrorClass:
    return next((found for found, pattern in _PATTERNS if pattern.search(said)), UNKNOWN)
