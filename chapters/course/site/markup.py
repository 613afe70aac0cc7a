"""HTML of texts: styled terminal content, Markdown, code with line numbers. Everything is escaped."""

import re
from collections.abc import Callable, Collection, Sequence
from html import escape
from itertools import pairwise
from unicodedata import east_asian_width

from markdown_it import MarkdownIt
from markdown_it.token import Token
from textual.content import Content

from harness.base.external_text import visible
from harness.ui.transcript.code import coloured

_INLINE_CODE = re.compile(r"`([^`]+)`")
MARKED = " marked"
_STYLE = re.compile(r"\$?[a-z]+(?:-[a-z]+)*")


def content_html(content: Content) -> str:
    """Styled text as `<span>`s with a class for each word of a style, such as "bold" and "text-error"."""
    plain = content.plain
    edges = sorted({0, len(plain), *(edge for span in content.spans for edge in (span.start, span.end))})
    parts: list[str] = []
    for start, end in pairwise(edges):
        styles = [str(span.style) for span in content.spans if span.start <= start and end <= span.end]
        parts.append(_span(plain[start:end], [name for style in styles for name in _STYLE.findall(style)]))
    return "".join(parts)


def _span(text: str, names: Sequence[str]) -> str:
    classes = " ".join(dict.fromkeys(name.removeprefix("$") for name in names if name != "$text"))
    return f'<span class="{classes}">{escape(text)}</span>' if classes and text.strip() else escape(text)


def code_html(code: str, language: str, *, first_line: int = 0, marked: Collection[int] = ()) -> str:
    """Highlighted code as lines.

    Args:
        code: any text.
        language: as after the fence of Markdown.
        first_line: number of the first line; 0: no numbers.
        marked: numbers of highlighted lines.
    """
    lines = coloured(visible(code.expandtabs(4)).rstrip("\n"), language, closed=True).split("\n", allow_blank=True)
    if not first_line:
        return content_html(Content("\n").join(lines))
    wide = len(str(first_line + len(lines)))
    mark = dict.fromkeys(marked, MARKED)
    return "".join(
        f'<span class="line{mark.get(number, "")}" data-n="{number:>{wide}}">{content_html(line)}\n</span>'
        for number, line in enumerate(lines, first_line)
    )


def scrollable(label: str, inner: str, *, kind: str = "") -> str:
    """Preformatted HTML that the keyboard can scroll."""
    return f'<pre class="{kind}" tabindex="0" role="group" aria-label="{escape(label)}">{inner}</pre>'


def sentence_html(text: str) -> str:
    """A sentence; `code` in backquotes is set as code, and nothing else is Markdown."""
    return _INLINE_CODE.sub(r"<code>\1</code>", escape(visible(text)))


def markdown_html(text: str, link: Callable[[str], str | None], code_label: str) -> str:
    """Markdown without HTML of its own.

    Args:
        text: Markdown.
        link: returns the address for the target of a link or a picture; None: only its text is kept.
        code_label: label of blocks of code for screen readers.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(visible(text))
    for token in tokens:
        if token.type == "inline":
            token.children = _with_links(token.children or [], link)
        elif token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, max(3, int(token.tag[1:])))}"
    parser.add_render_rule("fence", lambda _, tokens, at, *__: _fence(tokens[at], code_label))
    rendered: str = parser.renderer.render(tokens, parser.options, {})
    return rendered.replace("<table>", '<div class="table" tabindex="0"><table>').replace("</table>", "</table></div>")


def _fence(token: Token, label: str) -> str:
    return scrollable(label, code_html(token.content, token.info.strip().partition(" ")[0]), kind="fence") + "\n"


def _with_links(tokens: Sequence[Token], link: Callable[[str], str | None]) -> list[Token]:
    """Resolve links and pictures, and join lines of Japanese, which has no spaces."""
    kept: list[Token] = []
    open_links: list[bool] = []
    for token, following in zip(tokens, (*tokens[1:], None), strict=False):
        if token.type == "softbreak" and kept and following is not None:
            token.hidden = _is_wide(kept[-1].content[-1:]) and _is_wide(following.content[:1])
        if token.type == "link_open":
            target = link(str(token.attrGet("href")))
            open_links.append(target is not None)
            token.attrSet("href", target or "")
        elif token.type == "image":
            target = link(str(token.attrGet("src")))
            token.attrSet("src", target or "")
            if target is None:
                token = Token("text", "", 0, content=token.content)  # noqa: PLW2901
        keep = open_links.pop() if token.type == "link_close" else token.type != "link_open" or open_links[-1]
        if keep and not token.hidden:
            kept.append(token)
    return kept


def _is_wide(character: str) -> bool:
    return character != "" and east_asian_width(character) in "WF"
