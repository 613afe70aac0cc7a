"""The least that a Textual app can be: one text on an empty screen. `python -m benchmarks.screen_floor`."""

from textual.app import App, ComposeResult
from textual.widgets import Static

TEXT = "as little as possible"


class Floor(App[None]):
    """Shows one line."""

    def compose(self) -> ComposeResult:
        yield Static(TEXT, markup=False)


if __name__ == "__main__":
    Floor().run()
