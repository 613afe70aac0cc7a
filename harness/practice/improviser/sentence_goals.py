"""What each row of the table makes of a sentence that fits it."""

import json
import re
import shlex
from collections.abc import Callable

from harness.practice.improviser.arithmetic import expression_in
from harness.practice.improviser.context import Context
from harness.practice.improviser.delegation import delegated
from harness.practice.improviser.forms import KINDS, Found
from harness.practice.improviser.goals import (
    AboutProject,
    AppendText,
    AskUser,
    Aspect,
    Calculate,
    CompareFiles,
    CreateFile,
    FetchPage,
    FindFiles,
    Forget,
    Goal,
    ListBackground,
    ListFiles,
    ReadFile,
    ReadSkill,
    Recall,
    Remember,
    ReplaceText,
    RunCommand,
    RunTests,
    SaveReport,
    SearchText,
    SearchWeb,
    ShowBackground,
    StopBackground,
    Talk,
    Topic,
    UseTool,
)
from harness.practice.improviser.schemas import required_of

MOST_LINES = 1_000
_RUNNERS = {".py": "python3", ".sh": "bash", ".js": "node", ".mjs": "node", ".rb": "ruby", ".pl": "perl", ".php": "php"}
_NO_REFERENT = (Talk(Topic.NO_REFERENT),)

delegate = delegated


def talk(topic: Topic) -> Callable[[Found, Context], tuple[Goal, ...]]:
    """An answer in words."""
    return lambda found, context: (Talk(topic),)


def command(line: str) -> Callable[[Found, Context], tuple[Goal, ...]]:
    """A fixed command line."""
    return lambda found, context: (RunCommand(line),)


def list_files(found: Found, context: Context) -> tuple[Goal, ...]:
    """The files of a folder, or of this one."""
    return (ListFiles(_folder(found)),)


def find_files(found: Found, context: Context) -> tuple[Goal, ...]:
    """The files whose names fit a pattern, or of a kind."""
    return (FindFiles(_kind(found) or found.bare("glob"), _folder(found)),) if _is_glob(found) else ()


def count_files(found: Found, context: Context) -> tuple[Goal, ...]:
    """How many files there are."""
    return (FindFiles(_kind(found) or "**/*", _folder(found), count_only=True),)


def read(found: Found, context: Context) -> tuple[Goal, ...]:
    """The files that are named, or the one referred to."""
    if "one" not in found.slots:
        return tuple(ReadFile(path) for path in found.files() or (found.file(),))
    path = context.file(found)
    return (ReadFile(path),) if path else _NO_REFERENT


def aspect(wanted: Aspect) -> Callable[[Found, Context], tuple[Goal, ...]]:
    """Something of a file, or of several."""

    def meaning(found: Found, context: Context) -> tuple[Goal, ...]:
        lines = min(max(1, found.number(default=1)), MOST_LINES) if wanted in (Aspect.FIRST, Aspect.LAST) else 10
        one = found.file() if "file" in found.slots else context.file(found)
        paths = found.files() or ((one,) if one else ())
        return tuple(ReadFile(path, wanted, lines) for path in paths) or _NO_REFERENT

    return meaning


def search(found: Found, context: Context) -> tuple[Goal, ...]:
    """Where a text stands."""
    include = _kind(found) or found.bare("glob") or None
    word = re.sub(r"^(TODO|FIXME|XXX)s$", r"\1", found.bare("word"))
    where = found.file() if "file" in found.slots else _folder(found)
    return (SearchText(word, where, include),) if word and "*" not in word else ()


def compare(found: Found, context: Context) -> tuple[Goal, ...]:
    """How two files differ."""
    first, second = context.file(found), found.file("other")
    return (CompareFiles(first, second),) if first and first != second else _NO_REFERENT


def project(found: Found, context: Context) -> tuple[Goal, ...]:
    """What the project is."""
    return (AboutProject(),)


def commits(found: Found, context: Context) -> tuple[Goal, ...]:
    """The last commits."""
    return (RunCommand(f"git log --oneline -n {max(1, found.number(default=1))}"),)


def create(found: Found, context: Context) -> tuple[Goal, ...]:
    """A new file: empty, with a text, or a program that prints one."""
    path, printed = found.file(), found.bare("printed") or found.bare("printed_ja")
    if printed:
        program = _program(path, printed)
        return (CreateFile(path, program),) if program else ()
    return (CreateFile(path, wrapped(found.bare("text") or found.bare("word"))),)


def overwrite(found: Found, context: Context) -> tuple[Goal, ...]:
    """A file with another content."""
    return (CreateFile(found.file(), wrapped(found.bare("text")), replace=True),)


def append(found: Found, context: Context) -> tuple[Goal, ...]:
    """A line at the end of a file."""
    text = found.bare("text")
    return (AppendText(found.file(), text),) if text else ()


def replace(found: Found, context: Context) -> tuple[Goal, ...]:
    """The value of a setting is changed by its name where neither is in quotes."""
    old, new = found.bare("old") or found.bare("old_ja"), found.bare("new") or found.bare("new_ja")
    setting = re.fullmatch(r"[\w.-]+", found.slots.get("old") or found.slots.get("old_ja") or "") is not None
    return (ReplaceText(found.file(), old, new, setting),) if old else ()


def delete(found: Found, context: Context) -> tuple[Goal, ...]:
    """Each file by its name: `rm` alone takes neither folders nor patterns in quotes."""
    return (RunCommand("rm -- " + " ".join(shlex.quote(path) for path in found.files())),)


