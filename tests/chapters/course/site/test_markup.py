"""Texts as HTML: nothing in them becomes HTML of the page, and nothing is lost."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from chapters.course import Language, lessons, readme
from chapters.course.site.markup import code_html, content_html, markdown_html, sentence_html

STYLES = ("bold", "$text-error", "dim italic", "bold $text-success", "$text")
TEXTS = st.text(alphabet="ab<>&\"'` \n場面", max_size=20)


def words_of(html: str) -> str:
    return unescape(re.sub(r"<[^<>]*>", "", html))


@given(st.lists(st.tuples(TEXTS, st.sampled_from(STYLES))))
def test_styled_text_keeps_its_words_and_styles(parts: list[tuple[str, str]]) -> None:
    content = Content.assemble(*parts)
    html = content_html(content)
    assert words_of(html) == content.plain
    if any("<" in text for text, _ in parts):
        assert "&lt;" in html
    if any(style == "$text-error" and text.strip() for text, style in parts):
        assert 'class="text-error"' in html


def test_a_sentence_has_code_and_no_html() -> None:
    assert sentence_html("`<b>` & <i>") == "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"


def test_lines_of_code_are_numbered_and_marked() -> None:
    html = code_html("a = '<x>'\nb = 2\n", "python", first_line=9, marked=(10,))
    assert words_of(html) == "a = '<x>'\nb = 2\n"
    assert re.findall(r'class="(line[^"]*)" data-n="([^"]*)"', html) == [("line", " 9"), ("line marked", "10")]


def test_markdown_has_no_html_of_its_own_and_only_known_links() -> None:
    text = "[one](../s01/README.md) [two](x.py) ![p](x.svg) <script>x</script>\n\n# Top\n\n```sh\n<b>\n```\n"
    html = markdown_html(text, {"../s01/README.md": "s01.html"}.get, "Code")
    assert re.findall(r"<(?:a|img|script)[ >][^>]*", html) == ['<a href="s01.html"']
    assert "one</a> two p &lt;script&gt;x&lt;/script&gt;" in html
    assert "<h3>Top</h3>" in html
    assert "&lt;b&gt;" in html


def test_lines_of_japanese_are_joined_without_a_space() -> None:
    html = markdown_html("一行目、\n二行目と\n`code` と\nword", lambda _: None, "コード")
    assert words_of(html).strip() == "一行目、二行目と\ncode と\nword"


@pytest.mark.stories
def test_every_text_of_the_course_keeps_its_words() -> None:
    languages: tuple[Language, ...] = ("en", "ja")
    for text in (section.text for one in lessons() for language in languages for section in readme(one, language)):
        shown = re.sub(r"\W", "", words_of(markdown_html(text, lambda _: None, "")))
        for word in re.findall(r"\w{4,}", re.sub(r"\]\([^)]*\)|^```.*$", "", text, flags=re.MULTILINE)):
            assert re.sub(r"\W|_", "", word) in shown.replace("_", "")
