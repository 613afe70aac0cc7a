"""An agent before servers that we did not write: the tool runs once, the answer is shown once, and hopeless turns end.

Everything is real but the time that retries wait: sockets, the SDK, the tools.
"""

import io
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.agent import Agent
from harness.engine.conversation import Conversation
from harness.events import Event, HistoryRepaired, TurnEnded
from harness.policies.recovery.transitions import exit_code
from harness.ui.plain.printer import LinePrinter
from tests.agent.stage import VirtualClock, played, settings_of
from tests.foreign.server import ForeignServer
from tests.foreign.variants import HOPELESS, MESSAGES, PASSING, STREAMS, Variant

pytestmark = pytest.mark.anyio

NEWS = ("↻", "◌", "·", "!", "✗", "✓", "○", "→")
"""First characters of lines about what happens."""
GOOD = (*STREAMS, *MESSAGES, *PASSING)


@dataclass(frozen=True)
class Result:
    """The result of a prompt."""

    end: TurnEnded
    events: list[Event]
    plain: str
    """What the plain screen shows."""
    ran: list[str]
    requests: int
    address: str


def text_in(plain: str) -> str:
    """What a plain screen shows of the answers: all but the lines about what happens."""
    return "".join(line for line in plain.split("\n") if not line.startswith(NEWS))


async def result_of(variant: Variant, folder: Path) -> Result:
    """One prompt to the server of this row."""
    async with ForeignServer(*variant.responses, models=variant.models) as server:
        loaded = settings_of(folder, server.url, model=variant.model)
        screen = io.StringIO()
        plain = LinePrinter(screen)
        async with Agent(loaded.settings, clock=VirtualClock(), conversation=Conversation(lambda _: None)) as agent:
            turn = await played(agent.run("What does the note say?"), plain.show)
        file = loaded.settings.workspace / "ran.txt"
        ran = file.read_text().split() if file.exists() else []
        return Result(turn.end, turn.events, screen.getvalue(), ran, len(server.posts), server.url)


@pytest.mark.parametrize("variant", GOOD, ids=[variant.name for variant in GOOD])
async def test_a_server_that_differs_is_answered_by_one_call_and_one_answer(variant: Variant, tmp_path: Path) -> None:
    result = await result_of(variant, tmp_path)
    assert result.ran == list(variant.ran), result.end
    assert result.end.answer == variant.answer, result.end
    assert exit_code(result.end.code) == variant.code, result.end
    assert result.requests <= variant.requests, result.end
    assert text_in(result.plain).count(variant.answer) == 1
    assert not [event for event in result.events if isinstance(event, HistoryRepaired)]


@pytest.mark.parametrize("variant", HOPELESS, ids=[variant.name for variant in HOPELESS])
async def test_what_cannot_work_ends_soon_and_says_what_to_do(variant: Variant, tmp_path: Path) -> None:
    result = await result_of(variant, tmp_path)
    assert result.requests <= variant.requests, result.end
    assert exit_code(result.end.code) == variant.code, result.end
    for words in variant.says:
        assert words.replace("ADDRESS", result.address) in result.end.reason, result.end.reason
    assert result.ran == []
