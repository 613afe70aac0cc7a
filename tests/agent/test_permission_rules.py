"""Rules, protected paths and dangers in whole turns: every agent has the same permissions."""

import json
import re
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import AgentEnd, Event, Notice, PermissionAsked, SettingChanged, ToolEnded, ToolOutcome
from harness.events.tool_names import OURS
from harness.journal import read
from harness.permissions import Mode, PermissionAnswer, PermissionRequest, Surroundings, Verdict
from harness.permissions.requirements import requirements_of
from harness.session import Opening
from harness.settings.permission_file import PermissionFile
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import Played, calls, played, run, says, sessions, stage
from tests.agent.test_agents import ends, of_subagent, on_stage, task
from tests.skills.folders import skill

pytestmark = pytest.mark.anyio


def call(tool: str, **input: str) -> str:
    values = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in input.items())
    return f'{{ name = "{tool}", input = {{ {values} }} }}'


def bash(command: str) -> str:
    return call("bash", command=command)


def outcomes(turn: Played) -> list[ToolOutcome]:
    return [ended.outcome for ended in turn.of(ToolEnded)]


async def test_a_denial_names_to_the_model_the_rule_and_which_part_of_the_line(tmp_path: Path) -> None:
    script = calls(bash("ls; git push origin main")) + says("Then not.")
    async with stage(tmp_path, script, permissions_deny=["bash(git push *)"]) as here:  # everything is allowed else
        turn = await here.turn()
    assert turn.results[0]["content"] == (
        "This was not allowed: the rule deny bash(git push *) (of the settings) is about `git push origin main`."
    )
    assert turn.of(PermissionAsked) == []


async def test_a_rule_that_is_kept_counts_at_once_and_is_in_the_file(tmp_path: Path) -> None:
    script = calls(bash("touch a"), bash("touch b"), bash("touch c; touch .envrc")) + says("Done.")
    user = AnsweringUser(PermissionAnswer("always", rules=("bash(touch *)",), keep=True))
    async with stage(tmp_path, script, asker=user, permission_mode="ask") as here:
        turn = await here.turn()
    assert [request.summary for _, request in user.asked] == ["touch a", "touch c; touch .envrc"]
    assert user.asked[0][1].offers == ("bash(touch a)",)
    assert user.asked[0][1].family == "bash(touch *)"
    assert user.asked[1][1].offers == ()
    assert turn.of(SettingChanged)[0] == SettingChanged("permissions", "allow bash(touch *) (always)")
    saved = PermissionFile(tmp_path / "permissions.toml", str(here.workspace.resolve())).read()
    assert saved[Verdict.ALLOW] == ("bash(touch *)",)


@pytest.mark.parametrize("way", ["link", "dots", "case", "folder"])
async def test_no_file_tool_reaches_a_protected_path(tmp_path: Path, way: str) -> None:
    path = {"link": "innocent", "dots": "src/../.git/hooks/pre-commit", "case": ".GIT/hooks/new", "folder": "way/new"}
    user = AnsweringUser(PermissionAnswer("no"))
    script = calls(call("write_file", path=path[way], content="evil")) + says("Then not.")
    async with stage(tmp_path, script, asker=user, permission_mode="edits") as here:
        hooks = here.workspace / ".git" / "hooks"
        hooks.mkdir(parents=True)
        (hooks / "pre-commit").write_text("good")
        (here.workspace / "src").mkdir()
        (here.workspace / "innocent").symlink_to(hooks / "pre-commit")
        (here.workspace / "way").symlink_to(hooks)
        turn = await here.turn()
    assert outcomes(turn) == [ToolOutcome.DENIED]
    assert "a protected place" in user.asked[0][0]
    assert (hooks / "pre-commit").read_text() == "good"
    assert [file.name for file in hooks.iterdir()] == ["pre-commit"]


