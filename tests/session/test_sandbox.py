"""What a session says of the sandbox: an event, a notice once, a refusal where the settings require more."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness.base.errors import SettingsError
from harness.events import Event, SandboxFound
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.sandbox import SandboxLevel, SandboxState
from harness.sandbox.sandbox import Sandbox
from harness.session import NoAsker, Session, open_session
from harness.ui.app.activity import status_of
from harness.ui.commands.commands import run_command
from harness.ui.commands.results import ShowText
from harness.ui.panel.state import Panel
from tests.agent.stage import says, settings_of

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


async def test_the_command_shows_the_state_the_profiles_and_what_is_allowed(tmp_path: Path, opened: Session) -> None:
    opened.processes.sandbox.state = HALF
    shown = run_command("/sandbox", opened)
    assert isinstance(shown, ShowText)
    rows = [line.split(maxsplit=1) for line in shown.text.splitlines()]
    assert rows[:2] == [["state", "files only, by Landlock"], ["because", "bubblewrap is not installed"]]
    assert [name for name, _ in rows[3:6]] == ["look", "work", "free"]
    assert max(map(len, shown.text.splitlines())) < 80


async def test_a_session_that_requires_the_full_sandbox_begins_with_it_or_not_at_all(tmp_path: Path) -> None:
    state = Sandbox().state
    async with PracticeServer(script=Script.parse(says("Hello."))) as server:
        loaded = settings_of(tmp_path, server.base_url, sandbox="required")
        if state.level is SandboxLevel.FULL:
            async with await open_session(loaded, NoAsker(), warm=False) as session:
                assert session.sandbox == state
            return
        with pytest.raises(SettingsError) as refused:
            await open_session(loaded, NoAsker(), warm=False)
    assert state.in_words in str(refused.value)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("state", "mode", "says_so"),
    [(FULL, "ask", True), (FULL, "edits", True), (FULL, "yolo", False), (FULL, "plan", False), (HALF, "ask", False)],
)
async def test_the_list_of_rules_says_that_held_commands_run_unasked(
    opened: Session, state: SandboxState, mode: str, says_so: bool
) -> None:
    opened.processes.sandbox.state = state
    opened.permissions.set_mode(mode)
    listed = run_command("/permissions", opened)
    assert isinstance(listed, ShowText)
    assert ("Commands that the sandbox holds run without a question" in listed.text) is says_so
