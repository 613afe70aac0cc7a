"""The one owner of the sandbox: it knows what this machine can enforce, and puts each command into its profile."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from harness.sandbox.entered import Entered, LandlockedCommand
from harness.sandbox.profile import (
    NOTHING_MORE,
    Allowance,
    Network,
    Profile,
    ProfileName,
    SandboxError,
    SandboxLevel,
    SandboxState,
)


class Sandbox:
    """Puts commands into their profiles. One for each program; `aclose` ends it."""

    def __init__(self, *, off: bool = False) -> None:
        """`off`: hold nothing, because the user says so."""
        self.is_off = off
        """The user has switched it off."""

    @cached_property
    def state(self) -> SandboxState:
        """What this machine can enforce."""
        if self.is_off:
            return SandboxState(SandboxLevel.NONE, why="it is switched off", repair='sandbox = "auto"')
        from harness.sandbox.landlock import landlock_version

        if landlock_version():
            return SandboxState(SandboxLevel.FILES, "landlock")
        return SandboxState(SandboxLevel.NONE, why="the kernel has no Landlock")

    def granted(self, profile: ProfileName) -> Profile | None:
        """What a profile grants to a command that starts now, where all of it is enforced; None: it is not.

        Looks at the disk, so call it in a thread.
        """
        return None

    async def enter(
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

        held = Profile(profile, readable=("/",), network=Network.OPEN)
        return LandlockedCommand(command, environment, LandlockSandbox(held))

    async def aclose(self) -> None:
        """Remove what the commands of the session shared."""
