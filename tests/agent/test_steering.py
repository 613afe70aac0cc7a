"""Text of the user that joins the running turn."""

import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from harness import HookAnswer, HookCall, hook
from harness.events import (
    Event,
    Intervened,
    Json,
    LoopFound,
    MessageAdded,
    Notice,
    Origin,
    ReplyReceived,
    RequestSent,
    SteeringDelivered,
    SteeringQueued,
    SteeringReturned,
    TextDelta,
    ToolStarted,
    TransitionCode,
)
from harness.journal import read
from harness.model.notices import ADDED_MEANWHILE, RESULTS_READ
from harness.model.prompt import without_breakpoints
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, Opening, Session, open_session
from tests.agent.stage import (
    Played,
    Sessions,
    VirtualClock,
    calls,
    check_requests,
    fails,
    played,
    run,
    says,
    sessions,
    settings_of,
    summarises,
    too_long,
)
from tests.agent.test_anything import IMPATIENT, entry, summary
from tests.media.files import png

pytestmark = pytest.mark.anyio
WORKS = calls(run("one"), run("two")) + says("Done.") + says("The default, too.")


def last_texts(body: Json) -> list[str]:
    """The types and texts of the last message of a request."""
    return [block.get("text", block["type"]) for block in body["messages"][-1]["content"]]


def texts_of(messages: Sequence[Json]) -> list[str]:
    """The texts in messages of a request."""
    return [block["text"] for message in messages for block in message["content"] if block["type"] == "text"]


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


REFUSES = fails(400, message="\"Unexpected role 'user' after role 'tool'\"", times="1")


async def test_a_server_that_takes_no_text_behind_results_gets_an_answer_between_them(tmp_path: Path) -> None:
    script = calls(run("one")) + REFUSES + says("Done.") + calls(run("two")) + says("Done again.")
    async with sessions(tmp_path, script) as here, typing(here, of(ToolStarted), "also x", "also y") as session:
        await played(session.run("go"))
        await played(session.run("more"))
        check_requests(here.server.requests)
        _, refused, *bridged = [request.body["messages"] for request in here.server.requests]
        assert [message["role"] for message in refused] == ["user", "assistant", "user"]
        assert [block["type"] for block in refused[-1]["content"]] == ["tool_result", "text"]
        behind = [[message["role"] for message in messages][2:5] for messages in bridged]
        assert behind == [["user", "assistant", "user"]] * 3
        assert all(texts_of(messages[4:5]) == ["also x"] for messages in bridged)
        assert RESULTS_READ not in str(session.conversation.messages), "only the wire has it"


async def test_an_empty_answer_behind_a_text_is_asked_for_once_more(tmp_path: Path) -> None:
    script = says("Done.") + says("") + says("The default, too.")
    async with sessions(tmp_path, script) as here, typing(here, of(TextDelta), "also the default") as session:
        turn = await played(session.run("go"))
        assert turn.end.answer == "The default, too."
        assert len(here.server.requests) == 3


async def test_a_text_begins_the_count_of_steps_anew(tmp_path: Path) -> None:
    script = calls(run("one")) + calls(run("two")) + calls(run("three")) + says("Done.")
    async with (
        sessions(tmp_path, script, max_steps=2) as here,
        typing(here, lambda event: isinstance(event, ToolStarted) and "two" in str(event.input), "go on") as session,
    ):
        turn = await played(session.run("go"))
        assert turn.end.code is TransitionCode.COMPLETED


async def test_a_text_ends_a_loop_that_the_user_has_seen(tmp_path: Path) -> None:
    same = calls('{ name = "read_file", input = { path = "none.txt" } }')
    async with (
        sessions(tmp_path, same * 12 + says("Done."), failure_budget=100) as here,
        typing(here, of(LoopFound), "it was moved to other.txt") as session,
    ):
        turn = await played(session.run("go"))
        joined = next(at for at, event in enumerate(turn.events) if isinstance(event, SteeringDelivered))
        assert not [event for event in turn.events[:joined] if isinstance(event, Intervened)], "the user has intervened"
        assert [event for event in turn.events[joined:] if isinstance(event, LoopFound)], "a new episode"


async def test_a_summary_repeats_a_text_as_something_that_was_read(tmp_path: Path) -> None:
    long = " ".join(f"word{number}" for number in range(6_000))
    script = calls(run("one")) + says(long) + says("Yes.") + summarises() + says("Gone on.")
    async with sessions(tmp_path, script) as here, typing(here, of(ToolStarted), "also the default") as session:
        await played(session.run("count the files"))
        await played(session.run("Is that all?"))
        await played(session.user_commands.compact())
        kept = session.conversation.messages[0].text
        assert kept.index("count the files") < kept.index(f"{ADDED_MEANWHILE}also the default")


async def test_hooks_see_a_text_as_they_see_a_prompt(tmp_path: Path) -> None:
    @hook("prompt_submit")
    def checked(call: HookCall) -> HookAnswer | None:
        text = call.input["prompt"]
        return HookAnswer(block="not here") if "secret" in text else HookAnswer(input={"prompt": text.upper()})

    async with (
        sessions(tmp_path, WORKS) as here,
        typing(here, of(ToolStarted), "a secret", "and x", hooks=[checked]) as session,
    ):
        turn = await played(session.run("go"))
        assert steered(turn) == ["AND X"]
        assert "not sent: checked: not here" in str(turn.of(Notice))
        assert session.steering.waiting == ()


