"""Line breaks in Japanese text (JIS X 4051; W3C, *Requirements for Japanese Text Layout*, section 3.1.7).

Japanese has no spaces: a line may end after any character, unless the next one must not start a line or this one must
not end it. Latin words stay whole, as in `Content.wrap`, and so do words in katakana that fit a line.
"""

import unicodedata

from rich.cells import cell_len
from textual.content import Content

NOT_AT_START = frozenset(
    "、。，．・：；？！゛゜´｀¨ヽヾゝゞ々ー’”）〕］｝〉》」』】°′″℃％‰…‥ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ.,:;?!)]}"
)
"""Closing brackets, full stops, commas, small kana and marks that belong to the character before."""
NOT_AT_END = frozenset("‘“（〔［｛〈《「『【([{￥＄")
"""Opening brackets, and signs before a number."""
PICTURES = 0x1F000
"""Emoji start here; they are wide and not Japanese."""


def wrapped(text: Content, width: int) -> list[Content]:
    """The text in lines of at most `width` cells; like `Content.wrap` where it has no Japanese or Chinese."""
    if text.plain.isascii() or not any(map(_is_ideographic, text.plain)):
        return text.wrap(width)
    lines = list[Content]()
    for line in text.split("\n", allow_blank=True):
        lines += (part.rstrip() for part in line.divide(breaks(line.plain, width)))
    return lines


def breaks(text: str, width: int) -> list[int]:
    """Where each line but the first begins, as indices into a text without line breaks."""
    found = list[int]()
    start = cells = last = 0
    for index, character in enumerate(text):
        size = cell_len(character)
        while cells + size > width and index > start and not character.isspace():
            start = last if last > start else index
            found.append(start)
            cells = cell_len(text[start:index])
        cells += size
        if index + 1 < len(text) and _may_break(character, text[index + 1]):
            last = index + 1
    return found


def _may_break(before: str, after: str) -> bool:
    if after.isspace():
        return False
    if before.isspace():
        return True
    if after in NOT_AT_START or before in NOT_AT_END or not cell_len(after):
        return False
    if _is_katakana(before) and _is_katakana(after):
        return False
    return _is_ideographic(before) or _is_ideographic(after)


def _is_ideographic(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF" and ord(character) < PICTURES


def _is_katakana(character: str) -> bool:
    return "\u30a1" <= character <= "\u30fe"
