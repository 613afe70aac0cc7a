"""Whether the real API would take a request, and what it would answer (api §5.1, R21)."""

from collections.abc import Mapping

from harness.events import Json
from harness.practice.counting import Counter
from harness.practice.errors import ApiError
from harness.practice.rules import ServerRules


def check_access(headers: Mapping[str, str], rules: ServerRules) -> ApiError | None:
    """Who asks: a key in Authorization or x-api-key."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else ""
    key = bearer or headers.get("x-api-key", "")
    if not key and (rules.key_required or rules.key is not None):
        return ApiError(401, "x-api-key header is required", "authentication_error")
    if rules.key is not None and key != rules.key:
        return ApiError(401, "Invalid bearer token" if bearer else "invalid x-api-key", "authentication_error")
    return None


def check_headers(headers: Mapping[str, str]) -> ApiError | None:
    """The version header."""
    if not headers.get("anthropic-version"):
        return ApiError(400, "anthropic-version: header is required")
    return None


def check(body: Json, rules: ServerRules, counter: Counter | None) -> ApiError | None:
    return None