async def test_a_command_that_only_looks_is_asked_about_where_a_link_leads_it_out(tmp_path: Path) -> None:
    script = calls(bash("cat inside"), bash("cat out/secret"), bash("cat *.txt"), bash("cat o*/s*")) + says("Done.")
    async with stage(tmp_path, script, permission_mode="ask") as here:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "secret").write_text("hidden")
        (here.workspace / "inside").write_text("shown")
        (here.workspace / "a.txt").write_text("shown, too")
        (here.workspace / "out").symlink_to(tmp_path / "elsewhere")
        turn = await here.turn()
    assert outcomes(turn) == [ToolOutcome.OK, ToolOutcome.DENIED, ToolOutcome.OK, ToolOutcome.DENIED]
    assert "hidden" not in str(turn.results)


async def test_a_subagent_has_the_same_permissions(tmp_path: Path) -> None:
    script = (
        calls(task())
        + of_subagent(
            calls(bash("ls"), bash("git push"), bash("touch made"), call("write_file", path=".envrc", content="x"))
        )
        + of_subagent(says("Some of it."))
        + says("Good.")
    )
    allow, deny = ["bash(touch *)"], ["bash(git push *)"]
    async with on_stage(
        tmp_path, script, permission_mode="edits", permissions_allow=allow, permissions_deny=deny
    ) as here:
        turn = await here.turn()
        assert (here.workspace / "made").exists()
        assert not (here.workspace / ".envrc").exists()
        assert ends(turn) == [AgentEnd.ANSWERED]


async def test_a_denial_for_a_file_anywhere_binds_every_search(tmp_path: Path) -> None:
    script = calls(
        call("grep", pattern="TOKEN"),
        call("grep", pattern="TOKEN", glob=".env"),
        call("glob", pattern="**"),
        bash("grep -rh TOKEN ."),
        bash("grep -h TOKEN src/*"),
    ) + says("Done.")
    async with stage(tmp_path, script, permissions_deny=["read(**/.env)"]) as here:  # everything is allowed else
        (here.workspace / "src").mkdir()
        (here.workspace / ".env").write_text("TOKEN=secret")
        (here.workspace / "src" / "a.txt").write_text("TOKEN is a word")
        turn = await here.turn()
    assert outcomes(turn) == [ToolOutcome.OK, ToolOutcome.OK, ToolOutcome.OK, ToolOutcome.DENIED, ToolOutcome.OK]
    assert "secret" not in json.dumps(turn.results)
    assert ".env" not in turn.results[2]["content"]


async def test_a_search_leaves_out_places_for_keys_unless_everything_is_allowed(tmp_path: Path) -> None:
    for mode, searched in (("ask", False), ("edits", False), ("yolo", True)):
        script = calls(call("grep", pattern="TOKEN")) + says("Done.")
        (tmp_path / mode).mkdir()
        async with stage(tmp_path / mode, script, permission_mode=mode) as here:
            (here.workspace / ".env").write_text("TOKEN=secret")
            turn = await here.turn()
        assert ("secret" in turn.results[0]["content"]) is searched
        assert turn.of(PermissionAsked) == []


WRITE = '{ name = "write_file", input = { path = "made.txt", content = "made" } }'


async def test_a_mode_set_in_the_middle_of_a_turn_holds_for_the_next_call(tmp_path: Path) -> None:
    script = calls(run("first")) + calls(run("second")) + says("Done.")
    async with stage(tmp_path, script) as here:

        def read_only_after_the_first(event: Event) -> None:
            if isinstance(event, ToolEnded) and event.outcome is ToolOutcome.OK:
                here.agent.parts.core.shared.rules.set_mode(Mode.DENY)

        turn = await here.turn(on_event=read_only_after_the_first)
    assert here.ran() == {"first": 1}
    assert turn.of(SettingChanged) == [SettingChanged("permission_mode", "deny")]
    assert "this session is read-only" in str(turn.results[1]["content"])


async def test_a_resumed_session_has_the_mode_of_its_settings_and_says_so(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("Hello.", times='"forever"'), permission_mode="ask") as here:
        async with await here.open() as session:
            await played(session.run("Hello"))
            session.permissions.set_mode("yolo")
            assert session.permissions.mode == "yolo"
            with pytest.raises(HarnessError, match="no permission mode read; there are ask, edits, yolo, deny"):
                session.permissions.set_mode("read")
        async with await here.open(Opening(session.id)) as session:
            assert session.permissions.mode == "ask"
        changes = [record.event for record in read(session.path).records if isinstance(record.event, SettingChanged)]
        assert [change.value for change in changes] == ["yolo", "ask"]


