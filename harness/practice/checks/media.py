"""What the API refuses in images and documents: their sizes, and how many there are."""

import base64
import binascii
from collections.abc import Iterator, Sequence

from harness.events import Block, Json
from harness.media.formats import HEAD_BYTES, is_encrypted, media_type, pdf_pages
from harness.practice.requests import blocks

MAX_BYTES = 10 * 1024 * 1024
MAX_PIXELS = 8000
"""Of either side."""
MANY = 20
MANY_MAX_PIXELS = 2000
"""Of either side, when there are more than `MANY` images."""
MAX_PAGES = 100
"""Of all PDF files in a request to a model with a window of 200,000 tokens."""
MAX_PAGES_OF_LARGE = 600
"""To one with a larger window."""


def image_problems(messages: Sequence[Json]) -> Iterator[str]:
    """The problems with the images of a request."""
    images = list(_blocks_of(messages, "image"))
    allowed = MANY_MAX_PIXELS if len(images) > MANY else MAX_PIXELS
    for at, image in images:
        if image["source"]["type"] == "base64":
            yield from _image_problems(image["source"], f"{at}.image.source", allowed)


def document_problems(messages: Sequence[Json], window: int) -> Iterator[str]:
    """The problems with the documents of a request; `window` in tokens."""
    allowed = MAX_PAGES_OF_LARGE if window > 200_000 else MAX_PAGES
    pages = 0
    for at, document in _blocks_of(messages, "document"):
        if document["source"]["type"] != "base64":
            continue
        data = _decoded(document["source"])
        if data is None:
            yield f"{at}.document.source.base64.data: Invalid base64 data"
            continue
        if not data.startswith(b"%PDF-"):
            yield f"{at}.pdf.source.base64.data: The PDF specified was not valid."
        elif is_encrypted(data):
            yield f"{at}.pdf.source.base64.data: The PDF specified is password protected."
        pages += pdf_pages(data) or 1
        if pages > allowed:
            yield f"{at}.pdf.source.base64.data: A maximum of {allowed} PDF pages may be provided."


def _blocks_of(messages: Sequence[Json], kind: str) -> Iterator[tuple[str, Block]]:
    """The blocks of one type in the messages and in tool results, each with its path."""
    for number, message in enumerate(messages):
        for index, block in enumerate(blocks(message.get("content"))):
            at = f"messages.{number}.content.{index}"
            if block.get("type") == kind:
                yield at, block
            elif block.get("type") == "tool_result":
                for inner, part in enumerate(blocks(block.get("content"))):
                    if part.get("type") == kind:
                        yield f"{at}.tool_result.content.{inner}", part


def _image_problems(source: Json, at: str, allowed: int) -> Iterator[str]:
    size = len(source["data"])
    if size > MAX_BYTES:
        yield f"{at}.base64: image exceeds 10 MB maximum: {size} bytes > {MAX_BYTES} bytes"
    image = _decoded(source)
    if image is None:
        yield f"{at}.base64.data: Invalid base64 data"
        return
    kind = media_type(image[:HEAD_BYTES])
    if kind is None:
        yield f"{at}: Could not process image"
    elif kind != source["media_type"]:
        yield f"{at}.base64: Image does not match the provided media type {source['media_type']}"
    if max(pixels(image), default=0) > allowed:
        many = " for many-image requests" if allowed == MANY_MAX_PIXELS else ""
        yield f"{at}: At least one of the image dimensions exceed max allowed size{many}: {allowed} pixels"


def _decoded(source: Json) -> bytes | None:
    try:
        return base64.b64decode(source["data"], validate=True)
    except binascii.Error:
        return None


def pixels(image: bytes) -> tuple[int, ...]:
    """Width and height of a PNG, GIF or JPEG; empty where they are unknown."""
    if image.startswith(b"\x89PNG\r\n\x1a\n") and len(image) >= 24:
        return int.from_bytes(image[16:20], "big"), int.from_bytes(image[20:24], "big")
    if image.startswith(b"GIF8") and len(image) >= 10:
        return int.from_bytes(image[6:8], "little"), int.from_bytes(image[8:10], "little")
    if image.startswith(b"\xff\xd8"):
        return _jpeg_pixels(image)
    return ()


def _jpeg_pixels(image: bytes) -> tuple[int, ...]:
    at = 2
    while at + 9 <= len(image) and image[at] == 0xFF:
        marker, length = image[at + 1], int.from_bytes(image[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(image[at + 7 : at + 9], "big"), int.from_bytes(image[at + 5 : at + 7], "big")
        at += 2 + length
    return ()
