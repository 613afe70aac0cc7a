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
from harness.practice.rule_model.conversation import AnsweredCall, CallOutcome, ModelCall, ReturnedResult
from harness.practice.rule_model.patterns import SentenceMatch
from harness.practice.rule_model.results import first_paragraph, hits_in, lines_in, paths_in
from harness.practice.rule_model.tools import Ability, OfferedTools
from harness.tools.background_commands import MOVED

MOST_AGENTS = 50
MOST_LISTED = 60
LONGEST_BLOCK = 6_000
"""Characters of a file or an output in a report."""
PHRASES: dict[str, tuple[str, str]] = tomllib.loads(
    resources.files("harness.practice.rule_model").joinpath("phrases.toml").read_text("utf-8")
)
"""English and Japanese, by key. `{count:line}` becomes "1 line", "2 lines"."""
_RUNNERS = {"py": "python3", "sh": "bash", "js": "node"}
_UNFINISHED = re.compile(r"\AThe (?:sub)?agent did not finish: (.*?)(?:\.(?: (?=This|Nothing)|\Z)|\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """A plan waits for the results of these calls, which may run at once."""

    words: str
    calls: tuple[ModelCall, ...]


Results = tuple[ReturnedResult, ...]
Plan = Generator[PendingCalls, Results, str]
MakePlan = Callable[["PlanContext", SentenceMatch], Plan]
Lines = Sequence[str]


class PlanStoppedError(Exception):
    """A plan ends early. `str(error)` is its report."""


@dataclass(frozen=True, slots=True)
class PlanContext:
    """The tools and the language of a plan."""

    tools: OfferedTools
    japanese: bool = False

    def say(self, key: str, **values: object) -> str:
        """The phrase with this key in the language of the conversation."""

        def filled(place: re.Match[str]) -> str:
            value = values[place[1]]
            shown = f"{value:,}" if isinstance(value, int) else str(value)
            return f"{shown} {place[2]}{'' if value == 1 else 's'}" if place[2] else shown

        return re.sub(r"\{(\w+)(?::(\w+))?\}", filled, PHRASES[key][self.japanese])

    def stopped_by(self, call: ModelCall, result: ReturnedResult) -> PlanStoppedError:
        """The report on a call that failed."""
        if result.outcome is CallOutcome.SKIPPED:
            parts = [self.say("skipped", tool=call.name, why=result.skip_reason)]
            parts += [self.say("by_hand", method=result.by_hand)] if result.by_hand else []
            ability, roles = self.tools.purpose(call)
            parts += [fenced(roles["command"])] if ability is Ability.RUN else []
            return PlanStoppedError("\n\n".join(parts))
        key = {CallOutcome.DENIED: "denied", CallOutcome.CANCELLED: "interrupted"}.get(result.outcome, "failed")
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


def asked(
    context: PlanContext, words: str, ability: Ability, **roles: Any
) -> Generator[PendingCalls, Results, ReturnedResult]:
    """The result of one call. Raises PlanStoppedError where it failed."""
    call = context.tools.call(ability, **roles)
    (result,) = yield PendingCalls(words, (call,))
    if result.failed:
        raise context.stopped_by(call, result)
    return result


def shown(words: str, head: str, ability: Ability, **slots: str) -> MakePlan:
    """A plan that makes one call and shows its result. `slots`: the slot for each role of the call."""

    def plan(context: PlanContext, match: SentenceMatch) -> Plan:
        name = "".join(match[slot] for slot in slots.values())
        roles = {role: match[slot] or None for role, slot in slots.items()}
        result = yield from asked(context, context.say(words, name=name), ability, **roles)
        return f"{context.say(head, name=name)}\n\n{fenced(result.text.strip())}"

    return plan


def said(key: str) -> MakePlan:
    """A plan that needs no tool."""

    def plan(context: PlanContext, match: SentenceMatch) -> Plan:
        yield from ()
        return context.say(key)

    return plan


# ── files ───────────────────────────────────────────────────────────────────────────────────────────


def find_files(context: PlanContext, match: SentenceMatch) -> Plan:
    """The files of a folder whose name fits a pattern, or all of them."""
    pattern, folder = match["glob"] or "**/*", match["folder"].rstrip("/")
    result = yield from asked(context, context.say("will_list"), Ability.FIND, pattern=pattern, folder=folder or None)
    listed = paths_in(result.text)
    if listed is None:
        return context.say("unreadable", shown=fenced(result.text.strip()))
    paths, hidden = listed
    count = len(paths) + hidden
    key = ("found" if match["glob"] else "listed") if count else "no_files" if match["glob"] else "empty_folder"
    where = match["folder"] or context.say("this_folder")
    head = context.say(key, are="is" if count == 1 else "are", count=count, pattern=pattern, where=where)
    if count > MOST_LISTED and not match["glob"] and Ability.RUN in context.tools.abilities:
        call = context.tools.call(Ability.RUN, command=f"ls -p {shlex.quote(folder)}" if folder else "ls -p")
        (top,) = yield PendingCalls(context.say("will_list"), (call,))
        if not top.failed and (entries := paths_in(top.text)) is not None and entries[0]:
            names = sorted(entries[0], key=lambda name: (not name.endswith("/"), name))
            head = context.say("listed_top", are="are", count=count, where=where)
            return f"{head}\n\n{context.bullets(names)}"
    return f"{head}\n\n{context.bullets(paths, hidden)}" if count else head


def _read(
    context: PlanContext, paths: Sequence[str]
) -> Generator[PendingCalls, Results, list[tuple[str, Lines, bool]]]:
    """The lines of files, read at once; with each whether it was shown whole."""
    named = [f"{path}.md" if path == "README" else path for path in paths]
    calls = tuple(context.tools.call(Ability.READ, path=path) for path in named)
    results = yield PendingCalls(context.say("will_read", name=", ".join(named)), calls)
    for path, call, result in zip(named, calls, results, strict=True):
        if result.outcome is CallOutcome.MISSING:
            raise PlanStoppedError(context.say("missing", path=path))
        if result.failed:
            raise context.stopped_by(call, result)
    return [(path, *lines_in(result.text)) for path, result in zip(named, results, strict=True)]


def about_files(describe: Callable[[PlanContext, str, Lines], str]) -> MakePlan:
    """A plan that reads files and reports on each."""

    def plan(context: PlanContext, match: SentenceMatch) -> Plan:
        files = yield from _read(context, match.files("files") or match.files("file"))
        note = f"\n\n{context.say('partly')}"
        return "\n\n".join(describe(context, path, lines) + ("" if whole else note) for path, lines, whole in files)

    return plan


def content(context: PlanContext, path: str, lines: Lines) -> str:
    """The text of a file."""
    if not any(lines):
        return context.say("empty", path=path)
    return f"{context.say('content', path=path, count=len(lines))}\n\n{fenced(chr(10).join(lines))}"


def length(context: PlanContext, path: str, lines: Lines) -> str:
    """The number of lines of a file."""
    return context.say("length", path=path, count=len(lines))


def headings(context: PlanContext, path: str, lines: Lines) -> str:
    """The Markdown headings of a file."""
    found = [f"{'  ' * (len(level) - 1)}- {title}" for level, title in _headings(lines)]
    head = context.say("headings" if found else "no_headings", path=path)
    return "\n".join([head, "", *found] if found else [head])


def summary(context: PlanContext, path: str, lines: Lines) -> str:
    """The first paragraph of a file and its headings."""
    opening = excerpt(first_paragraph(lines), 300)
    titles = ", ".join(title for _, title in _headings(lines)[:20])
    parts = [context.say("summary", path=path, count=len(lines))]
    parts += [context.say("opening", text=opening)] if opening else []
    return "\n".join([*parts, context.say("sections", titles=titles)] if titles else parts)


def _headings(lines: Lines) -> list[tuple[str, str]]:
    outside = re.sub(r"(?ms)^\s*```.*?^\s*```", "", "\n".join(lines))
    return re.findall(r"(?m)^(#{1,6})\s+(.+?)\s*#*$", outside)


def about_project(context: PlanContext, match: SentenceMatch) -> Plan:
    """The README in short, and the files."""
    name = "README.md"
    (readme,) = yield PendingCalls(context.say("will_read", name=name), (context.tools.call(Ability.READ, path=name),))
    if readme.failed:
        found = yield from asked(context, context.say("will_list"), Ability.FIND, pattern="[Rr][Ee][Aa][Dd][Mm][Ee]*")
        names = [path for path in (paths_in(found.text) or ([], 0))[0] if "/" not in path]
        if names:
            name = names[0]
            call = context.tools.call(Ability.READ, path=name)
            (readme,) = yield PendingCalls(context.say("will_read", name=name), (call,))
    start = context.say("no_readme") if readme.failed else summary(context, name, lines_in(readme.text)[0])
    return f"{start}\n\n" + (yield from find_files(context, match))


def search_text(context: PlanContext, match: SentenceMatch) -> Plan:
    """The lines with a text in them."""
    text, words = match["word"], context.say("will_search", text=match["word"])
    roles = {"folder": match["folder"] or None, "include": match["glob"] or None}
    pattern = re.escape(text).replace(r"\ ", " ").replace(r"\-", "-")
    result = yield from asked(context, words, Ability.SEARCH, pattern=pattern, **roles)
    read = hits_in(result.text)
    if read is None:
        return context.say("unreadable", shown=fenced(result.text.strip()))
    found, files = read
    if files:
        return f"{context.say('hit_files', text=text, count=len(files))}\n\n{context.bullets(files)}"
    if not found:
        return context.say("not_found", text=text)
    head = context.say("hits", text=text, count=len(found), files=len({hit[0] for hit in found}))
    hits = [f"`{hit[0]}:{hit[1]}` {excerpt(hit[2].strip(), 160)}" for hit in found]
    return f"{head}\n\n{context.bullets(hits)}"


def create_file(context: PlanContext, match: SentenceMatch) -> Plan:
    """A new file, unless there is one of that name."""
    path, said = match["file"], match["printed"]
    plain, ending = path.removeprefix("./"), path.rpartition(".")[2]
    if said and ending not in _RUNNERS:
        return context.say("no_program", path=path)
    found = yield from asked(context, context.say("will_check", path=path), Ability.FIND, pattern=plain)
    if plain in (paths_in(found.text) or (found.text.splitlines(), 0))[0]:
        return context.say("exists", path=path)
    text = _program(ending, said) if said else match["text"] or match["word"]
    text = f"{text}\n" if text and not text.endswith("\n") else text
    yield from asked(context, context.say("will_write", path=path), Ability.WRITE, path=path, content=text)
    report = context.say("written", path=path, count=text.count("\n"))
    if not match["run"]:
        return report
    return f"{report}\n\n" + (yield from _run(context, f"{_RUNNERS[ending]} {shlex.quote(path)}"))


def _program(ending: str, said: str) -> str:
    quoted = json.dumps(said, ensure_ascii=False)
    programs = {"py": f"print({quoted})", "js": f"console.log({quoted});", "sh": f"printf '%s\\n' {shlex.quote(said)}"}
    return programs[ending]


def replace_text(context: PlanContext, match: SentenceMatch) -> Plan:
    """A text replaced everywhere in a file."""
    path, old, new = match["file"], match["old"], match["new"]
    ((_, lines, whole),) = yield from _read(context, (path,))
    text = "\n".join(lines)
    count = text.count(old)
    if not whole or not count:
        return context.say("not_in_file" if whole else "seen_partly", old=old, path=path)
    done = context.say("replaced", path=path, old=old, new=new, count=count)
    words, edit = context.say("will_change", path=path), context.tools.abilities.get(Ability.EDIT)
    if count == 1 and edit is not None:
        call = edit.call({"path": path, "old": old, "new": new})
        (result,) = yield PendingCalls(words, (call,))
        if not result.failed:
            return done
        if result.outcome is not CallOutcome.SKIPPED or not result.alternatives:
            raise context.stopped_by(call, result)
        other, loses = result.alternatives[0]
        done += "\n\n" + context.say("lost", tool=edit.name, other=other, loses=loses)
    yield from asked(context, words, Ability.WRITE, path=path, content=text.replace(old, new) + "\n")
    return done


# ── commands ────────────────────────────────────────────────────────────────────────────────────────


def run_command(context: PlanContext, match: SentenceMatch) -> Plan:
    """A command and its output; in the background it is only started."""
    quoted = (match.slots.get("command") or "").startswith("\ue000")
    line = match["command"] if quoted else match.typed("command") or match.sentence.strip()
    if not match.background:
        return (yield from _run(context, line))
    words = context.say("will_start", line=line)
    result = yield from asked(context, words, Ability.RUN, command=line, background=True)
    return context.say("started", line=line, answer=excerpt(result.text.strip()))


def _run(context: PlanContext, line: str) -> Plan:
    call, name = context.tools.call(Ability.RUN, command=line), excerpt(line, 120)
    (result,) = yield PendingCalls(context.say("will_run", line=name), (call,))
    if result.outcome not in (CallOutcome.OK, CallOutcome.FAILED, CallOutcome.MISSING):
        raise context.stopped_by(call, result)
    key = "started" if MOVED in result.text else "ran_badly" if result.failed else "ran"
    return f"{context.say(key, line=name, answer='').rstrip()}\n\n{fenced(result.text.strip())}"


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
    roles = {"agent": match["agent"].lower() or None, "background": match.background or None}
    calls = []
    for number, one in enumerate(tasks, 1):
        title = excerpt(one, 46) + (f" ({number} of {len(tasks)})" if len(tasks) > 1 else "")
        calls.append(context.tools.call(Ability.DELEGATE, prompt=one, title=title, **roles))
    results = yield PendingCalls(context.say("will_delegate", count=len(calls)), tuple(calls))
    return report_on_subagents(context, list(map(AnsweredCall, calls, results)))


def report_on_subagents(context: PlanContext, calls: Sequence[AnsweredCall]) -> str:
    """The results of the tasks of subagents."""
    agent = context.tools.abilities[Ability.DELEGATE]
    title, prompt, background = map(agent.field_for, ("title", "prompt", "background"))
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


def _continues(one: AnsweredCall, background: str) -> bool:
    """The subagent works in the background, from the beginning or since it was moved there."""
    begun = one.call.input.get(background) is True and not one.result.failed
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


# ── memory, questions, other tools ─────────────────────────────────────────────────────────


def remember(context: PlanContext, match: SentenceMatch) -> Plan:
    """A fact for later sessions."""
    fact = match["fact"].rstrip(" .。")
    small = {"i", "we", "you", "the", "a", "an", "to", "of", "is", "are", "my", "our", "that", "and", "in"}
    name = " ".join([word for word in re.findall(r"[^\W_]+", fact) if word.lower() not in small][:5])[:40]
    kind = "user" if re.search(r"\b(i|i'm|me|my|mine)\b|私|僕", fact, re.IGNORECASE) else "project"
    kind = "feedback" if re.search(r"\b(always|never|don't|please|prefer)\b|必ず|いつも", fact, re.I) else kind
    roles = {"name": name, "summary": fact.splitlines()[0][:160], "kind": kind, "fact": fact}
    yield from asked(context, context.say("will_remember"), Ability.REMEMBER, **roles)
    return context.say("remembered", fact=fact)


def forget(context: PlanContext, match: SentenceMatch) -> Plan:
    """The memory that fits best, forgotten."""
    about = match["fact"].rstrip(" .。")
    result = yield from asked(context, context.say("will_recall"), Ability.RECALL, query=about)
    if not (found := re.search(r"(?m)^The \w+ memory (\S+) of the ", result.text)):
        return context.say("not_remembered", about=about)
    yield from asked(context, context.say("will_forget", name=found[1]), Ability.FORGET, name=found[1])
    return context.say("forgotten", name=found[1])


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
    return context.say("user_answer" if found else "no_answer", text=excerpt(found[1] if found else result.text))


def search_web(context: PlanContext, match: SentenceMatch) -> Plan:
    """The pages of a web search, or the first of them whole."""
    query = match["fact"].rstrip(" .。?？")
    found = yield from asked(context, context.say("will_search_web"), Ability.SEARCH_WEB, query=query)
    url = re.search(r"(?m)^https?://\S+$", found.text)
    if url and Ability.FETCH_PAGE in context.tools.abilities:
        found = yield from asked(context, context.say("will_read", name=url[0]), Ability.FETCH_PAGE, url=url[0])
    return f"{context.say('web')}\n\n{fenced(found.text.strip())}"


def use_tool(context: PlanContext, match: SentenceMatch) -> Plan:
    """A tool of your own, called by its name, with one text or nothing."""
    tool = next(tool for tool in context.tools.own if tool.name.lower() == match["tool"].lower())
    given = {name: match["value"] for name in list(tool.fields)[:1] if match["value"]}
    if not set(tool.required) <= set(given):
        values = ", ".join(tool.required)
        return context.say("needs_values", tool=tool.name, values=values)
    call = ModelCall(tool.name, given)
    (result,) = yield PendingCalls(context.say("will_use", tool=tool.name), (call,))
    if result.failed:
        raise context.stopped_by(call, result)
    text = result.text.strip()
    return f"{context.say('tool_answer', tool=tool.name)}\n\n{text if len(text) < 200 else fenced(text)}"
