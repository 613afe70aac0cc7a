"""What a file is, by its first bytes, and how many pages a PDF has."""

import re
import struct
import zlib
from dataclasses import dataclass

PDF = "application/pdf"
HEAD_BYTES = 64
"""How much of a file `media_type` looks at."""
MOST_FILE_BYTES = 50_000_000
"""Bytes of a file that is read at all."""
SENT_AS_THEY_ARE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Image types that the API takes: https://platform.claude.com/docs/en/build-with-claude/vision"""
SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".heic", ".pdf"})
"""Names of files that are probably meant as an attachment; what they are is decided by their content."""
_BRANDS = {b"avif": "image/avif", b"avis": "image/avif"} | dict.fromkeys(
    (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"), "image/heic"
)
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"%PDF-", PDF),
)
_BMP_HEADERS = (b"\x0c\0\0\0", b"\x28\0\0\0", b"\x6c\0\0\0", b"\x7c\0\0\0")
"""Lengths of the second header of a BMP; the two letters before it begin many a text."""
_PAGE_TREE = re.compile(rb"/Type\s*/Pages\b")
_COUNT = re.compile(rb"/Count\s+(\d{1,7})\b")
_STREAM = re.compile(rb"/ObjStm\b.{0,400}?stream\r?\n", re.DOTALL)
_MOST_UNPACKED = 4_000_000
"""Bytes that are unpacked of one object stream."""
_MOST_STREAMS = 2_000


@dataclass(frozen=True, slots=True)
class ImageSize:
    """Size of an image in pixels."""

    width: int
    height: int


def media_type(head: bytes) -> str | None:
    """The type of an image or PDF that begins with `head`; None for everything else."""
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp":
        return _BRANDS.get(head[8:12])
    if head[:2] == b"BM" and head[14:18] in _BMP_HEADERS:
        return "image/bmp"
    return None


def size_of(head: bytes) -> ImageSize | None:
    """The size of a PNG, GIF, JPEG or WebP image that begins with `head`; None if unknown.

    Some ten thousand bytes are enough: the size is near the beginning, in a JPEG behind what a camera adds.
    """
    try:
        size = _size(head)
    except (struct.error, IndexError):
        return None
    return size if size and size.width > 0 and size.height > 0 else None


def _size(head: bytes) -> ImageSize | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return ImageSize(*struct.unpack(">II", head[16:24]))
    if head.startswith((b"GIF87a", b"GIF89a")):
        return ImageSize(*struct.unpack("<HH", head[6:10]))
    if head.startswith(b"\xff\xd8"):
        return _jpeg_size(head)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp_size(head)
    return None


def _jpeg_size(head: bytes) -> ImageSize | None:
    at = 2
    while head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return ImageSize(width, height)
        at += 2 + struct.unpack(">H", head[at + 2 : at + 4])[0]
    return None


def _webp_size(head: bytes) -> ImageSize | None:
    match head[12:16]:
        case b"VP8X":
            return ImageSize(
                1 + int.from_bytes(head[24:27], "little"),
                1 + int.from_bytes(head[27:30], "little"),
            )
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return ImageSize(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        case b"VP8 ":
            width, height = struct.unpack("<HH", head[26:30])
            return ImageSize(width & 0x3FFF, height & 0x3FFF)
    return None


def pdf_pages(data: bytes) -> int | None:
    """The number of pages of a PDF, from its page tree; None if unknown, as in an encrypted file.

    The root of the tree has the largest count (ISO 32000-1, 7.7.3). It is plain text or, since PDF 1.5, in a
    compressed object stream (7.5.7).
    """
    counts = [*_counts(data)]
    if not counts:
        for number, found in enumerate(_STREAM.finditer(data)):
            if number == _MOST_STREAMS:
                break
            try:
                counts += _counts(zlib.decompressobj().decompress(data[found.end() :], _MOST_UNPACKED))
            except zlib.error:
                continue  # stored with another filter, or encrypted
    return max(counts, default=None)


def is_encrypted(data: bytes) -> bool:
    """Whether a PDF is encrypted, so that reading it may need a password (ISO 32000-1, 7.6)."""
    return re.search(rb"/Encrypt\s+\d+\s+\d+\s+R\b", data) is not None


def _counts(data: bytes) -> list[int]:
    """The counts of the nodes of a page tree, each near its type in the same dictionary."""
    counts = []
    for found in _PAGE_TREE.finditer(data):
        begin = data.rfind(b"<<", max(0, found.start() - 100_000), found.start())
        end = data.find(b">>", found.end(), found.end() + 100_000)
        count = _COUNT.search(data, max(begin, 0), end if end >= 0 else found.end() + 100_000)
        if count:
            counts.append(int(count[1]))
    return counts
