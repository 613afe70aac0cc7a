"""The one owner of the sandbox: it knows what this machine can enforce, and puts each command into its profile."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from harness.sandbox.profile import (
    NOTHING_MORE,
    Allowance,
    Network,
    Profile,
    ProfileName,
    SandboxDenial,
    SandboxError,
    SandboxLevel,
    SandboxState,
)

if TYPE_CHECKING:
    from harness.sandbox.landlock import LandlockSandbox

T = TypeVar("T")


class Entered:
    """One command on its way into its sandbox: start it with these values, and close this when it has ended."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        pass_fds: tuple[int, ...] = (),
        thread: "LandlockSandbox | None" = None,
    ) -> None:
        """`thread` restricts the thread that starts the command; None: nothing has to be restricted there."""
        self.command = tuple(command)
        self.environment = dict(environment)
        self.pass_fds = pass_fds
        """The descriptors that the command inherits besides its streams."""
        self.denials: list[SandboxDenial] = []
        """What it was refused until now."""
        self._thread = thread

    def start(self, begin: Callable[[], T]) -> T:
        """Call `begin`, which starts the command."""
        return self._thread.start(begin) if self._thread else begin()

    def close(self) -> None:
        """Remove what only this command needed."""
        if self._thread:
            self._thread.close()


class Sandbox:
    """Puts commands into their profiles. One for each program; `aclose` ends it."""

    @cached_property
    def state(self) -> SandboxState:
        """What this machine can enforce."""
        from harness.sandbox.landlock import landlock_version

        if landlock_version():
            return SandboxState(SandboxLevel.FILES, "landlock")
        return SandboxState(SandboxLevel.NONE, why="the kernel has no Landlock")

    def enter(
        self,
        profile: ProfileName,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        allowance: Allowance = NOTHING_MORE,
        call_id: str = "",
    ) -> Entered:
        """Prepare `command` to start in `cwd` with `profile`.

        Args:
            allowance: what it may do beyond its profile.
            call_id: the tool call that it belongs to; empty: none.

        Raises SandboxError where the profile cannot be enforced; the command must not start then.
        """
        if profile is ProfileName.FREE:
            return Entered(command, environment)
        if profile is ProfileName.WORK:
            raise SandboxError("nothing on this machine holds the command to the workspace; ask the user to allow it")
        if self.state.level is SandboxLevel.NONE:
            return Entered(command, environment)
        from harness.sandbox.landlock import LandlockSandbox

        thread = LandlockSandbox(Profile(profile, readable=("/",), network=Network.OPEN))
        return Entered(command, {**environment, **thread.environment}, thread=thread)

    async def aclose(self) -> None:
        """Remove what the commands of the session shared."""
