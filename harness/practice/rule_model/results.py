"""Tool results as clients write them: paths, hits of a search, lines of a file, and the first paragraph of a README.

A result in a form that is not known is None, so that a plan shows it as it came and claims nothing about it.
"""

import json
import re
from collections.abc import Sequence
from itertools import pairwise

Hit = tuple[str, str, str]
"""Path, line number, line."""
_STATUS = re.compile(r"(?mi)^(returncode|exit[ _]?code|wall time)\b")
_STATUS_LINE = re.compile(
    r"(?i)(command|cwd|directory|return ?code|exit[ _]?code|wall time|stderr|error|signal|"
    r"background pids|process group pgid|lines_read|match_count|was_truncated)\b\W"
)
_OUTPUT = re.compile(r"(?i)(output|stdout|content|matches): ?")
_INSIDE = re.compile(r"(?s)\A\s*<\w+[ >].*?<(content|file_content)>\n?(.*?)\n?</\1>|\A\s*<file>\n(.*?)\n?</file>")
_NOTHING = re.compile(r"(?i)\A\W*(no (files?|match(es)?|results?|such)\b|found 0 |0 match)")
_NOTE = re.compile(r"(?i)([\[(…<]|\.\.\.|---|found \d|no files?\b|no match|showing |results? |directory listing )")
_NUMBERED = re.compile(r"\s*L?0*(\d+)(?:\t|→|: ?| ?\| ?)(.*)")


def unwrapped(text: str) -> str:
    """The output itself, without what a client writes around it."""
    if text.lstrip().startswith("{"):
        try:
            fields = json.loads(text)
        except ValueError:
            return text
        return next(
            (fields[name] for name in ("output", "stdout", "content") if isinstance(fields.get(name), str)), text
        )
    if inside := _INSIDE.match(text):
        return inside[2] if inside[2] is not None else inside[3]
    if not (_STATUS.search(text) or re.search(r"(?m)^(lines_read|match_count|was_truncated): ", text)):
        return text
    lines = (_OUTPUT.sub("", line, count=1) if _OUTPUT.match(line) else line for line in text.splitlines())
    return "\n".join(line for line in lines if not _STATUS_LINE.match(line))


def paths_in(text: str) -> tuple[list[str], int] | None:
    """The paths in a list of files, and how many more there are."""
    lines = [line.strip().removeprefix("./") for line in unwrapped(text).splitlines() if line.strip()]
    notes = [line for line in lines if _NOTE.match(line)]
    paths = {*lines} - {*notes}
    if any(re.search(r": |[.:!?]$", path) and " " in path for path in paths):
        return None
    more = re.match(r"\[([\d,]+) more", notes[-1]) if notes else None
    hidden = int(more[1].replace(",", "")) if more else 0
    return sorted(paths, key=lambda path: (path.count("/") > 0, path)), hidden


def hits_in(text: str) -> tuple[list[Hit], list[str]] | None:
    """The hits of a search; where the client names only files, these."""
    text = unwrapped(text)
    plain = [one for line in text.splitlines() if (one := re.match(r"(?:\./)?([^:\n]+):(\d+):(.*)", line))]
    if plain:
        return [(one[1], one[2], one[3]) for one in plain], []
    if not text.strip() or _NOTHING.match(text):
        return [], []
    hits: list[Hit] = []
    path = ""
    for line in text.splitlines():
        if path and (found := re.match(r"\s*(?:Line |L)?(\d+)(?::|-|→|\t)\s?(.*)", line)):
            hits.append((path, found[1], found[2]))
        elif head := re.match(r"(?:File: |## )?(\S[^:\n]*?):?\s*$", line):
            path = "" if _NOTE.match(line) else head[1]
    if hits:
        return hits, []
    if re.match(r"(?i)found \d+ files?\b", text) and (found_paths := paths_in(text)) is not None:
        return [], found_paths[0]
    return None


def lines_in(text: str) -> tuple[list[str], bool]:
    """The lines of a file without their numbers, and whether they are the whole file."""
    lines = unwrapped(text).rstrip("\n").split("\n")
    notes = [
        line for line in lines if re.fullmatch(r"\s*(\[.*\]|\((the file is empty|no output|End of file.*)\))\s*", line)
    ]
    whole = not any(re.search(r"shortened|truncated|more lines|continue", note) for note in notes)
    rest = [line for line in lines if line not in notes]
    numbered = [found for line in rest if (found := _NUMBERED.fullmatch(line))]
    consecutive = all(int(after[1]) == int(before[1]) + 1 for before, after in pairwise(numbered))
    every = consecutive and len(numbered) == sum(map(bool, rest))
    if numbered and (every or "\t" in numbered[0][0][:12]):
        return [found[2] for found in numbered], whole and numbered[0][1] == "1"
    return [line for line in rest if line or len(lines) > 1], whole


def first_paragraph(lines: Sequence[str]) -> str:
    """The first paragraph of a README that is prose: no heading, badge, picture, table, code or list of languages."""
    text = re.sub(r"(?ms)<!--.*?-->|^\s*(```|~~~).*?^\s*\1|^\.\. .*?(?=^\S|\Z)", "", "\n".join(lines))
    text = re.sub(r"(?is)<(a|table|details|picture|script|h[1-6])\b.*?</\1>|<[^>]+>", "", text)
    for block in re.split(r"\n\s*\n", text):
        rows = [row.strip() for row in block.strip().splitlines()]
        rows = [row for row in rows if not re.match(r"(?i)#|\||>|:\w+:|import |from |copyright |[-=~^*_]{3,}\s*$", row)]
        underlined = re.search(r"(?m)^[-=~^*]{3,}\s*$", block)
        said = " ".join(rows)
        bare = re.sub(
            r"\[?!\[[^\]]*\](\([^)]*\)|\[[^\]]*\])(\](\([^)]*\)|\[[^\]]*\]))?|\|[^|]+\||\[[^\]]*\]\([^)]*\)", "", said
        )
        words = re.findall(r"[^\W\d_]{2,}", bare)
        prose = len(words) >= 4 or re.search(r"[\u3040-\u30ff\u4e00-\u9fff]{6}", bare)
        if prose and not (underlined and len(rows) == 1):
            return re.sub(r"!\[[^\]]*\]\([^)]*\)|\[([^\]]+)\]\([^)]*\)", r"\1", said)
    return ""
