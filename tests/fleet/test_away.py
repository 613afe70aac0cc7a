"""What a store says when the database is away or strange, and that nothing happens twice when it comes back."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest

from harness.fleet.database import FleetDatabase, sentence
from harness.fleet.schema import VERSION
from harness.policies.tasks.decisions import Changes, TaskDraft
from harness.policies.tasks.task import Actor, Role
from harness.slots.store import SlotsError, SqliteSlotStore, this_process
from harness.tasks import TaskBoard
from tests.fleet.postgres import PASSWORD, Server, initialized, needs_postgres, new_scope, shared_server

pytestmark = needs_postgres


def error_of(url: str, patience_s: float = 0.3) -> str:
    with closing(SqliteSlotStore(FleetDatabase(url, patience_s=patience_s).place("slots", new_scope()))) as store:
        with pytest.raises(SlotsError) as caught:
            store.cells()
        assert PASSWORD not in str(caught.value)
        return str(caught.value)


def test_each_cause_has_its_sentence() -> None:
    server = shared_server()
    assert "refuses the user or the password" in error_of(server.of("harness", "wrong"))
    assert "does not exist" in error_of(server.of("harness", PASSWORD, "elsewhere"))
    assert "run `harness fleet init` once" in error_of(server.of("harness", PASSWORD, "postgres"))
    assert "cannot be reached" in error_of(f"postgresql://harness:{PASSWORD}@127.0.0.1:1/fleet")
    assert "TLS" in error_of(f"{server.url}?sslmode=require")
    assert "begin with postgresql://" in error_of("mysql://127.0.0.1/fleet")


def test_a_connection_that_breaks_while_the_driver_uses_it_is_tried_again() -> None:
    from asyncpg.exceptions import InternalClientError

    text, passing = sentence(InternalClientError("cannot switch to state 12; another operation (2) is in progress"))
    assert passing
    assert text.startswith("cannot be reached (cannot switch to state 12")


def test_a_server_that_starts_or_ends_during_the_tls_handshake_is_tried_again() -> None:
    """It sends a plain error where the driver expects its yes or no to TLS."""
    text, passing = sentence(ConnectionError("the server sent an error response during SSL exchange"))
    assert passing
    assert "TLS" not in text
    assert sentence(ConnectionError("the server rejected SSL upgrade"))[1]


class LossyWay:
    """A proxy in front of a server that loses the answer to one COMMIT which writes, and the connection with it."""

    def __init__(self, port: int) -> None:
        self._target = port
        self.lost = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):  # it is closed at the end of the test
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError), source, target:
            while data := source.recv(65536):
                losing = b"receipts VALUES" in data and not self.lost
                if losing:
                    self.lost = 1
                    source.shutdown(socket.SHUT_RDWR)  # towards the client; the server carries it out
                target.sendall(data)
                if losing:
                    return

    def close(self) -> None:
        self._listener.close()


def test_a_change_whose_answer_is_lost_happens_once() -> None:
    server, scope = shared_server(), new_scope()
    with closing(LossyWay(server.port)) as way:
        url = server.url.replace(str(server.port), str(way.port))
        with closing(SqliteSlotStore(FleetDatabase(url).place("slots", scope))) as store:
            assert store.change("count", lambda text: f"{text or ''}x") == "x"
            assert way.lost == 1
            assert store.change("count", lambda text: f"{text or ''}x") == "xx"


@pytest.fixture
def server() -> Iterator[Server]:
    """One that the test may hurt."""
    server = Server.made()
    server.initialize()
    yield server
    server.remove()


@pytest.mark.stories
def test_roles_and_versions(server: Server) -> None:
    server.execute("CREATE ROLE worker LOGIN PASSWORD 'another'")
    url = server.of("worker", "another")
    assert "does not give this role the right" in error_of(url)
    assert asyncio.run(initialized(server.url, "worker")) is False
    with closing(SqliteSlotStore(FleetDatabase(url).place("slots", "all"))) as store:
        assert store.change("name", lambda _: "text") == "text"
    server.execute("UPDATE harness.version SET number = 0")
    assert "older harness" in error_of(server.url)
    server.execute("UPDATE harness.version SET number = 9")
    assert "newer harness" in error_of(server.url)
    server.execute(f"UPDATE harness.version SET number = {VERSION}")
    server.execute("ALTER SYSTEM SET default_transaction_read_only = on; ")
    server.execute("SELECT pg_reload_conf()")
    assert "read-only" in error_of(server.url)


@pytest.mark.stories
def test_killed_and_started_again_every_task_is_claimed_once(server: Server) -> None:
    database, lead = FleetDatabase(server.url, patience_s=9.0), Actor("lead", Role.LEAD)
    boards = [TaskBoard(database.place("board", "all"), this_process(f"s{number}")) for number in range(4)]
    boards[0].create([TaskDraft(f"task {number}") for number in range(120)], lead)
    claimed: list[str] = []

    def work(number: int) -> None:
        while isinstance(changes := boards[number].claim(Actor(f"a{number}")), Changes):
            claimed.extend(task.id for task in changes.tasks)

    with ThreadPoolExecutor(4) as pool:
        workers = [pool.submit(work, number) for number in range(4)]
        while len(claimed) < 20:
            pass
        for _ in range(3):
            server.kill()
            server.start()
        for worker in workers:
            worker.result()
    assert sorted(claimed) == sorted(f"t{number}" for number in range(1, 121))
    for board in boards:
        board.close()
