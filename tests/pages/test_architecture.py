import re

from tests.pages.blocks import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_file_and_folder_that_the_page_names_exists() -> None:
    named = re.findall(r"`((?:[\w.]+/)+(?:[\w.]+\.py)?)`", PAGE)
    assert len(named) > 30
    missing = [name for name in named if not any((ROOT / top / name).exists() for top in ("harness", "."))]
    assert missing == []


def test_the_picture_names_every_package() -> None:
    picture = PAGE.partition("```\n")[2].partition("```")[0]
    packages = {path.parent.name for path in (ROOT / "harness").glob("*/__init__.py")}
    assert packages <= set(re.findall(r"\w+", picture))
