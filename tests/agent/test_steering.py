"""Text of the user that joins the running turn."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.events import (
    Event,
    MessageAdded,
    Origin,
    ReplyReceived,
    RequestSent,
    SteeringDelivered,
    TextDelta,
    ToolStarted,
    TransitionCode,
)
from harness.session import Session
from tests.agent.stage import Played, Sessions, calls, played, run, says, sessions

pytestmark = pytest.mark.anyio
WORKS = calls(run("one"), run("two")) + says("Done.") + says("The default, too.")


def last_texts(body: dict[str, object]) -> list[str]:
    """The types and texts of the last message of a request."""
    messages = body["messages"]
    assert isinstance(messages, list)
    return [block.get("text", block["type"]) for block in messages[-1]["content"]]


class Typist:
    """Types texts at the moment an event is recorded."""

    def __init__(self, moment: Callable[[Event], bool], *texts: str) -> None:
        self.session: Session | None = None
        self._moment = moment
        self._texts = list(texts)

    def observe(self, event: Event, at: float) -> None:
        if self.session is not None and self._texts and self._moment(event):
            self.session.steer(self._texts.pop(0))


@asynccontextmanager
async def typing(here: Sessions, moment: Callable[[Event], bool], *texts: str, **more: Any) -> AsyncIterator[Session]:
    """A session with a user who types one of the texts at each such moment."""
    typist = Typist(moment, *texts)
    async with await here.open(observer=typist.observe, **more) as session:
        typist.session = session
        yield session


def of(*kinds: type[Event]) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, kinds)


def steered(turn: Played) -> list[str]:
    """The texts that joined."""
    return [event.message.text for event in turn.of(MessageAdded) if event.origin is Origin.STEERING]


async def test_a_text_joins_behind_all_tools_of_the_step(tmp_path: Path) -> None:
    async with sessions(tmp_path, WORKS) as here, typing(here, of(ToolStarted), "also the default", "and x") as session:
        turn = await played(session.run("go"))
        assert last_texts(here.server.requests[-1].body) == ["tool_result", "tool_result", "also the default", "and x"]
        assert turn.codes == [TransitionCode.NEXT_TURN, TransitionCode.COMPLETED]
        assert turn.of(SteeringDelivered) == [SteeringDelivered(1), SteeringDelivered(2)]
        assert steered(turn) == ["also the default", "and x"]


@pytest.mark.parametrize("moment", [RequestSent, TextDelta, ReplyReceived])
async def test_a_text_during_the_last_answer_forces_one_more_step(tmp_path: Path, moment: type[Event]) -> None:
    script = says("Done.") + says("The default, too.")
    async with sessions(tmp_path, script) as here, typing(here, of(moment), "also the default") as session:
        turn = await played(session.run("go"))
        assert [message.role for message in session.conversation.messages] == ["user", "assistant"] * 2
        assert turn.codes == [TransitionCode.NEXT_TURN, TransitionCode.COMPLETED]
        assert turn.end.answer == "The default, too."
