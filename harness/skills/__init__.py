"""Skills: knowledge that is listed in one line each and read on demand.

A skill is a folder with a file SKILL.md: front matter with name and description, then text, and beside it whatever the
text speaks of. `SkillBook` holds the skills of a session, `skill_tool` lets the model read one.
"""

from harness.definitions.files import DefinitionFolder, DefinitionOrigin, DefinitionProblem
from harness.skills.book import Skill, SkillBook, catalogue_text, change_notice, changed, framed, skill_text
from harness.skills.tool import SKILL, skill_tool

__all__ = [
    "SKILL",
    "DefinitionFolder",
    "DefinitionOrigin",
    "DefinitionProblem",
    "Skill",
    "SkillBook",
    "catalogue_text",
    "change_notice",
    "changed",
    "framed",
    "skill_text",
    "skill_tool",
]
