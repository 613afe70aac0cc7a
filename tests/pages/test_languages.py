"""The English and Japanese versions of a page have the same headings, code and numbers in the same order."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest

import pytest

from tests.pages.blocks import Block, blocks, pages, text

PAIRS = [(page, page.removesuffix(".md") + ".ja.md") for page in pages() if ".ja." not in page and "README" in page]
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_MARKER = re.compile(r"<!--.*?-->", re.DOTALL)


def sections(page: str) -> Iterator[tuple[str, str]]:
    """For each part of a page the level of its heading, as `##`, and the text below it. Code is left out."""
    whole = text(page)
    for one in blocks(page):
        whole = whole.replace(f"```{one.language}\n{one.code}```", "")
    level, lines = "", list[str]()
    for line in whole.splitlines():
        if found := re.match(r"(#+) ", line):
            yield level, "\n".join(lines)
            level, lines = found[1], [line]
        else:
            lines.append(line)
    yield level, "\n".join(lines)


def numbers(part: str) -> Counter[str]:
    """How often each number occurs in a part of a page; names of files and comments for programs do not count."""
    plain = _MARKER.sub(" ", part)
    plain = re.sub(r"\]\([^)]*\)", "]", plain)
    return Counter(_NUMBER.findall(plain))


@pytest.mark.parametrize(("english", "japanese"), PAIRS)
def test_headings_are_of_the_same_levels_in_the_same_order(english: str, japanese: str) -> None:
    assert [level for level, _ in sections(english)] == [level for level, _ in sections(japanese)]


@pytest.mark.parametrize(("english", "japanese"), PAIRS)
def test_the_code_is_the_same_apart_from_comments(english: str, japanese: str) -> None:
    for one, other in zip_longest(blocks(english), blocks(japanese)):
        assert (one and (one.name, one.language, said(one))) == (other and (other.name, other.language, said(other)))


def said(one: Block) -> str:
    """A block without the comments that are translated: those of a shell."""
    return re.sub(r"[ \t]*#.*", "", one.code) if one.language == "sh" else one.code


@pytest.mark.parametrize(("english", "japanese"), PAIRS)
def test_every_section_holds_the_same_numbers(english: str, japanese: str) -> None:
    for one, other in zip(sections(english), sections(japanese), strict=True):
        assert numbers(one[1]) == numbers(other[1]), one[1].splitlines()[:1]


@pytest.mark.parametrize(("english", "japanese"), PAIRS)
def test_tables_hold_the_same_numbers_row_by_row(english: str, japanese: str) -> None:
    assert table_figures(english) == table_figures(japanese)


def table_figures(page: str) -> list[list[str]]:
    rows = [line for line in text(page).splitlines() if line.startswith("|")]
    return [_NUMBER.findall(line) for line in rows]


@pytest.mark.parametrize(("english", "japanese"), PAIRS)
def test_they_link_to_the_same_places(english: str, japanese: str) -> None:
    of_english, of_japanese = ([link.replace(".ja.", ".") for link in links(page)] for page in (english, japanese))
    assert sorted(of_english) == sorted(of_japanese)


def links(page: str) -> list[str]:
    return re.findall(r"\]\(([^)]+)\)", text(page))
