"""The program that grows from chapter to chapter: each one runs alone, and adds little to the one before."""

import ast
import asyncio
import difflib
import json
import os
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from harness.events import Message, MessageAdded, Origin, TaskState
from harness.journal import Journal
from harness.policies.tasks.decisions import Changes, TaskDraft
from harness.policies.tasks.task import Actor, Task
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.tasks import TaskBoard, this_process
from tests.whole import WHOLE

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(ROOT.glob("chapters/s*/my_agent.py"))
IN_PAIRS = [pytest.param(before, after, id=after.parent.name) for before, after in pairwise(PROGRAMS)]
MOST_LINES = 60
SCRIPT = """
after = "error"
[[reply]]
text = "I look."
tools = [{ name = "bash", input = { command = "cat notes.txt" } }]
[[reply]]
text = "It says {what}."
fills = { what = '(forty-two)' }
"""


def packages(program: Path) -> set[str]:
    """The packages of harness that a program imports."""
    nodes = ast.walk(ast.parse(program.read_text("utf-8")))
    modules = (node.module or "" for node in nodes if isinstance(node, ast.ImportFrom))
    return {module.split(".")[1] for module in modules if module.startswith("harness.")}


@pytest.mark.parametrize(("before", "after"), IN_PAIRS)
def test_a_chapter_adds_at_most_sixty_lines_and_one_package(before: Path, after: Path) -> None:
    old, new = before.read_text("utf-8").splitlines(), after.read_text("utf-8").splitlines()
    difference = difflib.unified_diff(old, new, lineterm="")
    added = [line for line in difference if line.startswith("+") and not line.startswith("+++")]
    assert 0 < len(added) <= MOST_LINES
    assert len(packages(after) - packages(before)) <= 1


def test_the_first_one_imports_nothing_of_harness() -> None:
    assert packages(PROGRAMS[0]) == set()


async def run(program: Path, folder: Path, address: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    environment = {**os.environ, "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "practice"}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(program),
        *arguments,
        cwd=folder,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


# The one with recovery says enough on every day; each is also compared with the one before.
SOME = {"s11_error_recovery"}


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    "program", [one for one in PROGRAMS if WHOLE or one.parent.name in SOME], ids=lambda p: p.parent.name
)
async def test_each_runs_alone(program: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("forty-two\n")
    async with PracticeServer(script=Script.parse(SCRIPT)) as server:
        code, out, err = await run(program, tmp_path, server.base_url, "--yolo", "What does it say?")
        assert (code, out) == (0, "It says forty-two.\n"), err
        assert [post.path for post in server.requests] == ["/v1/messages"] * 2
        refused, out, err = await run(program, tmp_path, server.base_url, "And now?")
        assert (refused, out) == (1, "")
        assert "all 2 entries are played" in err


CALL = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "cat notes.txt"}}
TORN: tuple[Message, ...] = (Message("user", ({"type": "text", "text": "Read it."},)), Message("assistant", (CALL,)))


def plain_lines(folder: Path) -> None:
    """The journal left by a killed program of the chapters up to s24."""
    lines = [json.dumps({"role": one.role, "content": one.content}) + "\n" for one in TORN]
    folder.mkdir()
    (folder / "messages.jsonl").write_text("".join(lines) + '{"role": "us')


def session(folder: Path) -> None:
    """The journal that a killed program of chapter s25 leaves."""
    with Journal.create(folder / "sessions", "20261101-1200-aaaaaa") as journal:
        for message in TORN:
            journal.append(MessageAdded(message, Origin.PROMPT))
    with journal.path.open("ab") as file:
        file.write(b'{"seq": 3, "at"')


@pytest.mark.stories
@pytest.mark.parametrize(
    ("name", "leave", "told"),
    [("s24_streams", plain_lines, "check before you repeat it"), ("s25_journal", session, "may or may not have run")],
)
async def test_a_conversation_continues_after_a_kill_between_a_call_and_its_result(
    tmp_path: Path, name: str, leave: Callable[[Path], None], told: str
) -> None:
    leave(tmp_path / ".my_agent")
    async with PracticeServer(script=Script.parse('[[reply]]\ntext = "Going on."\n')) as server:
        program = next(one for one in PROGRAMS if one.parent.name == name)
        code, out, err = await run(program, tmp_path, server.base_url, "--continue", "Go on.")
        assert (code, out) == (0, "Going on.\n"), err
        (post,) = server.requests
        asked, answer, result = post.body["messages"]
        assert [asked["role"], answer["role"], result["role"]] == ["user", "assistant", "user"]
        assert [block["type"] for block in result["content"]] == ["tool_result", "text"]
        assert told in str(result["content"][0]["content"])


def board(folder: Path, *drafts: TaskDraft) -> dict[int, Task]:
    """The tasks of the programs of a folder, after these were added."""
    tasks = TaskBoard(folder / ".my_agent" / "board.sqlite", this_process("test"))
    try:
        if drafts:
            assert isinstance(tasks.create(drafts, Actor("test")), Changes)
        return tasks.tasks()
    finally:
        tasks.close()


