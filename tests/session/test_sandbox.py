"""What a session says of the sandbox: an event, a notice once, a refusal where the settings require more."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import Event, SandboxFound
from harness.permissions import PermissionAnswer, PermissionRequest
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.sandbox import Access, Allowance, ProfileName, SandboxLevel, SandboxState
from harness.sandbox.sandbox import Sandbox
from harness.session import NoAsker, Session, open_session
from harness.tools.tool import Effect
from harness.ui.app.activity import status_of
from harness.ui.commands.commands import run_command
from harness.ui.commands.results import ShowText, StartTask
from harness.ui.panel.state import Panel
from tests.agent.stage import says, settings_of
from tests.ui.program import Place, run

pytestmark = pytest.mark.anyio
HALF = SandboxState(SandboxLevel.FILES, "landlock", "bubblewrap is not installed", "apt install bubblewrap")
IN_WORDS = "files only, by Landlock: bubblewrap is not installed; to make it full: apt install bubblewrap"
FULL = SandboxState(SandboxLevel.FULL, "bubblewrap")


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Session]:
    async with PracticeServer(script=Script.parse(says("Hello."))) as server:
        loaded = settings_of(tmp_path, server.base_url, sandbox="auto")
        async with await open_session(loaded, NoAsker(), warm=False) as session:
            yield session


async def test_the_state_is_an_event_of_each_opening(tmp_path: Path) -> None:
    seen: list[Event] = []
    async with PracticeServer(script=Script.parse(says("Hello."))) as server:
        loaded = settings_of(tmp_path, server.base_url, sandbox="off")
        opening = open_session(loaded, NoAsker(), warm=False, observer=lambda event, at: seen.append(event))
        async with await opening:
            found = [event for event in seen if isinstance(event, SandboxFound)]
    assert found == [SandboxFound("none", why="it is switched off", repair='sandbox = "auto"')]


async def test_a_state_that_is_not_full_is_news_once(opened: Session) -> None:
    sandbox = opened.processes.sandbox
    sandbox.state = HALF
    assert [opened.take_sandbox_notice() for _ in range(2)] == [IN_WORDS, ""]
    sandbox.state = SandboxState(SandboxLevel.NONE)
    assert [opened.take_sandbox_notice() for _ in range(2)] == ["none", ""]
    sandbox.state = FULL
    assert opened.take_sandbox_notice() == ""
    sandbox.state = HALF  # it was full meanwhile
    assert opened.take_sandbox_notice() == IN_WORDS


@pytest.mark.parametrize(
    ("state", "fact"), [(HALF, "files only"), (SandboxState(SandboxLevel.NONE), "no sandbox"), (FULL, "")]
)
async def test_the_status_line_names_a_state_that_is_not_full(opened: Session, state: SandboxState, fact: str) -> None:
    opened.processes.sandbox.state = state
    facts = status_of(opened, Panel(), running=False, past=False, warning="").facts
    assert [one for one in facts if one in ("files only", "no sandbox", "full")] == [fact][: bool(fact)]


async def test_the_command_shows_the_state_the_hosts_with_their_origin_and_what_is_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_PASSWORD_OF_THE_TEST", "not inherited")
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    async with PracticeServer(script=Script.parse(says("Hello."))) as server:
        loaded = settings_of(tmp_path, server.base_url, sandbox="auto", sandbox_hosts=["pypi.org"])
        async with await open_session(loaded, NoAsker(), warm=False) as session:
            session.permissions.allow_hosts(["a.example"], keep=False)
            session.permissions.allow_hosts(["b.example"], keep=True)
            assert run_command("/sandbox remove B.example", session) == ShowText("B.example is asked about again.")
            for wrong in ("b.example", "pypi.org", ""):
                with pytest.raises(HarnessError, match=r"is not allowed|of the settings|is not known"):
                    run_command(f"/sandbox remove {wrong}", session)
            session.processes.sandbox.state = FULL  # bubblewrap was removed meanwhile
            shown = run_command("/sandbox", session)
            assert isinstance(shown, StartTask)
            text = await shown.work
    rows = dict(line.split(maxsplit=1) for line in text.splitlines())
    assert rows["because"].startswith("bubblewrap is not installed")
    assert rows["hosts"] == "pypi.org (from the settings), a.example (for this session)"
    assert re.fullmatch(r"[1-9]\d* variables? with secrets", rows["hidden"])
    assert max(map(len, text.splitlines())) < 80


async def test_a_session_that_requires_the_full_sandbox_does_not_begin_where_bubblewrap_is_missing(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path / "project")
    place.folder.mkdir()
    without = {"PATH": str(tmp_path), "HARNESS_PLAIN": "", "HARNESS_SANDBOX": "required"}
    for arguments in (["-p", "hello"], ["--plain"]):
        ended = await run(place, *arguments, env=without)
        assert (ended.code, ended.out) == (2, "")
        assert re.search(r'^harness: sandbox = "required", but the sandbox here is .+: bubblewrap is not', ended.err)
        assert ended.err.endswith("; to start without it: --sandbox auto.\n")
    ended = await run(place, "-p", "hello", env=without | {"HARNESS_SANDBOX": "auto"})
    assert (ended.code, "sandbox: " in ended.err) == (0, True)


@pytest.mark.skipif(Sandbox().state.level is not SandboxLevel.FULL, reason="this machine has no full sandbox")
async def test_a_command_does_not_write_the_state_of_this_program_in_a_workspace_that_holds_it(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(says("Hello."))) as server:
        loaded = settings_of(tmp_path, server.base_url, sandbox="auto")
        loaded = replace(loaded, settings=loaded.settings.model_copy(update={"workspace": tmp_path}))
        async with await open_session(loaded, NoAsker(), warm=False) as session:
            granted = session.processes.sandbox.granted(ProfileName.WORK)
            assert granted is not None
            files = [*map(str, (session.state_folder / "visible-keys").iterdir())]
    assert [granted.access(file) for file in (*files, str(tmp_path / "new"))] == [Access.READ, Access.WRITE]


async def test_the_list_of_rules_names_what_the_sandbox_was_opened_for(opened: Session) -> None:
    gate = opened.permissions.permissions
    request = PermissionRequest("1", "bash", Effect.RUN, "make", "make", {"command": "make"})
    more = replace(request, profile=ProfileName.WORK, allowance=Allowance(("/srv/a",)))
    for answer, expected in (("once", False), ("always", True)):
        gate.remember(more, PermissionAnswer("once" if answer == "once" else "always"))
        listed = run_command("/permissions", opened)
        assert isinstance(listed, ShowText)
        assert ("The sandbox lets commands write /srv/a" in listed.text) is expected
