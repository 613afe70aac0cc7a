"""/team: the list, a transcript, words of the user, and the end of a member."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import MemberState
from tests.agent.stage import calls, played, says, sessions
from tests.agent.test_team import of_member, start
from tests.session.test_team import until_rest
from tests.ui.commands.shown import shown_by

pytestmark = pytest.mark.anyio


async def test_members_are_listed_shown_written_to_and_ended(tmp_path: Path) -> None:
    script = calls(start("ann", role="reader")) + says("Started.") + of_member(says("All is well."), "Look.")
    script += of_member(says("Nine."), "How many?")
    async with sessions(tmp_path, script, team=True) as here, await here.open() as session:
        assert await shown_by("/team", session) == "There is no member yet."
        await played(session.run("begin"))
        await until_rest(session)
        assert (await shown_by("/team", session)).startswith("ann (a1) idle for")
        assert "team         1 member: 1 idle" in await shown_by("/status", session)
        transcript = await shown_by("/team ann", session)
        assert "> Look." in transcript
        assert transcript.splitlines()[-1].startswith("replay: harness replay ")
        assert "All is well." in transcript
        assert await shown_by("/team say ann How many?", session) == (
            "Message 2 to ann is in the mailbox; ann reads it as its next task."
        )
        await until_rest(session)
        assert "mail 2 from user: How many?" in await shown_by("/team ann", session)
        assert await shown_by("/team stop ann", session) == "ann has ended; its history is kept."
        assert [row.state for row in session.background.team.rows] == [MemberState.ENDED]
        assert await shown_by("/team stop all", session) == "There is no member."


@pytest.mark.parametrize(
    ("line", "end"),
    [
        ("/team answer r1 agree", "r1 is agreed."),
        ("/team answer r1 decline: too wide", "r1 is declined."),
        ("/team answer R1 agree to nothing", "r1 is agreed."),
    ],
)
async def test_the_user_answers_a_request_in_the_place_of_the_lead(tmp_path: Path, line: str, end: str) -> None:
    plan = calls('{ name = "request", input = { kind = "plan", text = "Write it." } }')
    script = (
        calls(start("ann")) + says("Started.") + of_member(plan, "Look.") + of_member(says("I wait."), "r1 is with")
    )
    script += of_member(says("Good."), "by user")
    async with sessions(tmp_path, script, team=True) as here, await here.open() as session:
        await played(session.run("begin"))
        await until_rest(session)
        assert (await shown_by("/team", session)).splitlines()[-1] == "r1 plan from ann to lead, open: Write it."
        assert await shown_by(line, session) == end
        await until_rest(session)
        assert "r1 plan" not in await shown_by("/team", session)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("/team answer r7 agree", "There is no request 'r7'; without an answer: none."),
        ("/team answer r1", "Type /team for the list"),
        ("/team say ann", "Type /team for the list"),
        ("/team say eve Hello.", "There is no 'eve'. Nobody else is there."),
        ("/team eve", "There is no member eve"),
        ("/team stop eve", "There is no member 'eve'; there is: nobody."),
    ],
)
async def test_what_cannot_be_is_a_sentence(tmp_path: Path, line: str, sentence: str) -> None:
    async with sessions(tmp_path, says("Hm."), team=True) as here, await here.open() as session:
        with pytest.raises(HarnessError, match=sentence.replace("?", r"\?")):
            await shown_by(line, session)


async def test_a_session_without_a_team_says_how_to_get_one(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("Hm.")) as here, await here.open() as session:
        assert "start with `--team`" in await shown_by("/team", session)
