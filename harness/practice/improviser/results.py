"""Tool results, read: the lines of a file, the paths of a list, the hits of a search."""

import re
from dataclasses import dataclass

from harness.practice.improviser.turns import Result

_NUMBERED = re.compile(r"^\s*(?P<number>\d+)(?:\t|→|\s?\|\s?|: ?)(?P<text>.*)$")
_NOTE = re.compile(
    r"^\s*\[.*\]\s*$|^\((the file is empty|no output|nothing returned)\)$"
    r"|^\((end of file|file has more|output|results?|showing)\b.*\)$",
    re.IGNORECASE,
)
_TAGGED = re.compile(
    r"\A(?:<(\w+)>[^\n]*</\1>\n)*<(?P<tag>content|file|output)>\n(?P<body>.*?)\n?</(?P=tag)>\s*\Z", re.DOTALL
)
_LAST_FIELDS = (
    "returncode|exit_code|num_lines|start_line|requested_offset|requested_limit|total_lines|lines_read|match_count|"
    "was_truncated|truncated"
)
_FIELDS = re.compile(
    r"\A(?:command: .*?\n(?=stdout: )|(?:(?!stdout|content|output|matches)[a-z_]+: [^\n]*\n)*)"
    r"(?:stdout|content|output|matches): ?(?P<body>.*?)"
    rf"(?=\n(?:stderr|{_LAST_FIELDS}):)(?:\n+stderr: ?(?P<errors>.*?))?"
    rf"(?P<rest>(?:\n+(?:{_LAST_FIELDS}):[^\n]*)*)\s*\Z",
    re.DOTALL,
)
_REMINDER = re.compile(r"\n*<system-reminder>(?:(?!<system-reminder>).)*</system-reminder>\s*\Z", re.DOTALL)
_PATH_LINE = re.compile(r"(?! )[^<>:*?\"|\t]{1,300}(?<!:)")
_MARKUP = (".html", ".htm", ".xml", ".svg", ".xhtml", ".vue", ".plist")
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
    clear: bool = True
    """False: something stands around the file that is not of the file, so that nothing can be said of it."""

    @property
    def text(self) -> str:
        """The lines, joined."""
        return "\n".join(self.lines)


def unwrapped(text: str) -> str:
    """What a tool returned, without what other clients put around it: tags, or the names of fields."""
    text = _REMINDER.sub("", text)
    if tagged := _TAGGED.match(text):
        return tagged["body"]
    fields = _FIELDS.match(text)
    if fields is None:
        return text
    body = fields["body"].rstrip("\n")
    code = re.search(r"^(?:returncode|exit_code): *(-?[1-9]\d*)$", fields["rest"], re.MULTILINE)
    cut = re.search(r"^(?:was_)?truncated: *true$", fields["rest"], re.MULTILINE | re.IGNORECASE)
    added = (
        (fields["errors"] or "").strip(),
        "[the output was truncated]" if cut else "",
        f"[exit {code[1]}]" if code else "",
    )
    return "\n".join(part for part in (body, *added) if part)


def file_text(result: Result, path: str = "") -> FileText:
    """The file `path` that a reading tool returned, whatever it puts around it."""
    lines = result.text.split("\n")
    numbered = [match for line in lines if (match := _NUMBERED.match(line))]
    real = [line for line in lines if line.strip() and not _NOTE.match(line)]
    if numbered and len(numbered) >= len(real):
        start = int(numbered[0]["number"])
        counted = all(int(match["number"]) == start + index for index, match in enumerate(numbered))
        if counted:
            return FileText(tuple(match["text"] for match in numbered), whole=start <= 1 and not result.shortened)
    tag = re.match(r"<([A-Za-z_]\w*)\b[^>\n]*>", lines[0]) if path and not path.lower().endswith(_MARKUP) else None
    clear = tag is None or not result.text.rstrip().endswith(f"</{tag[1]}>")
    while lines and (not lines[-1].strip() or _NOTE.match(lines[-1])):
        lines.pop()
    return FileText(tuple(lines), whole=not result.shortened, clear=clear)


def listed_paths(result: Result) -> tuple[str, ...]:
    """The paths that a listing tool returned, sorted, without notes and leading "./"."""
    if _NOTHING.match(result.text):
        return ()
    lines = [line.strip().removeprefix("./") for line in result.text.splitlines() if not _NOTE.match(line)]
    files = {line for line in lines if line and not line.endswith(("/", "."))}
    return tuple(sorted(files, key=lambda path: (path.count("/") > 0, path)))


def is_listing(result: Result) -> bool:
    """Whether a listing tool returned what can be read as paths, one a line."""
    lines = [line for line in result.text.splitlines() if line.strip() and not _NOTE.match(line)]
    return _NOTHING.match(result.text) is not None or all(_PATH_LINE.fullmatch(line) for line in lines)


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
