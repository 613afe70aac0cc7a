"""A question that takes keys. When it does is tried in `test_question_app`."""

import pytest
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.pilot import Pilot

from harness.ui.app.question import KeyRules, Question
from harness.ui.choices import Choice
from tests.ui.app.screens import settled

pytestmark = pytest.mark.anyio
CHOICES = (
    Choice("y", "yes, once", "once"),
    Choice("a", "yes, always", "always"),
    Choice("n", "no, and say why", "no", asks="why not?"),
)


class Host(App[None]):
    """Asks one question."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question
        self.answers: list[tuple[str, str]] = []
        self.left_to_the_app: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.question

    def on_mount(self) -> None:
        self.question.open()
        self.question.focus()

    def on_question_answered(self, message: Question.Answered) -> None:
        self.answers.append((message.value, message.text))

    def key_escape(self) -> None:
        self.left_to_the_app.append("escape")


async def inside(pilot: Pilot[None]) -> list[str]:
    """The rows of the box, without its bar."""
    return [row.lstrip(" ▌").rstrip() for row in await settled(pilot) if row]


def asking(detail: Content | str = "", title: str = "it runs a program: rm -rf build") -> Host:
    return Host(Question(title, CHOICES, detail))


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("y",), "once"),
        (("Y",), "once"),
        (("a",), "always"),
        (("1",), "once"),
        (("2",), "always"),
        (("２",), "always"),
        (("ａ",), "always"),
        (("enter",), "once"),
        (("down", "enter"), "always"),
        (("up", "up", "enter"), "always"),
        (("down", "down", "down", "enter"), "once"),
        (("x", "9", "0", "space", "tab", "enter"), "once"),
    ],
)
async def test_letters_numbers_and_arrows_answer_full_width_ones_too(keys: tuple[str, ...], value: str) -> None:
    app = asking()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        assert app.answers == [(value, "")]


async def test_a_reason_is_asked_for_where_the_choice_wants_one() -> None:
    app = asking()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("n")
        assert any("why not?" in row for row in await settled(pilot))
        await pilot.press(*"y2 no", "enter")
        await pilot.pause()
        assert app.answers == [("no", "y2 no")]


async def test_enter_alone_gives_no_reason() -> None:
    app = asking()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("3", "space", "enter")
        await pilot.pause()
        assert app.answers == [("no", "")]


async def test_escape_takes_the_reason_back_and_otherwise_belongs_to_the_app() -> None:
    app = asking()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("n", "b", "escape")
        assert app.left_to_the_app == []
        assert not any("why not?" in row for row in await settled(pilot))
        await pilot.press("escape")
        assert app.left_to_the_app == ["escape"]
        await pilot.press("n")
        await pilot.press("enter")
        await pilot.pause()
        assert app.answers == [("no", "")]


async def test_what_is_chosen_is_marked() -> None:
    app = asking()
    async with app.run_test(size=(60, 20)) as pilot:
        assert (await inside(pilot))[1:4] == [
            "▸ y  yes, once",
            "a  yes, always",
            "n  no, and say why",
        ]
        await pilot.press("down")
        assert any("▸ a  yes, always" in row for row in await settled(pilot))


@pytest.mark.parametrize("rows", [10, 24, 50])
async def test_a_long_detail_is_scrolled_and_its_choices_stay_in_sight(rows: int) -> None:
    app = asking("\n".join(f"line {number}" for number in range(200)))
    async with app.run_test(size=(60, rows)) as pilot:
        first = await inside(pilot)
        assert any("line 0" in row for row in first)
        assert any("n  no, and say why" in row for row in first)
        app.question.scroll_page(1)
        later = await inside(pilot)
        assert not any(row == "line 0" for row in later)
        assert any("▸ y  yes, once" in row for row in later)
        below = int(next(row for row in later if "· PgDn" in row).split()[1])
        last = max(int(row.split()[1]) for row in later if row.startswith("line "))
        assert last + below == 199
        app.question.scroll_page(-1)
        assert await inside(pilot) == first
        app.query_one(VerticalScroll).scroll_end(animate=False)
        assert any("↑ PgUp" in row for row in await settled(pilot))


async def test_text_of_others_is_neither_markup_nor_control() -> None:
    hostile = "[bold]x[/bold] [/] [@click=app.quit]y[/]"
    app = asking(detail=f"$ {hostile}", title=f"{hostile} \x1b[2J 天気")
    async with app.run_test(size=(80, 20)) as pilot:
        rows = await settled(pilot)
        assert sum(hostile in row for row in rows) == 2
        assert not any("\x1b" in row for row in rows)
        assert any("天気" in row for row in rows)


async def test_the_reason_is_below_what_is_asked_and_lines_below_their_choice() -> None:
    keep = Choice("k", "keep a rule", "keep", lines=("bash(touch a)", "bash(make [x])"))
    app = Host(Question("touch a && make", (*CHOICES, keep), reason="it runs [b]make[/b]"))
    async with app.run_test(size=(60, 20)) as pilot:
        rows = await inside(pilot)
        assert rows[:3] == ["touch a && make", "it runs [b]make[/b]", "▸ y  yes, once"]
        assert rows[5:8] == ["k  keep a rule", "bash(touch a)", "bash(make [x])"]


async def test_a_detail_may_depend_on_the_width() -> None:
    app = Host(Question("may it?", CHOICES, lambda width: Content("x" * width)))
    async with app.run_test(size=(60, 20)) as pilot:
        for width in (60, 40):
            await pilot.resize_terminal(width, 20)
            app.question.fit(app.size)
            assert "x" * (width - 4) in await inside(pilot)


async def test_a_letter_only_marks_a_choice_where_there_is_a_danger() -> None:
    app = Host(
        Question("rm -rf build", CHOICES, reason="it removes files", preselected="no", keys=KeyRules(dangerous=True))
    )
    async with app.run_test(size=(60, 20)) as pilot:
        assert any("▸ n" in row for row in await settled(pilot))
        await pilot.press("1", "y")
        assert app.answers == []
        assert any("▸ y" in row for row in await settled(pilot))
        await pilot.press("enter")
        await pilot.pause()
        assert app.answers == [("once", "")]


OPTIONS = (
    Choice("", "red", "0", note="like the [b]logo[/b]"),
    Choice("", "blue", "1"),
    Choice("w", "something else", "text", asks="your answer"),
)


def free() -> Host:
    return Host(Question("Which colour?", OPTIONS, keys=KeyRules(escape="declined")))


async def test_an_option_without_a_letter_shows_its_number_and_what_it_means() -> None:
    app = free()
    async with app.run_test(size=(60, 20)) as pilot:
        assert (await inside(pilot))[1:4] == ["▸ 1  red  like the [b]logo[/b]", "2  blue", "w  something else"]
        await pilot.press("2")
        await pilot.pause()
        assert app.answers == [("1", "")]


async def test_escape_declines_a_question_that_can_be_declined_and_first_takes_the_words_back() -> None:
    app = free()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("w", "g", "escape")
        assert app.answers == []
        await pilot.press("escape", "1")
        await pilot.pause()
        assert (app.answers, app.left_to_the_app) == ([("declined", "")], [])


async def test_words_of_ones_own_are_an_answer() -> None:
    app = free()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"w1 green", "enter")
        await pilot.pause()
        assert app.answers == [("text", "1 green")]


async def test_choices_that_wrap_leave_room_for_the_prompt() -> None:
    choices = (*CHOICES, Choice("k", "yes, and always " * 6, "keep"))
    app = Host(Question("may it?", choices, "\n".join(map(str, range(200)))))
    async with app.run_test(size=(40, 18)) as pilot:
        rows = await settled(pilot)
        assert any("more lines · PgDn" in row for row in rows)
        assert app.question.region.height <= 18 - 3
