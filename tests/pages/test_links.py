"""What a page links to is there."""

import re

from tests.pages.blocks import ROOT, pages, text

LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")


def test_every_file_that_a_page_links_to_exists() -> None:
    links = [(page, link) for page in pages() for link in LINK.findall(text(page))]
    assert [(page, link) for page, link in links if not ((ROOT / page).parent / link).exists()] == []


def test_the_index_leads_to_every_page_of_the_documentation() -> None:
    documents = {page.removeprefix("docs/") for page in pages() if page.startswith("docs/")}
    assert documents - {"index.md"} <= set(LINK.findall(text("docs/index.md")))
