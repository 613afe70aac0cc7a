"""Images and documents in content blocks: where they are, how large, and the words that replace them."""

import base64
import binascii
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness.events import Block

MEDIA_TYPES = frozenset({"image", "document"})
_HEAD = 65_536
"""Characters of base64 that are looked at; the size stands near the beginning of every format."""


@dataclass(frozen=True, slots=True)
class Size:
    """Size of an image in pixels."""

    width: int
    height: int


def image_size(block: Block) -> Size | None:
    """The size of an image block, or None where its data does not tell (a URL, a file id, an unknown format)."""
    source = block.get("source")
    data = source.get("data") if isinstance(source, dict) else None
    if not isinstance(data, str):
        return None
    try:
        head = base64.b64decode(data[:_HEAD], validate=False)
    except (binascii.Error, ValueError):
        return None
    try:
        size = _size(head)
    except (struct.error, IndexError):
        return None
    return size if size and size.width > 0 and size.height > 0 else None


def _size(head: bytes) -> Size | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return Size(*struct.unpack(">II", head[16:24]))
    if head.startswith((b"GIF87a", b"GIF89a")):
        return Size(*struct.unpack("<HH", head[6:10]))
    if head.startswith(b"\xff\xd8"):
        return _jpeg_size(head)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp_size(head)
    return None


def _jpeg_size(head: bytes) -> Size | None:
    at = 2
    while head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return Size(width, height)
        at += 2 + struct.unpack(">H", head[at + 2 : at + 4])[0]
    return None


def _webp_size(head: bytes) -> Size | None:
    match head[12:16]:
        case b"VP8X":
            return Size(
                1 + int.from_bytes(head[24:27], "little"),
                1 + int.from_bytes(head[27:30], "little"),
            )
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return Size(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        case b"VP8 ":
            width, height = struct.unpack("<HH", head[26:30])
            return Size(width & 0x3FFF, height & 0x3FFF)
    return None


def nested(block: Block) -> list[Block]:
    """The blocks inside a tool result; none for any other block."""
    content = block.get("content") if block.get("type") == "tool_result" else None
    return [inner for inner in content if isinstance(inner, dict)] if isinstance(content, list) else []


def images(block: Block) -> Iterator[Block]:
    """The image blocks in `block`: itself, or those of a tool result."""
    for candidate in (block, *nested(block)):
        if candidate.get("type") == "image":
            yield candidate


def placeholder(block: Block) -> Block:
    """The text that stands where an image or document was."""
    source = block.get("source")
    kind = source.get("media_type") if isinstance(source, dict) else None
    title = block.get("title")
    about = ", ".join(str(word) for word in (title, kind) if word)
    return {"type": "text", "text": f"({block['type']} left out{': ' + about if about else ''})"}


def with_words_for(block: Block, unwanted: Callable[[Block], bool]) -> Block:
    """`block` with placeholders for itself or for those blocks inside it that are unwanted."""
    if unwanted(block):
        return placeholder(block)
    if not any(map(unwanted, nested(block))):
        return block
    inner = [placeholder(item) if isinstance(item, dict) and unwanted(item) else item for item in block["content"]]
    return {**block, "content": inner}
