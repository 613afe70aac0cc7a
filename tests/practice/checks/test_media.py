"""Images that the API refuses, and their size in pixels."""

import base64
import struct

import pytest

from harness.events import Block
from harness.practice.checks.media import document_problems, image_problems, pixels
from tests.media.files import pdf


def image(data: str = "aGk=", media_type: str = "image/png") -> Block:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def png(width: int, height: int) -> str:
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)).decode()


def document(data: bytes) -> Block:
    source = {"type": "base64", "media_type": "application/pdf", "data": base64.b64encode(data).decode()}
    return {"type": "document", "source": source}


SOURCE = "messages.0.content.0.image.source"
TOO_WIDE = "At least one of the image dimensions exceed max allowed size"


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ([image(png(8000, 10))], None),
        ([image(png(2000, 10))] * 21, None),
        ([image(png(8001, 10))], f"{SOURCE}: {TOO_WIDE}: 8000 pixels"),
        ([image(png(10, 2001))] * 21, f"{SOURCE}: {TOO_WIDE} for many-image requests: 2000 pixels"),
        ([image("A" * 10485764)], f"{SOURCE}.base64: image exceeds 10 MB maximum: 10485764 bytes > 10485760 bytes"),
        ([image("?")], f"{SOURCE}.base64.data: Invalid base64 data"),
        ([image()], f"{SOURCE}: Could not process image"),
        (
            [image(png(1, 1), "image/gif")],
            f"{SOURCE}.base64: Image does not match the provided media type image/gif",
        ),
        (
            [{"type": "tool_result", "content": [{"type": "text", "text": "x"}, image("?")]}],
            "messages.0.content.0.tool_result.content.1.image.source.base64.data: Invalid base64 data",
        ),
    ],
)
def test_an_image_has_a_size_and_is_of_its_type(images: list[Block], message: str | None) -> None:
    assert next(image_problems([{"role": "user", "content": images}]), None) == message


@pytest.mark.parametrize(
    ("data", "window", "message"),
    [
        (pdf(100), 200_000, None),
        (pdf(101), 1_000_000, None),
        (pdf(101), 200_000, "A maximum of 100 PDF pages may be provided."),
        (pdf(601), 1_000_000, "A maximum of 600 PDF pages may be provided."),
        (b"hello", 200_000, "The PDF specified was not valid."),
        (pdf(1, encrypted=True), 200_000, "The PDF specified is password protected."),
    ],
    ids=["100", "101", "over 100", "over 600", "no PDF", "encrypted"],
)
def test_a_document_is_a_readable_pdf_of_so_many_pages(data: bytes, window: int, message: str | None) -> None:
    found = next(document_problems([{"role": "user", "content": [document(data)]}], window), None)
    assert found == (None if message is None else f"messages.0.content.0.pdf.source.base64.data: {message}")


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b"GIF89a" + struct.pack("<HH", 3, 4), (3, 4)),
        (b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x04\x00\x03\x03", (3, 4)),
        (b"\xff\xd8\xff", ()),
        (b"RIFF", ()),
        (b"", ()),
    ],
)
def test_the_size_of_an_image_is_read_from_its_first_bytes(data: bytes, size: tuple[int, ...]) -> None:
    assert pixels(data) == size
