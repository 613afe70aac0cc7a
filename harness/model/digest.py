"""Digests of the fixed part of a prompt, to tell whether two requests begin with the same bytes."""

import hashlib
import json
from collections.abc import Sequence

from harness.events import Json


def digest_of(blocks: Sequence[Json]) -> str:
    """16 hexadecimal digits of system blocks or tools, in their order, without cache breakpoints."""
    bare = [{name: value for name, value in block.items() if name != "cache_control"} for block in blocks]
    return hashlib.sha256(json.dumps(bare, separators=(",", ":")).encode()).hexdigest()[:16]
