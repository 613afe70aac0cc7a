"""`harness run plan.py`: as a process with the practice model, killed, changed and resumed."""

import asyncio
import json
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.cli.parser import run_options
from harness.events import AgentCreated, Event, PhaseStarted, ScriptResult, TurnEnded, TurnStarted
from harness.journal import read
from harness.ui.signals import BLOCKED_S
from tests.pages.blocks import every_block
from tests.ui.program import ROOT, Finished, Place, run, start
from tests.ui.terminals import Terminal
from tests.ui.warm import Piped
from tests.worktrees.repositories import git

pytestmark = pytest.mark.anyio
PLANS = ROOT / "examples" / "plans"
SIX = """
CATS = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}

async def main(plan):
    plan.phase("look")
    first = await plan.agent("list the files")

    async def two(file):
        said = await plan.agent(f"count the lines of {file}")
        return said, await plan.agent(f"read {file}")

    read = await plan.parallel(two(file) for file in ("a.md", "b.md"))
    plan.phase("count")
    cats = await plan.agent("Ada has 7 cats", schema=CATS)
    return [first, read, cats, plan.random.random()]
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path / "project")
    place.folder.mkdir()
    (place.folder / "a.md").write_text("# A\none\n")
    (place.folder / "b.md").write_text("# B\n")
    return place


async def ran(place: Place, script: str, *more: str) -> Finished:
    (place.folder / "plan.py").write_text(script)
    return await run(place, "run", "plan.py", *more)


async def line_with(process: Piped, event: str) -> None:
    """Read what the process writes up to this event."""
    while f'"type": "{event}"'.encode() not in (line := await process.stdout.readline()):
        assert line, f"the process ended before {event}"


def journals(place: Place) -> list[Path]:
    return sorted(place.state.glob("sessions/*/*.jsonl"), key=lambda path: path.stat().st_mtime)


def events(path: Path, *kinds: type[Event]) -> list[Any]:
    return [one.event for one in read(path).records if isinstance(one.event, kinds)]


def finished(path: Path) -> Counter[str]:
    """How often an agent was begun for each call whose agent came to its end, in the files as they are."""
    ended = {one.stem for one in path.with_suffix(".agents").glob("*.jsonl") if events(one, TurnEnded)}
    created = events(path, AgentCreated)
    return Counter(one.call_id for one in created if one.agent in ended)


async def test_a_plan_runs_twice_with_the_same_bytes(place: Place) -> None:
    one, other = await ran(place, SIX), await run(place, "run", "plan.py", "--output-format", "json")
    assert (one.code, other.code) == (0, 0), one.err + other.err
    answer = json.loads(one.out)
    assert answer[1][0][0].endswith("a.md has 2 lines.")
    assert answer[2] == {"count": 7}
    result = json.loads(other.out)
    assert result["result"] == one.out.strip()
    assert "1 agent to begin with, and what the script begins with their answers" in one.err
    assert [line for line in one.err.splitlines() if line.startswith("▸")] == ["▸ look", "▸ count"]
    assert one.err.count("✓ a") == one.err.count("started") == 6
    (path,) = [path for path in journals(place) if path.stem == result["session_id"]]
    assert [one.name for one in events(path, PhaseStarted)] == ["look", "count"]
    assert [one.prompt for one in events(path, TurnStarted)] == ["plan.py"]
    again = await run(place, "run", "plan.py", "--resume", path.stem)
    assert (again.code, again.out, again.err.count("started")) == (0, one.out, 0)


async def cut_and_resumed(place: Place, whole: Path, seq: int, out: str) -> None:
    """kill -9 after record `seq`: what was written by then is there, in the journals of the agents too."""
    kept = list(read(whole).records)[: seq + 1]
    id = f"{whole.stem[:-6]}{seq:06d}"
    path = whole.with_name(f"{id}.jsonl")
    path.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[: seq + 1]))
    agents = path.with_suffix(".agents")
    agents.mkdir()
    for one in whole.with_suffix(".agents").glob("*.jsonl"):
        lines = one.read_bytes().splitlines(keepends=True)
        early = [line for line, record in zip(lines, read(one).records, strict=True) if record.at <= kept[-1].at]
        if early:
            (agents / one.name).write_bytes(b"".join(early))
    before = finished(path)
    again = await run(place, "run", "plan.py", "--resume", id)
    assert (again.code, again.out) == (0, out), again.err
    after = finished(path)
    assert {call: after[call] for call in before} == before
    assert (len(after), max(after.values())) == (6, 1)
    shutil.rmtree(agents)
    path.unlink()


async def test_a_killed_plan_goes_on_without_repeating_a_finished_agent(place: Place) -> None:
    out = (await ran(place, SIX)).out
    (whole,) = journals(place)
    seqs = [at for at, one in enumerate(read(whole).records) if isinstance(one.event, ScriptResult)]
    for seq in (seqs[1] - 1, seqs[3]):
        await cut_and_resumed(place, whole, seq, out)


@pytest.mark.stories
@pytest.mark.timeout(900)
async def test_a_plan_that_was_killed_at_any_event_goes_on(place: Place) -> None:
    out = (await ran(place, SIX)).out
    (whole,) = journals(place)
    begun = next(at for at, one in enumerate(read(whole).records) if type(one.event).__name__ == "ScriptStarted")
    for seq in range(begun, len(read(whole).records)):
        await cut_and_resumed(place, whole, seq, out)


@pytest.mark.stories
async def test_a_process_that_is_killed_at_any_result_goes_on(place: Place) -> None:
    out = (await ran(place, SIX)).out
    for number in range(1, 6):  # behind the sixth it may have ended
        process = await start(place, "run", "plan.py", "--output-format", "stream-json")
        for _ in range(number):
            await line_with(process, "script_result")
        process.send_signal(signal.SIGKILL)
        await process.wait()
        path = journals(place)[-1]
        before = finished(path)
        again = await run(place, "run", "plan.py", "--resume")
        assert (again.code, again.out) == (0, out), again.err
        assert {call: finished(path)[call] for call in before} == before


async def test_what_a_changed_script_asks_for_runs_again_and_only_that(place: Place) -> None:
    await ran(place, SIX)
    (path,) = journals(place)
    again = await ran(place, SIX.replace("read {file}", "summarise {file}"), "--resume", path.stem)
    assert again.code == 0
    assert '  runs again, because it asks for something else now: "summarise a.md"' in again.err
    assert again.err.count("started") == again.err.count("✓") == 2


OWN_TASKS = """
import asyncio, threading
async def two(plan):
    return [await plan.agent("list the files"), await plan.agent("list the files")]
