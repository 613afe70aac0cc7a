"""Textual's web driver, with atomic packets, for pages that come and go.

In Textual's driver two threads write to the pipe, and a large write is split, so that packets could be interleaved. It
also takes the focus away when it starts, even if the page has reported it before.
"""

import json
import os
from collections.abc import Sequence
from threading import Lock
from typing import Any

from textual._binary_encode import dump
from textual.app import App
from textual.drivers.web_driver import WebDriver
from textual.events import AppFocus


class ServedDriver(WebDriver):
    """Writes one packet at a time, and draws the whole screen for a new page."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._one_at_a_time = Lock()
        self._page_has_focus = False

    def start_application_mode(self) -> None:
        super().start_application_mode()
        self._app.call_later(self._restore_focus)

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        match packet_type:
            case "redraw":
                if (payload["width"], payload["height"]) != self._size:
                    super().on_meta("resize", payload)
                self._app.call_later(self._redraw)  # this is the input thread
                return
            case "focus" | "blur":
                self._page_has_focus = packet_type == "focus"
        super().on_meta(packet_type, payload)

    def _restore_focus(self) -> None:
        if self._page_has_focus:
            self._app.post_message(AppFocus())

    def _redraw(self) -> None:
        self.write("\x1b[?1049h\x1b[?25l")  # the other screen, no cursor
        self._enable_mouse_support()
        self._enable_bracketed_paste()
        self._app.refresh()

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
