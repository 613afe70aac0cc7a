"""The conversation as a window of widgets on a list of entries."""

from time import process_time

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from harness.ui.app.chat import EARLIER, KEPT, MOUNTED, Chat, EntryView
from harness.ui.transcript.entries import AnswerEntry, Entry, TextEntry
from tests.ui.app.screens import click, screen_lines, settled

pytestmark = pytest.mark.anyio
ROWS = 20


class Plain:
    """Draws an entry as its text, expanded with a second line; notes what it draws."""

    def __init__(self) -> None:
        self.drawn: list[str] = []

    def content(self, entry: Entry, columns: int, *, expanded: bool) -> Content:
        assert isinstance(entry, TextEntry | AnswerEntry)
        self.drawn.append(entry.text)
        return Content(entry.text + ("\n  expanded" if expanded else ""))

    def apart(self, above: Entry | None, below: Entry) -> bool:
        return False


class Host(App[None]):
    """A conversation and a line below it."""

    CSS = "Chat { height: 1fr; } Static#below { height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.drawing = Plain()

    def compose(self) -> ComposeResult:
        yield Chat(self.drawing)
        yield Static("below", id="below")

    @property
    def chat(self) -> Chat:
        return self.query_one(Chat)

    @property
    def mounted(self) -> list[int]:
        """The numbers of the entries that are widgets."""
        return [view.number for view in self.query(EntryView)]


def entries(count: int, begin: int = 0) -> list[Entry]:
    """So many entries of one row."""
    return [TextEntry(f"entry {number}") for number in range(begin, begin + count)]


async def shown(pilot: Pilot[None]) -> list[str]:
    """The rows of the conversation without the scrollbar."""
    return [row[:40].strip() for row in (await settled(pilot))[:-1]]


async def test_few_entries_are_at_the_top_also_after_the_window_changed_its_size() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(8))
        assert (await shown(pilot))[:9] == [*(f"entry {number}" for number in range(8)), ""]
        for rows in (5, 30, 9, 8, 20):
            await pilot.resize_terminal(60, rows)
            seen = await shown(pilot)
            assert seen[: min(8, rows - 1)] == [f"entry {number}" for number in range(8)][-(rows - 1) :], rows


async def test_the_newest_entries_are_widgets_and_the_last_one_is_at_the_bottom() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(500))
        assert (await shown(pilot))[-1] == "entry 499"
        assert app.mounted == list(range(500 - MOUNTED, 500))


async def test_entries_one_by_one_keep_the_window_small_and_the_newest_in_sight() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        for count in range(1, 3 * MOUNTED, 7):
            app.chat.update(entries(count), max(0, count - 7))
            await pilot.pause()
        assert (await shown(pilot))[-1] == f"entry {count - 1}"
        assert len(app.mounted) <= MOUNTED
        assert app.mounted == list(range(count - len(app.mounted), count))


async def test_scrolling_up_brings_earlier_entries_and_keeps_the_place_until_the_first() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(300))
        await settled(pilot)
        app.chat.scroll_home(animate=False)
        first = 300 - MOUNTED
        assert (await shown(pilot))[0] == f"entry {first}"
        assert app.mounted[0] == first - EARLIER
        for mounted in range(first - EARLIER, 0, -EARLIER):
            assert app.mounted[0] == mounted
            app.chat.scroll_home(animate=False)
            await settled(pilot)
        app.chat.scroll_home(animate=False)
        assert (await shown(pilot))[0] == "entry 0"
        assert app.mounted == list(range(300))


async def test_the_place_is_kept_also_where_the_top_is_reached_twice_before_the_screen_is_drawn() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(300))
        await settled(pilot)
        first = 300 - MOUNTED
        for row in (0, 0.5, 0):
            app.chat.scroll_to(y=row, animate=False, immediate=True)
        with app.batch_update():
            for _ in range(5):
                await pilot.pause(0.02)
        assert (await shown(pilot))[0] == f"entry {first}"
        assert app.mounted[0] == first - EARLIER
        app.chat.scroll_home(animate=False)
        await settled(pilot)
        assert app.mounted[0] == first - 2 * EARLIER


async def test_what_is_new_does_not_move_the_place_of_who_reads_above_and_the_bottom_prunes_again() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(300))
        await settled(pilot)
        app.chat.scroll_relative(y=-30, animate=False)
        before = await shown(pilot)
        app.chat.update(entries(420), 300)
        assert await shown(pilot) == before
        assert app.mounted[-1] == 419
        app.chat.follow()
        assert (await shown(pilot))[-1] == "entry 419"
        assert app.mounted == list(range(420 - KEPT, 420))


