"""Textual's web driver, with atomic packets.

In Textual's driver two threads write to the pipe, and a large write is split, so that packets could be interleaved.
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
    """Writes one packet at a time."""

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
