"""A screen that saw every piece and one that follows the journal show the same at the end of every turn.

The agent, its client, its tools, the practice server and the journal are the real ones; scripts and interruptions
are random.
"""

import random
from pathlib import Path

import pytest

from harness.events import Event, TurnEnded
from harness.journal import read
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, Opening, open_session
from harness.ui.transcript.entries import AnswerEntry, CallEntry, Entry, PromptEntry, ThinkingEntry
from harness.ui.transcript.fold import Transcript
from tests.agent.stage import VirtualClock, played, settings_of
from tests.agent.test_anything import IMPATIENT, entry, one_turn, summary

pytestmark = pytest.mark.anyio


class Reader:
    """Reads a transcript at the end of each turn, and redraws only the reported changes."""

    def __init__(self) -> None:
        self.ends: list[tuple[Entry, ...]] = []
        self._transcript = Transcript()
        self._drawn: list[Entry] = []

    def see(self, event: Event, at: float) -> None:
        """The next event."""
        self._transcript.on_event(event, at)
        if (changes := self._transcript.changes()) is not None:
            self._drawn[changes.first :] = self._transcript.entries[changes.first :]
        assert self._drawn == list(self._transcript.entries)
        if isinstance(event, TurnEnded):
            self.ends.append(tuple(self._drawn))


@pytest.mark.grid(3)
@pytest.mark.parametrize("seed", range(12))
async def test_both_show_the_same_at_the_end_of_every_turn(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    script = "".join(entry(dice, number) for number in range(20)) + "".join(summary(dice) for _ in range(4))
    window = f"[server]\nbind_thinking = true\nwindow = {dice.choice((20_000, 200_000))}\n"
    async with PracticeServer(script=Script.parse(f'after = "repeat"\n{window}{script}')) as server:
        more = IMPATIENT | {"fallback_models": ("claude-haiku-4-5",), "max_steps": 8}
        loaded = settings_of(tmp_path, server.base_url, **more)
        (loaded.settings.workspace / "note.txt").write_text("forty-two\n")
        opening: Opening | None = None
        for number in range(3):
            live, later = Reader(), Reader()
            session = await open_session(loaded, NoAsker(), opening, clock=VirtualClock(), observer=live.see)
            async with session:
                await one_turn(session, f"Prompt {number}.", dice.choice((None, dice.randrange(60))))
                opening = Opening(session.id)
            for record in read(session.path).records:
                later.see(record.event, record.at)
            assert live.ends == later.ends
            assert all(entry.done for entry in live.ends[-1] if isinstance(entry, AnswerEntry | ThinkingEntry))
            assert not any(entry.running for entry in live.ends[-1] if isinstance(entry, CallEntry))


async def test_a_rewind_takes_its_turn_off_the_screen_and_leaves_the_users_own_command_before_it(
    tmp_path: Path,
) -> None:
    async with PracticeServer(script=Script.parse('after = "repeat"\n[[reply]]\ntext = "Whole."\n')) as server:
        live = Transcript()
        loaded = settings_of(tmp_path, server.base_url)
        async with await open_session(loaded, NoAsker(), clock=VirtualClock(), observer=live.on_event) as session:
            await played(session.run("First."))
            await played(session.user_commands.shell("echo mine"))
            before = list(live.entries)
            await played(session.run("Second."))
            assert session.rewind.to_turn(2) == "Second."
            assert list(live.entries) == before
    assert [entry.text for entry in before if isinstance(entry, PromptEntry)] == ["First.", "echo mine"]
