"""What the page about skills says is so."""

import re
from pathlib import Path

from harness.settings import Settings
from harness.skills import SKILL, DefinitionFolder, DefinitionOrigin, SkillBook
from harness.skills.book import CATALOGUE_CHARACTERS, FILE, MOST_BYTES
from harness.skills.tool import SkillArguments
from harness.ui.commands.commands import COMMANDS
from tests.pages.blocks import text

TEXT = text("docs/skills.md")


def test_the_skill_on_the_page_is_one(tmp_path: Path) -> None:
    [text] = re.findall(r"<!-- skill -->\n```markdown\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / FILE).write_text(text)
    book = SkillBook([DefinitionFolder(tmp_path, DefinitionOrigin.USER)])
    [skill] = book.skills
    assert skill.name == "release"
    assert skill.description.startswith("How this project is released.")
    assert skill.text.endswith("3. Ask before you push.")
    assert book.problems == ()


def test_names_and_numbers_on_the_page_are_those_of_the_program() -> None:
    assert f"{MOST_BYTES:,} bytes" in TEXT
    assert f"{CATALOGUE_CHARACTERS:,} characters" in TEXT
    assert f"`{SKILL}({', '.join(SkillArguments.model_fields)})`" in TEXT
    assert {"skills", "user_dir"} <= set(Settings.model_fields)
    assert set(re.findall(r"`/(\w+)[^`]*`", TEXT)) <= set(COMMANDS)
