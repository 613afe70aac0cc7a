"""Skills: knowledge that is listed in a line each and read when it is needed (facts/lessons.md, s07).

A skill is a folder with a file SKILL.md: front matter with name and description, then text, and beside it whatever the
text speaks of. `SkillBook` holds the skills of a session, `skill_tool` lets the model read one.
"""

from harness.definitions.places import Origin, Place, Problem
from harness.skills.discovery import Skill
from harness.skills.prompt_texts import catalogue_text, changed, framed, news, skill_text
from harness.skills.session_skills import SkillBook
from harness.skills.tool import SKILL, skill_tool

__all__ = [
    "SKILL",
    "Origin",
    "Place",
    "Problem",
    "Skill",
    "SkillBook",
    "catalogue_text",
    "changed",
    "framed",
    "news",
    "skill_text",
    "skill_tool",
]
