"""Image and PDF files as they are sent."""

import base64
import io
import struct
import zlib
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from harness.media.attachment import MOST_EDGE, MOST_IMAGE_BYTES, Attachment, MediaError, attachment
from tests.media.files import noise, pdf, picture, png, saved


def data_of(made: Attachment) -> bytes:
    return base64.b64decode(made.block["source"]["data"])


def image_of(made: Attachment) -> Image.Image:
    image = Image.open(io.BytesIO(data_of(made)))
    image.load()
    assert Image.MIME[image.format or ""] == made.block["source"]["media_type"]
    return image


def colours(image: Image.Image) -> tuple[object, object]:
    """The colours near the upper left and the upper right corner."""
    rgb = image.convert("RGB")
    names = {(True, False): "red", (False, True): "blue"}
    near = (rgb.getpixel((1, 1)), rgb.getpixel((rgb.width - 2, 1)))
    return tuple(names.get((at[0] > 200, at[2] > 200)) for at in near)  # type: ignore[index,return-value]


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_what_the_api_takes_is_sent_byte_for_byte(form: str) -> None:
    data = saved(picture(40, 30), form)
    made = attachment(data, "f")
    assert data_of(made) == data
    assert made.size == "40×30"
    assert made.words == f"f is an image of 40 × 30 pixels; its file has {len(data)} bytes."


@pytest.mark.parametrize("form", ["BMP", "TIFF", "AVIF"])
def test_other_formats_are_converted(form: str) -> None:
    made = attachment(saved(picture(40, 30), form), "scan")
    assert made.block["source"]["media_type"] == "image/png"
    assert colours(image_of(made)) == ("red", "blue")
    assert f"converted from {form}" in made.words


@pytest.mark.grid(1)
@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "TIFF"])
@pytest.mark.parametrize("size", [(2001, 10), (10, 8001), (2600, 2400)])
def test_an_image_that_is_too_large_is_scaled(form: str, size: tuple[int, int]) -> None:
    made = attachment(saved(picture(*size), form), "big")
    image = image_of(made)
    assert max(image.size) == MOST_EDGE
    assert abs(image.width * size[1] - image.height * size[0]) <= max(size)  # the same shape but for rounding
    assert f"scaled from {size[0]} × {size[1]}" in made.words


@pytest.mark.stories
def test_an_image_of_too_many_bytes_is_packed_tighter() -> None:
    data = saved(noise(1500, 1000, "RGBA"), "PNG")
    assert len(data) > MOST_IMAGE_BYTES
    made = attachment(data, "noise.png")
    assert len(data_of(made)) <= MOST_IMAGE_BYTES
    assert image_of(made).size == (1500, 1000)


def test_the_orientation_of_a_camera_is_applied() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned a quarter to the right
    data = saved(picture(60, 40).transpose(Image.Transpose.ROTATE_90), "JPEG", exif=exif)
    made = attachment(data, "photo.jpg")
    image = image_of(made)
    assert (image.size, colours(image)) == ((60, 40), ("red", "blue"))
    assert image.getexif().get(0x0112, 1) == 1


def test_of_an_animation_the_first_frame_is_sent() -> None:
    frames = [picture(20, 10), Image.new("RGB", (20, 10), "green")]
    made = attachment(saved(frames[0], "GIF", save_all=True, append_images=frames[1:]), "a.gif")
    assert colours(image_of(made)) == ("red", "blue")
    assert getattr(image_of(made), "n_frames", 1) == 1
    assert "its first frame" in made.words


def test_transparency_stays_where_it_can() -> None:
    image = picture(3000, 10, "RGBA")
    image.putpixel((2999, 9), (0, 0, 0, 0))
    assert image_of(attachment(saved(image, "PNG"), "a.png")).mode == "RGBA"


def bomb(width: int, height: int) -> bytes:
    """A small PNG file that says it has this size."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packed = zlib.compress(bytes(1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


@pytest.mark.parametrize("edge", [9_000, 9_500, 20_000, 2_000_000_000])
def test_an_image_that_would_fill_the_memory_is_refused_unread(edge: int) -> None:
    with pytest.raises(MediaError, match=r"^b\.png has .* pixels, and 80,000,000 are decoded at most; make it smaller"):
        attachment(bomb(edge, edge), "b.png")


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_a_damaged_image_is_refused_with_a_sentence(form: str) -> None:
    data = saved(noise(60, 60), form)
    with pytest.raises(MediaError, match=r"^cut cannot be read as an image \(.*\); it is damaged or cut off\.$"):
        attachment(data[: len(data) // 2], "cut")


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"]), st.data())
def test_whatever_bytes_are_changed_the_image_is_sent_or_refused(form: str, draw: st.DataObject) -> None:
    data = bytearray(saved(picture(30, 20), form))
    for at in draw.draw(st.lists(st.integers(12, len(data) - 1), min_size=1, max_size=20)):
        data[at] = draw.draw(st.integers(0, 255))
    with suppress(MediaError):
        assert attachment(bytes(data), "f").block["source"]["data"]


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(("pages", "size"), [(1, "1 page"), (3, "3 pages"), (100, "100 pages")])
def test_a_pdf_is_sent_as_it_is(pages: int, size: str, compressed: bool) -> None:
    data = pdf(pages, compressed=compressed)
    made = attachment(data, "paper.pdf")
    assert (data_of(made), made.size, made.block["title"]) == (data, size, "paper.pdf")
    assert made.words == f"paper.pdf is a PDF of {size}; its file has {len(data):,} bytes."


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (pdf(101), "p has 101 pages, and a PDF may have 100; attach a part of it."),
        (pdf(1200, compressed=True), "p has 1,200 pages, and a PDF may have 100; attach a part of it."),
        (pdf(1) + bytes(20_000_000), "p has 20 MB, and a PDF may have 20 MB; attach a part of it."),
        (pdf(1, encrypted=True), "p is encrypted, which the model cannot read; save a copy without a password."),
        (b"%PDF-1.7 and no more", "p cannot be read as a PDF; it is damaged or cut off."),
        (b"plain text", "p is neither an image nor a PDF."),
        (
            b"\0\0\0\x18ftypheic" + bytes(40),
            "p is a HEIC image, which cannot be converted here; save it as PNG.",
        ),
        (png(1, 1) + bytes(50_000_000), "p has 50 MB, and an image may have 50 MB; make it smaller."),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "file",
)
def test_a_file_that_cannot_be_sent_is_refused_in_a_sentence(data: bytes, why: str) -> None:
    with pytest.raises(MediaError) as refused:
        attachment(data, "p")
    assert str(refused.value) == why
