"""Textual's web driver, with whole packets and an app that never outlives its server.

In Textual's driver a signal can cut a packet short, and threads can interleave two. It also takes the focus away when
it starts, even if the page has reported it before, and runs on when its server was killed.
"""

import os
import signal
from threading import Lock, Timer
from typing import Any

from textual.app import App
from textual.drivers.web_driver import WebDriver
from textual.events import AppFocus

PATIENCE_S = 8.0
"""Seconds after SIGTERM, before the process group of an app without a server is killed."""


class ServedDriver(WebDriver):
    """Writes one packet at a time, and ends the app with its server."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._one_at_a_time = Lock()
        self._write = self._write_whole  # type: ignore[assignment] # every packet is one call of it
        self._page_has_focus = False
        self._quits = False

    def start_application_mode(self) -> None:
        super().start_application_mode()
        self._app.call_later(self._restore_focus)

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        if packet_type in ("focus", "blur"):
            self._page_has_focus = packet_type == "focus"
        elif packet_type == "quit":
            self._quits = True
        super().on_meta(packet_type, payload)

    def run_input_thread(self) -> None:
        """Read until the app or its server ends: then standard input does too."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            killing = Timer(PATIENCE_S, os.killpg, (0, signal.SIGKILL))
            killing.daemon = True
            killing.start()
            if not self._quits:  # a signal could cut the last words of an app that ends already
                os.kill(os.getpid(), signal.SIGTERM)

    def write(self, data: str) -> None:
        super().write(data.encode("utf-8", "replace").decode())  # without lone surrogates

    def _restore_focus(self) -> None:
        if self._page_has_focus:
            self._app.post_message(AppFocus())

    def _write_whole(self, packet: bytes) -> None:
        left = memoryview(packet)
        with self._one_at_a_time:
            while left:
                left = left[os.write(self.fileno, left) :]
