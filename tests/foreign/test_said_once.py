"""After any break of a stream, the answer appears exactly once in result, plain screen and events.

The request is repeated, or the model is asked to continue. It continues at the end of its text, or repeats everything
from the beginning.
"""

import asyncio
import io
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent import Agent
from harness.engine.conversation import Conversation
from harness.events import Json, TransitionCode
from harness.ui.plain.printer import LinePrinter
from tests.agent.stage import Played, VirtualClock, kept_text, played, settings_of, shown_text
from tests.foreign.server import ForeignServer
from tests.foreign.test_variants import text_in
from tests.foreign.wire import (
    Events,
    Head,
    Respond,
    body_of,
    ending,
    json_body,
    measured,
    message_start,
    reset_after,
    sse,
    streamed,
    text_block,
    until_closed,
)

OVERLOADED = sse("error", {"error": {"type": "overloaded_error", "message": "Overloaded"}})
UNKNOWN = sse("error", {"error": {"type": "sunspot_error", "message": "Bright today"}})
SECOND_START = body_of([message_start()])
NO_JSON = b"event: content_block_delta\ndata: {oops\n\n"


def _whole_events(body: bytes) -> bytes:
    return body[: body.rfind(b"\n\n") + 2] if b"\n\n" in body else b""


NOT_THREE_TIMES = {"a contradiction", "no JSON", "an unknown error event"}
FAULTS: dict[str, Callable[[bytes], Respond]] = {
    "reset": reset_after,
    "closed in a chunk": lambda body: until_closed(b"fff\r\n" + body, Head(more=("transfer-encoding: chunked",))),
    "a clean end": streamed,
    "short of its length": lambda body: until_closed(body, Head(more=("content-length: 99999",))),
    "an error event": lambda body: streamed(_whole_events(body) + OVERLOADED),
    "an unknown error event": lambda body: streamed(_whole_events(body) + UNKNOWN),
    "a contradiction": lambda body: streamed(_whole_events(body) + SECOND_START),
    "no JSON": lambda body: streamed(_whole_events(body) + NO_JSON),
    "an error before it": lambda _: json_body({"error": {"message": "Overloaded"}}, "529 Overloaded"),
    "a page": lambda _: measured(b"<html>Bad gateway</html>", Head("502 Bad Gateway", "text/html")),
}
UNREADABLE = {"a contradiction", "no JSON", "a clean end"}
"""Two of these in a row are the most that a turn survives; a stream that ends before its message is one as well."""


@dataclass
class Storyteller:
    """A model that gives one answer in blocks, over a connection that breaks a few times."""

    blocks: Sequence[str]
    faults: Sequence[tuple[str, float]]
    """What happens to each reply, and at which share of its bytes; after these nothing does."""
    begins_again: bool
    asked: int = field(default=0)
    wrong: list[str] = field(default_factory=list)
    """Histories with a duplicate."""

    @property
    def answer(self) -> str:
        """The whole of it."""
        return "".join(self.blocks)

    def respond(self, body: Json) -> Respond:
        """The next reply."""
        self.asked += 1
        story = body_of(self._reply(body))
        if self.asked > len(self.faults):
            return streamed(story)
        kind, share = self.faults[self.asked - 1]
        return FAULTS[kind](story[: int(len(story) * share)])

    def _reply(self, body: Json) -> Events:
        said = "".join(
            block["text"]
            for message in body["messages"]
            if message["role"] == "assistant"
            for block in message["content"]
        )
        if not self.answer.startswith(said):
            self.wrong.append(said)
        blocks = self.blocks if self.begins_again else _behind(self.blocks, len(said))
        texts = [text_block(index, block[:3], block[3:]) for index, block in enumerate(blocks)]
        return [message_start(), *(event for events in texts for event in events), *ending("end_turn")]


def _behind(blocks: Sequence[str], characters: int) -> list[str]:
    rest = []
    for block in blocks:
        rest.append(block[characters:])
        characters = max(0, characters - len(block))
    return [block for block in rest if block]


@st.composite
def stories(draw: st.DrawFn) -> Storyteller:
    words = [f"{number}:{word} " for number, word in enumerate(draw(st.lists(st.sampled_from("ab"), min_size=2)))]
    answer = "".join(words).strip() + "."
    cuts = sorted(draw(st.sets(st.integers(1, len(answer) - 1), max_size=4)))
    blocks = [answer[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(answer)], strict=True)]
    faults = draw(st.lists(st.tuples(st.sampled_from(sorted(FAULTS)), st.floats(0, 1)), min_size=1, max_size=4))
    unreadable = [fault for fault in faults if fault[0] in UNREADABLE]
    unknown = [fault for fault in faults if fault[0] == "an unknown error event"]
    faults = [fault for fault in faults if fault not in (*unreadable[2:], *unknown[1:])]
    return Storyteller(blocks, faults, draw(st.booleans()))


async def shown(story: Storyteller) -> tuple[Played, str]:
    """The turn, and what the plain screen shows of it."""
    screen = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        async with ForeignServer(answer=story.respond) as server:
            loaded = settings_of(Path(folder), server.url)
            conversation = Conversation(lambda _: None)
            async with Agent(loaded.settings, clock=VirtualClock(), conversation=conversation) as agent:
                turn = await played(agent.run("What is the answer?"), LinePrinter(screen).show)
    return turn, screen.getvalue()


def check(story: Storyteller) -> None:
    turn, plain = asyncio.run(shown(story))
    assert story.wrong == []
    assert turn.end.code is TransitionCode.COMPLETED, turn.end.reason
    assert turn.end.answer == story.answer
    assert text_in(plain) == story.answer
    assert shown_text(turn.events) == story.answer
    assert kept_text(turn.events) == story.answer


@given(stories())
def test_an_answer_is_there_once_whatever_breaks_its_stream(story: Storyteller) -> None:
    check(story)


@pytest.mark.parametrize("begins_again", [True, False], ids=["begins again", "continues"])
@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind not in NOT_THREE_TIMES])
def test_three_breaks_in_a_row_show_nothing_twice(kind: str, *, begins_again: bool) -> None:
    blocks = ["I look. ", "The first half", " and the second half."]
    check(Storyteller(blocks, [(kind, 0.55), (kind, 0.8), (kind, 0.6)], begins_again))
