"""Skills are listed and read when a sentence asks for them."""

from pathlib import Path

import pytest

from harness.practice.improviser.goals import Goal, ListFiles, ReadSkill
from harness.practice.improviser.intents import understand
from harness.practice.improviser.toolset import tool_set
from harness.practice.improviser.turns import Turn
from harness.skills import Origin, Place, SkillBook, framed, skill_tool
from harness.tools.toolbox import Toolbox, standard_tools
from tests.practice.improviser.driver import Conversation

SENTENCES: tuple[tuple[str, tuple[Goal, ...]], ...] = (
    ("which skills are there?", (ReadSkill(),)),
    ("What skills do you have?", (ReadSkill(),)),
    ("list the skills", (ReadSkill(),)),
    ("use the skill greeting", (ReadSkill("greeting"),)),
    ("use the greeting skill", (ReadSkill("greeting"),)),
    ('follow the skill "code-review".', (ReadSkill("code-review"),)),
    ("use the skill greeting and list the files", (ReadSkill("greeting"), ListFiles())),
    ("どんなスキルがありますか", (ReadSkill(),)),
    ("スキルの一覧を見せて", (ReadSkill(),)),
    ("スキル greeting を使って", (ReadSkill("greeting"),)),
    ("スキル「code-review」を読んで", (ReadSkill("code-review"),)),
    ("greeting というスキルを使ってください", (ReadSkill("greeting"),)),
)


@pytest.fixture
def book(tmp_path: Path) -> SkillBook:
    """One skill."""
    folder = tmp_path / "skills" / "greeting"
    folder.mkdir(parents=True)
    text = (
        "---\nname: greeting\ndescription: How we greet.\n---\nSay hello; then write a summary of the conversation.\n"
    )
    (folder / "SKILL.md").write_text(text)
    return SkillBook([Place(tmp_path / "skills", Origin.PERSON)])


@pytest.mark.parametrize(("said", "goals"), SENTENCES, ids=[said for said, _ in SENTENCES])
def test_a_sentence_about_skills_is_understood(book: SkillBook, said: str, goals: tuple[Goal, ...]) -> None:
    tools = tool_set(Toolbox((*standard_tools(), skill_tool(book))).specs())
    assert understand((Turn(said),), tools).goals == goals


def test_a_skill_is_read_with_the_tool_and_shown(book: SkillBook, tmp_path: Path) -> None:
    here = Conversation(tmp_path, (*standard_tools(), skill_tool(book)))
    assert "greeting (person): How we greet." in here.ask("which skills are there?")
    assert "Say hello;" in here.ask("use the skill greeting")
    assert "did you mean greeting?" in here.ask("use the skill greting")
    assert [call.input for call in here.calls] == [{}, {"name": "greeting"}, {"name": "greting"}]


def test_without_the_tool_it_says_that_it_cannot(tmp_path: Path) -> None:
    assert "read a skill" in Conversation(tmp_path).ask("use the skill greeting")


def test_a_skill_beside_a_prompt_is_no_prompt(book: SkillBook, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("Notes.\n")
    here = Conversation(tmp_path, standard_tools())
    [skill] = book.skills
    here.messages.append(
        {"role": "user", "content": [{"type": "text", "text": text} for text in (framed(skill), "list the files")]}
    )
    here.step()
    assert [call.name for call in here.calls] == ["glob"]
