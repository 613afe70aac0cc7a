"""`harness fleet work` as a process: tasks in worktrees of a remote, a practice server as the model."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.fleet.database import FleetDatabase
from harness.fleet.tasks import FleetTasks
from harness.policies.fleet.task import FleetDraft, FleetState, FleetTask
from harness.practice.script.script import Script
from harness.practice.server import PracticeServer
from tests.agent.stage import calls, says
from tests.agent.test_permission_rules import bash
from tests.fleet.postgres import PASSWORD, own_database, shared_server
from tests.ui.program import Place, run, start
from tests.ui.warm import Piped
from tests.worktrees.repositories import committed, git

pytestmark = [pytest.mark.anyio, pytest.mark.stories]
LIMIT_S = 60.0
COMMITS = "echo one > one; git add -A; git -c user.name=a -c user.email=a@b commit -qm one"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with own_database() as address:
        yield address


@pytest.fixture
def tasks(url: str) -> Iterator[FleetTasks]:
    with closing(FleetTasks(FleetDatabase(url))) as store:
        yield store


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """A bare repository with one commit on main."""
    folder = tmp_path / "source"
    folder.mkdir()
    git(folder, "init", "-qb", "main")
    committed(folder, "README.md", "# Demo\n")
    git(tmp_path, "clone", "-q", "--bare", str(folder), "remote.git")
    return tmp_path / "remote.git"


@dataclass
class Machine:
    """A machine with a model, on which workers run."""

    place: Place
    url: str
    tasks: FleetTasks
    remote: Path

    async def work(self, *arguments: str, **env: str) -> Piped:
        own = {"HARNESS_FLEET_URL": self.url, "HARNESS_FLEET_LEASE_S": "3", **env}
        return await start(self.place, "fleet", "work", *arguments, env=own)

    def submit(self, prompt: str = "do it", **more: Any) -> str:
        draft = {"repo": str(self.remote), "permission_mode": "yolo", **more}
        return self.tasks.submit(FleetDraft(prompt, **draft)).id

    async def until(self, id: str, holds: Callable[[FleetTask], bool]) -> FleetTask:
        until = time.monotonic() + LIMIT_S
        while not holds(task := await asyncio.to_thread(self.tasks.get, id)):
            assert time.monotonic() < until, (task, self.tasks.records(id), self.tasks.effects(id))
            await asyncio.sleep(0.05)
        return task

    async def ended(self, id: str) -> FleetTask:
        return await self.until(id, lambda task: task.outcome is not None)

    def branch(self, id: str) -> str:
        return git(self.remote, "rev-parse", "--verify", "-q", f"harness/fleet/{id}", fine=(0, 1))

    def trees(self) -> list[Path]:
        return [path for path in self.place.state.glob("worktrees/*/*") if path.is_dir()]


@asynccontextmanager
async def machine(folder: Path, script: str, url: str, tasks: FleetTasks, remote: Path) -> AsyncIterator[Machine]:
    (folder / "here").mkdir()
    async with PracticeServer(script=Script.parse(script)) as server:
        yield Machine(Place(folder / "here", server.base_url), url, tasks, remote)


async def stopped(worker: Piped, number: int = signal.SIGTERM) -> tuple[int, str, str]:
    worker.send_signal(number)
    async with asyncio.timeout(LIMIT_S):
        out, err = await worker.communicate()
    return worker.returncode or 0, out.decode(), err.decode()


async def test_a_task_ends_with_its_answer_cost_and_branch_and_leaves_no_worktree(
    tmp_path: Path, url: str, tasks: FleetTasks, remote: Path
) -> None:
    script = calls(bash(f"{COMMITS}; echo two > two")) + says("It is done.")
    async with machine(tmp_path, script, url, tasks, remote) as here:
        worker = await here.work("--name", "w1")
        id = here.submit()
        task = await here.ended(id)
        code, out, err = await stopped(worker)
    assert task.outcome is not None
    assert (task.state, task.outcome.text) == (FleetState.DONE, "It is done.")
    assert task.outcome.tokens > 0
    assert task.outcome.branch == f"harness/fleet/{id}"
    assert git(remote, "ls-tree", "--name-only", here.branch(id)).split() == ["README.md", "one", "two"]
    assert git(remote, "log", "--format=%s", here.branch(id)).splitlines()[:2] == ["do it", "one"]
    assert here.trees() == []
    assert (code, err) == (0, "")
    said = [line.split("  ")[1].split()[0].rstrip(":") for line in out.splitlines()]
    assert said == ["ready", "taken", "done", "draining", "ended"]
    pushes = [one.text for one in tasks.effects(id) if one.text.startswith("push ")]
    assert len(pushes) == 2


async def test_sigterm_gives_the_work_back_and_another_worker_goes_on_from_its_branch(
    tmp_path: Path, url: str, tasks: FleetTasks, remote: Path
) -> None:
    script = calls(bash(COMMITS)) + calls(bash("touch begun; sleep 60")) + says("Went on.")
    async with machine(tmp_path, script, url, tasks, remote) as here:
        worker, id = await here.work("--name", "w1"), here.submit()
        await here.until(id, lambda _: any((tree / "begun").exists() for tree in here.trees()))
        began = time.monotonic()
        code, out, _ = await stopped(worker)
        assert (code, time.monotonic() - began < 8) == (0, True)
        assert "given back" in out
        task = tasks.get(id)
        assert (task.state, task.attempts) == (FleetState.QUEUED, 0)
        assert here.branch(id)
        second = await here.work("--name", "w2")
        task = await here.ended(id)
        await stopped(second)
    assert task.outcome is not None
    assert (task.fence, task.outcome.text, task.outcome.branch) == (2, "Went on.", f"harness/fleet/{id}")
    assert "begun" in git(remote, "ls-tree", "--name-only", here.branch(id))


async def test_a_dead_machine_loses_nothing_that_was_pushed_and_what_is_unknown_is_told(
    tmp_path: Path, url: str, tasks: FleetTasks, remote: Path
) -> None:
    script = calls(bash(COMMITS)) + calls(bash("curl-like-effect; sleep 60"))
    script += says("Looked first.", when='{ text = "whether it happened is unknown" }')
    async with machine(tmp_path, script, url, tasks, remote) as here:
        worker, id = await here.work("--name", "w1"), here.submit()
        await here.until(id, lambda _: len(tasks.effects(id)) >= 3)
        worker.kill()
        second = await here.work("--name", "w2")
        task = await here.ended(id)
        await stopped(second)
        left = here.trees()
    assert task.outcome is not None
    assert (task.fence, task.state, task.outcome.text) == (2, FleetState.DONE, "Looked first.")
    assert git(remote, "show", f"{here.branch(id)}:one") == "one"
    assert left == []


async def test_cancel_stops_a_running_session_soon(tmp_path: Path, url: str, tasks: FleetTasks, remote: Path) -> None:
    async with machine(tmp_path, calls(bash("sleep 60")) + says("No."), url, tasks, remote) as here:
        worker, id = await here.work("--json", HARNESS_FLEET_LEASE_S="600"), here.submit()
        await here.until(id, lambda _: len(tasks.effects(id)) >= 1)
        began = time.monotonic()
        tasks.cancel(id)
        lines: list[dict[str, Any]] = []
        async with asyncio.timeout(LIMIT_S):
            while not lines or lines[-1]["kind"] != "lost":
                lines.append(json.loads(await worker.stdout.readline()))
        assert time.monotonic() - began < 4
        assert "is cancelled" in lines[-1]["text"]
        await stopped(worker)
    assert tasks.get(id).state is FleetState.CANCELLED


async def test_drain_lets_the_work_end_and_takes_nothing_more(
    tmp_path: Path, url: str, tasks: FleetTasks, remote: Path
) -> None:
    script = calls(bash("sleep 2")) + says("Ended.")
    async with machine(tmp_path, script, url, tasks, remote) as here:
        worker, first = await here.work("--name", "w1"), here.submit()
        await here.until(first, lambda _: len(tasks.effects(first)) >= 1)
        second = here.submit()
        tasks.drain()
        async with asyncio.timeout(LIMIT_S):
            await worker.communicate()
        assert worker.returncode == 0
    assert tasks.get(first).state is FleetState.DONE
    assert (tasks.get(second).state, tasks.workers()) == (FleetState.QUEUED, ())
    tasks.cancel(second)


async def test_hooks_servers_and_settings_of_a_remote_run_only_where_it_is_trusted(
    tmp_path: Path, url: str, tasks: FleetTasks, remote: Path
) -> None:
    source, ran = tmp_path / "source", tmp_path / "ran"
    hook = f'[[hooks]]\nevent = "before_tool"\ncommand = "echo hook >> {ran}"\n'
    server = {"mcpServers": {"evil": {"command": "sh", "args": ["-c", f"echo server >> {ran}"]}}}
    committed(source, ".harness/settings.toml", hook)
    committed(source, ".mcp.json", json.dumps(server))
    git(source, "push", "-q", str(remote), "main")
    script = 2 * (calls(bash("true")) + says("Done."))
    async with machine(tmp_path, script, url, tasks, remote) as here:
        worker = await here.work()
        await here.ended(here.submit())
        await stopped(worker)
        assert not ran.exists()
        worker = await here.work("--trust-repo", str(remote))
        await here.ended(here.submit())
        await stopped(worker)
    assert "hook" in ran.read_text()


async def test_work_without_a_repository_or_with_a_wrong_one(
    tmp_path: Path, url: str, tasks: FleetTasks, remote: Path
) -> None:
    async with machine(tmp_path, says("Forty-two."), url, tasks, remote) as here:
        worker = await here.work("--concurrency", "2")
        answered, missing = here.submit(repo=""), here.submit(repo=str(tmp_path / "nowhere.git"))
        wrong = here.submit(ref="no-such-branch")
        ends = [await here.ended(id) for id in (answered, missing, wrong)]
        await stopped(worker)
    texts = [task.outcome.text for task in ends if task.outcome]
    assert texts[0] == "Forty-two."
    assert "nowhere.git" in texts[1]
    assert "has no branch, tag or commit 'no-such-branch'" in texts[2]
    assert [task.state for task in ends] == [FleetState.DONE, FleetState.FAILED, FleetState.FAILED]


async def test_a_branch_that_somebody_else_has_pushed_is_not_overwritten(
    tmp_path: Path, url: str, tasks: FleetTasks, remote: Path
) -> None:
    other = "git -C {source} push -q {remote} HEAD:refs/heads/harness/fleet/{id}"
    async with machine(tmp_path, says("x"), url, tasks, remote) as here:
        id = here.submit()
        theirs = committed(tmp_path / "source", "theirs")
        push = other.format(source=tmp_path / "source", remote=remote, id=id)
        script = Script.parse(calls(bash(f"{push}; {COMMITS}")) + says("Done."))
        async with PracticeServer(script=script) as server:
            worker = await here.work(ANTHROPIC_BASE_URL=server.base_url)
            task = await here.ended(id)
            await stopped(worker)
    assert task.outcome is not None
    assert here.branch(id) == theirs
    assert task.outcome.branch == f"harness/fleet/{id}-1"
    assert git(remote, "show", f"{task.outcome.branch}:one") == "one"


async def test_a_worker_started_while_the_database_is_away_says_so_and_ends(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    place, server = Place(tmp_path / "here"), shared_server()
    for address, said in (
        (f"postgresql://harness:{PASSWORD}@127.0.0.1:1/fleet", "cannot be reached"),
        (server.of("harness", f"{PASSWORD}-wrong"), "refuses the user or the password"),
    ):
        done = await run(place, "fleet", "work", env={"HARNESS_FLEET_URL": address})
        assert (done.code, done.out, PASSWORD in done.err) == (1, "", False)
        assert said in done.err
        assert done.err.count("\n") == 1
