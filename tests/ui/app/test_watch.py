"""Another session on the screen: followed live, or replayed."""

from collections.abc import AsyncGenerator

import pytest
from textual.drivers.headless_driver import HeadlessDriver

from harness.base.errors import HarnessError, JournalError
from harness.journal.follow import CaughtUp, FollowItem, SkippedLine, WriterChanged
from harness.ui.app.panel_view import SplitView
from harness.ui.app.watch import ReplayApp, WatchApp
from harness.ui.replay import ReplayPlayer
from tests.processes.traces import until
from tests.ui.app.feeding import Feed
from tests.ui.app.resting import timers_running
from tests.ui.app.screens import settled
from tests.ui.app.stories import AT_WORK, NAME, STORIES, recorded, story

pytestmark = pytest.mark.anyio
WHOLE = recorded("network-gone", until_step=99)


async def test_what_is_written_is_shown_and_who_writes_it() -> None:
    feed = Feed(story(*AT_WORK)[:4])
    app = WatchApp(NAME, feed.followed())
    async with app.run_test(size=(110, 24)) as pilot:
        assert " reading · " in (await settled(pilot))[-1]
        feed.put(CaughtUp(4321))
        assert "watching process 4321" in (await settled(pilot))[-1]
        for record in story(*AT_WORK)[4:]:
            feed.put(record)
        feed.put(WriterChanged(None))
        await pilot.pause(0.8)  # a drawing may be put off for half a second
        seen = await settled(pilot)
        assert "no process is writing" in seen[-1]
        assert any("read_file src/settings.py" in row for row in seen), "\n".join(seen)


async def test_lines_that_cannot_be_read_are_counted() -> None:
    app = WatchApp(NAME, Feed(STORIES["calm"], SkippedLine(7, "not JSON"), CaughtUp(None)).followed())
    async with app.run_test(size=(110, 24)) as pilot:
        assert "1 line" in (await settled(pilot))[-1]


async def taken_away() -> AsyncGenerator[FollowItem, None]:
    """A journal that is removed while followed."""
    yield STORIES["calm"][0]
    raise JournalError("The journal was removed while it was followed.")


async def test_a_journal_that_is_taken_away_ends_it_with_the_reason() -> None:
    app = WatchApp(NAME, taken_away())
    app.driver_class = HeadlessDriver
    with pytest.raises(HarnessError, match="removed"):
        await app.run_to_end()


async def test_leaving_it_ends_the_following() -> None:
    feed = Feed(STORIES["calm"], CaughtUp(None))
    app = WatchApp(NAME, feed.followed())
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("q")
    assert app.return_value == 0
    assert feed.closed


async def test_a_session_that_is_over_leaves_no_timer() -> None:
    app = WatchApp(NAME, Feed(WHOLE, CaughtUp(None)).followed())
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.pause(0.4)
        assert timers_running(app) == []


async def test_the_panel_goes_below_where_there_is_little_room_and_f2_hides_it() -> None:
    app = WatchApp(NAME, Feed(WHOLE, CaughtUp(None)).followed())
    async with app.run_test(size=(120, 30)) as pilot:
        assert "│" in (await settled(pilot))[0]
        await pilot.resize_terminal(99, 30)
        seen = await settled(pilot)
        assert any(row.startswith("─" * 90) for row in seen)
        assert app.query_one(SplitView).below
        await pilot.press("f2")
        assert not any(row.startswith("─" * 90) for row in await settled(pilot))
        await pilot.resize_terminal(120, 30)
        assert not any("│" in row for row in await settled(pilot))
        await pilot.press("f2")
        assert "│" in (await settled(pilot))[0]


async def test_steps_are_walked_and_incidents_jumped_to() -> None:
    app = WatchApp(NAME, Feed(WHOLE, CaughtUp(None)).followed())
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        for key, step in (("right", None), ("left", 9), ("left", 8), ("p", 7), ("n", 8), ("right", 9), ("right", None)):
            await pilot.press(key)
            assert app.views.shown_step == step, key
        await pilot.press(*["left"] * 20)
        assert app.views.shown_step == 1
        await pilot.press("escape")
        assert app.views.shown_step is None


async def test_a_replay_plays_pauses_steps_and_ends() -> None:
    app = ReplayApp(NAME, ReplayPlayer(WHOLE))
    async with app.run_test(size=(120, 40)) as pilot:
        assert "playing" in (await settled(pilot))[-1]
        await pilot.press("space")
        assert "paused" in (await settled(pilot))[-1]
        await pilot.press("home")
        for step in (0, 1, 2, 3):
            await pilot.press("right")
            assert f"step {step} of 9" in (await settled(pilot))[-1]
        await pilot.press("left")
        assert "step 2 of 9" in (await settled(pilot))[-1]
        await pilot.press("end")
        await pilot.pause(0.3)
        seen = await settled(pilot)
        assert "end · step 9 of 9" in seen[-1]
        assert any("The file server was away" in row for row in seen)
        await pilot.press("n")
        assert "no further incident" in (await settled(pilot))[-1]
        await pilot.press("plus", "plus", "minus")
        assert "2×" in (await settled(pilot))[-1]
        await pilot.pause(0.3)
        assert timers_running(app) == []


async def test_a_replay_begins_by_itself() -> None:
    player = ReplayPlayer(WHOLE)
    async with ReplayApp(NAME, player).run_test():
        await until(lambda: player.position > 0)


async def test_a_replay_that_goes_back_shows_nothing_of_later() -> None:
    player = ReplayPlayer(WHOLE)
    player.end(0.0)
    app = ReplayApp(NAME, player)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("home", "right", "right", "right")
        await pilot.pause(0.3)
        seen = await settled(pilot)
        assert not any("file server was away" in row for row in seen)
        assert any("step 2 of 9" in row for row in seen)
        assert sum("▌" in row for row in seen) == 1
