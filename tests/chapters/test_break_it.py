"""What the tables "Break it" promise happens: what is typed there, and what is changed there."""

import io
import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from chapters.course import LANGUAGES, lesson
from chapters.course.catalogue import FILES, chapters_folder
from chapters.course.plain.narration import write_moment
from chapters.course.recording import Moment
from harness.ui.plain.printer import RecordedPrinter
from tests.chapters.live import live, typed

pytestmark = [pytest.mark.anyio, pytest.mark.stories]

TYPED = [
    (
        "s01",
        ["/fault 529 3", "hello", "hello", "hello", "list the files"],
        ["529 overloaded_error", "There are 3 files"],
    ),
    ("s01", ["/fault empty", "hello", "hello"], ["400 invalid_request_error"]),
    ("s03", ["/fault 529 2", "read notes.md"], ["retry 2 of 10", "notes.md has 3 lines"]),
    (
        "s04",
        ["/toolfault bash timeout", "write hello.py that prints Hello", "list the files"],
        ["written and never run"],
    ),
    ("s06", ["/toolfault agent crash 1", "use an agent to list the files"], ["That failed: agent failed inside"]),
    ("s07", ["/toolfault skill crash 1", "use the skill review"], ["That failed: skill failed inside"]),
    ("s10", ["/fault 529 2", "list the files"], ["retry 2 of 10", "There are 2 files"]),
    ("s11", ["hello", "/fault 529 3", "hello"], ["retry 2 of 10", "claude-haiku-4-5 answers instead"]),
    ("s11", ["/fault 529 3", "hello"], ["practice-1 failed once", "claude-haiku-4-5 answers instead"]),
    ("s11", ["/fault 429 2 after 3", "hello"], ["retry 1 of 10 in 3.0 s", "retry 2 of 10 in 3.0 s"]),
    ("s11", ["/fault cut 2", "hello"], ["continuation 1 of 3", "continuation 2 of 3"]),
    ("s11", ["/fault cut tool", "read report.txt"], ["read_file: not run", "report.txt has 1 line"]),
    ("s11", ["/fault stall", "hello"], ["timeout, nothing arrived for"]),
    ("s11", ["/fault too long 2", "hello"], ["compacted by summary", "cut without a summary", "Hello!"]),
    ("s11", ["/fault 500 3", "hello"], ["retry 3 of 10"]),
    ("s11", ["/fault refusal", "read report.txt"], ["claude-haiku-4-5 answers instead", "report.txt has 1 line"]),
    ("s21", ["/toolfault grep timeout 3", *["find TODO"] * 4], ["grep is paused", "bash in place of grep"]),
    ("s21", ["/fault 529 3", "hello"], ["practice-1 failed 3 times in a row", "retry 3 of 10"]),
    ("s24", ["/fault stall", "hello"], ["nothing arrived for 1 s", "characters taken back 40"]),
    ("s24", ["/fault pings", "hello"], ["only keep-alives arrived for 4 s", "characters taken back 0"]),
    ("s24", ["/fault pause", "hello"], ["nothing arrived for 1 s", "requests 2, broken 1"]),
    ("s24", ["/fault end", "hello"], ["the stream ended before the reply was complete"]),
    ("s24", ["/fault html", "hello"], ["retry 1 of 2", "text/html"]),
    ("s24", ["/fault error 3", "hello"], ["retry 3 of 10"]),
]
"""Chapter, lines typed after its prompts, and words of what follows."""


