"""Questions about hosts: when they come, what an answer allows, and the events of both."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.engine.conversation import Conversation
from harness.engine.permissions.asker import Asker, NoAsker, UserAnswer
from harness.engine.permissions.hosts import ALWAYS, MOST_REFUSED, NO, ONCE, SESSION, CommandCaller, CommandHosts
from harness.engine.permissions.session_rules import SessionRules
from harness.events import Event, Notice, QuestionAnswered, QuestionAsked, SandboxRefused, SettingChanged
from harness.settings import Settings
from harness.settings.permission_file import HOSTS, PermissionFile

pytestmark = pytest.mark.anyio


class ScriptedUser(NoAsker):
    """Answers in order; without an answer it waits."""

    present = True

    def __init__(self, *answers: UserAnswer) -> None:
        self.answers = list(answers)
        self.asked: list[QuestionAsked] = []
        self.thinks = asyncio.Event()

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """The next answer."""
        self.asked.append(asked)
        if not self.answers:
            self.thinks.set()
            await asyncio.Event().wait()
        return self.answers.pop(0)


class Session:
    """Rules and questions of one session, with the events that they leave behind."""

    def __init__(self, folder: Path, asker: Asker, hosts: Sequence[str] = (), file: Path | None = None) -> None:
        self.events: list[Event] = []
        self.conversation = Conversation(self.events.append)
        settings = Settings(workspace=folder, sandbox_hosts=tuple(hosts), permissions_file=file)
        self.rules = SessionRules(settings, logging.getLogger("test"), self.conversation.emit)
        self._turn, self._asker = asyncio.Lock(), asker

    def command(self, call_id: str = "c1") -> CommandHosts:
        """The hosts of a new command."""
        line = "pip install requests"
        caller = CommandCaller(call_id, "bash", {"command": line}, line, self.conversation, self._asker)
        return CommandHosts(self.rules, self._turn, caller, ())

    def of(self, kind: type[Event]) -> list[Event]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]


def chosen(label: str) -> UserAnswer:
    """An option."""
    return UserAnswer("option", label)


async def test_a_listed_host_is_not_asked_about(tmp_path: Path) -> None:
    user = ScriptedUser()
    session = Session(tmp_path, user, ["pypi.org", "*.example.org"])
    assert await session.command().reach("pypi.org", 443, near=False) == ""
    assert await session.command().reach("a.example.org", 80, near=False) == ""
    assert (user.asked, session.events) == ([], [])


@pytest.mark.parametrize(("label", "same", "others"), [(ONCE, 0, 1), (SESSION, 0, 0), (ALWAYS, 0, 0), (NO, 1, 1)])
async def test_how_long_an_answer_holds(tmp_path: Path, label: str, same: int, others: int) -> None:
    """Questions that follow: of the same command about the same host, and of the next command."""
    user = ScriptedUser(*[chosen(label)] * 3)
    session = Session(tmp_path, user, file=tmp_path / "permissions.toml")
    command = session.command()
    refused = await command.reach("pypi.org", 443, near=False)
    assert refused == ("the user does not allow it" if label == NO else "")
    await command.reach("pypi.org", 443, near=False)
    assert len(user.asked) - 1 == same
    await session.command("c2").reach("pypi.org", 443, near=False)
    assert len(user.asked) - 1 - same == others
    again = Session(tmp_path, ScriptedUser(), file=tmp_path / "permissions.toml")
    assert again.rules.hosts == (("pypi.org",) if label == ALWAYS else ())
    elsewhere = PermissionFile(tmp_path / "permissions.toml", "/other").read()
    assert elsewhere[HOSTS] == ()


async def test_what_the_file_of_a_package_manager_names_is_offered_together(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    user = ScriptedUser(chosen(SESSION), chosen(ONCE))
    session = Session(tmp_path, user)
    command = session.command()
    assert await command.reach("pypi.org", 443, near=False) == ""
    assert await command.reach("files.pythonhosted.org", 443, near=False) == ""
    assert [asked.hosts for asked in user.asked] == [("pypi.org", "files.pythonhosted.org")]
    assert user.asked[0].question == (
        "May this command reach pypi.org?\n`pip install requests`\n"
        "pyproject.toml of this folder names it, and with it: files.pythonhosted.org."
    )
    assert await command.reach("pypi.org", 8443, near=False) == ""
    assert user.asked[1].hosts == ("pypi.org:8443",), "another port is another question"
    assert session.of(SettingChanged) == [SettingChanged("sandbox_hosts", "pypi.org, files.pythonhosted.org (session)")]


async def test_a_refusal_is_an_event_and_a_denial_with_its_reason(tmp_path: Path) -> None:
    session = Session(tmp_path, ScriptedUser(UserAnswer("text", "not\nthis one")))
    why = await session.command().reach("a.example", 443, near=False)
    assert why == "the user does not allow it: not this one"
    assert session.of(SandboxRefused) == [SandboxRefused("c1", "host", "a.example:443", "work", why)]
    (denial,) = session.conversation.denials
    assert (denial.call_id, denial.tool, denial.why) == ("c1", "bash", f"the sandbox refused a.example:443: {why}")


async def test_without_a_user_it_is_refused_and_the_reason_names_the_setting(tmp_path: Path) -> None:
    session = Session(tmp_path, NoAsker())
    command = session.command()
    why = await command.reach("a.example", 443, near=False)
    assert why == 'no user is present to ask; allow it with sandbox_hosts = ["a.example"]'
    assert session.of(QuestionAnswered) == [QuestionAnswered("c1", "declined", "", "setting")]
    more = await command.reach("b.example", 22, near=False)
    (denial,) = session.conversation.denials
    assert denial.why == f"the sandbox refused a.example:443: {why}; b.example:22: {more}", "one for each call"


async def test_a_command_that_wants_very_many_hosts_is_asked_about_a_few(tmp_path: Path) -> None:
    user = ScriptedUser(*[chosen(NO)] * 500)
    session = Session(tmp_path, user, ["pypi.org"])
    command = session.command()
    hosts = [f"h{number}.example" for number in range(500)]
    answers = await asyncio.gather(*(command.reach(host, 443, near=False) for host in hosts))
    assert all(answers)
    assert [len(user.asked), len(session.of(SandboxRefused))] == [MOST_REFUSED, MOST_REFUSED]
    assert len(session.conversation.denials[0].why) < 3_000
    assert await command.reach("pypi.org", 443, near=False) == ""


async def test_this_machine_and_its_network_are_never_asked_about(tmp_path: Path) -> None:
    user = ScriptedUser()
    session = Session(tmp_path, user, ["localhost:8080"])
    command = session.command()
    assert 'sandbox_hosts = ["10.0.0.5:8080"]' in await command.reach("10.0.0.5", 8080, near=True)
    assert await command.reach("localhost", 8080, near=True) == ""
    assert await command.reach("127.0.0.1", 8080, near=True) == ""
    assert (user.asked, command.local_ports) == ([], (8080,))


async def test_two_commands_that_want_the_same_host_ask_once(tmp_path: Path) -> None:
    user = ScriptedUser(chosen(SESSION))
    session = Session(tmp_path, user)
    both = (session.command(one).reach("a.example", 443, near=False) for one in ("c1", "c2"))
    assert await asyncio.gather(*both) == ["", ""]
    assert len(user.asked) == 1


async def test_a_question_that_is_withdrawn_leaves_its_end_behind_and_lets_the_next_one_come(tmp_path: Path) -> None:
    user = ScriptedUser()
    session = Session(tmp_path, user)
    asking = asyncio.create_task(session.command().reach("a.example", 443, near=False))
    await user.thinks.wait()
    asking.cancel()
    await asyncio.wait({asking})
    assert session.of(QuestionAnswered) == [QuestionAnswered("c1", "withdrawn", "")]
    user.answers.append(chosen(ONCE))
    assert await session.command("c2").reach("a.example", 443, near=False) == ""


async def test_a_host_that_cannot_be_kept_is_allowed_for_the_session_and_that_is_said(tmp_path: Path) -> None:
    session = Session(tmp_path, ScriptedUser(chosen(ALWAYS)))
    assert await session.command().reach("a.example", 443, near=False) == ""
    assert await session.command().reach("a.example", 443, near=False) == ""
    (notice,) = session.of(Notice)
    assert isinstance(notice, Notice)
    assert "a.example is allowed in this session only: There is no file" in notice.text
    assert session.of(SettingChanged) == [SettingChanged("sandbox_hosts", "a.example (session)")]
    session.rules.forget_host("a.example")
    assert session.rules.hosts == ()
