"""The o200k vocabulary, included in the package (see `data/README.md`); no network.

The pattern is that of o200k_base with a possessive tail: the original makes the regex engine fail on a million spaces
in a row.
"""

import hashlib
import lzma
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

FILE = Path(__file__).with_name("data") / "o200k_base.xz"
SHA256 = "74c6f5af06dd76707df670b80098f8be24afcd25ffae041f3df869abdcf63f65"
SLICE = 64 * 1024
"""Characters encoded at once. Slicing adds about one token in a thousand."""

_PATTERN = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s++$",
        r"\s+(?!\S)",
        r"\s",
    ]
)

Count = Callable[[str], int]
"""Returns the number of tokens in a text."""


def estimated_from_bytes(text: str) -> int:
    """A third of the bytes, rounded up: used without a vocabulary. Overestimates."""
    return -(-len(text.encode("utf-8", "replace")) // 3)


def intact(file: Path = FILE) -> bool:
    """Whether `file` exists and has the expected content."""
    return _packed(file) is not None


def load(file: Path = FILE) -> Count | None:
    """The counting function of `file`, or None where the file is missing or damaged.

    Takes about 0.2 s the first time: call it in a thread.
    """
    packed = _packed(file)
    return None if packed is None else partial(_count, _encoding(packed))


def _packed(file: Path) -> bytes | None:
    try:
        packed = file.read_bytes()
    except OSError:
        return None
    return packed if hashlib.sha256(packed).hexdigest() == SHA256 else None


@lru_cache(maxsize=1)
def _encoding(packed: bytes) -> "Encoding":
    """Built once per process, because it takes 80 MB."""
    from tiktoken import Encoding

    return Encoding("o200k_base", pat_str=_PATTERN, mergeable_ranks=_ranks(lzma.decompress(packed)), special_tokens={})


def _ranks(tokens: bytes) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    at, end = 0, len(tokens)
    while at < end:
        start = at + 1
        at = start + tokens[at]
        ranks[tokens[start:at]] = len(ranks)
    return ranks


def _count(encoding: "Encoding", text: str) -> int:
    return sum(_count_slice(encoding, text[at : at + SLICE]) for at in range(0, len(text), SLICE))


def _count_slice(encoding: "Encoding", text: str) -> int:
    try:
        return len(encoding.encode_ordinary(text))
    except BaseException as error:
        # A Rust panic is a BaseException; it must not end the program.
        if type(error).__name__ != "PanicException":
            raise
        return estimated_from_bytes(text)
