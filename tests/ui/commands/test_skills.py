"""/skills and /skill in front of a real session."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.engine.permissions.asker import NoAsker
from harness.session import open_session
from harness.ui.commands.commands import run_command
from tests.agent.stage import settings_of
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


async def test_without_any_they_say_where_one_would_be_and_when_it_is_used(tmp_path: Path) -> None:
    async with await open_session(settings_of(tmp_path, "http://127.0.0.1:9"), NoAsker(), warm=False) as session:
        assert said("/skills", session) == "There are no skills; add one as .harness/skills/NAME/SKILL.md."
        Folders.write(tmp_path / "workspace" / ".harness" / "skills", "late", skill("late"))
        assert "from the next session on; /skill NAME sends one now" in said("/skills reload", session)
