"""The prices of the chapter, from the price table of the program."""

from harness.events import Usage
from harness.model.catalogue import Catalogue

MODEL = "claude-haiku-4-5"
BEGINNING = 5_000
"""Tokens of tools and system prompt, about as many as the demo has."""
REQUESTS = 20


def _cost(*, written: int = 0, read: int = 0, plain: int = 0) -> str:
    """What so many requests with this beginning cost, by how it is counted: as written, as read, as neither."""
    usage = Usage(input=plain * BEGINNING, cache_creation=written * BEGINNING, cache_read=read * BEGINNING)
    return f"{written:>7}{read:>6}{plain:>7}   ${Catalogue().cost(MODEL, usage):.4f}"


def costs() -> str:
    """The same beginning in all requests, in three cases."""
    return "\n".join(
        (
            f"   {MODEL}: {REQUESTS} requests that begin with",
            f"   the same {BEGINNING:,} tokens",
            "                           written  read  plain    total",
            f"   no breakpoint           {_cost(plain=REQUESTS)}",
            f"   one, and the same bytes {_cost(written=1, read=REQUESTS - 1)}",
            f"   one behind a clock      {_cost(written=REQUESTS)}",
        )
    )
