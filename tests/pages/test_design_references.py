"""References to rules resolve: each `docs/….md#anchor` has its heading, and no id needs a document from elsewhere."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("harness", "chapters", "docs", "tests", "examples", "benchmarks")
REFERENCE = re.compile(r"(docs/[\w./-]+\.md)#([\w-]+)")
DANGLING = re.compile(
    r"""
      \b(?:resilience|recovery|lessons|later-lessons|api|terminal|measured) \  (?:§|[A-Z]\d|[QS]\d|\d+\.\d)
    | \bseed\ 00\d
    | \((?:[A-HMQSKR]\d{1,2}(?:-[A-Z]?\d+)?(?:[,;]\ ?)?)+\)
    """,
    re.VERBOSE,
)
CLEAN = ("harness", "chapters", "docs", "benchmarks", "examples", "tests/policies", "tests/slots")


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page: derived from headings as on GitHub, and explicit ones."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.*)$", text, re.MULTILINE)
    derived = (re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-") for heading in headings)
    return frozenset((*derived, *re.findall(r'<a (?:id|name)="([^"]+)"', text)))


def pages(*roots: str) -> Iterator[Path]:
    for root in roots:
        yield from (path for path in sorted((ROOT / root).rglob("*")) if path.suffix in (".py", ".md", ".toml"))
    if roots == FOLDERS:
        yield from ROOT.glob("*.md")


def test_every_reference_to_a_section_finds_its_heading() -> None:
    missing = [
        f"{path.relative_to(ROOT)}: {page}#{anchor}"
        for path in pages(*FOLDERS)
        for page, anchor in REFERENCE.findall(path.read_text("utf-8"))
        if path != Path(__file__) and not ((ROOT / page).is_file() and anchor in anchors(ROOT / page))
    ]
    assert missing == []


@pytest.mark.parametrize("root", CLEAN)
def test_no_rule_is_cited_by_an_id_that_only_its_authors_can_resolve(root: str) -> None:
    dangling = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in pages(root)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if DANGLING.search(line)
    ]
    assert dangling == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "design").glob("*.md")), ids=lambda page: page.name)
def test_every_page_of_the_policies_is_referred_to(page: Path) -> None:
    cited = {anchor for path in pages("harness") for name, anchor in REFERENCE.findall(path.read_text("utf-8"))
             if name == f"docs/design/{page.name}"}  # fmt: skip
    assert cited
