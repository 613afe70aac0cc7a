"""Texts in the languages of the course."""

from dataclasses import dataclass
from typing import Literal

from harness.practice.toml_table import Table

Language = Literal["en", "ja"]
LANGUAGES: tuple[Language, ...] = ("en", "ja")


@dataclass(frozen=True, slots=True)
class LocalizedText:
    """A text in every language of the course."""

    en: str
    ja: str

    def into(self, language: Language) -> str:
        """The text in a language."""
        return self.ja if language == "ja" else self.en


def text_in(table: Table, key: str) -> LocalizedText:
    """The text at a key. Raises ScriptError if a language is missing."""
    said = table.table(key)
    if said is None:
        raise table.error(f'{key} is needed, as {{ en = "…", ja = "…" }}')
    text = LocalizedText(said.text("en") or "", said.text("ja") or "")
    said.done()
    if not (text.en and text.ja):
        raise table.error(f"{key} is needed in en and in ja")
    return text
