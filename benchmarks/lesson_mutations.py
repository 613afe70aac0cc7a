"""Which changes of a chapter its steps notice: `python -m benchmarks.lesson_mutations [sNN …]`.

Each mutation switches off what a chapter is about, by a setting or in its demo, or edits its script or its workspace.
Besides those listed here every file of a workspace is removed once and emptied once, and every reply of a
script that calls a tool or fails is left out once. A mutation is caught when a step
is missing, when a condition of a step does not hold, or when the demo fails. Prints a table, and the mutations that
no step notices; exits with 1 if more than 5 % are not caught.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from shutil import copytree
from types import ModuleType

from chapters.course import LANGUAGES, Lesson, LessonError, Recording, lessons
from chapters.course.recording import Demo
from harness.base.errors import HarnessError

LEAST = 0.95
"""Share of mutations that must be caught."""
LIMIT_S = 40.0
"""Of one run, but at least `PATIENCE` times as long as without a mutation; a run that takes longer is caught as well,
as a learner would not reach its end."""
PATIENCE = 5
AT_ONCE = 3
REMOVED = ""
REPLY = "[[reply]]"
Edit = tuple[str, str]
"""A text of a file, and what replaces it."""


@dataclass(frozen=True, slots=True, eq=False)
class Mutation:
    """One change of one chapter."""

    chapter: str
    name: str
    settings: Mapping[str, object] = field(default_factory=dict)
    edits: Mapping[str, Edit | str | None] = field(default_factory=dict)
    """Files of the chapter: a replacement in the file, its whole new text, or None to remove it."""


def off(chapter: str, name: str, **settings: object) -> Mutation:
    """A mechanism switched off by settings."""
    return Mutation(chapter, name, settings=settings)


def demo(chapter: str, name: str, old: str, new: str) -> Mutation:
    """A change of the demo."""
    return Mutation(chapter, name, edits={"demo.py": (old, new)})


def script(chapter: str, name: str, old: str, new: str) -> Mutation:
    """A change of what the model says."""
    return Mutation(chapter, name, edits={"script.toml": (old, new)})


def workspace(chapter: str, name: str, file: str, old: str, new: str) -> Mutation:
    """A change of a file in the workspace."""
    return Mutation(chapter, name, edits={f"workspace/{file}": (old, new)})


PROMPT = 'messages.append({"role": "user", "content": prompt})'
FRESH = 'messages[:] = [{"role": "user", "content": prompt}]'
HOOKS_OF_S04 = ("house_rules", "no_force_push", "no_network", "ends_with_newline", "python_parses", "audit")
MUTATIONS = (
    demo("s01", "results are not sent back", '"content": output,', '"content": "",'),
    demo("s01", "each prompt begins a new history", PROMPT, FRESH),
    demo("s01", "commands run in another folder", "cwd=folder", 'cwd="/"'),
    demo("s01", "no tool is offered", "tools=[BASH]", "tools=[]"),
    workspace("s01", "the planted mistake is corrected", "count.py", "note.txt", "notes.txt"),
    workspace("s01", "another log", "notes.txt", "boats", "ships"),
    script("s01", "the repair is not made", "sed -i.bak 's/note\\\\.txt/notes.txt/' count.py && ", ""),
    script("s01", "no failure of the model", "status = 529", 'text = "On Tuesday."'),
    demo("s02", "arguments are not checked", "checked(call.name, call.input)", "call.input"),
    demo("s02", "paths are not checked", "if not place.is_relative_to(folder.resolve())", "if False"),
    demo("s02", "the first of several places is replaced", "if (places := text.count(old)) != 1", "if False"),
    demo("s02", "errors are not marked", ', "is_error": True}', "}"),
    demo("s02", "each prompt begins a new history", PROMPT, FRESH),
    demo("s02", "the tools are not all offered", "tools=TOOLS", "tools=TOOLS[:3]"),
    demo(
        "s02",
        "results are in two messages",
        "results = [await answer(call, folder) for call in calls]",
        "results = [await answer(call, folder) for call in calls[:1]]",
    ),
    workspace("s02", "the word is there once", "letters/anna.txt", "a long spring", "a long winter"),
    workspace("s02", "no frost", "letters/bela.txt", "frost", "snow"),
    off("s03", "no rules", permissions_allow=(), permissions_ask=(), permissions_deny=()),
    off("s03", "no allow rule", permissions_allow=()),
    off("s03", "no ask rule", permissions_ask=()),
    off("s03", "no deny rule", permissions_deny=()),
    off("s03", "no questions", permission_mode="yolo"),
    off("s03", "everything refused", permission_mode="deny"),
    script("s03", "nothing is chained", " && rm -rf drafts", ""),
    script("s03", "no substitution", '\\"$(cat secrets/token.txt)\\"', "notes.md"),
    demo("s04", "no hooks", "hooks=hooks", "hooks=[]"),
    *(demo("s04", f"without the hook {name}", f"        {name},\n", "") for name in HOOKS_OF_S04),
    demo("s04", "no objection at the end", 'hook("stop", name="run_it_first")(unrun.objection),', ""),
    demo(
        "s04",
        "objects although it was run",
        "self.paths = [path for path in self.paths if Path(path) not in ran]",
        "pass",
    ),
    script("s04", "the colon is not forgotten", "open('crew.txt')\\n", "open('crew.txt'):\\n"),
    script("s04", "no newline is missing", 'name.strip())"', 'name.strip())\\n"'),
    off("s05", "no reminder", plan_reminder=0),
    off("s05", "a later reminder", plan_reminder=50),
    off("s05", "an earlier reminder", plan_reminder=1),
    demo("s05", "no hook holds to the plan", ", hooks=[holding_to_it(conversation)]", ""),
    demo("s05", "the journal's plan is not used", "append, state)", "append, messages=state.messages)"),
    demo("s05", "the journal is not used", "journal.append, state)", "journal.append)"),
    demo("s05", "no compaction", "await session.watch(agent.parts.user_commands.compact())", "pass"),
    workspace("s05", "the planted mistake is corrected", "shapes.py", "return w + h", "return 2 * (w + h)"),
    workspace("s05", "the names are good", "shapes.py", "def a(", "def area("),
    workspace("s05", "a test that fails", "test_shapes.py", "== 6", "== 7"),
    script(
        "s05",
        "the first plan is good",
        'text = "correct the perimeter", status = "in_progress" }',
        'text = "correct the perimeter", status = "pending" }',
    ),
    off("s06", "enough steps", subagent_steps=30),
    off("s06", "no subagents", max_subagents=0),
    off("s06", "no retries", max_retries=0),
    off("s06", "no questions", permission_mode="yolo"),
    off("s06", "two steps", subagent_steps=2),
    workspace("s06", "another day", "letters/2.md", "third of May", "first of June"),
    off("s07", "no skills", skills=False),
    off("s07", "no folder of one's own", user_dir=Path("/nonexistent")),
    off("s07", "no questions", permission_mode="yolo"),
    workspace(
        "s07",
        "the text says something else",
        ".harness/skills/release/SKILL.md",
        "in the form of template.md",
        "as you like",
    ),
    workspace("s07", "the mistake is corrected", ".harness/skills/tidy/SKILL.md", "description: ", "about: x #"),
    script("s08", "a window that is large enough", "window = 24550", "window = 200000"),
    off("s08", "no compaction", auto_compact=False),
    demo("s08", "short logs", "LINES = 135", "LINES = 13"),
    demo("s08", "fewer logs", "DAYS = 24", "DAYS = 12"),
    off("s09", "no memory", memory=False),
    off("s09", "nothing may be written", permission_mode="deny"),
    off("s09", "no questions", permission_mode="yolo"),
    demo("s09", "no compaction", "await session.watch(second.parts.user_commands.compact())", "pass"),
    demo(
        "s09",
        "the second session has no memory",
        "async with session.agent() as second",
        "async with session.agent(session.settings(memory=False)) as second",
    ),
    demo(
        "s09",
        "the second session has another folder",
        "async with session.agent() as second",
        'async with session.agent(session.settings(user_dir=session.workspace / "other")) as second',
    ),
    script("s09", "the other wish is remembered", "Tabs, also in Python", "Blanks, also in Python"),
    script("s09", "the password is left out", "is plum-tree-77.", "is kept in the safe."),
    script("s09", "the model does not look", 'query = "How do you want code indented?"', 'query = "weather"'),
    off("s10", "no instructions", instructions=False),
    off("s10", "no instructions of one's own", user_dir=Path("/nonexistent")),
    off("s10", "nothing may be run", permission_mode="deny"),
    demo("s10", "the file does not change", 'file.write("- Every', 'str("- Every'),
    demo("s10", "a clock in the prompt", '"\\n".join(part.text', 'str(__import__("time").time()).join(part.text'),
    script("s10", "another branch", "git init -q -b drafts", "git init -q -b main"),
    script("s10", "no repository", "git init -q -b drafts", "true"),
    workspace("s10", "other instructions", "AGENTS.md", "make check", "tox"),
    off("s11", "no retries", max_retries=0),
    off("s11", "no other model", fallback_models=()),
    off("s11", "the cap cannot be raised", raised_cap=8_000),
    off("s11", "no continuations", continuations=0),
    off("s11", "more patience before another model", overloads_before_switch=9),
    off("s11", "a larger cap from the start", default_cap=16_000),
    off("s11", "no compaction", auto_compact=False),
    off("s11", "no questions", permission_mode="deny"),
    script("s11", "no header", 'headers = { retry-after = "1" }', ""),
    script("s11", "no broken stream", 'fault = "reset"', ""),
    script("s11", "not cut", 'fault = { kind = "cut_tool", characters = 40 }', ""),
    script("s11", "not too long", 'status = 400\nmessage = "prompt is too long"', "status = 500"),
    script("s11", "a good key", "status = 401", 'text = "Told."'),
    off("s21", "breakers open later", failure_threshold=4),
    off("s21", "breakers open at once", failure_threshold=1),
    off("s21", "a large budget", failure_budget=50),
    off("s21", "a small budget", failure_budget=2),
    off("s21", "no probe", probe_distance=50),
    off("s21", "an early probe", probe_distance=1),
    demo("s21", "the server is never away", "await shop.close()\n            async", "pass\n            async"),
    demo("s21", "the server is never repaired", "if opened(event):", "if False:"),
    off("s12", "no board", board="off"),
    demo("s12", "the rival ends well", "program.kill()", "program.stdin.close()"),
    demo("s12", "no rival", "async with rival(session, settings):", "if True:"),
    script("s12", "no cycle", 'needs = ["scrape", "launch"]', 'needs = ["scrape"]'),
    script("s12", "the failure is a success", 'status = "failed"', 'status = "completed"'),
    off("s13", "ended at the limit", background_at_limit=False),
    demo("s13", "no turn for the end", "            await session.watch(agent.deliver())\n", ""),
    demo("s13", "the bell rings once", "isinstance(event, PollNoted)", "False"),
    script(
        "s13",
        "in the foreground",
        'background = true } }]\n\n[[reply]]\ntext = "Meanwhile',
        'timeout = 1 } }]\n\n[[reply]]\ntext = "Meanwhile',
    ),
    script("s13", "no polling", "sleep 1; ls", "ls"),
    script("s13", "a call that does something", "sleep 1; ls", "sleep 1; touch now.txt"),
    workspace("s13", "the bread is good", "oven.sh", "exit 1", "exit 0"),
    off("s15", "no team", team=False),
    off("s15", "no more than one member", team_members=1),
    workspace("s15", "nothing is deleted", "naive.py", "            self.mail.unlink()\n", ""),
    workspace("s15", "no line break first", "mailbox.py", 'f"\\n{json', 'f"{json'),
    workspace("s15", "the cursor is forgotten", "mailbox.py", 'cursor = record["cursor"]', "pass"),
    workspace("s15", "no history", "mailbox.py", 'append(self.history, message | {"cursor": end})', "pass"),
    demo("s15", "no time passes", "team.clock.forward(HOURS * 3_600)", "pass"),
    script("s15", "thanks with a question", "Thank you, great work!", "Thank you. And before?"),
    script("s15", "somebody who is there", 'to = ["bob"]', 'to = ["ben"]'),
    script("s15", "a name that is allowed", "../ben", "ben"),
    script("s15", "four failures", "times = 5", "times = 4"),
    script("s14", "a job for its session", "lasting = true", "lasting = false"),
    script("s14", "a date that comes", "0 0 31 2 *", "0 0 28 2 *"),
    demo("s14", "one night of sleep", "2027-03-31 10:00", "2027-03-29 10:00"),
    demo("s14", "no change of clocks", "Europe/Berlin", "Europe/Moscow"),
    demo("s14", "nobody else looks", "await schedule.another_program_looks()", "pass"),
    demo("s14", "the schedule sees no event", "self.ours.on_event(event)", "pass"),
    off("s16", "no team", team=False),
    demo("s16", "the first deadline does not pass", "(600, 300)", "(60, 300)"),
    demo("s16", "an end has no second deadline", "(120, 60)", "(120, 6)"),
    demo("s16", "the loaf is never ready", '(session.workspace / "loaf").touch()', "pass"),
    workspace("s16", "anybody agrees", "protocol.py", '("open", "agree", "recipient")', '("open", "agree", "other")'),
    workspace("s16", "nobody declines", "protocol.py", '["state"] == "agreed"', '["state"] != "declined"'),
    workspace(
        "s16",
        "an end is no end",
        "protocol.py",
        '"declined",\n',
        '"declined",\n    ("agreed", "decline", "recipient"): "open",\n',
    ),
    script("s16", "nobody plans first", "plan = true", "plan = false"),
    script("s16", "the plan stays", "Bread costs 4, and rolls cost 2.", "Bread costs 4."),
    script("s16", "the right digest at once", '"r2", say = "agree", digest = "a6329f1acd2a"', '"r2", say = "withdraw"'),
    script(
        "s16",
        "ben is asked about something else",
        '{ name = "request", input = { kind = "question", to = "ann"',
        '{ name = "request", input = { kind = "question", to = "lead"',
    ),
    script("s16", "ben agrees to end", 'id = "r5", say = "decline", text', 'id = "r5", say = "agree", text'),
    off("s17", "no board", board="off"),
    demo("s17", "ann is not killed", "await ann.kill()", "ann.enter() or 9"),
    demo("s17", "dora is quick", 'shared.worker("dora", SHORT)', 'shared.worker("dora")'),
    demo("s17", "no limit of steps", "max_steps=STEPS", "max_steps=STEPS + 1"),
    demo("s17", "the agents do not claim", "            await work_until_idle(agents)\n", ""),
    workspace("s17", "the fence is not looked at", "worker.py", " AND fence = ?", " AND fence >= ?"),
    workspace("s17", "the fence does not rise", "worker.py", "fence = fence + 1", "fence = fence"),
    workspace(
        "s17", "a subject without its text", "worker.py", "RETURNING number, text, fence", "RETURNING number, '', fence"
    ),
    workspace(
        "s17",
        "any text can be read",
        "worker.py",
        'lamp, litres = text.split(" gets ")',
        'lamp, _, litres = text.partition(" gets ")',
    ),
    script("s17", "nothing needs the lamp", 'needs = ["lamp"]', "needs = []"),
    script(
        "s17",
        "checked at once",
        'id = "t1", status = "completed" }',
        'id = "t1", status = "completed", note = "seen" }',
    ),
    script(
        *("s17", "cleo completes it", 'text = "The horn is repaired."'),
        'tools = [{ name = "task_update", input = { id = "t2", status = "completed", note = "seen" } }]',
    ),
    script("s17", "t2 stays aside", 'status = "pending"', 'status = "cancelled"'),
    demo(
        "s18", "all is committed", '(session.workspace / "notes.txt").write_text("ask the captain\\n", "utf-8")', "pass"
    ),
    demo("s18", "no upstream is needed", '(own["remove"], main, tree)', '(own["make"], main, "x")'),
    off("s18", "the check is not run", check_command=None),
    demo("s18", "everything is merged by name", "(worktrees, ())", "(worktrees, (lighthouse,))"),
    demo(
        "s18", "nothing is asked", 'permissions_allow=["bash(*)", "edit_file", "write_file"]', 'permission_mode="yolo"'
    ),
    workspace("s18", "an upstream is not asked for", "worktree.py", '"@{push}.."', '"HEAD", "--not", "--remotes"'),
    workspace("s18", "nothing is refused", "worktree.py", "not changed and ", ""),
    workspace("s18", "tickets are tracked", ".gitignore", "*.db", ""),
    workspace("s18", "the evening is free", "check.py", '"18:00"', '"13:00"'),
    script("s18", "a detached HEAD", "git commit -qam 'No ferry", "git switch -q --detach; git commit -qam 'No ferry"),
    script(
        "s18", "another line", '12:00 island", new_string = "12:30 island', '09:00 island", new_string = "09:30 island'
    ),
    script("s18", "the conflict stays", "12:30 lighthouse\\n", "12:30 island\\n"),
    off("s19", "no servers", mcp=False),
    demo("s19", "the folder is not trusted", "trust_folder=True", "trust_folder=False"),
    demo("s19", "the hints are not believed", '"trusted": True', '"trusted": False'),
    demo("s19", "the small server is not killed", "        client.server.kill()\n", ""),
    workspace("s19", "no stray line", "harbor.py", 'print("DEBUG: looking at the berths", flush=True)', "pass"),
    workspace("s19", "no warning", "harbor.py", '"destructiveHint": True', '"destructiveHint": False'),
    workspace("s19", "the list stays", "harbor.py", 'send(method="notifications/tools/list_changed")', "pass"),
    workspace("s19", "the pilot answers", "harbor.py", '    "buoy_1": "the', '    "pilot": "aye",\n    "buoy_1": "the'),
    workspace("s19", "the server does not end", "harbor.py", "os._exit(9)", "return None"),
    workspace("s19", "names that fit", "harbor.py", '"berth.free"', '"berth_free"'),
    demo("s21", "the shop does not say when it counted", ", as_of=float(counted)", ""),
    off("s22", "no intervention", loop_intervention=False),
    demo("s22", "the log does not grow", "grow(session.workspace / LOG)", "pass"),
    script("s22", "the model stops by itself", "times = 6", "times = 1"),
    script("s22", "the model looks once", "times = 3", "times = 1"),
    off("s23", "room for all", max_concurrent=7),
    off("s23", "one at a time", max_concurrent=1),
    off("s23", "a long queue", max_queue_size=20),
    off("s23", "a short queue", max_queue_size=1),
    off("s23", "no subagents", max_subagents=0),
    script("s23", "no failure", 'status = 400\nmessage = "this book is damaged"', 'text = "Its title is Two."'),
    script("s23", "no newer work", ', agent = "a6"', ""),
    workspace("s23", "the command ends when it is asked to", "stubborn.sh", "trap '' TERM", "true"),
    off("s24", "no retries", max_retries=0),
    off("s24", "no continuations", continuations=0),
    demo("s24", "a watchdog that waits longer", "BYTES_S, EVENTS_S = 1.0, 1.5", "BYTES_S, EVENTS_S = 5.0, 8.0"),
    demo("s24", "one limit of silence", "EVENTS_S = 1.0, 1.5", "EVENTS_S = 1.0, 0.9"),
    script("s24", "one chunk", 'fault = "byte_by_byte"', ""),
    script("s24", "no complete block", 'kind = "reset", at = 7', 'kind = "reset", at = 4'),
    script("s24", "the first call is cut", "tool = 2, characters = 42", "tool = 1, characters = 12"),
    script("s24", "the stop reason comes", 'events = ["message_delta", "message_stop"]', 'events = ["message_stop"]'),
    workspace("s24", "another ferry", "marées.txt", "09:30", "10:00"),
    demo("s25", "no torn line", "    tear(path)\n", ""),
    demo("s25", "the second program does not read the journal", "journal.append, state)", "journal.append)"),
    demo(
        "s25",
        "a session of its own",
        "Conversation(journal.append, state",
        "Conversation(lambda event: None, state",
    ),
    demo("s25", "turns begin at 1 again", "append, state)", "append, messages=state.messages)"),
    demo("s25", "asked to end, not killed", "signal.SIGKILL", "signal.SIGTERM"),
    script("s25", "the model does not look", 'tools = [{ name = "read_file", input = { path = "jars.txt" } }]', ""),
)


def of_workspace(chapter: Lesson) -> Iterator[Mutation]:
    """Each file of the workspace removed, and emptied."""
    folder = chapter.folder / "workspace"
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        name = file.relative_to(chapter.folder).as_posix()
        yield Mutation(chapter.id, f"{name} removed", edits={name: None})
        yield Mutation(chapter.id, f"{name} emptied", edits={name: REMOVED})


def of_script(chapter: Lesson) -> Iterator[Mutation]:
    """Each reply of the script that calls a tool or fails left out; no step is about the others but by their words."""
    head, *replies = (chapter.folder / "script.toml").read_text("utf-8").split(REPLY)
    for number, reply in enumerate(replies):
        if not any(key in reply for key in ("tools", "status", "fault", "stop_reason")):
            continue
        kept = REPLY.join((head, *replies[:number], *replies[number + 1 :]))
        yield Mutation(chapter.id, f"reply {number + 1} left out", edits={"script.toml": kept})


def applied(mutation: Mutation, chapter: Lesson, folder: Path) -> tuple[Lesson, Demo | None]:
    """The mutated chapter in a folder, and its demo if that changed. Raises HarnessError for an edit without effect."""
    copy = folder / chapter.name
    copytree(chapter.folder, copy)
    changed: Demo | None = None
    for name, edit in mutation.edits.items():
        file = copy / name
        match edit:
            case None:
                file.unlink()
            case str():
                file.write_text(edit, "utf-8")
            case (old, new):
                text = file.read_text("utf-8")
                if old not in text:
                    raise HarnessError(f"{mutation.chapter}, {mutation.name}: {name} does not contain {old!r}.")
                file.write_text(text.replace(old, new), "utf-8")
        if name == "demo.py":
            module = ModuleType(f"mutated_{mutation.chapter}")
            sys.modules[module.__name__] = module  # for dataclasses
            exec(compile(file.read_text("utf-8"), str(file), "exec"), module.__dict__)  # our own text, edited above
            changed = module.__dict__["demo"]
    return replace(chapter, folder=copy), changed


async def caught(mutation: Mutation, chapter: Lesson, limit_s: float) -> str:
    """How a mutation is noticed; empty: it is not."""
    with tempfile.TemporaryDirectory(prefix="harness-mutation-") as folder:
        mutated, changed = applied(mutation, chapter, Path(folder))
        try:
            async with asyncio.timeout(limit_s):
                async with Recording(mutated, scripted_only=True, overrides=mutation.settings, demo=changed) as run:
                    try:
                        await run.finished()
                    finally:  # also sentences about what did not happen can be shown
                        for found, language in product(run.steps, LANGUAGES):
                            found.step.said(found.moment.fact, language)
                    return "; ".join(f"step {number}: {found.failed[0]}" for number, found in run.failed)
        except LessonError as error:
            return str(error)
        except TimeoutError:
            return f"no end after {limit_s:.0f} s"


async def measure(wanted: frozenset[str]) -> int:
    """Run the mutations of these chapters, or of all, and print the tables; returns the exit code."""
    chapters = {chapter.id: chapter for chapter in lessons() if not wanted or chapter.id in wanted}
    mutations = [one for one in MUTATIONS if one.chapter in chapters]
    mutations += [one for chapter in chapters.values() for one in (*of_workspace(chapter), *of_script(chapter))]
    slots = asyncio.Semaphore(AT_ONCE)

    async def control(chapter: Lesson) -> float:
        """How long a chapter takes without a mutation, in seconds."""
        async with slots:
            began = time.monotonic()
            unchanged = Mutation(chapter.id, "control", edits={"demo.py": ("session", "session")})
            if how := await caught(unchanged, chapter, PATIENCE * LIMIT_S):
                raise HarnessError(f"{chapter.id} does not hold without a mutation: {how}")
            return time.monotonic() - began

    seconds = dict(zip(chapters, await asyncio.gather(*map(control, chapters.values())), strict=True))

    async def run(mutation: Mutation) -> str:
        async with slots:
            limit_s = max(LIMIT_S, PATIENCE * seconds[mutation.chapter])
            return await caught(mutation, chapters[mutation.chapter], limit_s)

    found = dict(zip(mutations, await asyncio.gather(*map(run, mutations)), strict=True))
    print(f"{'chapter':<9}{'mutations':>10}{'caught':>8}")
    for id in chapters:
        own = [how for mutation, how in found.items() if mutation.chapter == id]
        print(f"{id:<9}{len(own):>10}{sum(map(bool, own)):>8}")
    share = sum(map(bool, found.values())) / len(found)
    print(f"{'all':<9}{len(found):>10}{sum(map(bool, found.values())):>8}   {share:.1%}\n")
    missed = [mutation for mutation, how in found.items() if not how]
    print("Not caught:" if missed else "All are caught.")
    for mutation in missed:
        print(f"  {mutation.chapter}  {mutation.name}")
    return 0 if share >= LEAST else 1


if __name__ == "__main__":
    raise SystemExit(asyncio.run(measure(frozenset(sys.argv[1:]))))
