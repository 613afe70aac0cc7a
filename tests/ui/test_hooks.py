"""Hooks in a session as a person has it: from the settings to the screen, the journal and the page."""

import io
import logging
from pathlib import Path

import pytest

from harness.engine.permissions.asker import NoAsker
from harness.events import HookFailed, HookOutcome, HookRan
from harness.journal import read
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Opening, open_session
from harness.ui.commands.commands import run_command
from harness.ui.commands.results import ShowText
from harness.ui.markdown_page import export
from harness.ui.plain.headless import OutputFormat, headless
from tests.agent.stage import calls, run, says, settings_of

pytestmark = pytest.mark.anyio

HOOKS = [
    {"event": "before_tool", "tools": "bash", "name": "guard", "command": "echo 'not here' >&2; exit 2"},
    {"event": "after_tool", "name": "broken", "command": "exit 7"},
    {"event": "session_end", "name": "log", "command": "cat > ended.json"},
]


async def test_hooks_of_the_settings_are_asked_shown_kept_and_exported(tmp_path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    script = calls(run("never"), run("never")) + says("I could not.")
    async with PracticeServer(script=Script.parse(script)) as server:
        loaded = settings_of(tmp_path, server.base_url, hooks=HOOKS)
        log = logging.getLogger("test")
        code = await headless(
            loaded, "Try.", Opening(), OutputFormat.TEXT, out, err, reread=lambda: loaded.settings, log=log
        )
        assert (code, out.getvalue()) == (4, "I could not.\n")
        assert err.getvalue().count("· hook guard (before tool) objects: not here\n") == 2
        assert err.getvalue().count("! hook broken (after tool) failed: it ended with exit code 7") == 1
        assert (loaded.settings.workspace / "ended.json").read_text().startswith('{"hook_event_name": "SessionEnd"')
        assert not (loaded.settings.workspace / "ran.txt").exists()

        async with await open_session(loaded, NoAsker(), Opening("latest"), warm=False) as session:
            events = [record.event for record in read(session.path).records]
            said = run_command("/hooks", session)
            page = tmp_path / "page.md"
            export(session, page, "markdown")
    ran = [event for event in events if isinstance(event, HookRan)]
    assert [(event.name, event.outcome) for event in ran] == [
        *[("guard", HookOutcome.BLOCKED)] * 2,
        ("log", HookOutcome.PASSED),
    ]
    assert [event.times for event in events if isinstance(event, HookFailed)] == [1, 2]
    assert isinstance(said, ShowText)
    assert said.text.splitlines()[0].startswith("  before_tool  guard: for bash, runs echo 'not here'")
    text = page.read_text()
    assert text.count("> hook guard (before tool) objects: not here") == 2
    assert text.count("> hook broken (after tool) failed: it ended with exit code 7") == 1


async def test_without_hooks_the_list_says_how_to_have_one(tmp_path: Path) -> None:
    loaded = settings_of(tmp_path, "http://127.0.0.1:9")
    async with await open_session(loaded, NoAsker(), warm=False) as session:
        said = run_command("/hooks", session)
    assert isinstance(said, ShowText)
    assert "[[hooks]] in your settings file" in said.text
