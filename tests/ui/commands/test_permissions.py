"""/permissions, over the session that everybody has."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import SettingChanged
from harness.journal import read
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, Session, open_session
from harness.ui.commands.commands import run_command, works_any_time
from harness.ui.commands.results import ShowText
from tests.agent.stage import says, settings_of


def said(line: str, session: Session) -> list[str]:
    result = run_command(line, session)
    assert isinstance(result, ShowText)
    return result.text.splitlines()


@pytest.mark.anyio
async def test_rules_are_listed_added_and_removed(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(says("Hello."))) as server:
        loaded = settings_of(tmp_path, server.base_url, permissions_ask=["bash(npm publish *)"])
        async with await open_session(loaded, NoAsker(), warm=False) as session:
            assert said("/permissions allow bash(npm run *)", session) == ["allow bash(npm run *), for this session"]
            assert said("/permissions deny read(~/.ssh/**) always", session) == ["deny read(~/.ssh/**), permanent"]
            assert said("/permissions", session)[:4] == [
                "  deny   read(~/.ssh/**)      permanent",
                "  ask    bash(npm publish *)  from the settings",
                "  allow  bash(npm run *)      for this session",
                "deny beats ask, ask beats allow",
            ]
            assert said("/permissions remove bash(npm run *)", session) == [
                "Removed: allow bash(npm run *), for this session"
            ]
            for wrong, why in [
                ("/permissions permit bash(a)", "Unknown action"),
                ("/permissions allow", "Which rule"),
                ("/permissions allow bash(a; b)", "one command"),
                ("/permissions remove bash(a)", "There is no rule"),
                ("/permissions remove bash(npm publish *)", "is in the settings"),
            ]:
                with pytest.raises(HarnessError, match=why):
                    run_command(wrong, session)
        async with await open_session(loaded, NoAsker(), warm=False) as session:
            assert [rule.text for rule in session.permissions.rules] == ["bash(npm publish *)", "read(~/.ssh/**)"]
    changes = [record.event for path in tmp_path.rglob("*.jsonl") for record in read(path).records]
    assert [
        (change.value, change.removed)
        for change in changes
        if isinstance(change, SettingChanged) and change.name == "permissions"
    ] == [
        ("allow bash(npm run *) (session)", False),
        ("deny read(~/.ssh/**) (always)", False),
        ("allow bash(npm run *)", True),
    ]


def test_rules_may_be_changed_while_a_turn_runs() -> None:
    assert works_any_time("/permissions deny bash(git push *)")
