"""Where the stores of a session are: files in the state folder, or with HARNESS_FLEET_URL the database that machines
share (docs/fleet.md). What has begun as a file stays one."""

import os
import platform
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.clock import Clock, SystemClock
from harness.base.errors import SettingsError
from harness.base.files import NotRegularError, read_regular
from harness.base.secrets import without_passwords
from harness.base.transactions import SharedPlace
from harness.journal import state_folder
from harness.settings import Settings
from harness.slots.store import slots_file

if TYPE_CHECKING:
    from harness.fleet.database import FleetDatabase

Place = Path | SharedPlace

FLEET = "fleet."
"""How the scope of a store in the database begins; the name of a file never does."""
ADDRESS = re.compile(r"(?:[a-z+]+://)?(?:[^/@]*@)?(?P<host>[^/:]+)(?::\d+(?=/))?[:/]+(?P<path>.+?)/*(?:\.git)?/*")
"""https://USER@HOST/PATH.git, ssh://HOST:PORT/PATH and USER@HOST:PATH name the same repository."""


def fleet() -> "FleetDatabase | None":
    """The database of HARNESS_FLEET_URL; None: stores are files."""
    url = os.environ.get("HARNESS_FLEET_URL", "")
    return _database(url) if url else None


@cache
def _database(url: str) -> "FleetDatabase":
    from harness.fleet.database import FleetDatabase

    return FleetDatabase(url)


def stores_line(settings: Settings) -> str:
    """Which stores sessions use, without a password."""
    database = fleet()
    if database is None:
        return f"files in {state_folder(settings.state_dir)}"
    return f"{without_passwords(database.where).replace('The', 'the', 1)} (HARNESS_FLEET_URL)"


def store_clock(own: Clock | None = None) -> Clock:
    """The clock by which all users of a store count: that of the database, else `own`, or that of this machine."""
    database = fleet()
    return (own or SystemClock()) if database is None else database.clock


def slots_place(settings: Settings) -> Place:
    """The slots and breakers that all sessions of the user share, on this machine or on all of the fleet."""
    database = fleet()
    return slots_file(state_folder(settings.state_dir)) if database is None else database.place("slots", f"{FLEET}all")


def schedule_place(settings: Settings) -> Place:
    """The scheduled prompts of a project."""
    from harness.tasks.places import project_slug

    database = fleet()
    if database is None:
        return state_folder(settings.state_dir) / "schedules" / f"{project_slug(settings.workspace)}.sqlite"
    return database.place("schedule", project_scope(settings.workspace))


def mail_place(settings: Settings, session: str) -> Place:
    """The mailboxes of a session."""
    from harness.team.mail import mail_file

    database, file = fleet(), mail_file(state_folder(settings.state_dir), session)
    return file if database is None or file.exists() else database.place("mail", f"{FLEET}{session}")


def named_board(settings: Settings, name: str) -> Place:
    """The board of this name, as an event names it. Raises SettingsError if it is in a database that is not known,
    ValueError for a name that is a path."""
    from harness.tasks import board_file

    if not name.startswith(FLEET):
        return board_file(state_folder(settings.state_dir), name)
    database = fleet()
    if database is None:
        raise SettingsError(f"The task board {name} is in a fleet's database; set HARNESS_FLEET_URL to its address.")
    return database.place("board", name)


def session_board_place(settings: Settings, session: str) -> Place:
    """The board of a session; forks of the session use it, too."""
    from harness.tasks import session_board

    database = fleet()
    if database is None:
        return session_board(state_folder(settings.state_dir), session)
    return database.place("board", f"{FLEET}{session}")


def project_board_place(settings: Settings, name: str) -> Place:
    """The board of this name of a project. Raises ValueError for a name that is not small letters, digits, - and _."""
    from harness.tasks import project_board

    file, database = project_board(state_folder(settings.state_dir), settings.workspace, name), fleet()
    return file if database is None else database.place("board", f"{project_scope(settings.workspace)}-{name}")


def project_scope(workspace: Path) -> str:
    """A project in the database: by the address of its remote, the same on all machines; without one, by this machine
    and its folder."""
    from harness.tasks.places import repository_of

    root = repository_of(workspace.resolve())
    remote = _remote(root) if root.is_dir() and (root / "config").is_file() else ""
    match = ADDRESS.fullmatch(remote) if not remote.startswith(("/", ".", "file:", "~")) else None
    if match is not None:
        project, label = f"{match['host'].lower()}/{match['path']}", match["path"].rpartition("/")[2]
    else:
        project, label = f"{platform.node()}:{root}", root.parent.name if root.name == ".git" else root.name
    label = re.sub(r"\W+", "-", label)[:30].strip("-")
    return f"{FLEET}{label or 'root'}-{sha256(project.encode()).hexdigest()[:16]}"


def _remote(git_folder: Path) -> str:
    """The address of `origin`, "" without one. Only the file of the repository is read, no file that it includes."""
    from harness.sandbox.git_settings import settings_in

    try:
        text = read_regular(git_folder / "config", 2_000_000).decode("utf-8", "replace")
    except (OSError, NotRegularError):
        return ""
    addresses = [value for *name, value in settings_in(text) if name == ["remote origin", "url"]]
    return addresses[-1].strip() if addresses else ""
