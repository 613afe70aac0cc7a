"""The front matter of a file: YAML between two lines `---` at its beginning."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

KEYS = ("name", "description")
"""Keys that are read by default; other keys are for other programs."""
FENCE = "---"
MOST_CHARACTERS = 20_000
"""Longer front matter is not read."""

_KEY = re.compile(r"[\"']?(?P<key>[\w-]+)[\"']?[ \t]*:")
_WRITTEN = re.compile(r"[\"']?(?P<key>[\w-]+)[\"']?[ \t]*:[ \t]+(?P<text>\S.*?)\s*")
_COMMENT = re.compile(r"[ \t]+#(?![^\[]*\]).*")
_LINE = re.compile(r"(?P<key>\w+)[ \t]*:[ \t]+(?P<text>[^\s\"'|>\[{&*!%@`#].*)")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The head of a file, and the text below it."""

    values: Mapping[str, str]
    """The wanted keys whose values are texts, each on one line."""
    body: str
    problems: tuple[str, ...] = ()
    """Problems, without a full stop; lines are counted from the top of the file."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """Lines of keys that were wanted as written but have no readable value."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Lines of all present keys that were wanted as written."""


def front_matter(text: str, keys: Collection[str] = KEYS, as_written: Collection[str] = ()) -> FrontMatter:
    """Split a file into front matter and body. Never raises: unreadable parts become problems.

    `as_written` are the wanted keys whose value is the rest of their line, whatever it would mean in YAML, as in
    `argument-hint: [file] [line]`; one whose value is a list on lines of its own gives its texts with commas.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != FENCE:
        return FrontMatter({}, "\n".join(lines).strip(), (f"it does not begin with a line {FENCE} and a name",))
    # A line is the end only if it holds nothing else and is not indented, so that values may hold three hyphens.
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        return FrontMatter({}, "\n".join(lines[1:]).strip(), (f"the line {FENCE} at its beginning has no other half",))
    body = "\n".join(lines[end + 1 :]).strip()
    head = lines[1:end]
    if sum(map(len, head)) > MOST_CHARACTERS:
        return FrontMatter({}, body, (f"its front matter has more than {MOST_CHARACTERS:,} characters",))
    problems: list[str] = []
    there = {
        match["key"]: number
        for number, line in enumerate(head, 2)
        if (match := _KEY.match(line)) and match["key"] in as_written
    }
    values = _lines_as_written(head, as_written)
    rest = [key for key in keys if key not in values]
    if not as_written or any(key in line for key in rest for line in head):
        values |= dict(_values(head, rest, as_written, problems))
    lost = {key: line for key, line in there.items() if key not in values}
    return FrontMatter(values, body, tuple(problems), lost, there)


def _lines_as_written(head: list[str], keys: Collection[str]) -> dict[str, str]:
    """The values of these keys. Their lines are emptied, so that YAML does not read them as well."""
    found: dict[str, str] = {}
    for number, line in enumerate(head):
        match = _WRITTEN.fullmatch(line)
        if match is None or match["key"] not in keys or (match["text"][0] == "[" and "]" not in match["text"]):
            continue
        if match["text"][0] not in "|>&*!#":
            head[number] = ""
            text = match["text"] if match["text"][0] in "\"'" else _COMMENT.sub("", match["text"])
            found.setdefault(match["key"], one_line(text.strip("\"'")))
    return {key: value for key, value in found.items() if value}


def _values(
    head: list[str], keys: Collection[str], lists: Collection[str], problems: list[str]
) -> Iterator[tuple[str, str]]:
    import yaml

    try:
        node = yaml.compose("\n".join(head), Loader=yaml.BaseLoader)  # a tree of texts: nothing is constructed
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        yield from _as_written(head, keys)
        problems.append(f"line {line} is not valid YAML ({error.problem}); put the value into quotes")
        return
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError):
        yield from _as_written(head, keys)
        problems.append("its front matter is not valid YAML")
        return
    if node is None:
        return
    if not isinstance(node, yaml.MappingNode):
        problems.append("line 2: the front matter has to be lines such as name: …")
        return
    seen: set[str] = set()
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        line = key.start_mark.line + 2
        if name not in keys:
            continue
        if name in seen:
            problems.append(f"line {line}: there is a second {name}; the first one counts")
        elif name in lists and isinstance(value, yaml.SequenceNode):
            texts = [one_line(one.value) for one in value.value if isinstance(one, yaml.ScalarNode)]
            if texts:
                yield name, ", ".join(texts)
        elif not isinstance(value, yaml.ScalarNode):
            problems.append(f"line {line}: {name} has to be a text")
        elif said := one_line(value.value):
            yield name, said
        seen.add(name)


def _as_written(head: list[str], keys: Collection[str]) -> Iterator[tuple[str, str]]:
    """The values on a line of their own, as in `description: Use when: a test fails`."""
    found: dict[str, str] = {}
    for line in head:
        match = _LINE.fullmatch(line.rstrip())
        if match and match["key"] in keys and (said := one_line(match["text"])):
            found.setdefault(match["key"], said)
    yield from found.items()


def one_line(text: str) -> str:
    """The text without line breaks, and with whole characters only."""
    return " ".join(text.encode("utf-8", "replace").decode().split())
