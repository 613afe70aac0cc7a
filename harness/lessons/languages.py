"""Words of the course in the languages that it is told in."""

from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "ja"]
LANGUAGES: tuple[Language, ...] = ("en", "ja")


@dataclass(frozen=True, slots=True)
class Text:
    """The same said in each language."""

    en: str
    ja: str

    def into(self, language: Language) -> str:
        """What is said in that language."""
        return self.ja if language == "ja" else self.en
