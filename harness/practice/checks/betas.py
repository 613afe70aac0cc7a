"""The values of the `anthropic-beta` header."""

from collections.abc import Iterable
from functools import cache
from typing import get_args

_BESIDES_THE_SDK = """
advanced-tool-use-2025-11-20 afk-mode-2026-01-31 ccr-byoc-2025-07-29 ccr-triggers-2026-01-30 claude-code-20250219
code-execution-2025-08-25 code-execution-web-tools-2026-02-09 context-hint-2026-04-09 effort-2025-11-24
environments-2025-11-01 fine-grained-tool-streaming-2025-05-14 max-tokens-3-5-sonnet-2024-07-15 mcp-servers-2025-12-04
mid-conversation-system-2026-04-07 oauth-2025-04-20 oidc-federation-2026-04-01 prompt-caching-scope-2026-01-05
redact-thinking-2026-02-12 server-side-fallback-2026-06-09 structured-outputs-2025-12-15
summarize-connector-text-2026-03-13 tool-examples-2025-10-29 tool-search-tool-2025-10-19 tools-2024-04-04
tools-2024-05-16 web-fetch-2025-09-10 web-search-2025-03-05
"""
"""Values that Claude Code 2.1 and opencode 1.18 send, and that the SDK does not list."""

STRUCTURED_OUTPUTS = frozenset({"structured-outputs-2025-11-13", "structured-outputs-2025-12-15"})
"""With one of these the API takes `output_format`, the older name of `output_config.format`."""
INTERLEAVED_THINKING = "interleaved-thinking-2025-05-14"


def betas_of(header: str) -> tuple[str, ...]:
    """The values in an `anthropic-beta` header."""
    return tuple(value for part in header.split(",") if (value := part.strip()))


def beta_problem(betas: Iterable[str], also: frozenset[str] = frozenset()) -> str | None:
    """The problem with the betas of a request; `also` are accepted besides those that are known."""
    asked = set(betas) - also
    unknown = sorted(asked - _known()) if asked else []
    if not unknown:
        return None
    named = ", ".join(f"`{value}`" for value in unknown)
    return (
        f"Unexpected value(s) {named} for the `anthropic-beta` header. Please consult our documentation at "
        "docs.claude.com or try again without the header."
    )


@cache
def _known() -> frozenset[str]:
    from anthropic.types import AnthropicBetaParam

    listed = frozenset(name for each in get_args(AnthropicBetaParam) for name in get_args(each))
    return listed | frozenset(_BESIDES_THE_SDK.split())
