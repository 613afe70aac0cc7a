"""A relay in front of Postgres that acts at a chosen message of a transaction, before the server sees it."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit


class Relay:
    """Counts what a client sends from its BEGIN on; at message `at` it calls `act` and forwards nothing more."""

    def __init__(self, url: str, at: int, act: Callable[[], None]) -> None:
        self._server = urlsplit(url)
        self._at = at
        self._act = act
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.seen = 0
        """Messages since BEGIN."""
        self._began = False
        self.over = threading.Event()
        """Set when `act` has returned."""
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        who = f"{self._server.username}:{self._server.password}"
        return f"postgresql://{who}@127.0.0.1:{self._listening.getsockname()[1]}{self._server.path}?sslmode=disable"

    @property
    def acted(self) -> bool:
        """Whether it did, once it has."""
        return self._began and self.over.wait(60)

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                try:
                    server = socket.create_connection((self._server.hostname or "", self._server.port or 0))
                except OSError:  # it was killed: the client sees a connection that ends
                    client.close()
                    continue
                for one, other, counted in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass, args=(one, other, counted), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, counted: bool) -> None:
        with suppress(OSError), _both(one, other):
            while data := one.recv(65_536):
                if counted and (self.seen or b"BEGIN" in data):
                    self.seen += 1
                    if self.seen == self._at and not self._began:
                        self._began = True
                        self._act()
                        self.over.set()
                        return
                other.sendall(data)


@contextmanager
def _both(*ends: socket.socket) -> Iterator[None]:
    """Ends both connections, also while another thread reads from one."""
    try:
        yield
    finally:
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def relayed(url: str, at: int, act: Callable[[], None]) -> Iterator[Relay]:
    relay = Relay(url, at, act)
    yield relay
    relay.close()
