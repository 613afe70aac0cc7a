"""Questions and keys that were meant for something else, with real key events and a clock that is set by hand."""

import asyncio
import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from textual import events
from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from harness.ui.app.completion import Completer
from harness.ui.app.list_picker import Picker
from harness.ui.app.prompt import PromptArea
from harness.ui.app.prompt_history import PromptHistory
from harness.ui.app.question import OPEN, WAITING, KeyRules, Question
from harness.ui.app.question_app import QuestionApp
from harness.ui.choices import Choice
from harness.ui.question_focus import GRACE_S, HOLD_S
from tests.ui.app.host import COMMANDS
from tests.ui.app.screens import settled

pytestmark = pytest.mark.anyio
CHOICES = (
    Choice("y", "yes, once", "once"),
    Choice("a", "yes, always", "always"),
    Choice("k", "keep a rule", "keep", asks="the rule", text="bash(touch *)"),
    Choice("n", "no, and say why", "no", asks="why not?"),
)
KEYS = ("backspace", "escape", "down", "up", "ctrl+u")
"""Keys that a story has by their names; any other word is typed character by character."""
STORIES = tomllib.loads(Path(__file__).with_name("question_keys.toml").read_text("utf-8"))["story"]
NAMES = {"\n": "enter", "\t": "tab", " ": "space"}


class Host(QuestionApp):
    """A prompt that may get questions."""

    def __init__(self) -> None:
        super().__init__(clock=self.time)
        self._by: Callable[[], float] = lambda: self.now
        self.now = 1_000.0
        self.prompt = PromptArea(PromptHistory(None), Completer(lambda: COMMANDS, tuple))
        self.submitted: list[str] = []
        self.answers: list[tuple[str, str]] = []

    def compose(self) -> ComposeResult:
        yield Static("above")
        yield self.prompt

    def on_mount(self) -> None:
        self.prompt.focus()

    def time(self) -> float:
        return self._by()

    def go_by(self, clock: Callable[[], float]) -> None:
        """Another clock."""
        self._by = clock

    @property
    def widget_above_question(self) -> Static:
        return self.query_one(Static)

    def on_prompt_area_submitted(self, message: PromptArea.Submitted) -> None:
        self.submitted.append(message.text)


