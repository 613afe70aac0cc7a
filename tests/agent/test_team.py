"""Members: started, idle, woken by mail, paused, ended; what they say is delivered once, and by whom it was said."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.engine.parts import AgentParts
from harness.engine.team.team import Team
from harness.events import (
    Address,
    AgentCreated,
    ArrivalKind,
    Arrived,
    Json,
    MailDelivered,
    MailKind,
    MailReturned,
    MailSent,
    MemberAnswered,
    MemberChanged,
    MemberState,
    QuestionAsked,
)
from tests.agent.stage import PassingClock, Stage, calls, run, says, stage
from tests.engine.hand_clock import HandClock

pytestmark = pytest.mark.anyio


def start(name: str, task: str = "Look.", **more: str) -> str:
    """A call of team_start, for a script."""
    extra = "".join(f', {key} = "{value}"' for key, value in more.items())
    return f'{{ name = "team_start", input = {{ name = "{name}", description = "look", task = "{task}"{extra} }} }}'


def message(to: str, text: str, *, note: bool = False) -> str:
    """A call of message."""
    return f'{{ name = "message", input = {{ to = ["{to}"], text = "{text}", note = {str(note).lower()} }} }}'


def of_member(entry: str, text: str = "") -> str:
    """An entry of a script for members alone, whose last message has this text."""
    wanted = f'text = "{text}", ' if text else ""
    return entry.rstrip() + f'\nwhen = {{ {wanted}lacks = "agent" }}\n'


def on_stage(folder: Path, script: str, **more: Any) -> AbstractAsyncContextManager[Stage]:
    """A stage with a team on which time passes."""
    return stage(folder, script, clock=PassingClock(), team=True, **more)


def team_of(here: Stage) -> Team:
    background = here.agent.parts.background
    assert background is not None
    return background.team


async def wait_for(parts: AgentParts, holds: Callable[[], bool]) -> None:
    """Wait for what members do."""
    background, changed = parts.background, asyncio.Event()
    assert background is not None
    background.inbox.notify(changed.set)
    parts.core.conversation.subscribe(lambda event: changed.set())
    async with asyncio.timeout(60):
        while not holds():
            changed.clear()
            await changed.wait()


async def until(here: Stage, holds: Callable[[], bool]) -> None:
    """Wait for what members do."""
    await wait_for(here.agent.parts, holds)


async def at_rest(here: Stage) -> None:
    """Wait until no member works."""
    background = here.agent.parts.background
    assert background is not None
    await until(here, lambda: not background.subagents.running)


def texts(body: Json) -> list[str]:
    """The texts of the last message of a request."""
    return [block.get("text", "") for block in body["messages"][-1]["content"]]


def told(here: Stage, kind: type[Any]) -> list[Any]:
    return [event for event in here.recorded if isinstance(event, kind)]


async def test_a_member_answers_by_mail_and_goes_on_where_it_was(tmp_path: Path) -> None:
    script = calls(start("ann", "Count the files.", role="counter")) + says("Started.")
    script += of_member(says("There are three."), "Count the files.")
    async with on_stage(
        tmp_path,
        script
        + says("Three, then.")
        + calls(message("ann", "And the folders?"))
        + says("Asked.")
        + of_member(says("Two folders."), "And the folders?")
        + says("Two."),
    ) as here:
        turn = await here.turn("How many files?")
        assert "ann (a1) has its task" in turn.results[0]["content"]
        await at_rest(here)
        (row,) = team_of(here).rows
        assert (row.name, row.state, row.role) == ("ann", MemberState.IDLE, "counter")
        assert row.why == "done; no report, so its last words went to lead"
        again = await here._taken(here.agent.deliver())
        mail = texts(here.bodies[-1])[0]
        assert '<mail id="1" kind="last_words" from="ann">\nThere are three.\n</mail>' in mail
        assert again.end.answer == "Three, then."
        turn = await here.turn("ask ann")
        await at_rest(here)
        asked = next(
            body
            for body in here.bodies
            if "And the folders?" in str(body["messages"][-1])
            and "agent" not in {tool["name"] for tool in body["tools"]}
        )
        assert [one["role"] for one in asked["messages"]] == ["user", "assistant", "user"]
        assert "You are ann, a member of a team: counter." in str(asked["system"])
        (delivered,) = told(here, MailDelivered)
        assert delivered.member == Address("ann", 1)
        assert [one.again for one in told(here, AgentCreated)] == [False, True]


async def test_mail_for_a_working_member_joins_between_two_steps(tmp_path: Path) -> None:
    script = calls(start("ann", "Look.")) + says("Started.") + says("Good.")
    script += of_member(
        calls('{ name = "bash", input = { command = "until [ -e go ]; do sleep 0.05; done" } }'), "Look."
    )
    script += of_member(says("I have read it."), "Also the tests")
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        await until(here, lambda: "bash" in str([row.reason for row in team_of(here).rows]))
        said = await team_of(here).say(["ann"], "Also the tests")
        assert said == "Message 1 to ann is in the mailbox; ann reads it at its next step."
        (here.workspace / "go").touch()
        await at_rest(here)
        last = here.bodies[-1]["messages"]
        assert [message["role"] for message in last] == ["user", "assistant", "user"]
        assert [block["type"] for block in last[-1]["content"]] == ["tool_result", "text"]
        assert len(told(here, AgentCreated)) == 1
        assert [event.text for event in told(here, MemberAnswered)] == ["I have read it."]


async def test_notes_and_thanks_wait_and_cost_no_request(tmp_path: Path) -> None:
    thanks = message("ann", "Thank you, great work!")
    script = calls(start("ann")) + says("Started.") + of_member(says("Done."), "Look.")
    script += calls(thanks, message("ann", "The build is green.", note=True)) + says("Told.")
    script += calls(message("ann", "Look again.")) + says("Asked.") + of_member(says("Looked."), "Look again.")
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        await at_rest(here)
        before = len(here.bodies)
        turn = await here.turn("thank ann")
        assert "it is read with the next one that begins work" in turn.results[0]["content"]
        await at_rest(here)
        assert len(here.bodies) == before + 2
        assert [row.unread for row in team_of(here).rows] == [2]
        await here.turn("more")
        await at_rest(here)
        asked = next(body for body in here.bodies if "Look again." in texts(body)[-1])
        assert [text.splitlines()[1] for text in texts(asked)] == [
            "Thank you, great work!",
            "The build is green.",
            "Look again.",
        ]


async def test_an_ended_member_returns_its_mail_and_its_name_begins_anew(tmp_path: Path) -> None:
    again = start("ann", "Begin.")
    script = calls(start("ann")) + says("Started.") + of_member(says("Done."), "Look.")
    script += calls(message("ann", "For later.", note=True)) + calls('{ name = "team_stop", input = { name = "ann" } }')
    script += calls(message("ann", "Are you there?")) + calls(again) + says("Again.") + of_member(says("Hm."), "Begin.")
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        await at_rest(here)
        turn = await here.turn("end ann")
        assert turn.results[2]["content"] == "Not sent. ann has ended: the lead ended it. Nobody else is there."
        assert turn.results[2]["is_error"]
        await at_rest(here)
        assert told(here, MailReturned)[0].ids == (2,)
        back = [event.text for event in told(here, Arrived) if event.kind is ArrivalKind.NOTE]
        assert "Your message 2 to ann was not read: the lead ended it. It began: For later." in back[0]
        assert [row.address for row in team_of(here).rows] == [Address("ann", 1), Address("ann", 2)]
        assert told(here, MailDelivered) == []


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (start("../x"), "A name is 1 to 64 letters"),
        (start("Lead"), "The name Lead is reserved"),
        (start("ann"), "There is a member ann already"),
        (start("eve", kind="wizard"), "Unknown kind of agent wizard"),
        (message("eve", "Hi."), "There is no 'eve'. There are: ann."),
        (message("lead", "Hi."), "lead is you. There are: ann."),
        (message("ann", "x" * 20_001), "20,001 characters, and 20,000 are allowed"),
        ('{ name = "team_stop", input = { name = "eve" } }', "There is no member 'eve'; there is: ann."),
        ('{ name = "agent", input = { agent = "a1", prompt = "x", description = "x" } }', "a1 is a member of the team"),
    ],
)
async def test_what_cannot_be_is_an_error_that_says_who_is_there(tmp_path: Path, call: str, answer: str) -> None:
    script = calls(start("ann")) + calls(call) + says("Hm.") + of_member(says("Done."), "Look.")
    async with on_stage(tmp_path, script) as here:
        turn = await here.turn()
        assert answer in turn.results[1]["content"]
        assert turn.results[1]["is_error"]
        await at_rest(here)


async def test_a_member_that_asks_another_owes_its_report_until_the_answer_is_there(tmp_path: Path) -> None:
    script = calls(start("ben", "Be ready."), start("ann", "Ask ben.")) + says("Started.")
    script += of_member(says("Ready."), "Be ready.") + of_member(calls(message("ben", "How many?")), "Ask ben.")
    script += of_member(says("I wait for ben."), "to ben is in the mailbox") + of_member(says("Seven."), "How many?")
    script += of_member(says("Seven, says ben."), "Seven.")
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        await until(here, lambda: [row.tasks for row in team_of(here).rows] == [2, 2])
        await at_rest(here)
        waits = [event for event in told(here, MemberChanged) if event.owes]
        assert [(event.why, event.owes) for event in waits] == [
            ("waits for ben; owes lead a report", (Address("lead", 1),))
        ]
        sent = [(one.sender.name, one.recipient.name, one.kind, one.text) for one in told(here, MailSent)]
        assert sent[-2:] == [
            ("ben", "ann", MailKind.LAST_WORDS, "Seven."),
            ("ann", "lead", MailKind.LAST_WORDS, "Seven, says ben."),
        ]
        assert "I wait for ben." not in str(sent)


async def test_a_report_by_message_is_sent_once(tmp_path: Path) -> None:
    script = calls(start("ann")) + says("Started.") + of_member(calls(message("lead", "Three files.")), "Look.")
    script += of_member(says("I have told the lead."), "to lead is in the mailbox")
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        await at_rest(here)
        assert [(one.kind, one.text) for one in told(here, MailSent)] == [(MailKind.MESSAGE, "Three files.")]
        assert [row.why for row in team_of(here).rows] == ["done"]


async def test_five_failures_pause_the_mail_of_a_member_and_its_end_lets_it_try_again(tmp_path: Path) -> None:
    clock = HandClock()
    refused = '\n[[reply]]\nstatus = 403\ntimes = 5\nwhen = { lacks = "agent" }\n'
    script = calls(start("ann")) + says("Started.") + refused + of_member(says("Well."), "number 5")
    async with stage(tmp_path, script, clock=clock, team=True) as here:  # type: ignore[arg-type]
        await here.turn()
        team = team_of(here)
        await at_rest(here)
        assert [row.state for row in team.rows] == [MemberState.FAILED]
        failed = [event for event in told(here, MailSent) if event.kind is MailKind.FAILED]
        assert [event.recipient.name for event in failed] == ["lead"]
        (arrived,) = told(here, Arrived)
        assert "[agent a1] To let it try again, write to it with message." in arrived.text
        for number in range(1, 5):
            await team.say(["ann"], f"number {number}")
            await at_rest(here)
        await team.say(["ann"], "number 5")
        (row,) = team.rows
        assert row.state is MemberState.PAUSED
        assert row.why.startswith("failed 5 times in a row; its mail waits until ")
        before = len(here.bodies)
        clock.move(61)
        await until(here, lambda: team.rows[0].state is MemberState.IDLE)
        assert len(here.bodies) == before + 1


async def test_the_money_of_the_team_ends_its_members_and_not_the_lead(tmp_path: Path) -> None:
    script = calls(start("ann")) + says("Started.") + of_member(calls(run("one")), "Look.") + says("Go on.")
    async with on_stage(tmp_path, script, team_budget_usd=0.001) as here:
        await here.turn()
        await at_rest(here)
        (row,) = team_of(here).rows
        assert row.state is MemberState.FAILED
        assert "the budget of $0.00 is spent" in row.why
        assert "team_budget_usd" in row.why
        turn = await here.turn("and now?")
        assert turn.end.answer == "Go on."


async def test_without_the_setting_there_is_no_tool(tmp_path: Path) -> None:
    async with stage(tmp_path, says("Hello."), clock=PassingClock()) as here:
        await here.turn()
        names = {tool["name"] for tool in here.bodies[0]["tools"]}
        assert names.isdisjoint({"team_start", "message", "roster", "team_stop"})


def test_nothing_of_a_team_is_imported_before_it_is_asked_for() -> None:
    code = "import sys, harness.session; print([name for name in sys.modules if '.team' in name])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['harness.events.team']"


async def test_an_idle_team_has_no_timer_and_makes_no_request_in_ten_hours(tmp_path: Path) -> None:
    script = calls(start("ann"), start("ben")) + says("Started.") + of_member(says("Done.", times="2"))
    clock = HandClock()
    clock.move(1.0)
    async with stage(tmp_path, script, clock=clock, team=True) as here:  # type: ignore[arg-type]
        await here.turn()
        await at_rest(here)
        requests, descriptors = len(here.bodies), psutil.Process().num_fds()
        assert clock.sleepers == []
        assert not [one for one in asyncio.all_tasks() if one.get_name().startswith(("member", "pause", "mailboxes"))]
        clock.move(36_000)
        await asyncio.sleep(0)
        assert (len(here.bodies), psutil.Process().num_fds()) == (requests, descriptors)
        assert team_of(here).listed().count("idle for 10 h") == 2


async def test_more_members_than_agreed_on_are_one_question_with_an_estimate(tmp_path: Path) -> None:
    script = calls(*(start(f"m{number}") for number in range(4))) + says("Hm.") + of_member(says("Done.", times="9"))
    async with on_stage(tmp_path, script, fan_out="ask", fan_out_subagents=3) as here:
        turn = await here.turn()
        (asked,) = turn.of(QuestionAsked)
        assert asked.question.startswith("The model wants to start 4 subagents.\nEstimate: about 416,000 tokens,")
        assert all("no user is present to agree" in result["content"] for result in turn.results)
        assert team_of(here).rows == ()


async def test_a_team_takes_no_more_members_than_it_may(tmp_path: Path) -> None:
    script = calls(*(start(f"m{number}") for number in range(3))) + says("Two.") + of_member(says("Done.", times="2"))
    async with on_stage(tmp_path, script, team_members=2) as here:
        turn = await here.turn()
        refused = [result["content"] for result in turn.results if result.get("is_error")]
        assert refused == [
            "There are 2 members, and team_members allows no more. End one with team_stop, or write to one."
        ]
        await at_rest(here)
