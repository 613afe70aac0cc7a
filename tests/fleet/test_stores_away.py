"""A session whose database goes away: work goes on, each tool says why, and afterwards nothing has happened twice."""

import asyncio
import os
import random
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from harness.engine.permissions.asker import NoAsker
from harness.events import Notice, ToolEnded, ToolOutcome, TurnEnded
from harness.session import open_session
from harness.slots.store_pause import ALONE
from tests.agent.stage import calls, played, says, sessions
from tests.agent.test_team import message, of_member, start
from tests.fleet.postgres import PASSWORD, Server, needs_postgres
from tests.fleet.test_sessions_away import older, read_only, stopped
from tests.session.test_team import until_rest

pytestmark = [needs_postgres, pytest.mark.stories, pytest.mark.anyio]
MUCH = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=9_000))
"""More than fits into the pages that a table has already, also compressed."""


@pytest.fixture
def server() -> Iterator[Server]:
    """One that the test may hurt."""
    server = Server.made()
    server.initialize()
    yield server
    server.remove()


@contextmanager
def other_password(server: Server) -> Iterator[None]:
    def set_to(now: str, new: str) -> None:
        import asyncpg

        async def change() -> None:
            connection = await asyncpg.connect(server.of("harness", now))
            await connection.execute(f"ALTER ROLE harness PASSWORD '{new}'")
            await connection.close()

        asyncio.run(change())

    with ThreadPoolExecutor(1) as pool:  # the test has a loop of its own
        pool.submit(set_to, PASSWORD, "changed").result()
        server.stop()
        server.start()
        yield
        pool.submit(set_to, "changed", PASSWORD).result()


@contextmanager
def full(server: Server) -> Iterator[None]:
    """The tables are on a disk of their own, which another program fills."""
    disk = server.folder / "disk"
    filler = disk / "filler"
    file = os.open(filler, os.O_WRONLY | os.O_CREAT)
    with suppress(OSError):
        while True:
            os.write(file, bytes(4096))
    os.close(file)
    yield
    filler.unlink()


OUTAGES: dict[str, Callable[[Server], Any]] = {
    "cannot be reached": stopped,
    "is read-only": read_only,
    "older harness": older,
    "refuses the user or the password": other_password,
    "no space left on its disk": full,
}


def asks(subject: str) -> str:
    """Calls of all stores for a script, and a word at the end."""
    task = f'{{ subject = "{subject}", description = "{MUCH[:8000]}" }}'
    task = f'{{ name = "task_create", input = {{ tasks = [{task}] }} }}'
    prompt = f'prompt = "{subject} {MUCH[:7600]}", lasting = true'
    job = f'{{ name = "schedule_create", input = {{ when = "@daily", {prompt} }} }}'
    return calls(task, job, message("ann", f"{subject} {MUCH[:9000]}", note=True)) + says(f"{subject} is over.")


SCRIPT = (
    calls(start("ann", role="reader"))
    + says("Started.")
    + of_member(says("Read.", times="9"))
    + asks("first")
    + asks("second")
    + asks("third")
)


async def results_of(session: Any, prompt: str) -> list[ToolEnded]:
    turn = await played(session.run(prompt))
    assert turn.of(TurnEnded)[-1].answer == f"{prompt} is over."
    return turn.of(ToolEnded)


def outcomes(ends: list[ToolEnded]) -> list[ToolOutcome]:
    found = [one.outcome for one in ends]
    assert ToolOutcome.INVALID not in found, [said_by(one) for one in ends]
    return found


def said_by(end: ToolEnded) -> str:
    """What the user sees of a result."""
    return end.detail or end.summary


def subjects(session: Any) -> list[str]:
    return [task.subject for task in session.tasks.board.tasks().values()]


@contextmanager
def own_disk(server: Server) -> Iterator[None]:
    """The database on a file system of 24 MB. Skips the test where none can be mounted."""
    disk = server.folder / "disk"
    disk.mkdir()
    mounted = os.geteuid() == 0 and shutil.which("mount")
    if not mounted or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk], check=False).returncode:
        pytest.skip("no file system of its own can be mounted here")
    try:
        (disk / "tables").mkdir()
        shutil.chown(disk / "tables", "nobody")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(server.execute, f"CREATE TABLESPACE small LOCATION '{disk}/tables'", "postgres").result()
            pool.submit(server.execute, "ALTER DATABASE fleet SET TABLESPACE small", "postgres").result()
        yield
    finally:
        server.stop()
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("why", OUTAGES)
async def test_board_mail_and_schedule_say_why_and_go_on_afterwards(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    monkeypatch.setenv("HARNESS_FLEET_URL", server.url)
    with own_disk(server) if why.startswith("no space") else stopped_never():
        async with (
            sessions(tmp_path, SCRIPT, team=True, board="session", schedule_tools=True) as stage,
            await open_session(stage.loaded, NoAsker()) as session,
        ):
            await played(session.run("start"))
            await until_rest(session)
            assert outcomes(await results_of(session, "first")) == [ToolOutcome.OK] * 3
            with OUTAGES[why](server):
                failed = await results_of(session, "second")
            assert outcomes(failed) == [ToolOutcome.ERROR] * 3
            for one in failed:
                assert why in said_by(one)
                assert PASSWORD not in said_by(one)
                assert len(said_by(one).splitlines()) == 1
            assert outcomes(await results_of(session, "third")) == [ToolOutcome.OK] * 3
            await until_rest(session)
            assert subjects(session) == ["first", "third"]


async def test_a_restart_or_another_server_in_its_place_loses_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        spare = Server(server.folder.with_name(f"{server.folder.name}-spare"), free.getsockname()[1])
    monkeypatch.setenv("HARNESS_FLEET_URL", server.url.replace("/fleet", f",127.0.0.1:{spare.port}/fleet"))
    async with (
        sessions(tmp_path, SCRIPT, team=True, board="session", schedule_tools=True) as stage,
        await open_session(stage.loaded, NoAsker()) as session,
    ):
        await played(session.run("start"))
        await until_rest(session)
        assert outcomes(await results_of(session, "first")) == [ToolOutcome.OK] * 3
        server.kill()
        server.start()
        assert outcomes(await results_of(session, "second")) == [ToolOutcome.OK] * 3
        server.stop("fast")
        shutil.copytree(server.folder, spare.folder)  # as a standby that had received everything
        for path in (spare.folder, *spare.folder.rglob("*")):
            if os.geteuid() == 0:
                shutil.chown(path, "nobody")
        spare.start()
        try:
            assert outcomes(await results_of(session, "third")) == [ToolOutcome.OK] * 3
            assert subjects(session) == ["first", "second", "third"]
        finally:
            spare.remove()
            server.start()


@contextmanager
def stopped_never() -> Iterator[None]:
    yield


async def test_a_session_that_begins_without_its_database_says_so_once_and_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_FLEET_URL", f"postgresql://harness:{PASSWORD}@127.0.0.1:1/fleet")
    async with sessions(tmp_path, says("Hello.") + says("Hello again.")) as stage:
        said = list[Notice]()
        async with await stage.open(
            observer=lambda event, at: said.append(event) if isinstance(event, Notice) else None
        ) as session:
            assert "127.0.0.1:1" in session.stores
            for answer in ("Hello.", "Hello again."):
                assert (await played(session.run("hi"))).of(TurnEnded)[-1].answer == answer
    (notice,) = [one for one in said if ALONE in one.text]
    assert notice.level == "warning"
    assert "cannot be reached" in notice.text
    assert PASSWORD not in notice.text