async def main(plan):
    """


@pytest.mark.parametrize(
    "body",
    [
        "return await asyncio.gather(two(plan), two(plan))",
        "await asyncio.gather(two(plan), two(plan), return_exceptions=True)",
        "asyncio.create_task(two(plan))\n    await plan.agent('list the files')",
        "await plan.parallel(asyncio.wait([asyncio.create_task(two(plan))]))",
        "await asyncio.to_thread(lambda: plan.random.random())",
    ],
)
async def test_a_plan_that_is_used_in_tasks_of_the_script_says_what_to_do(place: Place, body: str) -> None:
    ended = await ran(place, f"{OWN_TASKS}{body}")
    assert (ended.code, ended.out) == (1, "")
    assert "The script used its plan in a task of its own" in ended.err
    assert "run branches by `await plan.parallel(" in ended.err


async def test_calls_that_the_script_makes_in_its_order_may_be_gathered(place: Place) -> None:
    gathered = (
        f"{OWN_TASKS}return await asyncio.gather(plan.agent('list the files'), plan.agent('count the lines of b.md'))"
    )
    one, two = await ran(place, gathered), await run(place, "run", "plan.py")
    assert (one.code, one.out) == (0, two.out), one.err
    assert "b.md" in json.loads(one.out)[1]


FAILS = """
from harness.plan_script import AgentFailed

