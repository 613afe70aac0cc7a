"""One command on its way into its sandbox, while it is there, and when nothing of it lives any more.

Bubblewrap reports through one pipe. It writes there that the command has exited, which shows that it had begun, and its
first process holds the other end until the last process of the command is gone.
"""

import asyncio
import os
import re
import select
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar
from weakref import finalize

from harness.sandbox.profile import Profile, SandboxDenial, SandboxError
from harness.sandbox.system_calls import filter_for_bubblewrap

if TYPE_CHECKING:
    from harness.sandbox.landlock import LandlockSandbox
    from harness.sandbox.proxy import CommandNetwork

T = TypeVar("T")

MOST_REPORTED = 4_096
"""Bytes that bubblewrap reports at most. The command can write there, too."""
AGAIN = "Call it again: what this machine can enforce is then checked anew."


class Entered:
    """A command without a sandbox. Start it with these values, and close this when it has ended."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.command = tuple(command)
        self.environment = dict(environment)
        self.pass_fds: tuple[int, ...] = ()
        """The descriptors that the command inherits besides its streams."""

    @property
    def denials(self) -> tuple[SandboxDenial, ...]:
        """What it was refused until now."""
        return ()

    @property
    def held_s(self) -> float:
        """Seconds that it has waited so far for the answer to a question about it."""
        return 0.0

    def start(self, begin: Callable[[], T]) -> T:
        """Call `begin`, which starts the command. Raises SandboxError where the sandbox cannot be made."""
        return begin()

    def is_empty(self, within_s: float) -> bool:
        """Whether the sandbox says that nothing of the command lives, waiting so many seconds for that. To be asked in
        a thread, after its leader has exited."""
        return False

    @property
    def first_process(self) -> int:
        """The process that the sandbox itself has beside those of the command; 0: none."""
        return 0

    def trouble(self, exit_code: int) -> str:
        """Why the command did not begin, in one sentence; empty: it did. To be asked after `is_empty`."""
        return ""

    def close(self) -> None:
        """Remove what only this command needed, once nothing of it lives."""


class LandlockedCommand(Entered):
    """A command that starts in a restricted thread."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], landlock: "LandlockSandbox") -> None:
        super().__init__(command, {**environment, **landlock.environment})
        self._landlock = landlock

    def start(self, begin: Callable[[], T]) -> T:
        """As above."""
        return self._landlock.start(begin)

    def close(self) -> None:
        """As above."""
        self._landlock.close()


