"""What can be read in a part of the screen, drawn into as many columns as there are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from textual.content import Content

from harness.base.terminal_text import visible
from harness.lessons import Exchanged, Language, Lesson, LessonError, Section, Source, difference, readme
from harness.ui.lessons import texts
from harness.ui.lessons.run_facts import came_text, sent_text
from harness.ui.transcript.code import coloured
from harness.ui.transcript.markdown import markdown_content
from harness.ui.transcript.wrap import MUTED, hanging

MOST_WIRE = 4_000
"""Characters of a single text of a request; a prompt is longer than anybody reads here."""
HEADING = "bold $text-accent"
KEPT = 64
"""Drawings of texts and of pieces of code that are kept: a learner goes back and forth between the same ones."""


@dataclass(frozen=True, slots=True)
class Page:
    """Something to read."""

    title: str
    draw: Callable[[int], Content]
    """Its lines, each of at most so many cells as are given."""


def text_page(lesson: Lesson, language: Language, parts: slice) -> Page:
    """Some parts of the chapter's text; or why there is none."""
    try:
        return sections_page(readme(lesson, language)[parts])
    except LessonError as error:
        return sections_page((Section("", str(error)),))


def sections_page(sections: Sequence[Section]) -> Page:
    """Parts of a text, one below the other."""
    text = "\n\n".join(
        f"## {section.title}\n\n{section.text}" if section.title else section.text for section in sections
    )
    title = " · ".join(section.title for section in sections if section.title)
    return Page(title, lambda columns: _text(text, columns))


def code_page(source: Source, number: int, count: int) -> Page:
    """Code with the numbers of its lines; it is the `number`th of `count` pieces."""
    which = f" ({number}/{count})" if count > 1 else ""
    return Page(f"{source.place}{which}", lambda columns: _code(source, columns))


def difference_page(lesson: Lesson) -> Page:
    """What the demo has that the one of the chapter before has not. Raises LessonError."""
    text = visible(difference(lesson))
    return Page(f"{lesson.demo} ±", lambda columns: _wrapped(coloured(text, "diff", closed=True), columns))


def wire_page(exchanges: Sequence[Exchanged], language: Language) -> Page:
    """Requests and replies, whole."""
    title = texts.WIRE.into(language)
    if not exchanges:
        return Page(title, lambda columns: Content(texts.NO_WIRE.into(language)))
    blocks = [
        block
        for one in exchanges
        for block in (
            Content.styled(texts.SENT.into(language).format(number=one.number), HEADING),
            _json(sent_text(one, MOST_WIRE)),
            Content.styled(texts.CAME.into(language).format(number=one.number), HEADING),
            _json(came_text(one, MOST_WIRE)),
        )
    ]
    whole = Content("\n").join(blocks)
    return Page(title, lambda columns: _wrapped(whole, columns))


def _json(text: str) -> Content:
    return coloured(visible(text), "json", closed=True)


@lru_cache(KEPT)
def _text(text: str, columns: int) -> Content:
    return markdown_content(text, columns)


@lru_cache(KEPT)
def _code(source: Source, columns: int) -> Content:
    lines = coloured(visible(source.text.expandtabs(4)).rstrip("\n"), "python", closed=True).split("\n")
    wide = len(str(source.first_line + len(lines)))
    return Content("\n").join(
        hanging(Content.styled(f"{number:>{wide}} ", MUTED), line, columns)
        for number, line in enumerate(lines, source.first_line)
    )


def _wrapped(text: Content, columns: int) -> Content:
    return Content("\n").join(hanging(Content(""), line, columns) for line in text.split("\n", allow_blank=True))
