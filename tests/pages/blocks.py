"""The code blocks of the documentation pages."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
READMES = ("README.md", "README.ja.md")
_FENCE = re.compile(
    r"^(?:<!-- (?P<name>[^\n]*?) -->\n)?```(?P<language>\w*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code of a page."""

    page: str
    """Its path from the top folder."""
    name: str
    """What the comment above it says; empty: there is none."""
    language: str
    code: str
    line: int
    """Of its fence."""

    @property
    def place(self) -> str:
        """Where to look for it: `docs/hooks.md:37`."""
        return f"{self.page}:{self.line}"


def pages() -> tuple[str, ...]:
    """All pages: the READMEs, those in `docs`, the references of the practice model, and the chapters."""
    patterns = ["README*.md", "CONTRIBUTING.md", "docs/*.md", "harness/practice/*/*.md"]
    patterns += ["chapters/README*.md", "chapters/*/README*.md"]
    found = (path for pattern in patterns for path in sorted(ROOT.glob(pattern), key=_english_first))
    return tuple(path.relative_to(ROOT).as_posix() for path in found)


def _english_first(path: Path) -> tuple[Path, bool, str]:
    return path.parent, ".ja" in path.suffixes, path.name


@cache
def text(page: str) -> str:
    """The content of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


@cache
def blocks(page: str) -> tuple[Block, ...]:
    """The blocks of a page in their order."""
    return tuple(
        Block(page, found["name"] or "", found["language"], found["code"], text(page)[: found.end()].count("\n") + 1)
        for found in _FENCE.finditer(text(page))
    )


def block(page: str, name: str) -> str:
    """The code below the comment `<!-- name -->`."""
    return next(one.code for one in blocks(page) if one.name == name)


def every_block(*languages: str) -> Iterator[Block]:
    """The blocks of all pages in these languages; of several with the same code, as in a translation, the first."""
    return _once(one for page in pages() for one in blocks(page) if one.language in languages)


def _once(found: Iterable[Block]) -> Iterator[Block]:
    known: set[tuple[str, str]] = set()
    for one in found:
        if (one.name, one.code) not in known:
            known.add((one.name, one.code))
            yield one
