"""`harness run --goal`: a process with the practice model, in a storm, killed, resumed, twice with the same bytes."""

import json
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.cli.parser import run_options
from harness.events import ClaimEnd, ClaimEnded, Event, GoalStarted, MemberClaimed, RespawnDecided
from harness.journal import read
from harness.practice.script.script import Script
from harness.practice.server import PracticeServer
from harness.practice.wire.recorded import RecordedExchange
from tests.agent.stage import calls, says
from tests.agent.test_claims import done, when
from tests.agent.test_permission_rules import bash
from tests.ui.program import Finished, Place, run, start
from tests.worktrees.repositories import committed, git

pytestmark = pytest.mark.anyio
CLAIMED = "You have claimed this task of the board:\\n\\nt"
TASKS = 12
STORM = '[chance]\nprobability = 0.2\nseed = {seed}\nwhen = {{ lacks = "agent" }}\n'
COUNTED = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
MENDED = "git merge -q main >/dev/null; (echo t1; echo t2) > shared; git add -A; git commit -qm both; echo did-{n}"


def entry(call: str, text: str) -> str:
    """An entry for a member, for as many attempts as it takes."""
    return when(call, text) + 'times = "forever"\n'


def plans(*subjects: str) -> str:
    """Entries for the lead: it creates these tasks, ends its turn, and reads the report."""
    new = ", ".join(f'{{ subject = "{one}" }}' for one in subjects)
    create = calls(f'{{ name = "task_create", input = {{ tasks = [{new}] }} }}', when='{ text = "Goal: " }')
    return create + says("Planned.", when='{ text = "Created", offers = "agent" }')


def does(number: int, subject: str, file: str) -> str:
    """Entries for whoever claims task `number`: one line and one commit. A member that goes on looks first."""
    line = f"echo t{number} >> {file}; git add -A; git commit -qm t{number}"
    one = entry(calls(bash(f"{line}; echo did-{number}")), f"{CLAIMED}{number}  ")
    look = f"grep -qsx t{number} {file} || {{ {line}; }}; echo did-{number}"
    one += entry(calls(bash(look)), f"Go on with your task of the board:\\n\\nt{number}  ")
    one += entry(calls(done(number)), f"did-{number}\\n") + entry(says("Ready."), f"t{number} is finished")
    return one + entry(says("Done."), f"t{number}  {subject}  [completed")


def twelve(seed: int, before: str = "") -> str:
    """Twelve tasks with a commit each, the first two on the same file; one request in five of the members fails."""
    subjects = [f"write {number}" for number in range(1, TASKS + 1)]
    script = STORM.format(seed=seed) + plans(*subjects) + before
    script += entry(calls(bash(MENDED), fills="{ n = 'of the board:\\s+t(\\d+)' }"), "Your branch was not merged")
    for number, subject in enumerate(subjects, 1):
        file = "shared" if number <= 2 else f"f{number}"
        script += does(number, subject, file)
    return script + says("This is what was reached.", when='{ text = "nothing left to claim" }', times='"forever"')


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path / "project")
    place.folder.mkdir()
    return place


def repository(folder: Path) -> None:
    git(folder, "init", "-qb", "main")
    for setting in ("name", "email"):
        git(folder, "config", f"user.{setting}", "a@b")
    committed(folder, "README.md", "# Demo\n")


@asynccontextmanager
async def serving(place: Place, script: str) -> AsyncIterator[tuple[Place, list[RecordedExchange]]]:
    seen: list[RecordedExchange] = []
    async with PracticeServer(script=Script.parse(script), on_exchange=seen.append) as server:
        yield Place(place.folder, server.base_url), seen


async def goal(place: Place, *more: str) -> Finished:
    return await run(place, "run", "--goal", "write it", *more)


def journal(place: Place) -> Path:
    return max(place.state.glob("sessions/*/*.jsonl"), key=lambda path: path.stat().st_mtime)


def events(path: Path, *kinds: type[Event]) -> list[Any]:
    return [one.event for one in read(path).records if isinstance(one.event, kinds)]


def tokens_of(exchanges: Iterable[RecordedExchange]) -> Counter[str]:
    """What the server has counted for every request, read from the bytes that it sent: of each reply the last counts
    before an event that nobody can read, where the client hangs up."""
    total: Counter[str] = Counter()
    for exchange in exchanges:
        counts: dict[str, int] = {}
        sent = b"".join(data for _, data in exchange.response.pieces) if exchange.response else b""
        for line in re.findall(rb"^data: (.*)$", sent, re.MULTILINE):
            try:
                event = json.loads(line)
            except ValueError:
                break
            found = event.get("usage") or event.get("message", {}).get("usage") or {}
            counts |= {name: found[name] for name in COUNTED if name in found}
        total.update(counts)
    return total


