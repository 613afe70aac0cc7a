"""The conversation: one widget that draws the rows of its entries."""

import asyncio
from collections.abc import Sequence

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.color import Color
from textual.content import Content
from textual.events import MouseMove, MouseScrollDown
from textual.pilot import Pilot
from textual.screen import Screen
from textual.style import Style
from textual.widgets import Static

from benchmarks.screen_stream import prose
from harness.ui.app.chat import AROUND, KEPT, Chat
from harness.ui.app.views import EntryRenderer
from harness.ui.transcript.entries import AnswerEntry, Entry, TextEntry
from tests.ui.app.screens import click, screen_lines, screen_rows, settled

pytestmark = pytest.mark.anyio
ROWS = 20
TINT = str(Color.parse("#123456").rich_color)


class Plain:
    """Draws an entry as its text, expanded with a second line; notes what it draws."""

    def __init__(self) -> None:
        self.drawn: list[str] = []

    def blocks(self, entry: Entry, columns: int, *, expanded: bool) -> list[Content]:
        assert isinstance(entry, TextEntry | AnswerEntry)
        self.drawn.append(entry.text)
        return [Content(entry.text + ("\n  expanded" if expanded else ""))]

    def apart(self, above: Entry | None, below: Entry) -> bool:
        return False


class Host(App[None]):
    """A conversation and a line below it."""

    CSS = "Chat { height: 1fr; } Static#below { height: 1; }"
    CLICK_CHAIN_TIME_THRESHOLD = 10.0

    def __init__(self) -> None:
        super().__init__()
        self.drawing = Plain()

    def compose(self) -> ComposeResult:
        yield Chat(self.drawing)
        yield Static("below", id="below")

    @property
    def chat(self) -> Chat:
        return self.query_one(Chat)


def entries(count: int, begin: int = 0) -> list[Entry]:
    """So many entries of one row."""
    return [TextEntry(f"entry {number}") for number in range(begin, begin + count)]


