"""Skills on a disk to try things with."""

from pathlib import Path

from harness.skills import DefinitionFolder, DefinitionOrigin, SkillBook


class Folders:
    """A folder of the user and one of a project, each with room for skills."""

    def __init__(self, root: Path) -> None:
        self.user, self.project = root / "user", root / "project"
        self.user.mkdir()
        self.project.mkdir()

    def book(self) -> SkillBook:
        """What a session would read."""
        return SkillBook(
            (
                DefinitionFolder(self.user, DefinitionOrigin.USER),
                DefinitionFolder(self.project, DefinitionOrigin.PROJECT, border=self.project.parent),
            )
        )

    @staticmethod
    def write(folder: Path, name: str, text: str | bytes) -> Path:
        """Put a SKILL.md there and return its folder."""
        here = folder / name
        here.mkdir(parents=True, exist_ok=True)
        (here / "SKILL.md").write_bytes(text if isinstance(text, bytes) else text.encode())
        return here


def skill(name: str, description: str = "What it is for.", body: str = "Do it.") -> str:
    """A usual SKILL.md."""
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"
