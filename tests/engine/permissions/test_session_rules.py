"""Sources of a session's permission rules, and changes by the user."""

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import HarnessError, SettingsError
from harness.engine.permissions.session_rules import SessionRules
from harness.events import Event, SettingChanged
from harness.permissions import Allow, Ask, Deny, PermissionAnswer, PermissionRequest, Verdict
from harness.permissions.disk import Disk
from harness.settings import Settings
from harness.settings.permission_file import PermissionFile
from harness.tools.tool import Effect

LOG = logging.getLogger("test")
OBEYED = [
    *(".git/hooks/pre-commit", ".husky/pre-commit", ".bashrc", ".envrc", ".vscode/tasks.json", ".devcontainer/x.json"),
    *(".github/workflows/ci.yml", ".pre-commit-config.yaml", "AGENTS.md", "CLAUDE.md", "a/.npmrc", ".yarnrc.yml"),
    *(".cargo/config.toml", ".harness/settings.toml", ".pnpmfile.cjs"),
]
"""Files that git, a shell, an editor, a CI, a package manager or an agent obeys."""
pytestmark = pytest.mark.anyio


def bash(command: str) -> PermissionRequest:
    return PermissionRequest("1", "bash", Effect.RUN, command, command, {"command": command})


def settings(folder: Path, **values: object) -> Settings:
    return Settings.model_validate({"workspace": folder, "permissions_file": folder / "kept.toml", **values})


def told(granting: SessionRules) -> list[tuple[str, str, str]]:
    return [(rule.verdict.value, rule.text, rule.scope.value) for rule in granting.rules]


def test_rules_come_from_the_settings_and_from_the_file(tmp_path: Path) -> None:
    PermissionFile(tmp_path / "kept.toml", "").add(Verdict.ALLOW, "bash(make *)")
    granting = SessionRules(
        settings(tmp_path, permissions_allow=["bash(npm *)"], permissions_deny=["bash(npm publish *)"]), LOG
    )
    assert told(granting) == [
        ("allow", "bash(npm *)", "settings"),
        ("deny", "bash(npm publish *)", "settings"),
        ("allow", "bash(make *)", "always"),
    ]
    decide = granting.permissions.decide
    assert isinstance(decide(bash("npm test && make")), Allow)
    assert isinstance(decide(bash("npm publish")), Deny)
    assert isinstance(decide(bash("cargo test")), Ask)


def test_a_rule_that_is_not_understood_says_where_it_is(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"permissions_ask: 'bash\(a; b\)' has to hold one command"):
        SessionRules(settings(tmp_path, permissions_ask=["bash(a; b)"]), LOG)
    (tmp_path / "kept.toml").write_text("deny = ['(']")
    with pytest.raises(SettingsError, match=r"kept.toml: deny: '\(' is no rule"):
        SessionRules(settings(tmp_path), LOG)


def test_what_is_answered_for_good_is_there_in_the_next_session(tmp_path: Path) -> None:
    first = SessionRules(settings(tmp_path), LOG)
    answer = PermissionAnswer("always", rules=("bash(npm run *)",), keep=True)
    assert isinstance(first.remember(bash("npm run a"), answer), Allow)
    assert told(SessionRules(settings(tmp_path), LOG)) == [("allow", "bash(npm run *)", "always")]
    elsewhere = settings(tmp_path, workspace=tmp_path.parent)
    assert told(SessionRules(elsewhere, LOG)) == []


def test_a_family_that_is_kept_means_the_same_in_the_next_session(tmp_path: Path) -> None:
    asked = SessionRules(settings(tmp_path), LOG).permissions.decide(bash("pytest a"))
    assert isinstance(asked, Ask)
    SessionRules(settings(tmp_path), LOG).remember(
        bash("pytest a"), PermissionAnswer("always", rules=(asked.family,), keep=True)
    )
    decide = SessionRules(settings(tmp_path), LOG).permissions.decide
    assert isinstance(decide(bash("pytest -xq b")), Allow)
    assert isinstance(decide(bash("pytest -p b")), Ask)


def test_all_edits_from_now_on_are_a_change_of_the_mode(tmp_path: Path) -> None:
    events: list[Event] = []
    granting = SessionRules(settings(tmp_path), LOG, events.append)
    edit = PermissionRequest("1", "edit_file", Effect.WRITE, "a.py", "", {"path": "a.py"})
    asked = granting.permissions.decide(edit)
    assert isinstance(asked, Ask)
    assert asked.edits
    assert isinstance(granting.remember(edit, PermissionAnswer("edits")), Allow)
    assert events == [SettingChanged("permission_mode", "edits")]
    for path, kind in [("b/c.py", Allow), ("Makefile", Allow), *((obeyed, Ask) for obeyed in OBEYED)]:
        later = replace(edit, tool="write_file", input={"path": path})
        assert isinstance(granting.permissions.decide(later), kind), path