async def test_an_image_that_a_text_names_goes_with_it(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "dot.png").write_bytes(png(2, 2))
    async with sessions(tmp_path, WORKS) as here, typing(here, of(ToolStarted), "like @dot.png") as session:
        turn = await played(session.run("look at @dot.png"))
        (message,) = [event.message for event in turn.of(MessageAdded) if event.origin is Origin.STEERING]
        assert [block["type"] for block in message.content] == ["text", "image", "text"]
        assert message.typed == "like @dot.png"
        assert len({event.call_id for event in turn.of(ToolStarted)}) == 4


async def test_what_a_stopped_turn_left_is_delivered_before_the_next_prompt(tmp_path: Path) -> None:
    async with sessions(tmp_path, calls(run("one")) + says("Done.")) as here:
        async with typing(here, of(ToolStarted), "also x") as session:
            turn = await played(
                session.run("go"), lambda e: session.interrupt() if isinstance(e, ToolStarted) else None
            )
            assert (steered(turn), [one.text for one in session.steering.waiting]) == ([], ["also x"])
        async with await here.open(Opening(session.id)) as again:
            turn = await played(again.run("and y"))
            assert steered(turn) == ["also x"]
            assert texts_of(here.server.requests[-1].body["messages"][-1:])[-2:] == ["also x", "and y"]


async def test_a_text_costs_no_cache_mark_and_stays_the_same_bytes_after_a_resume(tmp_path: Path) -> None:
    async with sessions(tmp_path, WORKS + says("Three.")) as here:
        async with typing(here, of(ToolStarted), "also the default") as session:
            await played(session.run("go"))
        async with await here.open(Opening(session.id)) as again:
            await played(again.run("and now?"))
        steered_request, later = [request.body["messages"] for request in here.server.requests][1:3]
        assert str(steered_request).count("cache_control") == 1
        blocks = [without_breakpoints(blocks_of(messages)) for messages in (steered_request, later)]
        assert blocks[1][: len(blocks[0])] == blocks[0]


def blocks_of(messages: Sequence[Json]) -> list[tuple[str, Json]]:
    return [(message["role"], block) for message in messages for block in message["content"]]


async def test_a_text_that_no_answer_followed_yet_survives_a_compaction_word_for_word(tmp_path: Path) -> None:
    script = calls(run("one")) + too_long() + summarises() + says("Done.")
    async with sessions(tmp_path, script) as here, typing(here, of(ToolStarted), "also the default") as session:
        turn = await played(session.run("go " * 2_000))
        assert TransitionCode.REACTIVE_COMPACT_RETRY in turn.codes
        assert last_texts(here.server.requests[-1].body)[-1] == "also the default"
        assert str(here.server.requests[-1].body["messages"]).count("also the default") == 1


@pytest.mark.stories
@pytest.mark.parametrize("seed", range(60))
async def test_at_any_moment_of_any_turn_each_text_is_read_once_or_given_back(seed: int, tmp_path: Path) -> None:
    """The oracle is a list: what was typed, without what came back. Turns fail, are stopped, killed and resumed."""
    dice = random.Random(seed)
    script = "".join(entry(dice, number) for number in range(30)) + "".join(summary(dice) for _ in range(8))
    typed: list[str] = []
    back: list[str] = []
    deeds = ["steer"] * 6 + ["take last", "take all", "stop"]

    async with PracticeServer(script=Script.parse(f'after = "repeat"\n{script}')) as server:
        more = IMPATIENT | {"max_steps": 6, "failure_budget": 4}
        loaded = settings_of(tmp_path, server.base_url, **more)
        (loaded.settings.workspace / "note.txt").write_text("forty-two\n")
        opening: Opening | None = None
        for number in range(4):
            moments = {dice.randrange(5, 120): dice.choice(deeds) for _ in range(5)}
            current: list[Session] = []
            seen = 0

            def observe(
                event: Event, at: float, moments: dict[int, str] = moments, current: list[Session] = current
            ) -> None:
                nonlocal seen
                seen += bool(current)
                match moments.pop(seen, "") if current else "":
                    case "steer" if current[0].steering.open:
                        typed.append(f"text {len(typed)}")
                        current[0].steer(typed[-1])
                    case "take last" if waiting := current[0].steering.waiting:
                        back.extend(one.text for one in current[0].steering.take_back([waiting[-1].number]))
                    case "take all":
                        back.extend(one.text for one in current[0].steering.take_back())
                    case "stop":
                        current[0].interrupt()

            async with await open_session(
                loaded, NoAsker(), opening, clock=VirtualClock(), observer=observe
            ) as session:
                current.append(session)
                await played(session.run(f"Prompt {number}."))
                if dice.random() < 0.3:
                    await played(session.user_commands.compact())
                current.clear()
                read = read_texts(session.path)
                waiting = [one.text for one in session.steering.waiting]
                assert sorted([*read, *waiting, *back]) == sorted(typed)
                assert read == [text for text in typed if text in read], "in their order"
                killed = dice.random() < 0.5
                opening = Opening(session.id)
            if killed:  # the journal ends somewhere; whatever it holds is told once
                lines = session.path.read_bytes().splitlines(keepends=True)
                session.path.write_bytes(b"".join(lines[: dice.randrange(len(lines) // 2, len(lines))]))
                told = [event for event in events_of(session.path) if isinstance(event, SteeringQueued)]
                returned = {n for e in events_of(session.path) if isinstance(e, SteeringReturned) for n in e.numbers}
                typed[:] = [event.text for event in told]
                back[:] = [event.text for event in told if event.number in returned]
        check_requests(server.requests)


def events_of(journal: Path) -> list[Event]:
    return [record.event for record in read(journal).records]


def read_texts(journal: Path) -> list[str]:
    """The texts that joined the history, from the journal alone."""
    added = [event for event in events_of(journal) if isinstance(event, MessageAdded)]
    return [event.message.typed for event in added if event.origin is Origin.STEERING]
