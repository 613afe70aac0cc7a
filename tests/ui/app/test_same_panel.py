"""One session, three ways to see it: live, followed by another process, replayed. The panel is the same.

The agent, its client, its tools, the practice server and the journal are the real ones; scripts and interruptions
are random.
"""

import random
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from harness.events import Event
from harness.journal import read
from harness.journal.follow import CaughtUp, Record, follow
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, open_session
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.state import Panel
from harness.ui.replay import ReplayPlayer
from tests.agent.stage import VirtualClock, settings_of
from tests.agent.test_anything import IMPATIENT, entry, one_turn, summary
from tests.ui.panel.drawn import panel_content
from tests.whole import stride

pytestmark = pytest.mark.anyio


class Live:
    """What a screen beside the agent shows after each event that a journal keeps."""

    def __init__(self) -> None:
        self.moments: list[Panel] = []
        self._fold = PanelFold()

    def see(self, event: Event, at: float) -> None:
        self._fold.on_event(event, at)
        if not event.transient:
            self.moments.append(self._fold.now)


def folded(records: Sequence[Record]) -> Panel:
    """What the records lead to."""
    fold = PanelFold()
    for record in records:
        fold.on_event(record.event, record.at)
    return fold.now


def drawn(panel: Panel, size: tuple[int, int]) -> str:
    return panel_content(panel, *size, panel.at).plain


async def followed(path: Path) -> list[Record]:
    """Everything a follower receives before it has caught up."""
    records = []
    async with aclosing(follow(path)) as told:
        async for one in told:
            if isinstance(one, CaughtUp):
                break
            assert isinstance(one, Record)
            records.append(one)
    return records


def without_what_passes(panel: Panel) -> Panel:
    """Three things come from transients alone: that the answer streams in, how long it is, and that it is silent."""
    known = panel.model._replace(phase=folded(()).model.phase, since=0.0, silence=None, streamed_characters=0)
    return panel._replace(model=known)


@pytest.mark.parametrize("seed", range(8)[:: stride(2)])
async def test_live_watched_and_replayed_it_is_the_same_at_every_record(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    script = "".join(entry(dice, number) for number in range(20)) + "".join(summary(dice) for _ in range(4))
    window = f"[server]\nbind_thinking = true\nwindow = {dice.choice((20_000, 200_000))}\n"
    live = Live()
    async with PracticeServer(script=Script.parse(f'after = "repeat"\n{window}{script}')) as server:
        loaded = settings_of(tmp_path, server.base_url, **IMPATIENT, fallback_models=("claude-haiku-4-5",), max_steps=8)
        (loaded.settings.workspace / "note.txt").write_text("forty-two\n")
        async with await open_session(loaded, NoAsker(), clock=VirtualClock(), observer=live.see) as session:
            for number in range(2):
                await one_turn(session, f"Prompt {number}.", dice.choice((None, dice.randrange(60))))
                assert (await followed(session.path))[-1].event == read(session.path).records[-1].event
    records = read(session.path).records
    assert await followed(session.path) == list(records)
    assert len(live.moments) == len(records)

    player = ReplayPlayer(records)
    watch = PanelFold()
    for number, (record, moment) in enumerate(zip(records, live.moments, strict=True), 1):
        watch.on_event(record.event, record.at)
        assert without_what_passes(watch.now) == without_what_passes(moment), (number, record.event)
    for size in ((48, 40), (80, 9), (60, 7)):
        assert drawn(watch.now, size) == drawn(live.moments[-1], size)

    for _ in range(6):
        player.seek(dice.randint(1, player.last_step), 0.0) if dice.random() < 0.5 else player.step_back(0.0)
        replayed = folded(player.records[: player.position])
        if player.position:
            assert without_what_passes(replayed) == without_what_passes(live.moments[player.position - 1])
    player.end(0.0)
    assert folded(player.records[: player.position]) == live.moments[-1]
