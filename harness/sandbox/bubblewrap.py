"""The arguments of bubblewrap that hold one command to a profile. Pure.

The command gets a file system of its own, into which the places of the profile are mounted, and nothing else: what no
place covers is not there. It has its own processes, shared memory, devices and network; nothing of the host listens in
it. https://github.com/containers/bubblewrap

Not used: `--die-with-parent`, which ends the command with the *thread* that started it, and `--new-session`, because
every command leads a session already. What a command leaves running lives on: the first process of its namespace ends
with the last one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.sandbox.profile import Access, Profile, ProfileName

TMP, CACHES, EMPTY_FOLDER, EMPTY_FILE = "tmp", "caches", "empty", "empty-file"
"""What the private folder of a session holds: the folders for temporary files and for private places, which stay
between its commands, and what is mounted over hidden places."""
OWN_NETWORK = "--unshare-net"
_TEMPORARY = ("/tmp", "/var/tmp")
_OF_THE_KERNEL = ("sys", "sysrq-trigger", "fs", "acpi", "irq", "bus", "scsi")
"""In /proc, the settings of the whole machine. Root owns them, and may write them without any capability."""
_CAPABILITIES = ("DAC_OVERRIDE", "CHOWN", "FOWNER", "FSETID", "SETUID", "SETGID", "KILL", "NET_BIND_SERVICE")
"""What root keeps: the rights over files and processes that it can see. None of them mounts, makes devices, opens files
by handle or reaches the network of the host."""


@dataclass(frozen=True, slots=True)
class BubblewrapProgram:
    """How this machine starts bubblewrap."""

    path: str
    """Absolute."""
    user_namespace: bool = False
    """Root asks for a user namespace, too, which others get in any case: it lacks the right to mount."""
    root: bool = False
    """The program runs as root."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Those of every command."""
        rights = ("--cap-drop", "ALL", *(word for one in _CAPABILITIES for word in ("--cap-add", f"CAP_{one}")))
        spaces = ("--unshare-pid", "--unshare-ipc", OWN_NETWORK, *("--unshare-user",) * self.user_namespace)
        return (self.path, *spaces, *(rights if self.root else ()))


def bubblewrap_command(
    program: BubblewrapProgram,
    profile: Profile,
    command: Sequence[str],
    *,
    cwd: str,
    private: str,
    is_folder: Callable[[str], bool],
) -> tuple[str, ...]:
    """The whole command line.

    Args:
        cwd: where the command starts; readable in the profile.
        private: the folder of the session, with `TMP`, `CACHES`, `EMPTY_FOLDER` and `EMPTY_FILE` in it.
        is_folder: whether a hidden path is a folder.
    """
    mounts = {**dict(_temporary(profile, private)), **dict(_mounts(profile, private, is_folder))}
    kernel = [("--ro-bind-try", f"/proc/{one}", f"/proc/{one}") for one in _OF_THE_KERNEL]
    first = [mounts.pop("/")] if "/" in mounts else []
    inside = [mounts[path] for path in sorted(mounts, key=_parts)]
    made = [
        *first,
        ("--dev", "/dev"),
        ("--proc", "/proc"),
        *kernel,
        ("--dir", "/run"),
        *inside,
        *_sealed(profile, mounts),
    ]
    arguments = (word for word in program.arguments if word != OWN_NETWORK or profile.own_network)
    return (*arguments, *(word for one in made for word in one), "--chdir", cwd, "--", *command)


def _temporary(profile: Profile, private: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The private folders. Mounted writable even where they are not: the places of the profile below them need a folder
    to be mounted on."""
    for folder, kept in (*((one, TMP) for one in _TEMPORARY), *((one, CACHES) for one in profile.private)):
        if folder not in profile.places:
            yield folder, ("--bind", f"{private}/{kept}", folder)


def _mounts(profile: Profile, private: str, is_folder: Callable[[str], bool]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For each place that differs from what is around it, and each link, the arguments that make it."""
    places = profile.places
    for path, target in profile.links:
        if _around(path, places) is Access.NONE and not _below(path, _TEMPORARY):
            yield path, ("--symlink", target, path)
    for path, access in places.items():
        around = _around(path, places)
        if access is Access.NONE and around is not Access.NONE:
            yield path, _hidden(path, places, private, is_folder)
        elif access is Access.WRITE:  # also in a writable place: what is mounted cannot be moved away
            yield path, ("--bind-try", path, path)
        elif access is Access.READ and around is not Access.READ:
            yield path, ("--ro-bind-try", path, path)


def _around(path: str, places: dict[str, Access]) -> Access:
    """What the places grant to the folder of a path."""
    above = (str(one) for one in PurePosixPath(path).parents)
    return next((places[one] for one in above if one in places), Access.NONE)


def _hidden(path: str, places: dict[str, Access], private: str, is_folder: Callable[[str], bool]) -> tuple[str, ...]:
    if not is_folder(path):
        return ("--ro-bind", f"{private}/{EMPTY_FILE}", path)
    if any(access is not Access.NONE and _below(place, (path,)) for place, access in places.items()):
        return ("--tmpfs", path)
    return ("--ro-bind", f"{private}/{EMPTY_FOLDER}", path)


def _sealed(profile: Profile, mounts: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """At the end, when every mount has its folder, nothing can be made beside them."""
    for path, made in mounts.items():
        if made[0] == "--tmpfs" or (path in _TEMPORARY and path not in profile.places and _looks(profile)):
            yield "--remount-ro", path
    if "/" not in profile.places:
        yield "--remount-ro", "/"


def _looks(profile: Profile) -> bool:
    return profile.name is ProfileName.LOOK


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(f"{folder.rstrip('/')}/") for folder in folders)


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path).parts
