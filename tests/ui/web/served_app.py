"""A small app for the browser: green after `g`, red after anything else, gone after `x`.

Wide terminals are yellow until a key is pressed. Like harness it says at its end how its session is resumed, and
before that whether a signal was what ended it.
"""

import asyncio
import os
import signal
import sys

from textual.app import App, ComposeResult
from textual.events import Key, Resize
from textual.widgets import Label, Static

SESSION = sys.argv[2] if sys.argv[1:2] == ["--reopen"] else f"s{os.getpid()}"


class ServedApp(App[None]):
    """Shows the last event it received."""

    CSS = """
    Screen { background: #0000ff; }
    Screen.wide { background: #ffff00; }
    Screen.green { background: #00ff00; }
    Screen.red { background: #ff0000; }
    """
    ENABLE_COMMAND_PALETTE = False

    def compose(self) -> ComposeResult:
        yield Static("the app is here", markup=False)
        yield Label("the focus is unknown")
        yield Static(f"session {SESSION}", markup=False)

    def on_mount(self) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.terminate)

    def terminate(self) -> None:
        print("terminated", file=sys.__stderr__)
        self.exit()

    def on_app_focus(self) -> None:
        self.query_one(Label).update("the focus is here")

    def on_app_blur(self) -> None:
        self.query_one(Label).update("the focus is elsewhere")

    def on_resize(self, event: Resize) -> None:
        self.query_one(Static).update(f"size {event.size.width} by {event.size.height}")
        self.screen.set_class(event.size.width > 100, "wide")

    def on_key(self, event: Key) -> None:
        self.query_one(Static).update(f"typed {event.character}")
        self.screen.set_class(event.character == "g", "green")
        self.screen.set_class(event.character != "g", "red")
        match event.character:
            case "u":
                self.open_url("https://example.org/")
            case "j":
                self.open_url("javascript:alert(1)")
            case "x":
                self.exit()
                print("the last\x1b[31m words", file=sys.__stderr__)  # the other one is the app's while it runs


if __name__ == "__main__":
    ServedApp().run()
    print(f"resume with: harness --resume {SESSION}", file=sys.stderr)
