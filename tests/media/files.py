"""Real image and PDF files, made on the spot."""

import io
import zlib
from typing import Any

from PIL import Image


def picture(width: int, height: int, mode: str = "RGB") -> Image.Image:
    """An image that is red on its left half and blue on its right."""
    image = Image.new("RGB", (width, height), "blue")
    image.paste("red", (0, 0, width // 2, height))
    return image.convert(mode)


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    """An image that hardly gets smaller by compression, the same each time."""
    state, rows = 1, bytearray()
    while len(rows) < width * height * len(mode):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        rows += state.to_bytes(8, "little")[3:]
    return Image.frombytes(mode, (width, height), bytes(rows[: width * height * len(mode)]))


def saved(image: Image.Image, form: str, **options: Any) -> bytes:
    """The image as a file of this format."""
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def png(width: int, height: int) -> bytes:
    """A PNG file."""
    return saved(picture(width, height), "PNG")


def pdf(pages: int, *, compressed: bool = False, encrypted: bool = False) -> bytes:
    """A PDF of empty pages; `compressed`: with its objects in a stream, as most programs write it today."""
    kids = " ".join(f"{number} 0 R" for number in range(3, pages + 3))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>"]
    objects += ["<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>"] * pages
    secret = " /Encrypt 99 0 R" if encrypted else ""
    if compressed:
        text = " ".join(objects).encode()
        packed = zlib.compress(text)
        head = f"%PDF-1.5\n1 0 obj\n<< /Type /ObjStm /N {len(objects)} /Filter /FlateDecode /Length {len(packed)} >>"
        return head.encode() + b"\nstream\n" + packed + b"\nendstream\nendobj\nstartxref\n0\n%%EOF\n"
    body = "".join(f"{number} 0 obj\n{text}\nendobj\n" for number, text in enumerate(objects, 1))
    return f"%PDF-1.4\n{body}trailer << /Size 9 /Root 1 0 R{secret} >>\nstartxref\n{len(body)}\n%%EOF\n".encode()
