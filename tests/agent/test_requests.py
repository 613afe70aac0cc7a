"""Requests between agents: a plan before anything is written, questions, hand-overs, the end of a member, deadlines."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from harness.base.errors import HarnessError
from harness.engine.permissions.asker import UserAnswer
from harness.engine.team.requests import LEAD_BOX
from harness.events import (
    Address,
    MailKind,
    MailSent,
    MemberChanged,
    MemberStarted,
    MemberState,
    PermissionAsked,
    ProposedPlan,
    QuestionAnswered,
    QuestionAsked,
    RequestChanged,
    RequestKind,
    RequestMade,
    RequestState,
)
from harness.journal import read
from harness.permissions import PermissionAnswer, PermissionRequest
from harness.policies.protocols.requests import digest_of
from harness.policies.protocols.table import RequestMessage
from harness.session import Opening
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import Stage, calls, played, says, sessions, stage
from tests.agent.test_team import at_rest, of_member, on_stage, start, team_of, told, until, wait_for
from tests.engine.hand_clock import HandClock, quiet

pytestmark = pytest.mark.anyio

ANN, BEN = Address("ann", 1), Address("ben", 1)
PLAN = "Write out.txt."
WRITE = '{ name = "write_file", input = { path = "out.txt", content = "hello" } }'


def request(kind: str, text: str, to: str = "lead") -> str:
    """A call of request, for a script."""
    return f'{{ name = "request", input = {{ kind = "{kind}", to = "{to}", text = "{text}" }} }}'


def answer(id: str, say: str, text: str = "", digest: str = "") -> str:
    """A call of answer, for a script."""
    return f'{{ name = "answer", input = {{ id = "{id}", say = "{say}", text = "{text}", digest = "{digest}" }} }}'


def planner(name: str = "ann") -> str:
    """A call of team_start for a member that plans first."""
    return start(name).replace('"Look."', '"Look.", plan = true')


def states(here: Stage) -> list[tuple[str, str]]:
    """The moves of requests: id and new state."""
    return [(event.id, event.state.value) for event in told(here, RequestChanged)]


def sent(here: Stage, kind: MailKind) -> list[tuple[str, str, str]]:
    return [(one.sender.name, one.recipient.name, one.text) for one in told(here, MailSent) if one.kind is kind]


def two_idle(more: str = "") -> str:
    """A script that starts ann and ben."""
    script = calls(start("ann", "Be ann."), start("ben", "Be ben.")) + says("Started.")
    return script + of_member(says("Ready."), "Be ann.") + of_member(says("Ready."), "Be ben.") + more


async def test_nothing_is_written_before_the_lead_has_agreed_to_that_plan(tmp_path: Path) -> None:
    script = calls(planner()) + says("Started.")
    script += of_member(calls(WRITE), "Look.") + of_member(calls(request("plan", PLAN)), "plan first")
    script += of_member(calls(WRITE), "r1 is with lead") + of_member(says("I wait."), "r1 waits for lead")
    script += calls(answer("r1", "agree", digest=digest_of("Another plan."))) + calls(answer("r1", "answer", "Yes."))
    script += calls(answer("r1", "agree", digest=digest_of(PLAN))) + calls(answer("r1", "decline", "no")) + says("OK.")
    script += of_member(calls(WRITE), "agreed by lead") + of_member(says("Written."), "out.txt")
    async with on_stage(tmp_path, script, permission_mode="yolo") as here:
        await here.turn()
        await at_rest(here)
        assert not (here.workspace / "out.txt").exists()
        (row,) = team_of(here).rows
        assert (row.state, row.why) == (MemberState.IDLE, "waits for lead (r1); owes lead a report")
        turn = await here._taken(here.agent.deliver())
        assert [one["content"].split(":")[0] for one in turn.results] == [
            *("r1 is unchanged", "r1 is unchanged", "r1 is agreed.", "r1 is unchanged")
        ]
        await at_rest(here)
        assert (here.workspace / "out.txt").read_text() == "hello"
        assert states(here) == [("r1", "agreed")]
        assert sent(here, MailKind.LAST_WORDS) == [("ann", "lead", "Written.")]


async def test_a_rejection_tells_why_and_after_three_the_user_is_asked(tmp_path: Path) -> None:
    class User(AnsweringUser):
        asked_about: ClassVar[list[QuestionAsked]] = []

        async def question(self, asked: QuestionAsked) -> UserAnswer:
            self.asked_about.append(asked)
            return UserAnswer("option", "yes")

    user, script = User(), calls(planner()) + says("Started.")
    script += of_member(calls(request("plan", PLAN)), "Look.") + of_member(says("Wait."), "r1 is with lead")
    for number in range(1, 4):
        script += calls(answer(f"r{number}", "decline", f"no {number}")) + says("Declined.")
        script += of_member(calls(request("plan", PLAN)), f"declined by lead: no {number}")
        script += of_member(says("Wait."), f"r{number + 1} is with")
    script += of_member(calls(WRITE), "agreed by user") + of_member(says("Written."), "out.txt")
    async with on_stage(tmp_path, script, permission_mode="yolo", asker=user) as here:
        await here.turn()
        for _ in range(3):
            await at_rest(here)
            assert not (here.workspace / "out.txt").exists()
            await here._taken(here.agent.deliver())
        await until(here, lambda: states(here)[-1] == ("r4", "agreed"))
        await at_rest(here)
        assert (here.workspace / "out.txt").exists()
        assert states(here)[-2:] == [("r3", "declined"), ("r4", "agreed")]
        (asked,) = user.asked_about
        assert asked.plan is not None
        assert (asked.plan.text, asked.agent) == (PLAN, "ann")


async def test_who_waits_for_the_other_in_a_cycle_is_told(tmp_path: Path) -> None:
    script = two_idle() + of_member(calls(request("question", "Which port?", "ben")), "Ask.")
    script += of_member(says("I wait."), "r1 is with ben")
    script += of_member(calls(request("question", "Which host?", "ann")), "Which port?")
    script += of_member(calls(answer("r1", "answer", "80")), "waits for you already: ann waits for ben (r1)")
    script += of_member(says("Told."), "r1 is answered") + of_member(says("Thanks, 80."), "answered by ben: 80")
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        await at_rest(here)
        await team_of(here).say(["ann"], "Ask.")
        await until(here, lambda: [row.tasks for row in team_of(here).rows] == [2, 3])
        await at_rest(here)
        assert states(here) == [("r1", "answered")]
        (row,) = (row for row in team_of(here).rows if row.name == "ann")
        assert row.why.startswith("done")


@pytest.mark.parametrize("answers", [True, False])
async def test_without_an_answer_a_question_is_reminded_of_then_the_leads_then_nobodys(
    tmp_path: Path, answers: bool
) -> None:
    clock = HandClock()
    script = two_idle() + of_member(says("Hm."), "Request r1 (question, ann to ben).")
    script += of_member(says("Hm again."), "still without an answer: reminded")
    script += (calls(answer("r1", "answer", "80")) if answers else says("I do not know.")) + says("Well.")
    script += of_member(says("80, then."), "answered by lead: 80")
    script += of_member(says("Nobody knows."), "declined by program: no user is present")
    async with stage(tmp_path, script, clock=clock, team=True) as here:  # type: ignore[arg-type]
        await here.turn()
        await at_rest(here)
        team = team_of(here)
        await team.open()
        await team.requests.make(ANN, RequestKind.QUESTION, BEN, "Which port?")
        await at_rest(here)
        for seconds, state in ((600, "reminded"), (300, "with_lead")):
            clock.move(seconds - 1)
            await at_rest(here)
            clock.move(1)
            await until(here, lambda state=state: states(here)[-1:] == [("r1", state)])  # type: ignore[misc]
            await until(here, lambda: len(clock.sleepers) == 1)
            await at_rest(here)
        await here._taken(here.agent.deliver())
        if not answers:
            clock.move(300)
        await until(here, lambda: team.requests.fold.waiting == ())
        await until(here, lambda: "ann" in str(sent(here, MailKind.ANSWER)))
        await at_rest(here)
        assert states(here)[2:] == ([("r1", "answered")] if answers else [("r1", "with_user"), ("r1", "declined")])
        assert clock.sleepers == []


BUSY = calls('{ name = "bash", input = { command = "until [ -e go ]; do sleep 0.05; done" } }')
STOP = '{ name = "team_stop", input = { name = "ann", why = "enough" } }'


async def test_a_working_member_may_decline_to_end_and_agrees_later_with_a_last_report(tmp_path: Path) -> None:
    script = calls(start("ann")) + says("Started.") + of_member(BUSY, "Look.") + calls(STOP) + says("Asked.")
    script += of_member(calls(answer("r1", "decline", "one file left")), "Request r1 (shutdown")
    script += of_member(
        calls('{ name = "bash", input = { command = "until [ -e on ]; do sleep 0.05; done" } }'), "r1 is"
    )
    script += calls(STOP) + says("Asked again.") + of_member(calls(answer("r2", "agree")), "Request r2 (shutdown")
    script += of_member(says("All five are done."), "r2 is agreed")
    async with on_stage(tmp_path, script, permission_mode="yolo") as here:
        await here.turn()
        await until(here, lambda: "bash" in str([row.reason for row in team_of(here).rows]))
        turn = await here.turn("end ann")
        assert "r1 asks ann to end" in turn.results[-1]["content"]
        (here.workspace / "go").touch()
        await until(here, lambda: states(here) == [("r1", "declined")])
        assert team_of(here).member("ann")
        await here.turn("once more")
        (here.workspace / "on").touch()
        await at_rest(here)
        assert states(here) == [("r1", "declined"), ("r2", "agreed")]
        ended = [event for event in told(here, MemberChanged) if event.state is MemberState.ENDED]
        assert [event.why for event in ended] == ["enough"]
        assert "All five are done." in sent(here, MailKind.LAST_WORDS)[-1][2]


async def test_a_member_that_does_not_answer_is_ended_by_force(tmp_path: Path) -> None:
    class Silent(AnsweringUser):
        async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
            await asyncio.Event().wait()
            raise AssertionError

    clock = HandClock()
    script = calls(start("ann")) + says("Started.") + of_member(calls(WRITE), "Look.") + calls(STOP) + says("Asked.")
    values = {"team": True, "permission_mode": "ask"}
    async with stage(tmp_path, script, clock=clock, asker=Silent(), **values) as here:  # type: ignore[arg-type]
        await here.turn()
        await until(here, lambda: team_of(here).rows[0].asks)
        await here.turn("end ann")
        clock.move(120)
        await until(here, lambda: states(here) == [("r1", "reminded")])
        await quiet()
        clock.move(60)
        await at_rest(here)
        assert states(here) == [("r1", "reminded"), ("r1", "forced")]
        assert team_of(here).rows[0].state is MemberState.ENDED
        assert "did not finish: enough" in sent(here, MailKind.NOTE)[-1][2]


async def test_a_question_goes_away_with_its_asker_and_is_answered_when_the_asked_one_ends(tmp_path: Path) -> None:
    script = two_idle() + of_member(says("Hm."), "Request r") + of_member(says("Hm."), "lapsed by program")
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        await at_rest(here)
        team = team_of(here)
        await team.open()
        await team.requests.make(ANN, RequestKind.QUESTION, BEN, "Why?")
        await team.requests.make(LEAD_BOX, RequestKind.HAND_OVER, ANN, "Take the parser.")
        await at_rest(here)
        await team.end("ann", "the user ended it")
        assert states(here) == [("r3", "forced"), ("r1", "withdrawn"), ("r2", "lapsed")]
        withdrawn = "Request r1 (question) is withdrawn by program: ann has ended. Nothing is left to do."
        assert ("ann", "ben", withdrawn) in sent(here, MailKind.NOTE)
        assert sent(here, MailKind.ANSWER) == [
            ("ann", "lead", "Request r2 (hand over) is lapsed by program: ann has ended")
        ]
        with pytest.raises(HarnessError, match="r1 is unchanged: it has ended already"):
            await team.requests.say(BEN, "r1", RequestMessage.ANSWER, "Because.")


async def test_a_member_that_the_user_ends_has_answered_the_request_to_end(tmp_path: Path) -> None:
    script = calls(start("ann")) + says("Started.") + of_member(BUSY, "Look.") + calls(STOP) + says("Asked.")
    async with on_stage(tmp_path, script, permission_mode="yolo") as here:
        await here.turn()
        await until(here, lambda: "bash" in str([row.reason for row in team_of(here).rows]))
        await here.turn("end ann")
        await team_of(here).end("ann", "the user ended it")
        (forced,) = told(here, RequestChanged)
        assert (forced.id, forced.state, forced.by) == ("r1", RequestState.FORCED, "user")
        assert team_of(here).requests.fold.waiting == ()
        assert team_of(here).rows[0].state is MemberState.ENDED


@pytest.mark.parametrize("cleared", [True, False])
async def test_a_deadline_outlives_a_cleared_history_and_ends_with_its_request(tmp_path: Path, cleared: bool) -> None:
    clock = HandClock()
    script = two_idle() + of_member(says("Hm."), "Request r1") + of_member(says("Hm."), "reminded")
    more = {"clock": clock, "team": True, "request_deadline_s": 60}
    async with stage(tmp_path, script, **more) as here:  # type: ignore[arg-type]
        await here.turn()
        await at_rest(here)
        team = team_of(here)
        await team.open()
        await team.requests.make(LEAD_BOX, RequestKind.QUESTION, BEN, "Why?")
        await until(here, lambda: len(clock.sleepers) == 1)
        await at_rest(here)
        if cleared:
            here.agent.parts.user_commands.clear()
            clock.move(60)
            await until(here, lambda: states(here) == [("r1", "reminded")])
            await until(here, lambda: len(sent(here, MailKind.REQUEST)) == 2)
            await at_rest(here)
        else:
            here.agent.conversation.emit(MemberStarted(BEN, "a9"))  # the same address again: new mailboxes
            await quiet()
            assert clock.sleepers == []


async def test_an_approval_with_changes_counts_for_the_changed_text(tmp_path: Path) -> None:
    edited = "Write out.txt and nothing else." + " " * 30_000 + "End."

    class User(AnsweringUser):
        async def question(self, asked: QuestionAsked) -> UserAnswer:
            return UserAnswer("option", "yes", ProposedPlan(edited))

    script = calls(planner()) + says("Started.") + of_member(says("Ready."), "Look.")
    script += of_member(calls(WRITE), "agreed by user: with changes") + of_member(says("Written."), "out.txt")
    async with on_stage(tmp_path, script, permission_mode="yolo", asker=User()) as here:
        await here.turn()
        await at_rest(here)
        requests = team_of(here).requests
        for id in ("r1", "r2", "r3"):
            here.agent.conversation.emit(RequestMade(id, RequestKind.PLAN, ANN, LEAD_BOX, PLAN, digest_of(PLAN)))
            here.agent.conversation.emit(RequestChanged(id, RequestState.DECLINED, "lead", "no"))
        await requests.make(ANN, RequestKind.PLAN, LEAD_BOX, PLAN)
        await until(here, lambda: bool(sent(here, MailKind.ANSWER)))
        await at_rest(here)
        (request,) = (one for one in requests.fold.plans(ANN) if one.state is RequestState.AGREED)
        assert request.digest == digest_of(edited)
        assert (here.workspace / "out.txt").exists()


async def test_the_user_s_question_is_taken_back_when_the_request_ends(tmp_path: Path) -> None:
    class Silent(AnsweringUser):
        async def question(self, asked: QuestionAsked) -> UserAnswer:
            await asyncio.Event().wait()
            raise AssertionError

    clock = HandClock()
    script = two_idle() + of_member(says("Hm."), "Request r1")
    async with stage(tmp_path, script, clock=clock, team=True, asker=Silent()) as here:  # type: ignore[arg-type]
        await here.turn()
        await at_rest(here)
        team = team_of(here)
        await team.open()
        await team.requests.make(LEAD_BOX, RequestKind.QUESTION, BEN, "Why?")
        clock.move(600)
        await until(here, lambda: any(due == 900 for due, _ in clock.sleepers))
        clock.move(300)
        await until(here, lambda: bool(told(here, QuestionAsked)))
        await team.requests.say(BEN, "r1", RequestMessage.ANSWER, "Because.")
        await until(here, lambda: bool(told(here, QuestionAnswered)))
        assert [event.how for event in told(here, QuestionAnswered)] == ["withdrawn"]
        await at_rest(here)


async def test_an_open_request_is_said_again_once_after_a_restart_and_its_id_is_not_used_twice(tmp_path: Path) -> None:
    script = (
        two_idle() + of_member(says("Hm."), "Request r1") + says("Going on.") + of_member(says("Hm!"), "Request r1")
    )
    async with sessions(tmp_path, script, team=True) as opened:
        async with await opened.open() as session:
            await played(session.run("start"))
            await wait_for(session._parts, lambda: not session.subagents.running)
            team = session.background.team
            await team.requests.make(ANN, RequestKind.QUESTION, BEN, "Why?")
            await wait_for(session._parts, lambda: not session.subagents.running)
            path = session.path
        before = len(opened.server.requests)
        async with await opened.open(Opening(resume=path.stem)) as session:
            team = session.background.team
            await team.open()
            assert len(opened.server.requests) == before
            await played(session.run("go on"))
            requests: Callable[[], int] = lambda: sum(  # noqa: E731
                isinstance(one.event, MailSent) and one.event.kind is MailKind.REQUEST for one in read(path).records
            )
            await wait_for(session._parts, lambda: requests() == 2 and not session.subagents.running)
            assert team.requests.lines() == ("r1 question from ann to ben, open: Why?",)
            made = await team.requests.make(LEAD_BOX, RequestKind.QUESTION, BEN, "Where?")
            assert made.id == "r2"
            assert await team.reply("r1", RequestMessage.ANSWER, "Because.") == "r1 is answered."


async def test_others_and_wrong_words_change_nothing(tmp_path: Path) -> None:
    async with on_stage(tmp_path, two_idle(of_member(says("Hm."), "Request r1"))) as here:
        await here.turn()
        await at_rest(here)
        team = team_of(here)
        await team.open()
        await team.requests.make(LEAD_BOX, RequestKind.QUESTION, BEN, "Why?")
        await at_rest(here)
        for sender, said, text, why in (
            (ANN, RequestMessage.ANSWER, "x", "not yours to say"),
            (Address("ben", 2), RequestMessage.ANSWER, "x", "not yours to say"),
            (LEAD_BOX, RequestMessage.ANSWER, "x", "not yours to say"),
            (BEN, RequestMessage.AGREE, "", "cannot get agree"),
            (BEN, RequestMessage.ANSWER, " ", "say in `text` what"),
        ):
            with pytest.raises(HarnessError, match=why):
                await team.requests.say(sender, "r1", said, text)
        assert states(here) == []
        both = (team.requests.say(BEN, "r1", RequestMessage.ANSWER, text) for text in ("one", "two"))
        first, second = await asyncio.gather(*both, return_exceptions=True)
        assert isinstance(second, HarnessError)
        assert not isinstance(first, BaseException)
        assert first.state is RequestState.ANSWERED
        assert len(told(here, RequestChanged)) == 1