async def test_an_answer_that_grows_is_followed_at_the_bottom_and_nowhere_else() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        before = entries(40)
        for lines in range(1, 30, 5):
            app.chat.update([*before, AnswerEntry("\n".join(f"line {number}" for number in range(lines)))], 40)
            assert (await shown(pilot))[-1] == f"line {lines - 1}"
        app.chat.scroll_relative(y=-3, animate=False)
        place = await shown(pilot)
        app.chat.update([*before, AnswerEntry("\n".join(f"line {number}" for number in range(60)), done=True)], 40)
        assert await shown(pilot) == place
        app.chat.scroll_end(animate=False)
        assert (await shown(pilot))[-1] == "line 59"
        app.chat.update([*before, AnswerEntry("\n".join(f"line {number}" for number in range(70)))], 40)
        assert (await shown(pilot))[-1] == "line 69"


async def test_entries_that_are_gone_are_no_widgets_any_more() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(300))
        await settled(pilot)
        app.chat.update(entries(10), 10)
        assert [row for row in await shown(pilot) if row] == [f"entry {number}" for number in range(10)]
        app.chat.update((), 0)
        assert not any(await shown(pilot))
        app.chat.update([TextEntry("anew")], 0)
        assert (await shown(pilot))[0] == "anew"


async def test_a_rewind_in_a_long_conversation_shows_what_stood_before() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(300))
        await settled(pilot)
        app.chat.update(entries(150), 150)
        assert (await shown(pilot))[-1] == "entry 149"
        app.chat.update([*entries(150), TextEntry("another way")], 150)
        assert (await shown(pilot))[-1] == "another way"


async def test_only_what_changed_is_drawn_again() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(30))
        await settled(pilot)
        app.drawing.drawn.clear()
        app.chat.update([*entries(29), TextEntry("other")], 28)
        await settled(pilot)
        assert app.drawing.drawn == ["other"]


async def test_a_new_entry_and_an_answer_that_grows_cost_one_layout_of_the_screen_each() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        before = entries(30)
        app.chat.update(before)
        await settled(pilot)
        layouts: list[Screen[object]] = []
        app.screen.screen_layout_refresh_signal.subscribe(app.chat, layouts.append)
        for now in ([*before, AnswerEntry("one")], [*before, AnswerEntry("one\ntwo\nthree")]):
            layouts.clear()
            app.chat.update(now, len(before))
            await settled(pilot)
            assert "".join(await shown(pilot)).endswith(("one", "three"))
            assert len(layouts) == 1


async def test_all_are_expanded_and_folded_and_a_click_does_it_for_one() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(3))
        await settled(pilot)
        await click(pilot, 4, 1)
        assert (await shown(pilot))[:4] == ["entry 0", "entry 1", "expanded", "entry 2"]
        await click(pilot, 9, 1)
        assert (await shown(pilot))[:3] == ["entry 0", "entry 1", "entry 2"]
        assert app.chat.expand_all()
        assert (await shown(pilot)).count("expanded") == 3
        await click(pilot, 4, 0)
        assert (await shown(pilot))[:3] == ["entry 0", "entry 1", "expanded"]
        assert not app.chat.expand_all()
        assert "expanded" not in await shown(pilot)


async def test_another_width_draws_all_that_is_mounted_again() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(5))
        await settled(pilot)
        app.drawing.drawn.clear()
        await pilot.resize_terminal(50, ROWS)
        await settled(pilot)
        assert sorted(set(app.drawing.drawn)) == [f"entry {number}" for number in range(5)]


async def test_three_thousand_entries_at_once_cost_no_more_than_those_that_are_shown() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        began = process_time()
        app.chat.update(entries(3_000))
        assert (await shown(pilot))[-1] == "entry 2999"
        assert len(app.mounted) == MOUNTED
        assert process_time() - began < 2.0


async def test_text_of_others_is_no_markup() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update([TextEntry("[bold]x[/bold] [/] [@click=app.bell]"), TextEntry("天気予報 👩‍👩‍👧 end")])
        rows = await settled(pilot)
        assert rows[0].strip() == "[bold]x[/bold] [/] [@click=app.bell]"
        assert screen_lines(app)[1].strip().startswith("天気予報")