async def drag(pilot: Pilot[None], begin: tuple[int, int], end: tuple[int, int]) -> None:
    """Drag the mouse from one cell to another."""
    await pilot.mouse_down(offset=begin)
    await pilot.hover(offset=((begin[0] + end[0]) // 2, (begin[1] + end[1]) // 2))
    await pilot.hover(offset=end)
    await pilot.mouse_up(offset=end)
    await pilot.pause()


def highlighted_text(app: App[None], row: Sequence[Segment]) -> str:
    """The text of a row in the colour of a selection."""
    selection = app.screen.get_component_styles("screen--selection").background
    colour = (Color.parse(app.theme_variables["background"]) + selection).rich_color
    selected = [(text, style.color) for text, style, _ in row if style and style.bgcolor == colour]
    assert all(foreground != colour for _, foreground in selected)
    return "".join(text for text, _ in selected)


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


async def test_of_many_entries_those_near_the_screen_are_drawn() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(3_000))
        assert (await shown(pilot))[-1] == "entry 2999"
        assert set(app.drawing.drawn) == {f"entry {number}" for number in range(3_000 - AROUND - (ROWS - 1), 3_000)}
        for _ in range(20):
            app.chat.scroll_relative(y=-40, animate=False)
            await pilot.pause()
        assert len(app.chat._drawn) <= KEPT


async def test_pages_and_the_wheel_show_every_row_also_where_heights_were_estimated() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        texts = [f"entry {number}" + "\nmore" * (number % 7) for number in range(300)]
        app.chat.update([TextEntry(text) for text in texts])
        rows = "\n".join(texts).split("\n")
        await settled(pilot)
        for at in range(len(rows) - 19, len(rows) - 200, -19):
            assert await shown(pilot) == rows[at : at + 19]
            app.chat.scroll_page_up(animate=False)
        app.chat.scroll_home(animate=False)
        assert await shown(pilot) == rows[:19]
        for at in range(2, 10, 2):
            app.chat._on_mouse_scroll_down(MouseScrollDown(app.chat, 1, 1, 0, 1, 0, False, False, False))  # noqa: FBT003
            assert await shown(pilot) == rows[at : at + 19]


async def test_a_message_costs_no_layout_and_is_the_only_one_drawn() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        before = entries(30)
        app.chat.update(before)
        await settled(pilot)
        layouts: list[Screen[object]] = []
        app.screen.screen_layout_refresh_signal.subscribe(app.chat, layouts.append)
        for now in ([*before, AnswerEntry("one")], [*before, AnswerEntry("one\ntwo\nthree")]):
            app.drawing.drawn.clear()
            app.chat.update(now, len(before))
            await settled(pilot)
            assert "".join(await shown(pilot)).endswith(("one", "three"))
            assert len(app.drawing.drawn) == 1
            assert not layouts


async def test_a_frame_of_a_long_answer_draws_what_is_new_in_it() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        chat, text = app.chat, ""
        chat.set_renderer(EntryRenderer(lambda: 0.0))
        for words in (60, 8_000):
            text += prose(words - len(text.split()), words) + "\n\n"
            chat.update([TextEntry("before"), AnswerEntry(text)], 1)
            await settled(pilot)
        before = chat._drawn[1].rows
        chat.update([TextEntry("before"), AnswerEntry(f"{text}another word")], 1)
        after = chat._drawn[1].rows
        new = [row for row in after if not any(row is old for old in before)]
        assert len(after) > 800
        assert len(new) <= 2


async def test_an_entry_that_cannot_be_drawn_shows_its_text_and_those_below_it() -> None:
    class Broken(Plain):
        def blocks(self, entry: Entry, columns: int, *, expanded: bool) -> list[Content]:
            if getattr(entry, "text", "") == "entry 1":
                raise ValueError("no such style")
            return super().blocks(entry, columns, expanded=expanded)

    app = Host()
    async with app.run_test(size=(80, ROWS)) as pilot:
        app.chat.set_renderer(Broken())
        app.chat.update(entries(3))
        rows = [row.strip() for row in await settled(pilot)][:5]
        refusal = "This entry cannot be drawn (ValueError: no such style); its text:"
        assert rows == ["entry 0", refusal, "entry 1", "entry 2", ""]


async def test_blank_lines_that_cannot_be_decided_stop_no_drawing() -> None:
    class Broken(Plain):
        def apart(self, above: Entry | None, below: Entry) -> bool:
            if getattr(below, "text", "") == "entry 1":
                raise ValueError("neither")
            return super().apart(above, below)

    app = Host()
    async with app.run_test(size=(80, ROWS)) as pilot:
        app.chat.set_renderer(Broken())
        app.chat.update(entries(3))
        assert [row.strip() for row in await settled(pilot)][:4] == ["entry 0", "", "entry 1", "entry 2"]


async def test_a_pointer_that_moves_over_text_draws_nothing_again_and_a_link_only_its_row() -> None:
    class Linked(Plain):
        def blocks(self, entry: Entry, columns: int, *, expanded: bool) -> list[Content]:
            link = Content.styled("press", Style.from_meta({"@click": "app.bell"}))
            return [Content.assemble(f"{getattr(entry, 'text', '')} and ", link)]

    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.set_renderer(Linked())
        app.chat.update(entries(8))
        await settled(pilot)
        app.chat._exchange_repaint_regions()
        for column in range(1, 12):
            await pilot.hover(offset=(column, 2))
        assert not app.chat._exchange_repaint_regions()
        screen_before = list(screen_rows(app))
        await pilot.hover(offset=(16, 2))
        await settled(pilot)
        changed = [y for y, pair in enumerate(zip(screen_before, screen_rows(app), strict=True)) if pair[0] != pair[1]]
        assert changed == list(range(8))  # all are links to the same action
        await click(pilot, 16, 2)
        assert app.chat._opened == {}


async def test_a_selection_is_kept_while_the_answer_grows_and_above_it_something_unfolds() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update([*entries(4), AnswerEntry("one two\nthree")])
        await settled(pilot)
        await drag(pilot, (7, 2), (4, 4))
        assert app.screen.get_selected_text() == "2\nentry 3\none"
        for extra in range(40):
            app.chat.update([*entries(4), AnswerEntry("one two\nthree" + "\nmore" * extra)], 4)
        app.chat._opened[0] = True
        app.chat.redraw()
        await settled(pilot)
        assert app.screen.get_selected_text() == "2\nentry 3\none"
        app.chat.scroll_home(animate=False)
        await settled(pilot)
        selected = [y for y, row in enumerate(screen_rows(app)) if highlighted_text(app, row)]
        assert [highlighted_text(app, row) for row in screen_rows(app)][3:6] == ["2", "entry 3", "one "]
        assert selected == [3, 4, 5]


async def test_a_drag_to_the_edge_scrolls_and_selects_on() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update([TextEntry(f"entry {number}") for number in range(100)])
        await settled(pilot)
        app.chat.scroll_home(animate=False)
        await settled(pilot)
        await pilot.mouse_down(offset=(1, 3))
        for row in (10, 17, 18):
            app.post_message(MouseMove(None, 7, row, 0, 1, 1, shift=False, meta=False, ctrl=False))
        async with asyncio.timeout(60):
            while app.chat.scroll_y < 30:
                await pilot.pause(0.02)
        await pilot.mouse_up(offset=(7, 18))
        chosen = (app.screen.get_selected_text() or "").split("\n")
        assert chosen[0] == "entry 3"
        assert len(chosen) > 40
        assert chosen[-1].startswith("entry")


async def test_a_background_over_a_whole_line_reaches_the_scrollbar_and_no_line_is_wider_than_the_screen() -> None:
    class Tinted(Plain):
        def blocks(self, entry: Entry, columns: int, *, expanded: bool) -> list[Content]:
            return [Content.styled("tint".ljust(columns), "on #123456"), Content("x" * (columns + 5) + "\tend")]

    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.set_renderer(Tinted())
        app.chat.update(entries(1))
        assert (await settled(pilot))[:4] == [" tint", "", " " + "x" * 57, " xxxxx  end"]
        tinted = [text for text, style, _ in next(screen_rows(app)) if style and str(style.bgcolor) == TINT]
        assert "".join(tinted) == "tint".ljust(58)


async def test_a_double_click_selects_an_entry() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(10))
        await settled(pilot)
        for _ in range(2):
            await click(pilot, 4, 4)
        assert app.screen.get_selected_text() == "entry 4\n  expanded"