class Hands:
    """Whoever types at it."""

    def __init__(self, app: Host, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot
        self._tasks: list[asyncio.Task[None]] = []

    def ask(self, *, preselected: str = "") -> None:
        """Ask a question; later keys may arrive before it is shown."""

        async def asking() -> None:
            missing = {"f": "no rule for it"}
            question = Question("touch a?", CHOICES, preselected=preselected, keys=KeyRules(missing=missing))
            self.app.answers.append(await self.app.ask(question))

        self._tasks.append(asyncio.create_task(asking()))

    async def shown(self) -> None:
        """Wait until the question is on the screen."""
        while not self.app.query(Question):
            await self.pilot.pause()
        await settled(self.pilot)

    async def asked(self, *, preselected: str = "") -> None:
        """Have a question put, and see it."""
        self.ask(preselected=preselected)
        await self.shown()

    async def open(self) -> None:
        """Have a question put, and wait until it takes keys."""
        await self.asked()
        await self.wait(GRACE_S)
        assert self.answers_now()

    async def burst(self, *keys: str, at: float | None = None) -> None:
        """Keys that arrive at once."""
        for key in keys:
            name = NAMES.get(key, key)
            event = events.Key(name, key if len(key) == 1 else None)
            event.time = self.app.now if at is None else at
            self.app.post_message(event)
        await self.pilot.pause()

    async def type(self, text: str, every: float = 0.1) -> None:
        """Text as a person types it."""
        for character in text:
            await self.burst(character)
            self.app.now += every
            self.app.settle_question()
        await self.pilot.pause()

    async def paste(self, text: str) -> None:
        event = events.Paste(text)
        event.time = self.app.now
        self.app.post_message(event)
        await self.pilot.pause()

    async def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.app.now += seconds
        self.app.settle_question()
        await self.pilot.pause()

    async def opens(self) -> None:
        """Wait until the question accepts keys."""
        async with asyncio.timeout(60):
            while not self.answers_now():
                await self.pilot.pause(0.05)

    def answers_now(self) -> bool:
        """Whether the question takes keys."""
        return self.app.answering

    async def click(self, label: str) -> None:
        """Click on a choice, as the terminal reports it."""
        rows = await settled(self.pilot)
        row = next(number for number, text in enumerate(rows) if label in text)
        x = rows[row].index(label)
        for kind in (events.MouseDown, events.MouseUp):
            event = kind(None, x, row, 0, 0, 1, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=row)
            event.time = self.app.now
            self.app.post_message(event)
            await self.pilot.pause()

    async def play(self, verb: str, *arguments: Any) -> None:
        """One step of a story."""
        times = {"grace": GRACE_S, "half": GRACE_S / 2, "hold": HOLD_S}
        match verb:
            case "ask":
                self.ask()
            case "load":
                self.app.prompt.load(*arguments)
            case "burst" | "before":
                keys = [key for word in arguments for key in ([word] if word in KEYS else word)]
                await self.burst(*keys, at=self.app.now - 0.01 * (verb == "before"))
            case "wait":
                await self.wait(times.get(arguments[0], arguments[0]))
            case "asked":
                await self.asked(preselected=arguments[0] if arguments else "")
            case "prompt" | "answers" | "sent":
                found = {
                    "prompt": [self.app.prompt.text],
                    "answers": [list(one) for one in self.app.answers],
                    "sent": self.app.submitted,
                }
                assert found[verb] == list(arguments)
            case "is open" | "is closed":
                assert self.answers_now() is (verb == "is open")
            case "shows" | "hides":
                text = {"OPEN": OPEN, "WAITING": WAITING}.get(arguments[0], arguments[0])
                assert any(text in row for row in await settled(self.pilot)) is (verb == "shows")
            case _:
                await getattr(self, verb)(*arguments)

    async def begin_anew(self) -> None:
        """Withdraw the question and clear the prompt."""
        await self.done()
        self.app.prompt.load("")
        self.app.submitted.clear()
        self.app.answers.clear()
        await self.wait(60)
        assert not self.app.query(Question)

    async def done(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()


@asynccontextmanager
async def hands(size: tuple[int, int] = (80, 24)) -> AsyncIterator[Hands]:
    app = Host()
    async with app.run_test(size=size) as pilot:
        typing = Hands(app, pilot)
        yield typing
        await typing.done()


@pytest.mark.grid(1)
@pytest.mark.parametrize("part", range(4))
async def test_what_is_typed_around_a_question_goes_where_it_was_meant_to_go(part: int) -> None:
    """One app for a quarter of the stories; each begins with an empty prompt and without a question."""
    async with hands() as user:
        for story in STORIES[part::4]:
            for number, step in enumerate(story["steps"]):
                try:
                    await user.play(*step)
                except AssertionError as error:
                    raise AssertionError(f"{story['name']}, step {number}: {step}") from error
            await user.begin_anew()


async def test_once_the_prompt_is_empty_it_opens_by_itself() -> None:
    """With the time of the machine: whatever empties the prompt, something looks at the question in time."""
    async with hands() as user:
        user.app.go_by(monotonic)
        user.app.prompt.load("half a sentence")
        await user.asked()
        await user.burst("\n", at=monotonic())
        assert user.app.submitted == ["half a sentence"]
        await user.opens()


async def test_the_reason_takes_every_character_a_paste_too() -> None:
    async with hands() as user:
        await user.open()
        await user.burst(*"not yet", " ")
        await user.paste("y 2\tk")
        await user.burst("\n")
        [(value, reason)] = user.app.answers
        assert (value, reason.split()) == ("no", ["ot", "yet", "y", "2", "k"])
        assert user.app.prompt.empty


async def test_what_was_behind_a_list_begins_its_moment_when_it_can_be_seen() -> None:
    async with hands() as user:
        picker = Picker("Which?", ["one", "two"])
        user.app.push_screen(picker)
        await settled(user.pilot)
        await user.asked()
        await user.wait(10)
        await user.burst("escape")
        assert not user.answers_now()
        await user.burst("y")
        assert (user.app.prompt.text, user.app.answers) == ("y", [])
        await user.burst("backspace")
        await user.wait(GRACE_S)
        assert user.answers_now()


async def test_a_page_that_hid_an_open_question_closes_it_until_it_was_seen_again() -> None:
    async with hands() as user:
        user.app.go_by(monotonic)
        await user.asked()
        await user.opens()
        user.app.push_screen(Picker("Which?", ["one", "two"]))
        await settled(user.pilot)
        await user.burst("down", at=monotonic())
        await user.burst("escape", at=monotonic())
        assert not user.answers_now()
        assert any(WAITING in row for row in await settled(user.pilot))
        await user.opens()


async def test_what_an_editor_hid_begins_its_moment_anew() -> None:
    async with hands() as user:
        await user.open()
        user.app.app_resume_signal.publish(user.app)
        await settled(user.pilot)
        await user.burst("y")
        assert (user.app.prompt.text, user.app.answers) == ("y", [])


async def test_a_list_that_opens_takes_no_text_and_no_enter_behind_text() -> None:
    async with hands() as user:
        chosen: list[int | None] = []
        await user.burst(*"read ")
        user.app.push_screen(Picker("Which?", ["one", "two", "three"]), chosen.append)
        before = monotonic()
        await settled(user.pilot)
        await user.burst(*"a.py", "\n", at=before)
        await user.burst(*"and", "\n", at=before)
        assert (user.app.submitted, user.app.prompt.text, chosen) == (["read a.py", "and"], "", [])
        await user.burst("down", "\n", at=monotonic() + GRACE_S)
        assert chosen == [1]


async def test_choices_and_prompt_are_in_sight() -> None:
    async with hands((60, 20)) as user:
        user.app.prompt.load("half a sentence")
        await user.asked()
        for size in ((60, 20), (80, 24), (120, 36)):
            await user.pilot.resize_terminal(*size)
            screen = await settled(user.pilot)
            for text in ("touch a?", "y  yes, once", "n  no, and say why", WAITING, "▸ half a sentence"):
                assert any(text in row for row in screen), text


@pytest.mark.grid(1)
@pytest.mark.parametrize("size", [(60, 20), (120, 36)])
async def test_however_much_there_is_to_say_all_rows_fit_also_after_a_resize(size: tuple[int, int]) -> None:
    title = "\n".join(
        f"  · danger {number}, which is told at length and in more words than one row takes" for number in range(30)
    )
    for first in (size, (100, 50)):
        async with hands(first) as user:
            asking = asyncio.ensure_future(user.app.ask(Question(title, CHOICES)))
            await user.shown()
            if first != size:
                await user.pilot.resize_terminal(*size)
            await user.wait(GRACE_S)
            await user.burst("n", *"no")
            screen = await settled(user.pilot)
            for text in ("danger 0", "y  yes, once", "n  no, and say why", OPEN, "▸"):
                assert any(text in row for row in screen), text
            assert user.app.screen.max_scroll_y == 0
            asking.cancel()


async def test_words_typed_into_a_list_narrow_it_and_leave_the_prompt_alone() -> None:
    async with hands() as user:
        chosen: list[int | None] = []
        lines = ["red, two days old", "green, new", "red, new"]
        user.app.push_screen(Picker("Which?", lines), chosen.append)
        await settled(user.pilot)
        await user.burst(*"new redx", at=monotonic())
        assert any("Which?   ? new redx · nothing found" in row for row in await settled(user.pilot))
        await user.burst("\n", at=monotonic())
        await user.burst("backspace", at=monotonic())
        seen = "\n".join(await settled(user.pilot))
        assert ("red, new" in seen, "red, two" in seen, "green" in seen) == (True, False, False)
        await user.burst("\n", at=monotonic())
        assert (chosen, user.app.prompt.text, user.app.submitted) == ([2], "", [])


async def test_a_paste_narrows_a_list_and_ctrl_u_shows_all_of_it_again() -> None:
    async with hands() as user:
        user.app.push_screen(Picker("Which?", ["one", "two", "three"]))
        await settled(user.pilot)
        user.app.go_by(monotonic)
        user.app.now = monotonic()
        await user.paste(" THREE\n")
        seen = "\n".join(await settled(user.pilot))
        assert ("one" in seen, "three" in seen) == (False, True)
        await user.burst("ctrl+u", at=monotonic())
        assert "one" in "\n".join(await settled(user.pilot))


async def test_text_that_was_begun_before_a_list_opened_continues_in_the_prompt() -> None:
    async with hands() as user:
        await user.burst(*"read ")
        user.app.push_screen(Picker("Which?", ["one", "two"]))
        await settled(user.pilot)
        await user.burst(*"one", at=monotonic() + GRACE_S)
        assert user.app.prompt.text == "read one"


@pytest.mark.parametrize("row", [24, 30])
async def test_a_mouse_button_released_outside_the_screen_does_not_take_the_keys_away(row: int) -> None:
    async with hands() as user:
        for kind in (events.MouseDown, events.MouseMove, events.MouseUp):
            down = kind is events.MouseDown
            user.app.post_message(kind(None, 4, 0 if down else row, 0, 0, 1, shift=False, meta=False, ctrl=False))
        await user.pilot.pause()
        await user.burst(*"still here")
        assert user.app.prompt.text == "still here"