def below(place: Place) -> list[int]:
    """Processes whose working folder is in the place or in a worktree."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(place.folder.parent):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def check_all_done(place: Place, result: dict[str, Any]) -> None:
    """Read what is on disk: every task is done once, and nothing is left running."""
    ids = [f"t{number}" for number in range(1, TASKS + 1)]
    path = journal(place)
    assert [line.split()[0] for line in result["goal"]["done"]] == ids, result
    assert sorted(one.task for one in events(path, ClaimEnded) if one.end is ClaimEnd.COMPLETED) == sorted(ids)
    subjects = Counter(git(place.folder, "log", "--format=%s", "main").split("\n"))
    assert {id: subjects[id] for id in ids} == dict.fromkeys(ids, 1)
    assert sorted((place.folder / "shared").read_text().split()) == ["t1", "t2"]
    for number in range(3, TASKS + 1):
        assert (place.folder / f"f{number}").read_text() == f"t{number}\n"
    assert git(place.folder, "status", "--porcelain") == ""
    assert below(place) == []


def check_one_at_a_time(claims: Iterable[Event]) -> None:
    """No task is held by two members."""
    held: dict[str, str] = {}
    for one in claims:
        if isinstance(one, MemberClaimed):
            assert one.task not in held
            held[one.task] = str(one.member)
        elif isinstance(one, ClaimEnded):
            assert held.pop(one.task) == str(one.member)
    assert not held


@pytest.mark.stories
@pytest.mark.timeout(300)
async def test_three_members_do_twelve_tasks_through_faults_and_the_end_of_one(place: Place) -> None:
    repository(place.folder)
    fails = when('[[reply]]\nstatus = 400\nmessage = "no"\n', f"{CLAIMED}5  ")
    async with serving(place, twelve(7, fails)) as (place, exchanges):
        ended = await goal(place, "--members", "3", "--yolo", "--output-format", "json")
        assert ended.code == 0, ended.err
        result, path = json.loads(ended.out), journal(place)
        check_all_done(place, result)
        assert "their finished branches are merged into main, untested" in ended.err
        claims = events(path, MemberClaimed, ClaimEnded)
        check_one_at_a_time(claims)
        assert {one.member.name for one in claims} == {"member-1", "member-2", "member-3"}
        assert [one.what for one in events(path, RespawnDecided)].count("respawn") >= 1
        attempts = [one.attempt for one in claims if isinstance(one, MemberClaimed) and one.task == "t5"]
        assert attempts[:2] == [1, 2]
        counted = tokens_of(exchanges)
        assert {name: result["usage"][name] for name in COUNTED} == {name: counted[name] for name in COUNTED}
        assert sum(one.answer != "200" for one in exchanges) > TASKS / 3


@pytest.mark.stories
async def test_a_seed_prints_the_same_bytes_twice(tmp_path: Path) -> None:
    printed = []
    for number in range(2):
        place = Place(tmp_path / str(number) / "project")
        place.folder.mkdir(parents=True)
        repository(place.folder)
        async with serving(place, twelve(11)) as (place, _):
            ended = await goal(place, "--members", "3", "--yolo", "--seed", "11")
        assert ended.code == 0, ended.err
        (tmp_path / f"{number}.err").write_text(ended.err)
        printed.append(ended.out)
    assert printed[0] == printed[1]
    assert printed[0].count("\n- t") == TASKS


@pytest.mark.stories
async def test_a_goal_that_was_killed_goes_on_and_does_nothing_twice(place: Place) -> None:
    repository(place.folder)
    async with serving(place, twelve(3) + says("Seen.", when='{ text = "goes on now" }')) as (place, _):
        process = await start(place, "run", "--goal", "write it", "--yolo", "--output-format", "stream-json")
        completed = 0
        while completed < 3:
            line = await process.stdout.readline()
            assert line
            completed += b'"type": "claim_ended"' in line
        process.send_signal(signal.SIGKILL)
        await process.wait()
        again = await run(place, "run", "--goal", "--resume", "--yolo", "--output-format", "json")
        assert again.code == 0, again.err
        check_all_done(place, json.loads(again.out))
        assert [one.goal for one in events(journal(place), GoalStarted)] == ["write it"] * 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "takes a plan script or --goal TEXT"),
        (["run", "plan.py", "--goal", "x"], "takes a plan script or --goal TEXT"),
        (["run", "plan.py", "--members", "2"], "--members is for harness run --goal"),
        (["run", "--goal", "x", "--members", "0"], "0 is not a number of members"),
        (["run", "--goal", "x", "--members", "21"], "--members 21 is more than team_members allows (20)"),
        (["run", "--goal", "x", "--members", "11"], "The goal was not started; --yes starts"),
        (["run", "--goal", "x", "--board", "b"], "leave out --board and -w"),
        (["run", "--goal", "x", "--permission-mode", "plan"], "In plan mode nobody may work on a goal"),
        (["run", "--goal"], "--goal needs a text"),
        (["run", "--goal", "--resume"], "No session of this folder has a goal"),
        (["run", "--goal", "x", "-p", "y"], "takes no prompt"),
    ],
)
async def test_what_cannot_be_run_is_one_sentence_and_sends_nothing(
    place: Place, arguments: list[str], said: str
) -> None:
    ended = await run(place, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert "Traceback" not in ended.err


def test_flags_stand_in_any_order() -> None:
    for line in (
        ["--goal", "write it", "--members", "2", "--budget-usd", "1.5", "-m", "practice-1", "--resume"],
        ["--resume", "", "-m", "practice-1", "--budget-usd", "1.5", "--members", "2", "--goal", "write it"],
    ):
        options = run_options(line)
        found = options.goal, options.members, options.max_budget_usd, options.model, options.resume, options.script
        assert found == ("write it", 2, "1.5", "practice-1", "", None)
    assert run_options(["--seed", "3", "plan.py", "a", "--max-budget-usd", "2"]).max_budget_usd == "2"


SMALL = plans("look") + does(1, "look", "f") + says("It is there.", when='{ text = "nothing left to claim" }')


async def test_without_a_repository_members_share_the_folder_and_the_report_is_the_answer(place: Place) -> None:
    script = plans("look") + entry(calls(bash("echo x > f; echo did-1")), f"{CLAIMED}1  ")
    script += entry(calls(done(1)), "did-1\\n") + entry(says("Done."), "t1  look  [completed")
    script += says("It is there.", when='{ text = "nothing left to claim" }', times="2")
    async with serving(place, script) as (place, _):
        ended = await goal(place, "--members", "1", "--yolo", "--budget-usd", "2")
    assert ended.code == 0, ended.err
    assert ended.out.startswith("It is there.\n\nThe members have nothing left to claim: 1 done.\n")
    assert "- t1 look: looked at it (`echo x > f; echo did-1`: exit 0)\n" in ended.out
    assert (place.folder / "f").read_text() == "x\n"
    assert "goal: 1 member. Estimate for each task: 104,000 tokens, about $" in ended.err
    assert "it stops at $2.00" in ended.err
    assert "! members share the folder: " in ended.err
    assert "1 task to do. Estimate: 104,000 tokens" in ended.err


async def test_a_goal_whose_branches_could_not_be_merged_or_made_is_not_begun(place: Place) -> None:
    git(place.folder, "init", "-qb", "main")
    async with serving(place, SMALL) as (place, exchanges):
        unborn = await goal(place, "--yolo")
        repository(place.folder)
        git(place.folder, "switch", "-q", "--detach")
        detached = await goal(place, "--yolo")
        assert (unborn.code, detached.code, exchanges) == (2, 2, [])
    assert "The branch main has no commit yet" in unborn.err
    assert "No branch is checked out that work could be merged into" in detached.err


async def test_what_is_not_done_is_an_exit_code_and_a_reason(place: Place) -> None:
    async with serving(place, says("It is all fine.")) as (there, _):
        none = await goal(there, "--yolo")
    assert (none.code, none.out) == (1, "It is all fine.\n")
    assert "The lead planned no task" in none.err
    refused = plans("look") + entry(calls(bash("echo x > f")), f"{CLAIMED}1  ")
    refused += entry(
        calls('{ name = "task_update", input = { id = "t1", status = "failed", note = "no" } }'), "not allowed"
    )
    refused += says("No.", times='"forever"')
    async with serving(place, refused) as (there, _):
        denied = await goal(there, "--members", "1", "--output-format", "json")
    result = json.loads(denied.out)
    assert (denied.code, result["exit_code"]) == (4, 4), denied.err
    assert len(result["permission_denials"]) == 1
    assert result["is_error"]
    async with serving(place, SMALL) as (there, _):
        spent = await goal(there, "--yolo", "--budget-usd", "0.000001")
    assert spent.code == 3, spent.err
    assert "--goal --resume" in spent.err


async def test_a_task_that_a_member_sets_aside_is_in_the_report_with_the_reason_and_what_needs_it_is_deferred(
    place: Place,
) -> None:
    new = '{ subject = "send it", name = "a" }, { subject = "tell them", needs = ["a"] }'
    script = calls(f'{{ name = "task_create", input = {{ tasks = [{new}] }} }}', when='{ text = "Goal: " }')
    script += says("Planned.", when='{ text = "Created", offers = "agent" }')
    aside = '{ name = "task_update", input = { id = "t1", status = "deferred", note = "the key is missing" } }'
    script += entry(calls(aside), f"{CLAIMED}1  ") + entry(says("I cannot."), "t1  send it  [deferred")
    script += says("One thing is missing.", when='{ text = "nothing left to claim" }', times='"forever"')
    async with serving(place, script) as (there, _):
        ended = await goal(there, "--members", "2", "--yolo", "--output-format", "json")
    result = json.loads(ended.out)
    assert (ended.code, result["exit_code"]) == (1, 1), ended.err
    assert result["goal"]["set_aside"] == ["t1 send it: the key is missing"]
    assert result["goal"]["deferred"] == ["t2 tell them: waits for t1"]
    assert "2 of 2 tasks not done" in ended.err
    assert "set aside:\n- t1 send it: the key is missing" in result["result"]
    (claimed,) = events(journal(place), ClaimEnded)
    assert (claimed.end, claimed.why) == (ClaimEnd.DEFERRED, "the key is missing")