async def test_another_theme_and_another_height_draw_everything_again() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(50))
        await settled(pilot)
        app.chat.scroll_relative(y=-10, animate=False)
        for theme, rows in (("textual-light", ROWS), ("nord", 12), ("textual-light", 30)):
            app.theme = theme
            await pilot.resize_terminal(60, rows)
            assert (await shown(pilot))[0] == "entry 21"
            background = app.theme_variables["background"].lower()
            for row in list(screen_rows(app))[:-1]:
                assert all(background in str(style.bgcolor).lower() for _, style, _ in row if style), (theme, row)


async def test_what_is_new_does_not_move_the_place_of_who_reads_above() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(300))
        await settled(pilot)
        app.chat.scroll_relative(y=-30, animate=False)
        before = await shown(pilot)
        app.chat.update(entries(420), 300)
        assert await shown(pilot) == before
        app.chat.follow()
        assert (await shown(pilot))[-1] == "entry 419"


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


async def test_entries_that_are_gone_are_not_shown_any_more() -> None:
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


async def test_another_width_draws_all_again() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update(entries(5))
        await settled(pilot)
        app.drawing.drawn.clear()
        await pilot.resize_terminal(50, ROWS)
        await settled(pilot)
        assert sorted(set(app.drawing.drawn)) == [f"entry {number}" for number in range(5)]


async def test_text_of_others_is_no_markup() -> None:
    app = Host()
    async with app.run_test(size=(60, ROWS)) as pilot:
        app.chat.update([TextEntry("[bold]x[/bold] [/] [@click=app.bell]"), TextEntry("天気予報 👩‍👩‍👧 end")])
        rows = await settled(pilot)
        assert rows[0].strip() == "[bold]x[/bold] [/] [@click=app.bell]"
        assert screen_lines(app)[1].strip().startswith("天気予報")
