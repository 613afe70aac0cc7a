"""A Postgres on loopback for tests, one for all workers of a run.

The first test that asks starts it, as a user that is not root, with its files in a temporary folder; the last worker
stops it.
"""

import asyncio
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from filelock import FileLock

if TYPE_CHECKING:
    from harness.fleet.database import FleetPlace

PASSWORD = "a-password-for-tests"


def programs() -> Path | None:
    """The folder with initdb and pg_ctl; None: Postgres is not installed."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


needs_postgres = pytest.mark.skipif(programs() is None, reason="Postgres is not installed")


@dataclass(frozen=True)
class Server:
    """A Postgres with a database `fleet`."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        return self.of("harness", PASSWORD)

    def of(self, user: str, password: str, database: str = "fleet") -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    @classmethod
    def made(cls) -> "Server":
        """Make the files and start it."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            server = cls(Path(tempfile.mkdtemp(prefix="harness-postgres-")), free.getsockname()[1])
        (server.folder / "password").write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (server.folder, server.folder / "password"):
                os.chown(path, *_user())
        options = ["--no-sync", "-U", "harness", "-A", "scram-sha-256", "--pwfile", str(server.folder / "password")]
        server._run("initdb", "-D", str(server.data), "--locale=C", "-E", "UTF8", *options)
        server.start()
        asyncio.run(server._execute("CREATE DATABASE fleet", "postgres"))
        return server

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self, *options: str) -> None:
        given = f"-F -h 127.0.0.1 -p {self.port} -k {self.folder} {' '.join(options)}"
        self._run("pg_ctl", "start", "-w", "-D", str(self.data), "-l", str(self.folder / "log"), "-o", given)

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "stop", "-w", "-m", mode, "-D", str(self.data))

    def kill(self) -> None:
        """End all of its processes at once, as a crash of the machine does."""
        import psutil

        first = psutil.Process(int((self.data / "postmaster.pid").read_text().split()[0]))
        every = [first, *first.children(recursive=True)]
        for process in every:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        psutil.wait_procs(every)

    def remove(self) -> None:
        if (self.data / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder)

    def execute(self, sql: str, database: str = "fleet") -> None:
        asyncio.run(self._execute(sql, database))

    async def _execute(self, sql: str, database: str) -> None:
        import asyncpg

        connection = await asyncpg.connect(self.of("harness", PASSWORD, database))
        try:
            await connection.execute(sql)
        finally:
            await connection.close()

    def initialize(self) -> None:
        """Create the tables of a fleet."""
        asyncio.run(initialized(self.url))

    def _run(self, program: str, *arguments: str) -> None:
        folder = programs()
        assert folder is not None
        who: dict[str, Any] = {}
        if os.geteuid() == 0:
            uid, gid = _user()
            who = {"user": uid, "group": gid, "extra_groups": []}
        # the server keeps what it inherits, so it gets no pipe of ours
        with (self.folder / f"{program}.out").open("w+") as output:
            done = subprocess.run(
                [folder / program, *arguments],
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd="/",
                **who,
            )
            output.seek(0)
            assert done.returncode == 0, f"{program}: {output.read()}"


async def initialized(url: str, role: str = "") -> bool:
    """Create the tables of a fleet, as `harness fleet init` does."""
    from harness.fleet.database import FleetDatabase

    return await FleetDatabase(url).initialize(role)


def _user() -> tuple[int, int]:
    entry = pwd.getpwnam("nobody")
    return entry.pw_uid, entry.pw_gid


# ── one for all workers ─────────────────────────────────────────────────────────────────────────────


def _shared() -> Path:
    """What the workers of one run know of it."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    return Path(tempfile.gettempdir()) / f"harness-postgres-{run}.json"


@cache
def shared_server() -> Server:
    """The server of this run, with the tables of a fleet. Skips the test where Postgres is not installed."""
    if programs() is None:
        pytest.skip("Postgres is not installed")
    with FileLock(f"{_shared()}.lock"):
        known = json.loads(_shared().read_text()) if _shared().exists() else None
        if known is None:
            server = Server.made()
            server.initialize()
            known = {"folder": str(server.folder), "port": server.port, "users": []}
        _shared().write_text(json.dumps({**known, "users": [*known["users"], os.getpid()]}))
        return Server(Path(known["folder"]), known["port"])


def leave() -> None:
    """This process needs the server no more."""
    if not shared_server.cache_info().currsize:
        return
    with FileLock(f"{_shared()}.lock"):
        known = json.loads(_shared().read_text())
        users = [pid for pid in known["users"] if pid != os.getpid()]
        if users:
            _shared().write_text(json.dumps({**known, "users": users}))
            return
        _shared().unlink()
        Server(Path(known["folder"]), known["port"]).remove()
    Path(f"{_shared()}.lock").unlink(missing_ok=True)


_scopes = count()


@contextmanager
def own_database() -> Iterator[str]:
    """The address of a database of its own on the server of this run, with the tables of a fleet."""
    server, name = shared_server(), f"own_{new_scope().replace('-', '_')}"
    server.execute(f"CREATE DATABASE {name}", "postgres")
    url = server.of("harness", PASSWORD, name)
    asyncio.run(initialized(url))
    yield url
    server.execute(f"DROP DATABASE {name} WITH (FORCE)", "postgres")


def new_scope() -> str:
    """A name that no other test uses."""
    return f"{next(_scopes)}-{uuid4().hex[:8]}"


def fleet_place(kind: str) -> "FleetPlace":
    """Tables of a new store of this kind, for a test that says what time it is. Skips the test where Postgres is not
    installed."""
    from harness.fleet.database import FleetClock, FleetDatabase

    class TimeOfTest(FleetClock):
        def corrected(self, at: float) -> float:
            return at

    return FleetDatabase(shared_server().url, clock=TimeOfTest()).place(kind, new_scope())