class WrappedCommand(Entered):
    """A command that bubblewrap starts."""

    def __init__(
        self,
        wrap: Callable[[Sequence[str]], tuple[str, ...]],
        command: Sequence[str],
        environment: Mapping[str, str],
        network: "CommandNetwork | None",
        broke: Callable[[], None],
    ) -> None:
        """
        Args:
            wrap: makes the command line of bubblewrap.
            network: its way to allowed hosts; None: it has none.
            broke: called when the sandbox could not be made.
        """
        self._report, writing = os.pipe()
        os.set_blocking(self._report, False)
        self._close_report = finalize(self, os.close, self._report)
        self._theirs: tuple[int, ...] = (writing, os.dup(writing))  # bubblewrap closes each of them elsewhere
        inside = network.command(command) if network else tuple(command)
        program, *rest = wrap(inside)
        held, written = map(str, self._theirs)
        filtering, filters = filter_for_bubblewrap()
        self._theirs += filters
        super().__init__(
            (program, "--sync-fd", held, "--json-status-fd", written, *filtering, *rest),
            {**environment, **(network.environment if network else {})},
        )
        self.pass_fds = (*self._theirs, *(network.pass_fds if network else ()))
        self._network, self._broke = network, broke
        self._loop = asyncio.get_running_loop()
        self._reported = b""
        self._is_empty = False

    @property
    def denials(self) -> tuple[SandboxDenial, ...]:
        """As above."""
        return tuple(self._network.denials) if self._network else ()

    @property
    def held_s(self) -> float:
        """As above."""
        return self._network.held_s if self._network else 0.0

    def start(self, begin: Callable[[], T]) -> T:
        """As above."""
        try:
            started = begin()
        except OSError as error:
            if error.filename != self.command[0]:
                raise
            self._broke()
            text = f"its sandbox cannot be made, because {error.filename} is gone or cannot be run. {AGAIN}"
            raise SandboxError(text) from error
        finally:
            self._close_theirs()
        if self._network:
            self._network.begin()
        return started

    def is_empty(self, within_s: float) -> bool:
        """As above."""
        deadline = time.monotonic() + within_s
        while not self._is_empty and self._readable(max(0.0, deadline - time.monotonic())):
            self._read()
        return self._is_empty

    @property
    def first_process(self) -> int:
        """As above."""
        found = re.search(rb'"child-pid": (\d+)', self._reported)
        return int(found[1]) if found else 0

    def trouble(self, exit_code: int) -> str:
        """As above."""
        if exit_code <= 0 or b"exit-code" in self._reported:  # negative: we ended bubblewrap before the command exited
            return ""
        self._broke()
        return f"its sandbox could not be made. {AGAIN}"

    def close(self) -> None:
        """As above."""
        self._close_theirs()
        if self._is_empty:
            self.abandon()
        else:
            self._loop.add_reader(self._report, self._heard)

    def abandon(self) -> None:
        """Serve it no longer, whatever of it lives."""
        if self._close_report.alive:
            self._loop.remove_reader(self._report)
        if self._is_empty:  # else the thread that waits for its exit may be reading
            self._close_report()
        if self._network:
            self._network.close()

    def _heard(self) -> None:
        self._read()
        if self._is_empty or len(self._reported) >= MOST_REPORTED:
            self.abandon()

    def _readable(self, within_s: float) -> bool:
        waiting = select.poll()
        waiting.register(self._report, select.POLLIN)
        return bool(waiting.poll(within_s * 1_000))

    def _read(self) -> None:
        with suppress(BlockingIOError):
            heard = os.read(self._report, MOST_REPORTED)
            self._reported = (self._reported + heard)[:MOST_REPORTED]
            self._is_empty = not heard

    def _close_theirs(self) -> None:
        for one in self._theirs:
            os.close(one)
        self._theirs = ()


# ── by each enforcer ────────────────────────────────────────────────────────────────────────────

Enter = Callable[[Sequence[str], Mapping[str, str], "Callable[[], CommandNetwork] | None"], Entered]
"""Makes a command that is to start from its words, its environment, and what makes its way to allowed hosts."""


def by_landlock(profile: Profile, command: Sequence[str], environment: Mapping[str, str], _: object) -> Entered:
    """Start a command in a thread that Landlock restricts."""
    from harness.sandbox.landlock import LandlockSandbox

    return LandlockedCommand(command, environment, LandlockSandbox(profile))


def by_seatbelt(
    profile: Profile, private: str, command: Sequence[str], environment: Mapping[str, str], _: object
) -> Entered:
    """Start a command by `sandbox-exec`. Without a network of its own there is no way to allowed hosts."""
    from harness.sandbox.bubblewrap import TMP
    from harness.sandbox.seatbelt import seatbelt_command

    temporary = f"{private}/{TMP}"
    held = replace(profile, writable=(*profile.writable, temporary))
    return Entered(seatbelt_command(held, command), {**environment, "TMPDIR": temporary})


def by_bubblewrap(
    wrap: Callable[[Sequence[str]], tuple[str, ...]],
    temporary: str,
    broke: Callable[[], None],
    command: Sequence[str],
    environment: Mapping[str, str],
    link: "Callable[[], CommandNetwork] | None",
) -> Entered:
    """Start a command by bubblewrap."""
    return WrappedCommand(wrap, command, {**environment, "TMPDIR": temporary}, link() if link else None, broke)
