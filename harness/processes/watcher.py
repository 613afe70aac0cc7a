"""A program that briefly outlives ours and ends the processes that a crash would leave behind.

It learns of every command through a pipe that only we hold. However we end, the kernel closes the pipe; after a normal
end nothing is left to do, and we stop the watcher. It stays small: psutil is imported only once we are gone.

Lines: `leads MARK PID START`, a command and its leader; `left MARK SESSION [PID START]...`, a command whose leader has
exited, with its known remaining processes; `gone MARK`; `free MARK`, a command that was handed over. START is Unix
time.
"""

import os
import select
import signal
import sys

SAME_START_S = 2.0
"""Start times that differ by less are the same; the system clock may be adjusted between two readings."""


class LiveCommand:
    """A running command."""

    def __init__(self, session: int, members: list[tuple[int, float]], *, leads: bool) -> None:
        self.leads = leads
        """Whether its leader, the only member then, had not exited."""
        self.session = session
        """The number of its session, which is that of its leader; 0: none is known."""
        self.members = members
        """Some of its processes, by id and start."""


class WatcherState:
    """The commands the watcher knows."""

    def __init__(self) -> None:
        self.known: dict[str, LiveCommand] = {}
        """The commands, by their marks."""
        self.free: set[str] = set()
        """Marks of those that were handed over."""

    def take(self, line: str) -> None:
        """Take in one line."""
        match line.split():
            case ["gone", mark]:
                self.known.pop(mark, None)
            case ["free", mark]:
                self.known.pop(mark, None)
                self.free.add(mark)
            case ["leads", mark, pid, start]:
                self.known[mark] = LiveCommand(int(pid), [(int(pid), float(start))], leads=True)
            case ["left", mark, session, *members]:
                pairs = zip(members[::2], members[1::2], strict=True)
                self.known[mark] = LiveCommand(
                    int(session), [(int(pid), float(start)) for pid, start in pairs], leads=False
                )


def listen(pipe: int, program: int) -> WatcherState:
    """Read the pipe until it is closed or, on Linux, the program has ended: a forked copy may hold the pipe longer."""
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    ended = _exit_of(program)
    if ended is not None:
        waiting.register(ended, select.POLLIN)
    state, rest = WatcherState(), b""
    while True:
        ready = {descriptor for descriptor, _ in waiting.poll()}
        if pipe in ready:
            heard = os.read(pipe, 65536)
            *lines, rest = (rest + heard).split(b"\n")
            for line in lines:
                state.take(line.decode())
            if not heard:
                return state
        elif ended in ready:
            return state


def end_all(owner: str, state: WatcherState) -> None:
    """End the remaining processes of commands whose marks begin with `owner`."""
    import asyncio
    from itertools import starmap

    import psutil

    from harness.processes.outcome import ProcessLimits
    from harness.processes.tree import ProcessTree, end, table

    def process_of(pid: int, start: float) -> psutil.Process | None:
        try:
            process = psutil.Process(pid)
            return process if abs(process.create_time() - start) < SAME_START_S else None
        except psutil.Error:
            return None

    trees, everybody = [], tuple(table())
    for mark, command in state.known.items():
        members = [process for process in starmap(process_of, command.members) if process]
        tree = ProcessTree(mark, command.session or None, members)
        number_is_taken = not members and psutil.pid_exists(command.session)
        tree.take_in(everybody, session_is_ours=True if command.leads and not number_is_taken else None)
        trees.append(tree)
    asyncio.run(end([*trees, ProcessTree(owner, spared=state.free)], ProcessLimits()))


def _exit_of(program: int) -> int | None:
    """A descriptor that becomes readable when the process has ended; None where there is no such thing."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return os.pidfd_open(program)
    except OSError:
        return None  # an old kernel, or it has ended: then the pipe is closed


def main(owner: str, program: str, *packages: str) -> None:
    """Watch over the commands of `owner`, begun by the process `program`; our modules are found in `packages`."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    state = listen(0, int(program))
    if state.known:
        sys.path += packages
        end_all(owner, state)


if __name__ == "__main__":
    main(*sys.argv[1:])
