"""The encoding of a text file, found in its bytes, so that a change keeps it."""

import codecs
import re
from dataclasses import dataclass

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_KANA = re.compile("[\u3041-\u3093\u30a1-\u30f6]")
_NOT_ASCII = re.compile("[^\x00-\x7f]")
_ESCAPED = re.compile("[\udc80-\udcff]")
_C1 = re.compile(b"[\x80-\x9f]")


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """How the characters of a file become bytes."""

    codec: str
    mark: bytes = b""
    """The byte order mark at the beginning; no part of the text."""

    @property
    def is_utf8(self) -> bool:
        """Whether it is UTF-8, with or without a mark."""
        return self.codec == "utf-8"

    @property
    def name(self) -> str:
        """For people."""
        return {"latin-1": "Latin-1", "cp1252": "Windows-1252", "cp932": "Shift JIS", "euc_jp": "EUC-JP"}.get(
            self.codec, self.codec.upper().removesuffix("-LE").removesuffix("-BE")
        )

    def decode(self, data: bytes) -> str:
        """The text; bytes that are none are surrogate escapes, which `encode` turns back."""
        return data.removeprefix(self.mark).decode(self.codec, _errors(self.codec))

    def encode(self, text: str) -> bytes:
        """The bytes, with the mark. Raises UnicodeEncodeError for a character that the encoding does not have."""
        return self.mark + text.removeprefix("\ufeff" if self.mark else "").encode(self.codec, _errors(self.codec))


UTF8 = TextEncoding("utf-8")


def encoding_of(data: bytes) -> TextEncoding:
    """The encoding of a whole text.

    Without a mark it is UTF-8, also where a few bytes are damaged. A text that is not even nearly UTF-8 is Japanese
    where it has kana in Shift JIS or EUC-JP, and else Latin-1, or its superset Windows-1252.
    """
    for mark, codec in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return TextEncoding(codec, mark)
    text = UTF8.decode(data)
    damaged = len(_ESCAPED.findall(text))
    if not damaged or len(_NOT_ASCII.findall(text)) >= 2 * damaged:
        return UTF8
    for codec in ("euc_jp", "cp932"):
        try:
            text = data.decode(codec)
            if _KANA.search(text) and text.encode(codec) == data:
                return TextEncoding(codec)
        except UnicodeDecodeError:
            continue
    return TextEncoding("cp1252" if _C1.search(data) else "latin-1")


def _errors(codec: str) -> str:
    # A UTF-16 or UTF-32 text with damaged pieces cannot be turned back, so its decoder raises.
    return "strict" if codec.startswith(("utf-16", "utf-32")) else "surrogateescape"
