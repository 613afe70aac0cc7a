"""Where boards are: in the state folder, never in the workspace, so that `git add -A` takes nothing of them."""

import re
from hashlib import sha256
from pathlib import Path

FOLDER = "boards"
DEFAULT = "board"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


def session_board(state_folder: Path, session_id: str) -> Path:
    """The board of a session; forks of the session use it, too."""
    return state_folder / FOLDER / f"{session_id}.sqlite"


def board_file(state_folder: Path, name: str) -> Path:
    """The board with this file name, as an event names it. Raises ValueError for a name that is a path."""
    if Path(name).name != name:
        raise ValueError(f"{name!r} is not the name of a board")
    return state_folder / FOLDER / f"{name}.sqlite"


def project_board(state_folder: Path, workspace: Path, name: str = DEFAULT) -> Path:
    """The board of this name of a repository, the same for all its worktrees; without git, of the folder.

    Raises ValueError for a name that is not small letters, digits, - and _.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a name for a board; use at most 40 small letters, digits, - and _")
    return state_folder / FOLDER / f"{project_slug(workspace)}-{name}.sqlite"


def project_slug(workspace: Path) -> str:
    """A file name for a project: a repository with all its worktrees, or without git a folder."""
    root = repository_of(workspace.resolve())
    label = re.sub(r"\W+", "-", root.parent.name if root.name == ".git" else root.name)[:30].strip("-")
    return f"{label or 'root'}-{sha256(str(root).encode()).hexdigest()[:8]}"


def repository_of(folder: Path) -> Path:
    """The git folder that all worktrees of a repository share, or the folder itself outside of a repository."""
    for place in (folder, *folder.parents):
        marker = place / ".git"
        if marker.is_dir():
            return marker
        if marker.is_file():
            return _common(place, marker) or place
    return folder


def _common(place: Path, marker: Path) -> Path | None:
    """The shared git folder that the file `.git` of a worktree leads to; None: it is damaged."""
    try:
        own = place / marker.read_text("utf-8").removeprefix("gitdir:").strip()
        shared = own / "commondir"
        return ((own / shared.read_text("utf-8").strip()) if shared.is_file() else own).resolve(strict=True)
    except (OSError, UnicodeDecodeError):
        return None
