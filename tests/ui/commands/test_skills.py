"""/skills and /skill in front of a real session."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.engine.permissions.asker import NoAsker
from harness.session import open_session
from harness.ui.commands.commands import file_command_help, file_command_names, run_command, works_any_time
from harness.ui.commands.results import PlayEvents
from tests.agent.stage import played, says, sessions, settings_of
from tests.skills.folders import Folders, skill
from tests.ui.commands.test_prompt import said

pytestmark = pytest.mark.anyio


async def test_they_list_the_skills_where_they_come_from_and_what_is_wrong(tmp_path: Path) -> None:
    person, project = tmp_path / "skills", tmp_path / "workspace" / ".harness" / "skills"
    Folders.write(person, "review", skill("review", "Reads code."))
    Folders.write(project, "deploy", "---\nname: deploy\ndescription: Use when: \x9b2Jasked\n---\nText.\n")
    async with await open_session(settings_of(tmp_path, "http://127.0.0.1:9"), NoAsker(), warm=False) as session:
        text = said("/skills", session)
        lines = text.splitlines()
        assert lines[2:4] == ["  review  user     Reads code.", f"{'':<19}{person / 'review'}"]
        assert lines[0].startswith("  deploy  project  ")
        assert any(line.startswith(f"  ! {project / 'deploy' / 'SKILL.md'}: ") for line in lines)
        assert "\x9b" not in text
        Folders.write(person, "late", skill("late"))
        assert "late" not in said("/skills", session)
        assert "  late " in said("/skills reload", session)
        assert said("/skill late", session) == "Skill late will be sent with your next prompt."
        for line, words in (
            ("/skill", "Which skill"),
            ("/skill lte", "did you mean late"),
            ("/skills x", "Unknown action"),
        ):
            with pytest.raises(HarnessError, match=words):
                run_command(line, session)


async def test_a_skill_is_a_slash_command_with_arguments_unless_something_else_has_its_name(tmp_path: Path) -> None:
    person, commands = tmp_path / "skills", tmp_path / "workspace" / ".claude" / "commands"
    for name, text in (
        ("Deploy", "To $1, all of it: $ARGUMENTS."),
        ("plain", "Be brief."),
        ("fix", "A skill."),
        ("undo", "Hm."),
    ):
        Folders.write(person, name, f"---\nname: {name}\ndescription: About {name}\n---\n{text}\n")
    commands.mkdir(parents=True)
    (commands / "fix.md").write_text("The file.")
    async with sessions(tmp_path, says("Yes.", times="4")) as here, await here.open() as session:
        names = file_command_names(session)
        assert names == {"deploy", "plain", "fix"}
        assert not works_any_time("/deploy", names)
        assert dict(dict(file_command_help(session))["From files"])["/deploy"] == "About Deploy (user skill)"
        assert "About Deploy" in said("/help deploy", session)
        for line in ("/deploy 'the moon' now", "/plain as I said", "/plain", "/fix"):
            result = run_command(line, session)
            assert isinstance(result, PlayEvents)
            await played(result.events)
        texts = [
            "\n".join(block["text"] for block in post.body["messages"][-1]["content"])
            for post in here.server.requests
            if post.path == "/v1/messages"
        ]
        assert "To the moon, all of it: 'the moon' now." in texts[0]
        assert texts[0].endswith("Use the skill Deploy: 'the moon' now")
        assert "Be brief." in texts[1]
        assert texts[1].endswith("Use the skill plain: as I said")
        assert texts[2].endswith("Use the skill plain.")
        assert texts[3].endswith("The file.")


async def test_without_any_they_say_where_one_would_be_and_when_it_is_used(tmp_path: Path) -> None:
    async with await open_session(settings_of(tmp_path, "http://127.0.0.1:9"), NoAsker(), warm=False) as session:
        assert said("/skills", session) == "There are no skills; add one as .harness/skills/NAME/SKILL.md."
        Folders.write(tmp_path / "workspace" / ".harness" / "skills", "late", skill("late"))
        assert "from the next session on; /skill NAME sends one now" in said("/skills reload", session)