async def test_waiting_for_a_change_ends_at_a_change(tmp_path: Path) -> None:
    granting = SessionRules(settings(tmp_path), LOG)
    for change in (lambda: granting.set_mode("yolo"), lambda: granting.add("allow", "bash(a)")):
        waiting = asyncio.create_task(granting.changed())
        await asyncio.sleep(0)
        assert not waiting.done()
        change()
        await waiting


def test_a_rule_that_cannot_be_kept_holds_for_the_session_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    granting = SessionRules(settings(tmp_path, permissions_file=tmp_path / "file" / "kept.toml"), LOG)
    allowed = granting.remember(bash("npm run a"), PermissionAnswer("always", rules=("bash(npm run *)",), keep=True))
    assert isinstance(allowed, Allow)
    assert "for this session only" in allowed.not_kept
    assert isinstance(granting.permissions.decide(bash("npm run b")), Allow)


def test_a_rule_is_added_and_removed(tmp_path: Path) -> None:
    granting = SessionRules(settings(tmp_path, permissions_deny=["bash(a)"]), LOG)
    granting.add("deny", "bash( git push * )", keep=True)
    granting.add("allow", "bash(make)", keep=False)
    assert isinstance(granting.permissions.decide(bash("git push")), Deny)
    assert PermissionFile(tmp_path / "kept.toml", "").read()[Verdict.DENY] == ("bash(git push *)",)
    assert [rule.text for rule in granting.remove("bash(git push *)")] == ["bash(git push *)"]
    assert PermissionFile(tmp_path / "kept.toml", "").read()[Verdict.DENY] == ()
    assert isinstance(granting.permissions.decide(bash("git push")), Ask)
    with pytest.raises(HarnessError, match="There is no rule"):
        granting.remove("bash(b)")
    with pytest.raises(HarnessError, match="is in the settings"):
        granting.remove("bash(a)")
    with pytest.raises(HarnessError, match="cannot permit"):
        granting.add("permit", "bash(a)", keep=False)
    with pytest.raises(HarnessError, match="is no rule"):
        granting.add("allow", "(", keep=False)


def test_a_folder_behind_a_link_is_denied_by_either_name(tmp_path: Path) -> None:
    workspace, real = tmp_path / "workspace", tmp_path / "workspace" / "real"
    real.mkdir(parents=True)
    (workspace / "link").symlink_to(real)
    granting = SessionRules(settings(workspace, permissions_deny=["read(link/**)"]), LOG)
    for path in ("link/secret", "real/secret"):
        request = PermissionRequest("1", "read_file", Effect.READ, path, "", {"path": path})
        places = {str(workspace / path): (str(real / "secret"),)}
        assert isinstance(granting.permissions.decide(replace(request, disk=Disk(places))), Deny)


def test_without_a_file_nothing_is_kept(tmp_path: Path) -> None:
    granting = SessionRules(settings(tmp_path, permissions_file=None), LOG)
    with pytest.raises(HarnessError, match="permissions_file"):
        granting.add("allow", "bash(a)", keep=True)
    assert granting.rules == ()


@pytest.mark.parametrize(
    ("settled", "changes", "before"),
    [
        ("ask", "edits plan", "edits"),
        ("ask", "+edits +plan", "ask"),
        ("ask", "+edits turn +plan", "edits"),
        ("ask", "+edits +plan +deny +ask +edits +plan", "ask"),
        ("yolo", "plan plan", "yolo"),
        ("plan", "", "ask"),
        ("plan", "edits plan", "edits"),
    ],
)
def test_plan_mode_gives_back_the_mode_that_was_wanted_and_not_one_on_the_way(
    settled: str, changes: str, before: str, tmp_path: Path
) -> None:
    """`+`: Shift+Tab steps to it; turn: a turn begins."""
    rules = SessionRules(settings(tmp_path, permission_mode=settled), LOG)
    for change in changes.split():
        if change == "turn":
            rules.begin_turn()
        else:
            rules.set_mode(change.removeprefix("+"), stepping=change.startswith("+"))
    assert rules.before_plan == before
