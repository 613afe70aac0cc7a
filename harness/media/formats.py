"""What a file is, by its first bytes, and how many pages a PDF has."""

import re
import zlib

PDF = "application/pdf"
HEAD_BYTES = 64
"""How much of a file `media_type` looks at."""
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


def pdf_pages(data: bytes) -> int | None:
    """The number of pages of a PDF, from its page tree; None where that cannot be told, as in an encrypted file.

    The root of the tree has the largest count (ISO 32000-1, 7.7.3). It stands in the file as it is or, since PDF 1.5,
    in a compressed object stream (7.5.7).
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
    """Whether a PDF is encrypted, so that perhaps nobody can read it without a password (ISO 32000-1, 7.6)."""
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
