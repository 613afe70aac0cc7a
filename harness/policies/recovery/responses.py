"""What each kind of fault is answered with: a table, so that a person can check it at a glance."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from harness.events import FaultKind


class Response(StrEnum):
    """The first answer to a fault. What follows when it is spent stands in `policy`."""

    RETRY = "wait, then send the same request again"
    RETRY_THEN_SWITCH = "retry; after three in a row ask the next fallback model"
    RETRY_FRESH = "retry on a new connection"
    RETRY_ONCE = "send the same request once more"
    RETRY_TWICE = "send the same request again, twice at most"
    SWITCH_ONCE = "ask the next fallback model, once"
    COMPACT = "shorten the history, then send again"
    LOWER_CAP = "ask for fewer output tokens, once"
    STRIP_MEDIA = "replace images and documents by text, once"
    STRIP_THINKING = "leave out thinking blocks, once"
    DROP_CACHE_MARKS = "leave out the cache marks, here and in all later requests to the server"
    DROP_REPLY_SETTINGS = "say nothing of thinking and effort any more, to this model and for the session"
    DROP_SERVER_TOOLS = "leave out web search and fetch, here and in all later requests to the model"
    DROP_FORMAT = "leave out the output format, here and in all later requests to the model"
    DROP_DIAGNOSTICS = "do not ask why the cache missed, here and in all later requests to the server"
    REPAIR = "repair the history, once"
    RELOAD_KEY = "read the key again; send again only if it changed"
    CUT_SHORT = "keep what came before, and ask to go on without repeating it"
    STOP = "end the turn and say what to do"


RESPONSES: Mapping[FaultKind, Response] = MappingProxyType(
    {
        FaultKind.OVERLOADED: Response.RETRY_THEN_SWITCH,
        FaultKind.RATE_LIMIT: Response.RETRY,
        FaultKind.QUOTA_EXHAUSTED: Response.STOP,
        FaultKind.SERVER: Response.RETRY,
        FaultKind.TIMEOUT: Response.RETRY_FRESH,
        FaultKind.NETWORK: Response.RETRY_FRESH,
        FaultKind.STALE_SOCKET: Response.RETRY_FRESH,
        FaultKind.TLS: Response.STOP,
        FaultKind.AUTH: Response.RELOAD_KEY,
        FaultKind.BILLING: Response.STOP,
        FaultKind.PROMPT_TOO_LONG: Response.COMPACT,
        FaultKind.MAX_TOKENS_OVERFLOW: Response.LOWER_CAP,
        FaultKind.REQUEST_TOO_LARGE: Response.COMPACT,
        FaultKind.MEDIA: Response.STRIP_MEDIA,
        FaultKind.SIGNATURE: Response.STRIP_THINKING,
        FaultKind.HISTORY_INVALID: Response.REPAIR,
        FaultKind.MODEL_NOT_FOUND: Response.STOP,
        FaultKind.WRONG_ADDRESS: Response.STOP,
        FaultKind.CACHE_MARKS: Response.DROP_CACHE_MARKS,
        FaultKind.REPLY_SETTINGS: Response.DROP_REPLY_SETTINGS,
        FaultKind.SERVER_TOOLS: Response.DROP_SERVER_TOOLS,
        FaultKind.ANSWER_FORMAT: Response.DROP_FORMAT,
        FaultKind.CACHE_DIAGNOSTICS: Response.DROP_DIAGNOSTICS,
        FaultKind.REFUSAL: Response.SWITCH_ONCE,
        FaultKind.MALFORMED_RESPONSE: Response.RETRY_TWICE,
        FaultKind.REPETITION: Response.CUT_SHORT,
        FaultKind.CANCELLED: Response.STOP,
        FaultKind.UNKNOWN: Response.RETRY_ONCE,
    }
)
"""One row for each kind (recovery B5, C2, D5, E1, F2, F3; api R7, R8)."""

RETRIED = frozenset(
    {Response.RETRY, Response.RETRY_THEN_SWITCH, Response.RETRY_FRESH, Response.RETRY_ONCE, Response.RETRY_TWICE}
)
"""Responses that x-should-retry: false turns into STOP (recovery §8)."""