async def test_dangers_are_reported_where_everything_is_allowed(tmp_path: Path) -> None:
    async with stage(tmp_path, calls(bash("rm -rf build")) + says("Done.")) as here:
        turn = await here.turn()
    assert outcomes(turn) == [ToolOutcome.OK]
    assert [notice.text for notice in turn.of(Notice)] == [
        "dangerous, and not asked about: `rm -rf build`: it removes files for good, whole folders or without a question"
    ]


async def test_a_file_of_a_skill_needs_the_same_permissions(tmp_path: Path) -> None:
    folder = tmp_path / "skills" / "review"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(skill("review", "Reads code.", "Look twice."))
    (folder / ".env").write_text("TOKEN=hidden")
    (folder / "notes.txt").write_text("Some notes.")
    read = [call("skill", name="review"), *(call("skill", name="review", file=file) for file in ("notes.txt", ".env"))]
    script = calls(*read) + says("Done.")
    async with stage(tmp_path, script, permissions_deny=["read(**/.env)"]) as here:
        turn = await here.turn()
    assert [result.get("is_error", False) for result in turn.results] == [False, False, True]
    assert "hidden" not in str(turn.results)
    (tmp_path / "asked").mkdir()
    user = AnsweringUser(PermissionAnswer("no"))
    async with stage(tmp_path / "asked", script, asker=user, permission_mode="ask", user_dir=tmp_path) as here:
        turn = await here.turn()
    assert [result.get("is_error", False) for result in turn.results] == [False, False, True]
    assert "a place for keys" in user.asked[0][0]


async def test_every_tool_that_takes_a_path_is_decided_by_it_and_has_a_name_for_rules(tmp_path: Path) -> None:
    folder = tmp_path / "skills" / "review"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(skill("review", "Reads code.", "Look twice."))
    async with stage(
        tmp_path, says("Done."), ask_user="first", board="session", schedule_tools=True, team=True
    ) as here:
        toolbox = here.agent.parts.toolbox
    assert set(toolbox.names) == OURS - {"web_search", "web_fetch"}
    around, opened = Surroundings("/w", "/home/ada"), set()
    for tool in filter(None, map(toolbox.get, toolbox.names)):
        for argument in tool.spec()["input_schema"]["properties"]:
            if re.fullmatch(r"\w*(path|file|folder|dir)s?", argument):
                input = {"name": "review", argument: "a/.env"}
                opens = tool.opens(input) if tool.opens else None
                request = PermissionRequest("1", tool.name, tool.effect, "", "", input, opens=opens)
                paths = [path for need in requirements_of(request, around) for path in need.paths]
                assert paths, f"{tool.name} does not say which file its argument {argument} opens"
                assert all(path.endswith("/a/.env") for path in paths)
                opened.add(tool.name)
    assert opened == {"read_file", "write_file", "edit_file", "grep", "glob", "skill"}


async def test_a_certificate_stops_no_search_and_a_key_of_the_same_name_does(tmp_path: Path) -> None:
    script = calls(bash("grep -r words .")) + says("Done.") + calls(bash("grep -r words .")) + says("Done.")
    user = AnsweringUser(PermissionAnswer("no"))
    async with stage(tmp_path, script, asker=user, permission_mode="ask") as here:
        file = here.workspace / "x.pem"
        file.write_text("-----BEGIN CERTIFICATE-----\nwords\n-----END CERTIFICATE-----\n")
        assert outcomes(await here.turn()) == [ToolOutcome.OK]
        file.write_text(file.read_text() + "-----BEGIN PRIVATE KEY-----\nwords\n")
        assert outcomes(await here.turn()) == [ToolOutcome.DENIED]
    assert "x.pem, a place for keys" in user.asked[0][0]
