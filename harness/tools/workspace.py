"""The folder the agent works in, and the border around it."""

import stat
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from harness.base.external_text import counted

KERNEL_FOLDERS = (Path("/proc"), Path("/sys"), Path("/dev"))
"""What looks like a file here is a door into the kernel; reading can hang and writing can harm."""


class PathError(Exception):
    """A path that a tool must not or cannot use. Its text is one sentence for the model."""


class OutsideWorkspace(PathError):  # noqa: N818  it says what the path is
    """The path, or a link on the way, leads out of the workspace."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder and the rule that file tools stay inside it."""

    root: Path
    """Absolute, links resolved."""
    added: tuple[Path, ...] = ()
    """Further folders, as `added_folder` returns them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", self.root.expanduser().resolve())

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folder and the further ones."""
        return (self.root, *self.added)

    def root_of(self, path: Path) -> Path:
        """The one of them that holds this resolved path."""
        return next((root for root in self.roots if path.is_relative_to(root)), self.root)

    def resolve(self, path: str) -> Path:
        """The absolute path with every link resolved; a relative `path` starts at the root.

        The path need not exist. Raises `OutsideWorkspace` where it ends outside the root, and
        `PathError` where it is no path at all (a null byte, links in a circle).
        """
        return resolve_within(path, *self.roots)

    def named(self, folder: Path) -> str:
        """A folder inside a sentence, where a dot would be taken for its end."""
        return "the workspace" if folder == self.root else f"{self.relative(folder)}/"

    def relative(self, path: Path) -> str:
        """The path as shown to people and to the model: from the root, with forward slashes."""
        return sendable((path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix())


def added_folder(folder: Path) -> Path:
    """A folder that can be added to a workspace, links resolved. Raises `PathError`."""
    try:
        resolved = folder.expanduser().resolve()
        usable = resolved.is_dir()
    except (ValueError, OSError, RuntimeError) as error:
        raise PathError(f"{folder} is not a usable path: {error}.") from error
    if not usable:
        raise PathError(f"{folder} is {'a file' if resolved.exists() else 'missing'}; name a folder.")
    if resolved in (Path("/"), *Path.home().resolve().parents, Path.home().resolve()):
        raise PathError(f"{resolved} holds everything that is yours; name a folder in it.")
    return resolved


def sendable(name: str) -> str:
    """A file name as text that JSON can carry: bytes that are not UTF-8 become backslash escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def resolve_within(path: str, *roots: Path) -> Path:
    """As `Workspace.resolve`, where any of `roots` may hold the path; a relative one starts at the first."""
    try:
        resolved = (roots[0] / Path(path).expanduser()).resolve()
    except (ValueError, OSError, RuntimeError) as error:
        raise PathError(f"{path!r} is not a usable path: {error}.") from error
    if not any(resolved.is_relative_to(root) for root in roots):
        arrow = f" (it leads to {resolved})" if str(resolved) != path else ""
        raise OutsideWorkspace(
            f"{path} is outside the workspace{arrow}. File tools only reach files inside {roots[0]}."
        )
    return resolved


def require_file(path: Path, shown: str) -> int:
    """The size in bytes of a regular file.

    Raises `PathError` for anything else at `path`: nothing (names similar files), a directory (names its entries), a
    device, pipe or socket.
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise PathError(_missing(path, shown)) from error
    if stat.S_ISDIR(status.st_mode):
        raise PathError(_directory(path, shown))
    if not stat.S_ISREG(status.st_mode) or any(path.is_relative_to(folder) for folder in KERNEL_FOLDERS):
        raise PathError(f"{shown} is not a regular file but {kind(status.st_mode)}; tools leave it alone.")
    return status.st_size


def kind(mode: int) -> str:
    """The kind of a file with this mode, in words."""
    named = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a character device",
        stat.S_IFBLK: "a block device",
    }
    return named.get(stat.S_IFMT(mode), "a file of the kernel")


def _missing(path: Path, shown: str) -> str:
    parent = path.parent
    while not parent.is_dir():
        parent = parent.parent
    missing = path.relative_to(parent).parts[0]
    names = {entry.name.lower(): entry.name for entry in parent.iterdir()}
    near = [sendable(names[name]) for name in get_close_matches(missing.lower(), names, n=3, cutoff=0.6)]
    hint = f" Near it: {', '.join(near)}." if near else ""
    where = f" ({parent.name}/ has no {missing})" if parent != path.parent else ""
    return f"{shown} does not exist{where}.{hint}"


def _directory(path: Path, shown: str) -> str:
    names = sorted(sendable(entry.name) + ("/" if entry.is_dir() else "") for entry in path.iterdir())
    head = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    return f"{shown} is a directory of {counted(len(names), 'entry', 'entries')}" + (f": {head}" if names else "") + "."
