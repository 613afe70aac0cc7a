"""The plan of a session: saved, rewound with its history, restored, and shown in reminders."""

import json
from pathlib import Path

import pytest

from harness.engine.conversation import Conversation
from harness.events import Event, ItemStatus, Json, LoopFound, MessageAdded, Origin, PlanChanged, PlanItem, PlanReminded
from harness.journal import read, replay
from harness.session import Opening, Session
from tests.agent.stage import Played, calls, played, run, says, sessions, stage, summarises, too_long

pytestmark = pytest.mark.anyio

FIRST = (PlanItem("read the notes", ItemStatus.IN_PROGRESS), PlanItem("write the letter", tools=("write_file",)))
SECOND = (PlanItem("read the notes", ItemStatus.DONE), PlanItem("write the letter", ItemStatus.IN_PROGRESS))
DONE = tuple(PlanItem(item.text, ItemStatus.DONE) for item in FIRST)
WHOLE = "[▸] read the notes\n[ ] write the letter (needs write_file)"
NO_SUMMARY = '\n[[reply]]\nwhen = { purpose = "summary" }\ntimes = "forever"\nstatus = 400\nmessage = "no"\n'


def plans(items: tuple[PlanItem, ...]) -> str:
    """A call, for a script, that declares this plan."""
    reported = [{"text": item.text, "status": item.status.value, "tools": list(item.tools)} for item in items]
    return f"{{ name = \"todo_write\", input = {{ items = '''{json.dumps(reported)}''' }} }}"


def handed_back(body: Json) -> list[str]:
    """The plans that the first message of a request holds."""
    return [text for text in texts_of(body["messages"][0]) if text.startswith("<plan>")]


def texts_of(message: Json) -> list[str]:
    """The text blocks of a message."""
    return [block["text"] for block in message["content"] if block["type"] == "text"]


def reminders(turn: Played) -> list[int]:
    """The tool rounds of the turn, from 1, that a reminder followed."""
    rounds = [event.message for event in turn.of(MessageAdded) if event.origin is Origin.TOOL_RESULTS]
    return [number for number, message in enumerate(rounds, 1) if "<plan>" in message.text]


def plan_in_file(session: Session) -> tuple[PlanItem, ...]:
    """The plan as another program reads it from the journal."""
    return replay(read(session.path).records).plans.current


async def test_a_rewind_takes_it_back_and_says_which_one_holds_again(tmp_path: Path) -> None:
    script = calls(plans(FIRST)) + says("One.") + calls(run("x")) + calls(plans(SECOND)) + says("Two.")
    async with sessions(tmp_path, script) as here:
        async with await here.open() as session:
            await played(session.run("first"))
            await played(session.run("second"))
            assert session.conversation.plan == SECOND
            session.rewind.to_turn(2)
            assert session.conversation.plan == plan_in_file(session) == FIRST
        async with await here.open(Opening(session.id)) as session:
            session.rewind.to_turn(1)
            assert session.conversation.plan == plan_in_file(session) == ()
    reported = [record.event.items for record in read(session.path).records if isinstance(record.event, PlanChanged)]
    assert reported == [FIRST, SECOND, FIRST, ()]


def test_a_rollback_within_a_turn_takes_it_back_as_well() -> None:
    recorded: list[Event] = []
    conversation = Conversation(recorded.append)
    for items in (FIRST, SECOND):
        conversation.add("assistant", ({"type": "text", "text": "I write it down."},), Origin.REPLY)
        conversation.emit(PlanChanged(items))
        conversation.add("user", ({"type": "text", "text": "Done."},), Origin.TOOL_RESULTS)
    conversation.replace(conversation.messages[:2], "rollback")
    assert conversation.plan == FIRST
    assert recorded[-1] == PlanChanged(FIRST)


async def test_an_agent_that_works_for_another_has_a_plan_of_its_own(tmp_path: Path) -> None:
    task = '{ name = "agent", input = { description = "look", prompt = "Look." } }'
    of_subagent = [calls(plans(SECOND)), calls(run("a")), calls(run("b")), says("Seen.")]
    own = "".join(entry.rstrip() + '\nwhen = { lacks = "agent" }\n' for entry in of_subagent)
    async with stage(tmp_path, calls(plans(FIRST)) + calls(task) + own + says("Good."), plan_reminder=2) as here:
        turn = await here.turn()
        assert turn.end.answer == "Good."
        assert here.agent.conversation.plan == FIRST
        assert turn.of(PlanReminded) == []
        assert here.agents is not None
        [journal] = here.agents.glob("*.jsonl")
        reported = here.of_agent(journal)
        assert replay(read(journal).records).plans.current == SECOND
        assert [event.steps for event in reported if isinstance(event, PlanReminded)] == [2]


# ── after a compaction ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("summary", [summarises(), NO_SUMMARY], ids=["summary", "cut"])
async def test_a_shortened_history_holds_the_open_plan_word_for_word(summary: str, tmp_path: Path) -> None:
    rounds = "".join(calls(run(f"r{number}")) for number in range(6))
    script = calls(plans(FIRST)) + rounds + too_long() + says("Forty-two.") + summary
    async with stage(tmp_path, script) as here:
        assert (await here.turn()).end.answer == "Forty-two."
        [plan] = handed_back(here.bodies[-1])
        assert WHOLE in plan


async def test_a_history_that_is_shortened_twice_holds_the_newest_plan_and_the_request_once(tmp_path: Path) -> None:
    rounds = calls(run("x")) + calls(run("y")) + calls(run("z"))
    script = calls(plans(FIRST)) + rounds + too_long() + calls(plans(SECOND)) + rounds + too_long() + says("So.")
    async with stage(tmp_path, script + summarises()) as here:
        await here.turn("What is in the notes?")
        first = here.bodies[-1]["messages"][0]
        [plan] = handed_back(here.bodies[-1])
        assert "[▸] write the letter" in plan
        assert "[▸] read the notes" not in json.dumps(first, ensure_ascii=False)
        [request] = [text for text in texts_of(first) if "word for word" in text]
        assert request.endswith("What is in the notes?")
        assert "summary" not in request


# ── the reminder ────────────────────────────────────────────────────────────────────────────────────


async def test_the_model_is_reminded_beside_results_and_not_again_before_as_many_rounds(tmp_path: Path) -> None:
    rounds = "".join(calls(run(f"r{number}")) for number in range(7))
    script = calls(run("before")) + calls(plans(FIRST)) + rounds + calls(plans(SECOND)) + calls(run("s")) + says("So.")
    async with stage(tmp_path, script, plan_reminder=3) as here:
        turn = await here.turn()
        assert reminders(turn) == [5, 8]
        assert turn.of(PlanReminded) == [PlanReminded(3, ("read the notes", "write the letter"))] * 2
        assert len(here.posts) == turn.end.requests == 12
        [note] = [text for text in texts_of(here.bodies[5]["messages"][-1]) if "<plan>" in text]
        assert WHOLE in note
        assert "2 of 2 items are open" in note
        assert "3 steps" in note


async def test_a_loop_is_found_at_the_same_step_with_reminders_as_without(tmp_path: Path) -> None:
    found = []
    for every in (0, 1):
        folder = tmp_path / str(every)
        folder.mkdir()
        script = calls(plans(FIRST)) + calls('{ name = "glob", input = { pattern = "*" } }') * 4 + says("So.")
        async with stage(folder, script, plan_reminder=every) as here:
            turn = await here.turn()
            assert reminders(turn) == ([2, 3, 4, 5] if every else [])
            found.append([(event.step, event.loop.signature) for event in turn.of(LoopFound)])
    assert found[0] == found[1] != []
