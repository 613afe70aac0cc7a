"""What stands in a file: headings, definitions, a summary. Plain pattern work on its lines."""

import re
from collections.abc import Sequence
from itertools import pairwise

_HEADING = re.compile(r"^(#{1,6})\s+(?P<title>.+?)\s*#*$")
_UNDERLINE = re.compile(r"^(=|-|~|\*|\^|\")\1{2,}\s*$")
_HTML_HEADING = re.compile(r"<h[1-6][^>]*>(?P<title>.*?)</h[1-6]>", re.I)
_SECTION = re.compile(r"^\[\[?(?P<title>[^\[\]]+)\]\]?\s*(?:#.*)?$")
_FUNCTION = re.compile(
    r"^\s*(?:(?:export|default|public|private|protected|static|pub(?:\([a-z]+\))?|async|inline|unsafe|extern)\s+)*"
    r"(?:def|fn|func|function\*?|sub)\s+(?:\([^)]*\)\s*)?(?P<name>[A-Za-z_$][\w$]*)"
    r"|^\s*(?:export\s+)?(?:const|let|var)\s+(?P<arrow>[A-Za-z_$][\w$]*)\s*=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*=>"
    r"|^(?P<shell>[A-Za-z_]\w*)\s*\(\)\s*\{"
)
_CLASS = re.compile(
    r"^\s*(?:(?:export|default|public|private|abstract|final|pub(?:\([a-z]+\))?)\s+)*"
    r"(?:class|struct|interface|trait|enum)\s+(?P<name>[A-Za-z_]\w*)"
)
_FENCE = re.compile(r"^\s*(```|~~~)")
LONGEST_OPENING = 300


def headings(path: str, lines: Sequence[str]) -> tuple[str, ...]:
    """The headings: of Markdown, reStructuredText, HTML or, in a settings file, its sections."""
    ending = path.rsplit(".", 1)[-1].lower()
    if ending in ("toml", "ini", "cfg"):
        return tuple(match["title"].strip() for line in lines if (match := _SECTION.match(line)))
    if ending in ("html", "htm"):
        titles = (re.sub(r"<[^>]+>", "", match["title"]) for line in lines for match in _HTML_HEADING.finditer(line))
        return tuple(titles)
    text = _outside_fences(lines)
    if ending == "py":
        return ()
    found: list[str] = []
    for line, below in pairwise([*text, ""]):
        if match := _HEADING.match(line):
            found.append("  " * (len(match[1]) - 1) + match["title"])
        elif line.strip() and not line.startswith((" ", "-", "*", "|")) and _UNDERLINE.match(below):
            found.append(line.strip())
    return tuple(found)


def functions(lines: Sequence[str]) -> tuple[str, ...]:
    """The names of functions and methods, in order, each once."""
    found = (match for line in lines if (match := _FUNCTION.match(line)))
    return tuple(dict.fromkeys(match["name"] or match["arrow"] or match["shell"] for match in found))


def classes(lines: Sequence[str]) -> tuple[str, ...]:
    """The names of classes and their like, in order, each once."""
    return tuple(dict.fromkeys(match["name"] for line in lines if (match := _CLASS.match(line))))


def opening(lines: Sequence[str]) -> str:
    """The first paragraph that is prose: not a heading, a badge, an import."""
    paragraph: list[str] = []
    for line in _outside_fences(lines):
        text = line.strip()
        if not text and paragraph:
            break
        if text and not re.match(r"#|\[!\[|!\[|<|---|===|import |from |use |package |\"\"\"$|//!?$|/\*+$", text):
            paragraph.append(text.strip("\"'/*- "))
        elif paragraph:
            break
    text = " ".join(part for part in paragraph if part)
    return text if len(text) <= LONGEST_OPENING else f"{text[:LONGEST_OPENING].rstrip()} …"


def _outside_fences(lines: Sequence[str]) -> list[str]:
    kept: list[str] = []
    inside = False
    for line in lines:
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            kept.append(line)
    return kept