def done(task: int) -> str:
    """A script: who has this task writes it down and completes it."""
    end = f'name = "task_update", input = {{ id = "t{task}", status = "completed", note = "written" }}'
    return f"""
[[reply]]
when = {{ text = "t{task}  Lamp" }}
tools = [{{ name = "bash", input = {{ command = "echo t{task} >> done.txt" }} }}, {{ {end} }}]
[[reply]]
when = {{ text = "t{task}  Lamp" }}
text = "t{task} is done."
"""


@pytest.mark.stories
async def test_programs_that_claim_from_one_board_do_each_task_once_and_end(tmp_path: Path) -> None:
    """The third task is ready when the first one is done; the fourth is given back by each, until it is set aside."""
    drafts = [TaskDraft("Lamp"), TaskDraft("Lamp"), TaskDraft("Lamp", needs=("t1",)), TaskDraft("Riddle")]
    board(tmp_path, *drafts)
    program = next(one for one in PROGRAMS if one.parent.name == "s17_autonomy")
    riddle = '[[reply]]\nwhen = { text = "Riddle" }\ntext = "I do not know."\ntimes = 3\n'
    async with PracticeServer(script=Script.parse("".join(map(done, (1, 2, 3))) + riddle)) as server:
        ends = await asyncio.gather(*(run(program, tmp_path, server.base_url, "--yolo", "--work") for _ in range(2)))
    assert [code for code, _, _ in ends] == [0, 0], ends
    assert sorted("".join(out for _, out, _ in ends).splitlines()) == [
        *["I do not know."] * 3,
        *(f"t{task} is done." for task in (1, 2, 3)),
    ]
    assert sorted((tmp_path / "done.txt").read_text().split()) == ["t1", "t2", "t3"]
    tasks = board(tmp_path)
    assert [tasks[number].state for number in (1, 2, 3, 4)] == [TaskState.COMPLETED] * 3 + [TaskState.DEFERRED]


@pytest.mark.stories
async def test_a_program_that_cannot_reach_its_model_gives_its_task_back_and_claims_no_other(tmp_path: Path) -> None:
    board(tmp_path, TaskDraft("Lamp"), TaskDraft("Lamp"))
    program = next(one for one in PROGRAMS if one.parent.name == "s17_autonomy")
    async with PracticeServer(script=Script.parse('[[reply]]\nstatus = 401\ntimes = "forever"\n')) as server:
        code, _, err = await run(program, tmp_path, server.base_url, "--yolo", "--work")
    assert code == 1, err
    tasks = board(tmp_path)
    assert [(tasks[number].state, tasks[number].attempts) for number in (1, 2)] == [
        (TaskState.PENDING, 1),
        (TaskState.PENDING, 0),
    ]


PLANNED = """
[[reply]]
tools = [{ name = "member", input = { name = "ann", task = "Raise the price.", plans_first = true } }]
[[reply]]
text = "Ann has it."
[[reply]]
when = { text = "Raise the price", lacks = "member" }
tools = [{ name = "bash", input = { command = "echo early >> done.txt" } }]
[[reply]]
when = { text = "you propose a plan first", lacks = "member" }
tools = [{ name = "plan", input = { text = "Bread costs 4." } }]
[[reply]]
when = { text = "is in the mailbox of lead", lacks = "member" }
text = "I wait."
[[reply]]
text = "Ann waits."
[[reply]]
when = { text = "is agreed by lead", lacks = "member" }
tools = [{ name = "bash", input = { command = "echo planned >> done.txt" } }]
[[reply]]
when = { text = "is declined by user", lacks = "member" }
tools = [{ name = "bash", input = { command = "echo late >> done.txt" } }]
[[reply]]
when = { lacks = "member" }
text = "Ended."
"""
AGREES = """
[[reply]]
when = { text = "still without an answer: reminded" }
tools = [
    { name = "answer", input = { id = "r1", say = "agree", digest = "0123456789ab" } },
    { name = "answer", input = { id = "r1", say = "agree", digest = "{digest}" } },
]
fills = { digest = 'digest ([0-9a-f]{12})' }
"""


@pytest.mark.stories
@pytest.mark.parametrize(("answer", "written"), [(AGREES, "planned"), ("", "")], ids=["approved", "without an answer"])
async def test_a_member_that_plans_first_runs_nothing_before_its_plan_is_approved(
    tmp_path: Path, answer: str, written: str
) -> None:
    """The lead answers when it is reminded; or never, and no user is there."""
    program = next(one for one in PROGRAMS if one.parent.name == "s16_protocols")
    last = '[[reply]]\ntext = "All is done."\ntimes = "forever"\n'
    async with PracticeServer(script=Script.parse(PLANNED + answer + last)) as server:
        code, _, err = await run(program, tmp_path, server.base_url, "--yolo", "Raise it.")
        told = " ".join(str(post.body["messages"]) for post in server.requests)
    assert code == 0, err
    done = tmp_path / "done.txt"
    assert (done.read_text().split() if done.exists() else []) == ([written] if written else [])
    assert ("r1 is unchanged: its plan has the digest" in told) is bool(written)
    assert ("Request r1 (plan) is declined by user" in told) is not bool(written)
