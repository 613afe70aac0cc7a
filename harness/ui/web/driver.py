"""The driver of an app in a browser: Textual's own, with packets that stay whole.

In Textual's the thread that answers the server writes to the same pipe as the app does, and a write that is larger than
the room in the pipe is done in parts: so a packet could end up inside another one.
"""

import json
import os
from collections.abc import Sequence
from threading import Lock
from typing import Any

from textual._binary_encode import dump
from textual.app import App
from textual.drivers.web_driver import WebDriver


class ServedDriver(WebDriver):
    """Writes one packet after the other, whichever thread sends it."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._one_at_a_time = Lock()

    def write(self, data: str) -> None:
        self._packet(b"D", data.encode("utf-8", "replace"))

    def write_meta(self, data: dict[str, object]) -> None:
        self._packet(b"M", json.dumps(data).encode())

    def write_binary_encoded(self, data: Sequence[str | bytes]) -> None:
        self._packet(b"P", dump(tuple(data)))

    def _packet(self, kind: bytes, payload: bytes) -> None:
        left = memoryview(kind + len(payload).to_bytes(4, "big") + payload)
        with self._one_at_a_time:
            while left:
                left = left[os.write(self.fileno, left) :]  # a signal can cut it short
