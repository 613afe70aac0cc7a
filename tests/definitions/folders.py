"""Folders of a user and of a project with files of several programs in them."""

from pathlib import Path

from harness.definitions import DefinitionFolder, definition_folders


class Folders:
    """A workspace, a home folder and the folder beside a settings file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspace, self.home, self.user = root / "workspace", root / "home", root / "config"
        for folder in (self.workspace, self.home, self.user):
            folder.mkdir(exist_ok=True)

    def places(self, kind: str) -> tuple[DefinitionFolder, ...]:
        """Where a session would look."""
        return definition_folders(kind, self.workspace, self.user, self.home)

    def write(self, path: str, text: str | bytes) -> Path:
        """Put a file there; the path begins with workspace, home or config."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file


def agent(name: str, more: str = "", body: str = "Look closely.") -> str:
    """A typical agent definition; `more` are additional lines of its front matter."""
    return f"---\nname: {name}\ndescription: What {name} is for.\n{more}---\n\n{body}\n"
