"""What a request brings beside text: images and documents, measured and not looked at."""

import base64
import binascii
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from harness.events import Json
from harness.media.formats import pdf_pages
from harness.practice.check_images import pixels


def measured(content: Any) -> Iterator[str]:
    """The type, size and beginning of the SHA-256 of each image and document in a message and its tool results."""
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool_result":
            yield from measured(block.get("content"))
        elif block.get("type") in ("image", "document") and isinstance(block.get("source"), dict):
            yield _measured(block["source"])


def _measured(source: Json) -> str:
    kind = str(source.get("media_type") or source.get("type"))
    try:
        data = base64.b64decode(str(source.get("data") or ""))
    except (binascii.Error, ValueError):
        return kind
    size = " × ".join(map(str, pixels(data))) or (f"{pages} p." if (pages := pdf_pages(data)) else "")
    return ", ".join(filter(None, (kind, size, f"{len(data):,} bytes", f"SHA-256 {sha256(data).hexdigest()[:8]}")))
