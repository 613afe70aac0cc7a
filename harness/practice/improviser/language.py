"""Which language to answer in."""

import re
from enum import StrEnum

_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9f]")
_KANJI = re.compile(r"[\u4e00-\u9fff]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_QUOTED = re.compile(r"```.*?```|`[^`]*`|\"[^\"]*\"|「[^」]*」|『[^』]*』", re.DOTALL)


class Language(StrEnum):
    """The two languages that the practice model speaks."""

    ENGLISH = "en"
    JAPANESE = "ja"


def language_of(text: str) -> Language:
    """Japanese when the text outside of quotes holds kana, or kanji without Hangul; else English.

    What is quoted does not count: "create a file with the text 「こんにちは」" is an English request.
    """
    spoken = _QUOTED.sub(" ", text)
    if not re.search(r"[^\W\d_]", spoken):
        spoken = text
    if _KANA.search(spoken) or (_KANJI.search(spoken) and not _HANGUL.search(spoken)):
        return Language.JAPANESE
    return Language.ENGLISH
