"""A plan for each documented intent: a generator that asks for tool calls and returns its report.

The model keeps nothing between two requests. Each time, the plan is started from the beginning and given the results
in the conversation, until it asks for a call that has none: that is the reply. So a plan may depend on nothing but its
sentence and the results. The texts are in phrases.toml.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from harness.model.notices import AGENT_MOVED
from harness.practice.rule_model.conversation import AnsweredCall, Language, ModelCall, ReturnedResult
from harness.practice.rule_model.patterns import SentenceMatch
from harness.practice.rule_model.tools import Ability, OfferedTools
from harness.tools.background_commands import MOVED

MOST_AGENTS = 50
MOST_LISTED = 60
LONGEST_BLOCK = 6_000
"""Characters of a file or an output in a report."""
PHRASES: dict[str, tuple[str, str]] = tomllib.loads(
    resources.files("harness.practice.rule_model").joinpath("phrases.toml").read_text("utf-8")
)
"""English and Japanese, by key."""
_RUNNERS = {".py": "python3", ".sh": "bash", ".js": "node"}
_UNFINISHED = re.compile(r"\AThe (?:sub)?agent did not finish: (.*?)(?:\.(?: (?=This|Nothing)|\Z)|\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """A plan waits for the results of these calls, which may run at once."""

    words: str
    calls: tuple[ModelCall, ...]


Results = tuple[ReturnedResult, ...]
Plan = Generator[PendingCalls, Results, str]
Lines = tuple[str, ...]


class PlanStoppedError(Exception):
    """A plan ends early. `str(error)` is its report."""


@dataclass(frozen=True, slots=True)
class PlanContext:
    """The language and the tools of a plan."""

    language: Language
    tools: OfferedTools

    def say(self, key: str, **values: object) -> str:
        """The phrase with this key in the language of the conversation."""
        text = PHRASES[key][self.language is Language.JAPANESE]
        return re.sub(r"\{(\w+)\}", lambda place: str(values[place[1]]), text)

    def stopped_by(self, call: ModelCall, result: ReturnedResult) -> PlanStoppedError:
        """The report on a call that failed."""
        if result.skipped:
            parts = [self.say("skipped", tool=call.name, why=result.skip_reason)]
            parts += [self.say("by_hand", method=result.by_hand)] if result.by_hand else []
            ability, roles = self.tools.purpose(call)
            return PlanStoppedError(
                "\n\n".join([*parts, fenced(roles["command"])] if ability is Ability.RUN else parts)
            )
        key = "denied" if result.denied else "interrupted" if result.cancelled else "failed"
        return PlanStoppedError(self.say(key, call=call, why=excerpt(result.text.strip() or str(call))))

    def bullets(self, items: Sequence[str], hidden: int = 0) -> str:
        """A list, cut where it is long. `hidden`: items that the tool left out."""
        marked = (f"`{item}`" if re.search(r"__|[*<\[]", item) and "`" not in item else item for item in items)
        lines = [f"- {item}" for item in list(marked)[:MOST_LISTED]]
        more = max(0, len(items) - MOST_LISTED) + hidden
        return "\n".join([*lines, self.say("more", count=more)] if more else lines)


def excerpt(text: str, most: int = 600) -> str:
    """The beginning of a text."""
    return text if len(text) <= most else f"{text[:most].rstrip()} …"


def fenced(text: str) -> str:
    """Text as a code block, head and tail where it is long."""
    half = LONGEST_BLOCK // 2
    shown = text if len(text) <= LONGEST_BLOCK else f"{text[:half].rstrip()}\n…\n{text[-half:].lstrip()}"
    fence = "```"
    while fence in shown:
        fence += "`"
    return f"{fence}\n{shown}\n{fence}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _asked(
    context: PlanContext, words: str, ability: Ability, **roles: Any
) -> Generator[PendingCalls, Results, ReturnedResult]:
    """The result of one call. Raises PlanStoppedError where it failed."""
    call = context.tools.call(ability, **roles)
    (result,) = yield PendingCalls(words, (call,))
    if result.failed:
        raise context.stopped_by(call, result)
    return result


def shown(words: str, head: str, ability: Ability, **slots: str) -> Callable[[PlanContext, SentenceMatch], Plan]:
    """A plan that makes one call and shows its result. `slots`: the slot for each role of the call."""

    def plan(context: PlanContext, match: SentenceMatch) -> Plan:
        name = "".join(match[slot] for slot in slots.values())
        roles = {role: match[slot] or None for role, slot in slots.items()}
        result = yield from _asked(context, context.say(words, name=name), ability, **roles)
        return f"{context.say(head, name=name)}\n\n{fenced(result.text.strip())}"

    return plan


# ── files ───────────────────────────────────────────────────────────────────────────────────────────


def _found(context: PlanContext, pattern: str, folder: str) -> Generator[PendingCalls, Results, tuple[list[str], int]]:
    """The files that match a pattern, and how many more there are."""
    result = yield from _asked(context, context.say("will_list"), Ability.FIND, pattern=pattern, folder=folder or None)
    lines = [line.strip().removeprefix("./") for line in result.text.splitlines() if line.strip()]
    notes = [line for line in lines if line.startswith(("[", "No file"))]
    hidden = re.match(r"\[([\d,]+) more", notes[-1]) if notes else None
    paths = sorted({*lines} - {*notes}, key=lambda path: (path.count("/") > 0, path))
    return paths, int(hidden[1].replace(",", "")) if hidden else 0


def list_files(context: PlanContext, match: SentenceMatch) -> Plan:
    """The files of a folder."""
    paths, hidden = yield from _found(context, "**/*", match["folder"].rstrip("/"))
    count, where = len(paths) + hidden, match["folder"] or context.say("this_folder")
    if not count:
        return context.say("empty_folder", where=where)
    are = "is" if count == 1 else "are"
    head = context.say("listed", are=are, files=_counted(count, "file"), count=count, where=where)
    return f"{head}\n\n{context.bullets(paths, hidden)}"


def find_files(context: PlanContext, match: SentenceMatch) -> Plan:
    """The files whose name fits a pattern, or the number of all files."""
    pattern = match["glob"] or "**/*"
    paths, hidden = yield from _found(context, pattern, match["folder"])
    count = len(paths) + hidden
    key = "counted" if not match["glob"] else "found" if paths else "no_files"
    head = context.say(key, files=_counted(count, "file"), count=count, pattern=pattern)
    return f"{head}\n\n{context.bullets(paths, hidden)}" if key == "found" else head


def _lines(result: ReturnedResult) -> tuple[Lines, bool]:
    """The lines that a reading tool returned, without their numbers, and whether they are the whole file."""
    lines = result.text.rstrip("\n").split("\n")
    numbered = [found for line in lines if (found := re.match(r"\s*(\d+)\t(.*)", line))]
    notes = [line for line in lines if re.fullmatch(r"\s*(\[.*\]|\((the file is empty|no output)\))\s*", line)]
    whole = not any(re.search(r"shortened|truncated|more lines|continue", note) for note in notes)
    if numbered:
        return tuple(found[2] for found in numbered), whole and numbered[0][1] == "1"
    return tuple(line for line in lines if line not in notes and (line or len(lines) > 1)), whole


def _read(
    context: PlanContext, paths: Sequence[str]
) -> Generator[PendingCalls, Results, list[tuple[str, Lines, bool]]]:
    """The lines of files, read at once; with each whether it was shown whole."""
    named = [f"{path}.md" if path == "README" else path for path in paths]
    calls = tuple(context.tools.call(Ability.READ, path=path) for path in named)
    results = yield PendingCalls(context.say("will_read", name=", ".join(named)), calls)
    for path, call, result in zip(named, calls, results, strict=True):
        if result.missing:
            raise PlanStoppedError(context.say("missing", path=path))
        if result.failed:
            raise context.stopped_by(call, result)
    return [(path, *_lines(result)) for path, result in zip(named, results, strict=True)]


def about_files(describe: Callable[[PlanContext, str, Lines], str]) -> Callable[[PlanContext, SentenceMatch], Plan]:
    """A plan that reads files and reports on each."""

    def plan(context: PlanContext, match: SentenceMatch) -> Plan:
        files = yield from _read(context, match.list("files") or match.list("file"))
        note = f"\n\n{context.say('partly')}"
        return "\n\n".join(describe(context, path, lines) + ("" if whole else note) for path, lines, whole in files)

    return plan


def content(context: PlanContext, path: str, lines: Lines) -> str:
    """The text of a file."""
    if not any(lines):
        return context.say("empty", path=path)
    head = context.say("content", path=path, lines=_counted(len(lines), "line"), count=len(lines))
    return f"{head}\n\n{fenced(chr(10).join(lines))}"


def length(context: PlanContext, path: str, lines: Lines) -> str:
    """The number of lines of a file."""
    return context.say("length", path=path, lines=_counted(len(lines), "line"), count=len(lines))


def headings(context: PlanContext, path: str, lines: Lines) -> str:
    """The Markdown headings of a file."""
    found = [f"{'  ' * (len(level) - 1)}- {title}" for level, title in _headings(lines)]
    return (
        "\n".join([context.say("headings", path=path), "", *found]) if found else context.say("no_headings", path=path)
    )


def summary(context: PlanContext, path: str, lines: Lines) -> str:
    """The first paragraph of a file and its headings."""
    text = "\n".join(line for line in lines if not re.match(r"#|```|<|!?\[|import |from ", line))
    opening = excerpt(" ".join(text.strip().split("\n\n")[0].split()), 300)
    titles = ", ".join(title for _, title in _headings(lines)[:20])
    parts = [context.say("summary", path=path, lines=_counted(len(lines), "line"), count=len(lines))]
    parts += [context.say("opening", text=opening)] if opening else []
    return "\n".join([*parts, context.say("sections", titles=titles)] if titles else parts)


def _headings(lines: Lines) -> list[tuple[str, str]]:
    outside = re.sub(r"(?ms)^\s*```.*?^\s*```", "", "\n".join(lines))
    return re.findall(r"(?m)^(#{1,6})\s+(.+?)\s*#*$", outside)


def about_project(context: PlanContext, match: SentenceMatch) -> Plan:
    """The README in short, and the files."""
    call = context.tools.call(Ability.READ, path="README.md")
    (readme,) = yield PendingCalls(context.say("will_read", name="README.md"), (call,))
    start = "" if readme.failed else f"{summary(context, 'README.md', _lines(readme)[0])}\n\n"
    return start + (yield from list_files(context, match))


def search_text(context: PlanContext, match: SentenceMatch) -> Plan:
    """The lines with a text in them."""
    text, words = match["word"], context.say("will_search", text=match["word"])
    roles = {"folder": match["folder"] or None, "include": match["glob"] or None}
    pattern = re.escape(text).replace(r"\ ", " ").replace(r"\-", "-")
    result = yield from _asked(context, words, Ability.SEARCH, pattern=pattern, **roles)
    found = [one for line in result.text.splitlines() if (one := re.match(r"(?:\./)?([^:\n]+):(\d+):(.*)", line))]
    if not found:
        return context.say("not_found", text=text)
    count, files = len(found), len({hit[1] for hit in found})
    numbers = {"count": count, "lines": _counted(count, "line"), "files": _counted(files, "file"), "count_files": files}
    hits = [f"`{hit[1]}:{hit[2]}` {excerpt(hit[3].strip(), 160)}" for hit in found]
    return f"{context.say('hits', text=text, **numbers)}\n\n{context.bullets(hits)}"


def create_file(context: PlanContext, match: SentenceMatch) -> Plan:
    """A new file, unless there is one of that name."""
    path, said = match["file"], match["printed"]
    text = _program(path, said) if said else match["text"] or match["word"]
    if text is None:
        return context.say("no_program", path=path)
    plain = path.removeprefix("./")
    found = yield from _asked(context, context.say("will_check", path=path), Ability.FIND, pattern=plain)
    if plain in found.text.splitlines():
        return context.say("exists", path=path)
    text = f"{text}\n" if text and not text.endswith("\n") else text
    yield from _asked(context, context.say("will_write", path=path), Ability.WRITE, path=path, content=text)
    count = text.count("\n")
    report = context.say("written", path=path, lines=_counted(count, "line"), count=count)
    if not match["run"]:
        return report
    return f"{report}\n\n" + (yield from _run(context, f"{_RUNNERS[path[path.rfind('.') :]]} {shlex.quote(path)}"))


def _program(path: str, said: str) -> str | None:
    match path.rpartition(".")[2]:
        case "py":
            return f"print({json.dumps(said, ensure_ascii=False)})"
        case "js":
            return f"console.log({json.dumps(said, ensure_ascii=False)});"
        case "sh":
            return f"printf '%s\\n' {shlex.quote(said)}"
        case _:
            return None


def replace_text(context: PlanContext, match: SentenceMatch) -> Plan:
    """A text replaced everywhere in a file."""
    path, old, new = match["file"], match["old"], match["new"]
    ((_, lines, whole),) = yield from _read(context, (path,))
    text = "\n".join(lines)
    count = text.count(old)
    if not whole or not count:
        return context.say("not_in_file" if whole else "seen_partly", old=old, path=path)
    done = context.say("replaced", path=path, old=old, new=new, count=count, places=_counted(count, "place"))
    words, edit = context.say("will_change", path=path), context.tools.abilities.get(Ability.EDIT)
    if count == 1 and edit is not None:
        call = edit.call({"path": path, "old": old, "new": new})
        (result,) = yield PendingCalls(words, (call,))
        if not result.failed:
            return done
        other, loses = next(iter(result.alternatives), ("", ""))
        if not result.skipped or not loses:
            raise context.stopped_by(call, result)
        done += "\n\n" + context.say("lost", tool=edit.name, other=other, loses=loses.rstrip("."))
    yield from _asked(context, words, Ability.WRITE, path=path, content=text.replace(old, new) + "\n")
    return done


# ── commands ────────────────────────────────────────────────────────────────────────────────────────


def run_command(context: PlanContext, match: SentenceMatch) -> Plan:
    """A command and its output; in the background it is only started."""
    quoted = (match.slots.get("command") or "").startswith("\ue000")
    line = match["command"] if quoted else match.typed("command") or match.sentence.strip()
    if not match.background:
        return (yield from _run(context, line))
    words = context.say("will_start", line=line)
    result = yield from _asked(context, words, Ability.RUN, command=line, background=True)
    return context.say("started", line=line, answer=excerpt(result.text.strip()))


def _run(context: PlanContext, line: str) -> Plan:
    call, name = context.tools.call(Ability.RUN, command=line), excerpt(line, 120)
    (result,) = yield PendingCalls(context.say("will_run", line=name), (call,))
    if result.not_run:
        raise context.stopped_by(call, result)
    if MOVED in result.text:
        return f"{context.say('started', line=name, answer='').rstrip()}\n\n{fenced(result.text.strip())}"
    return f"{context.say('ran_badly' if result.failed else 'ran', line=name)}\n\n{fenced(result.text.strip())}"


# ── subagents ───────────────────────────────────────────────────────────────────────────────────────


def delegate(context: PlanContext, match: SentenceMatch) -> Plan:
    """The same task for one or more subagents; files that it lists are shared out."""
    task, count = match["task"].rstrip(" .。、"), min(match.count(), MOST_AGENTS)
    listed = re.search(r"[\w./-]+\.\w+(?:(?:, | and | ?と ?)[\w./-]+\.\w+)+", task) if count > 1 else None
    tasks = [task] * count
    if listed:
        files = re.findall(r"[\w./-]+\.\w+", listed[0])
        shares = [" and ".join(files[number::count]) for number in range(min(count, len(files)))]
        tasks = [task.replace(listed[0], share) for share in shares]
    ends = [f" ({number} of {len(tasks)})" if len(tasks) > 1 else "" for number in range(1, len(tasks) + 1)]
    roles = {"agent": match["agent"].lower() or None, "background": match.background or None}
    calls = tuple(
        context.tools.call(Ability.DELEGATE, prompt=one, title=excerpt(one, 46) + end, **roles)
        for one, end in zip(tasks, ends, strict=True)
    )
    results = yield PendingCalls(
        context.say("will_delegate", agents=_counted(len(calls), "agent"), count=len(calls)), calls
    )
    return report_on_subagents(context, list(map(AnsweredCall, calls, results)))


def report_on_subagents(context: PlanContext, calls: Sequence[AnsweredCall]) -> str:
    """The results of the tasks of subagents."""
    title, prompt, background = map(
        context.tools.abilities[Ability.DELEGATE].field_for, ("title", "prompt", "background")
    )
    titled = [(str(one.call.input.get(title) or one.call.input.get(prompt)), one) for one in calls]
    if all(_continues(one, background) for one in calls):
        lines = [f"{name}: {excerpt(one.result.text)}" for name, one in titled]
        return f"{context.say('delegated')}\n\n{context.bullets(lines)}"
    if len(calls) == 1:
        text = _answer(context, *titled[0])
        return text if calls[0].result.failed else f"{context.say('answer')}\n\n{text}"
    good = [_line(name, _answer(context, name, one)) for name, one in titled if not one.result.failed]
    bad = [(name, one, _UNFINISHED.match(one.result.text)) for name, one in titled if one.result.failed]
    failed = [_line(name, why[1] if why else _answer(context, name, one)) for name, one, why in bad]
    parts = [context.say("agents_answered", done=len(good), count=len(calls))]
    parts += [context.say("without_answer", count=len(failed)), context.bullets(failed)] if failed else []
    return "\n\n".join([*parts, context.say("answers"), context.bullets(good)] if good else parts)


def _continues(one: AnsweredCall, background: str | None) -> bool:
    """The subagent works in the background, from the beginning or since it was moved there."""
    begun = background is not None and one.call.input.get(background) is True and not one.result.failed
    return begun or one.result.text.startswith(AGENT_MOVED)


def _line(title: str, text: str) -> str:
    return excerpt(f"{title}: {' '.join(text.split())}", 240)


def _answer(context: PlanContext, title: str, one: AnsweredCall) -> str:
    if one.result.failed and not _UNFINISHED.match(one.result.text):
        return str(context.stopped_by(one.call, one.result))
    return agent_answer(context, title, one.result.text)


def agent_answer(context: PlanContext, title: str, text: str) -> str:
    """The answer of a subagent without its introduction, or that it did not finish."""
    if found := _UNFINISHED.match(text):
        return context.say("unfinished", task=title, why=found[1])
    for introduction in PHRASES["introduction"]:
        text = text.replace(introduction, "")
    return excerpt(re.sub(r"\n*\[agent .*\]\s*\Z", "", text).strip(), 2_000)


# ── memory, questions, the web, other tools ─────────────────────────────────────────────────────────


def remember(context: PlanContext, match: SentenceMatch) -> Plan:
    """A fact for later sessions."""
    fact = match["fact"].rstrip(" .。")
    small = {"i", "we", "you", "the", "a", "an", "to", "of", "is", "are", "my", "our", "that", "and", "in"}
    name = " ".join([word for word in re.findall(r"[^\W_]+", fact) if word.lower() not in small][:5])[:40]
    kind = "user" if re.search(r"\b(i|i'm|me|my|mine)\b|私|僕", fact, re.IGNORECASE) else "project"
    kind = "feedback" if re.search(r"\b(always|never|don't|please|prefer)\b|必ず|いつも", fact, re.I) else kind
    roles = {"name": name, "summary": fact.splitlines()[0][:160], "kind": kind, "fact": fact}
    yield from _asked(context, context.say("will_remember"), Ability.REMEMBER, **roles)
    return context.say("remembered", fact=fact)


def forget(context: PlanContext, match: SentenceMatch) -> Plan:
    """The memory that fits best, forgotten."""
    about = match["fact"].rstrip(" .。")
    result = yield from _asked(context, context.say("will_recall"), Ability.RECALL, query=about)
    if not (found := re.search(r"(?m)^The \w+ memory (\S+) of the ", result.text)):
        return context.say("not_remembered", about=about)
    name = found[1]
    yield from _asked(context, context.say("will_forget", name=name), Ability.FORGET, name=name)
    return context.say("forgotten", name=name)


def ask_user(context: PlanContext, match: SentenceMatch) -> Plan:
    """A question to the user, with two to four answers to choose from or none."""
    text, colon, rest = match.typed("task").rpartition(":")
    parts = re.split(r",? +or +|, *|、 *|か、? *(?=\S)", (rest if colon else match.typed("choices")).strip(" .?"))
    answers = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    answers = answers if 2 <= len(answers) <= 4 else ()
    question = (text if colon and answers else match.typed("task")).strip(" ,:.?") or context.say("which")
    options = [{"label": answer} for answer in answers] or None
    call = context.tools.call(Ability.ASK, question=f"{question[:1].upper()}{question[1:]}?", options=options)
    (result,) = yield PendingCalls(context.say("will_ask"), (call,))
    found = None if result.failed else re.match(r"[^:\n]+: (.+)", result.text, re.DOTALL)
    if not found:
        return context.say("no_answer", why=excerpt(result.text))
    return context.say("user_answer", answer=excerpt(found[1]))


def search_web(context: PlanContext, match: SentenceMatch) -> Plan:
    """The pages of a web search; the first is read."""
    query = match["fact"].rstrip(" .。?？")
    found = yield from _asked(context, context.say("will_search_web"), Ability.SEARCH_WEB, query=query)
    pages = [page for text in found.text.split("\n\n") if (page := _page(text))]
    if not pages:
        return context.say("nothing_on_web", query=query)
    if Ability.FETCH_PAGE in context.tools.abilities:
        url = pages[0][1]
        read = yield from _asked(context, context.say("will_read", name=url), Ability.FETCH_PAGE, url=url)
        pages[0] = _page(read.text) or (pages[0][0], url, excerpt(read.text))
    lines = [": ".join(filter(None, (f"{title} {url}", text))) for title, url, text in pages]
    return f"{context.say('web')}\n\n{context.bullets(lines)}"


def _page(text: str) -> tuple[str, str, str] | None:
    lines = text.strip().splitlines()
    return (lines[0], lines[1], " ".join(lines[2:])) if len(lines) > 1 and lines[1].startswith("http") else None


def fetch_page(context: PlanContext, match: SentenceMatch) -> Plan:
    """A web page."""
    url = match["url"]
    read = yield from _asked(context, context.say("will_read", name=url), Ability.FETCH_PAGE, url=url)
    return context.say("page", url=url, text=(_page(read.text) or ("", url, excerpt(read.text)))[2])


def use_tool(context: PlanContext, match: SentenceMatch) -> Plan:
    """A tool of your own, called by its name."""
    tool = next(tool for tool in context.tools.own if tool.name.lower() == match["tool"].lower())
    item = r"(?:[A-Za-z_]\w* *= *)?[^,\s=と]+"
    given = [text.partition("=") for text in match.list("arguments", item) or match.list("value", r".+")]
    call = tool.call_with(
        [(name.strip(), value.strip()) if sign else ("", name.strip()) for name, sign, value in given]
    )
    if call is None:
        values = ", ".join(f"{name}=…" for name in tool.required or tool.fields)
        return context.say("needs_values", tool=tool.name, values=values)
    (result,) = yield PendingCalls(context.say("will_use", tool=tool.name), (call,))
    if result.failed:
        raise context.stopped_by(call, result)
    text = result.text.strip()
    return f"{context.say('tool_answer', tool=tool.name)}\n\n{text if len(text) < 200 else fenced(text)}"


def said(key: str) -> Callable[[PlanContext, SentenceMatch], Plan]:
    """A plan that needs no tool."""

    def plan(context: PlanContext, match: SentenceMatch) -> Plan:
        yield from ()
        return context.say(key)

    return plan
