"""Images and documents in content blocks: position, size, and placeholders for them."""

import base64
import binascii
from collections.abc import Callable, Iterator

from harness.events import Block
from harness.media.formats import ImageSize, size_of

MEDIA_TYPES = frozenset({"image", "document"})
_HEAD = 65_536
"""Characters of base64 to decode; every format has the size near the start."""


def image_size(block: Block) -> ImageSize | None:
    """The size of an image block; None: unknown (a URL, a file id, an unknown format)."""
    source = block.get("source")
    data = source.get("data") if isinstance(source, dict) else None
    if not isinstance(data, str):
        return None
    try:
        head = base64.b64decode(data[:_HEAD], validate=False)
    except (binascii.Error, ValueError):
        return None
    return size_of(head)


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
    """A text block in place of an image or document."""
    source = block.get("source")
    kind = source.get("media_type") if isinstance(source, dict) else None
    title = block.get("title")
    about = ", ".join(str(word) for word in (title, kind) if word)
    return {"type": "text", "text": f"({block['type']} left out{': ' + about if about else ''})"}


def with_words_for(block: Block, unwanted: Callable[[Block], bool]) -> Block:
    """`block` with itself, or unwanted blocks inside it, replaced by placeholders."""
    if unwanted(block):
        return placeholder(block)
    if not any(map(unwanted, nested(block))):
        return block
    inner = [placeholder(item) if isinstance(item, dict) and unwanted(item) else item for item in block["content"]]
    return {**block, "content": inner}
