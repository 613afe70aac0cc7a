"""What can repeat, in a word or two."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.events import Projection

PROJECTIONS: Mapping[Projection, str] = MappingProxyType(
    {
        Projection.ACTION: "same calls",
        Projection.INTERACTION: "same calls, same results",
        Projection.ERROR: "same error",
        Projection.NODE: "same places",
        Projection.STATE: "same state",
        Projection.STAGNATION: "same call among others",
        Projection.POLL: "asked too often",
        Projection.TEXT: "same text",
    }
)
"""What repeats, as a kind."""
