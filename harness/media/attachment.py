"""The content block of an image or PDF file, as the API takes it.

An image is made fit once, when it is attached, and never again: a change to a message that was sent already would
lose the prompt cache and every thinking block behind it. So the limits are those that hold in every conversation, also
in one with many images and on every platform (https://platform.claude.com/docs/en/build-with-claude/vision):

* 2,000 pixels on each side, the limit in requests with more than 20 images. In others it is 8,000, but models see at
  most 1,568 or 2,576 pixels, and a larger image is scaled down before they do.
* 5 MB as base64, the limit of Bedrock and Vertex.

A PDF cannot be made smaller here; one that is too large is refused with a sentence.
"""

import base64
import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.base.external_text import counted
from harness.events import Block
from harness.media.formats import (
    HEAD_BYTES,
    MOST_FILE_BYTES,
    PDF,
    SENT_AS_THEY_ARE,
    is_encrypted,
    media_type,
    pdf_pages,
)

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_EDGE = 2_000
"""Pixels of either side."""
MOST_IMAGE_BYTES = 5 * 1024 * 1024 * 3 // 4
"""Bytes of an image before base64, so that it has at most 5 MB after."""
MOST_PIXELS = 80_000_000
"""Width × height of an image that is decoded; about 320 MB in memory."""
MOST_PDF_BYTES = 20_000_000
"""Base64 makes them 27 MB; a request has at most 32 MB."""
MOST_PDF_PAGES = 100
"""Pages in a request to a model with a window of 200,000 tokens."""
_QUALITY = (90, 75)
_FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
    "image/bmp": "BMP",
    "image/tiff": "TIFF",
    "image/avif": "AVIF",
}
_DAMAGED = (ArithmeticError, AttributeError, LookupError, MemoryError, OSError, SyntaxError, TypeError, ValueError)
"""What the decoders of Pillow raise for damaged files."""
_ORIENTATION = 0x0112
"""The EXIF tag that says how a camera was held."""


class MediaError(Exception):
    """A file that cannot be attached. Its text is one sentence that begins with the name of the file."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file as it is sent."""

    block: Block
    """An image or document block with base64 data."""
    size: str
    """Its size in a few words: "800×600" or "12 pages"."""
    words: str
    """One sentence about it for the model."""


def attachment(data: bytes, name: str) -> Attachment:
    """The content block of a file that `media_type` knows.

    Args:
        data: the whole file.
        name: what the file is called in words.

    Blocks while an image is decoded. Raises MediaError for a file that is too large, damaged or of a type that
    cannot be converted.
    """
    kind = media_type(data[:HEAD_BYTES])
    if kind is None:
        raise MediaError(f"{name} is neither an image nor a PDF.")
    if kind == PDF:
        return _document(data, name)
    if len(data) > MOST_FILE_BYTES:
        raise MediaError(f"{name} has {_mb(len(data))}, and an image may have {_mb(MOST_FILE_BYTES)}; make it smaller.")
    if kind not in _FORMATS:
        raise MediaError(f"{name} is a HEIC image, which cannot be converted here; save it as PNG.")
    return _image(data, name, kind)


def _document(data: bytes, name: str) -> Attachment:
    if len(data) > MOST_PDF_BYTES:
        raise MediaError(f"{name} has {_mb(len(data))}, and a PDF may have {_mb(MOST_PDF_BYTES)}; attach a part of it.")
    if is_encrypted(data):
        raise MediaError(f"{name} is encrypted, which the model cannot read; save a copy without a password.")
    pages = pdf_pages(data)
    if pages is not None and pages > MOST_PDF_PAGES:
        raise MediaError(f"{name} has {pages:,} pages, and a PDF may have {MOST_PDF_PAGES}; attach a part of it.")
    if pages is None and b"startxref" not in data:
        raise MediaError(f"{name} cannot be read as a PDF; it is damaged or cut off.")
    size = "PDF" if pages is None else counted(pages, "page")
    block: Block = {
        "type": "document",
        "source": {"type": "base64", "media_type": PDF, "data": base64.b64encode(data).decode()},
        "title": name[-200:],
    }
    about = f"a PDF of {size}" if pages else "a PDF"
    return Attachment(block, size, f"{name} is {about}; its file has {len(data):,} bytes.")


