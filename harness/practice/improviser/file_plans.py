"""Plans that look at files."""

import difflib
import posixpath
import re
from collections import Counter
from collections.abc import Generator

from harness.practice.improviser import phrases as say
from harness.practice.improviser.goals import (
    Aspect,
    CompareFiles,
    FindFiles,
    ListFiles,
    ReadFile,
    SearchText,
)
from harness.practice.improviser.outline import classes, functions, headings, opening
from harness.practice.improviser.plan_context import Setting, excerpt, fenced
from harness.practice.improviser.plan_recovery import Ask, Plan
from harness.practice.improviser.results import (
    FileText,
    exit_code,
    file_text,
    hits,
    is_listing,
    listed_paths,
    matching_files,
    not_listed,
    output_of,
)
from harness.practice.improviser.toolset import Ability
from harness.practice.improviser.turns import Call, Result

_ALL_SHOWN = 40
"""A folder with more files is shown with its subfolders counted."""
_MOST_HITS = 40
_CANDIDATES = 8
_WITHOUT_ENDING = ("README", "CHANGELOG", "LICENSE", "LICENCE", "CONTRIBUTING", "NOTICE")
"""Files that people name without the ending that they mostly have."""


def list_files(setting: Setting, goal: ListFiles) -> Plan:
    """Look at a folder and what lies below it."""
    folder = goal.folder or setting.say(say.THIS_FOLDER)
    call = setting.tools.listing(goal.folder)
    (result,) = yield Ask(setting.say(say.WILL_LIST), (call,))
    if trouble := setting.trouble(result, call):
        return trouble
    if not is_listing(result):
        return setting.unreadable(result, call)
    paths = listed_paths(result)
    if not paths:
        return setting.say(say.EMPTY_FOLDER, folder=folder)
    head = say.ONE_IN_FOLDER if len(paths) == 1 else say.IN_FOLDER
    shown = list(paths) if len(paths) <= _ALL_SHOWN else _with_counted_folders(setting, paths, goal.folder)
    beyond = not_listed(result)
    said = setting.say(head, count=len(paths) + beyond, folder=folder)
    return f"{said}\n\n{setting.bullets(shown, beyond=beyond)}{_note(setting, result)}"


def _with_counted_folders(setting: Setting, paths: tuple[str, ...], folder: str | None) -> list[str]:
    start = (
        f"{folder.strip('/')}/" if folder and all(path.startswith(f"{folder.strip('/')}/") for path in paths) else ""
    )
    inner = [path[len(start) :] for path in paths]
    counts = Counter(path.split("/")[0] for path in inner if "/" in path)
    below = [setting.say(say.FILES_BELOW, folder=start + name, count=count) for name, count in sorted(counts.items())]
    return [start + path for path in inner if "/" not in path] + below


def find_files(setting: Setting, goal: FindFiles) -> Plan:
    """Find files by a pattern, or count them."""
    call = setting.tools.find(goal.pattern, goal.folder)
    shown = goal.pattern.removeprefix("**/") if goal.pattern != "**/*" else goal.pattern
    words = say.WILL_LIST if goal.pattern == "**/*" else say.WILL_FIND
    (result,) = yield Ask(setting.say(words, pattern=shown), (call,))
    if trouble := setting.trouble(result, call):
        return trouble
    if not is_listing(result):
        return setting.unreadable(result, call)
    paths, beyond = listed_paths(result), not_listed(result)
    count = len(paths) + beyond
    if goal.count_only:
        folder = goal.folder or setting.say(say.THIS_FOLDER)
        counted = say.COUNTED_ALL if goal.pattern == "**/*" else say.COUNTED_FILES
        return setting.say(counted, count=count, folder=folder, pattern=shown)
    if not paths:
        return setting.say(say.NO_FILES, pattern=shown)
    head = setting.say(say.FOUND_FILES, count=count, pattern=shown)
    return f"{head}\n\n{setting.bullets(paths, beyond=beyond)}{_note(setting, result)}"


def read_file(setting: Setting, goal: ReadFile) -> Plan:
    """Read a file and tell what was asked about it."""
    read = yield from reading(setting, goal.path)
    if isinstance(read, str):
        return read
    path, text, lead = read
    return f"{lead}\n\n{describe(setting, goal, path, text)}".strip()


def reading(setting: Setting, path: str) -> Generator[Ask, tuple[Result, ...], tuple[str, FileText, str] | str]:
    """Read a file; where it does not exist, look once for its name elsewhere.

    Returns the path that was read, the text, and what is to be said of a detour; or, where it came to
    nothing, what to say instead.
    """
    if path in _WITHOUT_ENDING and setting.tools.can(Ability.FIND):
        look = setting.tools.exists(f"{path}*")
        (listed,) = yield Ask(setting.say(say.WILL_CHECK, path=path), (look,))
        named = () if listed.failed else listed_paths(listed)
        path = path if path in named or not named else named[0]
    call = setting.tools.read(path)
    (result,) = yield Ask(setting.say(say.WILL_READ, path=path), (call,))
    if not result.missing:
        return setting.trouble(result, call) or (path, file_text(result, path), "")
    name = posixpath.basename(path)
    pattern = f"**/{name}" if "." in name else f"**/{name}*"
    search = setting.tools.find(pattern)
    (found,) = yield Ask(setting.say(say.WILL_LOOK_FOR, name=name), (search,))
    others = () if found.failed else tuple(other for other in listed_paths(found) if other != path)
    nearest = others if len(others) == 1 else tuple(other for other in others if "/" not in other)
    if not others:
        return setting.say(say.NOT_FOUND, path=path)
    if len(nearest) != 1:
        return f"{setting.say(say.SEVERAL_FOUND, path=path)}\n\n{setting.bullets(others[:_CANDIDATES])}"
    second = setting.tools.read(nearest[0])
    (again,) = yield Ask(setting.say(say.WILL_READ, path=nearest[0]), (second,))
    lead = setting.say(say.FOUND_INSTEAD, path=path, found=nearest[0])
    return setting.trouble(again, second) or (nearest[0], file_text(again, nearest[0]), lead)


