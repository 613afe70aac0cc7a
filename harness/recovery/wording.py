"""What a person can do about a fault, in a few words for each kind."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.events import FaultKind

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
        FaultKind.HISTORY_INVALID: "start over with /clear; /export keeps what was said",
        FaultKind.MODEL_NOT_FOUND: "choose another one with --model or /model",
        FaultKind.REFUSAL: "put the request differently, or use another model with /model",
        FaultKind.WRONG_ADDRESS: "set ANTHROPIC_BASE_URL (setting base_url) to a server that does",
        FaultKind.CACHE_MARKS: "set ANTHROPIC_BASE_URL (setting base_url) to a server that takes what harness sends",
        FaultKind.MALFORMED_RESPONSE: "set ANTHROPIC_BASE_URL (setting base_url) to a server that does",
    }
)


def advice(kind: FaultKind) -> str:
    """What to do about a fault of this kind; empty where its own message says all there is to say."""
    return _ADVICE.get(kind, "")