async def main(plan):
    kept = await plan.agent("list the files")
    try:
        return await plan.agent("list all the files", schema={"type": "array", "minItems": 3, "maxItems": 2})
    except AgentFailed as failed:
        return f"{kept[:1]}: {failed.reason}"
"""


async def test_the_script_decides_what_a_failure_is(place: Place) -> None:
    caught = await ran(place, FAILS)
    assert caught.code == 0
    assert caught.out.startswith("(: its answer does not fit the schema: ")
    failed = await ran(place, FAILS.replace("except AgentFailed", "except ZeroDivisionError"))
    assert (failed.code, failed.out) == (1, "")
    id = journals(place)[-1].stem
    assert f"to continue: harness run plan.py --resume {id}" in failed.err
    assert "An unfinished run of plan.py is there" in (await run(place, "run", "plan.py", "--yes")).err
    again = await run(place, "run", "plan.py", "--resume", id)  # whoever resumes a failed plan wants to try again
    assert {one for one in again.err.splitlines() if "started" in one} == {'→ a3 "list all the files" started'}


@pytest.mark.parametrize(
    ("script", "arguments", "code", "said"),
    [
        ("x = 1", (), 2, "plan.py has no `async def main(plan)`"),
        ("def", (), 2, "plan.py, line 1: SyntaxError"),
        ("1 / 0", (), 2, "plan.py, line 1: ZeroDivisionError"),
        ("async def main(plan):\n    1 / 0", (), 1, "plan.py, line 2: ZeroDivisionError"),
        ("async def main(plan):\n    return plan", (), 1, "main returned neither a text nor JSON"),
        ("async def main(plan):\n    return float('nan')", (), 1, "main returned neither a text nor JSON"),
        ("async def main(plan):\n    await plan.agent(5)", (), 1, "is a text with words in it, not 5."),
        ("async def main(plan):\n    await plan.agent(' ')", (), 1, "is a text with words in it, not ' '."),
        ("async def main(plan):\n    plan.budget(-1)", (), 1, "A budget is a number of US dollars, 0 or more, not -1."),
        ("async def main(plan):\n    await plan.agent('x', tools=['no'])", (), 1, "No agent can be given no"),
        ("async def main(plan):\n    await plan.agent('x', schema={'type': 1})", (), 1, "not a valid JSON schema"),
        ("async def main(plan):\n    plan.budget(0)\n    await plan.agent('list the files')", (), 3, "$0.00, is spent"),
        ("async def main(plan): ...", ("-p", "x"), 2, "takes no prompt"),
        ("async def main(plan): ...", ("--permission-mode", "plan"), 2, "use another mode"),
        ("async def main(plan): ...", ("--resume", "x"), 2, "No session"),
        ("async def main(plan): ...", ("--resume",), 2, "No run of plan.py is unfinished"),
        (
            "async def main(plan):\n    await plan.parallel(plan.agent('x') for _ in range(11))",
            (),
            2,
            "--yes starts so many",
        ),
    ],
)
async def test_what_cannot_run_says_why(
    place: Place, script: str, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ended = await ran(place, script, *arguments)
    assert (ended.code, ended.out) == (code, ""), ended.err
    assert said in ended.err


async def test_a_call_that_is_not_awaited_is_named(place: Place) -> None:
    ended = await ran(place, "async def main(plan):\n    plan.agent('x', name='look')\n    return 'done'")
    assert (ended.code, ended.out) == (0, "done\n")
    assert 'agent 1 "look" did not begin: the script does not await it' in ended.err


async def test_ctrl_c_ends_a_plan_which_goes_on_where_it_was(place: Place) -> None:
    (place.folder / "slow.toml").write_text(
        '[[reply]]\ntext = "First."\n[[reply]]\ntext = "and then nothing"\nfault = { kind = "stall", at = 3 }\n'
    )
    script = "async def main(plan):\n    print('shown')\n    return [await plan.agent('x'), await plan.agent('y')]"
    (place.folder / "plan.py").write_text(script)
    process = await start(place, "run", "plan.py", "--practice", "slow.toml", "--output-format", "stream-json")
    await line_with(process, "script_result")
    await line_with(process, "agent_moved")
    process.send_signal(signal.SIGINT)
    out, err = await process.communicate()
    assert (process.returncode, json.loads(out.splitlines()[-1])["subtype"]) == (130, "interrupted")
    assert b"shown" in err
    again = await run(place, "run", "plan.py", "--practice", "--resume")
    assert (again.code, json.loads(again.out)[0]) == (0, "First.")
    assert [one for one in again.err.splitlines() if "started" in one] == ['→ a3 "y" started']


@pytest.mark.stories
async def test_a_second_ctrl_c_ends_a_script_that_blocks(place: Place) -> None:
    script = "async def main(plan):\n    await plan.agent('list the files')\n    while True:\n        pass"
    (place.folder / "plan.py").write_text(script)
    process = await start(place, "run", "plan.py", "--output-format", "stream-json")
    await line_with(process, "script_result")
    process.send_signal(signal.SIGINT)
    await asyncio.sleep(BLOCKED_S + 0.5)  # the time itself is the subject
    process.send_signal(signal.SIGINT)
    await process.communicate()
    assert process.returncode == 130
    again = await ran(place, script.partition("\n    while")[0], "--resume")
    assert again.code == 0, again.err
    assert "started" not in again.err


async def test_agents_in_worktrees_leave_the_folder_as_it_is(place: Place) -> None:
    for words in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm one"):
        git(place.folder, *words.split())
    script = """async def main(plan):
    names = ("one", "two")
    await plan.parallel(plan.agent(f"create {name}.txt with hello", worktree=name) for name in names)"""
    ended = await ran(place, script, "--yolo")
    assert ended.code == 0, ended.err
    assert not [*place.folder.glob("*.txt")]
    assert sorted(one.name for one in place.state.glob("worktrees/*/*/*.txt")) == ["one.txt", "two.txt"]


async def test_in_a_terminal_the_questions_of_agents_are_answered_there(place: Place) -> None:
    (place.folder / "plan.py").write_text("""async def main(plan):
    return await plan.parallel(plan.agent(f"create {name}.txt with hello") for name in ("one", "two"))""")
    async with Terminal(place, "run", "plan.py", "--practice") as terminal:
        for _ in range(2):
            await terminal.sees("allow it? y once")
            await terminal.waits()  # what is typed before is no answer
            terminal.type("y\n")
        assert await terminal.ends() == 0
        assert {f"? agent a{number}: write_file" in terminal.screen for number in (1, 2)} == {True}
    assert sorted(one.name for one in place.folder.glob("*.txt")) == ["one.txt", "two.txt"]


def test_arguments_and_flags_come_in_any_order() -> None:
    given = run_options(["--model", "m", "plan.py", "a", "--seed", "7", "b", "--yes", "-r", "--", "-x", "--"])
    assert (given.script, given.arguments, given.seed, given.yes) == ("plan.py", ["a", "b", "-x", "--"], 7, True)
    assert (given.model, given.resume) == ("m", "")


async def test_the_plan_of_the_page_runs(place: Place) -> None:
    (block,) = [one for one in every_block("python") if one.page == "docs/plans.md"]
    ended = await ran(place, block.code, "a.md", "b.md")
    assert (ended.code, ended.out[1:]) == (0, " of 2 name a date.\n"), ended.err


async def test_the_examples_run(place: Place) -> None:
    one = await run(place, "run", str(PLANS / "summaries.py"), "a.md", "nope.md")
    assert one.code == 0
    assert "## a.md" in one.out
    assert "nope.md does not exist." in one.out
    (place.folder / "c.ja.md").write_text("C\n")
    two = [await run(place, "run", str(PLANS / "sampled_lines.py"), "2", "--seed", "4") for _ in range(2)]
    assert [one.code for one in two] == [0, 0], two[0].err
    assert two[0].out == two[1].out
    assert json.loads(two[0].out) == {"a.md": 2, "c.ja.md": 1}
    assert {path.stem for path in PLANS.glob("*.py")} == {"summaries", "sampled_lines"}
