"""Questions and keys that were meant for something else, with real key events and a clock that is set by hand."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic

import pytest
from textual import events
from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from harness.ui.app.completion import Completer
from harness.ui.app.list_picker import Picker
from harness.ui.app.prompt import PromptArea
from harness.ui.app.prompt_history import PromptHistory
from harness.ui.app.question import OPEN, WAITING, Choice, Question
from harness.ui.app.question_app import QuestionApp
from harness.ui.question_focus import GRACE_S, HOLD_S
from tests.ui.app.host import COMMANDS
from tests.ui.app.screens import settled
from tests.whole import stride

pytestmark = pytest.mark.anyio
CHOICES = (
    Choice("y", "yes, once", "once"),
    Choice("a", "yes, always", "always"),
    Choice("k", "keep a rule", "keep", asks="the rule", text="bash(touch *)"),
    Choice("n", "no, and say why", "no", asks="why not?"),
)
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
        """Have a question put; what is typed from now on may be there before it is."""

        async def asking() -> None:
            self.app.answers.append(await self.app.ask(Question("touch a?", CHOICES, preselected=preselected)))

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
            await self.wait(every)

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
        """Wait until the question takes keys by itself."""
        async with asyncio.timeout(20):
            while not self.answers_now():
                await self.pilot.pause(0.05)

    def answers_now(self) -> bool:
        """Whether the question takes keys."""
        return self.app.answering

    async def done(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def hands(size: tuple[int, int] = (80, 24)) -> AsyncIterator[Hands]:
    app = Host()
    async with app.run_test(size=size) as pilot:
        typing = Hands(app, pilot)
        yield typing
        await typing.done()


async def test_letters_typed_while_it_appears_stay_in_the_prompt() -> None:
    async with hands() as user:
        await user.type("okay ple")
        user.ask()
        await user.burst(*"as")
        await user.shown()
        await user.type("e also add many keys", every=0.3)
        await user.wait(10)
        assert user.app.prompt.text == "okay please also add many keys"
        assert user.app.answers == []
        screen = await settled(user.pilot)
        assert any(WAITING in row for row in screen)
        assert not any("▸ 1 yes, once" in row for row in screen)


async def test_a_sentence_begun_as_it_appears_and_sent_is_a_prompt() -> None:
    async with hands() as user:
        await user.asked()
        await user.burst(*"always use tabs\n")
        assert (user.app.submitted, user.app.answers) == (["always use tabs"], [])


async def test_enter_in_the_burst_that_it_appears_in_answers_nothing() -> None:
    async with hands() as user:
        user.ask()
        await user.burst("\n", "\n", "y", "\n")
        await user.shown()
        await user.burst("\n")
        assert (user.app.submitted, user.app.answers) == (["y"], [])
        await user.wait(GRACE_S)
        await user.burst("\n")
        assert user.app.answers == [("once", "")]


async def test_keys_from_before_it_took_keys_answer_nothing_however_late_they_arrive() -> None:
    async with hands() as user:
        await user.open()
        await user.burst("y", "\n", at=user.app.now - 0.01)
        assert (user.app.submitted, user.app.answers) == (["y"], [])
        assert not user.answers_now()


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ("y", "once"),
        ("Y", "once"),
        ("a", "always"),
        ("1", "once"),
        ("2", "always"),
        ("２", "always"),
        ("ａ", "always"),
        ("\n", "once"),
        (("down", "\n"), "always"),
        (("up", "up", "up", "\n"), "always"),
        ("y\n", "once"),
    ],
)
async def test_after_a_moment_of_quiet_letters_numbers_and_arrows_answer(
    keys: str | tuple[str, ...], value: str
) -> None:
    async with hands() as user:
        await user.open()
        await user.burst(*keys)
        await user.wait(HOLD_S)
        assert user.app.answers == [(value, "")]
        assert user.app.prompt.empty
        await user.type("next")
        assert user.app.prompt.text == "next"


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    "text", ["also add tests", "yes but", "please", "２つ目", "ａｌｓｏ", "天気", "12", "90"][:: stride(3)]
)
async def test_words_at_an_open_question_are_no_answer(text: str) -> None:
    """Typed by hand, and in one burst, as an input method gives them."""
    for every in (0.0, 0.2):
        async with hands() as user:
            await user.open()
            await user.type(text, every)
            await user.wait(10)
            assert (user.app.prompt.text, user.app.answers) == (text, [])
            assert not user.answers_now()


async def test_a_letter_that_is_held_marks_its_choice_and_gives_it_back() -> None:
    async with hands() as user:
        await user.open()
        await user.burst("a")
        assert any("▸ 2 yes, always" in row for row in await settled(user.pilot))
        await user.burst("s")
        assert user.app.prompt.text == "as"
        assert not any("▸ 2" in row for row in await settled(user.pilot))


@pytest.mark.parametrize("key", ["escape", "backspace"])
async def test_a_letter_can_be_taken_back_for_a_moment(key: str) -> None:
    async with hands() as user:
        await user.open()
        await user.burst("y", key)
        await user.wait(10)
        assert (user.app.prompt.text, user.app.answers) == ("", [])
        assert user.answers_now()


async def test_with_text_in_the_prompt_it_waits_until_that_is_sent() -> None:
    async with hands() as user:
        user.app.prompt.load("half a sent")
        await user.asked()
        await user.wait(10)
        assert not user.answers_now()
        await user.type("ence\n")
        assert user.app.submitted == ["half a sentence"]
        await user.wait(GRACE_S / 2)
        assert not user.answers_now()
        await user.wait(GRACE_S / 2)
        await user.burst("y")
        await user.wait(HOLD_S)
        assert user.app.answers == [("once", "")]


async def test_once_the_prompt_is_empty_it_opens_by_itself() -> None:
    """With the time of the machine: whatever empties the prompt, something looks at the question in time."""
    async with hands() as user:
        user.app.go_by(monotonic)
        user.app.prompt.load("half a sentence")
        await user.asked()
        await user.burst("\n", at=monotonic())
        assert user.app.submitted == ["half a sentence"]
        await user.opens()


async def test_with_text_in_the_prompt_it_waits_until_that_is_cleared() -> None:
    async with hands() as user:
        user.app.prompt.load("x")
        await user.asked()
        await user.burst("backspace")
        await user.wait(GRACE_S)
        assert user.answers_now()


async def test_tab_goes_to_the_question_and_back_and_the_text_stays() -> None:
    async with hands() as user:
        user.app.prompt.load("half")
        await user.asked()
        await user.burst("\t")
        assert not user.answers_now()
        await user.wait(GRACE_S)
        assert user.answers_now()
        assert any(OPEN in row for row in await settled(user.pilot))
        await user.burst("\t")
        assert not user.answers_now()
        await user.type("-way")
        assert user.app.prompt.text == "half-way"
        await user.burst("\t")
        await user.wait(0.1)
        assert user.answers_now()
        await user.burst("n")
        await user.type("too slow")
        await user.burst("\n")
        assert (user.app.prompt.text, user.app.answers) == ("half-way", [("no", "too slow")])


async def test_tab_in_a_burst_takes_nothing_of_the_burst_along() -> None:
    async with hands() as user:
        user.app.prompt.load("half")
        await user.asked()
        await user.wait(GRACE_S)
        await user.burst("\t", "a", "\n", at=user.app.now - 0.01)
        await user.wait(10)
        assert (user.app.submitted, user.app.answers) == (["halfa"], [])


async def test_tab_leaves_an_empty_prompt_to_the_user_until_it_was_used() -> None:
    async with hands() as user:
        await user.open()
        await user.burst("\t")
        await user.wait(60)
        assert not user.answers_now()
        await user.type("also this\n")
        assert user.app.submitted == ["also this"]
        await user.wait(GRACE_S)
        assert user.answers_now()


async def test_tab_takes_what_is_offered_while_a_command_is_completed() -> None:
    async with hands() as user:
        user.app.prompt.load("")
        await user.asked()
        await user.type("/comp")
        await user.wait(GRACE_S)
        await user.burst("\t")
        assert user.app.prompt.text == "/compact "
        assert not user.answers_now()


async def test_a_paste_is_never_an_answer() -> None:
    async with hands() as user:
        await user.asked()
        await user.paste("y\n")
        await user.wait(10)
        assert (user.app.prompt.text, user.app.answers) == ("y\n", [])
    async with hands() as user:
        await user.open()
        await user.paste("always")
        await user.wait(10)
        assert (user.app.prompt.text, user.app.answers) == ("always", [])


async def test_the_reason_takes_every_character_a_paste_too() -> None:
    async with hands() as user:
        await user.open()
        await user.burst(*"not yet", " ")
        await user.paste("y 2\tk")
        await user.burst("\n")
        [(value, reason)] = user.app.answers
        assert (value, reason.split()) == ("no", ["ot", "yet", "y", "2", "k"])
        assert user.app.prompt.empty


async def test_a_rule_can_be_changed_before_it_is_kept_and_a_word_with_that_letter_is_none() -> None:
    async with hands() as user:
        await user.open()
        await user.type("keep going")
        assert (user.app.prompt.text, user.app.answers) == ("keep going", [])
        for _ in "keep going":
            await user.burst("backspace")
        await user.wait(GRACE_S)
        await user.burst("k")
        await user.wait(HOLD_S)
        for key in ("backspace", "backspace", "a", ")", "\n"):
            await user.burst(key)
        assert user.app.answers == [("keep", "bash(touch a)")]


async def test_no_can_be_what_enter_takes_at_first() -> None:
    async with hands() as user:
        await user.asked(preselected="no")
        await user.wait(GRACE_S)
        assert any("▸ 4 no, and say why" in row for row in await settled(user.pilot))
        await user.burst("\n", "\n")
        assert user.app.answers == [("no", "")]


async def test_an_answer_typed_twice_does_not_answer_the_next_question() -> None:
    async with hands() as user:
        user.ask()
        user.ask()
        await user.shown()
        await user.wait(GRACE_S)
        await user.burst("\n", "\n")
        await user.wait(GRACE_S / 2)
        await user.burst("y")
        await user.wait(10)
        assert (user.app.answers, user.app.prompt.text) == ([("once", "")], "y")


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
        await user.burst(*"and", at=monotonic())
        await user.burst("\n", at=monotonic())
        assert (user.app.submitted, user.app.prompt.text, chosen) == (["read a.py", "and"], "", [])
        await user.burst("down", "\n", at=monotonic() + GRACE_S)
        assert chosen == [1]


@pytest.mark.grid(1)
@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 36)])
async def test_choices_and_prompt_are_in_sight(size: tuple[int, int]) -> None:
    async with hands(size) as user:
        user.app.prompt.load("half a sentence")
        await user.asked()
        screen = await settled(user.pilot)
        for text in ("touch a?", "1 yes, once", "4 no, and say why", WAITING, "▸ half a sentence"):
            assert any(text in row for row in screen), text


@pytest.mark.grid(1)
@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 36)])
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
            for text in ("danger 0", "1 yes, once", "4 no, and say why", OPEN, "▸"):
                assert any(text in row for row in screen), text
            assert user.app.screen.max_scroll_y == 0
            asking.cancel()


async def _click(user: Hands, label: str) -> None:
    """Click on a choice, as the terminal reports it."""
    rows = await settled(user.pilot)
    row = next(number for number, text in enumerate(rows) if label in text)
    x = rows[row].index(label)
    for kind in (events.MouseDown, events.MouseUp):
        event = kind(None, x, row, 0, 0, 1, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=row)
        event.time = user.app.now
        user.app.post_message(event)
        await user.pilot.pause()


async def test_a_click_takes_a_choice_but_not_one_that_came_up_under_the_pointer() -> None:
    async with hands() as user:
        await user.asked()
        await _click(user, "yes, always")
        assert user.app.answers == []
        await user.wait(GRACE_S)
        await _click(user, "touch a?")  # no choice
        assert user.app.answers == []
        await _click(user, "yes, always")
        assert user.app.answers == [("always", "")]


async def test_a_click_answers_beside_a_prompt_that_is_not_finished_and_words_then_go_to_the_question() -> None:
    async with hands() as user:
        await user.asked()
        await user.type("half a prompt")
        await user.wait(5)
        assert not user.answers_now()
        await _click(user, "no, and say why")
        await user.burst(*"too loud\n")
        assert user.app.answers == [("no", "too loud")]
        assert (user.app.prompt.text, user.app.submitted) == ("half a prompt", [])


async def test_a_letter_that_was_held_goes_to_the_prompt_where_a_click_answers() -> None:
    async with hands() as user:
        await user.open()
        await user.burst("y")
        await _click(user, "yes, always")
        await user.wait(HOLD_S)
        assert (user.app.answers, user.app.prompt.text) == ([("always", "")], "y")


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


async def test_text_that_was_begun_before_a_list_opened_goes_on_in_the_prompt() -> None:
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
