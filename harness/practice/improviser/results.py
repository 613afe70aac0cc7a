"""Tool results, read: the lines of a file, the paths of a list, the hits of a search."""

import re
from dataclasses import dataclass

from harness.practice.improviser.values import Result

_NUMBERED = re.compile(r"^\s*(?P<number>\d+)(?:\t|→|\s\|\s?|: )(?P<text>.*)$")
_NOTE = re.compile(r"^\s*\[.*\]\s*$|^\((the file is empty|no output|nothing returned)\)$", re.IGNORECASE)
_HIT = re.compile(r"^(?P<path>[^:\n]+?):(?P<line>\d+):(?P<text>.*)$")
_NOT_LISTED = re.compile(r"^\[(?P<count>[\d,]+) more\b", re.MULTILINE)
_NOTHING = re.compile(r"^\W*no (file|match|result)", re.IGNORECASE)
_EXIT = re.compile(
    r"\bexit(?:ed)?(?: with)?(?: code| status)?[ :=]*(?P<code>-?\d+)|returncode[ :=]*(?P<other>-?\d+)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that a search found."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class FileText:
    """A file as a tool showed it."""

    lines: tuple[str, ...]
    """Without the numbers that some tools write before each line."""
    whole: bool
    """False: the tool showed only a part."""

    @property
    def text(self) -> str:
        """The lines, joined."""
        return "\n".join(self.lines)


def file_text(result: Result) -> FileText:
    """The file that a reading tool returned, whatever it puts around it."""
    lines = result.text.split("\n")
    numbered = [match for line in lines if (match := _NUMBERED.match(line))]
    real = [line for line in lines if line.strip() and not _NOTE.match(line)]
    if numbered and len(numbered) >= len(real):
        start = int(numbered[0]["number"])
        counted = all(int(match["number"]) == start + index for index, match in enumerate(numbered))
        if counted:
            return FileText(tuple(match["text"] for match in numbered), whole=start <= 1 and not result.shortened)
    while lines and (not lines[-1].strip() or _NOTE.match(lines[-1])):
        lines.pop()
    return FileText(tuple(lines), whole=not result.shortened)


def listed_paths(result: Result) -> tuple[str, ...]:
    """The paths that a listing tool returned, sorted, without notes and leading "./"."""
    if _NOTHING.match(result.text):
        return ()
    lines = [line.strip().removeprefix("./") for line in result.text.splitlines() if not _NOTE.match(line)]
    return tuple(sorted({line for line in lines if line and line != "."}, key=lambda path: (path.count("/") > 0, path)))


def not_listed(result: Result) -> int:
    """How many paths a listing tool found and left out, as its note says."""
    note = _NOT_LISTED.search(result.text)
    return int(note["count"].replace(",", "")) if note else 0


def hits(result: Result) -> tuple[Hit, ...]:
    """The lines that a search returned."""
    found = [match for line in result.text.splitlines() if (match := _HIT.match(line))]
    return tuple(Hit(match["path"].removeprefix("./"), int(match["line"]), match["text"].strip()) for match in found)


def matching_files(result: Result) -> tuple[str, ...]:
    """The files that a search found something in, in its order."""
    return tuple(dict.fromkeys(hit.path for hit in hits(result)))


def output_of(result: Result) -> str:
    """What a command wrote, without the lines that the tool adds."""
    lines = [line for line in result.text.rstrip().splitlines() if not _NOTE.match(line)]
    return "\n".join(lines).strip("\n")


def exit_code(result: Result) -> int | None:
    """The exit code that a result names at its end or beginning; None when it names none."""
    lines = [line for line in result.text.strip().splitlines() if line.strip()]
    for line in (*lines[-1:], *lines[:1]):
        if (match := _EXIT.search(line)) and (_NOTE.match(line) or _EXIT.fullmatch(line.strip(" .[]()<>"))):
            return int((match["code"] or match["other"])[:6])
    return None
