"""A small app with one prompt, and a terminal that can be handed to an editor."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from harness.ui.app.completion import Candidate, Completer
from harness.ui.app.completion_list import CandidateList
from harness.ui.app.prompt import PromptArea
from harness.ui.app.prompt_history import PromptHistory
from harness.ui.app.prompt_text import PromptText

COMMANDS = (
    Candidate("/help", "this list"),
    Candidate("/clear", "start over"),
    Candidate("/compact", "shorten the history", insert="/compact "),
    Candidate("/model", "ask another model", insert="/model ", arguments=(Candidate("opus-5"), Candidate("haiku-4"))),
)
FILES = ("README.md", "src/", "src/config.py", "src/loop.py", "docs/", "docs/a b.md", "天気/", "天気/予報.md")


class Host(App[None]):
    """Keeps what the prompt says and which keys it left to the app."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        history: PromptHistory | None = None,
        *,
        shortcut: Callable[[str], bool] = lambda key: False,
        files: Sequence[str] = FILES,
    ) -> None:
        super().__init__()
        self.prompt = PromptArea(
            history or PromptHistory(None),
            Completer(lambda: COMMANDS, lambda: files),
            shortcut,
            placeholder="Ask something",
        )
        self.submitted: list[str] = []
        self.own_turn = False
        self.refused: list[str] = []
        self.changed: list[str] = []
        self.left_to_the_app: list[str] = []
        self.suspensions = 0

    def compose(self) -> ComposeResult:
        yield Static("above")
        yield self.prompt

    def on_mount(self) -> None:
        self.prompt.focus()

    def on_prompt_area_submitted(self, message: PromptArea.Submitted) -> None:
        self.submitted.append(message.text)
        self.own_turn = message.own_turn

    def on_prompt_area_refused(self, message: PromptArea.Refused) -> None:
        self.refused.append(message.text)

    def on_prompt_area_changed(self, message: PromptArea.Changed) -> None:
        self.changed.append(message.text)

    def on_key(self, event: events.Key) -> None:
        self.left_to_the_app.append(event.key)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        self.suspensions += 1
        yield

    @property
    def shown(self) -> str:
        """The text on the screen."""
        return self.query_one(PromptText).text

    @property
    def sign(self) -> str:
        return str(self.query_one("#prompt-sign", Static).content)

    @property
    def offered(self) -> list[str]:
        """The labels of the list; empty when it is not shown."""
        offered = self.query_one(CandidateList)
        return [candidate.label for candidate in offered.candidates] if offered.display else []


async def type_keys(pilot: Pilot[None], *keys: str) -> None:
    """Send these named keys in one burst, as a terminal does."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
    await pilot.pause()
    await pilot.pause()


async def type_text(pilot: Pilot[None], text: str) -> None:
    """One key for each character."""
    await type_keys(pilot, *text)


async def paste(pilot: Pilot[None], text: str) -> None:
    """As a terminal with bracketed paste sends it."""
    pilot.app.post_message(events.Paste(text))
    await pilot.pause()
