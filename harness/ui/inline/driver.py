"""A driver for the terminal's ordinary screen."""

from textual.app import App

from harness.ui.app.terminal_driver import TerminalDriver

ALTERNATE_SCREEN = frozenset({"\x1b[?1049h", "\x1b[?1049l"})


class InlineDriver(TerminalDriver):
    """Draws below the scrollback, and leaves mouse and wrapping to the terminal."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=False, size=size)

    @property
    def is_inline(self) -> bool:
        return True

    @property
    def terminal_size(self) -> tuple[int, int]:
        """Columns and rows of the terminal now."""
        return self._get_terminal_size()

    def write(self, data: str) -> None:
        """Write a sequence, except those for the alternate screen."""
        if data not in ALTERNATE_SCREEN:
            super().write(data)

    def _disable_line_wrap(self) -> None:
        """No-op: the lines of the conversation may wrap when the terminal becomes narrower."""

    def stop_application_mode(self) -> None:
        """Restore the terminal, with the cursor where the region was."""
        self.write(self._app.erased_region())  # type: ignore[attr-defined]
        super().stop_application_mode()
