"""Advice about faults, and numbers with their nouns."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.events import FaultKind

_ANOTHER_SERVER = "set ANTHROPIC_BASE_URL (setting base_url) to a server that takes what harness sends"

_ADVICE: Mapping[FaultKind, str] = MappingProxyType(
    {
        FaultKind.OVERLOADED: "try again later with /retry, or use another model with /model",
        FaultKind.RATE_LIMIT: "try again later with /retry, or use another model with /model",
        FaultKind.QUOTA_EXHAUSTED: "raise the spending limit of the account, or use another key",
        FaultKind.SERVER: "try again with /retry",
        FaultKind.TIMEOUT: "check the network, then try again with /retry",
        FaultKind.NETWORK: "check the network and ANTHROPIC_BASE_URL, then try again with /retry",
        FaultKind.STALE_SOCKET: "try again with /retry",
        FaultKind.TLS: "check the certificate of the server in ANTHROPIC_BASE_URL; it is not tried again",
        FaultKind.AUTH: "set a valid ANTHROPIC_API_KEY; `harness doctor` shows which one is used",
        FaultKind.BILLING: "add credits to the account, or use another key",
        FaultKind.PROMPT_TOO_LONG: "start over with /clear, or go back to a shorter point",
        FaultKind.MAX_TOKENS_OVERFLOW: "start over with /clear, or set a smaller --max-tokens",
        FaultKind.REQUEST_TOO_LARGE: "start over with /clear, or leave out the largest file",
        FaultKind.MEDIA: "leave the image out",
        FaultKind.SIGNATURE: "start over with /clear",
        FaultKind.HISTORY_INVALID: "start over with /clear; /export saves the conversation",
        FaultKind.MODEL_NOT_FOUND: "choose another one with --model or /model",
        FaultKind.REFUSAL: "put the request differently, or use another model with /model",
        FaultKind.WRONG_ADDRESS: "set ANTHROPIC_BASE_URL (setting base_url) to a server that does",
        FaultKind.REPLY_SETTINGS: "use another model, or another server with ANTHROPIC_BASE_URL (setting base_url)",
        FaultKind.CACHE_MARKS: _ANOTHER_SERVER,
        FaultKind.TEXT_AFTER_RESULTS: _ANOTHER_SERVER,
        FaultKind.CACHE_DIAGNOSTICS: _ANOTHER_SERVER,
        FaultKind.SERVER_TOOLS: "switch web_search and web_fetch off",
        FaultKind.ANSWER_FORMAT: "use a simpler schema, or another model with --model",
        FaultKind.MALFORMED_RESPONSE: "set ANTHROPIC_BASE_URL (setting base_url) to a server that does",
    }
)


_UNATTENDED: Mapping[FaultKind, str] = MappingProxyType(
    {
        FaultKind.OVERLOADED: "try again later, or use another model",
        FaultKind.RATE_LIMIT: "try again later, or use another model",
        FaultKind.SERVER: "try again later",
        FaultKind.TIMEOUT: "check the network, then try again",
        FaultKind.NETWORK: "check the network and ANTHROPIC_BASE_URL, then try again",
        FaultKind.STALE_SOCKET: "try again",
        FaultKind.PROMPT_TOO_LONG: "begin a new session, or ask for less at once",
        FaultKind.MAX_TOKENS_OVERFLOW: "begin a new session, or set a smaller max_tokens",
        FaultKind.REQUEST_TOO_LARGE: "begin a new session, or leave out the largest file",
        FaultKind.SIGNATURE: "begin a new session",
        FaultKind.HISTORY_INVALID: "begin a new session; `harness export` saves the conversation",
        FaultKind.MODEL_NOT_FOUND: "choose another model",
        FaultKind.REFUSAL: "put the request differently, or use another model",
    }
)
"""The same for sessions without commands: headless, library, subagent."""


def advice(kind: FaultKind, *, attended: bool = True) -> str:
    """What to do about a fault of this kind; empty if its own message says enough.

    `attended`: a user can type commands.
    """
    return (not attended and _UNATTENDED.get(kind)) or _ADVICE.get(kind, "")


def address_advice(*, attended: bool) -> str:
    """What to check if no server was found at an address that never answered."""
    again = " with /retry" if attended else ""
    return (
        "check the address (ANTHROPIC_BASE_URL, setting base_url), that its server runs, and the network, then try "
        f"again{again}"
    )


def shorter(attended: bool) -> str:
    """How to continue without automatic compaction."""
    return "shorten the conversation with /compact or /clear" if attended else "switch auto_compact on"


def no_room_to_answer(cap: int, *, low_effort: bool, user_cap: bool, full_window: bool, attended: bool) -> str:
    """The explanation and advice if a whole reply of `cap` tokens was used up before any text.

    Args:
        low_effort: low effort was already requested.
        user_cap: the cap is the user's own.
        full_window: the window, not the model's maximum, sets the cap.
        attended: a user can type commands.
    """
    if user_cap:
        remedy = "set a larger max_tokens, or none"
    elif full_window:
        remedy = start_over(attended)
        remedy = f"shorten the conversation with /compact, or {remedy}" if attended else remedy
    else:
        remedy = f"ask for less at once, or use another model{' with /model' * attended}"
    effort = " with low effort" if low_effort else ""
    return f"all {cap:,} output tokens of the reply were used up{effort} before any text (thinking counts); {remedy}"


def start_over(attended: bool) -> str:
    """How to continue if nothing more can be shortened."""
    return "start over with /clear" if attended else "begin a new session"


def retries(number: int) -> str:
    return "1 retry" if number == 1 else f"{number} retries"


def continuations(number: int) -> str:
    return "1 continuation" if number == 1 else f"{number} continuations"