def describe(setting: Setting, goal: ReadFile, path: str, text: FileText) -> str:
    """What was asked about a file, from its text."""
    lines, count = text.lines, len(text.lines)
    if not text.clear:
        return f"{setting.say(say.UNREADABLE, tool=path)}\n\n{fenced(text.text)}"
    if not count:
        return setting.say(say.EMPTY_FILE, path=path)
    partly = "" if text.whole else f"\n\n{setting.say(say.PART_SHOWN)}"
    match goal.aspect:
        case Aspect.HEADINGS:
            return _names(setting, path, headings(path, lines), say.HEADINGS, say.NO_HEADINGS) + partly
        case Aspect.FUNCTIONS:
            return _names(setting, path, functions(lines), say.FUNCTIONS, say.NO_FUNCTIONS) + partly
        case Aspect.CLASSES:
            return _names(setting, path, classes(lines), say.CLASSES, say.NO_CLASSES) + partly
        case Aspect.LENGTH:
            return setting.say(say.LENGTH if text.whole else say.AT_LEAST, path=path, count=count)
        case Aspect.FIRST:
            shown = lines[: goal.lines]
            return f"{setting.say(say.FIRST_LINES, path=path, count=len(shown))}\n\n{fenced(chr(10).join(shown))}"
        case Aspect.LAST:
            shown = lines[-goal.lines :]
            return (
                f"{setting.say(say.LAST_LINES, path=path, count=len(shown))}\n\n{fenced(chr(10).join(shown))}{partly}"
            )
        case Aspect.SUMMARY:
            return _summary(setting, path, text) + partly
        case Aspect.SHOW:
            head = say.ONE_LINE if count == 1 else say.CONTENT
            return f"{setting.say(head, path=path, count=count)}\n\n{fenced(text.text)}{partly}"


def _names(setting: Setting, path: str, names: tuple[str, ...], some: say.Phrase, none: say.Phrase) -> str:
    if not names:
        return setting.say(none, path=path)
    indented = [f"{' ' * (len(name) - len(name.lstrip()))}- {name.strip()}" for name in names[:100]]
    return f"{setting.say(some, path=path)}\n\n" + "\n".join(indented)


def _summary(setting: Setting, path: str, text: FileText) -> str:
    parts = [setting.say(say.SUMMARY_OF, path=path, count=len(text.lines))]
    if begins := opening(text.lines):
        parts.append(f"- {setting.say(say.OPENING, text=begins)}")
    if titles := headings(path, text.lines):
        parts.append(f"- {setting.say(say.SECTIONS, list=', '.join(title.strip() for title in titles[:20]))}")
    if defined := (*classes(text.lines), *functions(text.lines)):
        parts.append(f"- {setting.say(say.DEFINES, list=', '.join(defined[:30]))}")
    return "\n".join(parts)


def search_text(setting: Setting, goal: SearchText) -> Plan:
    """Find a text in files."""
    call = setting.tools.search(re.escape(goal.text).replace(r"\ ", " ").replace(r"\-", "-"), goal.folder, goal.include)
    (result,) = yield Ask(setting.say(say.WILL_SEARCH, text=goal.text), (call,))
    found = () if result.skipped else hits(result)
    nothing = result.failed and call.name != "grep" and exit_code(result) == 1 and not output_of(result)
    if not found and not nothing and (trouble := setting.trouble(result, call)):
        return trouble
    if not found:
        return setting.say(say.NO_HITS, text=goal.text)
    files = len(matching_files(result))
    head = setting.say(
        say.ONE_HIT if len(found) == 1 else say.FOUND_HITS, text=goal.text, count=len(found), files=files
    )
    lines = [f"`{hit.path}:{hit.line}` {excerpt(hit.text, 160)}" for hit in found]
    return f"{head}\n\n{setting.bullets(lines, _MOST_HITS)}{_note(setting, result)}"


def compare_files(setting: Setting, goal: CompareFiles) -> Plan:
    """Read two files at once and show how they differ."""
    calls: tuple[Call, Call] = (setting.tools.read(goal.first), setting.tools.read(goal.second))
    words = f"{setting.say(say.WILL_READ, path=goal.first)} {setting.say(say.WILL_READ, path=goal.second)}"
    results = yield Ask(words, calls)
    troubles = [
        trouble for result, call in zip(results, calls, strict=True) if (trouble := setting.trouble(result, call))
    ]
    if troubles:
        return "\n\n".join(troubles)
    texts = [file_text(result, path) for result, path in zip(results, (goal.first, goal.second), strict=True)]
    if (unclear := next((at for at, text in enumerate(texts) if not text.clear), None)) is not None:
        return setting.unreadable(results[unclear], calls[unclear])
    first, second = (text.lines for text in texts)
    if first == second:
        return setting.say(say.SAME, first=goal.first, second=goal.second)
    diff = list(difflib.unified_diff(first, second, goal.first, goal.second, lineterm="", n=1))
    added = sum(line.startswith("+") for line in diff[2:])
    removed = sum(line.startswith("-") for line in diff[2:])
    head = setting.say(say.DIFFERENT, first=goal.first, second=goal.second, added=added, removed=removed)
    return f"{head}\n\n{fenced(chr(10).join(diff))}"


def _note(setting: Setting, result: Result) -> str:
    return f"\n\n{setting.say(say.SHORTENED, note=result.shortened)}" if result.shortened else ""