def _image(data: bytes, name: str, kind: str) -> Attachment:
    from PIL import Image, ImageOps

    # Pillow warns of odd files, which would be printed into the screen, and decodes what it calls a bomb all the same.
    warnings.filterwarnings("ignore", module=r"PIL\.")
    warnings.filterwarnings("error", category=Image.DecompressionBombWarning)
    try:
        with Image.open(io.BytesIO(data), formats=[_FORMATS[kind]]) as opened:
            before = opened.size
            if before[0] * before[1] > MOST_PIXELS:
                raise MediaError(_too_many_pixels(name, f"{before[0]:,} × {before[1]:,}"))
            animated = kind != "image/jpeg" and bool(getattr(opened, "is_animated", False))
            orientation = opened.getexif().get(_ORIENTATION, 1)
            turned = orientation in range(2, 9)
            before = before[::-1] if orientation in range(5, 9) else before
            fits = kind in SENT_AS_THEY_ARE and max(before) <= MOST_EDGE and len(data) <= MOST_IMAGE_BYTES
            opened.draft("RGB", (MOST_EDGE, MOST_EDGE))  # a large JPEG is decoded at a fraction of its size
            opened.load()
            if fits and not animated and not turned:
                sent, sent_as, after = data, kind, before
            else:
                image = _plain(ImageOps.exif_transpose(opened))
                image.thumbnail((MOST_EDGE, MOST_EDGE), Image.Resampling.LANCZOS)
                sent, sent_as, after = _encoded(image, lossy=kind == "image/jpeg")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise MediaError(_too_many_pixels(name, "far more")) from error
    except _DAMAGED as error:
        raise MediaError(f"{name} cannot be read as an image ({error}); it is damaged or cut off.") from error
    block: Block = {
        "type": "image",
        "source": {"type": "base64", "media_type": sent_as, "data": base64.b64encode(sent).decode()},
    }
    width, height = after
    changes = [f"scaled from {before[0]} × {before[1]}"] if before != after else []
    changes += ["its first frame"] if animated else []
    changes += [f"converted from {_FORMATS[kind]}"] if kind not in SENT_AS_THEY_ARE else []
    notes = f" ({', '.join(changes)})" if changes else ""
    about = f"{name} is an image of {width} × {height} pixels{notes}; its file has {len(data):,} bytes."
    return Attachment(block, f"{width}×{height}", about)


def _plain(image: "Image") -> "Image":
    """The image in a mode that can be scaled and saved: RGB, or RGBA where it has transparency."""
    transparent = "A" in image.getbands() or "a" in image.getbands() or "transparency" in image.info
    return image.convert("RGBA" if transparent else "RGB")


def _encoded(image: "Image", *, lossy: bool) -> tuple[bytes, str, tuple[int, int]]:
    """Bytes of at most `MOST_IMAGE_BYTES`, their type and the size: sharp where that fits, then JPEG, then smaller."""
    from PIL import Image

    if not lossy:
        sharp = _saved(image, "PNG")
        if len(sharp) <= MOST_IMAGE_BYTES:
            return sharp, "image/png", image.size
    if image.mode == "RGBA":  # JPEG has no transparency
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    while True:
        for quality in _QUALITY:
            packed = _saved(image, "JPEG", quality=quality)
            if len(packed) <= MOST_IMAGE_BYTES:
                return packed, "image/jpeg", image.size
        image = image.resize((max(1, image.width // 2), max(1, image.height // 2)), Image.Resampling.LANCZOS)


def _saved(image: "Image", form: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def _too_many_pixels(name: str, has: str) -> str:
    return f"{name} has {has} pixels, and {MOST_PIXELS:,} are decoded at most; make it smaller."


def _mb(size: int) -> str:
    return f"{size / 1_000_000:.0f} MB"
