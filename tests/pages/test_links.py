"""What a page links to is there."""

import re

import pytest

from tests.pages.blocks import ROOT, pages, text


@pytest.mark.parametrize("page", pages())
def test_every_file_that_a_page_links_to_exists(page: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", text(page))
    missing = [link for link in links if not ((ROOT / page).parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", [page for page in pages() if page.startswith("docs/") and page != "docs/index.md"])
def test_the_index_leads_to_every_page_of_the_documentation(page: str) -> None:
    assert f"]({page.removeprefix('docs/')})" in text("docs/index.md")
