"""The skills of a session: read when it begins, and again when a person wants that."""

from collections.abc import Iterable
from difflib import get_close_matches

from harness.definitions.places import Place, Problem
from harness.skills.discovery import Found, Skill, discover


class SkillBook:
    """Which skills there are. The disk is read by `reload` alone, so that a session sees one state of it."""

    def __init__(self, places: Iterable[Place]) -> None:
        """`places` in their order: of two skills with one name that of the later place counts."""
        self._places = tuple(places)
        self._found = Found((), ())
        self.reload()
        self.at_first = self.skills
        """The skills when the session began, which its system prompt names."""

    @property
    def skills(self) -> tuple[Skill, ...]:
        """By name."""
        return self._found.skills

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with which file."""
        return self._found.problems

    def reload(self) -> None:
        """Read the disk again."""
        self._found = discover(self._places)

    def get(self, name: str) -> Skill | None:
        """The skill of exactly this name."""
        return next((skill for skill in self.skills if skill.name == name), None)

    def unknown(self, name: str) -> str:
        """The sentence that says that there is no such skill, and which there are."""
        names = [skill.name for skill in self.skills]
        near = get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names[:20]) or 'none'}."
        return f"There is no skill {name!r}; {hint}"
