"""The least that a Textual app can be: one text on an empty screen, with the last key that was typed.

python -m benchmarks.screen_floor        the app alone
python -m benchmarks.screen_floor sdk    with the SDK imported, as after a turn
"""

import importlib
import sys

from textual.app import App, ComposeResult
from textual.events import Key
from textual.widgets import Static

TEXT = "as little as possible"


class Floor(App[None]):
    """Shows one line."""

    def compose(self) -> ComposeResult:
        yield Static(TEXT, markup=False)

    def on_key(self, event: Key) -> None:
        self.query_one(Static).update(f"{TEXT} {event.character}")


if __name__ == "__main__":
    if sys.argv[1:] == ["sdk"]:
        importlib.import_module("anthropic")
    Floor().run()
