"""A prompt in an app that draws all the time, as a program of its own: `python -m tests.ui.app.busy_host FILE`.

FILE is made once the app has drawn often while its terminal was lent to an editor. A submission ends the program,
which prints it.
"""

import sys
from pathlib import Path

from textual.app import App
from textual.widgets import Static

from harness.ui.app.prompt import PromptArea
from tests.ui.app.host import Host

OFTEN = 60
"""More than the writes that textual keeps waiting for a terminal before it blocks."""


class BusyHost(Host):
    """Draws a number a hundred times in a second."""

    suspend = App.suspend

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self._lent = False
        self._drawn = 0

    def on_mount(self) -> None:
        self.app_suspend_signal.subscribe(self, self._lend)
        self.set_interval(0.01, self._draw)

    def on_prompt_area_submitted(self, message: PromptArea.Submitted) -> None:
        self.exit(message=repr(message.text))

    def _lend(self, _: App[None]) -> None:
        self._lent = True

    def _draw(self) -> None:
        self._drawn += self._lent
        self.query_one(Static).update(f"drawn {self._drawn}")
        if self._drawn == OFTEN:
            self._file.touch()


if __name__ == "__main__":
    BusyHost(Path(sys.argv[1])).run()
