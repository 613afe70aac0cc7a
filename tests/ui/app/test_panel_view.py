"""The panel: repaints, and its full-screen view."""

from typing import Any, Self

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.events import Key
from textual.geometry import Region
from textual.widgets import Input

from harness.events import StepStarted
from harness.journal.follow import CaughtUp
from harness.ui.app.panel_view import FullPanel, PanelView
from harness.ui.app.watch import WatchApp
from tests.ui.app.feeding import Feed
from tests.ui.app.screens import settled
from tests.ui.app.stories import AT_WORK, NAME, STORIES, recorded, story, waits
from tests.ui.panel.situations import FAILED, NOW, SPENT

pytestmark = pytest.mark.anyio


async def test_it_keeps_showing_events() -> None:
    feed = Feed(story(*AT_WORK))
    app = WatchApp(NAME, feed.followed())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("f3")
        assert isinstance(app.screen, FullPanel)
        seen = await settled(pilot)
        assert any("todo_write CLOSED" in row for row in seen)  # also where the panel below a conversation is short
        assert not any("529" in row for row in seen)
        for record in story(*AT_WORK, FAILED, SPENT, waits(NOW + 7.1))[len(story(*AT_WORK)) :]:
            feed.put(record)
        await pilot.pause(0.3)
        assert any("529 overloaded, try 3 of 10" in row for row in await settled(pilot))


async def test_walking_jumping_and_going_back() -> None:
    app = WatchApp(NAME, Feed(recorded("network-gone", until_step=99), CaughtUp(None)).followed())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("f3")
        seen = await settled(pilot)
        assert seen[-1].startswith(" now")
        assert not any("◂" in row for row in seen)
        for key, step in (("left", 9), ("h", 8), ("right", 9), ("p", 8), ("p", 7), ("n", 8)):
            await pilot.press(key)
            seen = await settled(pilot)
            assert seen[0].startswith(f"  ◂ step {step} of 9"), key
            assert seen[-1].startswith(" an earlier step")
        await pilot.press("escape")
        assert (await settled(pilot))[-1].startswith(" now")
        await pilot.press("left", "end")
        assert (await settled(pilot))[-1].startswith(" now")
        await pilot.press("escape")
        assert not isinstance(app.screen, FullPanel)


@pytest.mark.parametrize("key", ["f3", "q", "escape"])
async def test_what_is_typed_right_after_the_key_that_closes_it_is_in_the_prompt(key: str) -> None:
    class Nothing:
        shown_step = None

        def rows(self, columns: int, rows: int, *, expanded: bool) -> list[Content]:
            return []

    class Prompt(App[None]):
        def compose(self) -> ComposeResult:
            yield Input()

    app = Prompt()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(FullPanel(Nothing))  # type: ignore[arg-type]  # no keys of its own are pressed
        await pilot.pause()
        for typed in (key, "h", "i"):
            app.post_message(Key(typed, typed if len(typed) == 1 else None))
        await pilot.pause()
        assert app.query_one(Input).value == "hi"


async def test_without_incidents_it_says_so() -> None:
    app = WatchApp(NAME, Feed(STORIES["calm"], CaughtUp(None)).followed())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("f3", "p")
        assert (await settled(pilot))[-1].startswith(" no further incident")
        await pilot.press("f3")
        assert not isinstance(app.screen, FullPanel)


async def test_a_step_that_is_not_kept_any_more_gives_way_to_the_present() -> None:
    feed = Feed(STORIES["calm"], CaughtUp(None))
    app = WatchApp(NAME, feed.followed())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("left", "left")
        assert (await settled(pilot))[-1].endswith("Esc back to now   F3 full   q quit")
        at = STORIES["calm"][-1].at
        for number in range(3, 510):
            app.views.fold.on_event(StepStarted(number), at + number)
        await pilot.resize_terminal(70, 24)
        await settled(pilot)
        assert app.views.shown_step is None
        await pilot.press("right", "p")


class Recorded(PanelView):
    """A panel that records which of its rows are painted again."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        super().__init__()

    def refresh(self, *regions: Region, **options: Any) -> Self:
        self.rows += [region.y for region in regions] if regions else [-1]
        return super().refresh(*regions, **options)


class OnePanel(App[None]):
    """Nothing but a panel."""

    CSS = "PanelView { height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield Recorded()


async def test_rows_that_look_the_same_are_not_painted_again() -> None:
    drawn = [Content("first"), Content("second"), Content("third")]
    app = OnePanel()
    async with app.run_test(size=(40, 6)) as pilot:
        panel = app.query_one(Recorded)
        panel.set_renderer(lambda columns, rows: list(drawn))
        await pilot.pause()
        for change, rows in (
            ([Content("first"), Content("2nd"), Content("third")], [1]),
            ([Content("first"), Content("2nd"), Content("third")], []),
            ([Content("first"), Content("2nd"), Content.styled("third", "bold")], [2]),
            ([Content("first"), Content("2nd")], [2]),
        ):
            drawn[:] = change
            panel.rows.clear()
            panel.redraw()
            await pilot.pause()
            assert panel.rows == rows
            assert [row.strip() for row in await settled(pilot)][:3] == [one.plain for one in (*change, Content(""))][
                :3
            ]


@pytest.mark.parametrize(
    ("columns", "panel", "least"),
    [(100, 33, 60), (110, 36, 70), (120, 38, 76), (121, 39, 76), (150, 49, 95), (200, 66, 130)],
)
async def test_the_panel_leaves_the_conversation_the_room_it_needs(columns: int, panel: int, least: int) -> None:
    asked: list[int] = []

    class Drawing:
        def blocks(self, entry: object, columns: int, *, expanded: bool) -> list[Content]:
            asked.append(columns)
            return [Content("text")]

        def apart(self, above: object, below: object) -> bool:
            return False

    app = WatchApp(NAME, Feed(STORIES["calm"], CaughtUp(None)).followed())
    async with app.run_test(size=(columns, 36)) as pilot:
        await settled(pilot)
        app.split_view.chat.set_renderer(Drawing())
        app.split_view.chat.update(app.views.transcript.entries, 0)
        await settled(pilot)
        assert app.split_view.panel.outer_size.width == panel
        assert min(asked) >= least
