"""The one owner of the sandbox: it knows what this machine can enforce, and puts each command into its profile."""

import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from weakref import WeakSet

from harness.base.concurrency import in_thread
from harness.base.secrets import secret_name, secrets_in
from harness.sandbox.entered import Enter, Entered, WrappedCommand, by_bubblewrap, by_landlock, by_seatbelt
from harness.sandbox.profile import (
    USUAL_TERMS,
    Allowance,
    CommandTerms,
    Profile,
    ProfileName,
    SandboxError,
    SandboxLevel,
    SandboxState,
)

if TYPE_CHECKING:
    from harness.sandbox.places import Machine, Places
    from harness.sandbox.probe import Enforcers
    from harness.sandbox.proxy import CommandNetwork

_GIT_VALUE = re.compile(r"GIT_CONFIG_VALUE_(\d+)")
_GIT_SECRETS = ("extraheader", "password", "token")
"""What settings of git with secrets end in."""
_HARMLESS = re.compile(r"PWD|OLDPWD|GIT_CONFIG_KEY_\d+")
"""They look like names of secrets."""

Hosts = Callable[[Mapping[str, str], object, Allowance], "CommandNetwork"]


class Sandbox:
    """Puts commands into their profiles. One for each program; `aclose` ends it."""

    def __init__(
        self,
        choice: Literal["auto", "off", "required"] = "auto",
        *,
        places: "Callable[[], Places] | None" = None,
        roots: Callable[[Path | None], Sequence[Path]] | None = None,
        hosts: Hosts | None = None,
        inherited: Sequence[str] = (),
        search_path: str = os.defpath,
    ) -> None:
        """
        Args:
            choice: the best that this machine can enforce, nothing, or only the full sandbox.
            places: gives what knows which folders a command may read and write; None: no place holds keys.
            roots: the folders of the workspace in which a command starts there; of the session's for None, and where
                `roots` is None: the folder itself.
            hosts: makes the way of a command into the network from its environment outside, whom to ask, and what it
                is allowed; None: it has none.
            inherited: patterns of variables that are inherited although their names promise a secret.
            search_path: folders where the enforcers are found, none of which the workspace controls.
        """
        self.choice = choice
        self._places, self._roots = places or _default_places, roots
        self._hosts, self._inherited, self._search_path = hosts, inherited, search_path
        self._looking = threading.Lock()
        self.unended: dict[object, dict[str, tuple[tuple[int, int], str]]] = {}
        """For each command to which files were open that others obey, and whose end nobody has seen: how these were."""
        self._cannot_hold = ""
        """Why the workspace cannot be held to its profiles, as the last look found; empty: it can."""
        self._in_doubt = False
        """What this machine can enforce may have changed."""
        self._decided_by: SandboxState | None = None
        """The state by which calls are decided; None: none was yet."""
        self._granted: tuple[Profile, Machine] | None = None
        """What was granted last, and the look at the disk that it comes from."""
        self._private = ""
        """The folder of the session; empty: it was not needed."""
        self._open: WeakSet[WrappedCommand] = WeakSet()

    @cached_property
    def state(self) -> SandboxState:
        """What this machine can enforce for this workspace, as it was found last. The first time it is tried, which
        may take a second or two."""
        return self._state_with(self._enforcers)

    @cached_property
    def _enforcers(self) -> "Enforcers":
        return self._tried()

    def _tried(self) -> "Enforcers":
        from harness.sandbox.probe import Enforcers, probe

        if self.choice == "off":
            return Enforcers(SandboxState(SandboxLevel.NONE, why="it is switched off", repair='sandbox = "auto"'))
        return probe(self._search_path)

    def _state_with(self, enforcers: "Enforcers") -> SandboxState:
        from harness.sandbox.marked_files import UNWRITABLE
        from harness.sandbox.places import WHOLE_DISK

        found, why = enforcers.state, self._cannot_hold
        if self._roots and Path("/") in map(Path, self._roots(None)):
            why = WHOLE_DISK
        if found.level is SandboxLevel.NONE or not why:
            return found
        repair = "make room there, or let this user write there" if UNWRITABLE in why else "start in a smaller folder"
        if why == WHOLE_DISK:
            return SandboxState(SandboxLevel.NONE, "", why, repair)
        return replace(found, level=SandboxLevel.FILES, why=why, repair=repair)

    def look_again(self) -> None:
        """Check anew what this machine can enforce, before the next command."""
        self._in_doubt = True

    def take_change(self) -> SandboxState | None:
        """The state, if it is another one than at the last call; None: it is the same, or is not known yet.

        Call it before a decision: what was decided by the full sandbox does not run in a weaker one.
        """
        if "state" not in self.__dict__:
            return None
        before, self._decided_by = self._decided_by, self.state
        return self.state if before not in (None, self.state) else None

    def granted(self, profile: ProfileName, cwd: Path | None = None) -> Profile | None:
        """What a profile grants to a command that starts now in `cwd`, or in the workspace of the session, where all
        of it is enforced; None: it is not.

        Looks at the disk.
        """
        from harness.sandbox.places import profile_for

        self._settle()
        if self.state.level is not SandboxLevel.FULL:
            return None
        machine = self._look(cwd)
        granted = profile_for(profile, machine)
        self._granted = (granted, machine)
        return None if self._cannot_hold else granted

    async def enter(
        self,
        profile: ProfileName,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        terms: CommandTerms = USUAL_TERMS,
    ) -> Entered:
        """Prepare `command` to start in `cwd` with `profile`, on these terms.

        Raises SandboxError where the profile cannot be enforced; the command must not start then.
        """
        if profile is ProfileName.FREE:
            return Entered(command, environment)
        held = await in_thread(partial(self._held, profile, cwd, terms))
        if held is None:
            return Entered(command, environment)
        allowance = terms.allowance
        kept = dict(environment) if allowance.server else without_secrets(environment, self._inherited)
        asks = profile is ProfileName.WORK and not allowance.server
        link = self._hosts and asks and partial(self._hosts, environment, terms.caller, allowance)
        entered = held(command, kept, link or None)
        if isinstance(entered, WrappedCommand):
            self._open.add(entered)
        return entered

    async def aclose(self) -> None:
        """Serve no command any longer, and remove what those of the session shared."""
        for entered in tuple(self._open):
            entered.abandon()
        if self._private:
            await in_thread(partial(shutil.rmtree, self._private, ignore_errors=True))

    def _held(self, name: ProfileName, cwd: Path, terms: CommandTerms) -> Enter | None:
        """Puts a command into its profile; None: nothing holds commands here, and they run without.

        Looks at the disk. Raises SandboxError.
        """
        from harness.sandbox.places import profile_for

        self._settle()
        enforcers = self._enforcers
        last = self._granted
        machine = last[1] if last and last[0] is terms.granted else None
        if enforcers.state.level is not SandboxLevel.NONE and machine is None:
            machine = self._look(cwd)
        level, required = self.state.level, self.choice == "required"
        was_full = self._decided_by is not None and self._decided_by.level is SandboxLevel.FULL
        broke = was_full and enforcers.state.level is not SandboxLevel.FULL
        if level is not SandboxLevel.FULL and (required or name is ProfileName.WORK or broke):
            remedy = "mend it, or start with --sandbox auto" if required else "call it again, and the user is asked"
            raise SandboxError(f"the sandbox that it needs is missing ({self.state.why}); {remedy}")
        if machine is None or level is SandboxLevel.NONE:
            return None
        allowance = terms.allowance
        if allowance.server:  # its entry may come from a folder
            allowance = replace(allowance, paths=self._places().without_keys(allowance.paths))
        profile = profile_for(name, machine, allowance)
        if enforcers.state.by == "landlock":
            return partial(by_landlock, profile)
        if (program := enforcers.bubblewrap) is None:
            return partial(by_seatbelt, profile, self._private_folder())
        from harness.sandbox.bubblewrap import bubblewrap_command

        private = self._private_folder()
        wrap = partial(bubblewrap_command, program, profile, cwd=str(cwd), private=private, is_folder=os.path.isdir)
        temporary = "/dev/shm" if name is ProfileName.LOOK else "/tmp"  # the folder of the session is not writable
        return partial(by_bubblewrap, wrap, temporary, self.look_again)

    def _look(self, cwd: Path | None) -> "Machine":
        roots = self._roots(cwd) if self._roots else (cwd or Path.cwd(),)
        with self._looking:
            machine = self._places().look([str(root) for root in roots])
            if machine.cannot_hold != self._cannot_hold:
                self._cannot_hold = machine.cannot_hold
                self.state = self._state_with(self._enforcers)
            return machine

    def _private_folder(self) -> str:
        """The private folder of the session, made with the first command and when it is gone. Raises SandboxError."""
        from harness.sandbox.bubblewrap import CACHES, EMPTY_FILE, EMPTY_FOLDER, TMP
        from harness.sandbox.places import private_folder

        with self._looking:
            parts = [Path(self._private, name) for name in (TMP, CACHES, EMPTY_FOLDER, EMPTY_FILE)]
            if not self._private or not all(part.exists() for part in parts):
                try:
                    self._private = private_folder()
                except OSError as error:
                    where = f"{tempfile.gettempdir()} ({error.strerror})"
                    remedy = "mend that, or start with another TMPDIR"
                    raise SandboxError(f"its private folder cannot be made in {where}; {remedy}") from error
            return self._private

    def _settle(self) -> None:
        """Try anew what this machine can enforce, where that is in doubt. Takes as long as the first time."""
        if self._in_doubt:
            self._in_doubt = False
            self._enforcers = self._tried()
            self.state = self._state_with(self._enforcers)


@cache
def _default_places() -> "Places":
    from harness.sandbox.marked_files import Marks
    from harness.sandbox.places import Places

    return Places(str(Path.home()), os.environ, Marks(lambda path: False, lambda path: False))


def without_secrets(environment: Mapping[str, str], inherited: Sequence[str]) -> dict[str, str]:
    """The variables that a command in the sandbox inherits: none that promises a secret or shows one by its form, but
    those of the patterns `inherited`. A setting of git with a secret is emptied."""
    kept: dict[str, str] = {}
    for name, value in environment.items():
        is_secret = secret_name(name) or bool(secrets_in({name: value}))
        if (setting := _GIT_VALUE.fullmatch(name)) is not None:
            key = environment.get(f"GIT_CONFIG_KEY_{setting[1]}", "").lower()
            kept[name] = "" if is_secret or key.endswith(_GIT_SECRETS) else value
        elif not is_secret or _HARMLESS.fullmatch(name) or any(fnmatchcase(name, one) for one in inherited):
            kept[name] = value
    return kept
