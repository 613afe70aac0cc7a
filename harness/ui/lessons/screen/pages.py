"""Pages of text, code and wire, drawn to a width."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from textual.content import Content

from harness.base.external_text import visible
from harness.lessons import CodeExcerpt, Language, Lesson, LessonError, ReadmeSection, WireExchange, difference, readme
from harness.ui.lessons import messages
from harness.ui.lessons.narration import reply_text, request_text
from harness.ui.transcript.code import coloured
from harness.ui.transcript.markdown import markdown_content
from harness.ui.transcript.wrap import MUTED, hanging

MOST_WIRE = 4_000
"""Longest text within a request."""
HEADING = "bold $text-accent"
KEPT = 64
"""Cached drawings."""


@dataclass(frozen=True, slots=True)
class LessonPage:
    """A page with a title."""

    title: str
    draw: Callable[[int], Content]
    """Draws lines of at most the given number of cells."""


def text_page(lesson: Lesson, language: Language, parts: slice) -> LessonPage:
    """Some sections of the README, or an error."""
    try:
        return sections_page(readme(lesson, language)[parts])
    except LessonError as error:
        return sections_page((ReadmeSection("", str(error)),))


def sections_page(sections: Sequence[ReadmeSection]) -> LessonPage:
    """Sections of a text."""
    text = "\n\n".join(
        f"## {section.title}\n\n{section.text}" if section.title else section.text for section in sections
    )
    title = " · ".join(section.title for section in sections if section.title)
    return LessonPage(title, lambda columns: _text(text, columns))


def code_page(source: CodeExcerpt, number: int, count: int) -> LessonPage:
    """Code with line numbers; the `number`th of `count` pieces."""
    which = f" ({number}/{count})" if count > 1 else ""
    return LessonPage(f"{source.place}{which}", lambda columns: _code(source, columns))


def difference_page(lesson: Lesson) -> LessonPage:
    """The diff of the demo. Raises LessonError."""
    text = visible(difference(lesson))
    return LessonPage(f"{lesson.demo} ±", lambda columns: _wrapped(coloured(text, "diff", closed=True), columns))


def wire_page(exchanges: Sequence[WireExchange], language: Language) -> LessonPage:
    """Requests and replies."""
    title = messages.WIRE.into(language)
    if not exchanges:
        return LessonPage(title, lambda columns: Content(messages.NO_WIRE.into(language)))
    blocks = [
        block
        for one in exchanges
        for block in (
            Content.styled(messages.SENT.into(language).format(number=one.number), HEADING),
            _json(request_text(one, MOST_WIRE)),
            Content.styled(messages.RECEIVED.into(language).format(number=one.number), HEADING),
            _json(reply_text(one, MOST_WIRE)),
        )
    ]
    whole = Content("\n").join(blocks)
    return LessonPage(title, lambda columns: _wrapped(whole, columns))


def _json(text: str) -> Content:
    return coloured(visible(text), "json", closed=True)


@lru_cache(KEPT)
def _text(text: str, columns: int) -> Content:
    return markdown_content(text, columns)


@lru_cache(KEPT)
def _code(source: CodeExcerpt, columns: int) -> Content:
    lines = coloured(visible(source.text.expandtabs(4)).rstrip("\n"), "python", closed=True).split("\n")
    wide = len(str(source.first_line + len(lines)))
    return Content("\n").join(
        hanging(Content.styled(f"{number:>{wide}} ", MUTED), line, columns)
        for number, line in enumerate(lines, source.first_line)
    )


def _wrapped(text: Content, columns: int) -> Content:
    return Content("\n").join(hanging(Content(""), line, columns) for line in text.split("\n", allow_blank=True))