SKILLS = "workspace/.harness/skills"
BUSY = '[[reply]]\nwhen = { purpose = "summary" }\nstatus = 529\ntimes = 2\n'
CHANGED = [
    ("s01", "demo.py", 'messages.append({"role": "assistant", "content": reply.content})', "pass", "step 5 did not"),
    (
        "s02",
        "demo.py",
        '{"role": "user", "content": results}',
        '{"role": "user", "content": results[:1]}',
        "step 6 did",
    ),
    ("s03", "demo.py", '"permissions_allow": [', '"permissions_allow": ["bash(rm *)", ', ""),
    (
        "s03",
        "demo.py",
        '"permissions_allow": [',
        '"permissions_allow": ["bash(rm -rf drafts)", ',
        "step 9 did not happen",
    ),
    ("s05", "demo.py", "plan_reminder=2", "plan_reminder=0", "step 4 did not happen"),
    ("s05", "demo.py", " and call.objections == 0", "", "did not happen"),
    (
        "s05",
        "script.toml",
        'correct the perimeter", status = "pending"',
        '", status = "pending"',
        "step 6 did not happen",
    ),
    ("s05", "demo.py", "if left and call.objections == 0", "if not left", "step 6 did not happen"),
    (
        "s05",
        "demo.py",
        "Conversation(Recorder(journal), state)",
        "Conversation(Recorder(journal), type(state)(messages=state.messages))",
        "step 11 did not happen",
    ),
    (
        "s05",
        "demo.py",
        "Journal.open(journal.path)",
        'Journal.create(session_folder(session.workspace, settings.state_dir), "new")',
        "step 11 did not happen",
    ),
    ("s06", "demo.py", "subagent_steps=4", "subagent_steps=1", "did not happen"),
    ("s06", "lesson.toml", 'answers = ["once"]', 'answers = ["no"]', "step 9 did not happen"),
    (
        "s07",
        f"{SKILLS}/tidy/SKILL.md",
        "description: Tidy up: remove what nobody uses.",
        'description: "Tidy up: remove what nobody uses."',
        "step 3 did not happen",
    ),
    (
        "s07",
        f"{SKILLS}/release/SKILL.md",
        'description: "How this project is releas',
        'note: "How this project is releas',
        "do not hold in this run: 3, 5.",
    ),
    ("s08", "demo.py", "agent()", "agent(session.settings(auto_compact=False))", "step 4 did not happen"),
    ("s08", "script.toml", "window = 24550", "window = 9000", "step 5 did not happen"),
    ("s08", "script.toml", "[[reply]]\nwhen", f"{BUSY}\n[[reply]]\nwhen", "s08_context_compact: "),
    ("s09", "demo.py", "await session.watch(second.parts.user_commands.compact())", "pass", "step 10 did not happen"),
    ("s12", "demo.py", "program.kill()", "program.stdin.close()", "do not hold in this run: 8."),
    ("s12", "demo.py", "board=BOARD", 'board="off"', "step 3 did not happen"),
    ("s13", "demo.py", "background_at_limit=True", "background_at_limit=False", "step 8 did not happen"),
    ("s13", "script.toml", "sleep 1; ls", "sleep 1; touch now.txt", "step 10 did not happen"),
    ("s13", "workspace/oven.sh", "exit 1", "", "do not hold in this run: 4"),
    ("s14", "demo.py", "2027-03-31 10:00", "2027-03-29 10:00", "do not hold in this run: 10, 11."),
    ("s14", "demo.py", "Europe/Berlin", "Asia/Tokyo", "do not hold in this run: 1,"),
    ("s14", "script.toml", "lasting = true", "lasting = false", "step 8 did not happen"),
    ("s23", "demo.py", "max_concurrent=2", "max_concurrent=0", "step 2 did not happen"),
    ("s24", "demo.py", "1.5", "10.0", "do not hold in this run: 15."),
    ("s25", "demo.py", "Conversation(Recorder(journal), state)", "Conversation(Recorder(journal))", "did not happen"),
    ("s25", "demo.py", "signal.SIGKILL", "signal.SIGTERM", "do not hold in this run: 5."),
]
"""Chapter, file, what is changed in it, and what the course says; empty: nothing."""


@pytest.mark.parametrize(("chapter", "lines", "words"), TYPED)
async def test_what_is_typed_has_the_effect_that_the_table_names(
    chapter: str, lines: list[str], words: list[str]
) -> None:
    for language in LANGUAGES:
        text = (lesson(chapter).folder / FILES[language]).read_text("utf-8")
        assert [line for line in lines if line.startswith("/") and f"`{line}`" not in text] == []
    written = io.StringIO()
    printer = RecordedPrinter(written)
    async with live(chapter) as recording:
        for line in lines:
            if line.startswith("/fault "):
                recording.break_model(line.removeprefix("/fault "))
            elif line.startswith("/toolfault "):
                recording.break_tool(line.removeprefix("/toolfault "))
            else:
                for number, fact in enumerate(await typed(recording, line)):
                    write_moment(printer, Moment(number, 0.0, fact))
    printer.end_line()
    assert [one for one in words if one not in written.getvalue()] == []


@pytest.mark.parametrize(("chapter", "file", "old", "new", "said"), CHANGED)
def test_a_change_is_noticed_where_the_table_says(
    tmp_path: Path, chapter: str, file: str, old: str, new: str, said: str
) -> None:
    copytree(chapters_folder(), tmp_path / "chapters", ignore=ignore_patterns("*.svg", "__pycache__"))
    changed = tmp_path / "chapters" / lesson(chapter).name / file
    text = changed.read_text("utf-8")
    assert old in text
    changed.write_text(text.replace(old, new), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "harness", "learn", chapter, "--auto", "--language", "en"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "HOME": str(tmp_path), "HARNESS_STATE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode == 1) is bool(said)
    assert said in done.stderr
