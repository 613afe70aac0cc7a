"""The frame of every page: head, navigation, style and script. A page loads nothing."""

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from chapters.course import Language, Lesson, LocalizedText, lessons
from chapters.course.site import words
from chapters.course.site.chapter_page import chapter_title
from chapters.course.site.markup import sentence_html

HERE = Path(__file__).parent
GENERATOR = "harness learn --html"


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link in the head of a page."""

    address: str
    text: str
    label: str = ""
    """What a screen reader says before the text."""


def page_html(language: Language, title: str, content: str, name: str, links: tuple[PageLink, ...] = ()) -> str:
    """A whole page.

    Args:
        language: of the page.
        title: of the window, as text.
        content: of the page, as HTML.
        name: file name, the same in every language; empty: the page above both languages.
        links: to neighbouring pages.
    """
    style, script = _asset("page.css"), _asset("page.js")
    other: Language = "ja" if language == "en" else "en"
    there = f"../{other}/{name}" if name else f"{other}/index.html"
    anchors = "".join(map(_anchor, links))
    policy = f"default-src 'none'; img-src 'self' file:; style-src {_hashed(style)}; script-src {_hashed(script)}"
    return f"""<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="{GENERATOR}">
<link rel="alternate" hreflang="{other}" href="{there}">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#content">{_word(words.SKIP, language)}</a>
<header>{anchors}<a class="language" lang="{other}" hreflang="{other}" href="{there}">\
{_word(words.LANGUAGE, language)}</a></header>
<main id="content">
{content}
</main>
<footer>{escape(GENERATOR)}</footer>
<script>{script}</script>
</body>
</html>
"""


def _anchor(link: PageLink) -> str:
    label = f' aria-label="{escape(link.label)}"' if link.label else ""
    return f'<a href="{escape(link.address)}"{label}>{escape(link.text)}</a>'


def chapter_links(lesson: Lesson, language: Language) -> tuple[PageLink, ...]:
    """To the index and to the chapters before and after."""
    every = lessons()
    at = [one.id for one in every].index(lesson.id)
    links = [PageLink("index.html", _word(words.COURSE, language))]
    if at:
        links.append(_neighbour(every[at - 1], "← ", words.EARLIER, language))
    if at + 1 < len(every):
        links.append(_neighbour(every[at + 1], "→ ", words.LATER, language))
    return tuple(links)


def index_html(language: Language) -> str:
    """The content of the list of chapters."""
    rows = "".join(
        f'<li><h2><a href="{one.id}.html">{escape(chapter_title(one, language))}</a></h2>'
        f"<p>{sentence_html(one.idea.into(language))}</p></li>\n"
        for one in lessons()
    )
    return (
        f'<h1>{_word(words.COURSE, language)}</h1>\n<p class="idea">{_word(words.ABOUT, language)}</p>\n'
        f'<ul class="chapters" aria-label="{_word(words.CHAPTERS, language)}">\n{rows}</ul>'
    )


def start_html() -> str:
    """The content of the page that leads to both languages."""
    parts = "".join(
        f'<section lang="{language}"><h2><a href="{language}/index.html">{_word(words.COURSE, language)}</a></h2>'
        f"<p>{_word(words.ABOUT, language)}</p></section>"
        for language in ("en", "ja")
    )
    return f"<h1>harness</h1>{parts}"


def _neighbour(lesson: Lesson, sign: str, label: LocalizedText, language: Language) -> PageLink:
    title = chapter_title(lesson, language)
    return PageLink(f"{lesson.id}.html", sign + title, f"{_word(label, language)}: {title}")


def _word(text: LocalizedText, language: Language | str) -> str:
    return escape(text.into("ja" if language == "ja" else "en"))


@cache
def _asset(name: str) -> str:
    return (HERE / name).read_text("utf-8")


def _hashed(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{b64encode(digest).decode()}'"
