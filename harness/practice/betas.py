"""The values of the `anthropic-beta` header that the API knows."""

from collections.abc import Iterable

_NAMES = """
admin-user-sign-out-2026-10-08 advanced-tool-use-2025-11-20 advisor-tool-2026-03-01 afk-mode-2026-01-31
agent-memory-2026-07-22 analytics-usage-cost-2026-08-24 cache-diagnosis-2026-04-07 ccr-byoc-2025-07-29
ccr-triggers-2026-01-30 ce-claude-code-managed-settings-2026-10-06 ce-plugins-2026-09-01
ce-user-management-2026-07-13 claude-code-20250219 code-execution-2025-05-22 code-execution-2025-08-25
code-execution-web-tools-2026-02-09 compact-2026-01-12 compact-2026-09-04 computer-use-2024-10-22
computer-use-2025-01-24 computer-use-2025-11-24 context-1m-2025-08-07 context-hint-2026-04-09
context-management-2025-06-27 dev-full-thinking-2025-05-14 dreaming-2026-04-21 effort-2025-11-24
environments-2025-11-01 experimental-claude-tag-2026-10-21 extended-cache-ttl-2025-04-11 fallback-credit-2026-06-01
fallback-credit-2026-07-01 fast-mode-2026-02-01 files-api-2025-04-14 fine-grained-tool-streaming-2025-05-14
inline-tools-2026-09-15 interleaved-thinking-2025-05-14 managed-agents-2026-04-01 max-tokens-3-5-sonnet-2024-07-15
mcp-client-2025-04-04 mcp-client-2025-11-20 mcp-client-2026-09-15 mcp-servers-2025-12-04 mcp-tunnels-2026-06-22
message-batches-2024-09-24 message-threads-2026-08-12 mid-conversation-output-config-2026-07-01
mid-conversation-system-2026-04-07 mid-conversation-system-clear-at-2026-08-21
mid-conversation-tool-changes-2026-07-01 model-context-window-exceeded-2025-08-26 oauth-2025-04-20
oidc-federation-2026-04-01 output-128k-2025-02-19 output-300k-2026-03-24 pdfs-2024-09-25 prompt-caching-2024-07-31
prompt-caching-scope-2026-01-05 redact-thinking-2026-02-12 server-side-fallback-2026-06-01
server-side-fallback-2026-06-09 server-side-fallback-2026-07-01 skills-2025-10-02 spend-limit-reads-2026-09-26
structured-outputs-2025-11-13 structured-outputs-2025-12-15 summarize-connector-text-2026-03-13
task-budgets-2026-03-13 telemetry-destinations-2026-08-11 thinking-binding-controls-2026-08-01
thinking-display-updates-2026-08-18 thinking-token-count-2026-05-13 token-counting-2024-11-01
token-efficient-tools-2025-02-19 tool-examples-2025-10-29 tool-search-tool-2025-10-19 tools-2024-04-04
tools-2024-05-16 user-profiles-2026-03-24 user-profiles-2026-08-18 user-profiles-2026-09-04
user-profiles-billing-2026-10-01 web-fetch-2025-09-10 web-search-2025-03-05 webhooks-2026-10-07
"""

KNOWN = frozenset(_NAMES.split())
"""Those of the `anthropic` SDK 2.12, and those that Claude Code 2.1 and opencode 1.18 send besides."""

STRUCTURED_OUTPUTS = frozenset({"structured-outputs-2025-11-13", "structured-outputs-2025-12-15"})
"""With one of these the API takes `output_format`, the older name of `output_config.format`."""
INTERLEAVED_THINKING = "interleaved-thinking-2025-05-14"


def betas_of(header: str) -> tuple[str, ...]:
    """The values in an `anthropic-beta` header."""
    return tuple(value for part in header.split(",") if (value := part.strip()))


def beta_problem(betas: Iterable[str], also: frozenset[str] = frozenset()) -> str | None:
    """What is wrong with the betas of a request; `also` are accepted too."""
    unknown = sorted(set(betas) - KNOWN - also)
    if not unknown:
        return None
    named = ", ".join(f"`{value}`" for value in unknown)
    return (
        f"Unexpected value(s) {named} for the `anthropic-beta` header. Please consult our documentation at "
        "docs.claude.com or try again without the header."
    )
