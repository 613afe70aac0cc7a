"""The prices of the chapter, from the price table of the program."""

from harness.events import Usage
from harness.model.catalogue import known_card

MODEL = "claude-haiku-4-5"
BEGINNING = 5_000
"""Tokens of tools and system prompt, about as many as the demo has."""
REQUESTS = 20


def _cost(*, written: int = 0, read: int = 0, plain: int = 0) -> str:
    """What so many requests with this beginning cost, by how it is counted: as written, as read, as neither."""
    usage = Usage(input=plain * BEGINNING, cache_creation=written * BEGINNING, cache_read=read * BEGINNING)
    return f"{written:>8}{read:>8}{plain:>8}     ${known_card(MODEL).cost(usage):.4f}"


def costs() -> str:
    """The same beginning in all requests, in three cases."""
    return "\n".join(
        (
            f"   {REQUESTS} requests, each with the same {BEGINNING:,} tokens before the conversation, {MODEL}:",
            "",
            f"   {'':<34} written    read   plain     in all",
            f"   {'no breakpoint':<34}{_cost(plain=REQUESTS)}",
            f"   {'a breakpoint, the same bytes':<34}{_cost(written=1, read=REQUESTS - 1)}",
            f"   {'a breakpoint behind a clock':<34}{_cost(written=REQUESTS)}",
        )
    )