def save(found: Found, context: Context) -> tuple[Goal, ...]:
    """A summary of files that are named here, or were read earlier in the same prompt."""
    return (SaveReport(found.file("target"), tuple(ReadFile(path, Aspect.SUMMARY) for path in found.files())),)


def tests(found: Found, context: Context) -> tuple[Goal, ...]:
    """The tests of the project."""
    return (RunTests(background=_aside(found)),)


def run(found: Found, context: Context) -> tuple[Goal, ...]:
    """A command as it was typed, without quotation marks where all of it stands in some; or a program by its name."""
    if "file" in found.slots:
        line = runner_for(found.file())
    elif (found.slots.get("command") or "").startswith("\ue000"):
        line = found.bare("command")
    else:
        line = found.typed("command") or found.typed("line") or found.sentence
    return (RunCommand(line, background=_aside(found)),) if line else ()


def run_it(found: Found, context: Context) -> tuple[Goal, ...]:
    """What was named earlier in the same prompt."""
    line = runner_for(context.here) if context.here else None
    return (RunCommand(line),) if line else ()


def background_list(found: Found, context: Context) -> tuple[Goal, ...]:
    """What runs in the background."""
    return (ListBackground(),)


def background_show(found: Found, context: Context) -> tuple[Goal, ...]:
    """What a background command wrote."""
    return (ShowBackground(found.bare("id").lower()),)


def background_stop(found: Found, context: Context) -> tuple[Goal, ...]:
    """The end of a background command."""
    return (StopBackground(found.bare("id").lower()),)


def search_web(found: Found, context: Context) -> tuple[Goal, ...]:
    """What the web says."""
    return (SearchWeb(found.bare("fact").rstrip(" .。?？")),)


def fetch_page(found: Found, context: Context) -> tuple[Goal, ...]:
    """A web page."""
    return (FetchPage(found.bare("url")),)


def remember(found: Found, context: Context) -> tuple[Goal, ...]:
    """A fact to keep."""
    return (Remember(found.bare("fact").rstrip(" .。")),)


def ask(found: Found, context: Context) -> tuple[Goal, ...]:
    """A question, and the answers behind its colon or before it: two to four, otherwise it is free text."""
    text, colon, rest = found.typed("question").rpartition(":")
    answers = _answers(rest if colon else found.typed("choices"))
    question = text if colon and answers else found.typed("question")
    question = question.strip(" ,:.?") or ("どれがいい" if answers else "")
    return (AskUser(f"{question[:1].upper()}{question[1:]}?", answers),) if question else ()


def _answers(text: str) -> tuple[str, ...]:
    """The answers in a list such as "red, green or blue"; empty where there are not two to four of them."""
    parts = re.split(r",? +or +|, *|、 *|か、? *(?=\S)", text.strip(" .?"))
    answers = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    return answers if 2 <= len(answers) <= 4 else ()


def recall(found: Found, context: Context) -> tuple[Goal, ...]:
    """What is remembered."""
    return (Recall(found.bare("fact") or None),)


def forget(found: Found, context: Context) -> tuple[Goal, ...]:
    """A fact to forget."""
    return (Forget(found.bare("fact").rstrip(" .。")),)


def skills(found: Found, context: Context) -> tuple[Goal, ...]:
    """Which skills there are."""
    return (ReadSkill(),)


def skill(found: Found, context: Context) -> tuple[Goal, ...]:
    """What a skill says."""
    return (ReadSkill(found.bare("skill")),)


def own_tool(found: Found, context: Context) -> tuple[Goal, ...]:
    """A tool that was offered and that is none of the usual ones."""
    name = found.bare("tool")
    tool = next((tool for tool in context.tools.own if tool.name.lower() == name.lower()), None)
    if tool is None or ("value" in found.slots and len(required_of(tool.schema)) != 1):
        return ()
    value = found.bare("value")
    return (UseTool(tool.name, found.values() or ((("", value),) if value else ())),)


def calculate(found: Found, context: Context) -> tuple[Goal, ...]:
    """The value of a sum."""
    expression = expression_in(found.bare("expression").lower())
    return (Calculate(expression),) if expression else ()


def again(found: Found, context: Context) -> tuple[Goal, ...]:
    """What changes something is not done again without being named."""
    return () if any(goal.changes for goal in context.goals) else context.goals


def wrapped(text: str) -> str:
    """Text as the content of a file: with an end of line at its end."""
    return text if not text or text.endswith("\n") else text + "\n"


def runner_for(path: str) -> str | None:
    """The command that runs a file, by its ending; None for a file that is no program."""
    runner = _RUNNERS.get(path[path.rfind(".") :] if "." in path else "")
    return f"{runner} {shlex.quote(path)}" if runner else None


def _program(path: str, printed: str) -> str | None:
    match path.rpartition(".")[2].lower():
        case "py":
            return f"print({json.dumps(printed, ensure_ascii=False)})\n"
        case "js":
            return f"console.log({json.dumps(printed, ensure_ascii=False)});\n"
        case "sh":
            return f"#!/usr/bin/env bash\nprintf '%s\\n' {shlex.quote(printed)}\n"
        case _:
            return None


def _folder(found: Found) -> str | None:
    folder = found.bare("folder")
    return folder.rstrip("/") or folder or None


def _kind(found: Found) -> str | None:
    return KINDS.get(found.bare("kind").lower())


def _is_glob(found: Found) -> bool:
    return "glob" not in found.slots or ("*" in found.bare("glob") and " " not in found.bare("glob"))


def _aside(found: Found) -> bool:
    return re.search(r"\bin +the +background$|バックグラウンド", found.sentence, re.IGNORECASE) is not None
